import re
from typing import Any

import pytest

from codegen.compare import Change, compare, render
from codegen.sources import FILES, lock
from tests.codegen.test_sources import SCHEMAS

Schema = dict[str, Any]


def changes(old: Schema | bool, new: Schema | bool) -> list[tuple[str, str, str, bool]]:
    """Compare two versions of a definition `Foo`."""
    found = compare({"$defs": {"Foo": old}}, {"$defs": {"Foo": new}})
    return [(change.kind, change.where, change.what, change.breaking) for change in found]


def properties(required: list[str] | None = None, **schemas: Schema | bool) -> Schema:
    return {"type": "object", "properties": schemas, "required": required or []}


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def variant(tag: str, *, base: str | None = None) -> Schema:
    bases = {"allOf": [ref(base)]} if base else {}
    return {"type": "object", "properties": {"type": {"type": "string", "const": tag}}, "required": ["type"], **bases}


def other(*known: str) -> Schema:
    excluded = {"not": {"anyOf": [variant(tag) for tag in known]}}
    return {"title": "other", "type": "object", "properties": {"type": {"type": "string"}}, **excluded}


STRING: Schema = {"type": "string"}
NULLABLE: Schema = {"type": ["string", "null"]}
INTEGER: Schema = {"type": "integer"}
NULL: Schema = {"type": "null"}
LIST: Schema = {"type": "array", "items": STRING}
MAP: Schema = {"type": "object", "additionalProperties": STRING}
ON_ERROR: Schema = {"x-deserialize-default-on-error": True}
ENUM: Schema = {"type": "string", "enum": ["a", "b"]}
CONSTANTS: list[Schema] = [{"type": "string", "const": "a"}, {"type": "string", "const": "b"}]


class TestDefinitionsAndMethods:
    def test_equal_schemas_have_no_differences(self) -> None:
        for schema in lock.load_schemas(SCHEMAS).values():
            assert compare(schema, schema) == []

    def test_the_order_of_keywords_and_properties_has_no_meaning(self) -> None:
        old = {"minimum": 1, **properties(a=STRING, b={"type": "string", "default": {"x": 1, "y": 2}})}
        new = {**properties(b={"default": {"y": 2, "x": 1}, "type": "string"}, a=STRING), "minimum": 1}

        assert changes(old, new) == changes(new, old) == []

    def test_definitions_come_and_go(self) -> None:
        found = compare({"$defs": {"Old": STRING, "Same": STRING}}, {"$defs": {"New": STRING, "Same": STRING}})

        assert found == [
            Change(kind="definition", where="New", what="added", breaking=False),
            Change(kind="definition", where="Old", what="removed", breaking=True),
        ]

    def test_envelopes_are_left_out(self) -> None:
        assert compare({"$defs": {"Envelope": {"x-docs-ignore": True}}}, {"$defs": {}}) == []

    def test_methods_come_and_go(self) -> None:
        old = {"A": {"x-side": "agent", "x-method": "a"}, "B": {"x-side": "client", "x-method": "b"}}
        new = {"A": {"x-side": "agent", "x-method": "a2"}, "B": {"x-side": "client", "x-method": "b"}}

        assert compare({"$defs": old}, {"$defs": new}) == [
            Change(kind="method", where="a", what="method removed", breaking=True),
            Change(kind="method", where="a2", what="method added, handled by the agent (`A`)", breaking=False),
        ]

    @pytest.mark.parametrize(
        ("old", "new", "what", "breaking"),
        [
            ({"A": "agent"}, {"A": "client"}, "`A` on the agent became `A` on the client", True),
            ({"A": "both"}, {"A": "agent"}, "`A` on both sides became `A` on the agent", True),
            ({"A": "agent"}, {"A": "agent", "B": "agent"}, "`A` on the agent became `A`, `B` on the agent", False),
            ({"A": "agent", "B": "agent"}, {"A": "agent"}, "`A`, `B` on the agent became `A` on the agent", True),
        ],
    )
    def test_a_method_changes_its_side_or_its_types(
        self, old: dict[str, str], new: dict[str, str], what: str, breaking: bool
    ) -> None:
        before = {name: {"x-side": old[name], "x-method": "m"} if name in old else {} for name in "AB"}
        after = {name: {"x-side": new[name], "x-method": "m"} if name in new else {} for name in "AB"}

        assert compare({"$defs": before}, {"$defs": after}) == [
            Change(kind="method", where="m", what=f"method: {what}", breaking=breaking)
        ]

    def test_what_is_new_to_a_method_may_go_the_other_way_while_nothing_moves(self) -> None:
        old = {"Request": {"x-side": "agent", "x-method": "m"}}
        new = {**old, "ANotification": {"x-side": "client", "x-method": "m"}}
        both = "`Request` on the agent and `ANotification` on the client"

        assert compare({"$defs": {**old, "ANotification": {}}}, {"$defs": new}) == [
            Change(kind="method", where="m", what=f"method: `Request` on the agent became {both}", breaking=False)
        ]
        assert compare({"$defs": {}}, {"$defs": new})[0].what == (
            "method added, handled by the agent (`Request`) and by the client (`ANotification`)"
        )


class TestProperties:
    def test_a_new_one_breaks_only_when_it_is_required(self) -> None:
        assert changes(properties(), properties(["b"], a=NULLABLE, b={"type": "array", "items": ref("Bar")})) == [
            ("property", "Foo.a", "added, optional (`string | null`)", False),
            ("property", "Foo.b", "added, required (`array of Bar`)", True),
        ]

    def test_a_removed_one_breaks(self) -> None:
        assert changes(properties(a=STRING), properties()) == [("property", "Foo.a", "removed", True)]

    def test_one_that_becomes_required_breaks(self) -> None:
        assert changes(properties(a=STRING), properties(["a"], a=STRING)) == [
            ("property", "Foo.a", "is now required", True)
        ]

    @pytest.mark.parametrize(
        ("schema", "breaking"),
        [
            (STRING, True),
            (NULLABLE, False),
            ({"type": "string", "default": ""}, False),
            (LIST, False),
            (MAP, False),
            ({**MAP, **ON_ERROR}, True),
            ({}, False),
            (ref("Perhaps"), False),
            (ref("Thing"), True),
        ],
    )
    def test_one_no_longer_required_breaks_when_it_may_newly_read_as_none(self, schema: Schema, breaking: bool) -> None:
        others = {"Perhaps": {"anyOf": [ref("Thing"), NULL]}, "Thing": properties(b=STRING)}
        old, new = ({"$defs": {"Foo": properties(each, a=schema), **others}} for each in (["a"], []))

        assert compare(old, new) == [
            Change(kind="property", where="Foo.a", what="is no longer required", breaking=breaking)
        ]

    def test_a_requirement_on_a_property_described_elsewhere_counts(self) -> None:
        assert changes({"required": ["a"]}, {"required": ["b"]}) == [
            ("property", "Foo.a", "is no longer required", False),
            ("property", "Foo.b", "is now required", True),
        ]


class TestTypes:
    @pytest.mark.parametrize(
        ("old", "new", "what"),
        [
            (STRING, INTEGER, "from `string` to `integer`"),
            (NULLABLE, STRING, "from `string | null` to `string`"),
            (ref("A"), {"anyOf": [ref("A"), {"type": "null"}]}, "from `A` to `A | null`"),
            ({"allOf": [ref("A")]}, {"allOf": [ref("B")]}, "from `A` to `B`"),
            (
                {"anyOf": [ref("A"), {"type": "null"}]},
                {"anyOf": [ref("B"), {"type": "null"}]},
                "from `A | null` to `B | null`",
            ),
            (STRING, {"enum": ["a"]}, 'from `string` to `"a"`'),
            (True, STRING, "from `any` to `string`"),
            ({"type": "array", "items": STRING}, STRING, "from `array of string` to `string`"),
        ],
    )
    def test_another_type_of_a_required_property_breaks(
        self, old: Schema | bool, new: Schema | bool, what: str
    ) -> None:
        assert changes(properties(["a"], a=old), properties(["a"], a=new)) == [
            ("type", "Foo.a", f"type changed {what}", True)
        ]

    def test_null_is_harmless_where_the_property_could_be_absent(self) -> None:
        assert changes(properties(a=STRING), properties(a=NULLABLE)) == [
            ("type", "Foo.a", "type changed from `string` to `string | null`", False)
        ]
        assert changes(properties(a=NULLABLE), properties(a=STRING))[0][-1] is True
        assert (
            changes(properties(a={**STRING, "default": ""}), properties(a={**NULLABLE, "default": ""}))[0][-1] is True
        )

    @pytest.mark.parametrize(
        ("keywords", "breaking"), [(LIST, True), (MAP, True), ({**MAP, **ON_ERROR}, False), (ref("A"), False)]
    )
    def test_null_breaks_where_the_omitted_property_was_empty(self, keywords: Schema, breaking: bool) -> None:
        values = {key: value for key, value in keywords.items() if not key.startswith("x-")}
        nullable = {**keywords, "type": [keywords["type"], "null"]} if "type" in keywords else {"anyOf": [values, NULL]}

        assert [(kind, each) for kind, _, _, each in changes(properties(a=keywords), properties(a=nullable))] == [
            ("type", breaking)
        ]

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ({"type": ["array", "null"], "items": ref("A")}, {"anyOf": [{"type": "array", "items": ref("A")}, NULL]}),
            ({"type": ["integer", "null"], "minimum": 0}, {"oneOf": [NULL, {"type": "integer", "minimum": 0}]}),
            ({"anyOf": [ENUM, NULL]}, {"anyOf": [*CONSTANTS, NULL]}),
            ({"type": ["string", "null"], "enum": ["a", "b", None]}, {"anyOf": [*CONSTANTS, NULL]}),
            ({**MAP, "additionalProperties": True}, {**MAP, "additionalProperties": {}}),
            ({"type": "array"}, {"type": "array", "items": True}),
            ({"type": "object", "oneOf": [variant("a"), variant("b")]}, {"anyOf": [variant("b"), variant("a")]}),
            ({"enum": ["a"]}, {"anyOf": [{"const": "a"}]}),
            ({"type": "array", "minItems": 0}, {"type": "array"}),
            ({**STRING, "x-deserialize-default-on-error": False}, STRING),
        ],
    )
    def test_another_spelling_is_no_difference(self, one: Schema, other: Schema) -> None:
        assert changes(properties(a=one), properties(a=other)) == []
        assert changes(properties(a=other), properties(a=one)) == []

    def test_what_differs_besides_the_spelling_is_told(self) -> None:
        number = {"type": "integer", "format": "uint16", "minimum": 0}
        old, new = {**number, "type": ["integer", "null"], "format": "uint64"}, {"anyOf": [number, NULL]}
        long = {"anyOf": [{**STRING, "minLength": 5}]}

        assert changes(properties(a=old), properties(a=new)) == [
            ("rule", "Foo.a", '`format: "uint64"` became `format: "uint16"`', True)
        ]
        assert changes(properties(a=STRING), properties(a=long)) == [("rule", "Foo.a", "`minLength: 5` added", True)]

    def test_of_another_type_only_the_type_is_told(self) -> None:
        assert changes(properties(a={**INTEGER, "format": "int64"}), properties(a=MAP)) == [
            ("type", "Foo.a", "type changed from `integer` to `object`", True)
        ]
        assert changes(STRING, False) == [("type", "Foo", "type changed from `string` to `nothing`", True)]

    def test_items_and_members_of_any_type_are_compared_too(self) -> None:
        assert changes({"type": "array"}, LIST) == [("type", "Foo[]", "type changed from `any` to `string`", True)]
        assert changes(
            properties(a={"type": "array", "items": LIST}), properties(a={"type": "array", "items": {}})
        ) == [("type", "Foo.a[]", "type changed from `array of string` to `any`", True)]
        assert changes(MAP, {**MAP, "additionalProperties": True}) == [
            ("type", "Foo{}", "type changed from `string` to `any`", True)
        ]

    def test_items_and_members_are_compared(self) -> None:
        assert changes({"type": "array", "items": STRING}, {"type": "array", "items": INTEGER}) == [
            ("type", "Foo[]", "type changed from `string` to `integer`", True)
        ]
        old, new = (
            {"type": "object", "additionalProperties": STRING},
            {"type": "object", "additionalProperties": INTEGER},
        )
        assert changes(old, new) == [("type", "Foo{}", "type changed from `string` to `integer`", True)]

    def test_a_wrapped_reference_is_the_reference(self) -> None:
        assert changes(properties(a=ref("A")), properties(a={"allOf": [ref("A")]})) == []
        assert changes(True, {}) == []

    def test_another_base_breaks(self) -> None:
        old, new = (
            {**properties(a=STRING), "allOf": [ref("A")]},
            {**properties(a=STRING), "allOf": [ref("A"), ref("B")]},
        )

        assert changes(old, new) == [("type", "Foo", "based on `A`, `B` instead of `A`", True)]


class TestVariantsAndValues:
    def test_a_new_variant_does_not_break_and_a_removed_one_does(self) -> None:
        old = {"oneOf": [variant("a", base="A"), variant("b"), other("a", "b")]}
        new = {"oneOf": [variant("a", base="A"), variant("c"), other("a", "c")]}

        assert changes(old, new) == [
            ("variant", "Foo", 'variant `type: "b"` removed', True),
            ("variant", "Foo", 'variant `type: "c"` added', False),
        ]

    def test_a_variant_is_compared_with_itself_wherever_it_stands(self) -> None:
        old = {"oneOf": [variant("a", base="A"), variant("b")]}
        new = {"oneOf": [variant("b"), variant("a", base="B")]}

        assert changes(old, new) == [("type", 'Foo<type: "a">', "based on `B` instead of `A`", True)]

    def test_a_catch_all_that_excludes_something_else_is_a_change_of_its_own(self) -> None:
        found = changes({"oneOf": [variant("a"), other("a")]}, {"oneOf": [variant("a"), other("b")]})

        assert [(kind, where, breaking) for kind, where, _, breaking in found] == [("rule", "Foo<other>", True)]

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ({"enum": ["a", "b"]}, {"enum": ["a", "c"]}),
            ({"oneOf": [{"const": "a"}, {"const": "b"}]}, {"oneOf": [{"const": "a"}, {"const": "c"}]}),
            ({"enum": ["a", "b"]}, {"oneOf": [{"const": "a"}, {"const": "c"}]}),
            ({"anyOf": [{"const": "a"}, {"const": "b"}, STRING]}, {"anyOf": [{"const": "a"}, {"const": "c"}, STRING]}),
        ],
    )
    def test_values_come_and_go(self, old: Schema, new: Schema) -> None:
        assert changes(old, new) == [
            ("value", "Foo", 'value `"b"` removed', True),
            ("value", "Foo", 'value `"c"` added', False),
        ]

    @pytest.mark.parametrize("closed", [ENUM, {"anyOf": CONSTANTS}])
    @pytest.mark.parametrize("more", [[], [NULL]])
    def test_an_enumeration_may_leave_open_what_is_still_to_come(self, closed: Schema, more: list[Schema]) -> None:
        old, new = {"anyOf": [closed, *more]}, {"anyOf": [*CONSTANTS, STRING, *more]}

        assert changes(old, new) == [("variant", "Foo", "variant `string` added", False)]
        assert changes(new, old) == [("variant", "Foo", "variant `string` removed", True)]
        assert changes(old, {"anyOf": [*CONSTANTS, INTEGER, *more]})[0][-1] is True

    def test_an_enumeration_of_one_value_grows_also_where_it_may_be_null(self) -> None:
        one, two = ({"anyOf": [*CONSTANTS[:count], NULL]} for count in (1, 2))

        assert changes(one, two) == [("value", "Foo", 'value `"b"` added', False)]
        assert changes(two, one) == [("value", "Foo", 'value `"b"` removed', True)]

    def test_a_union_may_grow_where_it_may_be_null_and_what_was_no_union_is_another_type(self) -> None:
        assert changes({"anyOf": [ref("A"), ref("B"), NULL]}, {"anyOf": [ref("A"), ref("B"), ref("C"), NULL]}) == [
            ("variant", "Foo", "variant `C` added", False)
        ]
        assert changes({"anyOf": [ref("A"), NULL]}, {"anyOf": [ref("A"), ref("B"), NULL]}) == [
            ("type", "Foo", "type changed from `A | null` to `A | B | null`", True)
        ]
        old, new = {"anyOf": [ref("A"), ref("B")]}, {"anyOf": [ref("A"), ref("B"), ref("C"), NULL]}
        assert changes(properties(a=old), properties(a=new))[0][-1] is False
        assert changes(properties(["a"], a=old), properties(["a"], a=new))[0][-1] is True

    @pytest.mark.parametrize(
        ("one", "two"),
        [
            (ref("Foo"), ref("Bar")),
            (ref("Foo"), {}),
            (ref("Either"), ref("Bar")),
            ({"type": "array"}, {"type": "array", "items": MAP}),
        ],
    )
    def test_what_fits_two_variants_is_refused_or_read_as_the_first(self, one: Schema, two: Schema) -> None:
        def compared(old: Schema, new: Schema) -> list[tuple[str, bool]]:
            others = {"Foo": properties(a=STRING), "Bar": properties(b=STRING)}
            others["Either"] = {"anyOf": [ref("Bar"), STRING]}
            before, after = ({"$defs": {**others, "Union": properties(a=each)}} for each in (old, new))
            return [(change.what, change.breaking) for change in compare(before, after)]

        old = {"anyOf": [one, two, NULL]}

        assert compared(old, {"anyOf": [NULL, one, two]}) == []
        ((what, breaking),) = compared(old, {"anyOf": [two, one, NULL]})
        assert (re.sub("`[^`]*`", "…", what), breaking) == ("what fits both … and … now reads as …", True)
        exclusive = {"oneOf": [one, two, NULL]}
        assert compared(old, exclusive) == [("`anyOf` became `oneOf`, for what fits several variants", True)]
        assert compared(exclusive, old) == [("`oneOf` became `anyOf`, for what fits several variants", False)]

    @pytest.mark.parametrize(
        "variants",
        [
            [variant("a"), variant("b"), other("a", "b")],
            [ref("Tagged"), {"allOf": [ref("Foo")], **variant("b")}, NULL],
            [STRING, INTEGER, {"type": "array"}, ref("Foo")],
            CONSTANTS,
        ],
    )
    def test_where_no_value_fits_two_variants_neither_the_keyword_nor_their_order_matters(
        self, variants: list[Schema]
    ) -> None:
        others = {"Foo": properties(a=STRING), "Tagged": variant("a")}
        schemas = [{"anyOf": variants}, {"oneOf": variants}, {"anyOf": variants[::-1]}, {"oneOf": variants[::-1]}]
        documents = [{"$defs": {**others, "Union": schema}} for schema in schemas]

        assert [compare(documents[0], each) for each in documents] == [[], [], [], []]

    def test_the_order_decides_neither_where_a_tag_does_nor_for_text_and_numbers(self) -> None:
        for one, two in ((variant("a"), properties(b=STRING)), (CONSTANTS[0], STRING), (INTEGER, {"type": "number"})):
            assert changes({"anyOf": [one, two]}, {"anyOf": [two, one]}) == []
            said = ("rule", "Foo", "`anyOf` became `oneOf`, for what fits several variants", True)
            assert changes({"anyOf": [one, two]}, {"oneOf": [one, two]}) == [said]

    def test_an_enumeration_written_another_way_is_the_same(self) -> None:
        assert changes({"enum": ["a", 1]}, {"oneOf": [{"const": 1}, {"const": "a"}]}) == []

    def test_another_constant_is_another_type(self) -> None:
        assert changes({"const": "a"}, {"const": "b"}) == [("type", "Foo", 'type changed from `"a"` to `"b"`', True)]


class TestRules:
    @pytest.mark.parametrize("keyword", ["default-on-error", "default-on-null", "skip-invalid-items"])
    def test_reading_becomes_lenient_or_strict(self, keyword: str) -> None:
        rule = f"x-deserialize-{keyword}"
        lenient = properties(a={**STRING, rule: True})

        assert changes(properties(a=STRING), lenient) == [("reading", "Foo.a", f"`{rule}: true` added", False)]
        assert changes(lenient, properties(a=STRING)) == [("reading", "Foo.a", f"`{rule}: true` removed", True)]
        assert changes(lenient, properties(a={**STRING, rule: False}))[0][-1] is True

    @pytest.mark.parametrize(
        ("old", "new", "what", "breaking"),
        [
            ({}, {"default": None}, "`default: null` added", False),
            ({"default": 0}, {"default": False}, "`default: 0` became `default: false`", True),
            ({"default": {}}, {}, "`default: {}` removed", True),
            ({"default": "x" * 80}, {}, "`default` removed", True),
        ],
    )
    def test_defaults_change(self, old: Schema, new: Schema, what: str, breaking: bool) -> None:
        assert changes(properties(a={**STRING, **old}), properties(a={**STRING, **new})) == [
            ("default", "Foo.a", what, breaking)
        ]

    @pytest.mark.parametrize(
        ("schema", "default"), [(NULLABLE, None), (LIST, []), ({**LIST, **ON_ERROR}, []), (MAP, {}), ({}, None)]
    )
    def test_a_default_that_says_what_an_omitted_member_reads_as_anyway_is_none(
        self, schema: Schema, default: object
    ) -> None:
        said = {**schema, "default": default}

        assert (
            changes(properties(a=said), properties(a=schema)) == changes(properties(a=schema), properties(a=said)) == []
        )

    def test_a_default_breaks_where_none_has_said_that_the_member_is_omitted(self) -> None:
        flag = {"type": "boolean"}
        said = ("default", "Foo.a", "`default: false` added")

        assert changes(properties(a=flag), properties(a={**flag, "default": False})) == [(*said, True)]
        nullable = {"type": ["boolean", "null"]}
        assert changes(properties(a=nullable), properties(a={**nullable, "default": False})) == [(*said, False)]
        assert changes(properties(["a"], a=flag), properties(a={**flag, "default": False})) == [
            ("property", "Foo.a", "is no longer required", False),
            (*said, False),
        ]

    def test_leniency_breaks_where_the_omitted_map_was_empty_and_is_none_now(self) -> None:
        said = ("reading", "Foo.a", "`x-deserialize-default-on-error: true` added")

        assert changes(properties(a=MAP), properties(a={**MAP, **ON_ERROR})) == [(*said, True)]
        assert changes(properties(a=LIST), properties(a={**LIST, **ON_ERROR})) == [(*said, False)]

    def test_an_empty_map_is_another_default_where_a_bad_value_reads_as_none(self) -> None:
        lenient = {**MAP, **ON_ERROR}

        assert changes(properties(a={**lenient, "default": {}}), properties(a=lenient)) == [
            ("default", "Foo.a", "`default: {}` removed", True)
        ]

    @pytest.mark.parametrize(
        ("old", "new", "what", "breaking"),
        [
            ({}, {"minimum": 1}, "`minimum: 1` added", True),
            ({"minimum": 0}, {"minimum": 1}, "`minimum: 0` became `minimum: 1`", True),
            ({"minimum": 0}, {}, "`minimum: 0` removed", False),
            ({"minimum": 1}, {"minimum": 0}, "`minimum: 1` became `minimum: 0`", False),
            ({"maximum": 9}, {"maximum": 8}, "`maximum: 9` became `maximum: 8`", True),
            ({"maximum": 9}, {"maximum": 10}, "`maximum: 9` became `maximum: 10`", False),
            ({"format": "uint32"}, {"format": "uint32", "minimum": 0}, "`minimum: 0` added", False),
            ({"format": "int32"}, {"format": "int64"}, '`format: "int32"` became `format: "int64"`', False),
            ({"format": "uint32"}, {"format": "uint64"}, '`format: "uint32"` became `format: "uint64"`', False),
            ({"format": "int64"}, {"format": "uint64"}, '`format: "int64"` became `format: "uint64"`', True),
            ({"minimum": 0}, {"minimum": 0, "format": "uint64"}, '`format: "uint64"` added', True),
            ({"format": "uri"}, {"format": "date-time"}, '`format: "uri"` became `format: "date-time"`', True),
            ({"minLength": 2}, {"minLength": 1}, "`minLength: 2` became `minLength: 1`", False),
            ({"minItems": 1}, {"minItems": 2}, "`minItems: 1` became `minItems: 2`", True),
            ({}, {"x-new-rule": 1}, "`x-new-rule: 1` added", True),
            ({}, {"deprecated": True}, "`deprecated: true` added", False),
            ({}, {"additionalProperties": False}, "`additionalProperties: true` became `false`", True),
            ({"additionalProperties": False}, {}, "`additionalProperties: false` became `true`", False),
        ],
    )
    def test_limits_change(self, old: Schema, new: Schema, what: str, breaking: bool) -> None:
        assert changes({**INTEGER, **old}, {**INTEGER, **new}) == [("rule", "Foo", what, breaking)]

    def test_extra_members_allowed_in_so_many_words_are_no_change(self) -> None:
        assert changes(properties(), {**properties(), "additionalProperties": True}) == []


class TestRendering:
    def test_breaking_changes_come_first_and_descriptions_are_counted(self) -> None:
        old = {
            "Gone": STRING,
            "Foo": {**properties(a=STRING, b=STRING), "description": "old"},
            "Bar": {**STRING, "title": "old"},
        }
        new = {
            "New": STRING,
            "Newer": STRING,
            "Foo": {**properties(a=STRING, c=STRING), "description": "new"},
            "Bar": {**STRING, "title": "new"},
        }

        assert render(compare({"$defs": old}, {"$defs": new})) == [
            "- **Breaking:** definitions removed: `Gone`",
            "- **Breaking:** `Foo.b` removed",
            "- definitions added: `New`, `Newer`",
            "- `Foo.c` added, optional (`string`)",
            "- 2 descriptions changed",
        ]

    def test_moves_to_another_module_are_told_in_one_line(self) -> None:
        moves = [Change(kind="module", where=name, what="moved", breaking=False) for name in ("Foo", "Bar")]

        assert render(moves) == ["- in another module, which importing from the package does not show: `Foo`, `Bar`"]

    def test_no_change_is_said(self) -> None:
        assert render([]) == ["- No change in meaning"]


class TestPublishedSchemas:
    @pytest.mark.parametrize("file", ["v1/schema.unstable.json", "v2/schema.unstable.json"])
    def test_a_request_that_the_other_side_comes_to_handle_breaks_also_beside_a_notification(self, file: str) -> None:
        old = lock.load_schemas(SCHEMAS)[file]
        moved = {
            name: {**old["$defs"][name], "x-side": "agent"} for name in ("MessageMcpRequest", "MessageMcpResponse")
        }

        assert compare(old, {"$defs": {**old["$defs"], **moved}}) == [
            Change(
                kind="method",
                where="mcp/message",
                what="method: `MessageMcpNotification` on the agent and `MessageMcpRequest`, `MessageMcpResponse` on "
                "the client became `MessageMcpNotification`, `MessageMcpRequest`, `MessageMcpResponse` on the agent",
                breaking=True,
            )
        ]

    @pytest.mark.parametrize("version", ["v1", "v2"])
    def test_from_stable_to_unstable_most_is_added(self, version: str) -> None:
        schemas = lock.load_schemas(SCHEMAS)

        found = compare(schemas[f"{version}/schema.json"], schemas[f"{version}/schema.unstable.json"])

        added = {change.where for change in found if change.kind == "definition" and not change.breaking}
        stable, unstable = (schemas[f"{version}/{name}.json"]["$defs"] for name in ("schema", "schema.unstable"))
        ignored = {name for name, schema in unstable.items() if schema.get("x-docs-ignore")}
        assert added == unstable.keys() - stable.keys() - ignored
        assert "session/fork" in {change.where for change in found if change.kind == "method"}

    @pytest.mark.parametrize("file", FILES)
    def test_going_back_removes_what_going_forward_adds(self, file: str) -> None:
        schemas = lock.load_schemas(SCHEMAS)
        old, new = schemas[FILES[0]], schemas[file]

        def counted(found: list[Change], kind: str, word: str) -> int:
            # Names of the protocol stand between backticks: `plan_removed` is one.
            return sum(change.kind == kind and word in re.sub("`[^`]*`", "", change.what) for change in found)

        forth, back = compare(old, new), compare(new, old)
        for kind in ("definition", "method", "property", "variant", "value"):
            assert counted(forth, kind, "added") == counted(back, kind, "removed")
            assert counted(forth, kind, "removed") == counted(back, kind, "added")
