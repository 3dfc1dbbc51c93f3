"""Lines on their way to the peer: written whole and in order by one task, many at a time, and never piling up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import anyio

__all__ = ["ByteSender", "ByteSink", "Outbox"]

_FULL = 65536
"""Bytes that may wait; who has more to send waits for room."""
_MOST_OWED = 8 * 1024 * 1024
"""Bytes of answers that may wait. The task that reads does not wait for room, so that both sides can read on."""
_ENOUGH = 16384
"""Bytes that are worth a write of their own, so that the peer can read them while we make more."""


class ByteSender(Protocol):
    """Where bytes go, whole lines at a time."""

    async def send(self, item: bytes, /) -> None: ...  # noqa: D102


class ByteSink(ByteSender, Protocol):
    """The same, to be closed: any `anyio.abc.ByteSendStream`."""

    async def aclose(self) -> None: ...  # noqa: D102


class Outbox:
    """`put` lines from any task while `run` writes them."""

    def __init__(self, sink: ByteSender, *, trace: Callable[[bytes], object] | None = None) -> None:
        self.broken = anyio.Event()
        """Set when nothing can be sent any more."""
        self.is_broken = False
        """The same, and quicker to ask."""
        self._sink = sink
        self._at_once: Callable[[bytes], int] | None = getattr(sink, "send_at_once", None)
        self._trace = trace
        self._lines: list[bytes] = []
        self._size = 0
        self._owed = 0
        self._ending = False
        self._writing = False
        self._stuck = False
        """Whether a write at once has left something, which `run` has to write before the next is tried."""
        self._news = anyio.Event()
        self._progress: anyio.Event | None = None
        """Set when lines were taken or written; None while nobody waits for that."""

    @property
    def is_full(self) -> bool:
        """Whether `put` would wait."""
        return self._size >= _FULL and not self._ending

    @property
    def is_empty(self) -> bool:
        """Whether all lines are written, or are being written."""
        return not self._lines

    @property
    def owes_much(self) -> bool:
        """Whether the peer causes so many answers without reading them that no more lines should be read."""
        return self._owed >= _MOST_OWED

    async def put(self, line: bytes, *, hurry: bool = False) -> None:
        """Send *line*, when there is room, after all lines put before. A cancellation before that leaves it unsent.

        When nothing can be sent any more it is dropped.
        """
        if self.is_full:
            await self.room()
        self.add(line, hurry=hurry)

    def add(self, line: bytes, *, hurry: bool = False) -> None:
        """Send *line*, whether there is room or not.

        Args:
            line: a whole one, with its newline.
            hurry: write it now, if the sink can do that without waiting: somebody waits for an answer to it.
        """
        if self.is_broken:
            return
        if self._trace:
            self._trace(line)
        self._lines.append(line)
        self._size += len(line)
        if (hurry or self._size >= _ENOUGH) and not (self._writing or self._stuck):
            self._write_at_once()
        if len(self._lines) == 1:
            self._news.set()

    def owe(self, line: bytes) -> None:
        """Send *line*, an answer, for the task that reads, which cannot wait for room."""
        self.add(line)
        # No more is owed than is still to be written.
        self._owed = min(self._owed + len(line), self._size)

    def withdraw(self, line: bytes) -> bool:
        """Leave *line*, the very object that was added, unsent, and return True, if it is not being written yet."""
        for index, waiting in enumerate(self._lines):
            if waiting is line:
                del self._lines[index]
                self._size -= len(line)
                self._tell_progress()
                return True
        return False

    async def room(self) -> None:
        """Wait until there is room."""
        while self.is_full:
            await self._next_progress()

    async def paid(self) -> None:
        """Wait until it no longer `owes_much`."""
        while self.owes_much:
            await self._next_progress()

    def end(self) -> None:
        """Let nobody wait for room any more: few lines are to come."""
        self._ending = True
        self._tell_progress()

    async def flush(self) -> None:
        """Wait until all lines are written, or no more can be."""
        while self._lines or self._writing:
            await self._next_progress()

    async def run(self) -> None:
        """Write the lines, until the sink breaks or this is cancelled."""
        try:
            while True:
                await self._news.wait()
                self._news = anyio.Event()
                while self._lines:
                    await self._write()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass
        finally:
            self.broken.set()
            self.is_broken = True
            self._lines, self._size, self._owed, self._writing = [], 0, 0, False
            self._tell_progress()

    def _write_at_once(self) -> None:
        if self._at_once:
            data = b"".join(self._lines)
            rest = data[self._at_once(data) :]
            self._lines = [rest] if rest else []
            self._size = len(rest)
            self._stuck = bool(rest)
            self._tell_progress()

    async def _write(self) -> None:
        lines, self._lines = self._lines, []
        self._size = self._owed = 0
        self._writing = True
        self._tell_progress()
        await self._sink.send(b"".join(lines))
        self._writing = self._stuck = False
        self._tell_progress()

    async def _next_progress(self) -> None:
        if self._progress is None:
            self._progress = anyio.Event()
        await self._progress.wait()

    def _tell_progress(self) -> None:
        if self._progress is not None:
            self._progress.set()
            self._progress = None
