"""Forwards the standard error of a child to a listener, line by line, without waiting for it."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
import anyio.to_thread

from acp_bindings._condition import Condition

_LONGEST = 16384
"""Bytes of a line. Of a longer one not even the start is forwarded, since a secret in it may be cut in two."""
_WAITING = 1000
"""The number of last lines that are stored for a slow listener."""
_LAST_LINES = 1.0
"""Seconds for a listener to handle the rest after the child has exited."""


@dataclass(eq=False)
class LineForwarder:
    """Takes bytes by `feed`, which never waits, and forwards their lines in `run`, a separate task, until `finish`."""

    listener: Callable[[str], object]
    """Called with each line, from a thread, one at a time."""
    hide: Callable[[str], str] = field(kw_only=True)
    """Returns the line without secrets. It is called from the same thread."""
    failed: Callable[[Exception], object] | None = field(default=None, kw_only=True)
    """Called with the error that the listener raised, which ends `run`."""

    def __post_init__(self) -> None:
        self.error: Exception | None = None
        """The error that the listener raised. It is not called again after that."""
        self._rest = b""
        self._too_long = False
        self._lines: deque[tuple[int, str]] = deque(maxlen=_WAITING)
        """Lines with their numbers; a gap means that the listener was too slow."""
        self._taken = 0
        self._told_up_to = 0
        self._news = Condition()
        self._ended = False
        self._told = anyio.Event()

    def feed(self, chunk: bytes) -> None:
        """Add bytes that were written."""
        if self.error is not None:
            return
        *lines, rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._take(line)
        self._too_long = self._too_long or len(rest) > _LONGEST
        self._rest = b"" if self._too_long else rest
        self._news.notify_all()

    async def run(self) -> None:
        """Forward lines until `finish`."""
        # A separate limit, because listeners that hang must not use up the threads of the program.
        limiter = anyio.CapacityLimiter(1)
        try:
            while self.error is None and not (self._ended and not self._lines):
                if self._lines:
                    await anyio.to_thread.run_sync(self._tell, abandon_on_cancel=True, limiter=limiter)
                else:
                    await self._news.wait()
            if self.error is not None and self.failed:
                self.failed(self.error)
        finally:
            # So that a thread that was left behind ends.
            self._lines.clear()
            self._told.set()

    async def finish(self) -> None:
        """End the input, and give the listener some time for the rest."""
        if self._rest or self._too_long:
            self._take(self._rest)
        self._ended = True
        self._news.notify_all()
        with anyio.move_on_after(_LAST_LINES):
            await self._told.wait()

    def _take(self, line: bytes) -> None:
        if self._too_long or len(line) > _LONGEST:
            text = f"[a line of more than {_LONGEST} bytes]"
            self._too_long = False
        else:
            text = line.decode(errors="replace").rstrip("\r")
        self._taken += 1
        self._lines.append((self._taken, text))

    def _tell(self) -> None:
        with contextlib.suppress(IndexError):
            while True:
                number, line = self._lines.popleft()
                left_out = number - self._told_up_to - 1
                self._told_up_to = number
                try:
                    if left_out:
                        self.listener(f"[{left_out} lines left out]")
                    self.listener(self.hide(line))
                except Exception as error:  # noqa: BLE001 - reported, and the child goes on
                    self.error = error
                    return
