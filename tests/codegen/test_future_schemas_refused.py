"""Shapes that a future schema may have and that the pipeline refuses: the error names the place."""

import sys
from pathlib import Path

import pytest

from codegen.tree import Definitions
from tests.codegen.small import (
    ON_ERROR,
    ON_NULL,
    SKIP_ITEMS,
    TEXT,
    built,
    catch_all,
    listed,
    obj,
    ref,
    refusal,
    tagged,
)

REFUSED: list[tuple[str, Definitions, str]] = [
    (
        "a pattern that Rust reads otherwise",
        {"Foo": obj(x=TEXT | {"pattern": "\\d"})},
        "$defs/Foo/properties/x: the pattern \\d may match other strings in pydantic than in the schema",
    ),
    (
        "new reading rules together",
        {"Foo": obj(x=listed(TEXT) | ON_NULL | SKIP_ITEMS)},
        "Foo.x: no rule for x-deserialize-default-on-null with x-deserialize-skip-invalid-items",
    ),
    (
        "a reference to an envelope",
        {"Foo": ref("Line"), "Line": TEXT | {"x-docs-ignore": True}},
        "$defs/Foo: #/$defs/Line is not a definition of this schema",
    ),
    (
        "a member of a union and of one of its alternatives",
        {"Foo": obj(x=TEXT) | {"anyOf": [tagged("a", x=TEXT | {"minLength": 1}), tagged("b")]}},
        "Foo.x: contained in the union and in one of its variants",
    ),
    (
        "a tag with more than a constant",
        {"Foo": {"anyOf": [tagged("a"), catch_all("a") | {"properties": {"type": TEXT | {"minLength": 3}}}]}},
        "Foo.type: minLength next to a tag would be lost",
    ),
    (
        "two requests of one method",
        {name: obj() | {"x-method": "a/b", "x-side": "agent"} for name in ("FooRequest", "BarRequest")},
        "FooRequest and BarRequest are both the request of a/b",
    ),
    (
        "an object that cannot get a name",
        {"Foo": {"anyOf": [{"anyOf": [obj("x", x=TEXT), ref("Bar")]}, ref("Bar")]}, "Bar": obj("y", y=TEXT)},
        "Foo: contains an inline object that cannot get a name; make it a definition",
    ),
    (
        "a lenient required list with another default",
        {"Foo": obj("x", x=listed(TEXT) | {"default": None} | ON_ERROR)},
        "Foo.x: required, so an invalid value is read as the empty list, and the default None would be lost",
    ),
    (
        "objects that only two fields together distinguish",
        {"Foo": {"oneOf": [ref("Bar"), ref("Baz")]}, "Bar": obj("x", x=TEXT), "Baz": obj("y z", y=TEXT, z=TEXT)},
        "Foo: no rule for variants of a oneOf that only y and z together distinguish",
    ),
    (
        "a tag that is not a string",
        {"Foo": obj(type={"type": "boolean"}) | {"anyOf": [tagged("a"), tagged("b")]}},
        "Foo.type: no rule for a tag of the type boolean; tags are strings",
    ),
]


@pytest.mark.parametrize(("defs", "said"), [pytest.param(defs, said, id=name) for name, defs, said in REFUSED])
def test_a_schema_like_this_is_refused_with_its_place(defs: Definitions, said: str, tmp_path: Path) -> None:
    assert refusal(built, defs, tmp_path) == said


@pytest.mark.parametrize(
    ("defs", "said"),
    [
        ({"Foo": obj(x={"type": "integer", "minimum": 0.5})}, "SchemaError: "),
        ({"Foo": obj(x=ref("Warning")), "Warning": obj(foos=listed(ref("Foo")))}, "PydanticSchemaGenerationError: "),
        ({"Foo": {"anyOf": [TEXT, listed(ref("Foo"))]}}, ""),
    ],
    ids=["half a bound", "a name that Python has", "a list of itself"],
)
def test_code_that_python_or_pydantic_cannot_use_is_refused(defs: Definitions, said: str, tmp_path: Path) -> None:
    assert refusal(built, defs, tmp_path).startswith(f"Foo: the generated code cannot be used: {said}")
    assert not [name for name in sys.modules if name.startswith("_imported")]
