"""One spelling for what a schema can say in several: afterwards only what means something else differs.

    true, false                           {}, {"not": {}}
    {"allOf": [{"$ref": …}]}              {"$ref": …}
    {"type": ["string", "null"], …}       {"anyOf": [{"type": "string", …}, {"type": "null"}]}
    {"enum": ["a", "b"]}                  {"anyOf": [{"const": "a"}, {"const": "b"}]}
    {"anyOf": [{"anyOf": […]}, …]}        {"anyOf": [……, …]}
    {"oneOf": […]}                        {"anyOf": […]}, where no value fits two alternatives
    "items": {}, "minLength": 0, …        nothing, as everything that says nothing
    "default"                             nothing, where an omitted member reads as this anyway

What follows from several places stands in keywords of ours: see `OMITTED`, `OVERLAP` and `ORDER`.
"""

from __future__ import annotations

import json
from typing import Any, cast

from codegen.compare.overlap import is_tagged, json_types, overlaps
from codegen.tree import Definitions, Node, arms, rewrite_all, without

__all__ = ["NOTHING", "OMITTED", "ORDER", "OVERLAP", "TEXT", "UNIONS", "is_about", "same", "spelt"]

OMITTED = "x-omitted"
"""What a member reads as when it is omitted: `value` is one of its own, so is `null`; `none` is None and no value."""
OVERLAP = "x-overlap"
"""That a value may fit two alternatives of a union: then `oneOf` refuses it and `anyOf` does not."""
ORDER = "x-order"
"""The pairs of alternatives, by index, of which the first that fits decides what a value reads as."""

NOTHING: Node = {"not": {}}
TEXT = ("title", "description")
UNIONS = ("anyOf", "oneOf")

ABOUT = {*TEXT, "$comment", "default", "deprecated", "examples"}
SAYS_NOTHING: Node = {
    "items": {},
    "additionalProperties": {},
    "unevaluatedProperties": {},
    "minLength": 0,
    "minItems": 0,
}
ON_ERROR = "x-deserialize-default-on-error"


def spelt(definitions: Definitions) -> Definitions:
    """*definitions* in the one spelling."""
    alone = {name: _spelt_alone(node) for name, node in definitions.items()}
    return rewrite_all(alone, lambda node: _spelt_together(node, alone))


def is_about(keyword: str) -> bool:
    """Whether a keyword says something of a member or a definition itself, rather than of its values."""
    return keyword in ABOUT or keyword.startswith("x-")


def same(old: object, new: object) -> bool:
    """Whether two JSON values are equal; Python finds 0 and False equal, JSON does not."""
    return old is new or json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)


def _spelt_alone(schema: Node | bool) -> Node:
    """*schema* with everything that can be said in another way without a look at what it refers to."""
    if isinstance(schema, bool):
        return {} if schema else NOTHING
    node = dict(schema)
    if "properties" in node:
        node["properties"] = {name: _spelt_alone(child) for name, child in node["properties"].items()}
    for keyword in node.keys() & {*UNIONS, "allOf"}:
        node[keyword] = [_spelt_alone(child) for child in node[keyword]]
    for keyword in node.keys() & {"items", "additionalProperties", "unevaluatedProperties", "not"}:
        node[keyword] = _spelt_alone(node[keyword])
    node = {key: value for key, value in node.items() if not _says_nothing(key, value)}
    if "not" in node and arms(node["not"]):
        node["not"] = {"anyOf": sorted(arms(node["not"]), key=_json)} | without(node["not"], *UNIONS)
    return _without_type_list(_without_enum(_without_wrapping(node)))


def _says_nothing(keyword: str, value: object) -> bool:
    if keyword.startswith("x-deserialize-"):
        return value is False
    return keyword in SAYS_NOTHING and same(value, SAYS_NOTHING[keyword])


def _without_wrapping(node: Node) -> Node:
    match node:
        case {"allOf": [{"$ref": target}]} if not node.keys() & {"properties", *UNIONS}:
            return without(node, "allOf", "type") | {"$ref": target}
        case _:
            return node


def _without_enum(node: Node) -> Node:
    if "enum" in node:
        values = node["enum"]
        node = without(node, "enum") | ({"const": values[0]} if len(values) == 1 else {"anyOf": _constants(values)})
        return without(node, "type", "format")
    if "const" in node:
        return without(node, "const", "type", "format") | _constants([node["const"]])[0]
    return node


def _constants(values: list[Any]) -> list[Node]:
    return [{"type": "null"} if value is None else {"const": value} for value in values]


def _without_type_list(node: Node) -> Node:
    types = node.get("type")
    if not isinstance(types, list) or node.keys() & {*UNIONS, "allOf", "$ref"}:
        return node
    types = cast("list[str]", types)
    values = without(node, "type", *filter(is_about, node))
    found: list[Node] = [{"type": each} if each == "null" else {"type": each, **values} for each in types]
    return {**without(node, "type", *values), **(found[0] if len(found) == 1 else {"anyOf": found})}


def _spelt_together(node: Node, defs: Definitions) -> Node:
    """*node* with everything that can be said in another way because of what it refers to."""
    if arms(node) and not node.keys() >= {*UNIONS}:
        node = _plain_union(node, defs)
    if "properties" in node:
        node = node | {"properties": {name: _member(child, defs) for name, child in node["properties"].items()}}
    return node


def _plain_union(node: Node, defs: Definitions) -> Node:
    known = json_types(without(node, "type"), defs)
    if node.get("type") == "object" and known == {"object"}:
        node = without(node, "type")
    overlapping = overlaps(arms(node), defs)
    if "oneOf" in node and overlapping:
        return node | {OVERLAP: True}
    flat: list[Node] = []
    texts: Node = {}
    for arm in arms(node):
        is_mere_union = "anyOf" in arm and not arm.keys() - {"anyOf", OVERLAP, ORDER, *TEXT}
        flat += arm["anyOf"] if is_mere_union else [arm]
        texts |= {key: arm[key] for key in TEXT if is_mere_union and key in arm}
    overlapping = overlaps(flat, defs)
    ordered = [[one, two] for one, two in overlapping if _order_decides(flat[one], flat[two], defs)]
    marks = {key: value for key, value in ((OVERLAP, bool(overlapping)), (ORDER, ordered)) if value}
    return {**texts, **without(node, *UNIONS), "anyOf": flat, **marks}


def _order_decides(one: Node, two: Node, defs: Definitions) -> bool:
    """Whether the first of two that fit decides: a tag would, and text and numbers read the same by either."""
    if one.get("type") == two.get("type") == "array":
        one, two = one.get("items", {}), two.get("items", {})
        return bool(overlaps([one, two], defs)) and _order_decides(one, two, defs)
    both = json_types(one, defs) & json_types(two, defs)
    return bool(both & {"object", "array"}) and not is_tagged(one, defs) and not is_tagged(two, defs)


def _member(node: Node, defs: Definitions) -> Node:
    omitted, value = _omitted(without(node, "default"), defs)
    if "default" in node:
        default = node["default"]
        if omitted != "none" and same(default, value):
            node = without(node, "default")
        else:
            omitted = "none" if default is None else "value"
    return node | {OMITTED: omitted}


def _omitted(node: Node, defs: Definitions) -> tuple[str, object]:
    """What a member without a default reads as when it is omitted, by the generated code, and the value of it."""
    if "const" in node:
        return "value", node["const"]
    if "null" in json_types(node, defs):
        return "null", None
    if node.get("type") == "array":
        return "value", []
    if node.get("type") == "object" and "properties" not in node and ON_ERROR not in node:
        return "value", {}
    return "none", None


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
