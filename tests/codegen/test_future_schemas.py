"""What a coming schema might hold: it is either built, and then reads and writes exactly, or refused with its place."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema_rs
import pytest

from acp_bindings import DecodeError, Finding, decode, encode
from codegen.tree import CodegenError, Definitions, Node
from tests.codegen.small import META, TEXT, built, catch_all, imported, listed, obj, ref, source, tagged

NULL: Node = {"type": "null"}
LONG = "It is long. " + "Words follow words, and " * 12 + "here they end."
ODD = 'A back\\slash, """three quotes""", {{ jinja }} {% endif %} {# note #}, \\N{DASH} and at its end a "'
ON_ERROR = {"x-deserialize-default-on-error": True}
ON_NULL = {"x-deserialize-default-on-null": True}
SKIP_ITEMS = {"x-deserialize-skip-invalid-items": True}

INTEGER: Node = {"type": "integer"}


@dataclass
class Case:
    """A schema whose definition `Foo` is tried."""

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
"""Names of members that mean something to Python or to pydantic, or are spelt as no attribute can be."""

BESIDE = {"s": "t", "i": 1, "b": True, "n": 1.5, "l": ["x"], "m": {"k": "v"}, "_meta": {"k": 1}}
"""A value of each type, which such a member must not take the name of."""


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """For each of the names a `Required…` and an `Optional…`, by its number."""
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
def test_a_member_may_have_any_name(key: str, members: ModuleType) -> None:
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


BUILT = [
    Case(
        "members that are one word in Python",
        {"Foo": obj("fooBar", fooBar=TEXT, foo_bar=INTEGER)},
        [{"fooBar": "a", "foo_bar": 1}, {"fooBar": "a"}],
        [{"foo_bar": 1}, {"fooBar": 1}, {"fooBar": "a", "foo_bar": "a"}],
    ),
    Case(
        "a keyword beside its escape",
        {"Foo": {"type": "object", "properties": {"class": TEXT, "class_": INTEGER}}},
        [{"class": "a", "class_": 1}],
        [{"class": 1}, {"class_": "a"}],
    ),
    Case(
        "definitions named like what Python knows",
        {
            "Foo": obj("e t u", e=ref("Exception"), t=ref("Type"), u=ref("URL"), j=ref("Json2"), l=listed(TEXT)),
            "Exception": obj("x", x=TEXT),
            "Type": TEXT | {"minLength": 1},
            "URL": listed(TEXT),
            "Json2": obj("x", x={"type": "integer"}),
        },
        [{"e": {"x": "a"}, "t": "b", "u": ["c"]}, {"e": {"x": "a"}, "t": "b", "u": [], "j": {"x": 1}, "l": ["d"]}],
        [{"e": {}, "t": "b", "u": []}, {"e": {"x": "a"}, "t": "", "u": []}, {"e": {"x": "a"}, "t": "b", "u": {}}],
    ),
    Case(
        "an inline object",
        {"Foo": obj("in", **{"in": obj("x", x=TEXT), "list": listed(obj("y", y={"anyOf": [obj("z", z=TEXT), NULL]}))})},
        [{"in": {"x": "a"}}, {"in": {"x": "a"}, "list": [{"y": {"z": "b"}}, {"y": None}]}],
        [{}, {"in": {}}, {"in": {"x": "a"}, "list": [{"y": {}}]}],
    ),
    Case(
        "an inline union of objects",
        {"Foo": obj("x", x={"oneOf": [tagged("a", y=TEXT), tagged("b", z=TEXT)]})},
        [{"x": {"type": "a", "y": "1"}}, {"x": {"type": "b", "z": "1"}}],
        [{"x": {"type": "a", "z": "1"}}, {"x": {"y": "1"}}, {"x": {"type": "c"}}],
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
    Case("a union of one scalar", {"Foo": {"oneOf": [TEXT]}}, ["a"], [1, None]),
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
    Case(
        "an open union of one",
        {"Foo": {"anyOf": [tagged("a", x=TEXT), catch_all("a")]}},
        [{"type": "a", "x": "1"}, {"type": "new", "y": [1]}],
        [{"type": "a"}, {"x": "1"}, {"type": 1}],
    ),
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
        "tags that are hard to spell",
        {"Foo": {"anyOf": [tagged("a.b/c d", x=TEXT), tagged("$y'\"\\\n", x=TEXT), tagged("(.*)|x", x=TEXT)]}},
        [{"type": "a.b/c d", "x": "1"}, {"type": "$y'\"\\\n", "x": "1"}, {"type": "(.*)|x", "x": "1"}],
        [{"type": "a.b/c d"}, {"type": "x", "x": "1"}],
    ),
    Case(
        "tags that give the same words",
        {"Foo": {"anyOf": [tagged("foo_bar", x=TEXT), tagged("foo-bar", y=TEXT)]}},
        [{"type": "foo_bar", "x": "1"}, {"type": "foo-bar", "y": "1"}],
        [{"type": "foo_bar", "y": "1"}],
    ),
    Case(
        "constants that are hard to spell",
        {
            "Foo": {
                "anyOf": [{"const": each, "type": "string"} for each in ("it's", '"', "\\", "\n", "é", "", "{{ x }}")]
            }
        },
        ["it's", '"', "\\", "\n", "é", "", "{{ x }}"],
        ["x", 1],
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
        "members that depend on a tag that may be absent",
        {
            "Foo": obj(why={"type": ["string", "null"]})
            | {
                "anyOf": [
                    tagged("a", by="why"),
                    tagged("b", by="why") | {"allOf": [ref("Bar")]},
                    obj(why={"type": "null"}),
                ]
            },
            "Bar": obj(more={"type": ["string", "null"]}),
        },
        [{}, {"why": None, "more": [1]}, {"why": "a", "more": 5}, {"why": "b"}, {"why": "b", "more": "x"}],
        [{"why": "b", "more": 5}, {"why": "c"}, {"why": 1}],
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
            *({"why": "c", "more": 5, "one": []}, {"more": 5}),
        ],
        [{"why": "a", "more": 5}, {"why": "b", "more": 5}, {"why": "d"}],
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
        "a union that says that it is open",
        {
            "Foo": {"type": "object", "additionalProperties": True, "anyOf": [ref("A"), ref("B")]},
            "A": obj("a", a=TEXT),
            "B": obj("b", b=TEXT),
        },
        [{"a": "1"}, {"b": "1", "c": 5}],
        [{}, {"a": 5}, "a"],
    ),
    Case(
        "a method with a name that no file can have",
        {"Foo": obj(x=TEXT), "ARequest": obj(foo=ref("Foo")) | {"x-method": "x" * 300 + "/a", "x-side": "agent"}},
        [{"x": "1"}],
    ),
    Case(
        "a tagged union of one as the payload of alternatives",
        {
            "Foo": {
                "anyOf": [
                    tagged("a", by="kind") | {"allOf": [ref("One")]},
                    tagged("b", by="kind") | {"allOf": [ref("One")]},
                    tagged("c", by="kind"),
                ]
            },
            "One": {"oneOf": [tagged("x", y=TEXT)]},
        },
        [{"kind": "a", "type": "x", "y": "1"}, {"kind": "b", "type": "x", "y": "1"}, {"kind": "c"}],
        [{"type": "x", "y": "1"}, {"kind": "a", "y": "1"}, {"kind": "a", "type": "x"}, {"kind": "d"}],
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
                b={"type": ["string", "null"], "pattern": "['\"]", "minLength": 2},
                c=ref("Id"),
            ),
            "Id": {"type": "string", "pattern": "^(?:x|y)*$"},
        },
        [{"a": "USD"}, {"a": "EUR", "b": None}, {"a": "GBP", "b": "it's", "c": "xyx"}, {"a": "CHF", "c": ""}],
        [
            {"a": "usd"},
            {"a": "USDX"},
            {"a": "USD\n"},
            {"a": "GBP", "b": "its"},
            {"a": "GBP", "b": "'"},
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
        "numbers of all sizes in lists and maps",
        {"Foo": obj(a=listed({"type": "integer", "format": "uint64", "minimum": 0}), b=listed({"type": "number"}))},
        [{"a": [0, 2**64 - 1], "b": [1, 1.5, 2**70]}],
        [{"a": [-1]}, {"a": [1.5]}, {"b": ["1"]}],
    ),
    Case(
        "null by way of a reference",
        {"Foo": obj(x=ref("Maybe"), y=ref("Any2")), "Maybe": {"anyOf": [NULL, TEXT]}, "Any2": {}},
        [{}, {"x": None, "y": None}, {"x": "a", "y": [1]}],
        [{"x": 1}],
    ),
    Case(
        "anything, said in both ways",
        {"Foo": obj("x", x={}, y=True)},
        [{"x": None}, {"x": [1], "y": {"z": None}}],
        [{}],
    ),
    Case(
        "a map and a list of anything",
        {"Foo": obj(x={"type": "object"}, y={"type": "array"})},
        [{"x": {"a": None}, "y": [1, "b"]}],
        [{"x": []}, {"y": {}}],
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
                for number, method in enumerate(
                    (
                        "class/a",
                        "import",
                        "a/b/c",
                        "_b/a",
                        "__init__/a",
                        "common/a",
                        "typing/a",
                        "Session/a",
                        "2/a",
                        "$/a",
                    )
                )
            },
        },
        [{"x": "1"}],
        [{}],
    ),
    Case(
        "defaults that are hard to spell",
        {
            "Foo": obj(
                a=TEXT | {"default": "it's \"\\\n"},
                b={"type": "number", "default": 1.5, "maximum": 2},
                c=ref("Bar") | {"default": {}},
            ),
            "Bar": obj(d={"type": "boolean", "default": True}),
        },
        [{}, {"a": "x"}, {"c": {"d": False}}],
        [{"a": 1}, {"c": {"d": 1}}],
    ),
    Case(
        "descriptions that are hard to spell",
        {
            "Foo": obj(
                "x", x=TEXT | {"description": ODD}, y=TEXT | {"description": LONG}, z=TEXT | {"description": "\\"}
            )
            | {"description": LONG + "\n\n" + ODD},
            "Bar": TEXT | {"description": ODD},
            "Baz": TEXT | {"description": '"'},
            "Quux": TEXT | {"description": "\x00\u202e"},
        },
        [{"x": "1"}],
        [{}],
    ),
]


@pytest.mark.parametrize("case", BUILT, ids=lambda case: case.name)
def test_a_schema_like_this_is_built_and_its_instances_come_back_equal(case: Case, tmp_path: Path) -> None:
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
    """What another implementation of JSON Schema says of *value* as `Foo`."""
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": defs, "$ref": "#/$defs/Foo"}
    return jsonschema_rs.validator_for(json.dumps(document)).is_valid(value)


def test_a_long_description_is_wrapped_and_none_of_it_is_lost(tmp_path: Path) -> None:
    package = built({"Foo": obj(x=TEXT | {"description": LONG}) | {"description": LONG}}, tmp_path)

    with imported(package) as module:
        assert module.Foo.__doc__.split() == LONG.split()
    assert max(map(len, source(package).splitlines())) <= 120


def test_items_are_left_out_where_the_tag_says_what_they_are_and_kept_elsewhere(tmp_path: Path) -> None:
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


AMONG_OTHERS: list[tuple[Node, list[tuple[Any, str]]]] = [
    (
        {"anyOf": [ref("U"), TEXT]},
        [({"type": "z"}, "type"), ({"type": 5}, "type"), ({}, "type"), ({"type": "a"}, "x")],
    ),
    (
        {"anyOf": [ref("U"), ref("A")]},
        [({"type": "z"}, "type"), ({}, "type"), ({"type": "a", "x": 5}, "x")],
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
    ids=["text", "an object", "an open union", "an open union beside text", "a list of the same"],
)
def test_of_a_tagged_union_among_other_types_the_place_that_is_wrong_is_told(
    written_out: Node, faults: list[tuple[Any, str]], tmp_path: Path
) -> None:
    defs = {
        "Foo": obj("p", p=written_out, many=listed(written_out)),
        "U": {"anyOf": [tagged("a", x=TEXT), tagged("b")]},
        "V": {"anyOf": [tagged("c", by="kind"), catch_all("c", by="kind")]},
        "A": obj("a", a=TEXT),
    }

    with imported(built(defs, tmp_path)) as module:
        for value, member in faults:
            with pytest.raises(DecodeError) as refused:
                decode(module.Foo, {"p": value, "many": [value]})
            below = (member,) if member else ()
            assert {issue.path for issue in refused.value.issues} == {("p", *below), ("many", 0, *below)}


OUT_OF_BOUNDS: list[tuple[str, Node, Any]] = [
    ("minimum", INTEGER | {"minimum": 1}, 0),
    ("maximum", {"type": ["number", "null"], "maximum": 1}, 1.5),
    ("format", INTEGER | {"format": "uint16"}, -1),
    ("length", TEXT | {"minLength": 1}, ""),
    ("pattern", TEXT | {"pattern": "^[a-z]+$"}, "A"),
    ("number of items", listed(TEXT) | {"minItems": 1}, []),
]
"""Members with a default that is not valid."""

REFUSED: list[tuple[str, Definitions, str]] = [
    (
        "a new keyword",
        {"Foo": obj(x=TEXT | {"contentMediaType": "text/html"})},
        "$defs/Foo/properties/x: no rule for the keyword contentMediaType",
    ),
    (
        "a pattern that Rust reads otherwise",
        {"Foo": obj(x=TEXT | {"pattern": "\\d"})},
        "$defs/Foo/properties/x: the pattern \\d may find other texts in pydantic than in the schema",
    ),
    ("a longest length", {"Foo": TEXT | {"maxLength": 9}}, "$defs/Foo: no rule for the keyword maxLength"),
    ("a new type", {"Foo": {"type": "decimal"}}, "$defs/Foo: no rule for the type decimal"),
    (
        "a new format",
        {"Foo": INTEGER | {"format": "int8"}},
        "$defs/Foo: no rule for the format int8 of type integer",
    ),
    (
        "a new reading rule",
        {"Foo": obj(x=TEXT | {"x-deserialize-trim": True})},
        "$defs/Foo/properties/x: no rule for the keyword x-deserialize-trim",
    ),
    (
        "new reading rules together",
        {"Foo": obj(x=listed(TEXT) | ON_NULL | SKIP_ITEMS)},
        "Foo.x: no rule for x-deserialize-default-on-null with x-deserialize-skip-invalid-items",
    ),
    (
        "a reading rule of a definition",
        {"Foo": TEXT | ON_ERROR},
        "$defs/Foo: no rule for x-deserialize-default-on-error in this place",
    ),
    (
        "a reading rule of an item",
        {"Foo": obj(x=listed(TEXT | ON_ERROR))},
        "$defs/Foo/properties/x/items: no rule for x-deserialize-default-on-error in this place",
    ),
    (
        "a bad value with nothing to read as",
        {"Foo": obj("x", x=TEXT | ON_ERROR)},
        "Foo.x: it is required, so a bad value has nothing to read as",
    ),
    (
        "a numeric tag",
        {"Foo": {"oneOf": [obj("t", t=INTEGER | {"const": 1}), obj("t", t=INTEGER | {"const": 2})]}},
        "$defs/Foo/oneOf/0/properties/t: the value 1 is not text; no rule for such a constant here",
    ),
    (
        "a closed set of numbers",
        {"Foo": {"anyOf": [INTEGER | {"const": 1}, INTEGER | {"const": 2}]}},
        "Foo: constants that are not text are read where any other number is valid too",
    ),
    (
        "a constant outside of a union",
        {"Foo": obj("x", x=TEXT | {"const": "a"})},
        "$defs/Foo/properties/x: no rule for const in this place",
    ),
    (
        "two unions at once",
        {"Foo": {"oneOf": [TEXT], "anyOf": [TEXT]}},
        "$defs/Foo: anyOf beside oneOf: one of the two would be lost",
    ),
    ("an empty union", {"Foo": {"anyOf": []}}, "$defs/Foo: an empty anyOf takes no value at all"),
    (
        "tags that differ in case only",
        {"Foo": {"anyOf": [tagged("bar"), tagged("Bar")]}},
        "Foo: the name FooBar of its alternative Bar is taken",
    ),
    (
        "a union among alternatives whose name is taken",
        {
            "Foo": obj("s", s=TEXT) | {"anyOf": [ref("Parts") | {"title": "bar"}, ref("Baz")]},
            "Parts": {"anyOf": [tagged("a"), tagged("b")]},
            "Baz": obj("z", z=TEXT),
            "FooBar": obj("q", q=INTEGER),
        },
        "Foo: the name FooBar of its alternative bar is taken",
    ),
    (
        "one tag twice",
        {
            "Foo": {"anyOf": [tagged("a") | {"allOf": [ref("Bar")]}, tagged("a") | {"allOf": [ref("Baz")]}]},
            "Bar": obj("x", x=TEXT),
            "Baz": obj("y", y=TEXT),
        },
        "Foo: two alternatives have the tag a",
    ),
    (
        "two tags",
        {"Foo": {"anyOf": [obj("t u", t=TEXT | {"const": "a"}, u=TEXT | {"const": "b"}), tagged("a", by="t")]}},
        "Foo: t and u both look like the tag of the union",
    ),
    (
        "a tag that may be absent",
        {"Foo": {"anyOf": [tagged("a"), obj(type=TEXT | {"const": "b"})]}},
        "Foo: the constant type may be absent, so it is no tag and has no rule",
    ),
    (
        "a tag that is a Python keyword",
        {"Foo": {"anyOf": [tagged("a", by="class"), tagged("b", by="class")]}},
        "FooA: its tag class cannot be an attribute of that name, so no union would find it",
    ),
    (
        "tags without a letter",
        {"Foo": {"anyOf": [tagged("é"), tagged("b")]}},
        "Foo: no class name can be made of 'é'",
    ),
    (
        "objects and scalars",
        {"Foo": {"anyOf": [tagged("a"), TEXT]}},
        "Foo: members beside alternatives that are not all objects",
    ),
    (
        "alternatives that only require",
        {"Foo": obj(x=TEXT, y=TEXT) | {"anyOf": [{"required": ["x"]}, {"required": ["y"]}]}},
        "$defs/Foo/anyOf/0: required says nothing of a value of type any",
    ),
    (
        "what a value is not",
        {"Foo": obj(x=TEXT | {"not": {"enum": ["a"]}})},
        "$defs/Foo/properties/x: no rule for not in this place",
    ),
    (
        "a closed object",
        {"Foo": obj() | {"additionalProperties": False}},
        "$defs/Foo: closed objects are unknown to ACP, whose receivers ignore unknown members",
    ),
    (
        "typed members of any name",
        {"Foo": obj(x=TEXT) | {"additionalProperties": TEXT}},
        "$defs/Foo: the type of additionalProperties beside properties would be lost",
    ),
    (
        "an object or null",
        {"Foo": obj(x=TEXT) | {"type": ["object", "null"]}},
        "$defs/Foo: null beside properties would be lost",
    ),
    (
        "meta beside _meta",
        {"Foo": obj("meta", meta=TEXT, _meta=META)},
        "Foo.meta: _meta has the attribute meta already",
    ),
    (
        "a name that is taken",
        {"Foo": obj(bar=obj(x=TEXT)), "FooBar": TEXT},
        "FooBar: the name of an inline object is taken by a definition",
    ),
    (
        "a default object that differs",
        {"Foo": obj(x=ref("Bar") | {"default": {"y": "2"}}), "Bar": obj(y=TEXT | {"default": "1"})},
        "Foo.x: its default differs from what an empty Bar reads as",
    ),
    (
        "a default of another type",
        {"Foo": obj(x=TEXT | {"default": 1})},
        "Foo.x: no rule for 1 as the default of this type",
    ),
    *(
        (
            f"a default out of the {word}",
            {"Foo": obj(x=member | {"default": default} | ON_ERROR)},
            f"Foo.x: no rule for {default!r} as the default of this type",
        )
        for word, member, default in OUT_OF_BOUNDS
    ),
    (
        "a default list that is not empty",
        {"Foo": obj(x=listed(obj(y=TEXT)) | {"default": [{"y": "1"}]})},
        "Foo.x: no rule for [{'y': '1'}] as the default of this type",
    ),
    (
        "bounds of an item",
        {"Foo": obj(x=listed(TEXT | {"minLength": 1}))},
        "Foo.x: no rule for a bound inside of another type",
    ),
    (
        "bounds beside a reference",
        {"Foo": obj(x=ref("Id") | {"minLength": 1}), "Id": TEXT},
        "$defs/Foo/properties/x: $ref beside minLength: one of the two would be lost",
    ),
    (
        "a reference to nothing",
        {"Foo": ref("Nobody")},
        "$defs/Foo: #/$defs/Nobody is no definition of this schema",
    ),
    (
        "a reference to an envelope",
        {"Foo": ref("Line"), "Line": TEXT | {"x-docs-ignore": True}},
        "$defs/Foo: #/$defs/Line is no definition of this schema",
    ),
    (
        "a name for itself",
        {"Foo": ref("Foo")},
        "$defs/Foo: it is made of itself, without a member in between",
    ),
    (
        "objects that extend each other",
        {"Foo": obj(x=TEXT) | {"allOf": [ref("Bar")]}, "Bar": obj(y=TEXT) | {"allOf": [ref("Foo")]}},
        "$defs/Foo: it is made of itself, without a member in between",
    ),
    (
        "unions that are each other",
        {"Foo": {"anyOf": [TEXT, ref("Bar")]}, "Bar": {"oneOf": [obj(x=ref("Foo")), {"allOf": [ref("Foo")]}]}},
        "$defs/Foo: it is made of itself, without a member in between",
    ),
    (
        "a member of a union and of one of its alternatives",
        {"Foo": obj(x=TEXT) | {"anyOf": [tagged("a", x=TEXT | {"minLength": 1}), tagged("b")]}},
        "Foo.x: the union and one of its alternatives both describe it",
    ),
    (
        "more said of a tag than what it is",
        {"Foo": {"anyOf": [tagged("a"), catch_all("a") | {"properties": {"type": TEXT | {"minLength": 3}}}]}},
        "Foo.type: minLength beside a tag would be lost",
    ),
    (
        "two requests of one method",
        {name: obj() | {"x-method": "a/b", "x-side": "agent"} for name in ("FooRequest", "BarRequest")},
        "FooRequest and BarRequest are both the request of a/b",
    ),
    (
        "a list of itself",
        {"Foo": {"anyOf": [TEXT, listed(ref("Foo"))]}},
        "Foo: it is made of itself; only an object may be, through a member",
    ),
    (
        "a union that holds itself",
        {"Foo": {"anyOf": [tagged("a", x=listed(ref("Foo"))), tagged("b")]}},
        "Foo: it is made of itself; only an object may be, through a member",
    ),
    (
        "an inherited member again",
        {"Foo": obj(x=TEXT) | {"allOf": [ref("Bar")]}, "Bar": obj("x", x=TEXT | {"minLength": 1})},
        "Foo.x: its attribute is that of x, which Foo inherits",
    ),
    (
        "a base that is no object",
        {"Foo": obj(x=TEXT) | {"allOf": [ref("Id")]}, "Id": TEXT},
        "$defs/Foo: the type object beside what may be no object would be lost",
    ),
    (
        "a method that is named after nothing",
        {"Foo": obj() | {"x-method": "a/b", "x-side": "agent"}},
        'Foo has "x-method" but is named neither …Request, …Response nor …Notification',
    ),
    (
        "an object where it can get no name",
        {"Foo": {"anyOf": [{"anyOf": [obj("x", x=TEXT), ref("Bar")]}, ref("Bar")]}, "Bar": obj("y", y=TEXT)},
        "Foo: an object is written out in it where it can get no name; make it a definition",
    ),
    (
        "values of a map beside a union",
        {
            "Foo": {"type": "object", "additionalProperties": TEXT, "anyOf": [ref("Bar"), ref("Baz")]},
            "Bar": obj("x", x=TEXT),
            "Baz": obj("y", y=TEXT),
        },
        "$defs/Foo: the type of additionalProperties beside anyOf would be lost",
    ),
    (
        "methods that refer to each other",
        {
            "ARequest": obj(x=ref("BRequest")) | {"x-method": "fs/a", "x-side": "agent"},
            "BRequest": obj(x=ref("ARequest")) | {"x-method": "session/b", "x-side": "agent"},
        },
        "ARequest refers to BRequest, and the module session refers to fs: modules cannot import each other",
    ),
    (
        "a class beside null that has a tag",
        {"Foo": obj(p={"anyOf": [tagged("a", x=TEXT), NULL]})},
        "FooP: members beside alternatives that are not all objects",
    ),
    (
        "a constant out of reach of the catch-all",
        {"Foo": {"anyOf": [INTEGER | {"const": -1}, INTEGER | {"format": "uint32", "minimum": 0}]}},
        "Foo: constants that are not text are read where any other number is valid too",
    ),
    (
        "objects of which a value may be two at once",
        {"Foo": obj(x={"oneOf": [ref("Bar"), ref("Baz")]}), "Bar": obj("a", a=TEXT), "Baz": obj("b", b=TEXT)},
        "Foo.x: a value may fit two alternatives of its oneOf, which would be read as one",
    ),
    (
        "meta of one value of a tag that may be absent",
        {
            "Foo": obj(why={"type": ["string", "null"]})
            | {"anyOf": [tagged("a", by="why") | {"allOf": [ref("Bar")]}, obj(why=NULL)]},
            "Bar": obj(_meta=META),
        },
        "Foo: no rule for _meta that goes with a alone",
    ),
    (
        "a bad tag that is excused in a union that is closed",
        {
            "Foo": obj(why={"type": ["string", "null"]} | ON_ERROR) | {"anyOf": [tagged("a", by="why"), obj(why=NULL)]},
        },
        "Foo.why: a bad value is excused, which no alternative takes; no rule for such a tag",
    ),
    (
        "false as a schema",
        {"Foo": obj(x=False)},
        "$defs/Foo/properties/x: False is no schema that the pipeline has a rule for",
    ),
]


@pytest.mark.parametrize(("defs", "said"), [pytest.param(defs, said, id=name) for name, defs, said in REFUSED])
def test_a_schema_like_this_is_refused_with_its_place(defs: Definitions, said: str, tmp_path: Path) -> None:
    with pytest.raises(CodegenError) as refused:
        built(defs, tmp_path)

    assert str(refused.value) == said


@pytest.mark.parametrize(
    "name", ["list", "str", "int", "dict", "class", "None", "foo", "Foo_Bar", "Foo-Bar", "2nd", "É"]
)
def test_a_definition_that_is_named_as_no_class_can_be_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(CodegenError) as refused:
        built({"Foo": obj(x=ref(name)), name: obj(y=TEXT)}, tmp_path)

    assert str(refused.value) == f"{name}: this is no name that a class of the package can have"


def test_a_union_that_is_named_as_no_class_can_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CodegenError) as refused:
        built({"É": {"anyOf": [tagged("a"), tagged("b")]}}, tmp_path)

    assert str(refused.value) == "É: this is no name that a class of the package can have"


@pytest.mark.parametrize(
    "name",
    [
        *("Any", "Literal", "Annotated", "TypeAlias", "Union", "Optional", "Field", "BaseModel", "ConfigDict"),
        *("Model", "Extensible", "Response", "AnsweredBy", "Lenient", "Tagged", "Unlike", "Within", "Number", "UInt32"),
    ],
)
def test_a_definition_that_is_named_like_what_the_code_imports_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(CodegenError) as refused:
        built({"Foo": obj(x=ref(name)), name: obj(y=TEXT)}, tmp_path)

    assert str(refused.value) == f"{name}: the generated code needs this name itself, for what it imports"
