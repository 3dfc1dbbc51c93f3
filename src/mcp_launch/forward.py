"""What a server says on standard error, line by line, to whoever wants to show it, and without waiting for them."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable

import anyio
import anyio.to_thread

from mcp_launch.redact import Redactor

__all__ = ["LineForwarder"]

_LONGEST = 16384
"""Bytes of a line; the start of a longer one is not told, since a secret in it may be cut in two."""
_WAITING = 1000
"""Lines kept for a listener that is slow."""
_LAST_LINES = 1.0
"""Seconds a listener gets for the rest once the server has gone."""


class LineForwarder:
    """Takes bytes and tells lines: `feed` never waits, `run` stands beside it, and `finish` is for the end."""

    def __init__(self, listener: Callable[[str], object], *, hide: Redactor) -> None:
        self.error: Exception | None = None
        """What the listener raised; it has been told nothing since."""
        self._listener = listener
        self._hide = hide
        self._rest = b""
        self._too_long = False
        self._lines: deque[str] = deque()
        self._left_out = 0
        self._news = anyio.Event()
        self._ended = False
        self._told = anyio.Event()

    def feed(self, chunk: bytes) -> None:
        """Take what was written."""
        if self.error is not None:
            return
        *lines, rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._take(line)
        self._too_long = self._too_long or len(rest) > _LONGEST
        self._rest = b"" if self._too_long else rest
        self._news.set()

    async def run(self) -> None:
        """Tell the lines as they come, until all is told."""
        # A limit of its own: listeners that hang must not use up the threads of everybody else.
        limiter = anyio.CapacityLimiter(1)
        try:
            while self.error is None and not (self._ended and not self._lines):
                await self._news.wait()
                self._news = anyio.Event()
                if self._lines:
                    await anyio.to_thread.run_sync(self._tell, abandon_on_cancel=True, limiter=limiter)
        finally:
            # For the thread, if it was left behind.
            self._lines.clear()
            self._told.set()

    async def finish(self) -> None:
        """Nothing more will come: give the listener a moment for the rest."""
        if self._rest or self._too_long:
            self._take(self._rest)
        self._ended = True
        self._news.set()
        with anyio.move_on_after(_LAST_LINES):
            await self._told.wait()

    def _take(self, line: bytes) -> None:
        if len(self._lines) >= _WAITING:
            self._left_out += 1
            return
        if self._left_out:
            self._lines.append(f"[{self._left_out} lines left out]")
            self._left_out = 0
        if self._too_long or len(line) > _LONGEST:
            self._lines.append(f"[a line of more than {_LONGEST} bytes]")
            self._too_long = False
        else:
            self._lines.append(line.decode(errors="replace").rstrip("\r"))

    def _tell(self) -> None:
        with contextlib.suppress(IndexError):
            while True:
                line = self._hide(self._lines.popleft())
                try:
                    self._listener(line)
                except Exception as error:  # noqa: BLE001 - theirs, and no reason to lose the server
                    self.error = error
                    return
