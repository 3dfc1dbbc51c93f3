"""`encode`: its output, the values that it refuses because they were assigned later, and its error messages."""

import json
import math
import warnings
from collections.abc import Awaitable, Callable, Generator
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from acp_bindings import DecodeError, EncodeError, Issue, decode, encode, encoding, v1, v2
from acp_bindings.errors import Path
from tests.acp_bindings.exact_json import Json
from tests.acp_bindings.samples import SECRET, a_request

WRAPPINGS: list[Callable[[Any], Any]] = [lambda model: model, lambda model: {"params": [model]}, lambda model: (model,)]


FILLED: dict[str, tuple[Any, Callable[[Any], object], str]] = {
    "list": (a_request(), lambda given: given.additional_directories.append("/a"), '"additionalDirectories":["/a"]'),
    "map": (v1.AuthMethodTerminal(id="a", name="A"), lambda given: given.env.update(KEY="v"), '"env":{"KEY":"v"}'),
    "object": (
        v1.InitializeResponse(protocol_version=1),
        lambda given: setattr(given.agent_capabilities.mcp_capabilities, "http", True),
        '{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}}}',
    ),
    "list of an inner object": (
        v1.SessionNotification(session_id="s", update=v1.ToolCall(tool_call_id="t", title="T")),
        lambda given: given.update.locations.append(v1.ToolCallLocation(path="/p")),
        '"locations":[{"path":"/p"}]',
    ),
}


@pytest.mark.parametrize("wrap", WRAPPINGS, ids=["model", "envelope", "tuple"])
@pytest.mark.parametrize(("model", "fill", "written"), FILLED.values(), ids=FILLED)
def test_a_default_that_is_filled_in_place_is_written(
    model: Any, fill: Callable[[Any], object], written: str, wrap: Callable[[Any], Any]
) -> None:
    filled = model.model_copy(deep=True)
    fill(filled)

    assert written not in encode(wrap(model)).decode()
    assert written in encode(wrap(filled)).decode()


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


@pytest.mark.parametrize("wrap", WRAPPINGS, ids=["model", "envelope", "tuple"])
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
def test_an_object_of_the_wrong_class_is_reported_with_the_right_ones(part: Any, kind: str) -> None:
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
def test_an_invalid_item_is_refused_every_time_under_any_warning_filter(action: Any) -> None:
    server = v1.McpServerStdio(name="s", command="/s", args=[], env=[])
    server.args.append(7)  # pyright: ignore[reportArgumentType]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter(action)
        for _ in range(3):
            with pytest.raises(EncodeError) as caught:
                encode(server)
            assert [issue.path for issue in caught.value.issues] == [("args", 0)]
    assert warned == []


def test_an_invalid_item_is_refused_even_if_every_module_may_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "__warningregistry__", {})
    monkeypatch.setattr(encoding, "_ERRORS", {"warnings": "error"})
    monkeypatch.setattr(encoding, "_WRITERS", {})
    server = v1.McpServerStdio(name="s", command="/s", args=[], env=[])
    server.args.append(7)  # pyright: ignore[reportArgumentType]
    for value in (server, [server]):
        with pytest.raises(EncodeError):
            encode(value)


def test_a_refused_value_is_named_at_any_depth() -> None:
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


def test_a_value_that_json_cannot_express_is_refused_with_its_place() -> None:
    cycle: dict[str, Any] = {}
    cycle["cycle"] = cycle
    maps: dict[str, Any] = {}
    lists: list[Any] = []
    for _ in range(300):
        maps, lists = {"a": maps}, [lists]
    values: list[tuple[object, Path, str]] = [
        (object(), ("_meta", "a", 0), "An object of object cannot be written as JSON"),
        (v1.TextContent, ("_meta", "a", 0), "This is the class v1.TextContent, not an object of it"),
        ("\ud800", ("_meta", "a", 0), "A lone surrogate cannot be sent"),
        ({"\ud800": 1}, ("_meta", "a", 0), "A key in it cannot be sent"),
        *((each, (), "It contains itself, or is nested too deep") for each in (cycle, maps, lists)),
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
def test_a_lone_surrogate_in_a_name_is_refused(model: Any, path: Path) -> None:
    refused = Issue(path, "not_json", "A key in it cannot be sent")
    with pytest.raises(EncodeError) as unwritten:
        encode(model)
    assert unwritten.value.issues == (refused,)
    with pytest.raises(EncodeError) as unwritten:
        encode([{"a": model}])
    assert unwritten.value.issues == (replace(refused, path=(0, "a", *path)),)
    with pytest.raises(DecodeError) as unread:
        decode(v1.LogoutRequest, {"_meta": {"a": model}})
    assert unread.value.issues == (replace(refused, path=("_meta", "a", *path)),)


@pytest.mark.parametrize("name", [5, 1.5, True, None, ("a", "b"), b"a"])
def test_a_map_key_that_is_not_a_string_is_refused(name: Any) -> None:
    content = v1.TextContent(text="t", meta={"a": 1})
    login = v1.AuthMethodTerminal(id="a", name="A", env={"a": "b"})
    content.meta[name] = login.env[name] = "c"  # pyright: ignore[reportOptionalSubscript]
    told = "A key in it cannot be sent"

    with pytest.raises(EncodeError) as of_any:
        encode([v1.PromptRequest(session_id="s", prompt=[content])])
    with pytest.raises(EncodeError) as of_texts:
        encode(login)
    assert of_any.value.issues == (Issue((0, "prompt", 0, "_meta"), "not_json", told),)
    assert of_texts.value.issues == (Issue(("env",), "not_json", told),)


def test_map_keys_in_untyped_values_need_not_be_strings() -> None:
    call = v1.ToolCall(tool_call_id="c", title="t", raw_input={5: 1}, meta={"a": {5: 1}, "b": "c"})
    assert json.loads(encode(call))["rawInput"] == {"5": 1}

    call.meta["b"] = math.nan  # pyright: ignore[reportOptionalSubscript]
    with pytest.raises(EncodeError) as refused:
        encode(call)
    assert [each.path for each in refused.value.issues] == [("_meta", "b")]


def test_a_class_instead_of_an_object_is_refused() -> None:
    with pytest.raises(EncodeError, match=r"^TextContent: This is the class v1\.TextContent, not an object of it$"):
        encode(v1.TextContent)

    class Later(Awaitable[None]):
        def __await__(self) -> Generator[None, None, None]:
            yield

    with pytest.raises(
        EncodeError, match=r"^Later: An object of Later cannot be written as JSON; is an await missing\?$"
    ):
        encode(Later())


def assert_hidden(error: BaseException) -> None:
    shown = f"{error} {error!r}"
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert SECRET not in shown
