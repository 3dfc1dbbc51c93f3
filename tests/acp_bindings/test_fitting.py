"""Values added to the lists and maps of an existing object are written if their type is valid, else refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Generic, TypeVar, cast

import pytest
from pydantic import BaseModel, BeforeValidator, Field, SkipValidation
from pydantic_core import core_schema

from acp_bindings import EncodeError, decode, encode, v1, v2
from tests.acp_bindings.instances import Instances
from tests.acp_bindings.roundtrip import generated
from tests.acp_bindings.schemas import PACKAGES, load

PER_DEFINITION = 12

JUNK: list[Any] = [
    *(None, True, "zz", 5, 2**64, -1.5, {}, []),
    *(v1.TextContent(text="t"), v2.EnvVariable(name="n", value="v"), v1.EmbeddedResource),
]
"""Values that are valid in few lists or none. The last is a class, not an instance."""


def clear(container: list[Any] | dict[str, Any]) -> None:
    container.clear()


def additions(junk: object) -> Callable[[list[Any] | dict[str, Any]], None]:
    def put(container: list[Any] | dict[str, Any]) -> None:
        if isinstance(container, list):
            container.append(junk)
        else:
            container["added"] = junk

    return put


CHANGES = [clear, *(additions(copy.deepcopy(junk)) for junk in JUNK)]


def containers(value: Any) -> Iterator[list[Any] | dict[str, Any]]:
    """Yield every list and map in an object whose content the schema describes."""
    if isinstance(value, BaseModel):
        for name, held in vars(value).items():
            if name != "meta":
                yield from containers(held)
    elif isinstance(value, dict):
        yield cast("dict[str, Any]", value)
        for part in cast("dict[str, Any]", value).values():
            yield from containers(part)
    elif isinstance(value, list):
        yield cast("list[Any]", value)
        for part in cast("list[Any]", value):
            yield from containers(part)


@pytest.mark.parametrize("package", PACKAGES)
def test_whatever_is_put_into_an_object_what_is_written_is_valid(package: str) -> None:
    schema, written, refused = load(package), 0, 0
    for definition in schema.definitions:
        type_ = generated(package, definition)
        for index, instance in enumerate(Instances(schema).series(definition, PER_DEFINITION)):
            value = decode(type_, json.dumps(instance))
            # A list that is all there is knows nothing of what it is a list of.
            for number in range(len(list(containers(value))) if isinstance(value, BaseModel) else 0):
                change = CHANGES[(index + number) % len(CHANGES)]
                changed = decode(type_, json.dumps(instance))
                change(list(containers(changed))[number])
                try:
                    text = encode(changed)
                except EncodeError:
                    refused += 1
                    continue
                written += 1
                assert encode(decode(type_, text)) == text, definition
                if complaints := schema.complaints(definition, json.loads(text)):
                    # What is read as an empty list is written as one, also where writers may not.
                    assert change is clear, f"{definition}: {text.decode()}: {complaints}"
    assert min(written, refused) > 100, (written, refused)


@pytest.mark.parametrize(
    ("make", "where", "junk", "path"),
    [
        (
            lambda: v1.McpServerHttp(name="n", url="u", headers=[]),
            "headers",
            v1.TextContent(text="t"),
            "headers[0]",
        ),
        (lambda: v1.Annotations(audience=["user"]), "audience", "nobody", "audience[1]"),
        (lambda: v1.Annotations(audience=["user"]), "audience", v1.TextContent(text="t"), "audience[1]"),
        (lambda: v1.AuthMethodTerminal(id="a", name="b", env={"A": "x"}), "env", None, "env.added"),
        (lambda: v1.ElicitationSchema(properties={}), "properties", None, "properties.added"),
        (
            lambda: v2.UnsupportedProtocolVersionErrorData(requested=3, supported=[1]),
            "supported",
            2**16,
            "supported[1]",
        ),
        (lambda: v1.PromptRequest(session_id="s", prompt=[]), "prompt", None, "prompt[0]"),
    ],
)
def test_what_does_not_belong_there_is_named(make: Callable[[], Any], where: str, junk: object, path: str) -> None:
    model = make()
    assert encode(model)
    additions(junk)(getattr(model, where))

    with pytest.raises(EncodeError) as raised:
        encode([model])

    assert f"[0].{path}: " in str(raised.value)


def test_it_is_named_in_a_list_in_a_map_too() -> None:
    action = v1.ElicitationAcceptAction(content={"a": ["b"]})
    assert action.content
    held: Any = action.content["a"]
    held.append(None)

    with pytest.raises(EncodeError, match=r"content\.a"):
        encode(action)


def test_a_list_that_must_not_be_empty_is_not_emptied() -> None:
    request = v2.PromptRequest(session_id="s", prompt=[v2.TextContent(text="t")])
    request.prompt.clear()

    with pytest.raises(EncodeError, match="prompt: List should have at least 1 item"):
        encode(request)


def test_the_tag_of_an_object_that_was_read_without_one_is_written_in_a_list() -> None:
    request = v1.PromptRequest(session_id="s", prompt=[])
    request.prompt.append(decode(v1.TextContent, {"text": "t"}))

    assert json.loads(encode(request))["prompt"] == [{"type": "text", "text": "t"}]


def test_such_a_tag_is_written_also_where_nothing_in_the_list_has_lists() -> None:
    diff = v2.Diff(changes=[])
    diff.changes.append(decode(v2.DiffChangeAdd, {"path": "/a", "fileType": "text"}))

    assert json.loads(encode(diff))["changes"] == [{"operation": "add", "path": "/a", "fileType": "text"}]


def test_such_a_tag_is_written_also_in_an_object_that_another_holds() -> None:
    call = v1.ToolCall(tool_call_id="t", title="T")
    notification = v1.SessionNotification(session_id="s", update=call)
    call.content.append(decode(v1.Diff, {"path": "/a", "newText": "x"}))

    assert json.loads(encode(notification))["update"]["content"] == [{"type": "diff", "path": "/a", "newText": "x"}]


def test_such_a_tag_is_written_also_before_an_object_that_is_as_it_was() -> None:
    update = v2.IdleStateUpdate(background=[], stop_reason="error", error=v2.Error(code=1, message="m"))
    assert update.background is not None
    update.background.append(decode(v2.BackgroundTerminal, {"terminalId": "t"}))

    assert b'"background":[{"type":"terminal",' in encode(update)


def test_such_a_tag_is_written_also_before_a_list_that_is_as_it_was() -> None:
    commands: list[v2.AvailableCommand] = [v2.Command(name="n", description="d")]
    response = v2.NewSessionResponse(session_id="s", config_options=[], available_commands=commands)
    assert response.config_options is not None
    option = decode(v2.SessionConfigOptionBoolean, {"configId": "c", "name": "n", "currentValue": True})
    response.config_options.append(option)

    assert b'"type":"boolean"' in encode(response)


def test_such_a_tag_is_written_also_in_the_first_of_two_requests() -> None:
    requests = [v1.PromptRequest(session_id="s", prompt=[v1.TextContent(text=text)]) for text in "ab"]
    requests[0].prompt[0] = decode(v1.TextContent, {"text": "c"})

    assert b'"prompt":[{"type":"text","text":"c"}]' in encode(requests)


def test_an_object_of_the_right_shape_and_of_the_wrong_class_is_refused() -> None:
    server = v1.McpServerHttp(name="n", url="u", headers=[])
    server.headers.append(v1.EnvVariable(name="n", value="v"))  # pyright: ignore[reportArgumentType]

    with pytest.raises(EncodeError, match=r"headers\[0\]: Input should be v1\.HttpHeader, not v1\.EnvVariable$"):
        encode(server)


def test_a_dict_is_refused_also_where_one_of_several_objects_belongs() -> None:
    request = v1.PromptRequest(session_id="s", prompt=[v1.TextContent(text="t")])
    request.prompt.append({"type": "text", "text": "t"})  # pyright: ignore[reportArgumentType]

    with pytest.raises(EncodeError, match=r"prompt\[1\]: Input should be v1\.TextContent, .*, not dict$"):
        encode(request)


def test_a_map_is_looked_into_in_whatever_it_stands() -> None:
    method = v1.AuthMethodTerminal(id="a", name="b", env={"A": "x"})
    method.env["A"] = None  # pyright: ignore[reportArgumentType]

    with pytest.raises(EncodeError, match=r"method\.env\.A: Input should be a valid string"):
        encode({"method": method})


def test_a_tuple_is_looked_into_as_a_list_is() -> None:
    method = v1.AuthMethodTerminal(id="a", name="b", env={"A": "x"})
    method.env["A"] = None  # pyright: ignore[reportArgumentType]

    with pytest.raises(EncodeError, match=r"\[0\]\.env\.A: Input should be a valid string"):
        encode((method,))


def split(words: str) -> list[str]:
    return words.split()


class Block(v1.TextContent):
    """A user's content block with additional fields."""

    words: Annotated[list[str], BeforeValidator(split), Field(default_factory=list)]


def test_objects_of_derived_classes_belong_where_those_of_the_class_do() -> None:
    request = v1.PromptRequest(session_id="s", prompt=[])
    request.prompt.append(decode(Block, {"text": "t", "words": "a b"}))

    assert json.loads(encode(request))["prompt"] == [{"type": "text", "text": "t", "words": ["a", "b"]}]


def worded(text: str) -> v1.TextContent:
    return v1.TextContent(text=text)


class Worded(v1.PromptRequest):
    """A user's subclass of a request, whose blocks are read from strings."""

    prompt: list[Annotated[v1.TextContent, BeforeValidator(worded)]]  # pyright: ignore[reportIncompatibleVariableOverride]


def test_the_rules_of_a_user_are_not_held_against_what_they_made() -> None:
    request = decode(Worded, {"sessionId": "s", "prompt": ["a"]})

    assert json.loads(encode(request))["prompt"] == [{"type": "text", "text": "a"}]


class Chain(v1.PromptRequest):
    """A user's request that contains more of its kind."""

    after: Annotated[list[Chain], Field(default_factory=list)]


def test_what_does_not_belong_there_is_named_in_a_class_that_has_itself_in_it_too() -> None:
    request = Chain(session_id="s", prompt=[], after=[Chain(session_id="s", prompt=[], after=[])])
    assert json.loads(encode(request))["after"] == [{"sessionId": "s", "prompt": [], "after": []}]
    request.after[0].prompt.append(None)  # pyright: ignore[reportArgumentType]

    with pytest.raises(EncodeError, match=r"after\[0\]\.prompt\[0\]: "):
        encode(request)


def test_a_default_of_a_users_own_is_made_as_the_user_says() -> None:
    assert decode(Block, {"text": "t"}).words == []


class Plain(v1.PromptRequest):
    """A user's request that only accepts text, with lists and maps of the user's types."""

    prompt: list[v1.TextContent]  # pyright: ignore[reportIncompatibleVariableOverride]
    more: list[v1.TextContent | None] | None = None
    by_name: dict[str, v1.TextContent] = {}  # noqa: RUF012 - every object has its own, by pydantic
    anything: list[v1.TextContent | Any] = []  # noqa: RUF012 - every object has its own, by pydantic
    deep: dict[str, dict[str, v1.TextContent]] = {}  # noqa: RUF012 - the same
    made: list[Annotated[v1.TextContent, BeforeValidator(worded)]] = []  # noqa: RUF012 - the same


class LongText(v1.TextContent):
    """A user's kind of text."""


@pytest.mark.parametrize("other", [v1.ImageContent(data="AAAA", mime_type="image/png"), v2.TextContent(text="t")])
@pytest.mark.parametrize(
    ("where", "path"),
    [("prompt", "prompt[1]"), ("more", "more[1]"), ("by_name", "byName.added"), ("made", "made[0]")],
)
def test_an_object_of_another_class_is_refused_in_a_list_of_a_users_own(where: str, path: str, other: object) -> None:
    deep = {"a": {"b": v1.TextContent(text="t")}}
    request = Plain(session_id="s", prompt=[v1.TextContent(text="t")], more=[None], deep=deep)
    additions(other)(getattr(request, where))

    with pytest.raises(EncodeError) as raised:
        encode([request])

    assert str(raised.value).startswith(f"list: [0].{path}: Input should be v1.TextContent, not v")


def test_what_a_list_of_a_users_own_is_for_is_written() -> None:
    request = Plain(session_id="s", prompt=[], more=[None])
    for where in ("prompt", "more", "by_name", "anything", "made"):
        additions(LongText(text="t"))(getattr(request, where))
    request.anything.append(v1.ImageContent(data="AAAA", mime_type="image/png"))

    text = {"type": "text", "text": "t"}
    assert json.loads(encode(request)) == {
        "sessionId": "s",
        "prompt": [text],
        "more": [None, text],
        "byName": {"added": text},
        "anything": [text, {"type": "image", "data": "AAAA", "mimeType": "image/png"}],
        "made": [text],
    }


T = TypeVar("T")


class Box(BaseModel, Generic[T]):
    """Contains one value."""

    held: T


class Anything:
    """Can be read as any type that a user chooses."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> core_schema.CoreSchema:
        return core_schema.any_schema()


class Open(v1.TextContent):
    """A user's subclass of a text block, with lists whose items have hardly any declared type."""

    boxes: list[Box[int]] = []  # noqa: RUF012 - every object has its own, by pydantic
    unchecked: list[SkipValidation[v1.TextContent]] = []  # noqa: RUF012 - the same
    anything: list[Anything] = []  # noqa: RUF012 - the same


@pytest.mark.parametrize(
    ("where", "part"),
    [
        ("boxes", Box(held=5)),
        ("unchecked", v2.TextContent(text="t")),
        ("anything", v2.TextContent(text="t")),
    ],
)
def test_an_object_is_written_where_the_class_that_is_named_does_not_decide(where: str, part: BaseModel) -> None:
    text = Open(text="t")
    getattr(text, where).append(part)

    assert json.loads(encode(text))[where] == [json.loads(encode(part))]
