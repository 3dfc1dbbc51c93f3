"""The queue of outgoing lines, which one task writes in order, many at a time, and within limits."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Protocol

import anyio

from acp_bindings._condition import Condition

_FULL = 65536
"""Bytes that may be queued before senders wait for room."""
_MOST_OWED = 8 * 1024 * 1024
"""Bytes of replies of the reading task, which does not wait for room, so that both sides can keep reading."""
_ENOUGH = 16384
"""Bytes that are written at once, so that the peer can read them while more are produced."""


class ByteSender(Protocol):
    """A destination for bytes."""

    async def send(self, item: bytes, /) -> None: ...


class ByteSink(ByteSender, Protocol):
    """A destination that can be closed: any `anyio.abc.ByteSendStream`."""

    async def aclose(self) -> None: ...


class Place:
    """A place in the queue of senders that wait for room."""

    __slots__ = ("_called", "_queue", "lines", "taken")

    def __init__(self, lines: tuple[bytes, ...], queue: OrderedDict[Place, None]) -> None:
        self.lines = lines
        self.taken = False
        """True if the lines were accepted."""
        self._queue = queue
        self._called = anyio.Event()
        queue[self] = None

    def leave(self) -> None:
        """Stop waiting. Lines that have not been accepted yet are never sent."""
        self._queue.pop(self, None)
        self._called.set()

    async def wait(self) -> bool:
        """Wait until the lines are accepted. If this is cancelled first, they are not sent.

        Returns:
            True if they were accepted, False if the place was left or the connection has ended.
        """
        try:
            await self._called.wait()
        finally:
            self.leave()
        return self.taken


class Outbox:
    """Accepts lines from any task while `run` writes them.

    Senders that wait for room are served in order, on every event loop.
    """

    def __init__(self, sink: ByteSender, *, trace: Callable[[bytes], object] | None = None) -> None:
        self.broken = anyio.Event()
        """Set when nothing can be sent any more."""
        self.is_broken = False
        """The same as `broken.is_set()`, but faster."""
        self._sink = sink
        self._at_once: Callable[[bytes], int] | None = getattr(sink, "send_at_once", None)
        self._trace = trace
        self._lines: list[bytes] = []
        self._size = 0
        self._owed = 0
        self._queue: OrderedDict[Place, None] = OrderedDict()
        """The senders that wait for room, in order. Empty while there is room."""
        self.responses = 0
        """Bytes of responses that wait for room."""
        self.is_ending = False
        """True if the connection was closed, so few lines will follow."""
        self._writing = False
        self._stuck = False
        """True if an immediate write left a rest, which `run` has to write first."""
        self._news = Condition()
        """Notified when there are lines again."""
        self._progress = Condition()
        """Notified when lines were accepted or written."""

    @property
    def is_full(self) -> bool:
        """True if senders have to `line_up`."""
        return self._size >= _FULL and not self.is_ending

    @property
    def is_empty(self) -> bool:
        """True if all lines are written or being written."""
        return not self._lines

    @property
    def owes_much(self) -> bool:
        """True if so many replies are unread that no more lines should be read from the peer."""
        return self._owed >= _MOST_OWED

    def line_up(self, *lines: bytes) -> Place:
        """Return a place behind all other senders, to wait for. The lines are written together."""
        return Place(lines, self._queue)

    async def respond(self, lines: Sequence[bytes], *, hurry: bool = False) -> None:
        """Send a response and the lines that follow it, when there is room.

        If the peer no longer reads, the lines are dropped.
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
        """Queue *line*, whether there is room or not.

        Args:
            line: a complete line with its newline.
            hurry: write it now if the sink can do so without waiting, because a task waits for the response.
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
            self._news.notify_all()

    def owe(self, line: bytes) -> None:
        """Queue *line*, a reply of the reading task, which cannot wait for room."""
        self.add(line)
        # No more is owed than is still to be written.
        self._owed = min(self._owed + len(line), self._size)

    def withdraw(self, line: bytes) -> bool:
        """Remove *line*, the same object that was added, and return True, unless it is already being written."""
        for index, waiting in enumerate(self._lines):
            if waiting is line:
                del self._lines[index]
                self._size -= len(line)
                self._admit()
                self._progress.notify_all()
                return True
        return False

    async def paid(self) -> None:
        """Wait until it no longer `owes_much`."""
        while self.owes_much:
            await self._progress.wait()

    def end(self) -> None:
        """Let senders no longer wait for room, because few lines will follow."""
        self.is_ending = True
        self._dismiss()

    async def flush(self) -> None:
        """Wait until all lines are written, or the sink breaks."""
        while self._lines or self._writing:
            await self._progress.wait()

    async def run(self) -> None:
        """Write the lines, until the sink breaks or this is cancelled."""
        try:
            while True:
                while self._lines:
                    await self._write()
                await self._news.wait()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass
        finally:
            self.broken.set()
            self.is_broken = True
            self._lines, self._size, self._owed, self._writing = [], 0, 0, False
            self._dismiss()

    def _write_at_once(self) -> None:
        # No sender waits for room now: otherwise `run` would be writing, or the last write would be stuck.
        if self._at_once:
            data = b"".join(self._lines)
            rest = data[self._at_once(data) :]
            self._lines = [rest] if rest else []
            self._size = len(rest)
            self._stuck = bool(rest)
            self._progress.notify_all()

    async def _write(self) -> None:
        lines, self._lines = self._lines, []
        self._size = self._owed = 0
        self._writing = True
        self._admit()
        self._progress.notify_all()
        await self._sink.send(b"".join(lines))
        self._writing = self._stuck = False
        self._progress.notify_all()

    def _admit(self) -> None:
        """Accept the lines of waiting senders, in order, as long as there is room."""
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
        self._progress.notify_all()
