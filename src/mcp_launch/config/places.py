"""Lines and columns in a text, and a document that knows where each of its values stands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

from mcp_launch.failures import UnusableInput

__all__ = ["DEEPEST", "Document", "Path", "Place", "place_in", "unusable"]

Path: TypeAlias = tuple[str | int, ...]
"""The names and indices that lead from the root to a value."""

DEEPEST = 200
"""Levels of nesting that are read; Python's own limit differs from version to version."""


class Place(NamedTuple):
    """A character of a text."""

    line: int
    """From 1."""
    column: int
    """From 1, in characters."""


class Document:
    """A value that knows where its parts stand. What a node of the text is, a subclass decides."""

    def __init__(self, value: Any, root: Any) -> None:
        self.value = value
        """The whole, as `json.loads` would give it."""
        self._root = root
        # Kept, because for a file with many servers the place of each is asked for.
        self._levels: dict[Any, dict[str | int, tuple[Any, Any]]] = {}

    def place(self, path: Path = ()) -> Place:
        """Where the value at this path begins; the nearest that holds it, if there is none."""
        return self.place_of(self._find(path)[1])

    def key_place(self, path: Path) -> Place:
        """Where the name of the member at this path begins, or the item of an array."""
        return self.place_of(self._find(path)[0])

    def place_of(self, node: Any) -> Place:
        """Where a node begins."""
        raise NotImplementedError

    def members_of(self, node: Any) -> Iterable[tuple[str | int, Any, Any]]:
        """What an object or array holds: name or index, the node of that, the node of the value."""
        raise NotImplementedError

    def _find(self, path: Path) -> tuple[Any, Any]:
        found = (self._root, self._root)
        for step in path:
            if (node := found[1]) not in self._levels:
                self._levels[node] = {name: (key, value) for name, key, value in self.members_of(node)}
            inside = self._levels[node].get(step)
            if inside is None:
                break
            found = inside
        return found


def place_in(text: str, at: int) -> Place:
    """The place of the character with this index."""
    return Place(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))


def unusable(source: str, place: Place, message: str) -> UnusableInput:
    """The error with this message, which begins with the place."""
    return UnusableInput(f"{source}:{place.line}:{place.column}: {message}")
