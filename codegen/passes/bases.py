"""Which hand-written base class each generated class has."""

from __future__ import annotations

from codegen.naming import BASES, EXTENSIBLE, MODEL, RESPONSE
from codegen.tree import Definitions, Node, is_class, kind, target


def choose_bases(defs: Definitions) -> Definitions:
    """`Model` for every object, `Extensible` where `_meta` is allowed, `Response` for the result of a method.

    A class derived from its payload has the base of that; `x-mixin` names one that it needs besides.
    """
    return {name: _based(name, node, defs) for name, node in defs.items()}


def _based(name: str, node: Node, defs: Definitions) -> Node:
    if not is_class(node):
        return node
    parents = [parent for part in node.get("allOf", []) if (parent := target(part))]
    if parents:
        missing = "x-extensible" in node and not any(_extensible(parent, defs) for parent in parents)
        return node | ({"x-mixin": EXTENSIBLE} if missing else {})
    base = EXTENSIBLE if "x-extensible" in node else MODEL
    if base == EXTENSIBLE and kind(name, node) == "Response":
        base = RESPONSE
    return node | {"properties": node.get("properties", {}), "customBasePath": BASES + base}


def _extensible(name: str, defs: Definitions) -> bool:
    node = defs[name]
    return "x-extensible" in node or any(_extensible(target(part) or "", defs) for part in node.get("allOf", []))
