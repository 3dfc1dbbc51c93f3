"""Users' subclasses of the generated classes: the reading rules apply to them too, and so do their own validators."""

import inspect
import json
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, Self, cast
from unittest.mock import create_autospec

import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    computed_field,
    field_validator,
    model_validator,
)

from acp_bindings import DecodeError, EncodeError, Finding, decode, encode, v1, v2
from acp_bindings._models.base import Model
from acp_bindings._models.types import Rule
from tests.acp_bindings.exact_json import Json
from tests.acp_bindings.samples import SECRET


def test_key_types_of_a_users_map_apply() -> None:
    class Counted(v1.TextContent):
        by_size: dict[int, str] | None = None
        by_name: dict[Annotated[str, Field(min_length=2)], int] | None = None

    assert decode(Counted, {"text": "t", "bySize": {"5": "a"}}).by_size == {5: "a"}
    with pytest.raises(DecodeError):
        decode(Counted, {"text": "t", "byName": {"a": 1}})


def test_the_rules_of_its_items_apply_in_a_users_tuple() -> None:
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


class Labelled(v1.McpServerStdio):
    """A user's kind of server."""

    label: str


class LabelledCall(v1.ToolCall):
    """A user's kind of update."""

    label: str


def test_fields_of_a_subclass_are_written_wherever_it_occurs() -> None:
    server = Labelled(name="s", command="/s", args=[], env=[], label="mine")
    written: Json = json.loads(encode(v1.NewSessionRequest(cwd="/", mcp_servers=[server])))
    assert written["mcpServers"] == [{"name": "s", "command": "/s", "args": [], "env": [], "label": "mine"}]
    call = LabelledCall(tool_call_id="t", title="T", label="mine")
    written = json.loads(encode({"params": v1.SessionNotification(session_id="s", update=call)}))
    assert written["params"]["update"]["label"] == "mine"


def as_it_is(value: Any) -> Any:
    return value


class Extended(v1.TextContent):
    """A user's subclass with fields that pydantic reads in special ways."""

    checkedSize: Annotated[float, AfterValidator(as_it_is)] = 0  # noqa: N815
    class_: Annotated[Any, AfterValidator(as_it_is)] = None


def test_a_users_class_is_read_by_the_same_rules() -> None:
    text = '{"type": "text", "text": "t", "checkedSize": 1.5, "class_": [2], "newer": 3}'

    made = decode(Extended, text)

    assert (made.checkedSize, made.class_, made.model_extra) == (1.5, [2], {"newer": 3})
    assert json.loads(encode(made)) == json.loads(text)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
@pytest.mark.parametrize("member", ["checkedSize", "class_", "newer"])
def test_numbers_that_json_does_not_have_are_refused_in_a_users_class(
    member: str, number: str, *, strict: bool
) -> None:
    with pytest.raises(DecodeError):
        decode(Extended, f'{{"type": "text", "text": "t", "{member}": {number}}}', strict=strict)


class Remembering(v1.Annotations):
    """Stores a value in addition to its fields."""

    @cached_property
    def length(self) -> int:
        return len(self.audience or [])

    def model_post_init(self, _context: Any) -> None:
        assert self.length == 0


def test_a_tolerated_invalid_field_is_omitted_in_any_container() -> None:
    bad, unset = '{"priority": "high"}', decode(Remembering, "{}")

    assert decode(Remembering, bad) == unset
    for read in (
        decode(list[Remembering], f"[{bad}]")[0],
        decode(dict[str, Remembering], f'{{"a": {bad}}}')["a"],
        decode(OrderedDict[str, Remembering], f'{{"a": {bad}}}')["a"],
    ):
        assert vars(read) == vars(unset)


class Request(v1.NewSessionRequest):
    """Has its own constructor."""

    def __init__(self, **members: Any) -> None:
        members.setdefault("cwd", "/")
        super().__init__(**members)


def test_reading_does_not_call_a_users_constructor() -> None:
    assert Request(mcp_servers=[]).cwd == "/"
    assert decode(Request, {"cwd": "/p", "mcpServers": []}).cwd == "/p"
    with pytest.raises(DecodeError, match="cwd: Field required"):
        decode(Request, {"mcpServers": []})


class Tried(v1.SetSessionModeResponse):
    tries: Annotated[int, Rule.DEFAULT_ON_ERROR] = 1


class Before(Tried):
    """Has a validator that sees the data of a message before its fields are read."""

    @model_validator(mode="before")
    @classmethod
    def see(cls, data: Any) -> Any:
        return data


class Around(Tried):
    """Has a validator that wraps the reading of the fields."""

    @model_validator(mode="wrap")
    @classmethod
    def see(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        return handler(data)


class After(Tried):
    """Has a validator that sees the finished object."""

    @model_validator(mode="after")
    def see(self) -> Self:
        return self


@pytest.mark.parametrize("kind", [Before, Around, After])
def test_the_rules_apply_in_a_class_with_a_users_validator(kind: type[Tried]) -> None:
    found: list[Finding] = []
    read = decode(kind, {"_meta": 5, "tries": "x", "meta": 1, "new": None}, findings=found)

    assert (type(read), read.meta, read.tries, read.model_extra) == (kind, None, 1, {"meta": 1, "new": None})
    assert [each.path for each in found] == [("_meta",), ("tries",)]
    assert json.loads(encode(read)) == {"tries": 1, "meta": 1, "new": None}
    with pytest.raises(ValidationError):
        kind(tries="x")  # pyright: ignore[reportArgumentType]


def _seen(base: type[Model], name: str, mode: Any) -> type[Model]:
    """Return a class with a validator for one field that accepts everything."""

    def see(_cls: type[Model], value: Any) -> Any:
        return value

    def see_around(_cls: type[Model], value: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(value)

    function: Any = see_around if mode == "wrap" else see
    validator = field_validator(name, mode=mode)(classmethod(function))
    return type("Seen", (base,), {"see": validator, "__module__": __name__})


@pytest.mark.parametrize("mode", ["before", "after", "wrap"])
@pytest.mark.parametrize(
    ("base", "name", "rest"),
    [
        (v1.InitializeResponse, "auth_methods", {"protocolVersion": 1}),
        (v1.InitializeResponse, "agent_capabilities", {"protocolVersion": 1}),
        (v1.InitializeResponse, "meta", {"protocolVersion": 1}),
        (v1.Plan, "entries", {}),
        (v1.ToolCall, "kind", {"toolCallId": "t", "title": "T"}),
        (v1.ToolCallUpdate, "content", {"toolCallId": "t"}),
        (v1.AuthMethodTerminal, "env", {"id": "a", "name": "A"}),
        (v2.Diff, "changes", {}),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_the_rules_of_a_field_apply_outside_a_users_validator(
    base: type[Model], name: str, rest: Json, mode: str
) -> None:
    def outcome(kind: type[Model], message: Json) -> Any:
        found: list[Finding] = []
        try:
            written = encode(decode(kind, message, findings=found))
        except DecodeError as error:
            return error.issues
        return written, found

    wire_name = base.model_fields[name].alias
    for bad in (None, 5, "x", [], [5, {"id": "a", "name": "A"}], {}, {"a": 5}):
        message = {**rest, wire_name: bad}
        assert outcome(_seen(base, name, mode), message) == outcome(base, message), bad


def test_a_users_validator_may_read_a_whole_list() -> None:
    seen = _seen(v1.InitializeResponse, "auth_methods", "plain")

    message = b'{"protocolVersion":1,"authMethods":[5]}'
    assert vars(decode(seen, message))["auth_methods"] == [5]


def test_a_number_that_cannot_be_written_is_refused_behind_a_users_validator() -> None:
    seen = _seen(v1.ToolCallUpdate, "raw_input", "after")

    with pytest.raises(DecodeError):
        decode(seen, b'{"toolCallId":"t","rawInput":NaN}')
    assert encode(decode(seen, b'{"toolCallId":"t","rawInput":[1.5]}')) == b'{"toolCallId":"t","rawInput":[1.5]}'


class Closed(v1.ToolCall):
    """Refuses fields that are not in the schema."""

    model_config = ConfigDict(extra="forbid")


class Narrow(v1.ToolCall):
    """Drops unknown fields."""

    model_config = ConfigDict(extra="ignore")


def test_a_subclass_may_refuse_or_drop_unknown_fields() -> None:
    wrong: Json = {"toolCallId": "c", "title": "t", "kind": 5, "toolcallid": 1}
    found: list[Finding] = []

    assert encode(decode(Narrow, wrong, findings=found)) == b'{"toolCallId":"c","title":"t"}'
    assert [each.path for each in found] == [("kind",)]
    with pytest.raises(DecodeError, match="toolcallid: Extra inputs are not permitted"):
        decode(Closed, wrong)
    assert decode(Closed, {"toolCallId": "c", "title": "t"}) == Closed(tool_call_id="c", title="t")


class Frozen(v1.ToolCall):
    """Is immutable."""

    model_config = ConfigDict(frozen=True)


class Fixed(v1.ToolCall):
    """Has immutable fields."""

    title: Annotated[str, Field(frozen=True)]
    kind: Annotated[v1.ToolKind | None, Field(frozen=True)] = None


@pytest.mark.parametrize(("kind", "rule"), [(Frozen, "frozen_instance"), (Fixed, "frozen_field")])
def test_a_frozen_field_cannot_be_set(kind: type[Frozen | Fixed], rule: str) -> None:
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
    """Has a property that sets a field."""

    @property
    def heading(self) -> str:
        return self.title.upper()

    @heading.setter
    def heading(self, value: str) -> None:
        self.title = value.lower()


def test_a_users_property_can_be_set() -> None:
    call = Titled(tool_call_id="c", title="t")
    call.heading = "NEW"

    assert (call.title, call.heading) == ("new", "NEW")


class ClosedUpdate(v1.OtherSessionUpdate):
    """Is newer than the schema, but has no other fields."""

    model_config = ConfigDict(extra="forbid")

    @cached_property
    def shown(self) -> str:
        return self.session_update.title()


def test_a_subclass_decides_which_other_attributes_can_be_set() -> None:
    update = ClosedUpdate(session_update="weather")
    update.shown = "Rain"

    assert update.shown == "Rain"
    with pytest.raises(AttributeError, match="no field 'degrees'"):
        update.degrees = 21  # pyright: ignore[reportAttributeAccessIssue]


class Noted(v1.TextContent):
    """A user's kind of text, with a list that is empty by default."""

    notes: list[str] = []  # noqa: RUF012 - every object has its own, by pydantic


def test_a_filled_default_list_of_a_subclass_is_written_wherever_it_occurs() -> None:
    chunk = v1.ContentChunk(content=Noted(text="t"))
    request = v1.PromptRequest(session_id="s", prompt=[Noted(text="t")])
    for text in (chunk.content, request.prompt[0]):
        cast("Noted", text).notes.append("n")
    noted = {"type": "text", "text": "t", "notes": ["n"]}
    assert json.loads(encode([chunk, request])) == [{"content": noted}, {"sessionId": "s", "prompt": [noted]}]


def test_fields_of_a_class_derived_later_are_written() -> None:
    def write(info: v1.Implementation, variable: v1.EnvVariable) -> Any:
        server = v1.McpServerStdio(name="s", command="/s", args=[], env=[variable])
        return [
            json.loads(encode(v1.InitializeRequest(protocol_version=1, client_info=info))),
            json.loads(encode(server)),
        ]

    write(v1.Implementation(name="i", version="1"), v1.EnvVariable(name="N", value="v"))

    class LateInfo(v1.Implementation):
        blocks: dict[str, v1.ContentBlock] = {}  # noqa: RUF012 - every object has its own, by pydantic

    class LateVariable(v1.EnvVariable):
        blocks: list[v1.ContentBlock] = []  # noqa: RUF012 - every object has its own, by pydantic

    info, variable = LateInfo(name="i", version="1"), LateVariable(name="N", value="v")
    info.blocks["a"] = decode(v1.TextContent, {"text": "t"})
    variable.blocks.append(decode(v1.TextContent, {"text": "t"}))
    request, server = write(info, variable)
    block = {"type": "text", "text": "t"}
    assert request["clientInfo"] == {"name": "i", "version": "1", "blocks": {"a": block}}
    assert server["env"] == [{"name": "N", "value": "v", "blocks": [block]}]


def test_an_invalid_item_in_a_subclass_is_reported_with_its_place() -> None:
    noted = Noted(text="t")
    noted.notes.append(5)  # pyright: ignore[reportArgumentType]

    with pytest.raises(EncodeError, match=r"^PromptRequest: prompt\[0\]\.notes\[0\]: Input should be a valid string$"):
        encode(v1.PromptRequest(session_id="s", prompt=[noted]))


class Doubled(v1.SetSessionModeResponse):
    """Has a default that is computed from another field."""

    names: list[str] = Field(default_factory=list)
    doubled: list[str] = Field(default_factory=lambda read: read["names"] * 2)


def test_a_users_default_may_depend_on_other_fields() -> None:
    model = Doubled(names=["a"])
    assert json.loads(encode(model))["names"] == ["a"]
    model.doubled.append("b")
    assert json.loads(encode(model))["doubled"] == ["a", "a", "b"]
    del model.doubled
    assert model.doubled == ["a", "a"]
    assert "doubled" not in model.model_fields_set


def test_a_signature_shows_a_default_factory_without_calling_it() -> None:
    class Counted(v1.Implementation):
        """Has a default that cannot be created without an object."""

        number: Annotated[int, Field(default_factory=lambda: 1 // 0)]

    shown = str(inspect.signature(Counted))
    assert shown.endswith(", number: int = <factory>) -> None")
    assert "doubled: list[str] = <factory>" in str(inspect.signature(Doubled))
    assert create_autospec(Doubled)(names=["a"])


class Listed(v1.SetSessionModeResponse):
    """Has a default that is not empty."""

    names: list[str] = Field(default_factory=["a"].copy)


def test_a_users_default_is_written_when_emptied() -> None:
    model = Listed()
    assert encode(model) == b"{}"
    model.names.clear()
    assert encode(model) == b'{"names":[]}'


class Hello(v1.TextContent):
    """Has a default for a field that messages must contain."""

    text: str = "hello"


class Weather(v1.OtherSessionUpdate):
    """Has a default for a required discriminator, and a base class that has one too."""

    session_update: str = "weather"
    degrees: int = 20


class Local(v1.McpServerHttp):
    """Has a default list, and objects in another, where messages must contain lists."""

    url: str = Field(default_factory=lambda: "http://localhost")
    headers: list[v1.HttpHeader] = [v1.HttpHeader(name="n", value="v")]  # noqa: RUF012 - every object has its own


@pytest.mark.parametrize(
    ("make", "written"),
    [
        (Hello, {"type": "text", "text": "hello"}),
        (Weather, {"sessionUpdate": "weather"}),
        (
            lambda: Local(name="l"),
            {"type": "http", "name": "l", "url": "http://localhost", "headers": [{"name": "n", "value": "v"}]},
        ),
    ],
)
def test_a_default_for_a_required_field_is_written(make: Callable[[], BaseModel], written: Json) -> None:
    made = make()

    assert json.loads(encode(made)) == json.loads(made.model_dump_json(exclude_unset=True)) == written
    assert json.loads(encode({"a": [made.model_copy()]})) == {"a": [written]}
    bare = json.dumps({name: each for name, each in written.items() if name in ("type", "name")})
    assert json.loads(encode(decode(type(made), bare))) == written
    assert type(made).model_validate_json(bare) == made
    assert encode(type(made).model_construct(**json.loads(bare))) == encode(made)


def test_a_required_default_is_created_for_each_object() -> None:
    one, other = Local(name="l"), Local(name="l")
    one.headers[0].value = "w"

    assert other.headers == [v1.HttpHeader(name="n", value="v")]
    with pytest.raises(AttributeError, match="'url' is required in Local"):
        del one.url


class Sized(v1.TextContent):
    """Has computed fields."""

    @computed_field
    @property
    def text_size(self) -> int:
        return len(self.text)

    @computed_field(alias="twice")
    def doubled(self) -> str:
        return self.text * 2


def test_a_computed_field_is_written_once_even_if_it_was_read() -> None:
    made = Sized(text="ab")
    written = encode(made)
    read = decode(Sized, b'{"type":"text","text":"ab","textSize":5,"twice":"x","newer":1,"text_size":2}')

    assert json.loads(written) == {"type": "text", "text": "ab", "textSize": 2, "twice": "abab"}
    assert decode(Sized, written) == made
    assert encode(decode(Sized, written)) == written
    assert (read.text_size, read.model_extra) == (2, {"newer": 1, "text_size": 2})
    assert read.model_fields_set == {"type", "text", "newer", "text_size"}
    read.text = "abc"
    assert (read.text_size, read.model_extra) == (3, {"newer": 1, "text_size": 2})
