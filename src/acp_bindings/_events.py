"""Parse server-sent events as bytes, so that an event never takes more memory than its own size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"
_END = re.compile(rb"(?>\r\n|\n|\r)(?:\r\n|\n|\r)")
"""The end of a line, and an empty line."""
_LINE = re.compile(rb"([^:\n]*)(?:: ?(.*))?(?:\n|\Z)")
"""A field and its value; a comment has no field. A dot is matched ten times as fast as "neither CR nor LF"."""
_USUAL = re.compile(rb"(?P<id>(?:id: ?.*\n)?)data: ?(?P<data>[^\n ].*)\n\n")
"""An event of most servers: its id, if it has one, and one line of data that does not begin with a space."""
_LINES = 500_000
"""The maximum number of lines of an event, because each takes more memory than its bytes."""
_LONG = 1 << 20
"""Bytes of an event of which no copies are made."""
_START = 8192
"""Bytes of a too long event that are kept."""


class EventTooLong(Exception):  # noqa: N818 - says what happened
    """An event exceeds a limit."""

    def __init__(self, why: str, start: bytes) -> None:
        super().__init__(why)
        self.start = start
        """The start of its data."""


class Event(NamedTuple):
    """One event."""

    name: str
    """Its type; `message` by default."""
    data: bytes
    about: bytes = b""
    """The lines of its fields `id` and `retry`."""


class EventBuffer:
    """Splits a stream into blocks of lines, each of which is an event."""

    def __init__(self, limit: int, *, too_long: str | None = None) -> None:
        """Create an empty buffer.

        Args:
            limit: the maximum number of bytes of an event.
            too_long: the message of the error for more.
        """
        self._limit = limit
        self._too_long = too_long or f"it is longer than {limit:,} bytes"
        self.rest = bytearray()
        """The start of the next block."""
        self._searched = 0
        self._is_plain = True
        """True if there was no carriage return, as in most streams. Then `find` does the same, ten times as fast."""
        self._first = True

    def feed(self, chunk: bytes) -> Iterator[bytearray]:
        """Add the next part of the stream, and yield the complete blocks with their empty lines.

        Raises:
            EventTooLong: the next block exceeds the limit.
        """
        self.rest += chunk
        self._is_plain = self._is_plain and b"\r" not in chunk
        while 0 <= (end := self._end_of_block()) <= self._limit:
            yield self._take(end)
        self._searched = max(0, len(self.rest) - 3)
        if len(self.rest) > self._limit:
            raise EventTooLong(self._too_long, _start_of_data(self.rest))

    def _take(self, end: int) -> bytearray:
        if end < _LONG:
            block = self.rest[:end]
            del self.rest[:end]
        else:
            # Not copied, so that a long block is in memory only once.
            block, self.rest = self.rest, self.rest[end:]
            del block[end:]
        self._searched = 0
        if self._first and block.startswith(_BOM):
            del block[: len(_BOM)]
        self._first = False
        if len(block) > _LINES and block.count(b"\n") + block.count(b"\r") > _LINES:
            raise EventTooLong(f"it has more than {_LINES:,} lines", _start_of_data(block))
        return block

    def _end_of_block(self) -> int:
        """Return the number of bytes up to the end of the next block; -1 if there is none."""
        if self._is_plain:
            start = self.rest.find(b"\n\n", self._searched)
            return start if start < 0 else start + 2
        found = _END.search(self.rest, self._searched)
        return found.end() if found else -1


def event_of(block: bytes | bytearray) -> Event | None:
    """Return the event in a block of lines; None if it has no data."""
    if b"\r" in block:
        # Empty lines within the block have no effect.
        block = block.replace(b"\r", b"\n")
    if (usual := _USUAL.fullmatch(block)) is not None:
        return Event("message", usual["data"], usual["id"])
    name, data, about = "", list[bytes](), b""
    for line in _LINE.finditer(block):
        match line[1]:
            case b"data":
                data.append(line[2] or b"")
            case b"event":
                name = (line[2] or b"").decode(errors="replace")
            case b"id" | b"retry":
                about += line[0].rstrip() + b"\n"
            case _:
                pass
    text = data[0] if len(data) == 1 else b"\n".join(data)
    return Event(name or "message", text, about) if text else None


def _start_of_data(block: bytes | bytearray) -> bytes:
    return bytes(block[:_START]).partition(b"data:")[2].lstrip()
