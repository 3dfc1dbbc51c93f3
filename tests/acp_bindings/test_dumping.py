"""Pydantic's own methods write only the fields that are set."""

import importlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

import pytest
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    TypeAdapter,
    computed_field,
    field_serializer,
    model_serializer,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import TypedDict

from acp_bindings import decode, encode, v1, v2
from tests.acp_bindings.exact_json import Json
from tests.acp_bindings.instances import Instances
from tests.acp_bindings.samples import a_request
from tests.acp_bindings.schemas import PACKAGES, load

CLEARED = v2.SessionToolCallUpdate(tool_call_id="c1", title=None)
"""An update that clears the title, and omits eight other fields."""

WRITTEN: Json = {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "title": None}

T = TypeVar("T")


def models_of(package: str) -> Iterator[BaseModel]:
    """Yield some objects of each class of a schema."""
    instances, module = Instances(load(package)), importlib.import_module(f"acp_bindings.{package}")
    for name in load(package).definitions:
        for instance in instances.series(name, 3, seed=11):
            value = decode(getattr(module, name), json.dumps(instance))
            if isinstance(value, BaseModel):
                yield value


@pytest.mark.parametrize("package", PACKAGES)
def test_a_dump_of_every_class_equals_what_encode_writes(package: str) -> None:
    for model in models_of(package):
        written = json.loads(encode(model))
        adapter = TypeAdapter[Any](type(model))
        assert model.model_dump() == model.model_dump(mode="json") == json.loads(model.model_dump_json()) == written
        assert adapter.dump_python(model) == json.loads(adapter.dump_json(model)) == written
        assert type(model).model_validate(model.model_dump()) == model
        assert type(model).model_validate_json(model.model_dump_json()) == model


def test_the_options_of_a_dump_choose_names_and_nulls_but_never_defaults() -> None:
    names: Json = {"session_update": "tool_call_update", "tool_call_id": "c1", "title": None}
    cases: list[tuple[dict[str, Any], Json]] = [
        ({"exclude_unset": False}, WRITTEN),
        ({"by_alias": False}, names),
        ({"exclude_none": True}, {"sessionUpdate": "tool_call_update", "toolCallId": "c1"}),
    ]
    for options, written in cases:
        assert CLEARED.model_dump(**options) == json.loads(CLEARED.model_dump_json(**options)) == written
    assert v2.SessionToolCallUpdate.model_validate(names, by_alias=False, by_name=True) == CLEARED


class Entry(BaseModel):
    number: int = 1
    update: v2.SessionUpdate
    call: v2.SessionToolCallUpdate
    again: v2.SessionToolCallUpdate | None = None


class Parameters(TypedDict):
    update: v2.SessionUpdate
    call: v2.SessionToolCallUpdate


class Pair(NamedTuple):
    update: v2.SessionUpdate
    call: v2.SessionToolCallUpdate


class Of(BaseModel, Generic[T]):
    update: T
    call: T


@dataclass
class Plain:
    update: v2.SessionUpdate
    call: v2.SessionToolCallUpdate


@pydantic_dataclass
class Checked:
    update: v2.SessionUpdate
    call: v2.SessionToolCallUpdate


Either = Annotated[v2.SessionToolCallUpdate | v2.UsageUpdate, Field(discriminator="session_update")]

TEXT, TEXT_WRITTEN = v1.TextContent(text="t"), {"type": "text", "text": "t"}
OPTION, OPTION_WRITTEN = v1.SessionConfigSelectOption(value="v", name="n"), {"value": "v", "name": "n"}
BOTH: dict[str, Any] = {"update": CLEARED, "call": CLEARED}
BOTH_WRITTEN: Json = {"update": WRITTEN, "call": WRITTEN}
ALL_WRITTEN: Json = {"number": 1, **BOTH_WRITTEN, "again": WRITTEN}

TYPES: dict[str, tuple[Any, Any, Json]] = {
    "model": (Entry, Entry(**BOTH, again=CLEARED), ALL_WRITTEN),
    "typed dict": (Parameters, BOTH, BOTH_WRITTEN),
    "named tuple": (Pair, Pair(CLEARED, CLEARED), [WRITTEN, WRITTEN]),
    "generic of a union": (Of[v2.SessionUpdate], Of[v2.SessionUpdate](**BOTH), BOTH_WRITTEN),
    "generic of a class": (Of[v2.SessionToolCallUpdate], Of[v2.SessionToolCallUpdate](**BOTH), BOTH_WRITTEN),
    "dataclass": (Plain, Plain(**BOTH), BOTH_WRITTEN),
    "pydantic dataclass": (Checked, Checked(**BOTH), BOTH_WRITTEN),
    "root model": (RootModel[list[v1.ContentBlock]], RootModel[list[v1.ContentBlock]]([TEXT]), [TEXT_WRITTEN]),
    "union": (v2.SessionUpdate, CLEARED, WRITTEN),
    "list of unions": (list[v1.ContentBlock], [TEXT], [TEXT_WRITTEN]),
    "list of objects": (list[v2.SessionToolCallUpdate], [CLEARED], [WRITTEN]),
    "union without a discriminator": (v1.SessionConfigSelectOptions, [OPTION], [OPTION_WRITTEN]),
    "map": (dict[str, v2.SessionUpdate], {"a": CLEARED}, {"a": WRITTEN}),
    "union of yours": (v2.SessionToolCallUpdate | int, CLEARED, WRITTEN),
    "discriminated union of yours": (Either, CLEARED, WRITTEN),
    "optional union": (v2.SessionUpdate | None, CLEARED, WRITTEN),
}


@pytest.mark.parametrize(("type_", "value", "written"), TYPES.values(), ids=TYPES)
def test_an_object_in_a_users_type_is_written_without_defaults(type_: Any, value: Any, written: Json) -> None:
    adapter = TypeAdapter[Any](type_)
    assert json.loads(adapter.dump_json(value)) == adapter.dump_python(value, mode="json") == written
    assert adapter.validate_json(adapter.dump_json(value)) == value
    assert adapter.validate_python(adapter.dump_python(value)) == value


def test_an_object_in_an_any_field_is_written_without_defaults_on_request() -> None:
    adapter, value = TypeAdapter[Any](dict[str, Any]), {"a": CLEARED}
    assert adapter.dump_python(value, exclude_unset=True) == {"a": WRITTEN}
    assert json.loads(adapter.dump_json(value, exclude_unset=True)) == json.loads(encode(value)) == {"a": WRITTEN}


def test_the_options_of_a_dump_hold_for_the_objects_in_it() -> None:
    entry = Entry(**BOTH)
    without_title: Json = {"call": {"sessionUpdate": "tool_call_update", "toolCallId": "c1"}}

    for exclude_unset in (False, True):
        options: Any = {"exclude_unset": exclude_unset}

        def through_json(**options: Any) -> Json:
            return json.loads(entry.model_dump_json(**options))

        dumps: list[Callable[..., Any]] = [entry.model_dump, through_json]
        for dump in dumps:
            assert dump(include={"update": {"tool_call_id"}}, **options) == {"update": {"toolCallId": "c1"}}
            assert dump(include={"call"}, exclude={"call": {"title"}}, **options) == without_title
            assert dump(include={"call"}, exclude_none=True, **options) == without_title
            assert dump(by_alias=False, **options)["call"]["tool_call_id"] == "c1"


def test_an_item_added_to_a_default_list_is_written() -> None:
    class Holder(BaseModel):
        request: v1.NewSessionRequest

    def filled() -> v1.NewSessionRequest:
        request = a_request()
        request.additional_directories.append("/more")
        return request

    written = {**json.loads(encode(a_request())), "additionalDirectories": ["/more"]}
    assert filled().model_dump() == json.loads(filled().model_dump_json()) == written
    assert Holder(request=filled()).model_dump() == {"request": written}
    assert json.loads(encode(Holder(request=filled()))) == {"request": written}
    for exclude_unset in (False, True):
        text = Holder(request=filled()).model_dump_json(exclude_unset=exclude_unset)
        assert json.loads(text) == {"request": written}


def test_the_tag_of_an_object_that_was_put_into_a_list_is_written() -> None:
    alone = decode(v1.McpServerHttp, '{"name": "n", "url": "u", "headers": []}')
    request = a_request()
    request.mcp_servers.append(alone)
    assert request.model_dump()["mcpServers"][-1]["type"] == "http"


class Counted(v1.NewSessionRequest):
    """A subclass with everything that pydantic allows to add to its output."""

    max_depth: int = 3

    @computed_field
    @property
    def server_count(self) -> int:
        return len(self.mcp_servers)

    @field_serializer("max_depth")
    def _as_text(self, depth: int) -> str:
        return f"{depth} levels"

    @model_serializer(mode="wrap")
    def _mark(self, write: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {**write(self), "marked": True}


def test_a_subclass_writes_camel_case_and_by_its_own_serializers() -> None:
    written: Json = {"cwd": "/", "mcpServers": [], "maxDepth": "5 levels", "serverCount": 0, "marked": True}
    made = Counted(cwd="/", mcp_servers=[], max_depth=5)

    assert made.model_dump() == json.loads(made.model_dump_json()) == json.loads(encode(made)) == written
    lists: list[Any] = [list[Counted], list[v1.NewSessionRequest]]
    for type_ in lists:
        adapter = TypeAdapter[Any](type_)
        assert adapter.dump_python([made]) == json.loads(adapter.dump_json([made])) == [written]
    assert "maxDepth" not in Counted(cwd="/", mcp_servers=[]).model_dump()


@pytest.mark.parametrize("defer_build", [False, True])
def test_a_rebuilt_class_still_writes_only_set_fields(defer_build: bool) -> None:
    class Block(v1.TextContent):
        model_config = ConfigDict(defer_build=defer_build)

    class Holder(BaseModel):
        block: Block

    block = Block(text="t")
    for _ in range(2):
        assert block.model_dump() == json.loads(block.model_dump_json()) == json.loads(encode(block)) == TEXT_WRITTEN
        assert json.loads(TypeAdapter(Block).dump_json(block)) == TEXT_WRITTEN
        assert json.loads(Holder(block=block).model_dump_json()) == {"block": TEXT_WRITTEN}
        Block.model_rebuild(force=True)


def test_a_subclass_finds_the_names_of_the_function_that_rebuilds_it() -> None:
    class Block(v1.TextContent):
        more: "Later | None" = None

    class Later(BaseModel):
        block: Block

    Block.model_rebuild()
    block = Block(text="t", more=Later(block=Block(text="u")))
    written: Json = {"type": "text", "text": "t", "more": {"block": {"type": "text", "text": "u"}}}
    assert block.model_dump() == json.loads(encode(block)) == written
    assert Later(block=block).model_dump() == {"block": written}


class Point(NamedTuple):
    x: int
    y: int


def test_a_default_of_a_subclass_is_the_same_in_a_type_of_yours() -> None:
    class Block(v1.TextContent):
        at: Point = Point(1, 2)
        link: dict[str, str] = Field(default={"ref": "main"})

    (block,) = TypeAdapter(list[Block]).validate_python([TEXT_WRITTEN])
    assert (block.at, block.link) == (Point(1, 2), {"ref": "main"})


def test_the_json_schema_of_a_union_is_that_of_its_classes() -> None:
    class Holder(BaseModel):
        server: v1.McpServer
        http: v1.McpServerHttp

    for mode in ("validation", "serialization"):
        variants = Holder.model_json_schema(mode=mode)["$defs"]
        assert set(variants) == {"EnvVariable", "HttpHeader", "McpServerHttp", "McpServerSse", "McpServerStdio"}
        alone = v1.McpServerHttp.model_json_schema(mode=mode)
        assert variants["McpServerHttp"] == {key: part for key, part in alone.items() if key != "$defs"}
