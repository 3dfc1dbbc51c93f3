"""Lines on their way to the peer: written whole and in order by one task, many at a time, and never piling up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import anyio

__all__ = ["ByteSink", "Outbox"]

_FULL = 65536
"""Bytes that may wait; who has more to send waits too."""
_MOST_OWED = 8 * 1024 * 1024
"""Bytes that may wait of what cannot wait for room, answers: two sides that both read on may owe each other as much."""
_ENOUGH = 16384
"""Bytes that are worth a write of their own, so that the peer reads them while more are made."""


class ByteSink(Protocol):
    """Where bytes go: any `anyio.abc.ByteSendStream`."""

    async def send(self, item: bytes, /) -> None: ...  # noqa: D102
    async def aclose(self) -> None: ...  # noqa: D102


class Outbox:
    """`put` lines from any task while `run` writes them."""

    def __init__(self, sink: ByteSink, *, trace: Callable[[bytes], object] | None = None) -> None:
        self.broken = anyio.Event()
        """Set when nothing can be sent any more."""
        self.is_broken = False
        """The same, for who asks with every line."""
        self._sink = sink
        self._at_once: Callable[[bytes], int] | None = getattr(sink, "send_at_once", None)
        self._trace = trace
        self._lines: list[bytes] = []
        self._size = 0
        self._owed = 0
        self._ending = False
        self._writing = False
        self._stuck = False
        """Whether not all could be written at once, so that it is not to be tried again before `run` has done it."""
        self._news = anyio.Event()
        self._progress: anyio.Event | None = None
        """Set when lines were taken or written; there when somebody waits for that."""

    @property
    def is_full(self) -> bool:
        """Whether `put` would wait."""
        return self._size >= _FULL and not self._ending

    @property
    def owes_much(self) -> bool:
        """Whether the peer causes more answers than it reads."""
        return self._owed >= _MOST_OWED

    async def put(self, line: bytes, *, hurry: bool = False) -> None:
        """Send *line* after all that were put before, when there is room; a cancellation before that leaves it unsent.

        What is put when nothing can be sent any more is dropped.
        """
        if self.is_full:
            await self.room()
        self.add(line, hurry=hurry)

    def add(self, line: bytes, *, hurry: bool = False) -> None:
        """Send *line*, room or not, and in a *hurry* if somebody waits for an answer to it.

        What is in a hurry is written now, if that needs no waiting and the sink can do it.
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
        """Send *line*, which answers what was read, by whoever cannot wait for room."""
        self.add(line)
        # Of what is written already, or goes to nobody, nothing is owed.
        self._owed = min(self._owed + len(line), self._size)

    async def room(self) -> None:
        """Wait until `put` would not."""
        while self.is_full:
            await self._next_progress()

    async def paid(self) -> None:
        """Wait until not much is owed."""
        while self.owes_much:
            await self._next_progress()

    def end(self) -> None:
        """Have nobody wait for room any more: what is put from now on is the last."""
        self._ending = True
        self._tell_progress()

    async def flush(self) -> None:
        """Wait until all is written, or cannot be."""
        while self._lines or self._writing:
            await self._next_progress()

    async def run(self) -> None:
        """Write what is put, until it breaks or is cancelled."""
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
