"""Shapes that a future schema may have and that the pipeline supports: they are read and written exactly."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema_rs
import pytest

from acp_bindings import DecodeError, Finding, decode, encode
from codegen.tree import Definitions, Node
from codegen.verify import imported
from tests.codegen.small import (
    INTEGER,
    META,
    NULL,
    ON_ERROR,
    ON_NULL,
    SKIP_ITEMS,
    TEXT,
    built,
    catch_all,
    listed,
    obj,
    ref,
    tagged,
)

ROOT = Path(__file__).parents[2]
LONG = "It is long. " + "Words follow words, and " * 12 + "here they end."
ODD = 'A back\\slash, """three quotes""", {{ jinja }} {% endif %} {# note #}, \\N{DASH} and at its end a "'


@dataclass
class Case:
    """A schema with a definition `Foo` to try."""

    name: str
    defs: Definitions
    valid: Sequence[Any]
    """Read and written back as they are."""
    invalid: Sequence[Any] = ()


MEMBERS = (
    *("class", "from", "None", "self", "cls"),
    *("copy", "json", "dict", "schema", "construct", "validate", "fields", "model_config", "modelConfig"),
    *("model_dump", "model_extra", "model_fields", "model_post_init"),
    *("str", "int", "list", "float", "bool", "Any", "Lenient", "Field"),
    *("__init__", "__class__", "__dict__", "_private", "$schema", "$ref"),
    *("a-b", "a b", "URL", "aBC", "x_1", "x1", "foo__bar", "trailing_", "é", "2nd", 'q"uote', "back\\slash", ""),
)
"""Names of members with a meaning in Python or pydantic, or that are not valid attribute names."""

BESIDE = {"s": "t", "i": 1, "b": True, "n": 1.5, "l": ["x"], "m": {"k": "v"}, "_meta": {"k": 1}}
"""A value of each type, next to such a member."""


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """A `Required…` and an `Optional…` definition for each of the names, by its index."""
    types: Node = {
        "s": TEXT,
        "i": {"type": "integer"},
        "b": {"type": "boolean"},
        "n": {"type": "number"},
        "l": listed(TEXT),
        "m": {"type": "object", "additionalProperties": TEXT},
        "_meta": META,
    }
    defs: Definitions = {}
    for number, key in enumerate(MEMBERS):
        defs[f"Optional{number}"] = {"type": "object", "properties": {key: TEXT, **types}}
        defs[f"Required{number}"] = {"type": "object", "properties": {key: TEXT, **types}, "required": [key]}
    with imported(built(defs, tmp_path_factory.mktemp("members"))) as module:
        yield module


@pytest.mark.parametrize("key", MEMBERS)
def test_a_field_may_have_any_name(key: str, members: ModuleType) -> None:
    required = getattr(members, f"Required{MEMBERS.index(key)}")
    optional = getattr(members, f"Optional{MEMBERS.index(key)}")

    for value in ({key: "a"}, {key: "a", **BESIDE}, {key: "a", "another": 1}):
        assert json.loads(encode(decode(required, json.dumps(value)))) == value
        assert json.loads(encode(decode(optional, json.dumps(value)))) == value
    assert json.loads(encode(decode(optional, BESIDE))) == BESIDE
    for value in ({key: 1}, {key: None}, {key: "a", "l": [1]}, {key: "a", "i": "1"}, {key: "a", "b": 1}):
        with pytest.raises(DecodeError):
            decode(required, json.dumps(value))
        with pytest.raises(DecodeError):
            decode(optional, json.dumps(value))
    with pytest.raises(DecodeError):
        decode(required, "{}")


NOT_MODULES = ("class/a", "import", "a/b/c", "_b/a", "__init__/a", "common/a", "typing/a", "Session/a", "2/a", "$/a")
"""Methods whose area is not a name for a new module."""

BUILT = [
    Case(
        "members that are one word in Python",
        {"Foo": obj("fooBar", fooBar=TEXT, foo_bar=INTEGER)},
        [{"fooBar": "a", "foo_bar": 1}, {"fooBar": "a"}],
        [{"foo_bar": 1}, {"fooBar": 1}, {"fooBar": "a", "foo_bar": "a"}],
    ),
    Case(
        "an inline object",
        {"Foo": obj("in", **{"in": obj("x", x=TEXT), "list": listed(obj("y", y={"anyOf": [obj("z", z=TEXT), NULL]}))})},
        [{"in": {"x": "a"}}, {"in": {"x": "a"}, "list": [{"y": {"z": "b"}}, {"y": None}]}],
        [{}, {"in": {}}, {"in": {"x": "a"}, "list": [{"y": {}}]}],
    ),
    Case(
        "an inline object inside of an alternative",
        {"Foo": {"anyOf": [tagged("a", x=obj("y", y=TEXT)), tagged("b")]}},
        [{"type": "a", "x": {"y": "1"}}, {"type": "b"}],
        [{"type": "a", "x": {}}],
    ),
    Case(
        "an object that holds itself",
        {"Foo": obj("n", n=TEXT, kids=listed(ref("Foo")), one={"anyOf": [ref("Foo"), NULL]})},
        [{"n": "a"}, {"n": "a", "kids": [{"n": "b", "kids": []}], "one": {"n": "c", "one": None}}],
        [{"n": "a", "kids": [{}]}, {"n": "a", "one": {"n": 1}}],
    ),
    Case(
        "objects that hold each other",
        {"Foo": obj("bar", bar=ref("Bar")), "Bar": obj(foo={"anyOf": [ref("Foo"), NULL]}, foos=listed(ref("Foo")))},
        [{"bar": {"foo": {"bar": {"foos": [{"bar": {}}]}}}}, {"bar": {"foo": None}}],
        [{"bar": {"foo": {}}}, {"bar": {"foos": [{"bar": {"foo": 1}}]}}],
    ),
    Case("a union of one reference", {"Foo": {"anyOf": [ref("Bar")]}, "Bar": obj("x", x=TEXT)}, [{"x": "a"}], [{}, 1]),
    Case(
        "a tagged union of one",
        {"Foo": {"anyOf": [tagged("a", x=TEXT)]}},
        [{"type": "a", "x": "1"}, {"type": "a", "x": "1", "y": 1}],
        [{"x": "1"}, {"type": "b", "x": "1"}, {"type": "a"}, {"type": ["a"], "x": "1"}, "a"],
    ),
    Case(
        "a tagged union of one, in a member, with a payload and members for all",
        {
            "Foo": obj("one", one=ref("One"), many=listed(ref("One"))),
            "One": obj("s", s=TEXT) | {"oneOf": [tagged("a") | {"allOf": [ref("Bar")]}]},
            "Bar": obj("x", x=TEXT),
        },
        [{"one": {"type": "a", "s": "1", "x": "2"}}, {"one": {"type": "a", "s": "1", "x": "2"}, "many": []}],
        [
            *({"one": {"s": "1", "x": "2"}}, {"one": {"type": "a", "x": "2"}}, {"one": {"type": "a", "s": "1"}}),
            {"one": {"type": "a", "s": "1", "x": "2"}, "many": [{"type": "b", "s": "1", "x": "2"}]},
        ],
    ),
    Case("an enumeration of one", {"Foo": {"anyOf": [{"const": "a", "type": "string"}]}}, ["a"], ["b", 1]),
    *(
        Case(
            f"a tag named {tag!r}",
            {"Foo": {"anyOf": [tagged("a", by=tag, x=TEXT), tagged("b", by=tag), catch_all("a", "b", by=tag)]}},
            [{tag: "a", "x": "1"}, {tag: "b"}, {tag: "c", "y": 1}],
            [{tag: "a"}, {"x": "1"}, {tag: 1}],
        )
        for tag in ("fooBar", "foo_bar", "Type", "x-y")
    ),
    Case(
        "exclusive objects without a tag",
        {
            "Foo": obj("s", s=TEXT) | {"oneOf": [ref("Left"), ref("Right")]},
            "Left": obj("l", l=TEXT),
            "Right": obj("r", r=TEXT),
        },
        [{"s": "1", "l": "2"}, {"s": "1", "r": "2"}],
        [{"s": "1"}, {"l": "2"}, {"s": "1", "l": "2", "r": "3"}],
    ),
    Case(
        "members that go with several values of a tag that may be absent",
        {
            "Foo": obj(why={"type": ["string", "null"]}, _meta=META)
            | {
                "anyOf": [
                    tagged("a", by="why") | {"allOf": [ref("Bar")]},
                    tagged("b", by="why") | {"allOf": [ref("Baz")]},
                    tagged("c", by="why") | {"allOf": [ref("Bare")]},
                    obj(why={"type": "null"}),
                ]
            },
            "Bar": obj(more={"type": ["string", "null"]}, _meta=META),
            "Baz": obj(
                more={"type": ["string", "null"], "description": "More."}, one={"anyOf": [obj("x", x=TEXT), NULL]}
            ),
            "Bare": {"type": "object"},
        },
        [
            *({}, {"why": "a", "more": "x", "one": 1, "_meta": {"k": 1}}, {"why": "b", "more": None, "_meta": None}),
            *({"why": "c", "more": 5, "one": []}, {"more": 5}, {"why": None, "more": [1]}),
        ],
        [{"why": "a", "more": 5}, {"why": "b", "more": 5}, {"why": "d"}, {"why": 1}],
    ),
    Case(
        "payloads without members, of one alternative and of two",
        {
            "Foo": {
                "anyOf": [
                    tagged("a") | {"allOf": [ref("Once")]},
                    tagged("b") | {"allOf": [ref("Twice")]},
                    tagged("c") | {"allOf": [ref("Twice")]},
                ]
            },
            "Once": {"type": "object"},
            "Twice": {"type": "object"},
        },
        [{"type": "a"}, {"type": "b", "x": 1}, {"type": "c"}],
        [{}, {"type": "d"}, "a"],
    ),
    Case(
        "definitions that are lists or maps of what is written out",
        {
            "Foo": obj(l=ref("Lists"), m=ref("Maps"), u=ref("Either")),
            "Lists": listed({"anyOf": [tagged("a", x=TEXT), tagged("b")]}),
            "Maps": {"type": "object", "additionalProperties": listed(obj("y", y=TEXT))},
            "Either": {"anyOf": [listed(obj("z", z=TEXT)) | {"title": "many"}, ref("One")]},
            "One": obj("o", o=TEXT),
        },
        [
            {"l": [{"type": "a", "x": "1"}, {"type": "b"}], "m": {"k": [{"y": "1"}]}, "u": [{"z": "1"}]},
            {"l": [], "m": {}, "u": {"o": "1"}},
        ],
        [{"l": [{"type": "a"}]}, {"m": {"k": [{}]}}, {"u": [{}]}, {"u": {}}],
    ),
    Case(
        "payloads that are named as their alternatives would be, and are used elsewhere too",
        {
            "Foo": obj(s=TEXT)
            | {
                "anyOf": [
                    tagged("bar") | {"allOf": [ref("FooBar")]},
                    {"title": "baz", "allOf": [ref("FooBaz")]},
                    catch_all("bar"),
                ]
            },
            "FooBar": obj("x", x=TEXT),
            "FooBaz": obj("y", y=TEXT, bar=ref("FooBar")),
        },
        [{"type": "bar", "x": "1"}, {"y": "1", "bar": {"x": "2"}, "s": "3"}, {"type": "qux"}],
        [{"type": "bar"}, {"x": "1"}, {"type": "bar", "x": "1", "s": 5}, {"y": "1", "bar": {}}],
    ),
    *(
        Case(
            f"an alternative without a tag that is named by the tag of another, {order}",
            {"Foo": {"anyOf": arms}, "Bar": obj("x", x=TEXT), "Baz": obj("y", y=TEXT)},
            [{"type": "a", "x": "1"}, {"y": "1"}],
            [{"x": "1"}, {"type": "a"}],
        )
        for named in [[tagged("a") | {"allOf": [ref("Bar")]}, {"title": "a", "allOf": [ref("Baz")]}]]
        for order, arms in (("after it", named), ("before it", named[::-1]))
    ),
    Case(
        "bounded lists and text",
        {"Foo": obj("a", a=listed(TEXT) | {"minItems": 2}, b={"type": ["string", "null"], "minLength": 2})},
        [{"a": ["x", "y"]}, {"a": ["x", "y"], "b": None}, {"a": ["x", "y"], "b": "zz"}],
        [{"a": ["x"]}, {"a": ["x", "y"], "b": "z"}, {"a": []}],
    ),
    Case(
        "text of a pattern, optional, nullable and required",
        {
            "Foo": obj(
                "a",
                a={"type": "string", "pattern": "^[A-Z]{3}$"},
                b={"type": ["string", "null"], "pattern": "[st]", "minLength": 2},
                c=ref("Id"),
            ),
            "Id": {"type": "string", "pattern": "^(?:x|y)*$"},
        },
        [{"a": "USD"}, {"a": "EUR", "b": None}, {"a": "GBP", "b": "its", "c": "xyx"}, {"a": "CHF", "c": ""}],
        [
            {"a": "usd"},
            {"a": "USDX"},
            {"a": "USD\n"},
            {"a": "GBP", "b": "in"},
            {"a": "GBP", "b": "s"},
            {"a": "CHF", "c": "z"},
        ],
    ),
    Case(
        "bounded numbers, optional, nullable and required",
        {
            "Foo": obj(
                "a",
                a={"type": "number", "maximum": 5},
                b={"type": "number", "minimum": 2, "maximum": 4},
                c={"type": ["number", "null"], "minimum": 2},
                d=INTEGER | {"minimum": 1},
            )
        },
        [{"a": 5}, {"a": 1.5, "b": 2, "c": None, "d": 1}, {"a": 1, "b": 3.5, "c": 2.5}],
        [{"a": 6}, {"a": 5.5}, {"a": 1, "b": 1}, {"a": 1, "b": 4.5}, {"a": 1, "c": 1}, {"a": 1, "d": 0}, {"a": True}],
    ),
    Case(
        "null by way of a reference",
        {"Foo": obj(x=ref("Maybe"), y=ref("Any2")), "Maybe": {"anyOf": [NULL, TEXT]}, "Any2": {}},
        [{}, {"x": None, "y": None}, {"x": "a", "y": [1]}],
        [{"x": 1}],
    ),
    Case(
        "meta that every object says otherwise",
        {
            "Foo": obj("a b c d", a=ref("Strict"), b=ref("Anything"), c=ref("Required"), d=ref("None2")),
            "Strict": obj(_meta={"type": ["object", "null"], "additionalProperties": True}),
            "Anything": obj(_meta=True),
            "Required": obj("_meta", _meta={"type": ["object", "null"]}),
            "None2": obj(meta=TEXT),
        },
        [
            {"a": {"_meta": {"k": 1}}, "b": {"_meta": 5}, "c": {"_meta": {}}, "d": {"meta": "x"}},
            {"a": {"_meta": None}, "b": {"_meta": None}, "c": {"_meta": None}, "d": {"_meta": 5}},
            {"a": {"meta": 1}, "b": {}, "c": {"_meta": {"k": []}}, "d": {}},
        ],
        [
            {"a": {"_meta": 5}, "b": {}, "c": {"_meta": {}}, "d": {}},
            {"a": {}, "b": {}, "c": {}, "d": {}},
            {"a": {}, "b": {}, "c": {"_meta": {}}, "d": {"meta": 5}},
        ],
    ),
    Case(
        "an object that extends another",
        {"Foo": obj("x", x=TEXT) | {"allOf": [ref("Bar")]}, "Bar": obj("y", y=TEXT, _meta=META)},
        [{"x": "1", "y": "2", "_meta": {"a": 1}}],
        [{"x": "1"}, {"y": "1"}],
    ),
    Case(
        "a name for a name",
        {"Foo": {"allOf": [ref("Bar")]}, "Bar": ref("Baz"), "Baz": TEXT | {"minLength": 1}},
        ["a"],
        ["", 1],
    ),
    Case(
        "methods that cannot name a module",
        {
            "Foo": obj("x", x=TEXT),
            **{
                f"Do{number}Request": obj(foo=ref("Foo")) | {"x-method": method, "x-side": "agent"}
                for number, method in enumerate(NOT_MODULES)
            },
        },
        [{"x": "1"}],
        [{}],
    ),
]


@pytest.mark.parametrize("case", BUILT, ids=lambda case: case.name)
def test_an_unusual_schema_is_built_and_its_instances_survive_a_round_trip(case: Case, tmp_path: Path) -> None:
    package = built(case.defs, tmp_path)

    with imported(package) as module:
        for value in case.valid:
            assert valid(case.defs, value), value
            assert json.loads(encode(decode(module.Foo, json.dumps(value)))) == value
            assert json.loads(encode(decode(module.Foo, json.dumps(value), strict=True))) == value
        for value in case.invalid:
            assert not valid(case.defs, value), value
            with pytest.raises(DecodeError):
                decode(module.Foo, json.dumps(value))


def valid(defs: Definitions, value: Any) -> bool:
    """Return True if another implementation of JSON Schema accepts *value* as `Foo`."""
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": defs, "$ref": "#/$defs/Foo"}
    return jsonschema_rs.validator_for(json.dumps(document)).is_valid(value)


def test_unusual_text_passes_the_lint_of_the_packages(tmp_path: Path) -> None:
    said = [ODD, LONG, '"', "\\d+", 'such as "a"', '"a" is one', "an agent\u2019s, 1\u20132"]
    members = {f"x{number}": TEXT | {"description": each} for number, each in enumerate(said)}
    itself = {"type": ["array", "null"], "items": ref("Foo")}
    defs = {"Foo": obj(**members, é=TEXT, itself=itself) | {"description": '"a" or \\, it\u2019s'}}
    package = built(defs, tmp_path)

    for module in package.glob("*.py"):
        like = f"src/acp_bindings/v1/{module.name}"
        command = [sys.executable, "-m", "ruff", "check", "--quiet", "--stdin-filename", like, "-"]
        with module.open(encoding="utf-8") as code:
            result = subprocess.run(command, stdin=code, cwd=ROOT, capture_output=True, text=True, check=False)
        assert (result.stdout + result.stderr, result.returncode) == ("", 0)


def test_conditional_fields_skip_items_only_for_their_tag(tmp_path: Path) -> None:
    lists = obj(
        a={"type": ["array", "null"], "items": TEXT} | ON_ERROR | SKIP_ITEMS,
        b={"type": "array", "items": TEXT} | SKIP_ITEMS,
        c={"type": "object", "additionalProperties": TEXT} | ON_NULL,
    )
    arms = [tagged("x", by="why"), tagged("y", by="why") | {"allOf": [ref("Lists")]}, obj(why=NULL)]
    defs = {"Foo": obj(why={"type": ["string", "null"]}) | {"anyOf": arms}, "Lists": lists}

    with imported(built(defs, tmp_path)) as module:
        kept = {"why": "x", "a": [1, "2"], "b": ["1", 2], "c": None}
        assert json.loads(encode(decode(module.Foo, kept))) == kept
        assert decode(module.Foo, {**kept, "why": "y"}) == module.Foo(why="y", a=["2"], b=["1"], c={})
        assert decode(module.Foo, {"why": "y", "a": 5}) == module.Foo(why="y")
        found: list[Finding] = []
        decode(module.Foo, {**kept, "why": "y"}, findings=found)
        assert [(each.path, each.rule) for each in found] == [
            (("a", 0), "skip-invalid-items"),
            (("b", 1), "skip-invalid-items"),
            (("c",), "default-on-null"),
        ]
        with pytest.raises(DecodeError) as refused:
            decode(module.Foo, {"why": "y", "b": 5})
        assert [issue.path for issue in refused.value.issues] == [("b",)]
        with pytest.raises(DecodeError):
            decode(module.Foo, {**kept, "why": "y"}, strict=True)


@pytest.mark.parametrize(
    ("union", "value"),
    [
        ({"type": "object", "anyOf": [ref("Bar"), ref("Baz")]}, {"x": [1]}),
        ({"anyOf": [listed(ref("Bar")), listed(ref("Baz"))]}, [{"x": [1]}]),
        ({"anyOf": [listed(ref("Bar")) | {"type": ["array", "null"]}, listed(ref("Baz"))]}, [{"x": [1]}]),
        (
            {"anyOf": [{"type": "object", "additionalProperties": ref(each)} for each in ("Bar", "Baz")]},
            {"k": {"x": [1]}},
        ),
    ],
    ids=["of objects, which says so", "of lists", "of lists or null", "of maps"],
)
def test_a_union_without_a_tag_is_read_as_its_first_matching_variant(union: Node, value: Any, tmp_path: Path) -> None:
    defs = {"Foo": union, "Bar": {"type": "object"}, "Baz": obj(x=listed(TEXT) | SKIP_ITEMS)}

    with imported(built(defs, tmp_path)) as module:
        assert json.loads(encode(decode(module.Foo, value))) == value


AMONG_OTHERS: list[tuple[Node, list[tuple[Any, str]]]] = [
    (
        {"anyOf": [ref("U"), TEXT]},
        [({"type": "z"}, "type"), ({"type": 5}, "type"), ({}, "type"), ({"type": "a"}, "x")],
    ),
    (
        {"anyOf": [ref("U"), ref("V")]},
        [({"type": "z"}, "type"), ({}, "type"), ({"type": "a"}, "x")],
    ),
    ({"anyOf": [TEXT, ref("V")]}, [({}, "kind")]),
    ({"anyOf": [ref("U"), listed(ref("U"))]}, [({"type": "z"}, "type"), ({"type": "a"}, "x")]),
]


@pytest.mark.parametrize(
    ("written_out", "faults"),
    AMONG_OTHERS,
    ids=["text", "an open union", "an open union beside text", "a list of the same"],
)
def test_errors_in_a_tagged_union_among_other_types_have_a_place(
    written_out: Node, faults: list[tuple[Any, str]], tmp_path: Path
) -> None:
    defs = {
        "Foo": obj("p", p=written_out, many=listed(written_out)),
        "U": {"anyOf": [tagged("a", x=TEXT), tagged("b")]},
        "V": {"anyOf": [tagged("c", by="kind"), catch_all("c", by="kind")]},
    }

    with imported(built(defs, tmp_path)) as module:
        for value, member in faults:
            with pytest.raises(DecodeError) as refused:
                decode(module.Foo, {"p": value, "many": [value]})
            assert {issue.path for issue in refused.value.issues} == {("p", member), ("many", 0, member)}
