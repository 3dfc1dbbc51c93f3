import pytest

from codegen.passes.values import merge_constants
from codegen.tree import Node
from tests.codegen.small import TEXT, obj, refusal, tagged


def const(value: object, type_: str = "string", **more: object) -> Node:
    return {"const": value, "type": type_, **more}


def test_constants_become_an_enumeration_with_descriptions() -> None:
    union = {
        "description": "What it does.",
        "oneOf": [const("read", description="Reads\n  a file."), const("edit"), const("other", description="Else.")],
        "x-method": "a/b",
    }

    assert merge_constants({"Kind": union}) == {
        "Kind": {
            "description": "What it does.\n\n- `read`: Reads a file.\n- `other`: Else.",
            "type": "string",
            "enum": ["read", "edit", "other"],
            "x-method": "a/b",
        }
    }


def test_constants_beside_any_string_stay_open() -> None:
    union = {"anyOf": [const("a"), const("b"), TEXT | {"title": "other", "description": "Something newer."}]}
    merged = {"description": "", "anyOf": [{"type": "string", "enum": ["a", "b"]}, TEXT]}

    assert merge_constants({"Kind": union, "Foo": obj(x=union)}) == {"Kind": merged, "Foo": obj(x=merged)}


def test_an_open_set_of_numbers_is_any_number() -> None:
    number = {"type": "integer", "format": "int32", "minimum": -9, "maximum": 9}
    union = {"anyOf": [const(-1, "integer", format="int32", description="Bad."), number | {"title": "other"}]}

    assert merge_constants({"Code": union}) == {"Code": {"description": "- `-1`: Bad.", **number}}


def test_a_repeated_constant_in_a_one_of_is_refused() -> None:
    defs = {"Foo": obj(x={"oneOf": [const("a"), const("b"), const("a")]})}

    assert refusal(merge_constants, defs) == "Foo: 'a' is valid for two variants of a oneOf"


@pytest.mark.parametrize(
    "union",
    [
        {"anyOf": [TEXT, {"type": "integer"}]},
        {"oneOf": [const("a"), TEXT]},
        {"oneOf": [tagged("a"), tagged("b")]},
        {"anyOf": [const("a"), {"type": "null"}]},
        {"anyOf": [const("a"), {"type": "integer"}, {"type": "null"}]},
        {"anyOf": [const("a"), TEXT | {"minLength": 1}]},
    ],
)
def test_other_unions_stay(union: Node) -> None:
    assert merge_constants({"Foo": union}) == {"Foo": union}


@pytest.mark.parametrize(
    "arms",
    [
        [const(1, "integer"), const(2, "integer")],
        [const(1, "integer"), const("a")],
        [const("a"), const(1, "integer")],
        [const(1, "integer"), {"type": "null"}],
        [const(1, "integer"), {"type": "integer"}, {"type": "null"}],
        [const(-1, "integer"), {"type": "integer", "minimum": 0}],
        [const(9, "integer"), {"type": "integer", "maximum": 8}],
        [const(-1, "integer"), {"type": "integer", "format": "uint32"}],
    ],
)
def test_a_closed_set_of_numbers_is_refused(arms: list[Node]) -> None:
    said = "Foo: no rule for constants that are not strings, unless all other numbers are valid too"

    assert refusal(merge_constants, {"Foo": obj(x={"anyOf": arms})}) == said
