"""Constants become enumerations, and numbers keep to the range of their format."""

from __future__ import annotations

from functools import partial

from codegen.naming import INTEGERS, NUMBER, TYPES
from codegen.tree import CodegenError, Definitions, Node, arms, rewrite, rewrite_all, without


def merge_constants(defs: Definitions) -> Definitions:
    """Turn `anyOf` of constants into `enum`, which stays open if there is a variant for other values.

    An open enumeration, `{"anyOf": [{"enum": […]}, {"type": "string"}]}`, accepts any string and lists the known ones.
    An open set of numbers becomes the plain number type, because Python has no type for it. A closed one is refused,
    because `1`, `1.0` and `True` are the same constant in Python.
    """
    return {name: rewrite(node, partial(_merge, name)) for name, node in defs.items()}


def _merge(name: str, node: Node) -> Node:
    constants = [arm for arm in arms(node) if "const" in arm]
    values = [arm["const"] for arm in node.get("oneOf", []) if "const" in arm]
    if twice := [value for value in values if values.count(value) > 1]:
        raise CodegenError(f"{name}: {twice[0]!r} is valid for two variants of a oneOf")
    others = [arm for arm in arms(node) if "const" not in arm]
    merged = _merged(node, constants, others) if constants else node
    if any(not isinstance(arm["const"], str) for arm in arms(merged) if "const" in arm):
        raise CodegenError(
            f"{name}: no rule for constants that are not strings, unless all other numbers are valid too"
        )
    return merged


def _merged(node: Node, constants: list[Node], others: list[Node]) -> Node:
    kind = constants[0]["type"]
    if len(others) > 1 or any(arm["type"] != kind for arm in constants):
        return node
    values: Node = {"type": kind, "enum": [arm["const"] for arm in constants]}
    merged = without(node, "anyOf", "oneOf") | {"description": _explain(node, constants)}
    if not others and kind == "string":
        return merged | values
    catch_all = without(others[0], "title", "description") if others else {}
    if "oneOf" in node and others:
        return node  # a constant that the other variant accepts too is not valid
    if catch_all.get("type") != kind or catch_all.keys() - {"type", "format", "minimum", "maximum"}:
        return node
    if kind != "string":
        in_reach = all(is_in_range(arm["const"], catch_all) for arm in constants)
        return merged | catch_all if in_reach else node
    return merged | {"anyOf": [values, catch_all]}


def _explain(node: Node, constants: list[Node]) -> str:
    lines = [f"- `{arm['const']}`: {' '.join(arm['description'].split())}" for arm in constants if "description" in arm]
    return "\n\n".join(filter(None, [node.get("description", ""), "\n".join(lines)]))


RANGES = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}


def is_in_range(value: float, node: Node) -> bool:
    """Return True if *value* is within the format and the bounds of *node*."""
    least, most = RANGES.get(node.get("format", ""), (value, value))
    return bool(max(least, node.get("minimum", value)) <= value <= min(most, node.get("maximum", value)))


def bound_numbers(defs: Definitions) -> Definitions:
    """Turn a format into the type of the same name (`UInt32`, `Number`), or into bounds if they are narrower."""
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
