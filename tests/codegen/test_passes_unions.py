import pytest

from codegen.passes.unions import name_list_arms, name_variants, open_notifications
from codegen.tree import Node
from tests.codegen.small import TEXT, catch_all, listed, obj, ref, refusal, tagged

NOTIFICATION = {"x-method": "session/update", "x-side": "client"}
REQUEST = {"x-method": "session/new", "x-side": "agent"}


def tag(value: str) -> Node:
    return {"type": "string", "const": value}


EITHER: Node = {"anyOf": [obj("a", a=TEXT) | {"title": "a"}, obj("b", b=TEXT) | {"title": "b"}]}
MORE_EXCLUDED = catch_all("a") | {"not": {"anyOf": [tagged("a", x=TEXT)]}}
NO_TAG_EXCLUDED = catch_all("a") | {"not": {"anyOf": [{"type": "object"}]}}
NARROWER_TAG = catch_all("a") | {"not": {"anyOf": [obj("type", type=tag("a") | {"format": "uri"})]}}
NO_TEXT = catch_all("a") | obj("type", type={"type": "integer"})
LESS_EXCLUDED = catch_all("a") | {"not": {"anyOf": [tagged("a") | {"allOf": [ref("Own")]}]}}
NARROWER = catch_all("a") | {"not": {"anyOf": [tagged("a")], "type": "object", "required": ["type"]}}
OWN_TYPE = obj("type", type=TEXT) | {"title": "own"}
INEXACT = "its variant for unknown tags must accept every type except the tags of the other variants"
UNTAGGED = obj(type=TEXT) | {"not": {"anyOf": [tagged("a")]}}

UNION: Node = {"description": "News.", "oneOf": [tagged("a"), tagged("b")]}


class TestNotifications:
    def test_a_union_that_only_notifications_carry_gets_a_catch_all(self) -> None:
        notified = obj(update=ref("Update")) | NOTIFICATION

        assert open_notifications({"DoNotification": notified, "Update": UNION}) == {
            "DoNotification": notified,
            "Update": {
                "description": "News.",
                "oneOf": [
                    tagged("a"),
                    tagged("b"),
                    {
                        "title": "other",
                        "description": "A variant that is newer than this schema, preserved as it was received.",
                        **obj("type", type=TEXT),
                        "not": {"anyOf": [{"properties": {"type": tag(known)}} for known in ("a", "b")]},
                    },
                ],
            },
        }

    @pytest.mark.parametrize("name", ["DoRequest", "DoResponse"])
    def test_a_union_also_used_by_requests_or_responses_stays_closed(self, name: str) -> None:
        defs = {
            "DoNotification": obj(update=ref("Update")) | NOTIFICATION,
            name: obj(update=ref("Update")) | REQUEST,
            "Update": UNION,
        }

        assert open_notifications(defs) == defs

    @pytest.mark.parametrize(
        "union",
        [
            {"anyOf": [tagged("a"), catch_all("a")]},
            {"anyOf": [tagged("a"), obj("x", x=TEXT)]},
            {"anyOf": [TEXT, {"type": "integer"}]},
        ],
    )
    def test_open_and_untagged_unions_stay(self, union: Node) -> None:
        defs = {"DoNotification": obj(update=ref("Update")) | NOTIFICATION, "Update": union}

        assert open_notifications(defs) == defs

    def test_unused_unions_stay(self) -> None:
        assert open_notifications({"Update": UNION}) == {"Update": UNION}


class TestListArms:
    @pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
    def test_a_titled_list_becomes_a_definition(self, keyword: str) -> None:
        groups = listed(ref("Group")) | {"title": "grouped", "minItems": 1, "description": "By group."}
        options = {
            keyword: [listed(TEXT) | {"title": "Ungrouped"}, groups, TEXT | {"title": "one"}, listed({})],
            "x-foo": True,
        }
        defs = {"Options": options, "Group": obj()}

        assert name_list_arms(defs) == {
            "Options": {
                keyword: [ref("OptionsUngrouped"), ref("OptionsGrouped"), TEXT | {"title": "one"}, listed({})],
                "x-foo": True,
            },
            "Group": obj(),
            "OptionsUngrouped": listed(TEXT),
            "OptionsGrouped": listed(ref("Group")) | {"minItems": 1, "description": "By group."},
        }

    def test_a_name_that_is_taken_is_refused(self) -> None:
        defs = {"Options": {"anyOf": [listed(TEXT) | {"title": "all"}]}, "OptionsAll": TEXT}

        assert refusal(name_list_arms, defs) == "Options: the name OptionsAll of one of its lists is already used"


class TestVariants:
    def test_a_payload_of_one_variant_absorbs_the_tag(self) -> None:
        arm = tagged("text") | {"allOf": [ref("TextContent")], "description": "Not this one."}
        payload = obj("text", text=TEXT) | {"description": "Words."}

        ping, extensible = tagged("ping") | {"allOf": [ref("Ping")]}, {"x-extensible": True}
        defs = {
            "Content": {"oneOf": [arm, ping, tagged("b")], **extensible},
            "TextContent": payload | extensible,
            "Ping": {"type": "object", **extensible},
        }

        assert name_variants(defs) == {
            "Content": {"anyOf": [ref("TextContent"), ref("Ping"), ref("ContentB")], "x-tag": "type"},
            "TextContent": obj("text", type=tag("text"), text=TEXT) | {"description": "Words.", **extensible},
            "Ping": {"type": "object", "properties": {"type": tag("ping")}, **extensible},
            "ContentB": obj("type", type=tag("b")) | extensible,
        }

    def test_a_payload_of_several_variants_gets_subclasses(self) -> None:
        chunk = obj("content", content=TEXT) | {"description": "A chunk."}
        user = tagged("user_message_chunk", by="kind") | {"allOf": [ref("Chunk")], "description": "Of the user."}
        agent = tagged("agent_message_chunk", by="kind") | {"allOf": [ref("Chunk")]}

        assert name_variants({"Update": {"anyOf": [user, agent], "description": "News."}, "Chunk": chunk}) == {
            "Update": {
                "description": "News.",
                "anyOf": [ref("UserMessageChunk"), ref("AgentMessageChunk")],
                "x-tag": "kind",
            },
            "Chunk": chunk,
            "UserMessageChunk": obj("kind", kind=tag("user_message_chunk"))
            | {"allOf": [ref("Chunk")], "description": "Of the user."},
            "AgentMessageChunk": obj("kind", kind=tag("agent_message_chunk"))
            | {"allOf": [ref("Chunk")], "description": "A chunk."},
        }

    @pytest.mark.parametrize(
        ("payload", "arm"),
        [
            (obj(x=TEXT) | REQUEST, tagged("a")),
            (obj(type=TEXT), tagged("a")),
            (obj(x=TEXT), tagged("a", extra=TEXT)),
            (obj(x=TEXT), tagged("a") | {"x-extensible": True}),
        ],
        ids=["of a method", "has the tag", "more than the tag is added", "meta is added"],
    )
    def test_a_payload_that_would_change_gets_a_subclass(self, payload: Node, arm: Node) -> None:
        defs = {"Content": {"anyOf": [arm | {"allOf": [ref("Payload")]}, tagged("b")]}, "Payload": payload}

        members = arm["properties"] | {"type": tag("a")}
        assert name_variants(defs) == {
            "Content": {"anyOf": [ref("ContentA"), ref("ContentB")], "x-tag": "type"},
            "Payload": payload,
            "ContentA": arm | {"properties": members, "allOf": [ref("Payload")]},
            "ContentB": obj("type", type=tag("b")),
        }

    def test_fields_of_the_union_are_added_to_each_variant(self) -> None:
        union = obj("id", id=TEXT, name=TEXT) | {
            "anyOf": [tagged("a", x=TEXT), tagged("b")],
            "x-extensible": True,
            "x-method": "a/b",
        }

        assert name_variants({"Foo": union}) == {
            "Foo": {"x-method": "a/b", "anyOf": [ref("FooA"), ref("FooB")], "x-tag": "type"},
            "FooA": obj("id type x", type=tag("a"), id=TEXT, name=TEXT, x=TEXT) | {"x-extensible": True},
            "FooB": obj("id type", type=tag("b"), id=TEXT, name=TEXT) | {"x-extensible": True},
        }

    @pytest.mark.parametrize(("title", "more"), [("agent", {}), ("stdio", {"x-untagged": True})])
    def test_a_variant_without_the_tag_has_the_one_of_its_title(self, title: str, more: Node) -> None:
        plain = ref("Plain") | {"title": title}
        defs = {"Server": {"anyOf": [tagged("http"), tagged("acp"), plain]}, "Plain": obj("command", command=TEXT)}

        implied = {"type": "string", "x-default-tag": title, "x-not-enum": ["acp", "http"], **more}
        assert name_variants(defs) == {
            "Server": {"anyOf": [ref("ServerHttp"), ref("ServerAcp"), ref("Plain")], "x-tag": "type"},
            "Plain": obj("command", type=implied, command=TEXT),
            "ServerHttp": obj("type", type=tag("http")),
            "ServerAcp": obj("type", type=tag("acp")),
        }

    @pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
    def test_the_catch_all_accepts_every_tag_except_the_known_ones(self, keyword: str) -> None:
        texts = {"title": "a", "description": "One."}
        excluded = {keyword: [texts | obj("type", type=tag("a") | texts), tagged("b")]}
        other = catch_all() | {"description": "Newer.", "not": texts | excluded}
        union = obj("id", id=TEXT) | {"anyOf": [tagged("b"), tagged("a"), other]}

        unlike = {"type": "string", "x-not-enum": ["a", "b"]}
        assert name_variants({"Foo": union}) == {
            "Foo": {"anyOf": [ref("FooB"), ref("FooA"), ref("OtherFoo")], "x-tag": "type"},
            "FooB": obj("id type", type=tag("b"), id=TEXT),
            "FooA": obj("id type", type=tag("a"), id=TEXT),
            "OtherFoo": obj("id type", type=unlike, id=TEXT) | {"description": "Newer."},
        }

    @pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
    def test_a_catch_all_may_have_variants(self, keyword: str) -> None:
        other = catch_all("a") | {keyword: [ref("Left"), ref("Right")]}
        defs = {"Foo": {"anyOf": [tagged("a"), other]}, "Left": obj("l", l=TEXT), "Right": obj("r", r=TEXT)}

        unlike: Node = {"type": {"type": "string", "x-not-enum": ["a"]}}
        absent: Node = {"x-absent": True}
        left, right = ({"r": absent}, {"l": absent}) if keyword == "oneOf" else ({}, {})
        assert name_variants(defs) == defs | {
            "Foo": {"anyOf": [ref("FooA"), ref("OtherFoo")], "x-tag": "type"},
            "FooA": obj("type", type=tag("a")),
            "OtherFoo": {"description": "", "anyOf": [ref("OtherFooLeft"), ref("OtherFooRight")], "x-tag": None},
            "OtherFooLeft": obj("type", **unlike, **left) | {"allOf": [ref("Left")]},
            "OtherFooRight": obj("type", **unlike, **right) | {"allOf": [ref("Right")]},
        }

    def test_a_variant_without_a_tag_excludes_the_required_fields_of_others(self) -> None:
        absent: Node = {"x-absent": True}
        defs = {
            "Scope": {"oneOf": [ref("Session"), ref("Request")]},
            "Session": obj("sessionId", sessionId=TEXT),
            "Request": obj(x=TEXT) | {"allOf": [ref("Base")]},
            "Base": obj("requestId", requestId=TEXT),
        }

        assert name_variants(defs) == defs | {
            "Scope": {"anyOf": [ref("ScopeSession"), ref("ScopeRequest")], "x-tag": None},
            "ScopeSession": obj(requestId=absent) | {"required": [], "allOf": [ref("Session")]},
            "ScopeRequest": obj(sessionId=absent) | {"required": [], "allOf": [ref("Request")]},
        }

    def test_meta_of_the_union_goes_into_subclasses_of_bare_payloads(self) -> None:
        union = {"anyOf": [ref("Text"), ref("Blob")], "x-extensible": True}
        defs = {"Content": union, "Text": obj("t", t=TEXT), "Blob": obj("b", b=TEXT)}

        more: Node = {"type": "object", "properties": {}, "required": [], "x-extensible": True}
        assert name_variants(defs) == defs | {
            "Content": {"anyOf": [ref("ContentText"), ref("ContentBlob")], "x-tag": None},
            "ContentText": more | {"allOf": [ref("Text")]},
            "ContentBlob": more | {"allOf": [ref("Blob")]},
        }

    def test_payloads_and_inner_unions_of_an_untagged_union_are_used_unchanged(self) -> None:
        defs = {
            "Foo": {"anyOf": [obj("x", x=TEXT) | {"title": "Plain text"}, ref("Bar"), ref("Inner")]},
            "Bar": obj(x=TEXT),
            "Inner": {"anyOf": [tagged("a")]},
        }

        assert name_variants(defs) == {
            "Foo": {"anyOf": [ref("FooPlainText"), ref("Bar"), ref("Inner")], "x-tag": None},
            "Bar": obj(x=TEXT),
            "FooPlainText": obj("x", x=TEXT),
            "Inner": {"anyOf": [ref("InnerA")], "x-tag": "type"},
            "InnerA": obj("type", type=tag("a")),
        }

    def test_a_tagged_union_in_a_variant_keeps_its_tag(self) -> None:
        form = tagged("form", by="mode") | {"allOf": [ref("Form")], "description": "A form."}
        defs = {
            "Create": {"anyOf": [form, tagged("url", by="mode")]},
            "Form": {"anyOf": [tagged("a", x=TEXT), tagged("b")]},
        }

        assert name_variants(defs) == {
            "Create": {"anyOf": [ref("CreateForm"), ref("CreateUrl")], "x-tag": "mode"},
            "Form": {"anyOf": [ref("FormA"), ref("FormB")], "x-tag": "type"},
            "FormA": obj("type x", type=tag("a"), x=TEXT),
            "FormB": obj("type", type=tag("b")),
            "CreateForm": {
                "description": "A form.",
                "anyOf": [ref("CreateFormA"), ref("CreateFormB")],
                "x-tag": "type",
            },
            "CreateFormA": obj("mode", mode=tag("form")) | {"allOf": [ref("FormA")]},
            "CreateFormB": obj("mode", mode=tag("form")) | {"allOf": [ref("FormB")]},
            "CreateUrl": obj("mode", mode=tag("url")),
        }

    def test_a_union_in_a_variant_is_split_with_it(self) -> None:
        form = tagged("form", by="mode") | {"allOf": [ref("Form")]}
        scope = {"anyOf": [obj("s", s=TEXT) | {"title": "session"}, obj("r", r=TEXT) | {"title": "request"}]}
        defs = {"Create": obj("m", m=TEXT) | {"anyOf": [form, tagged("url", by="mode")]}, "Form": scope}

        assert name_variants(defs) == {
            "Create": {"anyOf": [ref("CreateForm"), ref("CreateUrl")], "x-tag": "mode"},
            "Form": {"anyOf": [ref("FormSession"), ref("FormRequest")], "x-tag": None},
            "FormSession": obj("s", s=TEXT),
            "FormRequest": obj("r", r=TEXT),
            "CreateForm": {"anyOf": [ref("CreateFormSession"), ref("CreateFormRequest")], "x-tag": None},
            "CreateFormSession": obj("m mode", mode=tag("form"), m=TEXT) | {"allOf": [ref("FormSession")]},
            "CreateFormRequest": obj("m mode", mode=tag("form"), m=TEXT) | {"allOf": [ref("FormRequest")]},
            "CreateUrl": obj("m mode", mode=tag("url"), m=TEXT),
        }

    def test_a_name_needed_twice_goes_to_the_same_union_in_any_order(self) -> None:
        union = {"anyOf": [tagged("plan_entry"), tagged("b")]}

        named = name_variants({"Second": union, "First": union})

        assert named == name_variants({"First": union, "Second": union})
        assert named["First"]["anyOf"] == [ref("PlanEntry"), ref("FirstB")]
        assert named["Second"]["anyOf"] == [ref("SecondPlanEntry"), ref("SecondB")]

    @pytest.mark.parametrize(
        "union",
        [
            {"anyOf": [TEXT, {"type": "integer"}]},
            {"anyOf": [ref("Foo"), {"type": "null"}]},
        ],
    )
    def test_unions_of_other_types_stay(self, union: Node) -> None:
        defs = {"Bar": union, "Foo": obj()}

        assert name_variants(defs) == defs

    @pytest.mark.parametrize(
        ("arms", "said"),
        [
            ([tagged("a"), tagged("a", by="kind")], "kind and type both look like the tag of the union"),
            ([tagged("a"), tagged("a", x=TEXT)], "two variants have the tag a"),
            ([tagged("foo"), tagged("Foo")], "the name FooFoo of its variant Foo is already used"),
            ([tagged("a"), obj(type=tag("b"))], "no rule for the constant type, which may be absent and is not a tag"),
            ([tagged("a"), obj(x=TEXT)], "a variant has neither a tag nor a title for its name"),
            ([tagged("1"), tagged("b")], "'1' cannot become the name of a class"),
            *(
                (arms, INEXACT + why)
                for arms, why in (
                    ([tagged("a"), catch_all("b", "c")], "; it also excludes b, c; it does not exclude a"),
                    ([tagged("a"), MORE_EXCLUDED], ""),
                    ([tagged("a"), NO_TAG_EXCLUDED], "; it does not exclude a"),
                    ([tagged("a"), NARROWER_TAG], ""),
                    ([tagged("a"), NO_TEXT], ""),
                    ([tagged("a"), LESS_EXCLUDED], ""),
                    ([tagged("a"), NARROWER], ""),
                    ([tagged("a"), UNTAGGED], ""),
                )
            ),
            ([obj() | {"title": "a"}, catch_all("b")], "has a variant for unknown tags, but no tag"),
            ([tagged("a"), TEXT], "fields next to variants that are not all objects"),
            ([tagged("a"), OWN_TYPE], "its variant own contains the tag type without a constant"),
            ([tagged("a"), ref("Own")], "its variant Own contains the tag type without a constant"),
            (
                [obj() | {"title": "bar"}, obj() | {"title": "bar"}],
                "the name FooBar of its variant bar is already used",
            ),
        ],
    )
    def test_a_union_without_an_exact_rule_is_refused(self, arms: list[Node], said: str) -> None:
        assert refusal(name_variants, {"Foo": {"anyOf": arms}, "Own": OWN_TYPE}) == f"Foo: {said}"

    @pytest.mark.parametrize(
        ("union", "said"),
        [
            (
                obj("type", type=TEXT) | {"anyOf": [tagged("a"), obj("x", x=TEXT) | {"title": "own"}]},
                "its variant own contains the tag type without a constant",
            ),
            (
                {"oneOf": [tagged("a"), obj("x", x=TEXT) | {"title": "own"}]},
                "a variant of its oneOf has no type, so a value may fit two variants",
            ),
            (
                {"anyOf": [tagged("a", by="kind") | {"allOf": [ref("Inner")]}]},
                "no rule for a union whose only variant is a union",
            ),
            (obj(x=TEXT) | {"anyOf": [TEXT]}, "fields next to variants that are not all objects"),
            (
                {"anyOf": [tagged("a"), catch_all("a")]},
                "the name OtherFoo of its variant for unknown tags is already used",
            ),
        ],
    )
    def test_other_unions_without_an_exact_rule_are_refused(self, union: Node, said: str) -> None:
        inner = {"oneOf": [tagged("b"), tagged("c")]}

        assert refusal(name_variants, {"Foo": union, "Inner": inner, "OtherFoo": TEXT}) == f"Foo: {said}"

    @pytest.mark.parametrize(
        ("left", "right"),
        [
            (obj(x=TEXT), obj("y", y=TEXT)),
            (obj("x", x=TEXT), obj("x y", x=TEXT, y=TEXT)),
            (obj("x", x=TEXT, y=TEXT), obj("y", y=TEXT)),
            (obj("x", x=TEXT, s=TEXT), obj("s", s=TEXT)),
            (EITHER, obj("y", y=TEXT)),
            (obj("l", l=TEXT) | EITHER, obj("y", y=TEXT)),
        ],
        ids=["nothing required", "more required", "told by both", "told by the union's", "a union", "one with members"],
    )
    def test_a_one_of_with_overlapping_variants_is_refused(self, left: Node, right: Node) -> None:
        defs = {"Foo": {"oneOf": [ref("Left"), ref("Right")]}, "Left": left, "Right": right}

        said = "Foo: a value may fit two variants of its oneOf"
        assert refusal(name_variants, defs) == said

    @pytest.mark.parametrize("payload", [{"type": "object", "additionalProperties": TEXT}, ref("Bar")])
    def test_a_payload_that_is_not_an_object_is_refused(self, payload: Node) -> None:
        arms = [tagged("a") | {"allOf": [ref("Payload")]}, tagged("b")]
        defs = {"Foo": {"anyOf": arms}, "Payload": payload, "Bar": obj(x=TEXT)}

        said = "Foo: the payload Payload of its variant a is not an object"
        assert refusal(name_variants, defs) == said
