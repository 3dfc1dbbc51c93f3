"""A constructor argument of the wrong type raises an error that names the right type."""

from collections.abc import Callable
from typing import Any, Self, cast

import pytest
from pydantic import ValidationError, field_validator, model_validator

from acp_bindings import v1, v1_unstable, v2

CHUNK = v1.AgentMessageChunk(content=v1.TextContent(text="hunter2"))
BLOCKS = "v1.TextContent, v1.ImageContent, v1.AudioContent, v1.ResourceLink or v1.EmbeddedResource"
OF_ANY: Any = v1
"""The package without its types, to create what type checkers refuse."""


def told(make: Callable[[], object]) -> list[tuple[tuple[int | str, ...], str, str]]:
    with pytest.raises(ValidationError) as raised:
        make()
    assert raised.value.__cause__ is None
    assert "hunter2" not in str(raised.value)
    return [(each["loc"], each["type"], each["msg"]) for each in raised.value.errors()]


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("hunter2", "str"),
        (None, "NoneType"),
        ([v1.TextContent(text="hunter2")], "list"),
        (CHUNK, "v1.AgentMessageChunk"),
        (v2.TextContent(text="hunter2"), "v2.TextContent"),
        (v1_unstable.TextContent(text="hunter2"), "v1_unstable.TextContent"),
        (v1.TextContent, "the class v1.TextContent"),
    ],
)
def test_the_expected_and_the_given_type_are_named(given: Any, kind: str) -> None:
    expected = [(("content",), "model_type", f"Input should be {BLOCKS}, not {kind}")]
    chunk = v1.AgentMessageChunk(content=v1.TextContent(text="hunter2"))

    assert told(lambda: v1.AgentMessageChunk(content=given)) == expected
    assert told(lambda: setattr(chunk, "content", given)) == expected
    assert told(lambda: chunk.model_copy(update={"content": given})) == expected
    assert chunk == CHUNK


def test_an_invalid_list_item_is_reported_with_its_place() -> None:
    blocks: list[Any] = [v1.TextContent(text="hunter2"), "hunter2"]
    told_ = told(lambda: v1.PromptRequest(session_id=cast("Any", 5), prompt=blocks))

    assert told_ == [
        (("session_id",), "string_type", "Input should be a valid string"),
        (("prompt", 1), "model_type", f"Input should be {BLOCKS}, not str"),
    ]


def test_only_the_most_similar_of_many_types_are_named() -> None:
    update: Any = v1.ToolCallUpdate(tool_call_id="hunter2")
    ((loc, _, message),) = told(lambda: v1.SessionNotification(session_id="s", update=update))

    assert loc == ("update",)
    assert message.startswith("Input should be v1.SessionToolCallUpdate, v1.ToolCall, ")
    assert message.endswith(" or another of 15, not v1.ToolCallUpdate")


def test_a_single_possible_type_is_named() -> None:
    call: Any = v1.ToolCall(tool_call_id="c", title="t")
    assert told(lambda: v1.RequestPermissionRequest(session_id="s", tool_call=call, options=[])) == [
        (("tool_call",), "model_type", "Input should be v1.ToolCallUpdate, not v1.ToolCall")
    ]


def test_a_list_of_dicts_in_place_of_objects_is_refused() -> None:
    server: Any = {"name": "hunter2", "command": "/s", "args": [], "env": []}
    request = OF_ANY.NewSessionRequest(cwd="/", mcp_servers=[])
    for refused in (
        lambda: type(request)(cwd="/", mcp_servers=[server]),
        lambda: setattr(request, "mcp_servers", [server]),
    ):
        with pytest.raises(
            TypeError, match=r"^NewSessionRequest\.mcp_servers must be McpServerStdio\(...\), not a dict"
        ):
            refused()
    assert request == OF_ANY.NewSessionRequest(cwd="/", mcp_servers=[])


def test_a_dict_in_a_list_is_refused_with_its_place() -> None:
    server: Any = {"name": "hunter2", "command": 5}
    with pytest.raises(TypeError, match=r"^NewSessionRequest\.mcp_servers\[0\] must be an object, not a dict"):
        v1.NewSessionRequest(cwd="/", mcp_servers=[server])


@pytest.mark.parametrize("outcome", [{"outcome": "selected", "optionId": "hunter2"}, {"outcome": "hunter2"}, {}])
def test_a_dict_in_place_of_an_object_is_refused_whatever_its_content(outcome: Any) -> None:
    with pytest.raises(TypeError) as raised:
        v1.RequestPermissionResponse(outcome=outcome)
    assert (
        str(raised.value)
        == "RequestPermissionResponse.outcome must be an object, not a dict; `decode` can make one from it"
    )
    assert raised.value.__cause__ is None


def test_other_errors_are_those_of_pydantic() -> None:
    with pytest.raises(ValidationError, match=r"list_type\]\n.*errors\.pydantic\.dev"):
        v1.PromptRequest(session_id="s", prompt=OF_ANY.TextContent(text="a"))
    with pytest.raises(ValidationError, match=r"Input should be a valid list \[type=list_type\]"):
        OF_ANY.NewSessionRequest(cwd="/", mcp_servers={"files": {"command": "hunter2"}})
    assert told(lambda: OF_ANY.TextContent(text=5)) == [(("text",), "string_type", "Input should be a valid string")]
    assert told(OF_ANY.SessionNotification) == [
        (("session_id",), "missing", "Field required"),
        (("update",), "missing", "Field required"),
    ]


def test_errors_in_a_map_are_those_of_pydantic() -> None:
    wrong: Any = {"a": 5}
    assert {loc[:2] for loc, *_ in told(lambda: v1.ElicitationSchema(properties=wrong))} == {("properties", "a")}


def test_errors_of_a_users_validator_are_those_of_pydantic() -> None:
    class Loud(v1.AgentMessageChunk):
        @model_validator(mode="after")
        def refuse(self) -> Self:
            raise ValueError("too loud")

    assert told(lambda: Loud(content=CHUNK.content)) == [((), "value_error", "Value error, too loud")]


def test_errors_in_a_value_changed_by_a_validator_are_those_of_pydantic() -> None:
    class Signed(v1.PromptRequest):
        @field_validator("prompt", mode="before")
        @classmethod
        def sign(cls, value: Any) -> Any:
            if isinstance(value, dict):
                raise ValueError("a dict is too loud")
            return [*value, "hunter2"]

    given: Any = {"text": "hunter2"}
    assert told(lambda: Signed(session_id="s", prompt=given)) == [
        (("prompt",), "value_error", "Value error, a dict is too loud")
    ]
    assert told(lambda: Signed(session_id="s", prompt=[])) == [
        (("prompt", 0), "model_type", f"Input should be {BLOCKS}, not str")
    ]
