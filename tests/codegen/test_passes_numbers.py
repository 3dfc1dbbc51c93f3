import pytest

from codegen.passes.values import bound_numbers
from codegen.tree import Node
from tests.codegen.small import NULL, TEXT, listed, obj

RUNTIME = "acp_bindings._models.types."


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"type": "integer"}, {"type": "integer"}),
        ({"type": "integer", "minimum": -5, "maximum": 5}, {"type": "integer", "minimum": -5, "maximum": 5}),
        ({"type": "integer", "format": "int32"}, {"customTypePath": f"{RUNTIME}Int32"}),
        ({"type": "integer", "format": "uint32", "minimum": -1}, {"customTypePath": f"{RUNTIME}UInt32"}),
        (
            {"type": "integer", "format": "uint16", "minimum": 0, "maximum": 65535},
            {"customTypePath": f"{RUNTIME}UInt16"},
        ),
        ({"type": "number", "format": "double"}, {"customTypePath": f"{RUNTIME}Number"}),
        ({"type": "number", "format": "double", "minimum": 0}, {"type": "number", "x-within": {"ge": 0}}),
        ({"type": "number", "minimum": 0, "maximum": 1.5}, {"type": "number", "x-within": {"ge": 0, "le": 1.5}}),
    ],
)
def test_a_number_gets_the_range_of_its_format_and_its_bounds(node: Node, expected: Node) -> None:
    more = {"description": "How many.", "default": 1, "x-reads": "Lenient"}

    assert bound_numbers({"Foo": node | more}) == {"Foo": expected | more}


@pytest.mark.parametrize(
    ("format_", "least", "most"),
    [
        ("int32", -2147483648, 2147483647),
        ("int64", -9223372036854775808, 9223372036854775807),
        ("uint16", 0, 65535),
        ("uint32", 0, 4294967295),
        ("uint64", 0, 18446744073709551615),
    ],
)
def test_a_missing_bound_comes_from_the_format(format_: str, least: int, most: int) -> None:
    node = {"type": "integer", "format": format_}

    assert bound_numbers({"Foo": node | {"minimum": 5}}) == {"Foo": {"type": "integer", "minimum": 5, "maximum": most}}
    assert bound_numbers({"Foo": node | {"maximum": 5}}) == {"Foo": {"type": "integer", "minimum": least, "maximum": 5}}


def test_annotations_of_a_nullable_number_stay_on_the_field() -> None:
    more = {"description": "How many.", "default": None, "x-reads": "Lenient"}
    integer, number = ({"type": [each, "null"], "minimum": 1, **more} for each in ("integer", "number"))

    assert bound_numbers({"Foo": integer, "Bar": number}) == {
        "Foo": {**more, "anyOf": [{"type": "integer", "minimum": 1}, NULL]},
        "Bar": {**more, "x-within": {"ge": 1}, "anyOf": [{"type": "number"}, NULL]},
    }


def test_numbers_are_found_inside_of_other_schemas_and_nothing_else_changes() -> None:
    wide, bounded = {"type": "integer", "format": "int64"}, {"customTypePath": f"{RUNTIME}Int64"}
    others = {"c": TEXT, "d": {"type": "boolean"}, "e": wide | {"const": 1}, "f": wide | {"enum": [1, 2]}}

    assert bound_numbers({"Foo": obj("a", a=listed(wide), b={"anyOf": [TEXT, wide]}, **others)}) == {
        "Foo": obj("a", a=listed(bounded), b={"anyOf": [TEXT, bounded]}, **others)
    }
