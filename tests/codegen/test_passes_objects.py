import pytest

from codegen.passes.objects import META_SHAPE, collapse_optional_tags, hoist_inline_objects, hoist_meta
from codegen.tree import Node, without
from tests.codegen.small import INTEGER, META, NULL, ON_ERROR, TEXT, catch_all, listed, obj, ref, refusal, tagged


class TestInlineObjects:
    def test_an_object_inside_of_a_property_becomes_a_definition(self) -> None:
        inline: Node = obj("x", x=TEXT) | {
            "description": "Where.",
            "default": {},
            "x-deserialize-default-on-error": True,
        }

        assert hoist_inline_objects({"Foo": obj("barBaz", barBaz=inline)}) == {
            "Foo": obj(
                "barBaz",
                barBaz=ref("FooBarBaz")
                | {"x-deserialize-default-on-error": True, "default": {}, "description": "Where."},
            ),
            "FooBarBaz": obj("x", x=TEXT) | {"description": "Where."},
        }

    def test_objects_are_found_in_lists_maps_unions_and_other_inline_objects(self) -> None:
        inner = obj(deep=obj(x=TEXT))
        defs = {
            "Foo": obj(
                list=listed(inner),
                map={"type": "object", "additionalProperties": obj(y=TEXT)},
                maybe={"anyOf": [obj(z=TEXT), {"type": "null"}]},
            )
        }

        assert hoist_inline_objects(defs) == {
            "Foo": obj(
                list=listed(ref("FooList")),
                map={"type": "object", "additionalProperties": ref("FooMap")},
                maybe={"anyOf": [ref("FooMaybe"), {"type": "null"}]},
            ),
            "FooList": obj(deep=ref("FooListDeep")),
            "FooListDeep": obj(x=TEXT),
            "FooMap": obj(y=TEXT),
            "FooMaybe": obj(z=TEXT),
        }

    def test_a_union_of_objects_is_named_as_a_whole(self) -> None:
        union = {"oneOf": [tagged("a", x=TEXT), tagged("b", y=TEXT)]}

        assert hoist_inline_objects({"Foo": obj(bar=union | {"default": {"type": "a"}})}) == {
            "Foo": obj(bar=ref("FooBar") | {"default": {"type": "a"}}),
            "FooBar": union,
        }

    @pytest.mark.parametrize("other", [{"type": "null"}, ref("Bar"), TEXT])
    def test_an_inline_tagged_object_and_its_variants_become_one_definition(self, other: Node) -> None:
        union = {"anyOf": [tagged("a", x=TEXT), other]}

        assert hoist_inline_objects({"Foo": obj(bar=union)}) == {"Foo": obj(bar=ref("FooBar")), "FooBar": union}

    @pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
    def test_objects_are_found_in_the_fields_of_variants(self, keyword: str) -> None:
        assert hoist_inline_objects({"Foo": {keyword: [tagged("a", x=obj(y=TEXT)), tagged("b")]}}) == {
            "Foo": {keyword: [tagged("a", x=ref("FooX")), tagged("b")]},
            "FooX": obj(y=TEXT),
        }

    def test_definitions_and_maps_stay(self) -> None:
        defs = {
            "Foo": obj(bar=ref("Bar"), map={"type": "object", "additionalProperties": {}}),
            "Bar": obj() | {"description": "Empty."},
            "1": {"type": "object", "properties": {"2nd": TEXT}},
        }

        assert hoist_inline_objects(defs) == defs

    def test_the_items_of_a_list_and_the_values_of_a_map_become_definitions(self) -> None:
        union = {"anyOf": [tagged("a"), tagged("b")]}
        defs = {"Foo": listed(listed(union)), "Bar": {"type": "object", "additionalProperties": obj(x=TEXT)}}

        assert hoist_inline_objects(defs) == {
            "Foo": listed(listed(ref("FooItem"))),
            "FooItem": union,
            "Bar": {"type": "object", "additionalProperties": ref("BarValue")},
            "BarValue": obj(x=TEXT),
        }

    def test_a_name_that_is_taken_is_refused(self) -> None:
        said = "FooBar: the name of an inline object is also the name of a definition"

        assert refusal(hoist_inline_objects, {"Foo": obj(bar=obj(x=TEXT)), "FooBar": TEXT}) == said
        twice = {"Foo": {"anyOf": [tagged("a", bar=obj(x=TEXT)), tagged("b", bar=obj(y=TEXT))]}}
        assert refusal(hoist_inline_objects, twice) == said


REASON: Node = {"type": ["string", "null"], "description": "Why."}
LENIENT_REASON: Node = REASON | {"x-deserialize-default-on-error": True}


NULLABLE: Node = {"type": ["string", "null"]}
OWN, OBJECT = {"type": NULLABLE}, obj(x=TEXT)
TYPE, MORE, PAYLOAD = (
    f": no rule for the optional tag type: {why}"
    for why in ("its schema in the object", "a variant has more than the tag", "a payload is not a plain object")
)
IRREGULAR: list[tuple[Node, Node, Node, str]] = [
    *(({"type": own}, tagged("a"), OBJECT, TYPE) for own in (ref("Bar"), TEXT, {}, NULLABLE | {"minLength": 1})),
    ({}, tagged("a"), OBJECT, TYPE),
    *(
        (OWN, arm, OBJECT, MORE)
        for arm in (
            tagged("a", x=TEXT),
            tagged("a") | {"anyOf": [ref("Bar")]},
            ref("Bar"),
            obj(type=TEXT),
            obj("type", type={"const": "a", "type": "string", "default": "a"}),
            without(catch_all("b"), "additionalProperties") | {"allOf": [ref("Bar")]},
            obj(type=NULL, x=TEXT),
        )
    ),
    (OWN, tagged("b"), OBJECT, ": no rule for the optional tag type: two variants have the same value"),
    *(
        (OWN, tagged("a"), payload, PAYLOAD)
        for payload in (
            OBJECT | {"allOf": [ref("Baz")]},
            OBJECT | {"anyOf": [ref("Baz")]},
            obj("x", x=TEXT),
            {"type": "object", "additionalProperties": TEXT},
            ref("Baz"),
        )
    ),
    (
        {"type": NULLABLE | ON_ERROR},
        tagged("a"),
        OBJECT,
        ": no rule for the optional tag type: it is lenient, but has no variant for unknown values",
    ),
    (
        OWN,
        without(catch_all("b", "gone"), "additionalProperties"),
        OBJECT,
        ": its variant for unknown tags must accept every type except the tags of the other variants",
    ),
    *(
        (own, arm, payload, f".{key}: no rule for a field that differs between the variants of type")
        for own, arm, payload, key in (
            (OWN, tagged("a") | {"allOf": [ref("Baz")]}, OBJECT, "x"),
            (OWN | {"x": INTEGER}, tagged("a"), OBJECT, "x"),
            (OWN, obj("type", type={"const": "a"}, x=TEXT) | {"allOf": [ref("Baz")]}, obj(), "x"),
            (OWN, tagged("a"), obj(_meta=META), "_meta"),
        )
    ),
]
"""The fields of the object, a variant, the payload of another, and the beginning of the error."""


class TestOptionalTags:
    def test_a_union_with_an_optional_tag_becomes_one_object(self) -> None:
        union = obj(reason=REASON, id=TEXT) | {
            "anyOf": [
                obj("reason", reason={"const": "done", "type": "string"}) | {"description": "Finished."},
                obj("reason", reason={"const": "failed", "type": "string"}) | {"allOf": [ref("Failed")]},
                obj(reason={"type": "null"}) | {"title": "none"},
            ]
        }
        failed = obj(error=TEXT)

        assert collapse_optional_tags({"Idle": union, "Failed": failed}) == {
            "Idle": obj(
                reason={
                    "description": "Why.",
                    "anyOf": [
                        {
                            "anyOf": [
                                {"const": "done", "type": "string", "description": "Finished."},
                                {"const": "failed", "type": "string"},
                            ]
                        },
                        {"type": "null"},
                    ],
                },
                id=TEXT,
                error=TEXT | {"x-when": {"member": "reason", "values": ["failed"]}},
            ),
            "Failed": failed,
        }

    def test_a_field_common_to_several_or_all_tags_occurs_once(self) -> None:
        note = TEXT | {"description": "A note."}
        union = obj(reason=REASON, _meta=META) | {
            "anyOf": [
                tagged("done", by="reason") | {"allOf": [ref("Done")]},
                tagged("failed", by="reason") | {"allOf": [ref("Failed")]},
                obj(reason={"type": "null"}),
            ]
        }
        payloads = {"Done": obj(note=note), "Failed": obj(note=TEXT, _meta=META | {"description": "Anything."})}

        members = collapse_optional_tags({"Idle": union, **payloads})["Idle"]["properties"]

        assert [*members] == ["reason", "_meta", "note"]
        assert members["_meta"] == META
        assert members["note"] == note | {"x-when": {"member": "reason", "values": ["done", "failed"]}}

    def test_an_open_optional_tag_stays_open(self) -> None:
        union = obj(reason=LENIENT_REASON | {"default": "done"}) | {
            "anyOf": [
                obj("reason", reason={"const": "done", "type": "string"}),
                obj("reason", reason=TEXT) | {"not": {"anyOf": [tagged("done", by="reason")]}},
                obj(reason={"type": "null"}),
            ]
        }

        collapsed = collapse_optional_tags({"Idle": union})

        known = {"anyOf": [{"const": "done", "type": "string"}, {"title": "other", "type": "string"}]}
        assert collapsed == {
            "Idle": obj(
                reason={
                    "description": "Why.",
                    "default": "done",
                    "x-deserialize-default-on-error": True,
                    "anyOf": [known, {"type": "null"}],
                }
            )
        }

    def test_other_definitions_stay(self) -> None:
        defs = {
            "Foo": {"anyOf": [tagged("a"), tagged("b")]},
            "Bar": {"anyOf": [TEXT, {"type": "null"}]},
            "Null": {"anyOf": [tagged("a"), obj("type", type={"type": "null"})]},
            "Two": {"anyOf": [tagged("a"), obj(type={"type": "null"}, x={"type": "null"})]},
            "Id": TEXT,
        }

        assert collapse_optional_tags(defs) == defs

    @pytest.mark.parametrize(("own", "arm", "payload", "said"), IRREGULAR)
    def test_an_irregular_optional_tag_is_refused(self, own: Node, arm: Node, payload: Node, said: str) -> None:
        arms = [tagged("b") | {"allOf": [ref("Bar")]}, arm, obj(type=NULL)]
        defs = {"Foo": {"type": "object", "properties": own, "anyOf": arms}, "Bar": payload, "Baz": obj(x=INTEGER)}

        assert refusal(collapse_optional_tags, defs).startswith(f"Foo{said}")


class TestMeta:
    def test_meta_moves_to_the_base_class(self) -> None:
        meta = META_SHAPE | {"description": "Anything."}
        defs = {
            "Foo": obj("x", x=TEXT, _meta=meta),
            "Union": {"anyOf": [tagged("a") | {"properties": {"_meta": meta}}, obj(x=TEXT)]},
            "Bar": obj(x=TEXT),
        }

        assert hoist_meta(defs) == {
            "Foo": obj("x", x=TEXT) | {"x-extensible": True},
            "Union": {"anyOf": [tagged("a") | {"properties": {}, "x-extensible": True}, obj(x=TEXT)]},
            "Bar": obj(x=TEXT),
        }

    @pytest.mark.parametrize(
        ("required", "meta"), [("", without(META_SHAPE, "x-deserialize-default-on-error")), ("_meta", META_SHAPE)]
    )
    def test_a_different_meta_overrides_that_of_the_base_class(self, required: str, meta: Node) -> None:
        assert hoist_meta({"Foo": obj(required, _meta=meta)}) == {
            "Foo": obj(required, _meta=meta) | {"x-extensible": True}
        }
