"""Limit the wait for the newer era: a server that does not respond to the probe in time is treated as an older one.

The SDK first sends `server/discover` and waits ten seconds for the response. Servers that ignore unknown requests would
cost each user those ten seconds. So the transport responds in their place, with the error that makes the SDK continue
with `initialize`. A late response is dropped by its id, as JSON-RPC requires.

The wait begins when the server has read the probe. Until then it is still starting, or a login is in progress. Both may
take seconds, and continuing would fail with a server that only supports the newer era. So that the SDK's ten seconds do
not pass meanwhile, sending the probe, which the SDK does not count, lasts until there is a response.

A slow server, or one whose input is buffered as by `docker run`, may still support only the newer era. It then refuses
the handshake, or responds to the probe late and not to the handshake, and is probed once more. A server that lost the
probe and does not respond to the handshake fails when its budget is exceeded.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import anyio
from mcp import MCPError
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from mcp_types import (
    REQUEST_TIMEOUT,
    UNSUPPORTED_PROTOCOL_VERSION,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from mcp_types.version import LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS

from mcp_launch._transports.streams import ReadStream, Sink, Source, WriteStream

_LOOK = 0.05
"""Seconds between checks whether the server has read the probe, which the system does not report."""


def bound_probe(
    read: Source, write: Sink, *, seconds: float, was_read: Callable[[], bool], withdraws: bool = False
) -> tuple[ReadStream, WriteStream]:
    """Return the same two streams, with a response to `server/discover` at most `seconds` after it was read.

    `was_read` returns True if the server has read the probe. With `withdraws`, the server is notified when the probe
    has timed out.
    """
    probe = _Probe(read, write, seconds=seconds, was_read=was_read, withdraws=withdraws)
    return probe.reader, probe.writer


class _Probe:
    """The state of the probe and the handshake, until the era is known."""

    def __init__(
        self, read: Source, write: Sink, *, seconds: float, was_read: Callable[[], bool], withdraws: bool
    ) -> None:
        self._read = read
        self._write = write
        self.reader = ReadStream(read, self._receive)
        self.writer = WriteStream(write, self._send)
        self._seconds = seconds
        self._was_read = was_read
        self._withdraws = withdraws
        self._end: float | None = None
        """The time when the wait ends, once it has begun."""
        self._asked: RequestId | None = None
        """The id of the pending probe or handshake."""
        self._asked_at = 0.0
        self._given_up = False
        self._swallowed: RequestId | None = None
        """The id of the probe that timed out."""
        self._refusal: ErrorData | None = None
        """The server's error for the handshake."""
        self._answered = anyio.Event()
        """Set once the probe has a response, or will not get one."""
        # The reader is already waiting when the probe is sent, so its scope is there before the deadline is known.
        self._scope = anyio.CancelScope()

    def _end_probing(self) -> None:
        """Pass on all messages from now on, and let go of this object, which takes memory."""
        self.reader.pass_on()
        self.writer.pass_on()

    async def _receive(self) -> SessionMessage | Exception:
        """Return what the session gets next: a message of the server, or a response in its place."""
        waits = True
        while waits:
            self._scope = anyio.CancelScope(deadline=self._scope.deadline)
            try:
                with self._scope:
                    return self._weigh(await self._read.receive())
            except anyio.EndOfStream:
                self._answered.set()
                raise
            waits = self._goes_on()
        if self._withdraws:
            params = {"requestId": self._asked}
            withdrawal = JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=params)
            await self._write.send(SessionMessage(withdrawal))
        return self._give_up()

    async def _send(self, item: SessionMessage) -> None:
        """Send a message of the session; sending the probe lasts until there is a response."""
        if not isinstance(item.message, JSONRPCRequest):
            await self._write.send(item)
            return
        self._ask(item.message)
        await self._write.send(item)
        if item.message.method == "server/discover":
            await self._answered.wait()

    def _ask(self, request: JSONRPCRequest) -> None:
        """Note a request before it is sent.

        Raises:
            MCPError: it is a second handshake; the error is that of the first.
        """
        self._asked, self._asked_at = request.id, anyio.current_time()
        if request.method == "server/discover":
            self._end = None
            self._answered = anyio.Event()
            self._scope.deadline = self._asked_at + _LOOK
        elif request.method == "initialize":
            if not self._given_up or self._refusal is not None:
                self._end_probing()
            if self._refusal is not None:
                raise MCPError.from_error_data(self._refusal)

    def _goes_on(self) -> bool:
        """Return True if there is time left after a deadline, and set the next deadline."""
        now = anyio.current_time()
        if self._asked is None or not self._was_read():
            self._end = None
        elif self._end is None:
            self._end = now + self._seconds
        self._scope.deadline = now + _LOOK if self._end is None else min(now + _LOOK, self._end)
        return self._end is None or now < self._end

    def _give_up(self) -> SessionMessage:
        """Return a response in place of the server's: to the probe, or to the handshake after a late response."""
        self._scope.deadline = math.inf
        self._answered.set()
        if self._given_up and self._refusal is None:
            return self._refused(ErrorData(code=REQUEST_TIMEOUT, message="initialize was not answered"))
        reply = self._error(ErrorData(code=REQUEST_TIMEOUT, message="server/discover was not answered in time"))
        # From here on, a response to the probe is not one to the handshake, even before that is sent.
        self._given_up, self._swallowed, self._asked = True, self._asked, None
        return reply

    def _weigh(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        """Return what the session gets for a received item, which usually is the same item."""
        match item:
            case SessionMessage(message=JSONRPCResponse(id=answered)) if self._is_of(self._asked, answered):
                self._answered.set()
                self._scope.deadline = math.inf
                self._end_probing()
            case SessionMessage(message=JSONRPCResponse(id=answered)) if (
                self._is_of(self._swallowed, answered) and self._refusal is None
            ):
                # It supports the newer era after all. If it does not respond to the handshake, it is probed again.
                self._end = self._scope.deadline = anyio.current_time() + self._seconds
            case SessionMessage(message=JSONRPCError(id=answered, error=error)) if self._is_of(self._asked, answered):
                self._answered.set()
                self._scope.deadline = math.inf
                if self._given_up and self._refusal is None:
                    return self._refused(error)
            case _:
                pass
        return item

    @staticmethod
    def _is_of(asked: RequestId | None, answered: RequestId | None) -> bool:
        # As the SDK compares them, because some servers return numbers as strings.
        return asked is not None and answered is not None and coerce_request_id(answered) == coerce_request_id(asked)

    def _refused(self, error: ErrorData) -> SessionMessage:
        """Return a response to the handshake that makes the SDK send the probe again."""
        self._refusal = error
        # Add the time that it took to refuse the handshake, because the server is that slow.
        self._seconds += anyio.current_time() - self._asked_at
        if error.code == UNSUPPORTED_PROTOCOL_VERSION:
            return self._error(error)
        versions = {"supported": list(MODERN_PROTOCOL_VERSIONS), "requested": LATEST_HANDSHAKE_VERSION}
        return self._error(ErrorData(code=UNSUPPORTED_PROTOCOL_VERSION, message=error.message, data=versions))

    def _error(self, error: ErrorData) -> SessionMessage:
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=self._asked, error=error))
