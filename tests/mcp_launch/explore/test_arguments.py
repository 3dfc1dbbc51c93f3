"""Words are converted to the types in a tool's schema."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_launch._command.explore.arguments import WrongArguments, read_arguments, read_untrusted
from mcp_launch._command.explore.schemas import described_arguments
from mcp_launch._command.explore.terminal import split_words
from tests.mcp_launch.servers.offers import TYPED


def test_a_member_that_several_alternatives_have_may_be_as_in_any_of_them() -> None:
    def shape(kind: str, **others: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {"kind": {"const": kind, "description": "What."}, **others}}

    number = {"type": "integer", "minimum": 1}
    long: dict[str, Any] = {f"the_{each}_of_the_border_around_it": number for each in ("width", "height")}
    circle = shape("circle", size={"type": "integer"}, **long)
    square = shape("square", size={"type": "number"}, **long)
    schema = {"type": "object", "properties": {"shape": {"oneOf": [circle, square, shape("dot")]}}}

    assert read_arguments(["shape.kind=circle", "shape.size=3"], schema) == {"shape": {"kind": "circle", "size": 3}}
    assert read_arguments(["shape.kind=dot"], schema) == {"shape": {"kind": "dot"}}
    (_, kind, _, width, *_), _ = described_arguments(schema)
    assert (kind.type, kind.description, width.limits) == ('"circle" | "square" | "dot"', "What.", ("at least 1",))


def one(schema: Any, text: str) -> Any:
    """Return the value of `x=text` for an x with this schema."""
    return read_arguments([f"x={text}"], {"type": "object", "properties": {"x": schema}})["x"]


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "5", "5"),
        ({"type": "string"}, '{"a": 1}', '{"a": 1}'),
        ({"type": "string"}, "", ""),
        ({"type": "string"}, "a=b", "a=b"),
        ({"type": "integer"}, "-5", -5),
        ({"type": "number"}, "5", 5),
        ({"type": "number"}, "2.5e1", 25.0),
        *(({"type": "boolean"}, text, True) for text in ("true", "TRUE", "yes", "1")),
        *(({"type": "boolean"}, text, False) for text in ("false", "No", "0")),
        ({"type": "null"}, "null", None),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": ["integer", "null"]}, "7", 7),
        ({"type": ["string", "null"]}, "null", "null"),
        ({"type": ["string", "integer"]}, "7", "7"),
        ({"enum": ["1", 2, True]}, "2", 2),
        ({"enum": ["1", 2, True]}, "1", "1"),
        ({"enum": ["1", 2, True]}, "true", True),
        ({"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}, "b", "b"),
        ({"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}, "null", None),
        ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", [1, 2]),
        ({"type": "array", "items": {"type": "integer"}}, "1", [1]),
        ({"type": "array"}, "a", ["a"]),
        ({"type": "array", "items": {"type": "string"}}, "{a", ["{a"]),
        ({"type": "array", "items": {"type": "object"}}, '{"a": 1}', [{"a": 1}]),
        ({"anyOf": [{"type": "array"}, {"type": "string"}]}, '["a"]', ["a"]),
        ({"anyOf": [{"type": "array"}, {"type": "string"}]}, "[a", "[a"),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"properties": {"a": {"type": "integer"}}}, '{"a": 1}', {"a": 1}),
        ({"additionalProperties": {"type": "integer"}}, '{"a": 1}', {"a": 1}),
        ({}, "5", 5),
        ({}, '{"a": 1}', {"a": 1}),
        ({}, "hello", "hello"),
        ({}, "NaN", "NaN"),
        (True, "hello", "hello"),
        ({"$ref": "#/nowhere"}, "hello", "hello"),
        ({"anyOf": [{"$ref": "#/properties/x"}]}, "5", 5),
    ],
)
def test_a_word_is_converted_to_the_type_in_the_schema(schema: Any, text: str, value: Any) -> None:
    found = one(schema, text)

    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (["tags=a", "tags=b"], {"tags": ["a", "b"]}),
        (['tags=["a"]', "tags=b"], {"tags": ["a", "b"]}),
        (["filter.since=2026", "filter.names=a", "filter.names=b"], {"filter": {"since": 2026, "names": ["a", "b"]}}),
        (["limit:=5", 'anything:="5"'], {"limit": 5, "anything": "5"}),
        (["unknown:=5"], {"unknown": 5}),
    ],
)
def test_words_become_arguments(words: list[str], arguments: dict[str, Any]) -> None:
    assert read_arguments(["path=a", *words], TYPED) == {"path": "a", **arguments}


@pytest.mark.anyio
async def test_words_override_arguments_given_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "arguments.json"
    file.write_text('\ufeff{"path": "a", "lines": 1}', encoding="utf-8")

    assert await read_untrusted(["lines=2"], TYPED, whole=f"@{file}") == {"path": "a", "lines": 2}
    found = await read_untrusted([f"filter:=@{file}"], TYPED, whole='{"path": "b"}', checked=False)
    assert found["filter"]["lines"] == 1


@pytest.mark.anyio
async def test_a_pipe_of_arguments_is_read_once() -> None:
    reads, writes = os.pipe()
    os.write(writes, json.dumps([0] * 3000).encode())
    os.close(writes)

    # So many items need more steps than this process evaluates.
    found = await read_untrusted([f"a:=@/dev/fd/{reads}"], {"properties": {"a": {"items": {"type": "integer"}}}})

    os.close(reads)
    assert found == {"a": [0] * 3000}


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "why"), [("/no/such", "No such file or directory"), (sys.executable, "not UTF-8")])
async def test_a_file_of_arguments_that_cannot_be_read_is_an_error(name: str, why: str) -> None:
    with pytest.raises(WrongArguments) as caught:
        await read_untrusted(["path=a", f"filter:=@{name}"], TYPED)

    assert caught.value.faults == (f"filter: {name}: {why}",)


@pytest.mark.anyio
async def test_a_file_of_arguments_that_is_not_json_is_named(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("notes")

    with pytest.raises(WrongArguments) as caught:
        await read_untrusted([f"path:=@{file}"], TYPED)

    assert caught.value.faults == (f"path: {file}: not JSON at character 1: Expecting value",)


@pytest.mark.parametrize(
    ("words", "faults"),
    [
        ([], ["path: is missing; must be string: Where to look."]),
        (["path=a", "lines=ten"], ['lines: must be integer, not "ten"']),
        (["path=a", "lines=0"], ["lines: 0 is less than the minimum of 1"]),
        (["path=a", "deep=maybe"], ['deep: must be boolean, not "maybe"']),
        (["path=a", "ratio=inf"], ['ratio: must be number, not "inf"']),
        (["path=a", "ratio=1e999"], ['ratio: must be number, not "1e999"']),
        (["path=a", "mode=fats"], ['mode: must be "fast" | "thorough" | 3, not "fats"; did you mean "fast"?']),
        (["path=a", "limit=few"], ['limit: must be integer | null, not "few"']),
        (["path=a", "lnies=3"], ['lnies: unknown argument; did you mean "lines"?']),
        (["path=a", "path=b"], ["path: is given twice"]),
        (["path=a", 'tags:=["b"]', 'tags:=["c"]'], ["tags: is given twice"]),
        (["path"], ["path: must be name=value, or name:=JSON"]),
        (['{"path": 1}'], ['{"path": 1}: must be name=value, or name:=JSON; use --args for a whole object']),
        (["path=a", "=5"], ["=5: must be name=value, or name:=JSON"]),
        (["path:=a"], ["path: not JSON at character 1: Expecting value"]),
        (["path:=5"], ["path: must be string, not 5"]),
        (["path=a", "tags:=[1]"], ["tags[0]: must be string, not 1"]),
        (["path=a", "tags=[1"], ["tags: not JSON at character 3: Expecting ',' delimiter"]),
        (["path=a", "filter.since=old"], ['filter.since: must be integer, not "old"']),
        (["path=a", "lin.es=1"], ['lin.es: unknown argument; did you mean "lines"?']),
        (["path=a", "fliter.since=1"], ['fliter.since: unknown argument; did you mean "filter.since"?']),
        (["path=a", "filter.snice=1"], ['filter.snice: unknown argument; did you mean "filter.since"?']),
        (["path=a", "fliter.snice=1"], ['fliter.snice: unknown argument; did you mean "filter.since"?']),
        (["path=a", "fliter.since.x=1"], ['fliter.since.x: unknown argument; did you mean "filter.since"?']),
        (["path=a", "filter:=5", "filter.since=1"], ["filter.since: filter is already given as 5"]),
        (["path=a", "filter=old"], ['filter: must be {since?: integer, names?: string[]}, not "old"']),
        (["lines=ten", "deep=maybe"], ['lines: must be integer, not "ten"', 'deep: must be boolean, not "maybe"']),
        (["path=a", "filter=@/no/such"], ['filter: must be {since?: integer, names?: string[]}, not "@/no/such"']),
        (["path=a", "zzz.b=1"], [f"zzz.b: unknown argument; choose from {', '.join(TYPED['properties'])}"]),
    ],
)
def test_an_invalid_argument_is_reported_with_what_the_schema_requires(words: list[str], faults: list[str]) -> None:
    with pytest.raises(WrongArguments) as caught:
        read_arguments(words, TYPED)

    assert list(caught.value.faults) == faults


def test_the_default_of_a_required_argument_is_sent_if_it_is_left_out() -> None:
    properties = {"a": {"$ref": "#/$defs/A"}, "b": {"default": None}, "c": {"default": 3}, "d": {"default": 4}}
    schema = {"properties": properties, "required": ["a", "b", "c"], "$defs": {"A": {"default": "x" * 100}}}

    assert read_arguments(["c=5"], schema) == {"a": "x" * 100, "b": None, "c": 5}
    assert read_arguments([], schema, whole='{"a": 1}') == {"a": 1, "b": None, "c": 3}
    assert read_arguments([], schema, checked=False) == {}


def test_the_objects_in_an_argument_get_their_defaults_too() -> None:
    pen = {"properties": {"ink": {"type": "string"}, "size": {"default": 3}, "more": {}}, "required": ["ink", "size"]}
    pens = {"type": ["array", "null"], "items": {"$ref": "#/$defs/Pen"}}
    schema = {"properties": {"pen": {"$ref": "#/$defs/Pen"}, "pens": pens}, "$defs": {"Pen": pen}}

    assert read_arguments(["pen.ink=+"], schema) == {"pen": {"ink": "+", "size": 3}}
    whole = '{"pens": [{"ink": "-"}, {"ink": "+", "size": 5, "more": [{}]}]}'
    given: Any = [{"ink": "-", "size": 3}, {"ink": "+", "size": 5, "more": [{}]}]
    assert read_arguments([], schema, whole=whole) == {"pens": given}
    assert read_arguments([], schema) == {}


@pytest.mark.parametrize(
    ("whole", "fault"),
    [
        ("[]", "--args: must be a JSON object of arguments, not []"),
        ("{", "--args: not JSON at character 2: Expecting property name enclosed in double quotes"),
        ('{"path": NaN}', "--args: not JSON: a number is too long, or it is nested too deeply"),
        ('{"lines": 5}', "path: is missing; must be string: Where to look."),
    ],
)
def test_arguments_that_are_given_whole_are_looked_at_too(whole: str, fault: str) -> None:
    with pytest.raises(WrongArguments) as caught:
        read_arguments([], TYPED, whole=whole)

    assert caught.value.faults == (fault,)


@pytest.mark.parametrize(
    ("schema", "words", "faults"),
    [
        (
            {"properties": {"a": {"type": "string"}}, "required": ["a", "it's"]},
            [],
            ["a: is missing; must be string", "it's: is missing; must be any"],
        ),
        ({"required": ["a", "b"]}, ["b:=1"], ["a: is missing; must be any"]),
        ({"additionalProperties": False}, ["a:=1"], ["a: unknown argument"]),
        ({"additionalProperties": False}, ["a=1"], ["a: unknown argument; there are none"]),
        (
            {"properties": {"o": {"type": "object"}}},
            ["o=5"],
            ["""o: must be object, such as o:='{"name": "value"}', not "5\""""],
        ),
        ({"properties": {"a": {"enum": ["b"]}}}, ["a:=1"], ['a: must be "b", not 1']),
        ({"properties": {"a": {"const": "b"}}}, ["a:=1"], ['a: must be "b", not 1']),
        (
            {
                "properties": {"a": {"properties": {"b": {"$ref": "#/$defs/B"}}, "required": ["b"]}},
                "$defs": {"B": {"type": "string", "description": "\nWhat to do.\nAnd more."}},
            },
            ["a:={}"],
            ["a.b: is missing; must be string: What to do."],
        ),
        (
            {"properties": {"a": {"properties": {"path": {}}, "additionalProperties": False}}},
            ['a:={"paht": 1}'],
            ['a.paht: unknown argument; did you mean "path"?'],
        ),
        (
            {"properties": {"a": {"properties": {"path": {"properties": {"begin": {}}}}}}},
            ["a.paht.begni=1"],
            ['a.paht.begni: unknown argument; did you mean "a.path.begin"?'],
        ),
        (
            {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
            ["a:=1"],
            ["a: must be string | null, not 1"],
        ),
        (
            {"properties": {"a": {"oneOf": [{"type": "string"}, {"type": "null"}]}}},
            ["a:=1"],
            ["a: must be string | null, not 1"],
        ),
        (
            {"properties": {"a": {"anyOf": [{"$ref": "#/$defs/A"}]}}, "$defs": {"A": {"type": "string"}}},
            ["a:=1"],
            ["a: must be string, not 1"],
        ),
        ({"properties": {"a": {"type": ["array", "string"]}}}, ["a=b", "a=[1]"], ["a: is given twice"]),
        ({"properties": {"a": {"type": ["array", "string"]}}}, ["a=[1]", "a=b"], ["a: is given twice"]),
        ({"properties": {"a": {"type": "string"}}}, ["a.b=1"], ["a.b: unknown argument; choose from a"]),
        ({"type": "string"}, [], ["arguments: must be string, not {}"]),
        ({"maxProperties": 0}, ["a:=1"], ["arguments: {'a': 1} is expected to be empty"]),
    ],
)
def test_each_violation_of_the_schema_is_reported(schema: dict[str, Any], words: list[str], faults: list[str]) -> None:
    with pytest.raises(WrongArguments) as caught:
        read_arguments(words, schema)

    assert list(caught.value.faults) == faults


@pytest.mark.parametrize(
    ("schema", "words", "arguments"),
    [
        ({"type": "object"}, ["a=1", "b=x"], {"a": 1, "b": "x"}),
        ({"properties": {}, "additionalProperties": {"type": "integer"}}, ["a=1"], {"a": 1}),
        ({"properties": {"b": {}}, "patternProperties": {"^x-": {"type": "string"}}}, ["x-a=1"], {"x-a": "1"}),
        ({"properties": {"b": {}}, "additionalProperties": True}, ["a=1"], {"a": 1}),
        ({"patternProperties": {"(": {"type": "string"}}}, ["a=1"], {"a": 1}),
        ({"properties": {"a.b": {"type": "string"}}}, ["a.b=1"], {"a.b": "1"}),
        ({"type": 7, "properties": {"a": {"type": "integer"}}}, ["a=1"], {"a": 1}),
        ({"properties": {"a": {"$ref": "https://example.invalid/x"}}}, ["a=1"], {"a": 1}),
        ({"properties": {"a": {"$ref": "#/required"}}, "required": ["a"]}, ["a=1"], {"a": 1}),
        ({"properties": {"a": {}}, "required": "bc"}, ["a=1"], {"a": 1}),
        ({"properties": {"a:": {"type": "string"}}}, ["a:=1"], {"a:": "1"}),
        ({"properties": {"a": {}}}, ["a.b=1"], {"a": {"b": 1}}),
        ({"properties": {"a": {"additionalProperties": {"type": "string"}}}}, ["a.b=1"], {"a": {"b": "1"}}),
    ],
)
def test_unusual_schemas_accept_what_they_can(schema: Any, words: list[str], arguments: dict[str, Any]) -> None:
    assert read_arguments(words, schema) == arguments


def test_a_schema_is_not_enforced_with_unchecked() -> None:
    words = ["lines=ten", "deep=maybe", "lnies=3"]

    assert read_arguments(words, TYPED, checked=False) == {"lines": "ten", "deep": "maybe", "lnies": 3}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("call greet name=Ada", ["call", "greet", "name=Ada"]),
        ("call x name=\"Ada L\" b='c d'", ["call", "x", "name=Ada L", "b=c d"]),
        ('call x f={"a": [1, "b c"]} g:=[1, 2]', ["call", "x", 'f={"a": [1, "b c"]}', "g:=[1, 2]"]),
        ("call x f={not json}", ["call", "x", "f={not", "json}"]),
        ("call x f='{\"a\": 1}'  ", ["call", "x", 'f={"a": 1}']),
        ("  ", []),
        ("call x f=[1]y g=[2]", ["call", "x", "f=[1]y", "g=[2]"]),
        ("call x a=#1", ["call", "x", "a=#1"]),
    ],
)
def test_json_needs_no_quotes_in_a_line(line: str, words: list[str]) -> None:
    assert split_words(line) == words


def test_a_quotation_that_does_not_end_is_an_error() -> None:
    with pytest.raises(ValueError, match="quotation"):
        split_words("call x a='b")
