"""The session's two streams over a process, which are answered for when it ends.

The session reads and writes the pipes itself, in its own tasks: between it and the server is nothing that hands
messages on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
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
from acp_bindings._processes.process import ChildProcess, attended
from acp_bindings._redact import Redactor
from acp_bindings.connection._outbox import Outbox
from mcp_launch.diagnosis import Diagnosis
from mcp_launch.diagnosis.process import Seen, diagnose_process
from mcp_launch.transports.era import bound_probe
from mcp_launch.transports.messages import UNWRITABLE, Reader, UnwritableError, cancelled_by, written
from mcp_launch.transports.server_requests import limited
from mcp_launch.transports.stdio.ending import Ending
from mcp_launch.transports.stdio.stdout import Stdout, trimmed, uncoloured
from mcp_launch.transports.traffic import Traffic, shown
from mcp_launch.transports.unanswered import Unanswered, Unsaid, farewell
from mcp_launch.wording import Wording

if TYPE_CHECKING:
    from mcp.client import Transport as Streams

__all__ = ["StdioTransport"]

_HURRY = 1.0
"""Seconds for ending a server that never became ready."""


class StdioTransport:
    """The streams over one started process, which it ends."""

    def __init__(
        self,
        process: ChildProcess,
        *,
        command: str,
        hide: Redactor,
        probe: float,
        close: float,
        reader: Reader,
        wording: Wording,
        on_lost: Callable[[], None],
        given: Collection[str] = (),
        again: bool = False,
        stderr: Callable[[str], object] | None = None,
        traffic: Traffic | None = None,
    ) -> None:
        self.warnings: list[str] = []
        self._process = process
        self._command = command
        self._hide = hide
        self._probe = probe
        self._close = close
        self._wording = wording
        self._on_lost = on_lost
        self._given = given
        """The names of the variables that the process may have."""
        self._again = again
        """Whether it was started a second time, since the first it left when it was probed."""
        self._took_part = False
        """Whether it granted anything, or refused the handshake."""
        self._asked = ""
        """The method of the last request."""
        self._unanswered = Unanswered()
        self.reader = reader
        self._stdout = Stdout(reader, hide=hide, warn=self.warnings.append, awaited=self._unanswered.holds)
        self._stderr = LineForwarder(stderr, hide=hide) if stderr else None
        self._traffic = traffic
        self._ending = Ending(process)
        self._outbox = Outbox(process)
        self._writing = anyio.CancelScope()
        """Around the task that writes what could not be written at once."""
        self._unwritten: dict[RequestId, bytes] = {}
        """The lines of open requests that were not written at once, to be withdrawn if they are cancelled."""
        self._proven = False
        self._lost = False
        self._answered_for = False
        """Whether the last answer was ours, in place of the server's."""
        self._ready: deque[JSONRPCMessage] = deque()
        """What the session has not taken yet."""

    @property
    def died_of_probe(self) -> bool:
        """Whether it may have left because it was asked for an era it does not know, at most with a refusal of that."""
        return self._ending.status is not None and self._ending.read_input and not self._took_part

    def prove(self) -> None:
        """Say that the session is initialised: such a server gets all its time to leave."""
        self._proven = True
        self._stdout.trust()
        if self._again:
            self.warnings.append(
                "exited when it was asked whether it speaks MCP 2026-07-28; it was started again, and not asked"
            )

    def open(self) -> Streams:
        """A block in which the streams are connected; at its end no process is left."""
        return self._opened()

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[Any]:
        async with attended(self._process, watch=self._attend, lines=self._stderr):
            try:
                read, write = limited(
                    *shown(self, self, self._traffic),
                    is_behind=lambda: self._outbox.owes_much,
                    warn=self.warnings.append,
                )
                yield bound_probe(read, write, seconds=self._probe, was_read=lambda: self._process.read_input)
            finally:
                with anyio.CancelScope(shield=True):
                    await self._end()

    async def receive(self) -> SessionMessage:
        """The next message of the server, or the answer that it no longer gave; at its end whoever owns it is told."""
        if self._ready and not self._lost:
            # As between two lines: first other tasks begin what the last message caused. At the end the session is over
            # then, before all are told.
            await anyio.lowlevel.checkpoint()
        while not self._ready:
            if self._lost:
                # Not an end, after which the SDK tells who asks next that the connection is closed, and not why.
                await anyio.sleep_forever()
            line = await self._process.receive_line(longest=self.reader.limits.bytes)
            if line is None:
                await self._lose()
            else:
                self._ready.extend(await self._stdout.read(line))
        message = self._unanswered.named(self._ready.popleft())
        if self._unanswered.received(message):
            self._answered_for = isinstance(message, Unsaid)
        self._took_part = self._took_part or self._takes_part(message)
        return SessionMessage(message)

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message to the server.

        This does not wait until it is written, because the timeout of a request begins when it returns. Only a
        notification waits for room.

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
        if self._lost and isinstance(message, JSONRPCRequest):
            self._answered_for = True
            raise MCPError.from_error_data(self._farewell())
        if isinstance(message, JSONRPCRequest):
            self._asked = message.method
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

    async def aclose(self) -> None:
        """Nothing: the session closes its streams before the block ends, and the server has more to say until then."""

    async def _attend(self) -> None:
        """Watch the process, and write what could not be written at once."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._ending.watch)
            with self._writing:
                await self._outbox.run()
                # End the session's input too, so that no request waits for an answer.
                self._ending.deaf()

    async def diagnose(self, *, waited: float | None, answered: bool) -> Diagnosis | None:
        """Why the process was of no use; None when it ran and spoke MCP."""
        if answered and not self._answered_for:
            return None
        return self._diagnosis(waited=waited) or (self._stdout.misshapen if self._answered_for else None)

    def _diagnosis(self, *, waited: float | None) -> Diagnosis | None:
        seen = Seen(
            command=self._command,
            spoke=self._stdout.spoke,
            stray=self._stdout.stray,
            echoes=self._stdout.echoes,
            unfinished=uncoloured(trimmed(self._process.unfinished).decode(errors="replace")),
            gave_up_at=self.reader.limits.bytes if self._process.overflowed else None,
            stderr=[uncoloured(line) for line in self._process.stderr.lines()],
            status=self._ending.status,
            closed=self._ending.closed,
            given=self._given,
        )
        found = diagnose_process(seen, waited=waited, hide=self._hide, wording=self._wording)
        return self._unanswered.explain(found, waited=waited)

    def _farewell(self) -> ErrorData:
        """What whoever waits for an answer is told instead."""
        found = self._diagnosis(waited=None) or Diagnosis("disconnected", "the connection was closed")
        return farewell(found, hide=self._hide)

    def _takes_part(self, message: JSONRPCMessage) -> bool:
        match message:
            case JSONRPCResponse():
                return True
            case JSONRPCError():
                return self._asked == "initialize" and not isinstance(message, Unsaid)
            case _:
                return False

    async def _lose(self) -> None:
        """The output ended: find out why, and answer what the server no longer does."""
        self._ending.silent()
        if self._process.overflowed:
            await self._process.hang_up()
        # Shielded from the end of the probe, which would begin the wait anew.
        with anyio.CancelScope(shield=True):
            await self._ending.note()
        self._answered_for = bool(self._unanswered)
        self._ready.extend(self._unanswered.refused(self._farewell()))
        self._lost = True
        self._on_lost()

    async def _end(self) -> None:
        if not self._lost:
            await self._ending.note()
        self._writing.cancel()
        patience = self._close if self._proven else min(self._close, _HURRY)
        if not await self._process.stop(patience=patience) and self._proven:
            self.warnings.append("did not leave when its standard input was closed, and was ended by a signal")
        if self._stderr:
            await self._stderr.finish()
            if self._stderr.error:
                kind = type(self._stderr.error).__name__
                self.warnings.append(f"the callback for its standard error raised {kind}, and was told no more of it")
