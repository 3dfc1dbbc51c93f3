"""Reads TOML with line numbers: `tomllib` parses the values, and the code here finds their positions.

Neither `tomllib` nor tomlkit, which writes TOML, tells positions.
"""

from __future__ import annotations

import re
import tomllib
from math import isfinite
from typing import Any, TypeAlias

from mcp_launch.config._documents import DEEPEST, Place, TextDocument, place_in, unusable
from mcp_launch.config._references import map_leaves

_STRING = r'"""(?:[^\\]|\\.)*?"""(?!")|\'\'\'.*?\'\'\'(?!\')|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\''
_PART = re.compile(rf"(?s)[ \t]*({_STRING}|[\w-]+)[ \t]*(\.?)")
_SCALAR = re.compile(rf"(?s){_STRING}|[^,\]}}#\n]+")
_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_Keys: TypeAlias = list[tuple[str, int]]
"""The parts of a dotted name, with their positions."""


def read_toml(text: str, *, source: str) -> TextDocument:
    """Parse a text.

    Raises:
        UnusableInput: it is not valid; the message contains the position.
    """
    try:
        value = tomllib.loads(text, parse_float=_finite)
    except tomllib.TOMLDecodeError as error:
        what, _, where = str(error).partition(" (at ")
        at = re.match(r"line (\d+), column (\d+)", where)
        place = Place(int(at[1]), int(at[2])) if at else place_in(text, len(text))
        raise unusable(source, place, f"not TOML: {what}") from None
    except RecursionError:
        raise unusable(source, Place(1, 1), f"nested too deeply: more than {DEEPEST} levels") from None
    except ValueError:
        # Python limits the digits of integers.
        raise unusable(source, Place(1, 1), "contains a number that is too long, or an impossible date") from None
    # JSON has no dates and times: use their text.
    plain = map_leaves(value, lambda leaf, _: leaf if isinstance(leaf, str | int | float) else str(leaf))
    return _Toml(plain, _nodes(text), text)


class _Node:
    """A name or a value in the text."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.members: dict[str | int, tuple[_Node, _Node]] = {}

    def add(self, name: str | int, at: int, value: _Node) -> _Node:
        """Add a member, whose name is at an index of the text, and return its value."""
        self.members[name] = (_Node(at), value)
        return value


class _Toml(TextDocument):
    """A document whose nodes are `_Node`s."""

    def place_of(self, node: _Node) -> Place:
        return self.place_at(node.at)

    def members_of(self, node: _Node) -> list[tuple[str | int, _Node, _Node]]:
        return [(name, key, value) for name, (key, value) in node.members.items()]


def _nodes(text: str) -> _Node:
    """Return the root of a valid text."""
    root = table = _Node(0)
    at = _after_space(text, 0)
    while at < len(text):
        if text[at] != "[":
            at = _read_pair(text, at, table)
        else:
            is_item = text.startswith("[[", at)
            keys, at = _keys(text, at + 1 + is_item)
            table = _inside(root, keys, last=not is_item)
            if is_item:
                table = table.add(len(table.members), keys[-1][1], _Node(keys[-1][1]))
            at += 1 + is_item
        at = _after_space(text, at)
    return root


def _inside(node: _Node, keys: _Keys, *, last: bool = True) -> _Node:
    """Return the table with this dotted name, and add what is missing; of arrays of tables the last item."""
    for number, (name, at) in enumerate(keys, 1):
        node = node.members[name][1] if name in node.members else node.add(name, at, _Node(at))
        if node.members and 0 in node.members and (last or number < len(keys)):
            node = node.members[len(node.members) - 1][1]
    return node


def _read_pair(text: str, at: int, table: _Node) -> int:
    """Add `name = value` to a table, and return the index after it."""
    ((*parents, (name, key)), at) = _keys(text, at)
    value, at = _read_value(text, _after_space(text, at + 1))
    _inside(table, parents).add(name, key, value)
    return at


def _read_value(text: str, at: int) -> tuple[_Node, int]:
    node = _Node(at)
    if text[at] not in "[{":
        found = _SCALAR.match(text, at)
        return node, found.end() if found else at + 1
    is_array = text[at] == "["
    at = _after_space(text, at + 1)
    while text[at] not in "]}":
        if is_array:
            item, end = _read_value(text, at)
            node.add(len(node.members), at, item)
        else:
            end = _read_pair(text, at, node)
        at = _after_space(text, end)
        at = _after_space(text, at + 1) if text[at] == "," else at
    return node, at + 1


def _keys(text: str, at: int) -> tuple[_Keys, int]:
    """Return the parts of a dotted name, and the index after it."""
    keys: _Keys = []
    while found := _PART.match(text, at):
        word = found[1]
        name: str = tomllib.loads(f"_ = {word}")["_"] if word[0] in "\"'" else word
        keys.append((name, found.start(1)))
        at = found.end()
        if not found[2]:
            break
    return keys, at


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _finite(digits: str) -> Any:
    value = float(digits)
    return value if isfinite(value) else digits
