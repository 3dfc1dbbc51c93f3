import pytest

from codegen.checks import check_vocabulary
from codegen.tree import Node
from tests.codegen.small import META, TEXT, catch_all, listed, obj, ref, refusal, tagged


def refusal_of(node: object) -> str:
    """Return the error for *node* as the definition `Foo`, next to an object `Bar` and a string `Id`."""
    return refusal(check_vocabulary, {"Foo": node, "Bar": obj("x", x=TEXT), "Id": TEXT})


@pytest.mark.parametrize(
    "node",
    [
        {},
        {"description": "Anything.", "title": "Anything"},
        {"type": "object"},
        obj("id", id={"allOf": [ref("Id")], "default": "x", "description": "…"}, _meta=META),
        obj("a", a={"type": "object", "additionalProperties": TEXT}, b={"type": ["array", "null"], "items": {}}),
        obj("a", a={"type": "integer", "format": "uint32", "minimum": 0}, b={"type": ["number", "null"], "minimum": 0}),
        obj(uri={"type": "string", "format": "uri"}, data={"type": "string", "contentEncoding": "base64"}),
        obj("a", a=obj("b", b={"type": "string", "enum": ["x", "y"]})),
        {"anyOf": [{"const": "a", "type": "string"}, TEXT]},
        {"anyOf": [{"const": -1, "type": "integer", "format": "int32"}, {"type": "integer", "format": "int32"}]},
        {"anyOf": [tagged("a") | {"allOf": [ref("Bar")]}, tagged("b"), catch_all("a", "b")]},
        {"oneOf": [tagged("a"), tagged("b")], "discriminator": {"propertyName": "type"}},
        {"oneOf": [tagged("a"), catch_all("a"), obj("x", x=TEXT)], "discriminator": {"propertyName": "type"}},
        obj("s", s=TEXT) | {"anyOf": [tagged("a"), {"title": "rest", "allOf": [ref("Bar")]}]},
        {"x-method": "a/b", "x-side": "agent", **obj()},
    ],
)
def test_everything_that_the_passes_read_is_accepted(node: Node) -> None:
    check_vocabulary({"Foo": node, "Bar": obj("x", x=TEXT), "Id": TEXT})


@pytest.mark.parametrize("keyword", ["$comment", "$defs", "exclusiveMinimum", "maxLength", "x-deserialize-trim"])
def test_an_unknown_keyword_is_refused_everywhere(keyword: str) -> None:
    said = f"no rule for the keyword {keyword}"
    inner = {keyword: 1, **TEXT}

    assert refusal_of(inner) == f"$defs/Foo: {said}"
    assert refusal_of(obj(x=inner)) == f"$defs/Foo/properties/x: {said}"
    assert refusal_of(obj(x=listed(inner))) == f"$defs/Foo/properties/x/items: {said}"
    assert refusal_of({"type": "object", "additionalProperties": inner}) == f"$defs/Foo/additionalProperties: {said}"
    assert refusal_of({"oneOf": [TEXT, {"anyOf": [inner]}]}) == f"$defs/Foo/oneOf/1/anyOf/0: {said}"
    assert refusal_of({"anyOf": [obj() | {"not": inner}]}) == f"$defs/Foo/anyOf/0/not: {said}"


@pytest.mark.parametrize("node", [False, None, [], "text", 1])
def test_a_value_that_is_not_a_schema_is_refused(node: object) -> None:
    assert refusal_of(node) == f"$defs/Foo: no rule for the schema {node!r}"
    assert refusal_of(obj(x=node)) == f"$defs/Foo/properties/x: no rule for the schema {node!r}"


LENIENT = TEXT | {"x-deserialize-default-on-error": True}
MISPLACED: list[tuple[Node, str, str]] = [
    (TEXT | {"default": "x"}, "", "default"),
    (TEXT | {"const": "x"}, "", "const"),
    (obj() | {"not": {}}, "", "not"),
    (LENIENT, "", "x-deserialize-default-on-error"),
    (listed(TEXT) | {"x-deserialize-default-on-null": True}, "", "x-deserialize-default-on-null"),
    (listed(TEXT) | {"x-deserialize-skip-invalid-items": True}, "", "x-deserialize-skip-invalid-items"),
    *((obj(x={keyword: "x"}), "/properties/x", keyword) for keyword in ("const", "not", "x-method", "x-side")),
    (obj(x={"x-docs-ignore": True}), "/properties/x", "x-docs-ignore"),
    (obj(x=listed(LENIENT)), "/properties/x/items", "x-deserialize-default-on-error"),
    (obj(x={"anyOf": [LENIENT, {"type": "null"}]}), "/properties/x/anyOf/0", "x-deserialize-default-on-error"),
    ({"anyOf": [obj() | {"not": {"anyOf": [TEXT | {"const": "a"}]}}]}, "/anyOf/0/not/anyOf/0", "const"),
]


@pytest.mark.parametrize(("node", "where", "keyword"), MISPLACED)
def test_a_keyword_for_other_places_is_refused(node: Node, where: str, keyword: str) -> None:
    assert refusal_of(node) == f"$defs/Foo{where}: no rule for {keyword} in this place"


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ({"anyOf": [TEXT], "oneOf": [TEXT]}, "anyOf next to oneOf: one of them would be lost"),
        (ref("Id") | TEXT, "$ref next to type: one of them would be lost"),
        ({"allOf": [ref("Bar")], "anyOf": [TEXT]}, "allOf next to anyOf: one of them would be lost"),
        (TEXT | {"enum": ["a"], "minLength": 1}, "enum next to minLength: one of them would be lost"),
        (TEXT | {"anyOf": [TEXT]}, "the type string next to variants would be lost"),
        (TEXT | {"allOf": [ref("Id")]}, "the type string next to variants would be lost"),
        ({"type": ["string", "null"], "enum": ["a"]}, "null next to enum would be lost"),
        (obj(x=TEXT) | {"type": ["object", "null"]}, "null next to properties would be lost"),
        (
            obj(x=TEXT) | {"additionalProperties": TEXT},
            "the type of additionalProperties next to properties would be lost",
        ),
        (obj(x=TEXT) | {"unevaluatedProperties": TEXT}, "the type of unevaluatedProperties would be lost"),
    ],
)
def test_two_keywords_that_no_pass_reads_together_are_refused(node: Node, said: str) -> None:
    assert refusal_of(node) == f"$defs/Foo: {said}"


@pytest.mark.parametrize("closed", ["additionalProperties", "unevaluatedProperties"])
def test_a_closed_object_is_refused(closed: str) -> None:
    said = "no rule for closed objects: receivers of ACP messages ignore unknown fields"

    assert refusal_of(obj() | {closed: False}) == f"$defs/Foo: {said}"


@pytest.mark.parametrize(
    "node",
    [
        {"type": "object", "anyOf": [ref("Bar"), ref("Id")]},
        {"type": "object", "oneOf": [ref("Bar"), {"title": "anything"}]},
        {"type": "object", "allOf": [ref("Id")]},
        obj(x=listed({"type": "object", "anyOf": [ref("Bar"), {"type": "null"}]})),
        {"anyOf": [obj() | {"not": {"type": "object", "anyOf": [TEXT]}}]},
    ],
)
def test_alternatives_of_an_object_that_may_be_something_else_are_refused(node: Node) -> None:
    assert refusal_of(node) == "$defs/Foo: the type object would be lost, because other parts accept other values"


WRONG_TYPES: list[tuple[Node, str]] = [
    ({"type": "text"}, "no rule for the type text"),
    ({"type": ["string", "integer"]}, "a list of types may only add null to a type, not combine string, integer"),
    ({"type": ["null"]}, "a list of types may only add null to a type, not combine null"),
    ({"type": ["string"]}, "a list of types may only add null to a type, not combine string"),
    (TEXT | {"format": "uuid"}, "no rule for the format uuid of type string"),
    ({"type": "integer", "format": "double"}, "no rule for the format double of type integer"),
    ({"format": "uri"}, "format does not apply to values of type any"),
    (TEXT | {"minimum": 1}, "minimum does not apply to values of type string"),
    ({"type": "integer", "minLength": 1}, "minLength does not apply to values of type integer"),
    ({"items": TEXT}, "items does not apply to values of type any"),
    (TEXT | {"properties": {}}, "properties does not apply to values of type string"),
    ({"anyOf": [{"required": ["a"]}]}, "required does not apply to values of type any"),
]


@pytest.mark.parametrize(("node", "said"), WRONG_TYPES)
def test_a_keyword_of_another_type_is_refused(node: Node, said: str) -> None:
    assert refusal_of(node).split(": ", 1)[1] == said


@pytest.mark.parametrize("pattern", ["", "^[A-Z]{3}$", "a|b", "^(?:x1|y2)+$", "a{2,}", "^[^a-z0-9_-]+$", "x?y*?"])
def test_a_pattern_that_means_the_same_in_ecmascript_and_rust_is_accepted(pattern: str) -> None:
    check_vocabulary({"Foo": TEXT | {"pattern": pattern}})


@pytest.mark.parametrize(
    "pattern",
    [
        *(".", r"^\d+$", r"\w", r"\bx", r"\p{L}", r"(a)\1", "é", "(?=a)", "(?i)a", "(?<n>a)"),
        *("[a&&b]", "[a[b]]", "[[:alpha:]]", "[a~~b]", "[]", "[a--b]", "{", "a{,3}", "["),
    ],
)
def test_a_pattern_that_may_mean_something_else_is_refused(pattern: str) -> None:
    assert refusal_of(TEXT | {"pattern": pattern}).startswith(
        f"$defs/Foo: the pattern {pattern} may match other strings"
    )


def test_a_required_field_must_be_a_property() -> None:
    assert refusal_of(obj("x y", x=TEXT)) == "$defs/Foo: y is required, but is not a property here"


@pytest.mark.parametrize("pointer", ["#/$defs/Nobody", "#/$defs/Bar/properties/x", "other.json#/x", "#", "Bar"])
def test_a_reference_must_lead_to_a_definition(pointer: str) -> None:
    assert (
        refusal_of(obj(x={"$ref": pointer})) == f"$defs/Foo/properties/x: {pointer} is not a definition of this schema"
    )


@pytest.mark.parametrize("parts", [[], [ref("Id"), ref("Bar")], [TEXT], [ref("Id") | {"title": "x"}]])
def test_an_all_of_must_be_a_single_reference(parts: list[Node]) -> None:
    said = "no rule for an allOf other than a single reference"

    assert refusal_of({"allOf": parts}) == f"$defs/Foo: {said}"


@pytest.mark.parametrize("value", [True, None, 1.5, {"a": 1}])
def test_a_constant_must_be_a_string_or_among_others_a_whole_number(value: object) -> None:
    constant, enumeration = {"type": "integer", "const": value}, {"type": "integer", "enum": [value]}
    said = f"no rule for the constant {value!r} here, because it is not a string"

    assert refusal_of({"anyOf": [constant]}) == refusal_of({"anyOf": [enumeration]}) == f"$defs/Foo/anyOf/0: {said}"
    assert refusal_of(enumeration) == f"$defs/Foo: {said}"


def test_a_tag_must_be_a_string() -> None:
    said = "$defs/Foo/anyOf/0/properties/type: no rule for the constant 1 here, because it is not a string"

    assert refusal_of({"anyOf": [obj("type", type={"const": 1, "type": "integer"})]}) == said
