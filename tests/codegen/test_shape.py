from typing import Any

import pytest

from codegen.build import PACKAGES
from codegen.checks import check_shape
from codegen.errors import SourceError
from codegen.sources import parse_schema
from codegen.tree import CodegenError
from tests.codegen import publishing
from tests.codegen.small import SCHEMAS, TEXT, listed, obj


def refusal(node: object) -> str:
    """Return the error for *node* as the definition `Foo`."""
    with pytest.raises(CodegenError) as refused:
        check_shape({"$defs": {"Foo": node}})
    return str(refused.value)


@pytest.mark.parametrize("file", PACKAGES)
def test_the_published_schemas_have_the_shape(file: str) -> None:
    assert len(parse_schema(file, (SCHEMAS / file).read_bytes())["$defs"]) > 150


WRONG: list[tuple[str, list[Any], str]] = [
    ("type", [5, None, {}, [1]], "a string or a list of strings"),
    ("properties", [[], None, True], "an object"),
    ("required", [None, "x", True, [1], ["x", 1]], "a list of strings"),
    ("enum", [None, "ab", {}], "a list"),
    ("anyOf", [{"a": TEXT}, None], "a list"),
    ("oneOf", ["a"], "a list"),
    ("allOf", [TEXT], "a list"),
    ("$ref", [5, None], "a string"),
    ("description", [[], None, 5], "a string"),
    ("title", [5], "a string"),
    ("pattern", [5], "a string"),
    ("format", [["uri"]], "a string"),
    ("contentEncoding", [64], "a string"),
    ("x-method", [None, ["a"]], "a string"),
    ("x-side", [None], "a string"),
    ("discriminator", ["type", None], "an object"),
    ("minimum", ["2", True, None, float("nan"), float("inf")], "a number"),
    ("maximum", [[1]], "a number"),
    ("minItems", [-1, 1.0, True, "2"], "a non-negative integer"),
    ("minLength", [None], "a non-negative integer"),
    ("x-deserialize-default-on-error", ["null", 1], "true or false"),
    ("x-deserialize-default-on-null", [None], "true or false"),
    ("x-deserialize-skip-invalid-items", [{}], "true or false"),
    ("x-docs-ignore", ["yes"], "true or false"),
]


@pytest.mark.parametrize(("keyword", "values", "words"), WRONG)
def test_a_keyword_with_an_invalid_value_is_refused(keyword: str, values: list[Any], words: str) -> None:
    for value in values:
        assert refusal({keyword: value}) == f"$defs/Foo: {keyword} is {value!r} instead of {words}"
        assert refusal(obj(x=listed({keyword: value}))) == (
            f"$defs/Foo/properties/x/items: {keyword} is {value!r} instead of {words}"
        )


@pytest.mark.parametrize("value", [False, None, 5, "text", []])
def test_what_is_no_schema_is_refused_wherever_one_belongs(value: object) -> None:
    said = f"no rule for the schema {value!r}"

    assert refusal(value) == f"$defs/Foo: {said}"
    assert refusal(obj(x=value)) == f"$defs/Foo/properties/x: {said}"
    assert refusal({"anyOf": [TEXT, value]}) == f"$defs/Foo/anyOf/1: {said}"
    assert refusal({"items": value}) == f"$defs/Foo/items: {said}"
    assert refusal({"not": value}) == f"$defs/Foo/not: {said}"
    if value is not False:
        assert refusal({"additionalProperties": value}) == f"$defs/Foo/additionalProperties: {said}"


def test_definitions_that_are_none_are_refused() -> None:
    with pytest.raises(CodegenError, match=r"^the schema: \$defs is \[\] instead of an object$"):
        check_shape({"$defs": []})


def test_a_long_value_is_cut() -> None:
    assert refusal({"type": {"x" * 99: 1}}) == (
        "$defs/Foo: type is {'" + "x" * 58 + "… instead of a string or a list of strings"
    )


def test_a_size_may_be_none() -> None:
    check_shape({"$defs": {"Foo": {"type": "array", "minItems": 0}}})


def test_data_is_no_schema() -> None:
    check_shape({"$defs": {"Foo": obj(x={"default": {"type": 5}, "enum": [{"$ref": 1}]})}})


def test_a_source_with_an_invalid_schema_is_refused() -> None:
    data = publishing.schema("1").replace(b'"type": "object"', b'"type": 5')

    with pytest.raises(SourceError, match="type is 5 instead of a string or a list of strings"):
        parse_schema("v1/schema.json", data)
