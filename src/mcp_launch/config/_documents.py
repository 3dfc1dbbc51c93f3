"""Reads JSON, with or without comments, into documents that know the line and column of each value."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from math import isfinite
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from mcp_launch.failures import UnusableInput

Path: TypeAlias = tuple[str | int, ...]
"""The names and indices from the root to a value."""
Grammar: TypeAlias = Literal["json", "json with comments", "jsonc", "toml", "yaml"]
"""The syntax of a file; JSONC allows comments and trailing commas."""
DEEPEST = 200
"""The maximum depth of nesting. Python's own limit depends on its version."""
_QUOTES = "'`\u2018\u2019\u201c\u201d\u201e"
"""Characters that people or word processors write instead of the quotation marks of JSON."""
_STRING = r'(?s)"(?:[^"\\\r\n]|\\.)*"?'
_COMMENT = rf"{_STRING}|(?P<comment>//[^\r\n]*|/\*.*?\*/)|(?P<open>/\*)"
_COMMA = rf"{_STRING}|(?P<kept>[\[{{,:][ \t\r\n]*,)|(?P<comma>,)(?=[ \t\r\n]*[\]}}])"
_BRACKET = rf"{_STRING}|(?P<open>[\[{{])|(?P<close>[\]}}])"


class Place(NamedTuple):
    """A position in a text."""

    line: int
    """From 1."""
    column: int
    """From 1, in characters."""


class Document:
    """A value that knows the positions of its parts in a text. Subclasses define the nodes of the text."""

    def __init__(self, value: Any, root: Any, text: str) -> None:
        self.value = value
        """The whole value, as `json.loads` returns it."""
        self._root = root
        self._text = text
        # Cached, because a file with many servers needs many positions.
        self._levels: dict[Any, dict[str | int, tuple[Any, Any]]] = {}

    def place(self, path: Path = ()) -> Place:
        """Return the position of the value at this path, or of the nearest value that contains it."""
        return self._place_of(self._find(path)[1])

    def key_place(self, path: Path) -> Place:
        """Return the position of the name of the member at this path, or of the item of an array."""
        return self._place_of(self._find(path)[0])

    def start_of(self, node: Any) -> int:
        """Return the index in the text at which a node begins."""
        raise NotImplementedError

    def members_of(self, node: Any) -> Iterable[tuple[str | int, Any, Any]]:
        """Yield the members of an object or array: the name or index, its node, and the node of the value."""
        raise NotImplementedError

    def span_of(self, node: Any) -> tuple[int, int]:
        """Return the index in the text at which a node begins, and that at which it ends."""
        raise NotImplementedError

    def node(self, path: Path) -> Any:
        """Return the node of the value at this path, or of the nearest value that contains it."""
        return self._find(path)[1]

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

    def _place_of(self, node: Any) -> Place:
        index = self.start_of(node)
        line = bisect_right(self._lines, index)
        return Place(line, index - self._lines[line - 1] + 1)

    @cached_property
    def _lines(self) -> list[int]:
        """The index at which each line begins."""
        return [0, *(found.end() for found in re.finditer("\n", self._text))]


def read_json(text: str, *, source: str, comments: bool, trailing_commas: bool) -> Document:
    """Parse a text.

    Raises:
        UnusableInput: it is not valid; the message contains the position.
    """
    if not text.strip():
        raise unusable(source, Place(1, 1), "is empty")
    blanked = text
    if comments and "/" in text:
        blanked = without_comments(text, source=source)
    if trailing_commas:
        blanked = re.sub(_COMMA, lambda found: " " if found["comma"] else found[0], blanked)
    _refuse_depth(blanked, source=source)
    try:
        value: Any = json.loads(
            blanked,
            object_pairs_hook=_unique,
            parse_constant=_finite,
            parse_float=_finite,
        )
    except json.JSONDecodeError as error:
        at, hint = _diagnosed(blanked, error, comments=comments, trailing_commas=trailing_commas)
        raise unusable(source, place_in(text, at), f"not JSON: {hint or _WORDS.get(error.msg, error.msg)}") from None
    except _TwiceError:
        document = _Json(None, blanked)
        key, at = next(_repeated(document, document.node(())))
        raise unusable(source, place_in(text, at), f"the name {key!r} occurs twice in one object") from None
    except ValueError:
        # Python limits the digits of integers.
        raise unusable(source, Place(1, 1), "contains a number that is too long, or NaN or Infinity") from None
    return _Json(value, blanked)


def without_comments(text: str, *, source: str) -> str:
    """Return a text of the same length, with spaces instead of comments.

    Raises:
        UnusableInput: a comment has no end.
    """
    return re.sub(_COMMENT, lambda found: _without_comment(found, source=source), text)


def unusable(source: str, place: Place, message: str) -> UnusableInput:
    """Return an error, whose message begins with the position."""
    return UnusableInput(f"{source}:{place.line}:{place.column}: {message}")


def place_in(text: str, at: int) -> Place:
    return Place(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))


class _Json(Document):
    """A document whose nodes are the indices at which values begin. The text is valid JSON."""

    def __init__(self, value: Any, text: str) -> None:
        super().__init__(value, _skip_space(text, 0), text)

    def start_of(self, node: int) -> int:
        return node

    def span_of(self, node: int) -> tuple[int, int]:
        _, end = json.JSONDecoder().raw_decode(self._text, node)
        return node, end

    def members_of(self, node: int) -> Iterator[tuple[str | int, int, int]]:
        text = self._text
        if text[node] not in "[{":
            return
        is_object = text[node] == "{"
        # The fast parser of the standard library skips the values.
        step = json.JSONDecoder().raw_decode
        at, index = _skip_space(text, node + 1), 0
        while text[at] not in "]}":
            key_at = at
            name: str | int = index
            if is_object:
                name, end = cast("tuple[str, int]", step(text, at))
                at = _skip_space(text, _skip_space(text, end) + 1)
            yield name, key_at, at
            _, end = step(text, at)
            at = _skip_space(text, end)
            if text[at] == ",":
                at = _skip_space(text, at + 1)
            index += 1


def _without_comment(found: re.Match[str], *, source: str) -> str:
    if found["open"]:
        place = place_in(found.string, found.start())
        raise unusable(source, place, 'the comment that begins here has no end "*/"')
    return re.sub(r"[^\r\n]", " ", found[0]) if found["comment"] else found[0]


def _refuse_depth(text: str, *, source: str) -> None:
    if text.count("[") + text.count("{") <= DEEPEST:
        return
    depth = 0
    for found in re.finditer(_BRACKET, text):
        depth += bool(found["open"]) - bool(found["close"])
        if depth > DEEPEST:
            place = place_in(text, found.start())
            raise unusable(source, place, f"nested too deeply: more than {DEEPEST} levels")


_WORDS = {
    "Expecting value": "a value is missing",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting ':' delimiter": "a colon is missing after a name",
    "Expecting property name enclosed in double quotes": 'a name in " is missing',
    "Extra data": "something follows the end",
    "Unterminated string starting at": "a string has no closing quotation mark",
    "Invalid control character at": "a string contains a line break or control character",
    "Illegal trailing comma before end of object": "a comma is not followed by another member",
    "Illegal trailing comma before end of array": "a comma is not followed by another item",
    "Invalid \\escape": "a backslash is not part of an escape",
    "Invalid \\uXXXX escape": "\\u is not followed by four hexadecimal digits",
}
"""The meaning of Python's messages about JSON."""


def _diagnosed(text: str, error: json.JSONDecodeError, *, comments: bool, trailing_commas: bool) -> tuple[int, str]:
    """Return the position of a syntax error, and a hint."""
    at = _skip_space(text, error.pos)
    following = text[at : at + 2]
    if following in ("//", "/*") and not comments:
        return at, "comments are not allowed in this file"
    # The error is at the comma or after it, depending on the version of Python.
    comma = at if following[:1] == "," else len(text[:at].rstrip(" \t\r\n")) - 1
    if text[comma : comma + 1] == "," and text[_skip_space(text, comma + 1) :][:1] in ("]", "}"):
        return comma, "remove the comma before the closing bracket" if not trailing_commas else ""
    if error.msg.startswith("Invalid \\"):
        return error.pos, "write \\\\ for each backslash"
    return error.pos, _advice(text, text[at : at + 1], is_extra=error.msg == "Extra data")


def _advice(text: str, found: str, *, is_extra: bool) -> str:  # noqa: PLR0911 - a list of cases
    """Return a hint about an unexpected character. *is_extra* is True if it follows a complete document."""
    if text.startswith("```"):
        return "remove the lines with ```"
    if text.startswith(r"{\rtf"):
        return "the file is in Rich Text Format; save it as plain text"
    if re.search(r"(?m)^\[\[?[A-Za-z_][\w.\"-]*\]\]?[ \t\r]*$", text):
        return "this looks like TOML; only Codex uses it, so pass --from codex or call the file config.toml"
    if is_extra and found in "}]":
        return "this bracket does not close anything"
    if is_extra and '"jsonrpc"' in text:
        # Probably a recording, with one message per line.
        return "pass a single request, not a whole conversation"
    if is_extra:
        return "the file must contain a single object"
    if not found:
        return "a bracket is not closed"
    if not found.isprintable():
        return f"remove the invisible character U+{ord(found):04X}"
    return 'use " around names and strings' if found in _QUOTES else ""


class _TwiceError(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object. A repeated name would silently drop a server."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _TwiceError
    return members


def _finite(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):
        raise ValueError(digits)
    return value


def _repeated(document: _Json, node: int) -> Iterator[tuple[str | int, int]]:
    """Yield the repeated names in objects, and their indices."""
    seen: set[str | int] = set()
    for name, key, value in document.members_of(node):
        if name in seen:
            yield name, key
        seen.add(name)
        yield from _repeated(document, value)


def _skip_space(text: str, at: int) -> int:
    """Return the index of the first character that is not white space."""
    while text[at : at + 1] in (" ", "\t", "\r", "\n"):
        at += 1
    return at
