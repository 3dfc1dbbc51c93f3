from codegen.passes.bases import choose_bases
from codegen.tree import Node
from tests.codegen.small import TEXT, obj, ref

MODEL = {"customBasePath": "acp_bindings._models.base.Model"}
EXTENSIBLE = {"customBasePath": "acp_bindings._models.base.Extensible"}
RESPONSE = {"customBasePath": "acp_bindings._models.base.Response"}
HAS_META = {"x-extensible": True}


def test_an_object_is_a_model_and_extensible_where_it_may_carry_meta() -> None:
    assert choose_bases({"Foo": obj(x=TEXT), "Bar": obj() | HAS_META, "Empty": {"type": "object"}}) == {
        "Foo": obj(x=TEXT) | MODEL,
        "Bar": obj() | HAS_META | EXTENSIBLE,
        "Empty": obj() | MODEL,
    }


def test_the_result_of_a_method_is_a_response() -> None:
    method = {"x-method": "a/b", "x-side": "agent"}
    defs = {
        "DoResponse": obj() | method | HAS_META,
        "DoRequest": obj() | method | HAS_META,
        "BareResponse": obj() | method,
        "NoResponse": obj() | HAS_META,
    }

    assert choose_bases(defs) == {
        "DoResponse": obj() | method | HAS_META | RESPONSE,
        "DoRequest": obj() | method | HAS_META | EXTENSIBLE,
        "BareResponse": obj() | method | MODEL,
        "NoResponse": obj() | HAS_META | EXTENSIBLE,
    }


def test_a_subclass_contains_only_what_its_payload_lacks() -> None:
    payload, variant = {"allOf": [ref("Payload")]}, obj(type=TEXT) | {"allOf": [ref("Payload")]}
    defs = {
        "Payload": obj(x=TEXT),
        "Plain": variant,
        "Mixed": variant | HAS_META,
        "Deep": obj() | {"allOf": [ref("Mixed")]} | HAS_META,
        "Base": obj() | HAS_META,
        "Sub": obj() | {"allOf": [ref("Base")]} | HAS_META,
        "Between": obj() | {"allOf": [ref("Base")]},
        "Below": obj() | {"allOf": [ref("Between")]} | HAS_META,
    }

    assert choose_bases(defs) == {
        "Payload": obj(x=TEXT) | MODEL,
        "Plain": obj(type=TEXT) | payload,
        "Mixed": obj(type=TEXT) | payload | HAS_META | {"x-mixin": "Extensible"},
        "Deep": obj() | {"allOf": [ref("Mixed")]} | HAS_META,
        "Base": obj() | HAS_META | EXTENSIBLE,
        "Sub": obj() | {"allOf": [ref("Base")]} | HAS_META,
        "Between": obj() | {"allOf": [ref("Base")]},
        "Below": obj() | {"allOf": [ref("Between")]} | HAS_META,
    }


def test_anything_but_an_object_has_no_base() -> None:
    nodes: list[Node] = [TEXT, {}, ref("D0"), {"anyOf": [ref("D0")]}, {"type": "object", "additionalProperties": TEXT}]
    defs = {f"D{number}": node for number, node in enumerate(nodes)}

    assert choose_bases(defs) == defs
