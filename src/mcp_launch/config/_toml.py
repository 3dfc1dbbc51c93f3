"""Reads TOML with positions: `tomllib` parses the values, and the code here finds the names at the start of lines.

Neither `tomllib` nor tomlkit, which writes TOML, tells positions. What is inside the value of such a name, in an array
or an inline table, has the position of that value.
"""

from __future__ import annotations

import re
import tomllib
from math import isfinite
from typing import Any, TypeAlias

from mcp_launch.config._documents import DEEPEST, Document, Place, place_in, unusable
from mcp_launch.config._references import map_leaves

KEY = r"""(?:[\w-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_KEYS = rf"{KEY}(?:[ \t]*\.[ \t]*{KEY})*"
_TABLE = rf"(?P<brackets>\[\[?)[ \t]*(?P<table>{_KEYS})[ \t]*\]\]?[ \t]*(?:#.*)?\r?$"
_NAMED = re.compile(rf"(?m)^[ \t]*(?:{_TABLE}|(?P<keys>{_KEYS})[ \t]*=[ \t]*)")
_LONG_STRING = re.compile(r'(?s)"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'')
_Keys: TypeAlias = list[tuple[str, int]]
"""The parts of a dotted name, with their positions."""


def read_toml(text: str, *, source: str) -> Document:
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
        if what.startswith(("Invalid hex value", "Unescaped '\\'")):
            what = r"write \\ for each backslash, or the string in single quotes"
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


class _Toml(Document):
    """A document whose nodes are `_Node`s."""

    def start_of(self, node: _Node) -> int:
        return node.at

    def members_of(self, node: _Node) -> list[tuple[str | int, _Node, _Node]]:
        return [(name, key, value) for name, (key, value) in node.members.items()]


def _nodes(text: str) -> _Node:
    """Return the root of a valid text."""
    root = table = _Node(0)
    # Lines of a long string may look like names.
    for found in _NAMED.finditer(_LONG_STRING.sub(lambda string: re.sub(r"[^\n]", '"', string[0]), text)):
        if found["keys"]:
            *parents, (name, at) = _keys(found, "keys")
            _inside(table, parents).add(name, at, _Node(found.end()))
            continue
        keys = _keys(found, "table")
        is_item = found["brackets"] == "[["
        table = _inside(root, keys, last=not is_item)
        if is_item:
            table = table.add(len(table.members), keys[-1][1], _Node(keys[-1][1]))
    return root


def _inside(node: _Node, keys: _Keys, *, last: bool = True) -> _Node:
    """Return the table with this dotted name, and add what is missing; of arrays of tables the last item."""
    for number, (name, at) in enumerate(keys, 1):
        node = node.members[name][1] if name in node.members else node.add(name, at, _Node(at))
        if node.members and 0 in node.members and (last or number < len(keys)):
            node = node.members[len(node.members) - 1][1]
    return node


def _keys(found: re.Match[str], group: str) -> _Keys:
    """Return the parts of a dotted name."""
    keys: _Keys = []
    for part in re.compile(KEY).finditer(found.string, *found.span(group)):
        word = part[0]
        keys.append((tomllib.loads(f"_ = {word}")["_"] if word[0] in "\"'" else word, part.start()))
    return keys


def _finite(digits: str) -> Any:
    value = float(digits)
    return value if isfinite(value) else digits
