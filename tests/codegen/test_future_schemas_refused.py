"""Shapes that a future schema may have and that the pipeline refuses: the error names the place."""

from pathlib import Path

import pytest

from codegen.tree import CodegenError, Definitions
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

REFUSED: list[tuple[str, Definitions, str]] = [
    (
        "a new keyword",
        {"Foo": obj(x=TEXT | {"contentMediaType": "text/html"})},
        "$defs/Foo/properties/x: no rule for the keyword contentMediaType",
    ),
    (
        "a pattern",
        {"Foo": obj(x=TEXT | {"pattern": "^[A-Z]{3}$"})},
        "$defs/Foo/properties/x: no rule for the keyword pattern",
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
        "Foo.x: required and lenient, but an invalid value has no replacement",
    ),
    (
        "a numeric tag",
        {"Foo": {"oneOf": [obj("t", t=INTEGER | {"const": 1}), obj("t", t=INTEGER | {"const": 2})]}},
        "$defs/Foo/oneOf/0/properties/t: no rule for the constant 1 here, because it is not a string",
    ),
    (
        "a closed set of numbers",
        {"Foo": {"anyOf": [INTEGER | {"const": 1}, INTEGER | {"const": 2}]}},
        "Foo: no rule for constants that are not strings, unless all other numbers are valid too",
    ),
    (
        "a constant outside of a union",
        {"Foo": obj("x", x=TEXT | {"const": "a"})},
        "$defs/Foo/properties/x: no rule for const in this place",
    ),
    (
        "two unions at once",
        {"Foo": {"oneOf": [TEXT], "anyOf": [TEXT]}},
        "$defs/Foo: anyOf next to oneOf: one of them would be lost",
    ),
    (
        "tags that differ in case only",
        {"Foo": {"anyOf": [tagged("bar"), tagged("Bar")]}},
        "Foo: the name FooBar of its variant Bar is already used",
    ),
    (
        "a union among alternatives whose name is taken",
        {
            "Foo": obj("s", s=TEXT) | {"anyOf": [ref("Parts") | {"title": "bar"}, ref("Baz")]},
            "Parts": {"anyOf": [tagged("a"), tagged("b")]},
            "Baz": obj("z", z=TEXT),
            "FooBar": obj("q", q=INTEGER),
        },
        "Foo: the name FooBar of its variant bar is already used",
    ),
    (
        "one tag twice",
        {
            "Foo": {"anyOf": [tagged("a") | {"allOf": [ref("Bar")]}, tagged("a") | {"allOf": [ref("Baz")]}]},
            "Bar": obj("x", x=TEXT),
            "Baz": obj("y", y=TEXT),
        },
        "Foo: two variants have the tag a",
    ),
    (
        "two tags",
        {"Foo": {"anyOf": [obj("t u", t=TEXT | {"const": "a"}, u=TEXT | {"const": "b"}), tagged("a", by="t")]}},
        "Foo: t and u both look like the tag of the union",
    ),
    (
        "a tag that may be absent",
        {"Foo": {"anyOf": [tagged("a"), obj(type=TEXT | {"const": "b"})]}},
        "Foo: no rule for the constant type, which may be absent and is not a tag",
    ),
    (
        "a tag that is a Python keyword",
        {"Foo": {"anyOf": [tagged("a", by="class"), tagged("b", by="class")]}},
        "FooA: the tag class cannot be an attribute of that name, so a union would not find it",
    ),
    (
        "tags without a letter",
        {"Foo": {"anyOf": [tagged("é"), tagged("b")]}},
        "Foo: 'é' cannot become the name of a class",
    ),
    (
        "objects and scalars",
        {"Foo": {"anyOf": [tagged("a"), TEXT]}},
        "Foo: fields next to variants that are not all objects",
    ),
    (
        "alternatives that only require",
        {"Foo": obj(x=TEXT, y=TEXT) | {"anyOf": [{"required": ["x"]}, {"required": ["y"]}]}},
        "$defs/Foo/anyOf/0: required does not apply to values of type any",
    ),
    (
        "what a value is not",
        {"Foo": obj(x=TEXT | {"not": {"enum": ["a"]}})},
        "$defs/Foo/properties/x: no rule for not in this place",
    ),
    (
        "a closed object",
        {"Foo": obj() | {"additionalProperties": False}},
        "$defs/Foo: no rule for closed objects: receivers of ACP messages ignore unknown fields",
    ),
    (
        "typed members of any name",
        {"Foo": obj(x=TEXT) | {"additionalProperties": TEXT}},
        "$defs/Foo: the type of additionalProperties next to properties would be lost",
    ),
    (
        "an object or null",
        {"Foo": obj(x=TEXT) | {"type": ["object", "null"]}},
        "$defs/Foo: null next to properties would be lost",
    ),
    (
        "meta beside _meta",
        {"Foo": obj("meta", meta=TEXT, _meta=META)},
        "Foo.meta: the attribute meta is that of _meta",
    ),
    (
        "a name that is taken",
        {"Foo": obj(bar=obj(x=TEXT)), "FooBar": TEXT},
        "FooBar: the name of an inline object is also the name of a definition",
    ),
    (
        "a default object that differs",
        {"Foo": obj(x=ref("Bar") | {"default": {"y": "2"}}), "Bar": obj(y=TEXT | {"default": "1"})},
        "Foo.x: the default {'y': '2'} differs from an empty Bar",
    ),
    (
        "a default of another type",
        {"Foo": obj(x=TEXT | {"default": 1})},
        "Foo.x: no rule for 1 as the default of this type",
    ),
    (
        "a default list that is not empty",
        {"Foo": obj(x=listed(obj(y=TEXT)) | {"default": [{"y": "1"}]})},
        "Foo.x: no rule for [{'y': '1'}] as the default of this type",
    ),
    (
        "bounds of an item",
        {"Foo": obj(x=listed(TEXT | {"minLength": 1}))},
        "Foo.x: no rule for a bound inside another type",
    ),
    (
        "bounds beside a reference",
        {"Foo": obj(x=ref("Id") | {"minLength": 1}), "Id": TEXT},
        "$defs/Foo/properties/x: $ref next to minLength: one of them would be lost",
    ),
    (
        "a reference to nothing",
        {"Foo": ref("Nobody")},
        "$defs/Foo: #/$defs/Nobody is not a definition of this schema",
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
        "more said of a tag than what it is",
        {"Foo": {"anyOf": [tagged("a"), catch_all("a") | {"properties": {"type": TEXT | {"minLength": 3}}}]}},
        "Foo.type: minLength next to a tag would be lost",
    ),
    (
        "two requests of one method",
        {name: obj() | {"x-method": "a/b", "x-side": "agent"} for name in ("FooRequest", "BarRequest")},
        "FooRequest and BarRequest are both the request of a/b",
    ),
    (
        "an inherited member again",
        {"Foo": obj(x=TEXT) | {"allOf": [ref("Bar")]}, "Bar": obj("x", x=TEXT | {"minLength": 1})},
        "Foo.x: has the same attribute as x, which Foo inherits",
    ),
    (
        "a base that is no object",
        {"Foo": obj(x=TEXT) | {"allOf": [ref("Id")]}, "Id": TEXT},
        "$defs/Foo: the type object would be lost, because other parts accept other values",
    ),
    (
        "a method that is named after nothing",
        {"Foo": obj() | {"x-method": "a/b", "x-side": "agent"}},
        'Foo has "x-method", but its name does not end in Request, Response or Notification',
    ),
    (
        "an object where it can get no name",
        {"Foo": {"anyOf": [{"anyOf": [obj("x", x=TEXT), ref("Bar")]}, ref("Bar")]}, "Bar": obj("y", y=TEXT)},
        "Foo: contains an inline object that cannot get a name; make it a definition",
    ),
    (
        "values of a map beside a union",
        {
            "Foo": {"type": "object", "additionalProperties": TEXT, "anyOf": [ref("Bar"), ref("Baz")]},
            "Bar": obj("x", x=TEXT),
            "Baz": obj("y", y=TEXT),
        },
        "$defs/Foo: the type of additionalProperties next to anyOf would be lost",
    ),
    (
        "methods that refer to each other",
        {
            "ARequest": obj(x=ref("BRequest")) | {"x-method": "fs/a", "x-side": "agent"},
            "BRequest": obj(x=ref("ARequest")) | {"x-method": "session/b", "x-side": "agent"},
        },
        "modules cannot import each other: fs and session",
    ),
    (
        "a class beside null that has a tag",
        {"Foo": obj(p={"anyOf": [tagged("a", x=TEXT), NULL]})},
        "FooP: fields next to variants that are not all objects",
    ),
    (
        "a constant out of reach of the catch-all",
        {"Foo": {"anyOf": [INTEGER | {"const": -1}, INTEGER | {"format": "uint32", "minimum": 0}]}},
        "Foo: no rule for constants that are not strings, unless all other numbers are valid too",
    ),
    (
        "meta of one value of a tag that may be absent",
        {
            "Foo": obj(why={"type": ["string", "null"]})
            | {"anyOf": [tagged("a", by="why") | {"allOf": [ref("Bar")]}, obj(why=NULL)]},
            "Bar": obj(_meta=META),
        },
        "Foo: no rule for _meta of the variant a only",
    ),
    (
        "a bad tag that is excused in a union that is closed",
        {
            "Foo": obj(why={"type": ["string", "null"]} | ON_ERROR) | {"anyOf": [tagged("a", by="why"), obj(why=NULL)]},
        },
        "Foo.why: no rule for a lenient tag without a variant for unknown tags",
    ),
    (
        "false as a schema",
        {"Foo": obj(x=False)},
        "$defs/Foo/properties/x: no rule for the schema False",
    ),
    (
        "a default of a required list that a bad value would not read as",
        {"Foo": obj("x", x=listed(TEXT) | {"default": None} | ON_ERROR)},
        "Foo.x: required, so an invalid value is read as the empty list, and the default None would be lost",
    ),
    (
        "skipping the items of one of two lists",
        {"Foo": obj(x=ref("Bar") | SKIP_ITEMS), "Bar": {"anyOf": [listed(TEXT), listed(INTEGER)]}},
        "Foo.x: x-deserialize-skip-invalid-items requires a list",
    ),
    (
        "objects that two members together tell apart",
        {"Foo": {"oneOf": [ref("Bar"), ref("Baz")]}, "Bar": obj("x", x=TEXT), "Baz": obj("y z", y=TEXT, z=TEXT)},
        "Foo: no rule for variants of a oneOf that only y and z together distinguish",
    ),
    *(
        (
            f"meta that {words} describe differently",
            {"Foo": obj(_meta=outer) | {"anyOf": [arm, tagged("b")]}, "Bar": obj(_meta=True)},
            "Foo._meta: contained in the union and in one of its variants",
        )
        for words, outer, arm in (
            ("a union and an alternative", META, tagged("a", _meta=True)),
            (
                "an alternative and a union",
                True,
                tagged("a") | {"properties": tagged("a")["properties"] | {"_meta": META}},
            ),
            ("a union and the payload of an alternative", META, tagged("a") | {"allOf": [ref("Bar")]}),
        )
    ),
    (
        "a tag that the union says is no text",
        {"Foo": obj(type={"type": "boolean"}) | {"anyOf": [tagged("a"), tagged("b")]}},
        "Foo.type: no rule for a tag of the type boolean; tags are strings",
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

    assert str(refused.value) == f"{name}: not a valid name for a class of the package"


def test_a_union_that_is_named_as_no_class_can_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CodegenError) as refused:
        built({"É": {"anyOf": [tagged("a"), tagged("b")]}}, tmp_path)

    assert str(refused.value) == "É: not a valid name for a class of the package"


@pytest.mark.parametrize(
    "name",
    [
        *("Any", "Literal", "Annotated", "TypeAlias", "Union", "Optional", "Field", "BaseModel", "ConfigDict"),
        *(
            "Model",
            "Extensible",
            "Response",
            "RequestParams",
            "NotificationParams",
            "Lenient",
            "Tagged",
            "NotEnum",
            "Within",
            "Number",
            "UInt32",
        ),
    ],
)
def test_a_definition_that_is_named_like_what_the_code_imports_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(CodegenError) as refused:
        built({"Foo": obj(x=ref(name)), name: obj(y=TEXT)}, tmp_path)

    assert str(refused.value) == f"{name}: the generated code imports something of this name"
