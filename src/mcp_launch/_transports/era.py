"""A short wait for the newer era: a server that does not answer the probe in time is taken for an older one.

The SDK asks `server/discover` first and waits ten seconds for the answer. Servers that swallow what they do not know
would cost each user those ten seconds, so the transport answers in their place, with the error that makes the SDK go
on to `initialize`. A late answer is dropped by its id, as JSON-RPC wants.

The wait begins when the server has read the probe. Until then it is still starting, or somebody logs in to it. Both
may take seconds, and a server that knows only the newer era would be lost if we went on. So that the SDK's ten seconds
do not pass meanwhile, sending the probe, which they do not count, takes until there is an answer.

A slow server, or one for which something else reads meanwhile, as `docker run` does, may know only the newer era all
the same. It then refuses the handshake, or answers the probe late and the handshake not at all, and is asked once more.
One that lost the probe and is mute to the handshake is given up when its budget is used up.
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
"""How often to look whether the server has read the probe, for which there is no event."""


def bound_probe(
    read: Source, write: Sink, *, seconds: float, was_read: Callable[[], bool], withdraws: bool = False
) -> tuple[_ReadStream, _WriteStream]:
    """The same two streams, where `server/discover` is answered `seconds` after it was read at the latest.

    `was_read` says whether the server has it, and is not busy with something else first; `withdraws` that it is told
    when its answer is no longer waited for.
    """
    probe = _Probe(seconds, was_read)
    return _ReadStream(read, probe, tell=write if withdraws else None), _WriteStream(write, probe)


class _Probe:
    """What was asked, and what came of it, until the era is settled."""

    def __init__(self, seconds: float, was_read: Callable[[], bool]) -> None:
        self._seconds = seconds
        self._was_read = was_read
        self._end: float | None = None
        """When the time is over, once it has begun."""
        self._asked: RequestId | None = None
        """The probe or the handshake that waits for its answer."""
        self._asked_at = 0.0
        self._given_up = False
        self._swallowed: RequestId | None = None
        """The probe that was not answered in time."""
        self._refusal: ErrorData | None = None
        """What the server said to the handshake."""
        self.over = False
        self.answered = anyio.Event()
        """Set once the probe has an answer, or never will."""
        # The reader is already waiting when the probe is sent, so its scope is there before the deadline is known.
        self.scope = anyio.CancelScope()

    def ask(self, request: JSONRPCRequest) -> None:
        """Know of a request before it is sent.

        Raises:
            MCPError: it is a second handshake, and what the server said to the first.
        """
        self._asked, self._asked_at = request.id, anyio.current_time()
        if request.method == "server/discover":
            self._end = None
            self.answered = anyio.Event()
            self.scope.deadline = self._asked_at + _LOOK
        elif request.method == "initialize":
            self.over = not self._given_up or self._refusal is not None
            if self._refusal is not None:
                raise MCPError.from_error_data(self._refusal)

    def goes_on(self) -> bool:
        """Whether there is time left, asked when the deadline has passed, and sets the next one."""
        now = anyio.current_time()
        if self._asked is None or not self._was_read():
            self._end = None
        elif self._end is None:
            self._end = now + self._seconds
        self.scope.deadline = now + _LOOK if self._end is None else min(now + _LOOK, self._end)
        return self._end is None or now < self._end

    def withdrawal(self) -> SessionMessage:
        """What tells the server that its answer is no longer waited for."""
        params = {"requestId": self._asked}
        return SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=params))

    def give_up(self) -> SessionMessage:
        """The answer to the probe, or to the handshake of a server that answered the probe late, in its place."""
        self.scope.deadline = math.inf
        self.answered.set()
        if self._given_up and self._refusal is None:
            return self._refused(ErrorData(code=REQUEST_TIMEOUT, message="initialize was not answered"))
        told = self._error(ErrorData(code=REQUEST_TIMEOUT, message="server/discover was not answered in time"))
        # What comes of it from now on is no answer to the handshake, also before that is sent.
        self._given_up, self._swallowed, self._asked = True, self._asked, None
        return told

    def weigh(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        """What the session is to hear in place of what came, which mostly is the same."""
        match item:
            case SessionMessage(message=JSONRPCResponse(id=answered)) if self._is_of(self._asked, answered):
                self.answered.set()
                self.over, self.scope.deadline = True, math.inf
            case SessionMessage(message=JSONRPCResponse(id=answered)) if (
                self._is_of(self._swallowed, answered) and self._refusal is None
            ):
                # It knows the newer era after all. If it does not answer the handshake too, it is asked once more.
                self._end = self.scope.deadline = anyio.current_time() + self._seconds
            case SessionMessage(message=JSONRPCError(id=answered, error=error)) if self._is_of(self._asked, answered):
                self.answered.set()
                self.scope.deadline = math.inf
                if self._given_up and self._refusal is None:
                    return self._refused(error)
            case _:
                pass
        return item

    @staticmethod
    def _is_of(asked: RequestId | None, answered: RequestId | None) -> bool:
        # As the SDK compares them: servers send numbers back as text.
        return asked is not None and answered is not None and coerce_request_id(answered) == coerce_request_id(asked)

    def _refused(self, error: ErrorData) -> SessionMessage:
        """The answer to the handshake that makes the SDK send the probe once more."""
        self._refusal = error
        # As long as it took to refuse that: so slow it is known to be.
        self._seconds += anyio.current_time() - self._asked_at
        if error.code == UNSUPPORTED_PROTOCOL_VERSION:
            return self._error(error)
        versions = {"supported": list(MODERN_PROTOCOL_VERSIONS), "requested": LATEST_HANDSHAKE_VERSION}
        return self._error(ErrorData(code=UNSUPPORTED_PROTOCOL_VERSION, message=error.message, data=versions))

    def _error(self, error: ErrorData) -> SessionMessage:
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=self._asked, error=error))


class _ReadStream(ReadStream):
    def __init__(self, inner: Source, probe: _Probe, *, tell: Sink | None) -> None:
        super().__init__(inner)
        self._probe = probe
        self._tell = tell

    async def receive(self) -> SessionMessage | Exception:
        if self._probe.over:
            return await self._inner.receive()
        return await self._receive_while_probing()

    async def _receive_while_probing(self) -> SessionMessage | Exception:
        probe = self._probe
        waits = True
        while waits:
            probe.scope = anyio.CancelScope(deadline=probe.scope.deadline)
            try:
                with probe.scope:
                    return probe.weigh(await self._inner.receive())
            except anyio.EndOfStream:
                probe.answered.set()
                raise
            waits = probe.goes_on()
        if self._tell:
            await self._tell.send(probe.withdrawal())
        return probe.give_up()


class _WriteStream(WriteStream):
    def __init__(self, inner: Sink, probe: _Probe) -> None:
        super().__init__(inner)
        self._probe = probe

    async def send(self, item: SessionMessage, /) -> None:
        if self._probe.over or not isinstance(item.message, JSONRPCRequest):
            await self._inner.send(item)
            return
        self._probe.ask(item.message)
        await self._inner.send(item)
        if item.message.method == "server/discover":
            await self._probe.answered.wait()
