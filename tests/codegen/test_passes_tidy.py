from codegen.passes.tidy import drop_envelopes, keep_text, open_booleans, open_objects, unwrap_references
from codegen.tree import Definitions
from tests.codegen.small import TEXT, obj, ref


def test_true_becomes_an_empty_schema_everywhere() -> None:
    defs = {
        "Any": True,
        "Foo": {
            "type": "object",
            "properties": {"a": True, "b": {"type": "array", "items": True}, "c": {"default": True}},
            "additionalProperties": True,
        },
        "Bar": {"anyOf": [True, {"not": True}], "oneOf": [True], "allOf": [True]},
    }

    assert open_booleans(defs) == {  # pyright: ignore[reportArgumentType]
        "Any": {},
        "Foo": {
            "type": "object",
            "properties": {"a": {}, "b": {"type": "array", "items": {}}, "c": {"default": True}},
            "additionalProperties": True,
        },
        "Bar": {"anyOf": [{}, {"not": {}}], "oneOf": [{}], "allOf": [{}]},
    }


def test_envelopes_are_left_out() -> None:
    defs = {"AgentRequest": {"x-docs-ignore": True}, "Foo": TEXT, "Bar": TEXT | {"x-docs-ignore": False}}

    assert drop_envelopes(defs) == {"Foo": TEXT, "Bar": TEXT | {"x-docs-ignore": False}}


def test_a_reference_is_unwrapped_where_nothing_is_added_to_its_target() -> None:
    defs = {
        "Alias": {"description": "Another name.", "allOf": [ref("Id")]},
        "Foo": obj("id", id={"allOf": [ref("Id")], "default": "x", "description": "Which."}, ids={"items": ref("Id")}),
        "Typed": {"type": "object", "allOf": [ref("Foo")]},
        "Union": {"anyOf": [obj(x=TEXT) | {"allOf": [ref("Foo")]}, {"allOf": [ref("Foo")], "title": "bare"}]},
        "Id": TEXT,
    }

    assert unwrap_references(defs) == {
        "Alias": {"description": "Another name.", "$ref": "#/$defs/Id"},
        "Foo": obj("id", id=ref("Id") | {"default": "x", "description": "Which."}, ids={"items": ref("Id")}),
        "Typed": ref("Foo"),
        "Union": {"anyOf": [obj(x=TEXT) | {"allOf": [ref("Foo")]}, ref("Foo") | {"title": "bare"}]},
        "Id": TEXT,
    }


def test_text_is_not_parsed_but_numbers_keep_their_format() -> None:
    defs = {
        "Foo": obj(
            uri={"type": "string", "format": "uri", "minLength": 1},
            data={"type": ["string", "null"], "contentEncoding": "base64"},
            size={"type": "integer", "format": "uint32"},
        )
    }

    assert keep_text(defs) == {
        "Foo": obj(
            uri={"type": "string", "minLength": 1},
            data={"type": ["string", "null"]},
            size={"type": "integer", "format": "uint32"},
        )
    }


def test_only_maps_keep_additional_properties() -> None:
    values = {"type": "object", "additionalProperties": TEXT}
    defs: Definitions = {
        "Foo": obj(x=TEXT, map={"type": "object", "additionalProperties": True}, typed=values)
        | {"additionalProperties": True},
        "Union": {
            "oneOf": [obj(x=TEXT), {"type": "object", "not": {}, "additionalProperties": True}],
            "unevaluatedProperties": True,
            "discriminator": {"propertyName": "x"},
        },
    }

    assert open_objects(defs) == {
        "Foo": obj(x=TEXT, map={"type": "object", "additionalProperties": {}}, typed=values),
        "Union": {"oneOf": [obj(x=TEXT), {"type": "object", "not": {}}]},
    }
