import pytest

from codegen.passes.objects import META_SHAPE, collapse_optional_tags, hoist_inline_objects, hoist_meta
from codegen.tree import CodegenError, Definitions, Node, without
from tests.codegen.small import META, TEXT, Pass, catch_all, listed, obj, ref, tagged


def refusal(run: Pass, defs: Definitions) -> str:
    with pytest.raises(CodegenError) as refused:
        run(defs)
    return str(refused.value)


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

    def test_the_condition_of_a_field_stays_on_the_field(self) -> None:
        when: Node = {"x-when": {"member": "reason", "values": ["a"]}}

        assert hoist_inline_objects({"Foo": obj(bar=obj(x=TEXT) | when)}) == {
            "Foo": obj(bar=ref("FooBar") | when),
            "FooBar": obj(x=TEXT),
        }

    def test_a_name_that_is_taken_is_refused(self) -> None:
        said = "FooBar: the name of an inline object is also the name of a definition"

        assert refusal(hoist_inline_objects, {"Foo": obj(bar=obj(x=TEXT)), "FooBar": TEXT}) == said
        twice = {"Foo": {"anyOf": [tagged("a", bar=obj(x=TEXT)), tagged("b", bar=obj(y=TEXT))]}}
        assert refusal(hoist_inline_objects, twice) == said

    def test_a_field_that_cannot_name_a_definition_is_refused(self) -> None:
        defs = {"Foo": {"type": "object", "properties": {"日": obj(x=TEXT)}}}

        assert refusal(hoist_inline_objects, defs) == "Foo: '日' cannot become the name of a class"


REASON: Node = {"type": ["string", "null"], "description": "Why."}
LENIENT_REASON: Node = REASON | {"x-deserialize-default-on-error": True}


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

    def test_a_tag_without_a_rule_of_its_own_is_refused(self) -> None:
        union = {"anyOf": [tagged("a"), obj(type={"type": "null"})]}

        said = "Foo: the optional tag type is missing in the properties of the object"
        assert refusal(collapse_optional_tags, {"Foo": union}) == said

    def test_a_payload_that_requires_something_is_refused(self) -> None:
        arms = [tagged("a") | {"allOf": [ref("Bar")]}, obj(type={"type": "null"})]
        union = obj(type={"type": ["string", "null"]}) | {"anyOf": arms}

        said = "Foo: the payload Bar of an optional tag has required fields"
        assert refusal(collapse_optional_tags, {"Foo": union, "Bar": obj("x", x=TEXT)}) == said

    @pytest.mark.parametrize(
        "payload",
        [
            obj(x=TEXT) | {"allOf": [ref("Base")]},
            obj(x=TEXT) | {"anyOf": [ref("Base")]},
            {"type": "object", "additionalProperties": TEXT},
            {"anyOf": [ref("Base"), {"type": "null"}]},
            ref("Base"),
            listed(TEXT),
            TEXT,
            {},
        ],
    )
    def test_a_payload_that_is_not_just_an_object_is_refused(self, payload: Node) -> None:
        arms = [tagged("a") | {"allOf": [ref("Bar")]}, obj(type={"type": "null"})]
        union = obj(type={"type": ["string", "null"]}) | {"anyOf": arms}

        said = "Foo: the payload Bar of an optional tag is not a plain object"
        assert refusal(collapse_optional_tags, {"Foo": union, "Bar": payload, "Base": obj(y=TEXT)}) == said

    @pytest.mark.parametrize(
        "arm",
        [
            tagged("a", x=TEXT),
            tagged("a") | {"anyOf": [ref("Bar")]},
            ref("Bar"),
            obj("type", type={"const": "a", "type": "string", "default": "a"}),
            without(catch_all("b"), "additionalProperties") | {"allOf": [ref("Bar")]},
            obj(type={"type": "null"}, x=TEXT),
        ],
        ids=["required member", "union", "reference", "more of the tag", "catch-all with a payload", "null and more"],
    )
    def test_a_variant_with_more_than_the_tag_is_refused(self, arm: Node) -> None:
        union = obj(type={"type": ["string", "null"]}) | {"anyOf": [tagged("b"), arm, obj(type={"type": "null"})]}

        said = "Foo: no rule for a variant of the optional tag type with more than the tag"
        assert refusal(collapse_optional_tags, {"Foo": union, "Bar": obj(x=TEXT)}) == said

    def test_fields_that_two_places_describe_differently_are_refused(self) -> None:
        def union(arm: Node, **members: Node) -> Definitions:
            arms = [arm, tagged("b") | {"allOf": [ref("Bar")]}, obj(type={"type": "null"})]
            return {"Foo": obj(type={"type": ["string", "null"]}, **members) | {"anyOf": arms}, **payloads}

        payloads = {"Bar": obj(x=TEXT), "Baz": obj(x={"type": "integer"})}
        with_baz = tagged("a") | {"allOf": [ref("Baz")]}
        beside_baz = with_baz | {"properties": {"type": {"const": "a", "type": "string"}, "x": TEXT}}

        said = "Foo.x: differs between b and another variant of type"
        assert refusal(collapse_optional_tags, union(with_baz)) == said
        said = "Foo.x: differs between the object and its variant b"
        assert refusal(collapse_optional_tags, union(tagged("a"), x={"type": "integer"})) == said
        said = "Foo.x: differs between a variant and its payload Baz"
        assert refusal(collapse_optional_tags, union(beside_baz)) == said

    @pytest.mark.parametrize("own", [ref("Why"), TEXT, {}, {"type": ["string", "null"], "minLength": 1}])
    def test_an_optional_tag_other_than_string_or_null_is_refused(self, own: Node) -> None:
        union = obj(type=own) | {"anyOf": [tagged("a"), obj(type={"type": "null"})]}

        said = "Foo.type: no rule for an optional tag that is not a string or null in the object"
        assert refusal(collapse_optional_tags, {"Foo": union, "Why": {"type": ["string", "null"]}}) == said

    def test_a_catch_all_that_excludes_another_tag_is_refused(self) -> None:
        arms = [tagged("a"), without(catch_all("a", "gone"), "additionalProperties"), obj(type={"type": "null"})]
        union = obj(type={"type": ["string", "null"]}) | {"anyOf": arms}

        said = "Foo: its variant for unknown tags must accept every type except the tags of the other variants"
        assert refusal(collapse_optional_tags, {"Foo": union}) == said

    def test_a_repeated_tag_is_refused(self) -> None:
        arms = [tagged("a"), tagged("a") | {"allOf": [ref("Bar")]}, obj(type={"type": "null"})]
        union = obj(type={"type": ["string", "null"]}) | {"anyOf": arms}

        said = "Foo: two variants have the tag a"
        assert refusal(collapse_optional_tags, {"Foo": union, "Bar": obj(x=TEXT)}) == said


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
