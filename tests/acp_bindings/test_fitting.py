"""Values added to the lists and maps of an existing object are written if their type is valid, else refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Annotated, Any, cast

import pytest
from pydantic import BaseModel, BeforeValidator, Field

from acp_bindings import EncodeError, decode, encode, v1, v2
from tests.acp_bindings.instances import Instances
from tests.acp_bindings.roundtrip import generated
from tests.acp_bindings.samples import SECRET
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
def test_everything_that_is_written_is_valid_whatever_was_assigned(package: str) -> None:
    schema, written, refused = load(package), 0, 0
    for definition in schema.definitions:
        type_ = generated(package, definition)
        for index, instance in enumerate(Instances(schema).series(definition, PER_DEFINITION)):
            value = decode(type_, json.dumps(instance))
            # The type of the items of a list on its own is unknown.
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
        *(
            (lambda: v1.McpServerHttp(name="n", url="u", headers=[]), "headers", junk, "headers[0]")
            for junk in (v1.TextContent(text="t"), v1.EnvVariable(name="n", value="v"), SECRET)
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
def test_an_invalid_item_is_reported_with_its_place(
    make: Callable[[], Any], where: str, junk: object, path: str
) -> None:
    model = make()
    assert encode(model)
    additions(junk)(getattr(model, where))

    with pytest.raises(EncodeError) as raised:
        encode([model])

    assert f"[0].{path}: " in str(raised.value)
    assert SECRET not in str(raised.value)


def test_invalid_lists_in_a_map_and_empty_ones_are_refused() -> None:
    action = v1.ElicitationAcceptAction(content={"a": ["b"]})
    assert action.content
    held: Any = action.content["a"]
    held.append(None)
    request = v2.PromptRequest(session_id="s", prompt=[v2.TextContent(text="t")])
    request.prompt.clear()

    with pytest.raises(EncodeError, match=r"content\.a"):
        encode(action)
    with pytest.raises(EncodeError, match="prompt: List should have at least 1 item"):
        encode(request)


TEXT = {"text": "t"}


UNTAGGED: dict[str, tuple[Any, str, Any, dict[str, Any], str]] = {
    "in a list": (
        v1.PromptRequest(session_id="s", prompt=[]),
        "prompt",
        v1.TextContent,
        TEXT,
        '{"sessionId":"s","prompt":[{"type":"text","text":"t"}]}',
    ),
    "without lists in it": (
        v2.Diff(changes=[]),
        "changes",
        v2.DiffChangeAdd,
        {"path": "/a", "fileType": "text"},
        '"operation":"add"',
    ),
    "in an inner object": (
        v1.SessionNotification(session_id="s", update=v1.ToolCall(tool_call_id="t", title="T")),
        "update.content",
        v1.Diff,
        {"path": "/a", "newText": "x"},
        '"content":[{"type":"diff","path":"/a","newText":"x"}]',
    ),
    "before an unchanged object": (
        v2.IdleStateUpdate(background=[], stop_reason="error", error=v2.Error(code=1, message="m")),
        "background",
        v2.BackgroundTerminal,
        {"terminalId": "t"},
        '"background":[{"type":"terminal",',
    ),
    "before an unchanged list": (
        v2.NewSessionResponse(
            session_id="s", config_options=[], available_commands=[v2.Command(name="n", description="d")]
        ),
        "config_options",
        v2.SessionConfigOptionBoolean,
        {"configId": "c", "name": "n", "currentValue": True},
        '"type":"boolean"',
    ),
}


@pytest.mark.parametrize(("value", "where", "type_", "message", "written"), UNTAGGED.values(), ids=UNTAGGED)
def test_an_object_read_without_its_tag_is_written_with_it(
    value: Any, where: str, type_: Any, message: dict[str, Any], written: str
) -> None:
    attrgetter(where)(value).append(decode(type_, message))

    for each in (value, [value, v1.PromptRequest(session_id="s", prompt=[v1.TextContent(text="a")])]):
        assert written in encode(each).decode()


def test_maps_are_checked_in_objects_in_maps_and_tuples() -> None:
    method = v1.AuthMethodTerminal(id="a", name="b", env={"A": "x"})
    method.env["A"] = None  # pyright: ignore[reportArgumentType]

    for value, path in (({"method": method}, "method"), ((method,), "[0]")):
        with pytest.raises(EncodeError) as raised:
            encode(value)
        assert str(raised.value).endswith(f": {path}.env.A: Input should be a valid string")


def split(words: str) -> list[str]:
    return words.split()


class Block(v1.TextContent):
    """A user's content block with additional fields."""

    words: Annotated[list[str], BeforeValidator(split), Field(default_factory=list)]


def test_objects_of_subclasses_are_accepted() -> None:
    request = v1.PromptRequest(session_id="s", prompt=[])
    request.prompt.append(decode(Block, {"text": "t", "words": "a b"}))

    assert json.loads(encode(request))["prompt"] == [{"type": "text", "text": "t", "words": ["a", "b"]}]
    assert decode(Block, {"text": "t"}).words == []


def worded(text: str) -> v1.TextContent:
    return v1.TextContent(text=text)


class Worded(v1.PromptRequest):
    """A user's subclass of a request, whose blocks are read from strings."""

    prompt: list[Annotated[v1.TextContent, BeforeValidator(worded)]]  # pyright: ignore[reportIncompatibleVariableOverride]


def test_validators_of_users_are_not_applied_when_writing() -> None:
    request = decode(Worded, {"sessionId": "s", "prompt": ["a"]})

    assert json.loads(encode(request))["prompt"] == [{"type": "text", "text": "a"}]


class Plain(v1.PromptRequest):
    """A user's request that only accepts text, and has a list of the user's."""

    prompt: list[v1.TextContent]  # pyright: ignore[reportIncompatibleVariableOverride]
    more: list[v1.TextContent | None] | None = None


@pytest.mark.parametrize("other", [v1.ImageContent(data="AAAA", mime_type="image/png"), v2.TextContent(text="t")])
@pytest.mark.parametrize(("where", "index"), [("prompt", 1), ("more", 2)])
def test_an_object_of_another_class_is_refused_in_a_list_of_a_user(where: str, index: int, other: object) -> None:
    class LongText(v1.TextContent):
        """A user's kind of text."""

    request = Plain(session_id="s", prompt=[v1.TextContent(text="t")], more=[None, LongText(text="u")])
    assert json.loads(encode(request))["more"] == [None, {"type": "text", "text": "u"}]
    getattr(request, where).append(other)

    with pytest.raises(EncodeError) as raised:
        encode([request])
    assert str(raised.value).startswith(f"list: [0].{where}[{index}]: Input should be v1.TextContent, not v")


class Chain(v1.PromptRequest):
    """A user's request that contains more of its kind."""

    after: Annotated[list[Chain], Field(default_factory=list)]


def test_an_invalid_item_in_a_recursive_class_is_reported() -> None:
    request = Chain(session_id="s", prompt=[], after=[Chain(session_id="s", prompt=[], after=[])])
    assert json.loads(encode(request))["after"] == [{"sessionId": "s", "prompt": [], "after": []}]
    request.after[0].prompt.append(None)  # pyright: ignore[reportArgumentType]

    with pytest.raises(EncodeError, match=r"after\[0\]\.prompt\[0\]: "):
        encode(request)
