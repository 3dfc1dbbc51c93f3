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

import itertools
import json
from collections.abc import Iterator
from typing import Any, cast

from codegen.tree import JSON_TYPES, Definitions, Node, arms, rewrite_all, target, without

TYPES = frozenset[str]().union(*JSON_TYPES.values())


def overlaps(alternatives: list[Node], defs: Definitions) -> list[tuple[int, int]]:
    """The pairs of alternatives, by index, that are not known to be apart."""
    plain = [list(_plain(each, defs)) for each in alternatives]
    return [
        (one, two)
        for one, two in itertools.combinations(range(len(plain)), 2)
        if not all(_are_apart(left, right, defs) for left in plain[one] for right in plain[two])
    ]


def is_tagged(node: Node, defs: Definitions) -> bool:
    """Whether constants in *node* tell what has to be read by it."""
    return all("const" in each or _tags(each, defs) for each in _plain(node, defs))


def json_types(node: Node, defs: Definitions) -> set[str]:
    """The JSON types that a value of *node* may have."""
    return set[str]().union(*(_types(each) for each in _plain(node, defs)))


def _plain(node: Node, defs: Definitions, seen: frozenset[str] = frozenset()) -> Iterator[Node]:
    """What *node* may be, without references and unions; nothing for a reference to itself."""
    name = target(node)
    if name is not None:
        if name in defs and name not in seen:
            yield from _plain(defs[name], defs, seen | {name})
    elif arms(node):
        for arm in arms(node):
            yield from _plain(arm, defs, seen)
    else:
        yield node


def _types(node: Node) -> set[str]:
    if "const" in node:
        return JSON_TYPES[type(node["const"])]
    if "type" in node:
        declared: set[str] = {node["type"]} if isinstance(node["type"], str) else {*node["type"]}
        return declared | ({"integer"} if "number" in declared else set())
    return {*TYPES}


def _are_apart(one: Node, two: Node, defs: Definitions) -> bool:
    if not _types(one) & _types(two):
        return True
    if "const" in one and "const" in two:
        return bool(one["const"] != two["const"])
    ones, twos = _tags(one, defs), _tags(two, defs)
    if any(ones[member] != twos[member] for member in ones.keys() & twos.keys()):
        return True
    return _excludes(one, twos) or _excludes(two, ones)


def _tags(node: Node, defs: Definitions) -> dict[str, Any]:
    """The constants that an object must have."""
    found: dict[str, Any] = {}
    for part in node.get("allOf", []):
        for each in _plain(part, defs):
            found |= _tags(each, defs)
    return found | {
        name: child["const"]
        for name, child in node.get("properties", {}).items()
        if "const" in child and name in node.get("required", [])
    }


def _excludes(node: Node, tags: dict[str, Any]) -> bool:
    """Whether *node* is the catch-all of a union that knows these tags."""
    excluded = [
        {name: child["const"] for name, child in arm.get("properties", {}).items() if "const" in child}
        for arm in arms(node.get("not", {}))
    ]
    return any(each and each.items() <= tags.items() for each in excluded)


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
