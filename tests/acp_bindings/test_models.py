"""Models as Python objects: made, changed, copied, compared and completed."""

import copy
import json
import pickle
import threading
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, ValidationError

from acp_bindings import DecodeError, decode, encode, v1, v2
from tests.acp_bindings.exact_json import Json
from tests.acp_bindings.samples import a_request


def test_self_is_refused_as_an_unknown_field() -> None:
    with pytest.raises(TypeError, match="has no field 'self'"):
        v1.TextContent(self=1, text="t")  # pyright: ignore[reportCallIssue]


def test_deleting_a_field_omits_it() -> None:
    update = v1.SessionInfoUpdate(title="t")
    del update.title
    assert update.title is None
    assert encode(update) == b'{"sessionUpdate":"session_info_update"}'


@pytest.mark.parametrize("name", ["type", "url", "headers"])
def test_a_required_field_and_a_tag_cannot_be_deleted(name: str) -> None:
    server = v1.McpServerHttp(name="n", url="u", headers=[])
    with pytest.raises(AttributeError, match=name):
        delattr(server, name)
    assert server == v1.McpServerHttp(name="n", url="u", headers=[])


def test_an_unknown_field_can_be_deleted() -> None:
    block = decode(v1.TextContent, '{"text":"t","x":1}')
    delattr(block, "x")
    assert encode(block) == b'{"text":"t"}'


def test_a_copy_is_changed_under_the_rules_of_the_constructor() -> None:
    request = a_request()
    assert request.model_copy(update={"cwd": "/other"}).cwd == "/other"
    assert request.cwd == "/"
    with pytest.raises(ValidationError):
        request.model_copy(update={"cwd": 5})
    with pytest.raises(AttributeError, match="did you mean 'mcp_servers'"):
        request.model_copy(update={"mcpServers": []})


def test_a_bad_value_that_reads_as_omitted_leaves_an_attribute() -> None:
    update = v1.ToolCallUpdate.model_validate_json('{"toolCallId":"t","kind":5}')
    assert update.kind is None
    with pytest.raises(AttributeError):
        _ = update.knid  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


def test_models_in_parsed_json_keep_their_omitted_fields() -> None:
    update = v1.SessionInfoUpdate()
    notification = decode(v1.SessionNotification, {"sessionId": "s", "update": update})
    assert encode(notification.update) == encode(update)
    assert encode(decode(v1.NewSessionRequest, a_request())) == encode(a_request())


def test_null_is_not_accepted_as_a_response_with_required_fields() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(v1.NewSessionResponse, "null")
    assert [issue.path for issue in caught.value.issues] == [()]


@pytest.mark.parametrize("text", ["\xa0null", "null\u2028", "\vnull", b"\x0cnull", bytearray(b"null\x0c")])
def test_only_json_whitespace_is_allowed_around_null(text: str | bytes | bytearray) -> None:
    assert decode(v1.LoadSessionResponse, "\t null\r\n") == v1.LoadSessionResponse()
    with pytest.raises(DecodeError, match="Invalid JSON"):
        decode(v1.LoadSessionResponse, text)


@pytest.mark.parametrize(
    ("type_", "name"),
    [
        (list[v1.McpServer], "list[McpServer]"),
        (dict[str, v1.ContentBlock], "dict[str, ContentBlock]"),
        (v1.McpServer | None, "McpServer | None"),
        (list[Annotated[int, Field(ge=0)]], "list[int]"),
        (v1.NewSessionRequest | v1.LoadSessionRequest, "NewSessionRequest | LoadSessionRequest"),
    ],
    ids=str,
)
def test_an_error_calls_a_composed_type_by_the_names_of_its_parts(type_: Any, name: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(type_, "5")
    assert caught.value.type_name == name


def test_a_tolerated_invalid_value_equals_an_omitted_one_in_every_thread() -> None:
    wanted = v1.ToolCallUpdate(tool_call_id="t")
    unequal: list[object] = []
    start = threading.Barrier(8)

    def read() -> None:
        start.wait(timeout=10)
        for _ in range(200):
            got = decode(v1.ToolCallUpdate, '{"toolCallId":"t","kind":5}')
            unequal.extend([got] if got != wanted else [])

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert not unequal


def test_a_catch_all_is_created_with_unknown_fields() -> None:
    payload: Json = {"percent": 5, "inner": v1.TextContent(text="t")}
    update = v1.OtherSessionUpdate(session_update="_progress", **payload)
    assert encode(update) == b'{"sessionUpdate":"_progress","percent":5,"inner":{"type":"text","text":"t"}}'
    assert update.model_extra == payload


def test_the_wire_name_of_a_known_field_is_not_an_unknown_field() -> None:
    payload: Json = {"sessionUpdate": "_b"}
    with pytest.raises(TypeError, match="did you mean 'session_update'"):
        v1.OtherSessionUpdate(session_update="_a", **payload)


def test_a_known_tag_makes_nothing_that_is_newer_than_the_schema() -> None:
    with pytest.raises(ValidationError, match="belongs to another"):
        v1.OtherSessionUpdate(session_update="plan")


def test_unknown_fields_of_a_catch_all_can_be_set_later() -> None:
    update = v1.OtherSessionUpdate(session_update="news", a=1)  # pyright: ignore[reportCallIssue]
    copied = update.model_copy(update={"b": 2})
    assert json.loads(encode(copied)) == {"sessionUpdate": "news", "a": 1, "b": 2}

    setattr(update, "a", 3)  # noqa: B010 - unknown to type checkers
    assert json.loads(encode(update)) == {"sessionUpdate": "news", "a": 3}
    with pytest.raises(AttributeError, match="did you mean 'session_update'"):
        setattr(update, "sessionUpdate", "olds")  # noqa: B010


def test_a_discriminator_cannot_be_set_to_a_value_that_excludes_a_field() -> None:
    update = v2.IdleStateUpdate(stop_reason="end_turn", error=5)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValidationError, match="error"):
        update.stop_reason = "error"
    assert update.stop_reason == "end_turn"

    update.error = v2.Error(code=1, message="m")
    update.stop_reason = "error"
    assert json.loads(encode(update))["error"] == {"code": 1, "message": "m"}


def test_an_unknown_field_named_like_an_attribute_is_found_by_its_name() -> None:
    message: Json = {"sessionId": "s", "update": {"sessionUpdate": "plan", "entries": []}, "session_id": "t"}
    read = decode(v1.SessionNotification, message)

    assert (read.session_id, read.model_extra) == ("s", {"session_id": "t"})
    assert repr(read) == (
        "SessionNotification(session_id='s', update=Plan(session_update='plan', entries=[]), session_id='t')"
    )
    read.session_id = "u"
    read.update = v1.CurrentModeUpdate(current_mode_id="ask")
    assert json.loads(encode(read)) == {
        "sessionId": "u",
        "update": {"sessionUpdate": "current_mode_update", "currentModeId": "ask"},
        "session_id": "t",
    }
    assert pickle.loads(pickle.dumps(read)) == read == copy.deepcopy(read) == decode(type(read), encode(read))


def test_an_unknown_field_named_like_an_attribute_has_no_effect() -> None:
    wrong: Json = {"state": "idle", "stopReason": "error", "error": {"code": 1, "message": "m"}, "stop_reason": "new"}
    read = decode(v2.IdleStateUpdate, wrong)

    with pytest.raises(ValidationError, match="error"):
        read.error = 5  # pyright: ignore[reportAttributeAccessIssue]


def test_objects_of_model_construct_have_their_tags() -> None:
    chunk = v1.AgentMessageChunk.model_construct(content=v1.TextContent.model_construct(text="x"))
    written = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
    assert json.loads(encode(chunk)) == json.loads(chunk.model_dump_json(exclude_unset=True)) == written
    assert v1.TextContent.model_construct(text="x").model_fields_set == {"type", "text"}
    named = {"text"}
    assert v1.TextContent.model_construct(named, text="x").model_fields_set == {"type", "text"}
    assert named == {"text"}
    assert encode(v1.McpServerStdio.model_construct(name="s")) == b'{"name":"s"}'


def test_comparing_does_not_set_fields_that_model_construct_left_out() -> None:
    text = v1.TextContent.model_construct(annotations=None)
    assert text == v1.TextContent.model_construct(annotations=None)
    assert not hasattr(text, "text")


class Entry(BaseModel):
    """A user's model, through which pydantic reads ours without `decode`."""

    server: v1.McpServerHttp


def test_objects_read_by_pydantic_equal_decoded_ones() -> None:
    odd = '{"name": "n", "url": "u", "headers": [], "_meta": 7, "meta": {"known": false}, "newer": 1}'
    server = Entry.model_validate_json(f'{{"server": {odd}}}').server
    decoded = decode(v1.McpServerHttp, odd)

    assert server.model_extra == {"meta": {"known": False}, "newer": 1}
    assert server == decoded == server
    assert v1.McpServerHttp.model_validate_json(odd) == v1.McpServerHttp.model_validate_json(odd)
    assert v1.McpServerHttp.model_validate_json(odd) != v1.McpServerHttp(name="n", url="u", headers=[])
    assert v1.McpServerHttp.model_validate_json('{"name": "n", "url": "u", "headers": [], "_meta": 7}') == (
        v1.McpServerHttp(name="n", url="u", headers=[])
    )
