"""MCP over a process's standard input and output, which remembers what the process said and how it ended."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError

from mcp_launch.hints import explain_stderr
from mcp_launch.process import ServerProcess
from mcp_launch.redact import Redactor
from mcp_launch.transports import LONGEST, Diagnosis
from mcp_launch.transports.era import bound_probe
from mcp_launch.transports.messages import UNWRITABLE, UnwritableError, refusal, written

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client import Transport as Streams

__all__ = ["StdioTransport"]

_STRAY_LINES = 5
_SHOWN = 300
"""Characters of a line that are shown."""
_LAST_WORDS = 0.5
"""Seconds an ended connection waits for the exit status and the rest of standard error."""
_HURRY = 1.0
"""Seconds for ending a server that never became ready."""


class StdioTransport:
    """The streams over one started process, which it ends."""

    def __init__(
        self, process: ServerProcess, *, hide: Redactor, probe: float, close: float, on_lost: Callable[[], None]
    ) -> None:
        self.warnings: list[str] = []
        self._process = process
        self._hide = hide
        self._probe = probe
        self._close = close
        self._on_lost = on_lost
        self._proven = False
        self._spoke = False
        self._ended = False
        self._deaf = False
        self._closed: str | None = None
        self._exit: int | None = None
        self._read_input = False
        self._stray: list[str] = []
        self._stray_count = 0

    @property
    def died_of_probe(self) -> bool:
        """Whether it may have left because it was asked for an era it does not know, without a word of MCP."""
        return self._exit is not None and self._read_input and not self._spoke

    def prove(self) -> None:
        """Say that the session is initialised: such a server gets all its time to leave."""
        self._proven = True

    def open(self) -> Streams:
        """A block in which the streams are connected; at its end no process is left."""
        return self._opened()

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[Any]:
        to_session, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        # The pumps outlive a cancellation, so that a server which is busy writing can still leave in order.
        pumps = anyio.CancelScope(shield=True)

        async def run_pumps() -> None:
            with pumps:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._read_stdout, to_session)
                    tasks.start_soon(self._write_stdin, from_session, to_session)
                    tasks.start_soon(self._process.drain_stderr)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_pumps)
            try:
                yield bound_probe(read, write, seconds=self._probe)
            finally:
                read.close()
                write.close()
                with anyio.CancelScope(shield=True):
                    await self._end()
                pumps.cancel()

    async def diagnose(self, *, waited: float | None, answered: bool) -> Diagnosis | None:  # noqa: PLR0911 - a list of cases
        """Why the process was of no use; None when it ran and spoke MCP."""
        if answered:
            return None
        facts: dict[str, Any] = {"stderr": self._process.stderr.lines()[-20:]}
        if self._stray:
            facts["stdout"] = self._stray
        if self._exit is not None:
            facts |= {"signal": _signal(self._exit)} if self._exit < 0 else {"exit_code": self._exit}
            return Diagnosis("exited", f"{_how(self._exit)}{self._last_words()}", facts)
        if self._process.overflowed:
            message = f"wrote a line of more than {LONGEST >> 20} MB, and was given up"
            return Diagnosis("disconnected" if self._spoke else "not_mcp", message, facts)
        if waited is not None and self._stray and not self._spoke:
            return Diagnosis("not_mcp", f'wrote "{self._stray[0]}" on stdout, which is no JSON-RPC message', facts)
        if waited is not None:
            return Diagnosis("timeout", f"did not answer within {waited:.1f} s{self._last_words()}", facts)
        if self._closed:
            return Diagnosis("disconnected", f"closed its standard {self._closed}{self._last_words()}", facts)
        return None

    def _last_words(self) -> str:
        said = [line for line in self._process.stderr.lines() if line.strip()]
        if said:
            hint, line = explain_stderr(said)
            return f"{f': {hint}' if hint else ''}; it said on stderr: {self._shorten(line)}"
        if self._stray:
            return f'; it wrote "{self._stray[0]}" on stdout, which is no JSON-RPC message'
        return "; it printed nothing"

    async def _read_stdout(self, to_session: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        async with to_session:
            async for line in self._process.lines(longest=LONGEST):
                message = self._parse(line)
                if message is None:
                    continue
                try:
                    await to_session.send(SessionMessage(message))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    # The session has gone. Go on reading, so that the server is not stuck in a write.
                    continue
        self._ended = True
        self._on_lost()

    async def _write_stdin(
        self,
        from_session: MemoryObjectReceiveStream[SessionMessage],
        to_session: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        async with from_session:
            async for item in from_session:
                try:
                    await self._process.send(written(item.message) + b"\n")
                except UnwritableError:
                    if (reply := refusal(item.message, UNWRITABLE)) is not None:
                        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                            await to_session.send(reply)
                except anyio.BrokenResourceError:
                    # It no longer listens: end the session's input, so that no request waits for an answer.
                    self._deaf = True
                    await to_session.aclose()
                    return

    def _parse(self, line: bytes) -> JSONRPCMessage | None:
        # Some runtimes begin their output with a byte order mark.
        line = line.strip(b"\xef\xbb\xbf \t\r")
        try:
            # What is no object is not even tried: a flood of it would keep the event loop from everybody else.
            message = jsonrpc_message_adapter.validate_json(line, by_name=False) if line.startswith(b"{") else None
        except ValidationError:
            message = self._repaired(line)
        if message is None:
            if line:
                self._note_stray(line.decode(errors="replace"))
            return None
        self._spoke = True
        return message

    @staticmethod
    def _repaired(line: bytes) -> JSONRPCMessage | None:
        """Bytes that are not UTF-8 inside a message cost those characters, not the message."""
        try:
            return jsonrpc_message_adapter.validate_json(line.decode(errors="replace"), by_name=False)
        except ValidationError:
            return None

    def _note_stray(self, text: str) -> None:
        self._stray_count += 1
        if len(self._stray) < _STRAY_LINES:
            self._stray.append(self._shorten(text))
        if self._stray_count == 1:
            self.warnings.append(f'wrote "{self._shorten(text)}" on stdout, which is no JSON-RPC message')

    def _shorten(self, text: str) -> str:
        # Redacted first: of a secret that is cut in two, neither half would be recognised.
        return self._hide(text)[:_SHOWN]

    async def _end(self) -> None:
        # A child that it left behind may hold its output open, after it has exited itself.
        self._closed = "output" if self._ended else "input" if self._deaf else None
        if self._closed:
            await self._process.settle(_LAST_WORDS)
        self._exit, self._read_input = self._process.returncode, self._process.read_input
        patience = self._close if self._proven else min(self._close, _HURRY)
        if not await self._process.stop(patience=patience):
            self.warnings.append("did not leave when its standard input was closed, and was ended by a signal")


def _how(status: int) -> str:
    return f"was ended by {_signal(status)}" if status < 0 else f"exited with status {status}"


def _signal(status: int) -> str:
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"
