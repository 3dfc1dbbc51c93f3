import pytest

from codegen.passes.values import bound_numbers
from codegen.tree import Node
from tests.codegen.small import NULL, TEXT, listed, obj


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"type": "integer"}, {"type": "integer"}),
        ({"type": "integer", "minimum": -5, "maximum": 5}, {"type": "integer", "minimum": -5, "maximum": 5}),
        ({"type": "integer", "format": "int32"}, {"customTypePath": "acp_bindings._models.types.Int32"}),
        ({"type": "integer", "format": "int64"}, {"customTypePath": "acp_bindings._models.types.Int64"}),
        (
            {"type": "integer", "format": "uint16", "minimum": 0},
            {"customTypePath": "acp_bindings._models.types.UInt16"},
        ),
        (
            {"type": "integer", "format": "uint32", "minimum": -1},
            {"customTypePath": "acp_bindings._models.types.UInt32"},
        ),
        (
            {"type": "integer", "format": "uint16", "minimum": 0, "maximum": 65535},
            {"customTypePath": "acp_bindings._models.types.UInt16"},
        ),
        (
            {"type": "integer", "format": "uint64", "minimum": 1},
            {"type": "integer", "minimum": 1, "maximum": 2**64 - 1},
        ),
        (
            {"type": "integer", "format": "int32", "maximum": 9},
            {"type": "integer", "minimum": -(2**31), "maximum": 9},
        ),
        ({"type": "number"}, {"customTypePath": "acp_bindings._models.types.Number"}),
        ({"type": "number", "format": "double"}, {"customTypePath": "acp_bindings._models.types.Number"}),
        ({"type": "number", "format": "double", "minimum": 0}, {"type": "number", "x-within": {"ge": 0}}),
        ({"type": "number", "minimum": 0, "maximum": 1.5}, {"type": "number", "x-within": {"ge": 0, "le": 1.5}}),
        ({"type": ["integer", "null"]}, {"anyOf": [{"type": "integer"}, NULL]}),
        (
            {"type": ["integer", "null"], "format": "int64"},
            {"anyOf": [{"customTypePath": "acp_bindings._models.types.Int64"}, NULL]},
        ),
        ({"type": ["number", "null"], "maximum": 1}, {"x-within": {"le": 1}, "anyOf": [{"type": "number"}, NULL]}),
    ],
)
def test_a_number_gets_the_range_of_its_format_and_its_bounds(node: Node, expected: Node) -> None:
    assert bound_numbers({"Foo": node}) == {"Foo": expected}


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
    node = {
        "type": ["integer", "null"],
        "minimum": 1,
        "description": "How many.",
        "default": None,
        "x-reads": "Lenient",
    }

    assert bound_numbers({"Foo": node}) == {
        "Foo": {
            "description": "How many.",
            "default": None,
            "x-reads": "Lenient",
            "anyOf": [{"type": "integer", "minimum": 1}, NULL],
        }
    }


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"type": "integer", "format": "int32"}, {"customTypePath": "acp_bindings._models.types.Int32"}),
        ({"type": "number"}, {"customTypePath": "acp_bindings._models.types.Number"}),
        ({"type": "number", "minimum": 0}, {"type": "number", "x-within": {"ge": 0}}),
    ],
)
def test_annotations_of_a_number_stay(node: Node, expected: Node) -> None:
    more = {"description": "How many.", "default": 1, "x-reads": "Lenient"}

    assert bound_numbers({"Foo": node | more}) == {"Foo": expected | more}


def test_numbers_are_found_inside_of_other_schemas_and_nothing_else_changes() -> None:
    wide = {"type": "integer", "format": "int64"}
    defs = {"Foo": obj("a", a=listed(wide), b={"anyOf": [TEXT, wide]}, c=TEXT, d={"type": "boolean"})}

    bounded = {"customTypePath": "acp_bindings._models.types.Int64"}
    assert bound_numbers(defs) == {
        "Foo": obj("a", a=listed(bounded), b={"anyOf": [TEXT, bounded]}, c=TEXT, d={"type": "boolean"})
    }


@pytest.mark.parametrize("values", [{"const": 1}, {"enum": [1, 2]}])
def test_constants_have_no_bounds(values: Node) -> None:
    node = {"type": "integer", "format": "int32"} | values

    assert bound_numbers({"Foo": node}) == {"Foo": node}
