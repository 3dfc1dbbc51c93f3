"""What every pass shares: the shape of a schema document and the few ways to walk it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

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
"""What JSON Schema calls the types of parsed JSON."""


class CodegenError(Exception):
    """The pipeline refuses to guess: the schema holds something that it has no exact rule for."""


def ref(name: str) -> Node:
    """A reference to the definition *name*."""
    return {"$ref": PREFIX + name}


def target(node: Node) -> str | None:
    """The name of the definition that *node* refers to, or None when it is no reference."""
    pointer = node.get("$ref")
    return pointer.removeprefix(PREFIX) if isinstance(pointer, str) else None


def children(node: Node) -> Iterator[Node]:
    """The schemas directly inside *node*. Data (`default`, `const`, `enum`) is not a schema and is not entered."""
    yield from node.get("properties", {}).values()
    for keyword in ("anyOf", "oneOf", "allOf"):
        yield from node.get(keyword, [])
    for keyword in ("items", "additionalProperties", "not"):
        child = node.get(keyword)
        if isinstance(child, dict):
            yield child


def walk(node: Node) -> Iterator[Node]:
    """*node* and every schema inside it, outermost first."""
    yield node
    for child in children(node):
        yield from walk(child)


def rewrite(node: Node, change: Callable[[Node], Node]) -> Node:
    """A copy of *node* with *change* applied to every schema in it, innermost first."""
    copy = dict(node)
    if "properties" in copy:
        copy["properties"] = {name: rewrite(child, change) for name, child in copy["properties"].items()}
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in copy:
            copy[keyword] = [rewrite(child, change) for child in copy[keyword]]
    for keyword in ("items", "additionalProperties", "not"):
        if isinstance(copy.get(keyword), dict):
            copy[keyword] = rewrite(copy[keyword], change)
    return change(copy)


def rewrite_all(defs: Definitions, change: Callable[[Node], Node]) -> Definitions:
    """`rewrite` for every definition."""
    return {name: rewrite(node, change) for name, node in defs.items()}


def targets(node: Node) -> set[str]:
    """The names of all definitions that *node* refers to."""
    return {name for child in walk(node) if (name := target(child)) is not None}


def reachable(defs: Definitions, names: set[str]) -> set[str]:
    """*names* and everything that can be reached from them."""
    found: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= targets(defs[name]) - found
    return found


def lineage(name: str, defs: Definitions) -> Iterator[str]:
    """The class *name* and all that it is derived from."""
    yield name
    for part in defs[name].get("allOf", []):
        if parent := target(part):
            yield from lineage(parent, defs)


def arms(node: Node) -> list[Node]:
    """The alternatives of a union, empty when *node* is none."""
    return node.get("anyOf") or node.get("oneOf") or []


def types_of(node: Node, defs: Definitions) -> set[str]:
    """The JSON types of the values that *node* takes."""
    if (name := target(node)) is not None:
        return types_of(defs[name], defs)
    declared = node.get("type", [*set[str]().union(*JSON_TYPES.values())])
    types = {declared} if isinstance(declared, str) else set(declared)
    if arms(node):
        types &= set[str]().union(*(types_of(arm, defs) for arm in arms(node)))
    return types.intersection(*(types_of(part, defs) for part in node.get("allOf", [])))


def is_class(node: Node) -> bool:
    """Whether the definition *node* is an object of its own, not a map, a union or a scalar."""
    return node.get("type") == "object" and "additionalProperties" not in node and not arms(node)


def without(node: Node, *keywords: str) -> Node:
    """A copy of *node* that lacks *keywords*."""
    return {key: value for key, value in node.items() if key not in keywords}


def kind(name: str, node: Node) -> str | None:
    """`Request`, `Response` or `Notification` for the parameters or the result of a method, else None.

    The schema puts the same `x-method` on all types of a method; only the name tells them apart.
    """
    if "x-method" not in node:
        return None
    for suffix in ("Request", "Response", "Notification"):
        if name.endswith(suffix):
            return suffix
    raise CodegenError(f'{name} has "x-method" but is named neither …Request, …Response nor …Notification')
