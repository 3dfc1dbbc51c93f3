"""Schemas in readable form."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_launch._command.explore.schemas import all_arguments_of, alternatives, arguments_of, signature, type_text
from tests.mcp_launch.servers.offers import TYPED

ROOT: dict[str, Any] = {
    "$defs": {
        "Point": {
            "type": "object",
            "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
            "required": ["x"],
        },
        "Tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}},
        "Itself": {"anyOf": [{"$ref": "#/$defs/Itself"}, {"type": "string"}]},
        "Nothing": {"anyOf": [{"$ref": "#/$defs/Nothing"}]},
        "Map": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Map"}},
        "Loop": {"$ref": "#/$defs/Loop"},
        "Pair": {"prefixItems": [{"$ref": "#/$defs/Pair"}, {"type": "string"}]},
        "a/b~c": {"type": "boolean"},
    }
}


TYPES: list[tuple[Any, str]] = [
    ({"type": "string"}, "string"),
    ({}, "any"),
    (True, "any"),
    (False, "never"),
    ("no schema", "any"),
    ({"type": ["integer", "null"]}, "integer | null"),
    ({"anyOf": [{"type": "null"}, {"type": "string"}]}, "string | null"),
    ({"oneOf": [{"type": "string"}, {"type": "string"}]}, "string"),
    ({"anyOf": [{"type": "string"}, {}]}, "any"),
    ({"anyOf": 5}, "any"),
    ({"allOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"minLength": 1}]}, "string | null"),
    ({"type": ["array", "null"], "items": {"type": "string"}}, "string[] | null"),
    ({"type": "array"}, "array"),
    ({"type": "array", "items": {"type": "integer"}}, "integer[]"),
    ({"items": {"type": ["integer", "string"]}}, "(integer | string)[]"),
    ({"prefixItems": [{"type": "number"}, {}]}, "[number, any]"),
    ({"prefixItems": 5}, "array"),
    ({"required": ["a"]}, "object"),
    ({"patternProperties": {"^x-": {}}}, "object"),
    ({"enum": ["a", 1, None]}, '"a" | 1 | null'),
    ({"enum": list(range(20))}, "0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | ..."),
    ({"enum": list(range(8))}, "0 | 1 | 2 | 3 | 4 | 5 | 6 | 7"),
    ({"const": "x"}, '"x"'),
    ({"const": "é" * 58}, f'"{"é" * 58}"'),
    ({"const": "é" * 59}, f'"{"é" * 56}...'),
    ({"type": "object"}, "object"),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, "{[name]: integer}"),
    ({"$ref": "#/$defs/Point"}, "{x: number, y?: number}"),
    ({"$ref": "#/$defs/a~1b~0c", "description": "beside it"}, "boolean"),
    ({"allOf": [{"$ref": "#/$defs/Point"}, {"required": ["y"]}]}, "{x: number, y: number}"),
    ({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, "{a?: any, b?: any}"),
    ({"allOf": [{"required": ["a"]}, {"required": 5}]}, "object"),
    ({"$ref": "#/$defs/Tree"}, "{left?: {left?: {left?: object}}}"),
    ({"$ref": "#/$defs/Map"}, "{[name]: {[name]: {[name]: object}}}"),
    ({"$ref": "#/$defs/Pair"}, "[[[array, string], string], string]"),
    ({"$ref": "#/$defs/Itself"}, "string"),
    ({"$ref": "#/$defs/Nothing"}, "any"),
    ({"$ref": "#/$defs/Loop"}, "any"),
    ({"$ref": "#/$defs/Pair/prefixItems/1"}, "string"),
    ({"$ref": "#/$defs/Pair/prefixItems/2"}, "any"),
    ({"$ref": "#/$defs/Pair/prefixItems/x"}, "any"),
    ({"$ref": "#/nowhere"}, "any"),
    ({"$ref": "other#/$defs/Point"}, "any"),
    ({"$ref": "https://example.com/schema"}, "any"),
    ({"properties": {f"member_{n}": {} for n in range(20)}}, "object"),
    ({"anyOf": [{"const": 1000 + n} for n in range(100)]}, f"{' | '.join(map(str, range(1000, 1100)))[:497]}..."),
]


@pytest.mark.parametrize(("schema", "said"), TYPES)
def test_a_type_is_as_short_as_it_can_be_read(schema: Any, said: str) -> None:
    assert type_text(schema, ROOT) == said


def test_a_signature_has_types_defaults_and_optional_arguments() -> None:
    assert signature("typed", TYPED) == (
        "typed(path: string, lines?: integer = 10, ratio?: number, deep?: boolean, "
        'mode?: "fast" | "thorough" | 3, tags?: string[], filter?: {since?: integer, names?: string[]}, '
        "limit?: integer, anything?: any)"
    )


SIGNATURES: list[tuple[Any, str]] = [
    ({"type": "object"}, "run()"),
    ({}, "run()"),
    ({"type": "object", "additionalProperties": True}, "run(...: any)"),
    ({"properties": {"a": True}, "additionalProperties": {"type": "string"}}, "run(a?: any, ...: string)"),
    ({"anyOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}]}, "run(a?: any, b?: any)"),
    ({"properties": "none", "required": 5}, "run()"),
    ({"properties": {"a": {}}, "required": [["a"], "a"]}, "run(a: any)"),
    ({"type": "string", "properties": {"a": {}}}, "run(a?: any)"),
    ({"enum": [{"a": 1}, {"a": 2}], "properties": {"a": {}}, "required": ["a"]}, "run(a: any)"),
    ({"properties": {"a": {"$ref": "#"}}}, "run(a?: {a?: {a?: {a?: object}}})"),
    ({"anyOf": [{"properties": {"a": {}}, "required": ["a"]}, {"const": None}]}, "run(a: any)"),
    ({"anyOf": [{"additionalProperties": {"type": "string"}}, {"additionalProperties": True}]}, "run(...: string)"),
]


@pytest.mark.parametrize(("schema", "said"), SIGNATURES)
def test_unusual_schemas_have_a_signature(schema: Any, said: str) -> None:
    assert signature("run", schema) == said


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"format": "date", "pattern": "^a"}, ("date", "matches ^a")),
        ({"minimum": 1, "maximum": 5}, ("at least 1", "at most 5")),
        # As JavaScript libraries write for every integer.
        ({"minimum": -9007199254740991, "maximum": 9007199254740991}, ()),
        ({"exclusiveMinimum": 0, "exclusiveMaximum": 0.5}, ("more than 0", "less than 0.5")),
        ({"multipleOf": 2}, ("a multiple of 2",)),
        ({"minLength": 1, "maxLength": 2}, ("at least 1 character", "at most 2 characters")),
        ({"minItems": 1, "maxItems": 2}, ("at least 1 item", "at most 2 items")),
    ],
)
def test_each_kind_of_limit_has_a_description(limits: dict[str, Any], said: tuple[str, ...]) -> None:
    (argument,) = arguments_of({"properties": {"a": limits}})

    assert argument.limits == said


def test_members_next_to_a_reference_override_its_target() -> None:
    far = {"type": "string", "description": "far", "default": "x"}
    schema = {"properties": {"p": {"$ref": "#/$defs/P", "description": "near"}}, "$defs": {"P": far}}

    (argument,) = arguments_of(schema)

    assert (argument.type, argument.description, argument.default) == ("string", "near", '"x"')


def test_an_object_too_long_for_one_line_is_followed_by_its_properties() -> None:
    point = {
        "type": "object",
        "properties": {name: {"type": "number"} for name in ("longitude", "latitude", "altitude", "accuracy")},
        "required": ["latitude"],
    }
    schema = {
        "properties": {
            "at": {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}]},
            "via": {"type": "array", "items": {"$ref": "#/$defs/Point"}},
            "short": {"type": "object", "properties": {"a": {"type": "integer"}}},
            "shorts": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}},
        },
        "$defs": {"Point": point},
    }

    found = [(each.name, each.type, each.required, each.inner) for each in all_arguments_of(schema, schema)]

    members = [("longitude", False), ("latitude", True), ("altitude", False), ("accuracy", False)]
    assert found == [
        ("at", "object | null", False, False),
        *((f"at.{name}", "number", required, True) for name, required in members),
        ("via", "object[]", False, False),
        *((f"via[].{name}", "number", required, True) for name, required in members),
        ("short", "{a?: integer}", False, False),
        ("shorts", "{a?: integer}[]", False, False),
    ]


@pytest.mark.parametrize(
    ("child", "deepest"),
    [
        ({"$ref": "#/$defs/Node"}, "tree.child.child"),
        ({"type": "array", "items": {"$ref": "#/$defs/Node"}}, "tree.child[].child"),
    ],
)
def test_a_recursive_object_is_printed_only_to_a_readable_depth(child: dict[str, Any], deepest: str) -> None:
    node = {"type": "object", "properties": {"child": child, "a": {}, "b" * 70: {}}}
    schema = {"properties": {"tree": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}

    names = [each.name for each in all_arguments_of(schema, schema)]

    assert deepest in names
    assert max(name.count(".") for name in names) == 2


@pytest.mark.parametrize("end", [{"type": "string"}, {"$ref": "#/$defs/0"}])
def test_alternatives_that_multiply_are_not_all_laid_out(end: dict[str, Any]) -> None:
    bomb = {str(n): {"anyOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(60)}

    assert len(alternatives({"$ref": "#/$defs/0"}, {"$defs": {**bomb, "60": end}})) < 1000


def test_an_object_that_recurs_in_many_properties_is_printed_once() -> None:
    """Spelling it out at every occurrence would take hours."""
    members = {f"m{n}": {"$ref": "#/$defs/Node"} for n in range(80)}
    node = {"anyOf": [{"type": "object", "properties": members}, {"type": "array", "items": {"$ref": "#/$defs/Node"}}]}
    schema = {"properties": {"tree": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}

    assert signature("t", schema) == "t(tree?: object | (object | (object | (object | array)[])[])[])"
    assert len(list(all_arguments_of(schema, schema))) == 1 + 80 + 80 * 80
