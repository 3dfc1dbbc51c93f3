"""A command that runs on this machine, with its output as that of a terminal of the protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio

from acp_bindings import v1
from acp_bindings._processes.process import ChildProcess, Tail, signal_name, to_the_end
from acp_bindings.connection.errors import log

_LAST_WORDS = 0.2
"""Seconds for output that was written before a process exited. A child may keep the output open."""


class Terminal:
    """A running command with the last of its output, on this machine."""

    def __init__(self, process: ChildProcess, limit: int, show: Callable[[bytes], object] = lambda _: None) -> None:
        self._process = process
        self._output = Tail(limit)
        self._show = show
        self._reading = anyio.CancelScope()
        self._has_read = anyio.Event()
        self.exited = anyio.Event()
        """Set when the process has exited and its output was read."""
        self._ending = False

    async def run(self) -> None:
        """Read the output until the process exits or is stopped."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch)
                with self._reading:
                    await self._process.read_output(self._take)
                self._has_read.set()
        finally:
            self._has_read.set()
            await self.end()

    def _take(self, chunk: bytes) -> None:
        self._output.add(chunk)
        try:
            self._show(chunk)
        except Exception:  # noqa: BLE001 - the command goes on, and the agent gets its output
            log.exception("on_output failed")

    async def _watch(self) -> None:
        await self._process.wait()
        with anyio.move_on_after(_LAST_WORDS):
            await self._has_read.wait()
        self.exited.set()

    async def end(self) -> None:
        """Kill the process and all that it has started, and wait for their end. The output stays."""
        if self._ending:
            await self.exited.wait()
            return
        self._ending = True
        self._reading.cancel()

        async def stop() -> None:
            await self._has_read.wait()
            await self._process.stop(patience=0)
            self.exited.set()

        await to_the_end(stop)

    def exit(self) -> dict[str, Any] | None:
        """Return the exit status as the fields of the protocol; None while it runs."""
        status = self._process.returncode
        if status is None or not self.exited.is_set():
            return None
        # Windows has negative codes, which the protocol does not.
        return {"signal": signal_name(status)} if status < 0 else {"exit_code": status & 0xFFFFFFFF}

    def output(self) -> v1.TerminalOutputResponse:
        """Return the output so far."""
        ended = self.exit()
        more: Any = {} if ended is None else {"exit_status": v1.TerminalExitStatus(**ended)}
        text, truncated = self._output.text(complete=ended is not None)
        return v1.TerminalOutputResponse(output=text, truncated=truncated, **more)
