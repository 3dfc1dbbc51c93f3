"""On which line of a JSON document something stands."""

from __future__ import annotations

import re
from json import JSONDecoder

from acp_bindings.errors import Path

LONGEST = 1_000_000
"""Longer documents, in bytes, are not looked through: each place takes a walk from the beginning."""

_SPACE = re.compile(r"[ \t\r\n]*")
_VALUE = JSONDecoder()


def line_in(text: bytes, path: Path) -> int | None:
    """The line, from 1, of what *path* leads to, or of what is there around it; None where *text* is too long."""
    if len(text) > LONGEST:
        return None
    document = text.decode(errors="replace")
    at = _skip(document, 0)
    try:
        for step in path:
            found = _member(document, at, step) if isinstance(step, str) else _item(document, at, step)
            if found is None:
                break
            at = found
    except (ValueError, IndexError, RecursionError):
        pass
    return document.count("\n", 0, at) + 1


def _member(document: str, at: int, name: str) -> int | None:
    """Where the value of the member *name* begins, of the object at *at*; the last, if there are several."""
    found = None
    if document[at] != "{":
        return None
    at = _skip(document, at + 1)
    while document[at] != "}":
        key, end = _VALUE.raw_decode(document, at)
        value = _skip(document, _skip(document, end) + 1)
        if key == name:
            found = value
        at = _next(document, value)
    return found


def _item(document: str, at: int, index: int) -> int | None:
    """Where an item of the list at *at* begins."""
    if document[at] != "[":
        return None
    at = _skip(document, at + 1)
    while document[at] != "]":
        if index == 0:
            return at
        index -= 1
        at = _next(document, at)
    return None


def _next(document: str, at: int) -> int:
    """Where what follows the value at *at* begins, behind a comma if there is one."""
    _, end = _VALUE.raw_decode(document, at)
    end = _skip(document, end)
    return _skip(document, end + 1) if document[end] == "," else end


def _skip(document: str, at: int) -> int:
    found = _SPACE.match(document, at)
    return found.end() if found else at
