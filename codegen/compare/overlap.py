"""Which alternatives of a union may fit the same value."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from codegen.tree import JSON_TYPES, Definitions, Node, arms, target

__all__ = ["is_tagged", "json_types", "overlaps"]

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
