"""`oneOf` is read as the first alternative that fits, so no value may fit two."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations
from typing import Any, cast

from codegen.tree import CodegenError, Definitions, Node, arms, is_class, target, types_of, walk, without


def check_exclusive(defs: Definitions) -> None:
    """See that nothing fits two alternatives of a `oneOf`, and that no definition is a union with one type twice.

    Args:
        defs: definitions whose unions of objects have been split; those have been checked there.

    Raises:
        CodegenError: names the definition, and the member where it is one.
    """
    for name, node in defs.items():
        for where, part in _places(name, node):
            if any(not _apart(one, other, defs) for one, other in combinations(part.get("oneOf", []), 2)):
                raise CodegenError(
                    f"{where}: a value may fit two alternatives of its oneOf, which would be read as one"
                )
        if any(_same(one, other, defs) for one, other in combinations(arms(node), 2)):
            raise CodegenError(f"{name}: two of its alternatives are the same type to Python")


def _places(name: str, node: Node) -> Iterator[tuple[str, Node]]:
    """Every schema in the definition *name*; those in a member first, with the member."""
    for key, member in node.get("properties", {}).items():
        yield from ((f"{name}.{key}", part) for part in walk(member))
    yield from ((name, part) for part in walk(node))


def _apart(one: Node, other: Node, defs: Definitions) -> bool:
    """Whether it is certain that no value fits both."""
    values, others = _values(one, defs), _values(other, defs)
    if values is not None and others is not None:
        return values.isdisjoint(others)
    types, more = ({"number" if each == "integer" else each for each in types_of(part, defs)} for part in (one, other))
    return types.isdisjoint(more)


def _values(node: Node, defs: Definitions) -> set[Any] | None:
    """The values of an enumeration, None where there may be any."""
    if (name := target(node)) is not None:
        return _values(defs[name], defs)
    if "const" in node:
        return {node["const"]}
    return set(node["enum"]) if "enum" in node else None


def _same(one: Node, other: Node, defs: Definitions) -> bool:
    return _spelt_out(one, defs, frozenset()) == _spelt_out(other, defs, frozenset())


def _spelt_out(schema: Any, defs: Definitions, inside: frozenset[str]) -> str:
    """*schema* without names of other types and without prose."""

    def spell(part: Any) -> Any:
        if isinstance(part, list):
            return [spell(each) for each in cast("list[object]", part)]
        if not isinstance(part, dict):
            return part
        node = cast("Node", part)
        name = target(node)
        if name is None or is_class(defs[name]) or name in inside:
            return {key: spell(value) for key, value in without(node, "title", "description").items()}
        return json.loads(_spelt_out(defs[name], defs, inside | {name}))

    return json.dumps(spell(schema), sort_keys=True)
