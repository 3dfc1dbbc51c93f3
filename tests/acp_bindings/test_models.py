"""Models as Python objects: made, changed, copied, compared, shown, described and written."""

import copy
import json
import math
import pickle
import subprocess
import sys
import threading
import warnings
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, Self, cast

import jsonschema_rs
import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from acp_bindings import (
    DecodeError,
    EncodeError,
    Finding,
    Issue,
    decode,
    encode,
    encoding,
    v1,
    v1_unstable,
    v2,
    v2_unstable,
)
from acp_bindings._models.base import Model
from acp_bindings._models.types import Rule, Within
from acp_bindings.errors import Path
from tests.acp_bindings.exact_json import Json

SECRET = "hunter2-hunter2"
PACKAGES = [v1, v1_unstable, v2, v2_unstable]

OF_DICTS: list[tuple[Callable[..., BaseModel], dict[str, Any]]] = [
    (v1.InitializeRequest, {"protocol_version": 1, "client_info": {"name": "n", "version": "1"}}),
    (v1.InitializeResponse, {"protocol_version": 1, "agent_capabilities": {"lodSession": True}}),
    (
        v1.NewSessionRequest,
        {"cwd": "/", "mcp_servers": [{"name": "s", "command": "/s", "args": [], "env": []}]},
    ),
    (v1.SessionNotification, {"session_id": "s", "update": {"sessionUpdate": "plan", "entries": []}}),
]

SERVER_WITH_A_NEWER_VARIABLE: Json = {
    "type": "stdio",
    "name": "n",
    "command": "/s",
    "env": [{"name": "A", "value": "", "old": SECRET}],
}

COPIES: list[Callable[[Any], Any]] = [
    copy.copy,
    copy.deepcopy,
    lambda model: model.model_copy(),
    lambda model: model.model_copy(deep=True),
    lambda model: pickle.loads(pickle.dumps(model)),
]

WRAPPINGS: list[Callable[[Any], Any]] = [lambda model: model, lambda model: {"params": model}]


def a_request() -> v1.NewSessionRequest:
    server = v1.McpServerStdio(name="s", command="/s", args=["-v"], env=[v1.EnvVariable(name="TOKEN", value=SECRET)])
    return v1.NewSessionRequest(cwd="/", mcp_servers=[server])


def test_meta_is_an_argument_like_any_other() -> None:
    assert encode(v1.TextContent(text="t", meta={"a": 1})) == b'{"_meta":{"a":1},"type":"text","text":"t"}'


@pytest.mark.parametrize(("make", "members"), OF_DICTS)
def test_an_object_is_made_of_objects_not_of_dicts(make: Callable[..., BaseModel], members: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="not a dict"):
        make(**members)


def test_where_anything_may_stand_a_dict_may() -> None:
    update = v1.ToolCallUpdate(tool_call_id="t", raw_input={"a": [{"b": 1}]}, meta={"c": {}})
    assert update.raw_input == {"a": [{"b": 1}]}


def test_a_member_named_self_is_an_unknown_one() -> None:
    with pytest.raises(TypeError, match="has no member 'self'"):
        v1.TextContent(self=1, text="t")  # pyright: ignore[reportCallIssue]


def test_instances_share_no_defaults() -> None:
    one, other = a_request(), a_request()
    one.additional_directories.append("/more")
    assert other.additional_directories == []


def test_a_refused_dict_leaves_the_object_as_it_was() -> None:
    request = a_request()
    before = encode(request)
    with pytest.raises(TypeError, match="not a dict"):
        request.mcp_servers = [{"name": "s", "command": "/s", "args": [], "env": []}]  # pyright: ignore[reportAttributeAccessIssue]
    assert encode(request) == before


def test_a_default_list_that_is_filled_in_place_is_written() -> None:
    request = decode(v1.NewSessionRequest, '{"cwd":"/","mcpServers":[]}')
    request.additional_directories.append("/more")
    assert json.loads(encode(request)) == {"cwd": "/", "mcpServers": [], "additionalDirectories": ["/more"]}


def test_a_default_map_that_is_filled_in_place_is_written() -> None:
    method = v1.AuthMethodTerminal(id="a", name="A")
    method.env["KEY"] = "v"
    assert json.loads(encode(method))["env"] == {"KEY": "v"}


def test_a_default_object_that_is_filled_in_place_is_written_in_an_envelope_too() -> None:
    response = v1.InitializeResponse(protocol_version=1)
    assert encode(response) == b'{"protocolVersion":1}'
    response.agent_capabilities.mcp_capabilities.http = True
    written: Json = json.loads(encode({"id": 0, "result": [response]}))
    assert written["result"] == [{"protocolVersion": 1, "agentCapabilities": {"mcpCapabilities": {"http": True}}}]


def test_a_default_list_deep_in_a_notification_is_written_when_filled() -> None:
    call = v1.ToolCall(tool_call_id="t", title="T")
    notification = v1.SessionNotification(session_id="s", update=call)
    call.locations.append(v1.ToolCallLocation(path="/p"))
    written: Json = json.loads(encode(notification))
    assert written["update"]["locations"] == [{"path": "/p"}]


class Noted(v1.TextContent):
    """A user's own kind of text, with a list that is empty by default."""

    notes: list[str] = []  # noqa: RUF012 - every object has its own, by pydantic


def test_a_default_list_that_a_subclass_adds_is_written_when_filled_wherever_it_stands() -> None:
    chunk = v1.ContentChunk(content=Noted(text="t"))
    request = v1.PromptRequest(session_id="s", prompt=[Noted(text="t")])
    for text in (chunk.content, request.prompt[0]):
        cast("Noted", text).notes.append("n")
    noted = {"type": "text", "text": "t", "notes": ["n"]}
    assert json.loads(encode([chunk, request])) == [{"content": noted}, {"sessionId": "s", "prompt": [noted]}]


def test_a_default_list_is_written_in_a_tuple_too_when_filled() -> None:
    call = v1.ToolCall(tool_call_id="t", title="T")
    call.locations.append(v1.ToolCallLocation(path="/p"))
    written: Json = json.loads(encode((call,)))
    assert written[0]["locations"] == [{"path": "/p"}]


def test_deleting_a_member_omits_it() -> None:
    update = v1.SessionInfoUpdate(title="t")
    del update.title
    assert update.title is None
    assert encode(update) == b'{"sessionUpdate":"session_info_update"}'


@pytest.mark.parametrize("name", ["cwd", "mcp_servers"])
def test_a_required_member_cannot_be_deleted(name: str) -> None:
    request = a_request()
    with pytest.raises(AttributeError, match=name):
        delattr(request, name)
    assert request == a_request()


def test_a_tag_cannot_be_deleted() -> None:
    with pytest.raises(AttributeError, match="type"):
        del v1.TextContent(text="t").type


def test_an_unknown_member_can_be_deleted() -> None:
    block = decode(v1.TextContent, '{"text":"t","x":1}')
    delattr(block, "x")
    assert encode(block) == b'{"text":"t"}'


@pytest.mark.parametrize(
    "copied",
    COPIES,
    ids=["copy", "deepcopy", "model_copy", "model_copy deep", "pickle"],
)
@pytest.mark.parametrize("extra", [{}, {"x": 1}, {"mcp_servers": 1, "meta": 2, "model_dump": 3}], ids=str)
def test_a_copy_is_equal_and_says_the_same(copied: Callable[[Any], Any], extra: Json) -> None:
    model = decode(v1.NewSessionRequest, {"cwd": "/", "mcpServers": [], **extra})
    assert copied(model) == model
    assert encode(copied(model)) == encode(model)
    assert copied(model).model_fields_set == model.model_fields_set


def test_what_is_read_twice_is_equal() -> None:
    text = '{"cwd":"/","mcpServers":[],"mcp_servers":1}'
    assert decode(v1.NewSessionRequest, text) == decode(v1.NewSessionRequest, text)


def test_a_copy_is_changed_under_the_rules_of_the_constructor() -> None:
    request = a_request()
    assert request.model_copy(update={"cwd": "/other"}).cwd == "/other"
    assert request.cwd == "/"
    with pytest.raises(ValidationError):
        request.model_copy(update={"cwd": 5})
    with pytest.raises(AttributeError, match="did you mean 'mcp_servers'"):
        request.model_copy(update={"mcpServers": []})


def test_env_and_headers_of_a_server_of_an_unknown_kind_are_hidden() -> None:
    server: object = decode(
        v2.McpServer, {"type": "sse", "name": "n", "headers": [{"name": "A", "value": SECRET}], "env": SECRET}
    )
    assert SECRET not in repr(server)
    assert "name='n'" in repr(server)


@pytest.mark.parametrize(
    "members",
    [
        {"mcpServers": [{"type": "sse", "name": "n", "config": {"env": [{"name": "A", "value": SECRET}]}}]},
        {"mcpServers": [SERVER_WITH_A_NEWER_VARIABLE]},
        {"newer": [{"headers": {"Authorization": SECRET}}]},
        {"_meta": {"vendor": {"env": {"TOKEN": SECRET}}}},
    ],
    ids=["unknown server", "unknown member of a variable", "unknown member", "meta"],
)
def test_env_and_headers_are_hidden_however_deep_they_are(members: dict[str, Any]) -> None:
    given: Json = {"cwd": "/", **members}
    request = decode(v2.NewSessionRequest, given)
    assert SECRET not in f"{request!r} {request}"
    assert SECRET in encode(request).decode()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.com:8080/mcp", "https://example.com:8080/mcp"),
        (f"https://example.com/mcp?key={SECRET}#{SECRET}", "https://example.com/mcp?…"),
        (f"https://example.com/mcp#{SECRET}?", "https://example.com/mcp#…"),
        (f"https://me:{SECRET}@example.com/@scope/mcp", "https://…@example.com/@scope/mcp"),
        (f"https://{SECRET}@me:{SECRET}@[::1]:80/?a", "https://…@[::1]:80/?…"),
        (f"me:{SECRET}@example.com/mcp", "…@example.com/mcp"),
        (f"https://me:{SECRET}?x@example.com/mcp", "…"),
        (f"https://me:{SECRET}/x@example.com/mcp", "…"),
        ("/messages?session=" + SECRET, "/messages?…"),
        ("", ""),
    ],
)
def test_of_a_url_who_is_logged_in_and_the_query_are_hidden(url: str, shown: str) -> None:
    for model in (
        v1.McpServerHttp(name="n", url=url, headers=[]),
        v1.McpServerSse(name="n", url=url, headers=[]),
        v2.McpServerHttp(name="n", url=url),
        decode(v2.McpServer, {"type": "sse", "name": "n", "url": url}),
        v1_unstable.SetProviderRequest(provider_id="p", api_type="x", base_url=url),
        v1.NewSessionResponse(session_id="s", meta={"servers": [{"url": url}, {"baseUrl": url}]}),
    ):
        assert f"'{shown}'" in repr(model)
        assert SECRET not in f"{model!r} {model}"
        assert f'"{url}"' in encode(model).decode()


def test_of_a_command_the_arguments_are_hidden_and_not_how_many_there_are() -> None:
    given = [f"--api-key={SECRET}", SECRET]
    raw: Json = {"command": "/s", "args": given}
    for model in (
        v1.McpServerStdio(name="n", command="/s", args=given, env=[]),
        v2.McpServerStdio(name="n", command="/s", args=given),
        decode(v2.McpServer, {"type": "podman", "name": "n", **raw}),
        v1.CreateTerminalRequest(session_id="s", command="/s", args=given),
        v1.NewSessionResponse(session_id="s", meta={"servers": [raw]}),
    ):
        assert "['…', '…']" in repr(model)
        assert SECRET not in f"{model!r} {model}"
    odd = decode(v2.McpServer, {"type": "podman", "name": "n", "command": "/s", "args": SECRET})
    assert repr(odd) == "OtherMcpServer(type='podman', name='n', command='/s', args='…')"
    assert repr(v2.McpServerStdio(name="n", command="/s", args=[])).endswith("args=[])")


def test_arguments_that_an_agent_tells_everybody_are_no_secret() -> None:
    assert repr(v1.AuthMethodTerminal(id="tui", name="n", args=["--login"])).endswith("args=['--login'])")


def test_a_bad_value_that_reads_as_omitted_leaves_an_attribute() -> None:
    update = v1.ToolCallUpdate.model_validate_json('{"toolCallId":"t","kind":5}')
    assert update.kind is None
    with pytest.raises(AttributeError):
        _ = update.knid  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


def test_every_name_has_a_json_schema_for_reading_and_for_writing() -> None:
    with warnings.catch_warnings(action="error"):
        for package in PACKAGES:
            for name in set(package.__all__) - {"METHODS"}:
                adapter: TypeAdapter[Any] = TypeAdapter(getattr(package, name))
                jsonschema_rs.validator_for(adapter.json_schema(mode="validation"))
                jsonschema_rs.validator_for(adapter.json_schema(mode="serialization"))


@pytest.mark.parametrize(
    ("type_", "tag", "without"),
    [
        (v1.ContentBlock, {"type": "text"}, {"text": "t"}),
        (v2.ReplayFrom, {"type": "start"}, {}),
        (v2.SessionUpdate, {"sessionUpdate": "usage_update"}, {"used": 1, "size": 2}),
    ],
)
def test_a_json_schema_of_what_is_written_wants_the_tag(
    type_: Any, tag: dict[str, Any], without: dict[str, Any]
) -> None:
    accepts = jsonschema_rs.validator_for(TypeAdapter[Any](type_).json_schema(mode="serialization")).is_valid

    assert not accepts(without)
    assert accepts(tag | without)


def test_a_json_schema_of_what_is_read_takes_a_payload_without_its_tag() -> None:
    accepts = jsonschema_rs.validator_for(v1.TextContent.model_json_schema()).is_valid
    assert accepts({"text": "t"})
    assert not accepts({"type": "image", "text": "t"})


def test_a_json_schema_states_the_rule_of_the_writer() -> None:
    accepts = jsonschema_rs.validator_for(v1.NewSessionRequest.model_json_schema()).is_valid
    assert accepts(json.loads(encode(a_request())))
    assert not accepts({"cwd": "/", "mcpServers": None})
    accepts = jsonschema_rs.validator_for(TypeAdapter[Any](v2.McpServer).json_schema()).is_valid
    assert accepts({"type": "sse", "x": 1})
    assert not accepts({"type": "http", "x": 1})
    assert not accepts({"type": 5})


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_does_not_have_is_refused_not_nulled(number: float) -> None:
    newer = decode(v1.TextContent, {"text": "t", "newer": 5})
    assert newer.model_extra
    newer.model_extra["newer"] = number
    values: list[Any] = [v1.TextContent(text="t", meta={"deep": [number]}), [number], {1: number, "1": 0}, newer]
    paths: list[Path] = []
    for value in values:
        with pytest.raises(EncodeError) as caught:
            encode(value)
        told = "NaN, infinity and integers of over 4300 digits cannot be sent"
        ((path, *_),) = [(each.path, each.message) for each in caught.value.issues if each.message == told]
        paths.append(path)
    assert paths == [("_meta", "deep", 0), (0,), ("1",), ("newer",)]
    with pytest.raises(ValidationError):
        v1.Cost(amount=number, currency="EUR")


def test_a_number_beyond_floats_is_refused() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(v1.Cost, '{"amount":1e999,"currency":"EUR"}')
    assert {issue.path for issue in caught.value.issues} == {("amount",)}


@pytest.mark.parametrize(
    "value", ["1e999", "[1e999]", '{"a": "b", "c": 1e999}', '{"a": {"b": 1e999}}', '{"a": [1e999]}']
)
def test_a_number_beyond_floats_is_refused_also_where_anything_may_stand(value: str) -> None:
    text = '{"sessionUpdate": "tool_call", "toolCallId": "call", "title": "Call", "rawInput": 1}'
    assert decode(v1.SessionUpdate, text) == v1.ToolCall(tool_call_id="call", title="Call", raw_input=1)
    text = text.replace("1}", value + "}")
    with pytest.raises(DecodeError):
        decode(v1.ToolCall, text)
    with pytest.raises(DecodeError):
        decode(v1.SessionUpdate, text)


def test_the_words_for_what_is_no_number_are_fine_as_text() -> None:
    block = v1.TextContent(text="NaN, Infinity")
    assert decode(v1.ContentBlock, encode(block)) == block


def test_what_was_put_into_a_list_is_blamed_by_its_place_and_not_shown() -> None:
    request = a_request()
    server = request.mcp_servers[0]
    assert server.type == "stdio"
    server.env.append(SECRET)  # pyright: ignore[reportArgumentType]
    with pytest.raises(EncodeError) as caught:
        encode(request)
    assert [issue.path for issue in caught.value.issues] == [("mcpServers", 0, "env", 1)]
    assert_hidden(caught.value)


@pytest.mark.parametrize("wrap", WRAPPINGS, ids=["model", "envelope"])
def test_a_dict_in_place_of_an_object_is_refused_and_not_shown(wrap: Callable[[Any], Any]) -> None:
    server = v1.McpServerStdio(name="s", command="/s", args=[], env=[])
    server.env.append({"name": "TOKEN", "value": SECRET})  # pyright: ignore[reportArgumentType]
    with pytest.raises(EncodeError) as caught:
        encode(wrap(server))
    (issue,) = caught.value.issues
    assert (issue.path[-2:], issue.rule, issue.message) == (
        ("env", 0),
        "model_type",
        "Input should be v1.EnvVariable, not dict",
    )
    assert_hidden(caught.value)


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"type": "text", "text": SECRET}, "dict"),
        ({}, "dict"),
        (v2.TextContent(text=SECRET), "v2.TextContent"),
        (v1.AgentMessageChunk(content=v1.TextContent(text=SECRET)), "v1.AgentMessageChunk"),
    ],
)
def test_an_object_that_was_put_where_another_belongs_is_told_with_what_does(part: Any, kind: str) -> None:
    request = v1.PromptRequest(session_id="s", prompt=[v1.TextContent(text=SECRET)])
    request.prompt.append(part)
    with pytest.raises(EncodeError) as caught:
        encode({"params": [request]})
    (issue,) = caught.value.issues
    assert issue.path == ("params", 0, "prompt", 1)
    assert issue.message.startswith("Input should be v1.TextContent, v1.ImageContent, ")
    assert issue.message.endswith(f"v1.EmbeddedResource, not {kind}")
    assert_hidden(caught.value)


@pytest.mark.parametrize("action", ["default", "error", "ignore", "always", "module", "once"])
def test_what_does_not_belong_there_is_refused_again_and_again_whatever_is_done_about_warnings(action: Any) -> None:
    server = v1.McpServerStdio(name="s", command="/s", args=[], env=[])
    server.args.append(7)  # pyright: ignore[reportArgumentType]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter(action)
        for _ in range(3):
            with pytest.raises(EncodeError) as caught:
                encode(server)
            assert [issue.path for issue in caught.value.issues] == [("args", 0)]
    assert warned == []


def test_it_is_refused_too_where_python_lets_every_module_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "__warningregistry__", {})
    monkeypatch.setattr(encoding, "_ERRORS", {"warnings": "error"})
    monkeypatch.setattr(encoding, "_WRITERS", {})
    server = v1.McpServerStdio(name="s", command="/s", args=[], env=[])
    server.args.append(7)  # pyright: ignore[reportArgumentType]
    for value in (server, [server]):
        with pytest.raises(EncodeError):
            encode(value)


def test_null_in_a_list_that_has_no_place_for_it_is_refused() -> None:
    request = a_request()
    request.mcp_servers.append(None)  # pyright: ignore[reportArgumentType]
    request.additional_directories.append(None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(EncodeError) as caught:
        encode(request)
    assert {issue.path for issue in caught.value.issues} == {("mcpServers", 1), ("additionalDirectories", 0)}
    with pytest.raises(EncodeError) as caught:
        encode({"params": [request]})
    assert ("params", 0, "mcpServers", 1) in {issue.path for issue in caught.value.issues}


def test_what_is_refused_is_named_however_deep_it_lies() -> None:
    request = a_request()
    request.additional_directories.append(7)  # pyright: ignore[reportArgumentType]
    for value, way in (({"a": {"b": request}}, ("a", "b")), ([[0, request]], (0, 1))):
        with pytest.raises(EncodeError) as caught:
            encode(value)
        issue = Issue((*way, "additionalDirectories", 0), "string_type", "Input should be a valid string")
        assert caught.value.issues == (issue,)


def test_null_in_a_list_of_anything_is_written() -> None:
    update = v1.ToolCallUpdate(tool_call_id="t", raw_input=[None, [1, None]], meta={"a": [None]})
    written: Json = json.loads(encode({"params": update, "ids": [None]}))
    assert written["params"]["rawInput"] == [None, [1, None]]
    assert written["params"]["_meta"] == {"a": [None]}


def test_what_json_has_no_word_for_is_refused_by_its_place() -> None:
    cycle: dict[str, Any] = {}
    cycle["cycle"] = cycle
    values: list[tuple[object, Path, str]] = [
        (object(), ("_meta", "a", 0), "JSON has nothing for an object of object"),
        (v1.TextContent, ("_meta", "a", 0), "This is the class v1.TextContent, and no object of it"),
        ("\ud800", ("_meta", "a", 0), "Half of a surrogate pair cannot be sent"),
        ({"\ud800": 1}, ("_meta", "a", 0), "A name in it cannot be sent"),
        (cycle, (), "It holds itself, or is nested too deep"),
    ]
    for value, path, told in values:
        with pytest.raises(EncodeError) as caught:
            encode(v1.TextContent(text="t", meta={"b": 1, "a": [value]}))
        assert caught.value.type_name == "TextContent"
        assert caught.value.issues == (Issue(path, "not_json", told),)


@pytest.mark.parametrize(
    ("model", "path"),
    [
        (v1.AuthMethodTerminal(id="a", name="A", env={"a\udfff": "b"}), ("env",)),
        (v1.ElicitationAcceptAction(content={"\ud800": "\ufffd"}), ("content",)),
        (v1.ElicitationSchema(properties={"\ud800": v1.StringPropertySchema()}), ("properties",)),
        (v1.TextContent(text="t", meta={"\udc00": 1}), ("_meta",)),
        (v1.TextContent.model_construct(None, **{"text": "t", "a\ud800b": 1}), ()),
    ],
    ids=["env", "content", "properties", "_meta", "unknown"],
)
def test_half_a_character_in_a_name_is_not_written_as_another(model: Any, path: Path) -> None:
    refused = Issue(path, "not_json", "A name in it cannot be sent")
    with pytest.raises(EncodeError) as unwritten:
        encode(model)
    assert unwritten.value.issues == (refused,)
    with pytest.raises(EncodeError) as unwritten:
        encode([{"a": model}])
    assert unwritten.value.issues == (replace(refused, path=(0, "a", *path)),)
    with pytest.raises(DecodeError) as unread:
        decode(v1.LogoutRequest, {"_meta": {"a": model}})
    assert unread.value.issues == (replace(refused, path=("_meta", "a", *path)),)


def test_a_map_of_a_users_own_keeps_the_names_that_it_wants() -> None:
    class Counted(v1.TextContent):
        by_size: dict[int, str] | None = None
        by_name: dict[Annotated[str, Field(min_length=2)], int] | None = None

    assert decode(Counted, {"text": "t", "bySize": {"5": "a"}}).by_size == {5: "a"}
    with pytest.raises(DecodeError):
        decode(Counted, {"text": "t", "byName": {"a": 1}})


def test_a_tuple_of_a_users_own_is_read_by_the_rules_of_what_is_in_it() -> None:
    class Paired(v1.TextContent):
        pair: tuple[int, v1.ContentBlock]
        blocks: tuple[v1.ContentBlock, ...] = ()

    bad_meta = {"type": "text", "text": "b", "_meta": 5}
    found: list[Finding] = []
    paired = decode(Paired, {"text": "t", "pair": [1, bad_meta], "blocks": [bad_meta, bad_meta]}, findings=found)

    assert paired.pair == (1, v1.TextContent(text="b"))
    assert paired.blocks == (v1.TextContent(text="b"),) * 2
    assert [each.path for each in found] == [("pair", 1, "_meta"), ("blocks", 0, "_meta"), ("blocks", 1, "_meta")]
    assert encode(Paired(text="t", pair=paired.pair)) == (
        b'{"type":"text","text":"t","pair":[1,{"type":"text","text":"b"}]}'
    )
    with pytest.raises(DecodeError) as refused:
        decode(Paired, {"text": "t", "pair": ["1", {"type": "text"}], "blocks": [bad_meta, {"type": "text"}]})
    assert [str(each) for each in refused.value.issues] == [
        "pair[0]: Input should be a valid integer",
        "pair[1].text: Field required (in text)",
        "blocks[1].text: Field required (in text)",
    ]
    with pytest.raises(DecodeError):
        decode(Paired, '{"text": "t", "pair": [1, {"type": "text", "text": "b", "newer": 1e999}]}')


def test_what_is_no_object_yet_is_not_written() -> None:
    with pytest.raises(EncodeError, match=r"^TextContent: This is the class v1\.TextContent, and no object of it$"):
        encode(v1.TextContent)

    class Later(Awaitable[None]):
        def __await__(self) -> Generator[None, None, None]:
            yield

    with pytest.raises(EncodeError, match=r"^Later: JSON has nothing for an object of Later; was await forgotten\?$"):
        encode(Later())


def test_models_in_parsed_json_keep_what_they_omit() -> None:
    update = v1.SessionInfoUpdate()
    notification = decode(v1.SessionNotification, {"sessionId": "s", "update": update})
    assert encode(notification.update) == encode(update)
    assert encode(decode(v1.NewSessionRequest, a_request())) == encode(a_request())


def test_null_is_no_response_that_requires_something() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(v1.NewSessionResponse, "null")
    assert [issue.path for issue in caught.value.issues] == [()]


@pytest.mark.parametrize("text", ["\xa0null", "null\u2028", "\vnull", b"\x0cnull", bytearray(b"null\x0c")])
def test_only_the_white_space_of_json_may_stand_around_null(text: str | bytes | bytearray) -> None:
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


def test_a_bad_value_that_reads_as_omitted_is_equal_to_an_omitted_one_in_every_thread() -> None:
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


def test_a_module_of_a_package_is_an_attribute_before_anything_of_it_is_used() -> None:
    code = "from acp_bindings import v2; assert v2.session.NewSessionRequest is v2.NewSessionRequest"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


class Labelled(v1.McpServerStdio):
    """A user's own kind of server."""

    label: str


class LabelledCall(v1.ToolCall):
    """A user's own kind of update."""

    label: str


def test_members_that_a_subclass_adds_are_written_wherever_it_stands() -> None:
    server = Labelled(name="s", command="/s", args=[], env=[], label="mine")
    written: Json = json.loads(encode(v1.NewSessionRequest(cwd="/", mcp_servers=[server])))
    assert written["mcpServers"] == [{"name": "s", "command": "/s", "args": [], "env": [], "label": "mine"}]
    call = LabelledCall(tool_call_id="t", title="T", label="mine")
    written = json.loads(encode({"params": v1.SessionNotification(session_id="s", update=call)}))
    assert written["params"]["update"]["label"] == "mine"


def test_what_is_newer_than_the_schema_is_made_with_all_of_its_members() -> None:
    payload: Json = {"percent": 5, "inner": v1.TextContent(text="t")}
    update = v1.OtherSessionUpdate(session_update="_progress", **payload)
    assert encode(update) == b'{"sessionUpdate":"_progress","percent":5,"inner":{"type":"text","text":"t"}}'
    assert update.model_extra == payload


def test_the_wire_name_of_a_known_member_is_no_unknown_member() -> None:
    payload: Json = {"sessionUpdate": "_b"}
    with pytest.raises(TypeError, match="did you mean 'session_update'"):
        v1.OtherSessionUpdate(session_update="_a", **payload)


def test_a_known_tag_makes_nothing_that_is_newer_than_the_schema() -> None:
    with pytest.raises(ValidationError, match="belongs to another"):
        v1.OtherSessionUpdate(session_update="plan")


def assert_hidden(error: BaseException) -> None:
    shown = f"{error} {error!r}"
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert SECRET not in shown


class Halves(Model):
    """A range whose ends are no integers."""

    size: Annotated[float, Within(ge=0.5, le=1.5)]


@pytest.mark.parametrize("size", [0, 2, 0.4, 1.6])
def test_a_range_is_kept_by_integers_too(size: float) -> None:
    with pytest.raises(DecodeError):
        decode(Halves, {"size": size})


@pytest.mark.parametrize("size", [0.5, 1, 1.5])
def test_what_is_in_the_range_is_read(size: float) -> None:
    assert decode(Halves, {"size": size}).size == size


def as_it_is(value: Any) -> Any:
    return value


class Extended(v1.TextContent):
    """What a user derives of a class, with members that pydantic reads in ways of its own."""

    checkedSize: Annotated[float, AfterValidator(as_it_is)] = 0  # noqa: N815
    class_: Annotated[Any, AfterValidator(as_it_is)] = None


def test_a_class_of_ones_own_is_read_by_the_same_rules() -> None:
    text = '{"type": "text", "text": "t", "checkedSize": 1.5, "class_": [2], "newer": 3}'

    made = decode(Extended, text)

    assert (made.checkedSize, made.class_, made.model_extra) == (1.5, [2], {"newer": 3})
    assert json.loads(encode(made)) == json.loads(text)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
@pytest.mark.parametrize("member", ["checkedSize", "class_", "newer"])
def test_numbers_that_json_does_not_have_are_refused_in_a_class_of_ones_own(
    member: str, number: str, *, strict: bool
) -> None:
    with pytest.raises(DecodeError):
        decode(Extended, f'{{"type": "text", "text": "t", "{member}": {number}}}', strict=strict)


class Remembering(v1.Annotations):
    """Keeps something beside its members."""

    @cached_property
    def length(self) -> int:
        return len(self.audience or [])

    def model_post_init(self, _context: Any) -> None:
        assert self.length == 0


def test_what_is_left_out_as_bad_is_a_member_all_the_same_whatever_holds_it() -> None:
    bad, unset = '{"priority": "high"}', decode(Remembering, "{}")

    assert decode(Remembering, bad) == unset
    for read in (
        decode(list[Remembering], f"[{bad}]")[0],
        decode(dict[str, Remembering], f'{{"a": {bad}}}')["a"],
        decode(OrderedDict[str, Remembering], f'{{"a": {bad}}}')["a"],
    ):
        assert vars(read) == vars(unset)


def test_what_is_newer_than_the_schema_takes_members_later_too() -> None:
    update = v1.OtherSessionUpdate(session_update="news", a=1)  # pyright: ignore[reportCallIssue]
    copied = update.model_copy(update={"b": 2})
    assert json.loads(encode(copied)) == {"sessionUpdate": "news", "a": 1, "b": 2}

    setattr(update, "a", 3)  # noqa: B010 - of which no type checker knows
    assert json.loads(encode(update)) == {"sessionUpdate": "news", "a": 3}
    with pytest.raises(AttributeError, match="did you mean 'session_update'"):
        setattr(update, "sessionUpdate", "olds")  # noqa: B010


def test_a_member_that_decides_on_another_is_not_set_to_what_excludes_it() -> None:
    update = v2.IdleStateUpdate(stop_reason="end_turn", error=5)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValidationError, match="error"):
        update.stop_reason = "error"
    assert update.stop_reason == "end_turn"

    update.error = v2.Error(code=1, message="m")
    update.stop_reason = "error"
    assert json.loads(encode(update))["error"] == {"code": 1, "message": "m"}


class Request(v1.NewSessionRequest):
    """With a constructor of a user's own."""

    def __init__(self, **members: Any) -> None:
        members.setdefault("cwd", "/")
        super().__init__(**members)


def test_what_is_read_does_not_go_through_a_constructor_of_a_users_own() -> None:
    assert Request(mcp_servers=[]).cwd == "/"
    assert decode(Request, {"cwd": "/p", "mcpServers": []}).cwd == "/p"
    with pytest.raises(DecodeError, match="cwd: Field required"):
        decode(Request, {"mcpServers": []})


class Before(v1.SetSessionModeResponse):
    """With a validator that sees what a message holds before its members are read."""

    tries: Annotated[int, Rule.DEFAULT_ON_ERROR] = 1

    @model_validator(mode="before")
    @classmethod
    def see(cls, data: Any) -> Any:
        return data


class Around(v1.SetSessionModeResponse):
    """With one around the reading of them."""

    tries: Annotated[int, Rule.DEFAULT_ON_ERROR] = 1

    @model_validator(mode="wrap")
    @classmethod
    def see(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        return handler(data)


class After(v1.SetSessionModeResponse):
    """With one that sees the object."""

    tries: Annotated[int, Rule.DEFAULT_ON_ERROR] = 1

    @model_validator(mode="after")
    def see(self) -> Self:
        return self


@pytest.mark.parametrize("kind", [Before, Around, After])
def test_the_rules_hold_in_a_class_with_a_validator_of_a_users_own(kind: type[Before | Around | After]) -> None:
    found: list[Finding] = []
    read = decode(kind, {"_meta": 5, "tries": "x", "meta": 1, "new": None}, findings=found)

    assert (type(read), read.meta, read.tries, read.model_extra) == (kind, None, 1, {"meta": 1, "new": None})
    assert [each.path for each in found] == [("_meta",), ("tries",)]
    assert json.loads(encode(read)) == {"tries": 1, "meta": 1, "new": None}
    with pytest.raises(ValidationError):
        kind(tries="x")  # pyright: ignore[reportArgumentType]


def test_an_unknown_member_that_is_spelt_like_an_attribute_is_found_by_its_name() -> None:
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


def test_an_unknown_member_that_is_spelt_like_an_attribute_decides_nothing() -> None:
    wrong: Json = {"state": "idle", "stopReason": "error", "error": {"code": 1, "message": "m"}, "stop_reason": "new"}
    read = decode(v2.IdleStateUpdate, wrong)

    with pytest.raises(ValidationError, match="error"):
        read.error = 5  # pyright: ignore[reportAttributeAccessIssue]


def test_an_unknown_member_that_is_spelt_like_an_attribute_hides_the_secrets_of_its_url() -> None:
    wrong: Json = {"apiType": "openai", "baseUrl": "https://h", "base_url": f"https://me:{SECRET}@h/"}
    assert str(decode(v1_unstable.ProviderCurrentConfig, wrong)) == (
        "api_type='openai' base_url='https://h' base_url='https://…@h/'"
    )


class Closed(v1.ToolCall):
    """Refuses what the schema does not know."""

    model_config = ConfigDict(extra="forbid")


class Narrow(v1.ToolCall):
    """Drops it."""

    model_config = ConfigDict(extra="ignore")


def test_a_user_may_have_unknown_members_refused_or_dropped() -> None:
    wrong: Json = {"toolCallId": "c", "title": "t", "kind": 5, "toolcallid": 1}
    found: list[Finding] = []

    assert encode(decode(Narrow, wrong, findings=found)) == b'{"toolCallId":"c","title":"t"}'
    assert [each.path for each in found] == [("kind",)]
    with pytest.raises(DecodeError, match="toolcallid: Extra inputs are not permitted"):
        decode(Closed, wrong)
    assert decode(Closed, {"toolCallId": "c", "title": "t"}) == Closed(tool_call_id="c", title="t")


class Frozen(v1.ToolCall):
    """Cannot change."""

    model_config = ConfigDict(frozen=True)


class Fixed(v1.ToolCall):
    """Has members that cannot change."""

    title: Annotated[str, Field(frozen=True)]
    kind: Annotated[v1.ToolKind | None, Field(frozen=True)] = None


@pytest.mark.parametrize(("kind", "rule"), [(Frozen, "frozen_instance"), (Fixed, "frozen_field")])
def test_what_a_user_freezes_is_not_set(kind: type[Frozen | Fixed], rule: str) -> None:
    call = kind(tool_call_id="c", title="t")

    with pytest.raises(ValidationError) as raised:
        call.title = SECRET
    assert [each["type"] for each in raised.value.errors()] == [rule]
    assert "input_value" not in str(raised.value)
    with pytest.raises(ValidationError, match="frozen"):
        del call.kind
    assert call == kind(tool_call_id="c", title="t")


def test_a_copy_of_a_frozen_object_may_differ() -> None:
    call = Frozen(tool_call_id="c", title="t", kind="read")

    assert call.model_copy(update={"title": "u"}) == Frozen(tool_call_id="c", title="u", kind="read")


class Titled(v1.ToolCall):
    """Has an attribute of its own that sets a member."""

    @property
    def heading(self) -> str:
        return self.title.upper()

    @heading.setter
    def heading(self, value: str) -> None:
        self.title = value.lower()


def test_a_property_of_a_users_own_is_set() -> None:
    call = Titled(tool_call_id="c", title="t")
    call.heading = "NEW"

    assert (call.title, call.heading) == ("new", "NEW")


class ClosedUpdate(v1.OtherSessionUpdate):
    """Newer than the schema, and yet with no other members."""

    model_config = ConfigDict(extra="forbid")

    @cached_property
    def shown(self) -> str:
        return self.session_update.title()


def test_a_subclass_decides_what_else_may_be_set() -> None:
    update = ClosedUpdate(session_update="weather")
    update.shown = "Rain"

    assert update.shown == "Rain"
    with pytest.raises(AttributeError, match="no member 'degrees'"):
        update.degrees = 21  # pyright: ignore[reportAttributeAccessIssue]


class Inner(v1.SetSessionModeResponse):
    """Has a default that is made for each object."""

    names: list[str] = Field(default_factory=list)


class Outer(v1.SetSessionModeResponse):
    """Has nothing of its own that can be filled."""

    inner: Inner


def test_a_default_of_a_users_own_is_written_when_it_is_filled() -> None:
    outer = Outer(inner=Inner())
    outer.inner.names.append("a")

    assert encode(outer) == b'{"inner":{"names":["a"]}}'


class Doubled(v1.SetSessionModeResponse):
    """Has a default that is made of another member."""

    names: list[str] = Field(default_factory=list)
    doubled: list[str] = Field(default_factory=lambda read: read["names"] * 2)


def test_a_default_of_a_users_own_may_be_made_of_other_members() -> None:
    model = Doubled(names=["a"])
    assert json.loads(encode(model))["names"] == ["a"]
    model.doubled.append("b")
    assert json.loads(encode(model))["doubled"] == ["a", "a", "b"]


class Listed(v1.SetSessionModeResponse):
    """Has a default with something in it."""

    names: list[str] = Field(default_factory=lambda: ["a"])


def test_a_default_of_a_users_own_is_written_when_it_is_emptied() -> None:
    model = Listed()
    assert encode(model) == b"{}"
    model.names.clear()
    assert encode(model) == b'{"names":[]}'
