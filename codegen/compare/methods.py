"""What changed in the methods of a schema: which there are, what travels with them, and which side handles it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from codegen.compare.report import Change, as_code

__all__ = ["compare_methods"]

Sides: TypeAlias = dict[str, str]
"""The definitions of one method, each with the side that handles it: a notification may go the other way."""


def compare_methods(old: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]) -> Iterator[Change]:
    """Compare the methods that two versions of the definitions have, by name."""
    before, after = _methods(old), _methods(new)
    for method in sorted(before.keys() | after.keys()):
        if method not in after:
            yield Change(kind="method", where=method, what="method removed", breaking=True)
        elif method not in before:
            sides = " and by ".join(f"{side} ({names})" for side, names in _by_side(after[method]))
            yield Change(kind="method", where=method, what=f"method added, handled by {sides}", breaking=False)
        elif before[method] != after[method]:
            what = f"method: {_text(before[method])} became {_text(after[method])}"
            kept = before[method].items() <= after[method].items()
            yield Change(kind="method", where=method, what=what, breaking=not kept)


def _methods(definitions: Mapping[str, Mapping[str, Any]]) -> dict[str, Sides]:
    found: dict[str, Sides] = {}
    for name, node in sorted(definitions.items()):
        if "x-method" in node:
            found.setdefault(node["x-method"], {})[name] = node.get("x-side", "?")
    return found


def _text(sides: Sides) -> str:
    return " and ".join(f"{names} on {side}" for side, names in _by_side(sides))


def _by_side(sides: Sides) -> list[tuple[str, str]]:
    """The sides in the order of their names, each with the definitions that it handles, as Markdown."""
    every = {side: as_code(name for name in sides if sides[name] == side) for side in sides.values()}
    return [("both sides" if side == "both" else f"the {side}", names) for side, names in sorted(every.items())]
