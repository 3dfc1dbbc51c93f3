"""On which line of a JSON document something stands."""

from __future__ import annotations

import re
from bisect import bisect_left
from json import JSONDecoder

from acp_bindings.errors import Path


class Places:
    """The lines of a document, which is looked through as far as it is asked about."""

    def __init__(self, text: bytes) -> None:
        """The lines of *text*, which is JSON."""
        self._document = text.decode(errors="replace")
        self._line_ends = [each.start() for each in re.finditer("\n", self._document)]
        self._members: dict[int, dict[str | int, int]] = {}
        """By where an object or a list begins, where what is in it begins."""

    def line_of(self, path: Path) -> int:
        """The line, from 1, of what *path* leads to, or of what is there around it."""
        at = self._skip(0)
        for step in path:
            if at not in self._members:
                self._members[at] = self._members_at(at)
            if step not in self._members[at]:
                break
            at = self._members[at][step]
        return bisect_left(self._line_ends, at) + 1

    def _members_at(self, at: int) -> dict[str | int, int]:
        """Where each member or item of what begins at *at* begins; of members with one name the last counts."""
        found: dict[str | int, int] = {}
        opening = self._document[at]
        if opening not in "{[":
            return found
        at = self._skip(at + 1)
        while self._document[at] not in "}]":
            step: str | int = len(found)
            if opening == "{":
                step, end = _JSON.raw_decode(self._document, at)
                at = self._skip(self._skip(end) + 1)  # past the colon
            found[step] = at
            _, end = _JSON.raw_decode(self._document, at)
            at = self._skip(end)
            if self._document[at] == ",":
                at = self._skip(at + 1)
        return found

    def _skip(self, at: int) -> int:
        """Where the white space that may be at *at* ends."""
        found = _SPACE.match(self._document, at)
        return found.end() if found else at


_SPACE = re.compile(r"[ \t\r\n]*")
_JSON = JSONDecoder()
