"""What a child says on standard error, line by line, to whoever wants to show it, and without waiting for them."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable

import anyio
import anyio.to_thread

__all__ = ["LineForwarder"]

_LONGEST = 16384
"""Bytes of a line; the start of a longer one is not told, since a secret in it may be cut in two."""
_WAITING = 1000
"""Lines kept for a listener that is slow: the last ones, which say most."""
_LAST_LINES = 1.0
"""Seconds a listener gets for the rest once the child has gone."""


class LineForwarder:
    """Takes bytes and tells lines: `feed` never waits, `run` stands beside it, and `finish` is for the end."""

    def __init__(
        self,
        listener: Callable[[str], object],
        *,
        hide: Callable[[str], str],
        failed: Callable[[Exception], object] | None = None,
    ) -> None:
        """A forwarder that has told nothing yet.

        Args:
            listener: called with each line, from a thread, one at a time.
            hide: gives the line as it may be shown. Called from that thread too.
            failed: called with what the listener raised, when `run` ends for it.
        """
        self.error: Exception | None = None
        """What the listener raised; it has been told nothing since."""
        self._listener = listener
        self._hide = hide
        self._failed = failed
        self._rest = b""
        self._too_long = False
        self._lines: deque[tuple[int, str]] = deque(maxlen=_WAITING)
        """With the number of each: what is missing between two was too much for the listener."""
        self._taken = 0
        self._told_up_to = 0
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
            if self.error is not None and self._failed:
                self._failed(self.error)
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
                        self._listener(f"[{left_out} lines left out]")
                    self._listener(self._hide(line))
                except Exception as error:  # noqa: BLE001 - theirs, and no reason to lose the child
                    self.error = error
                    return
