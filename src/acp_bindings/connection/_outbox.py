"""Lines on their way to the peer: written whole, in order and many at a time, by one task, within bounds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Protocol

import anyio

_FULL = 65536
"""Bytes that may be queued. Senders that have more wait for room."""
_MOST_OWED = 8 * 1024 * 1024
"""Bytes of replies by the task that reads. It does not wait for room, so that both sides can read on."""
_ENOUGH = 16384
"""Bytes that are worth a write of their own, so that the peer can read them while we make more."""


class ByteSender(Protocol):
    """Where bytes go, whole lines at a time."""

    async def send(self, item: bytes, /) -> None: ...


class ByteSink(ByteSender, Protocol):
    """The same, to be closed: any `anyio.abc.ByteSendStream`."""

    async def aclose(self) -> None: ...


class Place:
    """A place in the queue of senders that wait for room."""

    __slots__ = ("_called", "_queue", "lines", "taken")

    def __init__(self, lines: tuple[bytes, ...], queue: OrderedDict[Place, None]) -> None:
        self.lines = lines
        self.taken = False
        """Whether there was room for the lines."""
        self._queue = queue
        self._called = anyio.Event()
        queue[self] = None

    def leave(self) -> None:
        """Stop waiting. Lines that were not taken before are never sent."""
        self._queue.pop(self, None)
        self._called.set()

    async def wait(self) -> bool:
        """Wait until the lines are taken. If this is cancelled before, they are not sent.

        Returns:
            True if they were taken, False if the place was left or the connection has ended.
        """
        try:
            await self._called.wait()
        finally:
            self.leave()
        return self.taken


class Outbox:
    """Takes lines from any task while `run` writes them.

    Senders that wait for room are served in the order in which they came, on every event loop.
    """

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
        self._queue: OrderedDict[Place, None] = OrderedDict()
        """The senders that wait for room, in order. It is empty while there is room."""
        self.responses = 0
        """Bytes of responses that wait for room."""
        self.is_ending = False
        """Whether the connection was closed, so that few lines are to come."""
        self._writing = False
        self._stuck = False
        """Whether a write at once has left something, which `run` has to write before the next is tried."""
        self._news = anyio.Event()
        self._progress: anyio.Event | None = None
        """Set when lines were taken or written; None while nobody waits for that."""

    @property
    def is_full(self) -> bool:
        """Whether a sender has to `line_up`."""
        return self._size >= _FULL and not self.is_ending

    @property
    def is_empty(self) -> bool:
        """Whether all lines are written, or are being written."""
        return not self._lines

    @property
    def owes_much(self) -> bool:
        """Whether the peer causes so many replies without reading them that no more lines should be read."""
        return self._owed >= _MOST_OWED

    def line_up(self, *lines: bytes) -> Place:
        """Return a place behind all other senders, which can be awaited. The lines are written together."""
        return Place(lines, self._queue)

    async def respond(self, lines: Sequence[bytes], *, hurry: bool = False) -> None:
        """Send a response, and behind it what is to follow it, when there is room.

        When nothing can be sent any more, the lines are dropped.
        """
        if self.is_full:
            size = sum(map(len, lines))
            self.responses += size
            try:
                if await self.line_up(*lines).wait():
                    return
            finally:
                self.responses -= size
        for line in lines:
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
        """Send *line*, a reply, for the task that reads, which cannot wait for room."""
        self.add(line)
        # No more is owed than is still to be written.
        self._owed = min(self._owed + len(line), self._size)

    def withdraw(self, line: bytes) -> bool:
        """Leave *line*, the very object that was added, unsent, and return True, if it is not being written yet."""
        for index, waiting in enumerate(self._lines):
            if waiting is line:
                del self._lines[index]
                self._size -= len(line)
                self._admit()
                self._tell_progress()
                return True
        return False

    async def paid(self) -> None:
        """Wait until it no longer `owes_much`."""
        while self.owes_much:
            await self._next_progress()

    def end(self) -> None:
        """Let nobody wait for room any more: few lines are to come."""
        self.is_ending = True
        self._dismiss()

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
            self._dismiss()

    def _write_at_once(self) -> None:
        # No sender waits for room now: while one does, `run` is writing or the last write is stuck.
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
        self._admit()
        self._tell_progress()
        await self._sink.send(b"".join(lines))
        self._writing = self._stuck = False
        self._tell_progress()

    def _admit(self) -> None:
        """Take the lines of those who wait, in order, as long as there is room."""
        while self._queue and self._size < _FULL:
            place, _ = self._queue.popitem(last=False)
            for line in place.lines:
                if self._trace:
                    self._trace(line)
                self._lines.append(line)
                self._size += len(line)
            place.taken = True
            place.leave()

    def _dismiss(self) -> None:
        for place in [*self._queue]:
            place.leave()
        self._tell_progress()

    async def _next_progress(self) -> None:
        if self._progress is None:
            self._progress = anyio.Event()
        await self._progress.wait()

    def _tell_progress(self) -> None:
        if self._progress is not None:
            self._progress.set()
            self._progress = None
