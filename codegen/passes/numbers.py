"""Numbers keep to the range of their format, and integers stay integers."""

from __future__ import annotations

from codegen.naming import INTEGERS, NUMBER, TYPES
from codegen.tree import Definitions, Node, rewrite_all, without

RANGES = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}


def is_in_range(value: float, node: Node) -> bool:
    """Whether *value* keeps to the format and the bounds of *node*."""
    least, most = RANGES.get(node.get("format", ""), (value, value))
    return bool(max(least, node.get("minimum", value)) <= value <= min(most, node.get("maximum", value)))


def bound_numbers(defs: Definitions) -> Definitions:
    """A format becomes the type of the same name (`UInt32`, `Number`), a tighter bound is written out."""
    return rewrite_all(defs, _bound)


def _bound(node: Node) -> Node:
    types = node.get("type", [])
    kind = next((each for each in ("integer", "number") if each in types), None)
    if kind is None or "const" in node or "enum" in node:
        return node
    bounded = _number(node) if kind == "number" else _integer(node)
    if "null" not in types:
        return bounded
    outer = {key: value for key, value in bounded.items() if key.startswith("x-") or key in ("description", "default")}
    return outer | {"anyOf": [without(bounded, *outer), {"type": "null"}]}


def _integer(node: Node) -> Node:
    plain = without(node, "format", "minimum", "maximum") | {"type": "integer"}
    if "format" not in node:
        return plain | {key: node[key] for key in ("minimum", "maximum") if key in node}
    least, most = RANGES[node["format"]]
    minimum, maximum = max(node.get("minimum", least), least), min(node.get("maximum", most), most)
    if (minimum, maximum) == (least, most):
        return without(plain, "type") | {"customTypePath": TYPES + INTEGERS[node["format"]]}
    return plain | {"minimum": minimum, "maximum": maximum}


def _number(node: Node) -> Node:
    if node.keys() & {"minimum", "maximum"}:
        limits = {"ge": node.get("minimum"), "le": node.get("maximum")}
        within = {side: limit for side, limit in limits.items() if limit is not None}
        return without(node, "format", "minimum", "maximum") | {"type": "number", "x-within": within}
    return without(node, "type", "format") | {"customTypePath": TYPES + NUMBER}
