from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from codegen.changes import Change, Name, compare_names, describe_changes, names_of
from codegen.tree import Definitions, Node
from tests.codegen.small import META, NULL, TEXT, built, catch_all, listed, obj, ref, tagged

Compare: TypeAlias = Callable[[Definitions, Definitions], list[Change]]

FILE = "v1/schema.json"
INTEGER: Node = {"type": "integer", "format": "uint32", "minimum": 0}


@pytest.fixture
def changes(tmp_path: Path) -> Compare:
    """A function that compares the names in two versions of some definitions."""

    def compared(old: Definitions, new: Definitions) -> list[Change]:
        before, after = (names_of(built(defs, tmp_path / each)) for each, defs in (("old", old), ("new", new)))
        return compare_names(before, after)

    return compared


def constant(value: str) -> Node:
    return {"const": value, "type": "string"}


def test_names_are_classes_with_attributes_or_aliases_with_variants(tmp_path: Path) -> None:
    defs: Definitions = {
        "Foo": obj("fooBar class", fooBar=INTEGER, _meta=META, **{"class": TEXT}) | {"description": "A foo."},
        "Baz": obj(x=ref("Foo"), y=listed({"type": ["string", "null"]})) | {"allOf": [ref("Foo")]},
        "Id": TEXT | {"minLength": 1},
        "Either": {"anyOf": [tagged("a"), tagged("b"), catch_all("a", "b")]},
        "Kind": {"anyOf": [{"const": "k", "type": "string"}, {"const": "l", "type": "string"}]},
    }

    names = names_of(built(defs, tmp_path))

    assert {name: each for name, each in names.items() if name.partition(".")[0] in ("Foo", "Baz", "EitherA")} == {
        "Foo": Name(types=("Extensible",), is_class=True),
        "Foo.foo_bar": Name(types=("int",), required=True),
        "Foo.class_": Name(types=("str",), required=True),
        "Baz": Name(types=("Foo",), is_class=True),
        "Baz.x": Name(types=("Foo", "None")),
        "Baz.y": Name(types=("list[str | None]",)),
        "EitherA": Name(types=("Model",), is_class=True),
        "EitherA.type": Name(types=("Literal['a']",)),
    }
    assert names["Id"] == Name(types=("str",))
    assert names["Either"] == Name(types=("EitherA", "EitherB", "OtherEither"))
    assert names["Kind"] == Name(types=("Literal['k']", "Literal['l']"))


def test_names_of_union_variants_are_compared(changes: Compare) -> None:
    old = {"Foo": {"anyOf": [tagged("a"), tagged("b")]}, "Same": TEXT}
    new = {"Foo": {"anyOf": [tagged("a"), tagged("c")]}, "Same": TEXT}

    assert changes(old, new) == [
        ("Foo", "can no longer be `FooB`", True),
        ("Foo", "can also be `FooC`", False),
        ("FooB", "removed", True),
        ("FooC", "added", False),
    ]


def test_a_name_with_another_meaning_breaks(changes: Compare) -> None:
    old = {"Foo": obj(x=TEXT), "Id": TEXT, "Tag": {"oneOf": [tagged("x")]}}
    new = {"Foo": {"anyOf": [tagged("a"), tagged("b")]}, "Id": INTEGER, "Tag": {"oneOf": [tagged("X")]}}

    assert {
        ("Foo", "now means something else: it was a class and is `FooA | FooB`", True),
        ("Id", "now has the type `int` instead of `str`", True),
        ("TagX.type", "now has the type `Literal['X']` instead of `Literal['x']`", True),
    } <= {*changes(old, new)}


def test_attributes_are_compared_by_python_name(changes: Compare) -> None:
    old = {"Foo": obj("a", a=TEXT, goneNow=TEXT, b=TEXT, c=TEXT)}
    new = {"Foo": obj("a newOne b", a=TEXT, newOne=TEXT, more=listed(TEXT), b=TEXT, c={"type": ["string", "null"]})}

    assert changes(old, new) == [
        ("Foo.b", "now has the type `str` instead of `str | None`", True),
        ("Foo.b", "is now required", True),
        ("Foo.gone_now", "removed", True),
        ("Foo.more", "added, optional (`list[str]`)", False),
        ("Foo.new_one", "added, required (`str`)", True),
    ]


def test_a_lost_base_class_breaks(changes: Compare) -> None:
    one, two = obj(x=TEXT), obj(x=TEXT, y=TEXT)
    extends = {"allOf": [ref("One")]}

    assert changes({"One": one, "Foo": obj(z=TEXT) | extends}, {"One": two, "Foo": obj(z=TEXT) | extends}) == [
        ("One.y", "added, optional (`str | None`)", False)
    ]
    assert changes({"One": one, "Foo": obj(z=TEXT) | extends}, {"One": one, "Foo": obj(z=TEXT, _meta=META)}) == [
        ("Foo", "is based on `Extensible` instead of `One`", True),
    ]
    assert changes({"Foo": one}, {"Foo": obj(x=TEXT, _meta=META)}) == [
        ("Foo", "is based on `Extensible` instead of `Model`", False),
    ]


ONE, TWO = constant("a"), constant("b")


def union(*arms: Node) -> Definitions:
    """Return a definition of one union, with the classes that it may refer to."""
    return {"Kind": {"anyOf": [*arms]}, "A": obj("a", a=TEXT), "B": obj("b", b=TEXT), "C": obj("c", c=TEXT)}


@pytest.mark.parametrize(
    ("old", "new", "what", "breaking"),
    [
        ([ONE], [ONE, TWO], "can also be `Literal['b']`", False),
        ([ONE, TWO], [ONE], "can no longer be `Literal['b']`", True),
        ([ONE, NULL], [ONE, TWO, NULL], "can also be `Literal['b']`", False),
        ([ONE, TWO, NULL], [ONE, NULL], "can no longer be `Literal['b']`", True),
        ([ONE, TWO], [ONE, TWO, TEXT], "can also be `str`", False),
        ([ONE, TWO, TEXT], [ONE, TWO], "can no longer be `str`", True),
        ([ONE], [ONE, {"type": "integer"}], "now has the type `Literal['a'] | int` instead of `Literal['a']`", True),
        ([ref("A"), ref("B")], [ref("A"), ref("B"), ref("C")], "can also be `C`", False),
        ([ref("A"), ref("B"), NULL], [ref("A"), ref("B"), ref("C"), NULL], "can also be `C`", False),
        ([TEXT, {"type": "integer"}], [TEXT, {"type": "integer"}, {"type": "boolean"}], "can also be `bool`", False),
        ([ref("A"), NULL], [ref("A"), ref("B"), NULL], "now has the type `A | B | None` instead of `A | None`", True),
        ([ref("A"), ref("B")], [ref("A"), ref("B"), NULL], "now has the type `A | B | None` instead of `A | B`", True),
    ],
)
def test_enumerations_and_unions_may_grow_but_a_single_type_may_not(
    changes: Compare, old: list[Node], new: list[Node], what: str, breaking: bool
) -> None:
    assert changes(union(*old), union(*new)) == [("Kind", what, breaking)]


def test_changed_rules_are_reported_and_break_nothing(changes: Compare) -> None:
    lenient = {"x-deserialize-default-on-error": True}

    old = {"Foo": obj(x=TEXT), "Id": TEXT}
    new = {"Foo": obj(x=TEXT | lenient), "Id": TEXT | {"minLength": 1}}

    assert changes(old, new) == [
        (
            "Foo.x",
            "is declared as `Lenient[Omittable[str | None]] = None` instead of `Omittable[str | None] = None`",
            False,
        ),
        ("Id", "is declared as `Annotated[str, Field(min_length=1)]` instead of `str`", False),
    ]


class TestDescription:
    def test_the_report_lists_definitions_methods_and_then_python_names(self) -> None:
        ping = obj() | {"x-side": "agent", "x-method": "ping"}
        old, new = {"Foo": obj(fooBar=TEXT)}, {"Foo": obj(barFoo=TEXT), "Bar": TEXT, "PingRequest": ping}

        assert describe_changes(FILE, {"$defs": old}, {"$defs": new}) == [
            "- methods added: `ping`",
            "- definitions added: `Bar`, `PingRequest`",
            "- definitions changed: `Foo`",
            "",
            "Python names, `from acp_bindings.v1 import …`:",
            "",
            "- **Breaking:** `Foo.foo_bar` removed",
            "- names added: `Bar`, `PingRequest`",
            "- `Foo.bar_foo` added, optional (`str | None`)",
        ]
        assert describe_changes(FILE, {"$defs": new}, {"$defs": old})[:2] == [
            "- **Breaking:** methods removed: `ping`",
            "- **Breaking:** definitions removed: `Bar`, `PingRequest`",
        ]

    def test_a_schema_that_cannot_be_built_is_reported_with_the_reason(self) -> None:
        lines = describe_changes(FILE, {"$defs": {"Foo": TEXT}}, {"$defs": {"Foo": TEXT | {"maxLength": 1}}})

        assert lines[0] == "- definitions changed: `Foo`"
        assert lines[-1] == (
            "- These cannot be compared, because the new schema cannot be built: "
            "$defs/Foo: no rule for the keyword maxLength"
        )

    def test_a_changed_description_changes_no_name(self) -> None:
        old, new = {"Foo": TEXT, "Bar": TEXT}, {"Foo": TEXT | {"title": "A"}, "Bar": TEXT}

        lines = describe_changes(FILE, {"$defs": old}, {"$defs": new})

        assert (lines[0], lines[-1]) == ("- 1 description changed", "- No change")
