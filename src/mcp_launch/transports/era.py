"""A short wait for the newer era: a server that does not answer the probe in time is taken for an older one.

The SDK asks `server/discover` first and waits ten seconds for the answer. Servers that swallow what they do not know
would cost each user those ten seconds, so the transport answers in their place, with the error that makes the SDK go
on to `initialize`. A late answer is dropped by its id, as JSON-RPC wants.

The wait begins when the server has read the probe. Until then it is still starting, which takes many a one seconds, and
one that knows the newer era alone would be lost by going on.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import REQUEST_TIMEOUT, ErrorData, JSONRPCError, JSONRPCRequest, JSONRPCResponse, RequestId

from mcp_launch.transports.streams import ReadStream, Sink, Source, WriteStream

__all__ = ["bound_probe"]


_LOOK = 0.05
"""How often to look whether the server has read the probe, for which there is no event."""


def bound_probe(
    read: Source, write: Sink, *, seconds: float, was_read: Callable[[], bool]
) -> tuple[_ReadStream, _WriteStream]:
    """The same two streams, where the first `server/discover` is answered `seconds` after it was read at the latest."""
    probe = _Probe(seconds, was_read)
    return _ReadStream(read, probe), _WriteStream(write, probe)


class _Probe:
    def __init__(self, seconds: float, was_read: Callable[[], bool]) -> None:
        self._seconds = seconds
        self._was_read = was_read
        self._end: float | None = None
        """When the time is over, once it has begun."""
        self.request_id: RequestId | None = None
        self.over = False
        # The reader is already waiting when the probe is sent, so its scope is there before the deadline is known.
        self.scope = anyio.CancelScope()

    def sent(self, request_id: RequestId) -> None:
        self.request_id = request_id
        self.scope.deadline = anyio.current_time() + _LOOK

    def goes_on(self) -> bool:
        """Whether there is time left, asked when the deadline has passed, and sets the next one."""
        now = anyio.current_time()
        if self._end is None and self._was_read():
            self._end = now + self._seconds
        self.scope.deadline = now + _LOOK if self._end is None else self._end
        return self._end is None or now < self._end

    def settle(self) -> None:
        self.over = True
        self.scope.deadline = math.inf


class _ReadStream(ReadStream):
    def __init__(self, inner: Source, probe: _Probe) -> None:
        super().__init__(inner)
        self._probe = probe

    async def receive(self) -> SessionMessage | Exception:
        if self._probe.over:
            return await super().receive()
        return await self._receive_while_probing()

    async def _receive_while_probing(self) -> SessionMessage | Exception:
        probe = self._probe
        waits = True
        while waits:
            probe.scope = anyio.CancelScope(deadline=probe.scope.deadline)
            with probe.scope:
                item = await super().receive()
                if _answers(item, probe.request_id):
                    probe.settle()
                return item
            waits = probe.goes_on()
        probe.settle()
        error = ErrorData(code=REQUEST_TIMEOUT, message="server/discover was not answered in time")
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=probe.request_id, error=error))


class _WriteStream(WriteStream):
    def __init__(self, inner: Sink, probe: _Probe) -> None:
        super().__init__(inner)
        self._probe = probe

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        if not self._probe.over and isinstance(message, JSONRPCRequest):
            if message.method == "server/discover":
                self._probe.sent(message.id)
            elif message.method == "initialize":
                self._probe.settle()
        await super().send(item)


def _answers(item: SessionMessage | Exception, request_id: RequestId | None) -> bool:
    match item:
        case SessionMessage(message=JSONRPCResponse(id=answered) | JSONRPCError(id=answered)):
            return answered == request_id is not None
        case _:
            return False
