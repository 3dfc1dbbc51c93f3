"""Findings: each value lost in reading is reported with its position in the original message, the rule and cause."""

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Annotated, Any, Self

import pytest
from pydantic import BaseModel, Field, field_validator, model_validator
from typing_extensions import TypeAliasType

from acp_bindings import DecodeError, Finding, Issue, decode, encode, v1, v1_unstable, v2
from acp_bindings._models.types import Rule
from acp_bindings._problems import findings
from acp_bindings.decoding import _witness  # pyright: ignore[reportPrivateUsage]
from tests.acp_bindings.damage import Damaged, at, damage, each_member_damaged, judge, misread, unwritable
from tests.acp_bindings.exact_json import Json, spell
from tests.acp_bindings.instances import Instances
from tests.acp_bindings.reference_reader import Excuse, Path, arms_of
from tests.acp_bindings.roundtrip import generated, raw
from tests.acp_bindings.samples import python_calls
from tests.acp_bindings.schemas import PACKAGES, load

PER_DEFINITION = 8
DEFINITIONS = [(package, name) for package in PACKAGES for name in load(package).definitions]
SECRET = "hunter2 hunter2"

INFO: Json = {"name": "x", "version": "1"}
STDIO: Json = {"name": "s", "command": "/bin/s", "args": [], "env": []}
TEXT: Json = {"type": "text", "text": "t"}
OPTION_OR_GROUP: dict[str, Any] = {
    "type": "select",
    "id": "m",
    "name": "M",
    "currentValue": "a",
    "options": [{"value": "v", "name": "V", "description": 5, "group": "g", "options": []}],
}


class Own(BaseModel):
    """A user's class, read with settings under which a number may be written as a string."""

    number: int | v1.Implementation
    info: v1.Implementation


Nested = TypeAliasType("Nested", "list[Nested] | v1.Implementation")


class Named(v1.Implementation):
    """A class of a user that refuses some objects."""

    @model_validator(mode="after")
    def check(self) -> Self:
        if not self.name:
            raise ValueError("the name is empty")
        return self


class Introduced(v1.InitializeResponse):
    """A class of a user with such an object in a field that tolerates errors."""

    agent_info: Annotated[Named | None, Rule.DEFAULT_ON_ERROR] = None  # pyright: ignore[reportIncompatibleVariableOverride]


class Completed(v1.ToolCallUpdate):
    """A class of a user that replaces a value before it is read."""

    @field_validator("content", mode="before")
    @classmethod
    def complete(cls, _value: Any) -> Any:
        return [{"type": "content", "content": {**TEXT, "annotations": 5}}]


class Wary(v1.InitializeResponse):
    """A class of a user that checks the value after reading."""

    @field_validator("auth_methods")
    @classmethod
    def see(cls, value: list[v1.AuthMethod]) -> list[v1.AuthMethod]:
        return sorted(value, key=lambda method: method.id)

    @model_validator(mode="after")
    def see_all(self) -> Self:
        assert all(method.id for method in self.auth_methods)
        return self


WRITTEN: dict[str, tuple[Any, Json, list[str]]] = {
    "a valid message": (v1.InitializeResponse, {"protocolVersion": 1, "agentInfo": INFO}, []),
    "a default": (
        v1.InitializeResponse,
        {"protocolVersion": 1, "agentCapabilities": {"promptCapabilities": {"image": "yes", "audio": True}}},
        ["agentCapabilities.promptCapabilities.image: read as the default, because input should be a valid boolean"],
    ),
    "items by the places that they were sent at": (
        v1.InitializeResponse,
        {"protocolVersion": 1, "authMethods": [5, {"id": "a", "name": "A"}, {"id": "b"}, {"type": "terminal"}]},
        [
            "authMethods[0]: left out, because input should be an object",
            "authMethods[2]: left out, because name: Field required (in AuthMethodAgent)",
            "authMethods[3]: left out, because id: Field required (in terminal); name: Field required (in terminal)",
        ],
    ),
    "an object with a hole": (
        v1.NewSessionResponse,
        {"sessionId": "s", "modes": {"currentModeId": "a"}},
        ["modes: read as the default, because availableModes: Field required"],
    ),
    "an error inside a dropped value": (
        v1.NewSessionResponse,
        {"sessionId": "s", "modes": {"availableModes": [5], "_meta": 5}},
        ["modes: read as the default, because currentModeId: Field required"],
    ),
    "all items lost, and too few left": (
        v2.SessionConfigSelectGroup,
        {"groupId": "g", "name": "G", "options": [5]},
        ["options: read as the default, because list should have at least 1 item after validation, not 0"],
    ),
    "an item lost, and enough left": (
        v2.SessionConfigSelectGroup,
        {"groupId": "g", "name": "G", "options": [5, {"value": "v", "name": "V", "description": 5}]},
        [
            "options[0]: left out, because input should be an object",
            "options[1].description: read as the default, because input should be a valid string",
        ],
    ),
    "null": (
        v1.NewSessionRequest,
        {"cwd": "/", "mcpServers": [{**STDIO, "env": None}], "additionalDirectories": None},
        [
            "additionalDirectories: null read as empty, because input should be a valid array",
            "mcpServers[0].env: null read as empty, because input should be a valid array",
        ],
    ),
    "a null for an empty response": (
        v1.LoadSessionResponse,
        None,
        ["null read as empty, because input should be an object"],
    ),
    "the alternative that was read, though the next one fits better": (
        v1.SessionConfigOption,
        OPTION_OR_GROUP,
        ["options[0].description: read as the default, because input should be a valid string"],
    ),
    "in a map, also by a name that needs quotes": (
        v1_unstable.ElicitationSchema,
        {"properties": {"a": {"type": "string", "title": 5}, "a.b": {"type": "string", "title": 5}}},
        [
            "properties.a.title: read as the default, because input should be a valid string",
            'properties["a.b"].title: read as the default, because input should be a valid string',
        ],
    ),
    "no more than a line": (
        v2.IdleStateUpdate,
        {"background": [5] * 100},
        [
            (
                "background: read as the default, because [0]: Input should be an object; "
                "[1]: Input should be an object; [2]: Input should be an object; 97 more"
            )
        ],
    ),
    "what another member calls for": (
        v2.IdleStateUpdate,
        {"stopReason": "error", "error": {"code": 5}},
        ["error: read as the default, because message: Field required"],
    ),
    "a preserved variant": (
        v1.SessionNotification,
        {"sessionId": "s", "x": 5, "update": {"sessionUpdate": "x-new", "content": [5]}},
        [],
    ),
    "a union that is not a definition": (
        v1.TextContent | v1.ImageContent,
        {"type": "image", "data": "AAAA", "mimeType": "image/png", "annotations": 5},
        ["annotations: read as the default, because input should be an object"],
    ),
    "not of another variant than the best match": (
        v1.ToolCall | v1.ToolCallUpdate,
        {"toolCallId": "t", "title": "T", "locations": None},
        [],
    ),
    "not of an earlier variant that tolerates only null": (
        Annotated[v1.NewSessionRequest | v1.SessionInfo, Field(union_mode="left_to_right")],
        {"sessionId": "s", "cwd": "/", "mcpServers": 5, "title": 5},
        ["title: read as the default, because input should be a valid string"],
    ),
    "not of an earlier variant that does not match": (
        Annotated[dict[str, v1.SessionInfo | v1.Implementation] | v1.SessionInfo, Field(union_mode="left_to_right")],
        {"sessionId": "s", "cwd": "/", "title": 5},
        ["title: read as the default, because input should be a valid string"],
    ),
    "in a class of a user": (
        Own,
        {"number": "5", "info": {**INFO, "title": 5}},
        ["info.title: read as the default, because input should be a valid string"],
    ),
    "before a value that a validator of a user refuses": (
        Introduced,
        {"protocolVersion": 1, "agentCapabilities": 5, "agentInfo": {**INFO, "name": ""}},
        [
            "agentCapabilities: read as the default, because input should be an object",
            "agentInfo: read as the default, because value error, the name is empty",
        ],
    ),
    "nothing that a validator of a user has added": (Completed, {"toolCallId": "t", "content": None}, []),
    "in a class of a user that looks at what was read": (
        Wary,
        {"protocolVersion": 1, "authMethods": [{"id": "b", "name": "B"}, 5, {"id": "a", "name": "A"}]},
        ["authMethods[1]: left out, because input should be an object"],
    ),
    "in a type of a user that holds itself": (
        Nested,
        [[{**INFO, "title": 5}]],
        ["[0][0].title: read as the default, because input should be a valid string"],
    ),
}


@pytest.mark.parametrize(("type_", "given", "told"), WRITTEN.values(), ids=WRITTEN)
def test_a_tolerated_error_is_reported_in_one_line(type_: Any, given: Json, told: list[str]) -> None:
    for form in range(5):
        found: list[Finding] = []
        decode(type_, raw(given, form), findings=found)
        assert sorted(map(str, found)) == told


def test_findings_can_be_compared() -> None:
    found: list[Finding] = []
    decode(v1.NewSessionResponse, {"sessionId": "s", "modes": {"currentModeId": "a"}}, findings=found)
    cause = Issue(("modes", "availableModes"), "missing", "Field required")
    assert found == [Finding(("modes",), "default-on-error", (cause,))]


def test_findings_are_appended_to_earlier_ones() -> None:
    found: list[Finding] = []
    for title in (1, "t", 2):
        decode(v1.Implementation, {**INFO, "title": title}, findings=found)
    assert [finding.path for finding in found] == [("title",), ("title",)]


@pytest.mark.parametrize(
    "given",
    [{"sessionId": 5, "modes": 5}, {"modes": None}, None, "{", [5]],
    ids=["bad", "missing", "null", "cut", "list"],
)
def test_a_refused_message_adds_no_findings(given: Json) -> None:
    found: list[Finding] = []
    with pytest.raises(DecodeError) as told:
        decode(v1.NewSessionResponse, given, findings=found)
    assert found == []
    with pytest.raises(DecodeError) as plain:
        decode(v1.NewSessionResponse, given)
    assert told.value.issues == plain.value.issues


def test_causes_do_not_depend_on_earlier_messages() -> None:
    def causes() -> tuple[Issue, ...]:
        found: list[Finding] = []
        decode(v1.ConfigOptionUpdate, text, findings=found)
        return found[0].causes

    option = '{"type":"select","id":"i","name":"n","currentValue":"c","options":[%s]}'
    odd = option % '{"value":"v","name":"n"},[1],[2]'
    text = f'{{"configOptions":[{odd}]}}'
    before = causes()
    decode(v1.SessionConfigOptionSelect, option % "")
    _witness.cache_clear()

    assert causes() == before
    assert len(before) == 2


def test_only_the_first_of_many_causes_are_reported() -> None:
    def causes(count: int) -> list[Issue]:
        method: Json = {"type": "terminal", "id": "i", "name": "n", "args": [0] * count}
        found: list[Finding] = []
        decode(v1.InitializeResponse, {"protocolVersion": 1, "authMethods": [method]}, findings=found)
        return list(found[0].causes)

    at = ("authMethods", 0)
    wrong = "Input should be a valid string"
    told = [Issue((*at, "args", index), "string_type", wrong, "terminal") for index in range(200)]
    assert causes(150) == told[:150]
    assert causes(1000) == [*told, Issue(at, "too_many", "There are more errors")]
    # A cause takes a kilobyte in pydantic-core, and there would be a million here.
    assert causes(1_000_000) == told[:1]


def test_strict_reading_has_no_findings() -> None:
    found: list[Finding] = []
    decode(v1.Implementation, {**INFO, "x": 5}, strict=True, findings=found)
    decode(v1.SessionConfigOption, OPTION_OR_GROUP, strict=True, findings=found)
    for type_, given in ((v1.Implementation, {**INFO, "title": 5}), (v1.LoadSessionResponse, None)):
        with pytest.raises(DecodeError):
            decode(type_, given, strict=True, findings=found)
    assert found == []


@pytest.mark.parametrize(
    ("type_", "given"),
    [
        (v1.InitializeResponse, {"protocolVersion": 1, "_meta": SECRET}),
        (v1.InitializeResponse, {"protocolVersion": 1, "agentInfo": {"name": SECRET}}),
        (v1.InitializeResponse, {"protocolVersion": 1, "authMethods": [{"id": SECRET, "type": SECRET}]}),
        (
            v1.InitializeResponse,
            {
                "protocolVersion": 1,
                "authMethods": [{"type": "terminal", "id": "a", "name": "A", "env": {"A": [SECRET]}}],
            },
        ),
        (v1.ToolCallUpdate, {"toolCallId": "t", "kind": SECRET, "content": SECRET}),
    ],
)
def test_findings_do_not_contain_values_of_the_message(type_: Any, given: Json) -> None:
    found: list[Finding] = []
    decode(type_, given, findings=found)
    assert found
    assert SECRET not in f"{found} {list(map(str, found))}"


@pytest.mark.parametrize(
    ("type_", "given"),
    [
        (v1.InitializeResponse, {"protocolVersion": 1, "agentInfo": INFO, "authMethods": [{"id": "a", "name": "A"}]}),
        (v2.IdleStateUpdate, {"stopReason": "x-new", "background": []}),
    ],
)
def test_a_valid_message_is_searched_without_python_calls(type_: Any, given: Json) -> None:
    text = json.dumps(given)
    decode(type_, text, findings=[])
    called = python_calls(lambda: decode(type_, text, findings=[]))
    assert [name for file, name in called if file == findings.__file__] == ["findings"]


@pytest.mark.parametrize(("package", "definition"), DEFINITIONS)
def test_findings_match_the_reference_reader_and_explain_every_loss(package: str, definition: str) -> None:
    schema = load(package)
    for index, damaged in enumerate(_damaged(package, definition)):
        verdict, found, wounds = judge(schema, definition, damaged.value), list[Finding](), "; ".join(damaged.wounds)
        if verdict.refused and index >= 2 * PER_DEFINITION:
            continue  # test_damage.py reads the messages with a damaged member that are refused
        try:
            model: object = decode(generated(package, definition), raw(damaged.value, index), findings=found)
        except DecodeError:
            assert verdict.refused
            assert found == []
            continue
        if not damaged.wounds:
            assert found == [], spell(damaged.value, 2000)
            continue
        assert sorted((each.path, each.rule) for each in found) == sorted(each[:2] for each in verdict.excused), wounds
        for excuse in verdict.excused:
            _see_the_cause(next(each.causes for each in found if each.path == excuse.path), excuse, wounds)
        written = json.loads(encode(model))
        mended = _mended(damaged.value, found, written)
        assert not unwritable(schema, definition, mended), wounds
        assert not misread(schema, definition, mended, written)


def _see_the_cause(causes: tuple[Issue, ...], excuse: Excuse, wounds: str) -> None:
    assert causes
    assert all(cause.path[: len(excuse.path)] == excuse.path for cause in causes)
    # Of a union that nothing fits, each reader blames the alternative that it thinks was meant.
    of_union = any(cause.branch or cause.rule.startswith("union_tag") for cause in causes)
    assert of_union or excuse.cause in {cause.path for cause in causes}, wounds


def _damaged(package: str, definition: str) -> Iterator[Damaged]:
    schema = load(package)
    for index, instance in enumerate(Instances(schema).series(definition, PER_DEFINITION, seed=5)):
        yield Damaged(instance, ())
        yield damage(Random(f"{package}/{definition}/{index}/findings"), schema, instance)
    for instance in Instances(schema).series(definition, max(1, len(arms_of(schema.definitions[definition]))), seed=6):
        yield from each_member_damaged(schema, definition, instance)


def _mended(given: Json, found: list[Finding], written: Json) -> Json:
    """Replace what the findings name by what was written; any other loss remains visible."""
    whole = {"": copy.deepcopy(given)}
    dropped = [each.path for each in found if each.rule == "skip-invalid-items"]
    for path in sorted(dropped, reverse=True):
        del at(whole[""], path[:-1])[path[-1]]
    for each in found:
        if each.rule != "skip-invalid-items":
            *parents, last = ("", *_moved(each.path, dropped))
            held: Json = at({"": written}, tuple(parents))
            at(whole, tuple(parents)).pop(last)
            at(whole, tuple(parents)).update({last: held[last]} if last in held else {})
    return whole[""]


def _moved(path: Path, dropped: list[Path]) -> Path:
    """Return the position of a value after the dropped items before it are removed."""

    def before(depth: int, position: int) -> int:
        return sum((*path[:depth], earlier) in dropped for earlier in range(position))

    return tuple(step - before(depth, step) if isinstance(step, int) else step for depth, step in enumerate(path))
