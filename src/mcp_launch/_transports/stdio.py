"""The stdio transport: the messages, the end and the diagnosis of a server's process."""

from __future__ import annotations

import contextlib
import json
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Literal
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup
from mcp import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from acp_bindings._processes.forward import LineForwarder
from acp_bindings._processes.process import ChildProcess, attended, uncoloured
from acp_bindings._redact import Redactor, shown_proxy
from acp_bindings.connection._outbox import Outbox
from mcp_launch._diagnosis import Diagnosis
from mcp_launch._diagnosis.process import SHOWN, Seen, diagnose_process, downloads, odd_output
from mcp_launch._executable import child_environment
from mcp_launch._spec import StdioServer
from mcp_launch._transports import TransportTerms
from mcp_launch._transports.era import Probe
from mcp_launch._transports.messages import UNWRITABLE, Invalid, Reader, UnwritableError, cancelled_by, written
from mcp_launch._transports.streams import Guard, Unanswered, Unsaid, farewell

_TRIAL = 1.0
"""Seconds for connecting to a proxy."""
_ECHO_ONLY = 1.0
"""Seconds for the response of a process that has echoed the handshake."""
_LAST_WORDS = 0.5
"""Seconds to wait for the exit status and the rest of standard error after the connection has ended."""


class Ending:
    """The end of a process: which stream ended first, and the exit status."""

    def __init__(self, process: ChildProcess) -> None:
        self._process = process
        self._input_ended = False
        self._of_use = anyio.CancelScope()
        """The scope of the wait for the exit, which is cancelled when the process no longer reads."""
        self._output_ended = anyio.Event()
        self.closed: Literal["input", "output"] | None = None
        """The stream that ended first."""
        self.status: int | None = None
        """The exit status, negative for a signal; None if it was still running."""
        self.has_read_input = False
        """True if it had read any of its input."""

    def end_input(self) -> None:
        """Note that the process no longer reads."""
        self._input_ended = True
        self._of_use.cancel()

    def end_output(self) -> None:
        """Note that the process no longer writes."""
        self._output_ended.set()

    async def watch(self) -> None:
        """Close the output of a process that has exited or no longer reads, in case a child holds it open."""
        with self._of_use:
            await self._process.wait_lost()
        self._input_ended = True
        with anyio.move_on_after(_LAST_WORDS):
            await self._output_ended.wait()
        await self._process.hang_up()

    async def note(self) -> None:
        """Store the current state; if a stream has ended, wait a moment for the exit status and standard error."""
        self.closed = "input" if self._input_ended else "output" if self._output_ended.is_set() else None
        if self.closed:
            await self._process.settle(_LAST_WORDS)
        self.status, self.has_read_input = self._process.returncode, self._process.has_read_input


_AROUND = b"\xef\xbb\xbf \t\r\0"
"""Bytes around a message that are ignored; some runtimes begin their output with a byte order mark."""
_STRAY_LINES = 20
"""The number of lines that are kept if they are not messages."""
_ECHOES = 64
"""The number of sent lines that are remembered, to recognize an echo."""
_LOOKED_AT = 65536
"""Bytes of a line from which its start is shown."""
_ERRORS = ("error", "critical", "alert", "emergency")
"""The levels of log messages that may explain why a server ends."""
_NO_JSON = Invalid("it is not JSON")


class Stdout:
    """Reads messages from lines of standard output, and remembers and warns of other lines."""

    def __init__(
        self, reader: Reader, *, hide: Redactor, warn: Callable[[str], None], awaited: Callable[[RequestId], bool]
    ) -> None:
        self.spoke = False
        """True after the first message."""
        self.stray: list[str] = []
        """The first lines that were not messages, redacted."""
        self.echoes = False
        """True if the process sent lines back to us."""
        self.misshapen: Diagnosis | None = None
        """The diagnosis of the last response that could not be read."""
        self._last_stray = b""
        self._logged: Any = ""
        """The data of the last error that the server logged."""
        self._reader = reader
        self._awaited = awaited
        """Returns True if a request with an id is pending."""
        self._trusted = False
        """True once it is known to be an MCP server; otherwise the failure says more than warnings."""
        self._hide = hide
        self._warn = warn
        self._echoed_opening = False
        """True if the process has sent back the request `initialize`."""
        self._wrote = False
        """True if it has written something else."""
        self._ours: deque[bytes] | None = deque(maxlen=_ECHOES)

    @property
    def only_echoes(self) -> bool:
        """True if the process has sent back the request `initialize`, and has written nothing else."""
        return self._echoed_opening and not self._wrote

    async def read(self, line: bytes) -> list[JSONRPCMessage]:
        """Return the messages on a line: usually one, several from older servers, or none."""
        line = trimmed(line)
        if self._ours is not None and line in self._ours:
            self.echoes = True
            if b'"initialize"' in line:
                self._echoed_opening = True
            return []
        self._wrote = True
        # Lines that cannot be JSON are not parsed, because a flood of them would block the event loop.
        found = await self._reader.read_all(line) if line[:1] in (b"{", b"[") else _NO_JSON
        messages = self._in_place_of(found) if isinstance(found, Invalid) else found
        if messages:
            self.spoke = True
            for message in messages:
                if isinstance(message, JSONRPCNotification) and message.method == "notifications/message":
                    params = message.params or {}
                    if params.get("level") in _ERRORS:
                        self._logged = params.get("data", "")
        elif isinstance(found, Invalid) and found.limit:
            self._warn(found.warning)
        elif line:
            self._note_stray(line)
        return messages

    def _in_place_of(self, found: Invalid) -> list[JSONRPCMessage]:
        """Return an error for the request to which an invalid line responds."""
        if found.answers is None or not self._awaited(found.answers):
            return []
        self.misshapen = found.diagnosis()
        return [Unsaid(jsonrpc="2.0", id=found.answers, error=farewell(self.misshapen, hide=self._hide))]

    def sent(self, line: bytes) -> None:
        """Remember a sent line, to recognize an echo."""
        if self._ours is not None:
            self._ours.append(line)

    def logged(self) -> list[str]:
        """Return the lines of the last error that the server logged, redacted."""
        text = self._logged if isinstance(self._logged, str) else json.dumps(self._logged, ensure_ascii=False)
        text = self._hide.start(uncoloured(text[:_LOOKED_AT]), _STRAY_LINES * SHOWN)
        return [line for line in text.splitlines() if line.strip()]

    def last_stray(self) -> str:
        """Return the last line that was not a message, redacted; empty if there was none since `forget_stray`."""
        return self._hide.start(uncoloured(self._last_stray.decode(errors="replace")), SHOWN)

    def forget_stray(self) -> None:
        """Note that a request is sent to which no earlier line can be the response."""
        self._last_stray = b""

    def trust(self) -> None:
        """Note that it is an MCP server; if there was no echo so far, there will not be one."""
        self._trusted = True
        if self.echoes:
            self._warn("echoes its input on stdout; the echo was ignored")
        else:
            self._ours = None
        if self.stray:
            self._warn_of_stray()

    def _note_stray(self, line: bytes) -> None:
        self._last_stray = line[:_LOOKED_AT]
        if len(self.stray) < _STRAY_LINES:
            self.stray.append(self.last_stray())
            if len(self.stray) == 1 and self._trusted:
                self._warn_of_stray()

    def _warn_of_stray(self) -> None:
        self._warn(f'wrote "{self.stray[0]}" on stdout, which is not a JSON-RPC message; logs belong on stderr')


def trimmed(line: bytes) -> bytes:
    """Return the line without bytes that are not part of a message."""
    return line.strip(_AROUND)


_HURRY = 1.0
"""Seconds for ending a server that never became ready."""


class StdioTransport:
    """The stdio transport to one started process, which it ends."""

    def __init__(self, process: ChildProcess, spec: StdioServer, terms: TransportTerms, *, again: bool = False) -> None:
        options = terms.options
        self.reader = Reader(options.limits)
        self.probe = Probe(seconds=terms.budgets.probe, was_read=lambda: process.has_read_input)
        self._process = process
        self._spec = spec
        self._hide = spec.redactor
        self._terms = terms
        self._again = again
        """True if this is the second start, after the process failed when it was probed."""
        self._took_part = False
        """True if it responded with a result."""
        self._refused = False
        """True if it refused the handshake."""
        self._handshake: RequestId | None = None
        """The id of the last request, if that is `initialize`."""
        self._unanswered = Unanswered()
        self._stdout = Stdout(self.reader, hide=self._hide, warn=terms.warn, awaited=self._unanswered.holds)
        self._stderr = LineForwarder(partial(tell, spec.name), hide=self._hide) if (tell := options.stderr) else None
        self._ending = Ending(process)
        self._outbox = Outbox(process)
        self._tasks: TaskGroup
        self._writing: anyio.CancelScope | None = None
        """The scope of the task that writes lines, once there was one that could not be written immediately."""
        self._unwritten: dict[RequestId, bytes] = {}
        """The unwritten lines of pending requests, to be withdrawn if the requests are cancelled."""
        self._initialized = False
        self._lost = False
        self._answered_for = False
        """True if the last response was made here because the server did not send one."""
        self._is_echo = False
        self._ready: deque[JSONRPCMessage] = deque()
        """Messages that the session has not received yet."""

    @property
    def failed_by_probe(self) -> bool:
        """True if the process may have exited, or refused the handshake, because of the probe."""
        exited = self._ending.status is not None and self._ending.has_read_input
        return (exited or self._refused) and not (self._took_part or self._is_echo)

    def note_initialized(self) -> None:
        """Note that the session is initialized; the server then gets the full time to exit."""
        self._initialized = True
        self._stdout.trust()
        if self._again:
            self._terms.warn("failed when it was probed for MCP 2026-07-28; it was started again without the probe")

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Any]:
        """Connect the streams, and end the process when the block ends."""
        async with attended(self._process, watch=self._ending.watch, lines=self._stderr) as self._tasks:
            try:
                yield Guard(self, self, self._spec, self._terms, is_behind=lambda: self._outbox.owes_much).streams
            finally:
                with anyio.CancelScope(shield=True):
                    await self._end()

    async def receive(self) -> SessionMessage:
        """Return the next message of the server, or an error in its place; call `on_lost` at its end."""
        if self._ready and not self._lost:
            # As between two lines, let other tasks handle the last message first. After the end, the session would end
            # before all pending requests have their errors.
            await anyio.lowlevel.checkpoint()
        while not self._ready:
            if self._lost:
                # Not an end of the stream, after which the SDK would report a closed connection without the reason.
                await anyio.sleep_forever()
            if (line := await self._line()) is None:
                await self._lose()
            else:
                self._ready.extend(await self._stdout.read(line))
        message = self._unanswered.named(self._ready.popleft())
        if self._unanswered.received(message) is not None:
            self._answered_for = isinstance(message, Unsaid)
        self._took_part = self._took_part or isinstance(message, JSONRPCResponse)
        if isinstance(message, JSONRPCError) and not isinstance(message, Unsaid) and message.id == self._handshake:
            self._refused = True
        return SessionMessage(message)

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message to the server.

        This does not wait until it is written, because the timeout of a request begins when it returns. Only a
        notification waits for room.

        Raises:
            MCPError: a request cannot be sent.
        """
        message = item.message
        try:
            line = written(message)
        except UnwritableError:
            if isinstance(message, JSONRPCRequest):
                raise MCPError.from_error_data(UNWRITABLE) from None
            return
        if self._lost and isinstance(message, JSONRPCRequest):
            self._answered_for = True
            raise MCPError.from_error_data(self._farewell())
        if isinstance(message, JSONRPCRequest):
            self._handshake = message.id if message.method == "initialize" else None
            self._stdout.forget_stray()
        self._unanswered.sent(message)
        self._stdout.sent(line)
        line += b"\n"
        if isinstance(message, JSONRPCRequest):
            self._outbox.add(line, hurry=True)
            if self._outbox.is_empty:
                self._unwritten.clear()
            else:
                self._unwritten[message.id] = line
        elif (number := cancelled_by(message)) is not None:
            request = self._unwritten.pop(number, None)
            if request is None or not self._outbox.withdraw(request):
                self._outbox.add(line, hurry=True)
        elif isinstance(message, JSONRPCNotification):
            await self._outbox.respond([line], hurry=True)
        else:
            self._outbox.owe(line)
        self._write_the_rest()

    async def aclose(self) -> None:
        """Do nothing: the session closes its streams before the block ends, while the server may still write."""

    def _write_the_rest(self) -> None:
        """Start the task that writes lines, if one could not be written immediately for the first time."""
        if self._writing is None and not self._outbox.is_empty:
            self._writing = anyio.CancelScope()
            self._tasks.start_soon(self._write, self._writing)

    async def _write(self, scope: anyio.CancelScope) -> None:
        with scope:
            await self._outbox.run()
            # End the session's input too, so that no request waits for an answer.
            self._ending.end_input()

    async def _line(self) -> bytes | None:
        """Return the next line; None at the end of the output."""
        longest = self.reader.limits.bytes
        if self._is_echo or not self._stdout.only_echoes:
            return await self._process.receive_line(longest=longest)
        # A server of a terminal, which echoes too, responds soon.
        with anyio.move_on_after(_ECHO_ONLY):
            return await self._process.receive_line(longest=longest)
        self._is_echo = True
        await self._process.hang_up()
        return None

    async def diagnose(self, *, waited: float | None, answered: bool) -> Diagnosis | None:
        """Return why the process failed; None if it was running and spoke MCP."""
        if answered and not self._answered_for:
            return None
        # A package runner that cannot reach its registry tries again for minutes, and says nothing.
        is_dead = waited is not None and downloads(self._spec.command) and await self._has_dead_proxy()
        found = self._diagnosis(waited=waited, proxy_is_dead=is_dead)
        return found or (self._stdout.misshapen if self._answered_for else None)

    async def _has_dead_proxy(self) -> bool:
        """Return True if the proxy for downloads does not accept a connection."""
        if self._stdout.spoke or (proxy := self._proxy()) is None:
            return False
        with anyio.move_on_after(_TRIAL), contextlib.suppress(OSError, ValueError):
            parts = urlsplit(proxy[1])
            async with await anyio.connect_tcp(parts.hostname or "", parts.port or 80):
                return False
        return True

    def _proxy(self) -> tuple[str, str] | None:
        """Return the variable that sets the proxy for downloads, and its URL without user-info."""
        from acp_bindings._responses import proxy_of  # noqa: PLC0415 - only for servers that failed

        variables = child_environment(self._spec.env)
        found = proxy_of("https", variables) or proxy_of("http", variables)
        return found and (found[0], shown_proxy(found[1]))

    def noise(self) -> str | None:
        """Return what the process has written that is not a message since the last request, if anything."""
        return odd_output(self._stdout.last_stray(), self._unfinished(), self._hide)

    def _unfinished(self) -> str:
        return uncoloured(trimmed(self._process.unfinished).decode(errors="replace"))

    def _diagnosis(self, *, waited: float | None, proxy_is_dead: bool = False) -> Diagnosis | None:
        seen = Seen(
            spec=self._spec,
            phrases=self._terms.options.phrases,
            spoke=self._stdout.spoke,
            stray=self._stdout.stray,
            logged=self._stdout.logged(),
            echoes=self._stdout.echoes,
            only_echoes=self._is_echo,
            unfinished=self._unfinished(),
            gave_up_at=self.reader.limits.bytes if self._process.overflowed else None,
            stderr=[uncoloured(line) for line in self._process.stderr.lines()],
            status=self._ending.status,
            closed=self._ending.closed,
            proxy=self._proxy(),
            proxy_is_dead=proxy_is_dead,
        )
        return diagnose_process(seen, waited=waited)

    def _farewell(self) -> ErrorData:
        """Return the error for requests that will not get a response."""
        found = self._diagnosis(waited=None) or Diagnosis("disconnected", "the connection was closed")
        return farewell(found, hide=self._hide)

    async def _lose(self) -> None:
        """Handle the end of the output: find out why, and respond to pending requests."""
        self._ending.end_output()
        if self._process.overflowed:
            await self._process.hang_up()
        # Shielded from the timeout of the probe, which would restart the wait.
        with anyio.CancelScope(shield=True):
            # A process that echoes exits only when its input is closed.
            if not self._is_echo:
                await self._ending.note()
        self._answered_for = bool(self._unanswered)
        self._ready.extend(self._unanswered.refused(self._farewell()))
        self._lost = True
        self._terms.on_lost()

    async def _end(self) -> None:
        if not self._lost:
            await self._ending.note()
        if self._writing:
            self._writing.cancel()
        close = self._terms.budgets.close
        patience = close if self._initialized else min(close, _HURRY)
        if not await self._process.stop(patience=patience) and self._initialized:
            self._terms.warn("did not exit when its standard input was closed, and was ended by a signal")
        if self._stderr:
            await self._stderr.finish()
            if self._stderr.error:
                kind = type(self._stderr.error).__name__
                self._terms.warn(f"the stderr callback raised {kind} and is not called again")
