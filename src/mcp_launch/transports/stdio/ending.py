"""How a server's process comes to its end, which its two streams do not always tell."""

from __future__ import annotations

from typing import Literal

import anyio

from acp_bindings._processes.process import ChildProcess

__all__ = ["Ending"]

_LAST_WORDS = 0.5
"""Seconds an ended connection waits for the exit status and the rest of standard error."""


class Ending:
    """Whoever uses the streams says which of them has ended; `watch` notices the rest, and `note` keeps the facts."""

    def __init__(self, process: ChildProcess) -> None:
        self._process = process
        self._deaf = False
        self._of_use = anyio.CancelScope()
        """Around the wait for the exit, which is over too when it no longer reads."""
        self._silent = anyio.Event()
        self.closed: Literal["input", "output"] | None = None
        """The stream that ended first."""
        self.status: int | None = None
        """The exit status, negative for a signal; None if it was still running."""
        self.read_input = False
        """Whether it had read anything of what it was sent."""

    def deaf(self) -> None:
        """It no longer reads."""
        self._deaf = True
        self._of_use.cancel()

    def silent(self) -> None:
        """It no longer writes."""
        self._silent.set()

    async def watch(self) -> None:
        """End the output of a server that is gone or no longer reads, when somebody else holds it open."""
        with self._of_use:
            await self._process.wait_lost()
        self._deaf = True
        with anyio.move_on_after(_LAST_WORDS):
            await self._silent.wait()
        await self._process.hang_up()

    async def note(self) -> None:
        """Keep how it is now; after an end, with a moment for the exit status and the last words to arrive."""
        self.closed = "input" if self._deaf else "output" if self._silent.is_set() else None
        if self.closed:
            await self._process.settle(_LAST_WORDS)
        self.status, self.read_input = self._process.returncode, self._process.read_input
