"""Lines and columns in a text, and a document that knows where each of its values stands."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from math import isinf
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias, cast

from mcp_launch.failures import UnusableInput

Path: TypeAlias = tuple[str | int, ...]
"""The names and indices that lead from the root to a value."""

Grammar: TypeAlias = Literal["json", "json with comments", "jsonc", "yaml"]
"""What a client reads; JSONC has trailing commas too."""

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


LONGEST_NUMBER = 4000
"""Digits; from 4,301 on Python reads no integer."""

_QUOTES = "'`\u2018\u2019\u201c\u201d\u201e"
"""Characters that people write in place of JSON's quotation mark, or that word processors put there."""
_STRING = r'(?s)"(?:[^"\\\r\n]|\\.)*"?'
_COMMENT = rf"{_STRING}|(?P<comment>//[^\r\n]*|/\*.*?\*/)|(?P<open>/\*)"
_COMMA = rf"{_STRING}|(?P<kept>[\[{{,:][ \t\r\n]*,)|(?P<comma>,)(?=[ \t\r\n]*[\]}}])"
_BRACKET = rf"{_STRING}|(?P<open>[\[{{])|(?P<close>[\]}}])"
_NUMBER = rf"{_STRING}|(?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"


def read_json(text: str, *, source: str, comments: bool = False, trailing_commas: bool = False) -> Document:
    """Read a text; what is wrong with it is an error by its place."""
    if not text.strip():
        raise unusable(source, Place(1, 1), "is empty")
    blanked = text
    if comments and "/" in text:
        blanked = re.sub(_COMMENT, lambda found: _without_comment(found, source=source), blanked)
    if trailing_commas:
        blanked = re.sub(_COMMA, lambda found: " " if found["comma"] else found[0], blanked)
    _refuse_depth(blanked, source=source)
    try:
        value: Any = json.loads(
            blanked,
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_int=_int,
            parse_float=_float,
        )
    except json.JSONDecodeError as error:
        at, hint = _told(blanked, error, comments=comments, trailing_commas=trailing_commas)
        raise unusable(source, place_in(text, at), f"not JSON: {error.msg}{hint}") from None
    except _TwiceError:
        key, at = _first_repeated(blanked)
        raise unusable(source, place_in(text, at), f"the name {key!r} occurs twice in one object") from None
    except _ConstantError as error:
        at = _first_bare(blanked, str(error))
        raise unusable(source, place_in(text, at), f"not JSON: {error} is not a JSON number") from None
    except _TooLongError:
        at = next(found.start() for found in re.finditer(_NUMBER, blanked) if found["number"] and _is_long(found[0]))
        raise unusable(source, place_in(text, at), "contains a number that is too long") from None
    return _Json(value, blanked)


class _Json(Document):
    """A node is the index in the text where a value begins; the text is known to be valid JSON."""

    def __init__(self, value: Any, text: str) -> None:
        super().__init__(value, _skip_space(text, 0))
        self._text = text

    def place_of(self, node: int) -> Place:
        line = bisect_right(self._lines, node)
        return Place(line, node - self._lines[line - 1] + 1)

    def members_of(self, node: int) -> Iterator[tuple[str | int, int, int]]:
        text = self._text
        if text[node] not in "[{":
            return
        is_object = text[node] == "{"
        # What the members hold is stepped over by the standard library, at its speed.
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

    @cached_property
    def _lines(self) -> list[int]:
        """Where each line begins."""
        starts = [0]
        while at := self._text.find("\n", starts[-1]) + 1:
            starts.append(at)
        return starts


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


def _told(text: str, error: json.JSONDecodeError, *, comments: bool, trailing_commas: bool) -> tuple[int, str]:
    """Where a text is no JSON, and what to try."""
    at = _skip_space(text, error.pos)
    behind = text[at : at + 2]
    if behind in ("//", "/*") and not comments:
        return at, "; comments are not allowed in this file"
    # Versions of Python differ: the error is at the comma or behind it.
    comma = at if behind[:1] == "," else len(text[:at].rstrip(" \t\r\n")) - 1
    if text[comma : comma + 1] == "," and text[_skip_space(text, comma + 1) :][:1] in ("]", "}"):
        return comma, "; remove the comma before the closing bracket" if not trailing_commas else ""
    if error.msg.startswith("Invalid \\"):
        return error.pos, "; write \\\\ for each backslash"
    return error.pos, _advice(text, text[at : at + 1], is_behind=error.msg == "Extra data")


def _advice(text: str, found: str, *, is_behind: bool) -> str:  # noqa: PLR0911 - a list of cases
    """What to try where the character `found` must not stand; `is_behind` says that it follows a whole document."""
    if text.startswith("```"):
        return "; remove the lines with ```"
    if re.search(r"(?m)^\[\[?[A-Za-z_][\w.\"-]*\]\]?[ \t\r]*$", text):
        return "; this looks like TOML, which is not supported"
    if is_behind and found in "}]":
        return "; there is nothing to close here"
    if is_behind and '"jsonrpc"' in text:
        # Most likely a recording, with one message on each line.
        return "; pass a single request, not a whole conversation"
    if is_behind:
        return "; the file must contain a single object"
    if not found:
        return "; a bracket is not closed"
    return '; use " around names and strings' if found in _QUOTES else ""


class _TwiceError(Exception):
    pass


class _ConstantError(Exception):
    pass


class _TooLongError(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object's members. A name that occurs twice would otherwise drop a server in silence."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _TwiceError
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantError(name)


def _int(digits: str) -> int:
    if _is_long(digits):
        raise _TooLongError
    return int(digits)


def _float(digits: str) -> float:
    if _is_long(digits):
        raise _TooLongError
    return float(digits)


def _is_long(number: str) -> bool:
    """Whether a number has too many digits for Python, or overflows a float."""
    return len(number) >= LONGEST_NUMBER or (not number.lstrip("-").isdigit() and isinf(float(number)))


def _first_repeated(text: str) -> tuple[str, int]:
    """The first member, of any object, whose name an earlier member of that object has; there is one."""
    levels: list[set[str]] = []
    for found in re.finditer(_BRACKET, text):
        if found["open"]:
            levels.append(set())
        elif found["close"]:
            levels.pop()
        elif text[_skip_space(text, found.end())] == ":":
            name = str(json.loads(found[0]))
            if name in levels[-1]:
                return name, found.start()
            levels[-1].add(name)
    raise AssertionError("no name occurs twice")


def _first_bare(text: str, word: str) -> int:
    """Where a word stands outside of strings."""
    for found in re.finditer(rf"{_STRING}|(?P<word>{re.escape(word)})", text):
        if found["word"]:
            return found.start()
    return 0


def _skip_space(text: str, at: int) -> int:
    """The index of the first character from `at` on that is no white space."""
    while text[at : at + 1] in (" ", "\t", "\r", "\n"):
        at += 1
    return at
