import pytest

from codegen.passes.reading import mark_lenient, mark_secrets, settle_absence
from codegen.tree import Definitions, Node
from tests.codegen.small import NULL, ON_ERROR, ON_NULL, SKIP_ITEMS, TEXT, Pass, listed, obj, ref, refusal

MAP: Node = {"type": "object", "additionalProperties": TEXT}
EITHER: Node = {"anyOf": [TEXT, {"type": "integer"}]}
OMITTABLE = {"x-omittable": True}


def refusal_of(run: Pass, member: Node, required: str = "", /, **others: Node) -> str:
    """Return the error for *member* as `Foo.x`."""
    return refusal(run, {"Foo": obj(required, x=member), **others})


class TestReadingRules:
    def test_each_combination_becomes_one_wrapper(self) -> None:
        defs = {
            "Foo": obj(
                "a",
                a=listed(TEXT) | ON_ERROR,
                b=listed(TEXT) | ON_ERROR | SKIP_ITEMS,
                c={"type": ["array", "null"], "items": TEXT} | SKIP_ITEMS,
                d=listed(TEXT) | ON_NULL,
                e=MAP | ON_NULL,
                f=TEXT | {"x-deserialize-default-on-error": False},
                g={"description": "Anything."} | ON_ERROR,
                i=ref("Ids") | ON_NULL,
            ),
            "Ids": listed(TEXT),
        }

        assert mark_lenient(defs) == {
            "Foo": obj(
                "a",
                a=listed(TEXT) | {"x-reads": "Lenient"},
                b=listed(TEXT) | {"x-reads": "LenientList"},
                c={"type": ["array", "null"], "items": TEXT, "x-reads": "SkipInvalid"},
                d=listed(TEXT) | {"x-reads": "NullAsEmpty"},
                e=MAP | {"x-reads": "NullAsEmpty"},
                f=TEXT,
                g={"description": "Anything."},
                i=ref("Ids") | {"x-reads": "NullAsEmpty"},
            ),
            "Ids": listed(TEXT),
        }

    def test_a_combination_that_never_occurred_is_refused(self) -> None:
        said = "Foo.x: no rule for x-deserialize-default-on-error with x-deserialize-default-on-null"

        assert refusal_of(mark_lenient, listed(TEXT) | ON_ERROR | ON_NULL) == said

    @pytest.mark.parametrize(
        "node", [TEXT, MAP, {"anyOf": [listed(TEXT), TEXT]}, {"anyOf": [listed(TEXT), listed(MAP)]}, ref("Ids")]
    )
    def test_items_are_skipped_in_lists_only(self, node: Node) -> None:
        said = "Foo.x: x-deserialize-skip-invalid-items requires a list"

        assert refusal_of(mark_lenient, node | SKIP_ITEMS, Ids=listed(TEXT)) == said

    @pytest.mark.parametrize("node", [TEXT, ref("Bar"), {"type": ["array", "null"], "items": TEXT}, {"anyOf": [NULL]}])
    def test_null_as_empty_requires_a_list_or_map_without_null(self, node: Node) -> None:
        said = "Foo.x: x-deserialize-default-on-null requires a list or a map for which null is not valid"

        assert refusal_of(mark_lenient, node | ON_NULL, Bar=obj()) == said


WRITABLE: list[Node] = [
    TEXT | {"default": "x"},
    {"type": "integer", "default": 3},
    {"type": "number", "default": 3},
    {"type": ["string", "null"], "default": None},
    {"default": "anything"},
    listed(TEXT) | {"default": []},
    MAP | {"default": {}},
    ref("Kind") | {"default": "a"},
    ref("Map") | {"default": {}},
    {"anyOf": [ref("Kind"), NULL], "default": "a"},
]


UNWRITABLE: list[Node] = [
    TEXT | {"default": 1},
    TEXT | {"default": None},
    {"type": "integer", "default": True},
    {"type": "integer", "default": 1.5},
    {"type": "boolean", "default": 1},
    {"anyOf": [TEXT, NULL], "default": 1},
    listed(TEXT) | {"default": {}},
    listed(ref("Bar")) | {"default": [{"x": "1"}]},
    MAP | {"default": {"a": "b"}},
    ref("Kind") | {"default": "c"},
    {"anyOf": [ref("Kind"), NULL], "default": "c"},
    ref("Union") | {"default": {}},
    {"anyOf": [ref("Bar"), NULL], "default": {}},
]


class TestAbsence:
    def test_an_omitted_field_reads_as_its_default_as_empty_or_as_none(self) -> None:
        kept: dict[str, Node] = {
            "required": TEXT,
            "default": {"type": "boolean", "default": True},
            "nullable": {"type": ["string", "null"]},
            "union": {"anyOf": [TEXT, NULL]},
            "anything": {"description": "Anything."},
            "constant": {"type": "string", "const": "a"},
            "tag": {"type": "string", "x-default-tag": "b", "x-not-enum": ["a"]},
            "absent": {"x-absent": True},
            "maybe": ref("Maybe"),
            "any": ref("Anything"),
            "alias": ref("Alias"),
        }
        settled: dict[str, tuple[Node, Node]] = {
            "list": (listed(TEXT), listed(TEXT) | {"default": []}),
            "map": (MAP, MAP | {"default": {}}),
            "lenient_map": (MAP | {"x-reads": "Lenient"}, {"anyOf": [MAP, NULL], "x-reads": "Lenient", **OMITTABLE}),
            "text": (
                TEXT | {"description": "What.", "x-reads": "Lenient", "minLength": 1},
                {"description": "What.", "x-reads": "Lenient", "anyOf": [TEXT | {"minLength": 1}, NULL], **OMITTABLE},
            ),
            "reference": (ref("Id"), {"anyOf": [ref("Id"), NULL], **OMITTABLE}),
            "either": (EITHER, {"anyOf": [EITHER, NULL], **OMITTABLE}),
        }
        others = {"Id": TEXT, "Maybe": {"anyOf": [TEXT, NULL]}, "Anything": {}, "Alias": ref("Maybe")}
        before, after = ({name: each[index] for name, each in settled.items()} for index in (0, 1))

        assert settle_absence({"Foo": obj("required", **kept, **before), **others}) == {
            "Foo": obj("required", **kept, **after),
            **others,
        }

    def test_a_conditional_field_must_accept_null(self) -> None:
        when = {"x-when": {"member": "reason", "values": ["a"]}}
        defs = {"Foo": obj(x={"type": ["string", "null"]} | when)}

        said = "Foo.x: no rule for a field without null that depends on reason"
        assert settle_absence(defs) == defs
        assert refusal_of(settle_absence, TEXT | when) == said

    def test_a_default_object_must_equal_an_empty_one(self) -> None:
        bar = obj(x=TEXT | {"default": "1"}, y={"type": "boolean", "default": False})
        defs = {"Foo": obj(x=ref("Bar") | {"default": {"x": "1"}}, y=ref("Bar") | {"default": {}}), "Bar": bar}

        assert settle_absence(defs) == {
            "Foo": obj(x=ref("Bar") | {"x-default-object": "Bar"}, y=ref("Bar") | {"x-default-object": "Bar"}),
            "Bar": bar,
        }

    @pytest.mark.parametrize(
        ("default", "others"),
        [
            ({"x": "2"}, {}),
            ({"y": 1}, {}),
            ("text", {}),
            ({}, {"Bar": obj("x", x=TEXT)}),
            ({}, {"Bar": obj(x=TEXT) | {"allOf": [ref("Base")]}, "Base": obj("y", y=TEXT)}),
        ],
    )
    def test_a_default_object_other_than_the_empty_one_is_refused(self, default: object, others: Definitions) -> None:
        bar = {"Bar": obj(x=TEXT | {"default": "1"})}

        said = refusal_of(settle_absence, ref("Bar") | {"default": default}, **bar | others)

        assert said == f"Foo.x: the default {default!r} differs from an empty Bar"

    @pytest.mark.parametrize("member", WRITABLE)
    def test_a_default_of_the_right_type_stays(self, member: Node) -> None:
        defs: Definitions = {"Foo": obj(x=member), "Kind": {"type": "string", "enum": ["a", "b"]}, "Map": MAP}

        assert settle_absence(defs) == defs

    @pytest.mark.parametrize("member", UNWRITABLE)
    def test_a_default_that_python_cannot_express_is_refused(self, member: Node) -> None:
        others = {"Kind": {"type": "string", "enum": ["a", "b"]}, "Union": {"anyOf": [ref("Bar")]}, "Bar": obj(x=TEXT)}

        said = f"Foo.x: no rule for {member['default']!r} as the default of this type"
        assert refusal_of(settle_absence, member, **others) == said

    def test_a_required_list_may_be_lenient(self) -> None:
        defs: Definitions = {
            "Foo": obj("x y", x=listed(TEXT) | {"x-reads": "Lenient"}, y=ref("Ids") | {"x-reads": "LenientList"}),
            "Ids": listed(TEXT),
        }

        assert settle_absence(defs) == defs

    @pytest.mark.parametrize("wrapper", ["Lenient", "LenientList"])
    @pytest.mark.parametrize(
        "node",
        [TEXT, TEXT | {"default": "x"}, ref("Bar"), MAP, {"type": ["array", "null"]}, ref("Lists"), ref("Maybe")],
    )
    def test_other_required_fields_cannot_be_lenient(self, node: Node, wrapper: str) -> None:
        lists = {"anyOf": [listed(TEXT), listed(MAP)]}
        others = {"Bar": obj(), "Lists": lists, "Maybe": {"type": ["array", "null"]}}

        said = "Foo.x: required and lenient, but an invalid value has no replacement"
        assert refusal_of(settle_absence, node | {"x-reads": wrapper}, "x", **others) == said


class TestSecrets:
    def test_the_values_of_env_and_headers_are_secret(self) -> None:
        hidden = {"x-secret": True}
        pair = obj("name value", name=TEXT, value=TEXT)
        defs = {
            "Foo": obj(env=listed(ref("EnvVariable")), headers=MAP, args=listed(ref("Arg"))),
            "EnvVariable": pair,
            "Arg": pair,
            "Id": TEXT,
        }

        assert mark_secrets(defs) == {
            "Foo": obj(env=listed(ref("EnvVariable")), headers=MAP | hidden, args=listed(ref("Arg"))),
            "EnvVariable": obj("name value", name=TEXT, value=TEXT | hidden),
            "Arg": pair,
            "Id": TEXT,
        }

    @pytest.mark.parametrize(
        "env",
        [
            {"anyOf": [MAP, NULL], "x-omittable": True},
            ref("Values"),
            {"anyOf": [ref("Values"), NULL]},
            listed(MAP),
            listed(TEXT),
            listed({}),
            ref("Anything"),
            {"type": ["array", "null"]},
            listed(ref("Unnamed")),
            ref("Pairs"),
            listed({"anyOf": [ref("Pair"), ref("Unnamed")]}),
        ],
    )
    def test_other_shapes_of_env_and_headers_are_secret_as_a_whole(self, env: Node) -> None:
        defs = {
            "Foo": obj(env=env),
            "Values": MAP,
            "Anything": {},
            "Unnamed": obj(x=TEXT),
            "Pair": obj(value=TEXT),
            "Pairs": listed(ref("Pair")),
        }

        assert mark_secrets(defs)["Foo"] == obj(env=env | {"x-secret": True})

    @pytest.mark.parametrize(
        "env", [{"type": ["array", "null"], "items": ref("Pair")}, {"anyOf": [listed(ref("Pair")), NULL]}]
    )
    def test_the_value_of_each_item_is_secret_in_any_form_of_list(self, env: Node) -> None:
        assert mark_secrets({"Foo": obj(env=env), "Pair": obj(value=TEXT)}) == {
            "Foo": obj(env=env),
            "Pair": obj(value=TEXT | {"x-secret": True}),
        }
