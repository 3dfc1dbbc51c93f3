"""Bytes in, lines out, however they arrive: no I/O, and time that grows with the bytes, not with their square."""

from __future__ import annotations

__all__ = ["LineBuffer"]

_BEGUN = 65536
"""Bytes that are shown of a line that has not ended."""


class LineBuffer:
    """Splits a stream at its newlines; `feed` it, and take the `rest` at the end."""

    def __init__(self, *, limit: int) -> None:
        """An empty buffer.

        Args:
            limit: the bytes that a line may have. After a longer one nothing more is given.
        """
        self.limit = limit
        self.overflowed = False
        """Whether there was a line that was longer than that."""
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that *chunk* ends, without their newlines."""
        if self.overflowed:
            return []
        *lines, last = chunk.split(b"\n")
        if lines and self._rest:
            self._rest += lines[0]
            lines[0] = bytes(self._rest)
            self._rest.clear()
        self._rest += last
        too_long = next((index for index, line in enumerate(lines) if len(line) > self.limit), None)
        if too_long is not None or len(self._rest) > self.limit:
            self.overflowed = True
            self._rest.clear()
            return lines[:too_long]
        return lines

    @property
    def begun(self) -> bytes:
        """The beginning of the line that has not ended yet."""
        return bytes(self._rest[:_BEGUN])

    def rest(self) -> bytes:
        """What stands behind the last newline, which is taken out of here."""
        rest = bytes(self._rest)
        self._rest.clear()
        return rest
