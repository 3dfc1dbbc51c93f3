"""MCP over a process's standard input and output, which remembers what the process said and how it ended.

The session reads and writes the pipes itself, in its own tasks: between it and the server is nothing that hands
messages on.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from mcp import MCPError
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import TypeAdapter, ValidationError

from mcp_launch.diagnosis import Diagnosis
from mcp_launch.diagnosis.hints import explain_end
from mcp_launch.processes.forward import LineForwarder
from mcp_launch.processes.process import ServerProcess
from mcp_launch.secrets.redact import Redactor
from mcp_launch.transports import LONGEST
from mcp_launch.transports.era import bound_probe
from mcp_launch.transports.messages import UNWRITABLE, UnwritableError, written

if TYPE_CHECKING:
    from mcp.client import Transport as Streams

__all__ = ["StdioTransport"]

T = TypeVar("T")

_AROUND = b"\xef\xbb\xbf \t\r\0"
"""What may stand around a message and is no part of it; some runtimes begin their output with a byte order mark."""
_STRAY_LINES = 5
_SHOWN = 300
"""Characters of a line that are shown."""
_SAID = 2000
"""Characters of an error that a caller gets; a server may have written more."""
_LAST_WORDS = 0.5
"""Seconds an ended connection waits for the exit status and the rest of standard error."""
_HURRY = 1.0
"""Seconds for ending a server that never became ready."""
_ECHOES = 64
"""Lines of ours that are remembered, of a server that sends them back."""

_batch: TypeAdapter[list[JSONRPCMessage]] = TypeAdapter(list[JSONRPCMessage])


class StdioTransport:
    """The streams over one started process, which it ends."""

    def __init__(
        self,
        process: ServerProcess,
        *,
        hide: Redactor,
        probe: float,
        close: float,
        on_lost: Callable[[], None],
        stderr: Callable[[str], object] | None = None,
    ) -> None:
        self.warnings: list[str] = []
        self._process = process
        self._hide = hide
        self._probe = probe
        self._close = close
        self._on_lost = on_lost
        self._stderr = LineForwarder(stderr, hide=hide) if stderr else None
        self._proven = False
        self._spoke = False
        self._deaf = anyio.Event()
        """Set when it no longer reads."""
        self._ended = anyio.Event()
        """Set when it no longer writes."""
        self._lost = False
        self._answered_for = False
        """Whether the last answer was ours, in place of the server's."""
        self._closed: str | None = None
        self._exit: int | None = None
        self._read_input = False
        self._stray: list[str] = []
        self._stray_count = 0
        self._ours: deque[bytes] | None = deque(maxlen=_ECHOES)
        self._echoes = False
        self._asked: dict[RequestId, RequestId] = {}
        """The requests that wait for an answer."""
        self._ready: deque[JSONRPCMessage] = deque()
        """What the session has not taken yet."""

    @property
    def died_of_probe(self) -> bool:
        """Whether it may have left because it was asked for an era it does not know, without a word of MCP."""
        return self._exit is not None and self._read_input and not self._spoke

    def prove(self) -> None:
        """Say that the session is initialised: such a server gets all its time to leave."""
        self._proven = True
        if not self._echoes:
            self._ours = None

    def open(self) -> Streams:
        """A block in which the streams are connected; at its end no process is left."""
        return self._opened()

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[Any]:
        # Beside the session, and still there while a cancelled one ends.
        beside = anyio.CancelScope(shield=True)

        async def run_beside() -> None:
            with beside:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._watch)
                    if self._stderr:
                        tasks.start_soon(self._stderr.run)
                    tell = self._stderr.feed if self._stderr else None
                    await self._process.drain_stderr(tell=tell)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_beside)
            try:
                yield bound_probe(self, self, seconds=self._probe, was_read=lambda: self._process.read_input)
            finally:
                with anyio.CancelScope(shield=True):
                    await self._end()
                beside.cancel()

    async def receive(self) -> SessionMessage:
        """The next message of the server, or the answer that it no longer gave.

        Raises:
            anyio.EndOfStream: there will be none.
        """
        while not self._ready:
            if self._lost:
                raise anyio.EndOfStream
            line = await self._process.receive_line(longest=LONGEST)
            if line is None:
                await self._lose()
            else:
                self._ready.extend(self._parse(line))
        message = self._ready.popleft()
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._asked.pop(coerce_request_id(message.id), None)
        return SessionMessage(message)

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message to the server.

        Raises:
            MCPError: it is a request that cannot be sent.
        """
        message = item.message
        try:
            line = written(message)
        except UnwritableError:
            if isinstance(message, JSONRPCRequest):
                raise MCPError.from_error_data(UNWRITABLE) from None
            return
        if isinstance(message, JSONRPCRequest):
            if self._lost:
                self._answered_for = True
                raise MCPError.from_error_data(self._farewell())
            self._asked[coerce_request_id(message.id)] = message.id
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._asked.pop(coerce_request_id((message.params or {}).get("requestId", "")), None)
        if self._ours is not None:
            self._ours.append(line)
        try:
            await self._process.send(line + b"\n")
        except anyio.BrokenResourceError:
            # It no longer listens: end the session's input too, so that no request waits for an answer.
            self._deaf.set()

    async def aclose(self) -> None:
        """Nothing: the session closes its streams before the block ends, and the server has more to say until then."""

    async def diagnose(self, *, waited: float | None, answered: bool) -> Diagnosis | None:
        """Why the process was of no use; None when it ran and spoke MCP."""
        return None if answered and not self._answered_for else self._diagnosis(waited)

    def _diagnosis(self, waited: float | None) -> Diagnosis | None:
        facts: dict[str, Any] = {"stderr": self._process.stderr.lines()[-20:]}
        if self._stray:
            facts["stdout"] = self._stray
        if self._process.overflowed:
            message = f"wrote a line of more than {LONGEST >> 20} MB, and was given up"
            return Diagnosis("disconnected" if self._spoke else "not_mcp", message, facts)
        if self._exit is not None:
            facts |= {"signal": _signal(self._exit)} if self._exit < 0 else {"exit_code": self._exit}
            return Diagnosis("exited", f"{_how(self._exit)}{self._last_words()}", facts)
        if waited is not None and not self._spoke and (wrong := self._no_mcp()):
            return Diagnosis("not_mcp", wrong, facts)
        if waited is not None:
            return Diagnosis("timeout", f"did not answer within {waited:.1f} s{self._last_words()}", facts)
        if self._closed:
            return Diagnosis("disconnected", f"closed its standard {self._closed}{self._last_words()}", facts)
        return None

    def _no_mcp(self) -> str | None:
        """What it wrote instead of messages."""
        if self._echoes:
            return "sends back what it is sent, and nothing else: it is no MCP server"
        if self._stray:
            return f'wrote "{self._stray[0]}" on stdout, which is no JSON-RPC message'
        if begun := self._process.unfinished.strip(_AROUND):
            shown = self._shorten(begun.decode(errors="replace"))
            return f'wrote "{shown}" on stdout without ending the line; messages end with a newline (LF)'
        return None

    def _last_words(self) -> str:
        said = [line for line in self._process.stderr.lines() if line.strip()]
        hint, line = explain_end(said, status=self._exit)
        told = f": {hint}" if hint else ""
        if line:
            return f"{told}; it said on stderr: {self._shorten(line)}"
        if self._stray:
            return f'{told}; it wrote "{self._stray[0]}" on stdout, which is no JSON-RPC message'
        return f"{told}; it printed nothing"

    def _farewell(self) -> ErrorData:
        """What whoever waits for an answer is told instead."""
        found = self._diagnosis(None) or Diagnosis("disconnected", "the connection was closed")
        data = self._hide.json({"code": found.code, **found.facts})
        return ErrorData(code=CONNECTION_CLOSED, message=self._hide(found.message)[:_SAID], data=data)

    async def _watch(self) -> None:
        """Notice the end of a server whose output does not end, because somebody else holds it open.

        A process that exits with 0 may have handed its streams to a child; one that fails has not, and neither has
        one whose input nobody can read.
        """
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch_exit)
            await self._deaf.wait()
            with anyio.move_on_after(_LAST_WORDS):
                await self._ended.wait()
            await self._process.hang_up()

    async def _watch_exit(self) -> None:
        if await self._process.wait() != 0 or not self._process.is_heard:
            self._deaf.set()

    async def _lose(self) -> None:
        """The output ended: find out why, and answer what the server no longer does."""
        self._ended.set()
        if self._process.overflowed:
            await self._process.hang_up()
        # Shielded from the end of the probe, which would begin the wait anew.
        with anyio.CancelScope(shield=True):
            await self._note_end()
        error = self._farewell()
        self._answered_for = bool(self._asked)
        self._ready.extend(JSONRPCError(jsonrpc="2.0", id=asked, error=error) for asked in self._asked.values())
        self._lost = True
        self._on_lost()

    async def _note_end(self) -> None:
        self._closed = "input" if self._deaf.is_set() else "output" if self._ended.is_set() else None
        if self._closed:
            await self._process.settle(_LAST_WORDS)
        self._exit, self._read_input = self._process.returncode, self._process.read_input

    def _parse(self, line: bytes) -> list[JSONRPCMessage]:
        line = line.strip(_AROUND)
        if self._ours is not None and line in self._ours:
            self._note_echo()
            return []
        messages = _read(line)
        if messages:
            self._spoke = True
        elif line:
            self._note_stray(line.decode(errors="replace"))
        return messages

    def _note_echo(self) -> None:
        if not self._echoes:
            self._echoes = True
            self.warnings.append("sends back on stdout what it is sent on stdin; that was ignored")

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
        if not self._lost:
            await self._note_end()
        patience = self._close if self._proven else min(self._close, _HURRY)
        if not await self._process.stop(patience=patience):
            self.warnings.append("did not leave when its standard input was closed, and was ended by a signal")
        if self._stderr:
            await self._stderr.finish()
            if self._stderr.error:
                kind = type(self._stderr.error).__name__
                self.warnings.append(f"the callback for its standard error raised {kind}, and was told no more of it")


def _read(line: bytes) -> list[JSONRPCMessage]:
    """The messages on a line: one, or of older servers several in an array; none if it is something else."""
    # What cannot be JSON is not even tried: a flood of it would keep the event loop from everybody else.
    match line[:1]:
        case b"{":
            message = _valid(jsonrpc_message_adapter, line)
            return [] if message is None else [message]
        case b"[":
            return _valid(_batch, line) or []
        case _:
            return []


def _valid(adapter: TypeAdapter[T], line: bytes) -> T | None:
    try:
        return adapter.validate_json(line, by_name=False)
    except ValidationError:
        try:
            # Bytes that are not UTF-8 inside a message cost those characters, not the message.
            return adapter.validate_json(line.decode(errors="replace"), by_name=False)
        except ValidationError:
            return None


def _how(status: int) -> str:
    return f"was ended by {_signal(status)}" if status < 0 else f"exited with status {status}"


def _signal(status: int) -> str:
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"
