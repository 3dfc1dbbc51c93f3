"""The requests that a server sends to us, such as `ping` or `sampling/createMessage`: only so many are in progress."""

from __future__ import annotations

from collections.abc import Callable

from anyio.lowlevel import checkpoint
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from mcp_launch.transports.messages import cancelled_by
from mcp_launch.transports.streams import ReadStream, Sink, Source, WriteStream

__all__ = ["MOST_REQUESTS", "limited"]

MOST_REQUESTS = 100
"""Requests of one server that are handled at the same time."""
_TOO_MANY = ErrorData(code=INTERNAL_ERROR, message=f"more than {MOST_REQUESTS} requests are in progress")


def limited(
    read: Source, write: Sink, *, is_behind: Callable[[], bool], warn: Callable[[str], object]
) -> tuple[ReadStream, WriteStream]:
    """Return the same two streams, with at most `MOST_REQUESTS` requests of the server in progress.

    A request beyond that is answered by an error. It is dropped if `is_behind` says that the server does not accept
    our responses either, or if its id is in use.
    """
    requests = _Requests(is_behind, warn)
    return _ReadStream(read, write, requests), _WriteStream(write, requests)


class _Requests:
    def __init__(self, is_behind: Callable[[], bool], warn: Callable[[str], object]) -> None:
        self.open: set[RequestId] = set()
        self.is_behind = is_behind
        self._warn = warn
        self._warned: set[str] = set()

    def warn(self, warning: str) -> None:
        if warning not in self._warned:
            self._warned.add(warning)
            self._warn(warning)

    def done(self, number: RequestId | None) -> None:
        if number is not None:
            self.open.discard(coerce_request_id(number))


class _ReadStream(ReadStream):
    def __init__(self, inner: Source, write: Sink, requests: _Requests) -> None:
        super().__init__(inner)
        self._write = write
        self._requests = requests

    async def receive(self) -> SessionMessage | Exception:
        while True:
            item = await self._inner.receive()
            if isinstance(item, SessionMessage):
                if self._requests.open:
                    # The SDK does not respond to a request that was cancelled.
                    self._requests.done(cancelled_by(item.message))
                if isinstance(item.message, JSONRPCRequest) and not await self._accepts(item.message):
                    # A flood of these must let other tasks run.
                    await checkpoint()
                    continue
            return item

    async def _accepts(self, request: JSONRPCRequest) -> bool:
        """Return True if the request is to be handled now."""
        requests, number = self._requests, coerce_request_id(request.id)
        if requests.is_behind():
            requests.warn("sends requests faster than it accepts the responses; some requests were dropped")
        elif number in requests.open:
            requests.warn("sent a request with the id of one that was in progress; it was dropped")
        elif len(requests.open) >= MOST_REQUESTS:
            requests.warn(f"sent more than {MOST_REQUESTS} requests at a time; the rest got an error")
            error = JSONRPCError(jsonrpc="2.0", id=request.id, error=_TOO_MANY)
            await self._write.send(SessionMessage(error))
        else:
            requests.open.add(number)
            return True
        return False


class _WriteStream(WriteStream):
    def __init__(self, inner: Sink, requests: _Requests) -> None:
        super().__init__(inner)
        self._requests = requests

    async def send(self, item: SessionMessage, /) -> None:
        if self._requests.open and isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._requests.done(item.message.id)
        await self._inner.send(item)
