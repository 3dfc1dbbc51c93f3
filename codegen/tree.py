"""The types of a schema document, and functions to walk and change it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, cast

Node: TypeAlias = dict[str, Any]
"""One JSON Schema object."""

Definitions: TypeAlias = dict[str, Node]
"""The `$defs` of a document: definition name to schema."""

PREFIX = "#/$defs/"

JSON_TYPES: dict[type, set[str]] = {
    bool: {"boolean"},
    dict: {"object"},
    float: {"number"},
    int: {"integer", "number"},
    list: {"array"},
    str: {"string"},
    type(None): {"null"},
}
"""The JSON Schema types of parsed JSON values."""


class CodegenError(Exception):
    """The schema contains something for which the pipeline has no exact rule."""


def ref(name: str) -> Node:
    """Return a reference to the definition *name*."""
    return {"$ref": PREFIX + name}


def target(node: Node) -> str | None:
    """Return the name of the definition that *node* refers to, or None if it is not a reference."""
    pointer = node.get("$ref")
    return pointer.removeprefix(PREFIX) if isinstance(pointer, str) else None


def children(node: Node) -> Iterator[Node]:
    """Yield the schemas directly inside *node*. Data (`default`, `const`, `enum`) is not entered."""
    yield from node.get("properties", {}).values()
    for keyword in ("anyOf", "oneOf", "allOf"):
        yield from node.get(keyword, [])
    for keyword in ("items", "additionalProperties", "not"):
        child = node.get(keyword)
        if isinstance(child, dict):
            yield child


def walk(node: Node) -> Iterator[Node]:
    """Yield *node* and every schema inside it, outermost first."""
    yield node
    for child in children(node):
        yield from walk(child)


def with_children(node: Node, change: Callable[[Any], Any]) -> Node:
    """Return a copy of *node* with *change* applied to the schemas directly inside it."""
    copy = dict(node)
    if "properties" in copy:
        copy["properties"] = {name: change(child) for name, child in copy["properties"].items()}
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in copy:
            copy[keyword] = [change(child) for child in copy[keyword]]
    for keyword in ("items", "additionalProperties", "not"):
        # The value `true` of `additionalProperties` says that the object is open.
        if keyword in copy and not (keyword == "additionalProperties" and isinstance(copy[keyword], bool)):
            copy[keyword] = change(copy[keyword])
    return copy


def rewrite(node: Any, change: Callable[[Any], Any]) -> Any:
    """Return a copy of *node* with *change* applied to every schema in it, innermost first."""
    if isinstance(node, dict):
        node = with_children(cast("Node", node), lambda child: rewrite(child, change))
    return change(node)


def rewrite_all(defs: Definitions, change: Callable[[Any], Any]) -> Definitions:
    """Return *defs* with every definition rewritten by `rewrite`."""
    return {name: rewrite(node, change) for name, node in defs.items()}


def targets(node: Node) -> set[str]:
    """Return the names of all definitions that *node* refers to."""
    return {name for child in walk(node) if (name := target(child)) is not None}


def reachable(defs: Definitions, names: set[str]) -> set[str]:
    """Return *names* and all definitions that they refer to, also indirectly."""
    found: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= targets(defs[name]) - found
    return found


def lineage(name: str, defs: Definitions) -> Iterator[str]:
    """Yield the class *name* and all of its base classes."""
    yield name
    for part in defs[name].get("allOf", []):
        if parent := target(part):
            yield from lineage(parent, defs)


def arms(node: Node) -> list[Node]:
    """Return the variants of a union; empty if *node* is not a union."""
    return node.get("anyOf") or node.get("oneOf") or []


def types_of(node: Node, defs: Definitions) -> set[str]:
    """Return the JSON types of the values that *node* accepts."""
    if (name := target(node)) is not None:
        return types_of(defs[name], defs)
    declared = node.get("type", [*set[str]().union(*JSON_TYPES.values())])
    types = {declared} if isinstance(declared, str) else set(declared)
    if arms(node):
        types &= set[str]().union(*(types_of(arm, defs) for arm in arms(node)))
    return types.intersection(*(types_of(part, defs) for part in node.get("allOf", [])))


def is_class(node: Node) -> bool:
    """Return True if *node* becomes a class: an object that is not a map or a union."""
    return node.get("type") == "object" and "additionalProperties" not in node and not arms(node)


def without(node: Node, *keywords: str) -> Node:
    """Return a copy of *node* without *keywords*."""
    return {key: value for key, value in node.items() if key not in keywords}


def kind(name: str, node: Node) -> str | None:
    """Return `Request`, `Response` or `Notification` for the params or the result of a method, else None.

    All types of a method have the same `x-method` in the schema, so the name decides.
    """
    if "x-method" not in node:
        return None
    for suffix in ("Request", "Response", "Notification"):
        if name.endswith(suffix):
            return suffix
    raise CodegenError(f'{name} has "x-method", but its name does not end in Request, Response or Notification')
