"""Wrappers of the two streams of a session: pending requests, reported traffic, and limits on requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar, get_args

import anyio
from anyio.lowlevel import checkpoint
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from acp_bindings._redact import Redactor
from mcp_launch._diagnosis import Diagnosis
from mcp_launch._transports.messages import UnwritableError, cancelled_by, written
from mcp_launch.failures import Code
from mcp_launch.options import Direction


class Source(Protocol):
    """A stream of messages from the server."""

    async def receive(self) -> SessionMessage | Exception: ...
    async def aclose(self) -> None: ...


class Sink(Protocol):
    """A stream of messages to the server."""

    async def send(self, item: SessionMessage, /) -> None: ...
    async def aclose(self) -> None: ...


T = TypeVar("T", bound=Source | Sink)


class _Stream(Generic[T]):
    def __init__(self, inner: T) -> None:
        self._inner = inner

    async def aclose(self) -> None:
        """Close it."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


class ReadStream(_Stream[Source]):
    """A source in the form that the SDK reads; subclasses override `receive`."""

    @property
    def last_context(self) -> object:
        """The context in which the last message was sent, if it is known."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        return await self._inner.receive()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class WriteStream(_Stream[Sink]):
    """A sink in the form that the SDK writes to; subclasses override `send`."""

    async def send(self, item: SessionMessage, /) -> None:
        """Forward the message."""
        await self._inner.send(item)


_SAID = 2000
"""The longest error message for a caller in characters, because it may quote what a server wrote."""

_SETTLED = 64
"""Finished requests that are remembered, because a late or second response to them is not unknown."""
_NAMED = 3
"""The maximum number of unknown ids in a message."""


def farewell(found: Diagnosis, *, hide: Redactor) -> ErrorData:
    """Return the error for a pending request that will not get a response, with code and facts as its data."""
    data = hide.json({"code": found.code, **found.facts})
    return ErrorData(code=CONNECTION_CLOSED, message=hide.start(found.message, _SAID), data=data)


def is_farewell(error: ErrorData) -> bool:
    """Return True if an error was made by `farewell`; many servers use the same code for any error."""
    match error:
        case ErrorData(code=code, data={"code": str() as known}) if code == CONNECTION_CLOSED:
            return known in get_args(Code)
        case _:
            return False


class Unsaid(JSONRPCError):  # noqa: N818 - a message, not an exception
    """A response that was made here because the server will not send one."""


class Unanswered:
    """The pending requests of a session, by the messages of both directions; true if there are any."""

    def __init__(self) -> None:
        self._ids: dict[RequestId, RequestId] = {}
        """The ids as sent, by their normalized form, because some servers return numbers as strings."""
        self._opening: RequestId | None = None
        """The request that opens the session, if nothing was sent after it."""
        self._last: RequestId | None = None
        """The last request, which may have been cancelled."""
        # Not a deque, which takes 700 bytes in each session even if it is empty.
        self._settled: list[RequestId] = []
        """The last requests that are finished."""
        self._strange: list[RequestId] = []
        """The first unknown ids of responses while requests are pending."""

    def __bool__(self) -> bool:
        return bool(self._ids)

    def holds(self, number: RequestId) -> bool:
        """Return True if a request with this id is pending."""
        return coerce_request_id(number) in self._ids

    def sent(self, message: JSONRPCMessage) -> None:
        """Note a message to the server: a request is pending, a cancelled one no longer."""
        match message:
            case JSONRPCRequest(id=number, method=method):
                if not self._ids:
                    self._strange.clear()
                self._last = number
                self._ids[coerce_request_id(number)] = number
                self._opening = number if method in ("server/discover", "initialize") else None
            case JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as number}):
                self._settle(number)
            case _:
                self._opening = None

    def named(self, message: JSONRPCMessage) -> JSONRPCMessage:
        """Return the message, with the id of the opening request if it is an error without an id.

        That applies only while no other request is pending. Later, such an error may be about a notification.
        """
        if isinstance(message, JSONRPCError) and message.id is None and [*self._ids.values()] == [self._opening]:
            return JSONRPCError(jsonrpc="2.0", id=self._opening, error=message.error)
        return message

    def received(self, message: JSONRPCMessage) -> bool:
        """Note a message from the server; return True if it responds to a pending request."""
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            if self._settle(message.id):
                return True
            known = coerce_request_id(message.id) in self._settled or message.id in self._strange
            if not known and len(self._strange) < _NAMED:
                self._strange.append(message.id)
        return False

    def _settle(self, number: RequestId) -> bool:
        """Mark a request as finished; return True if it was pending."""
        known = coerce_request_id(number)
        if self._ids.pop(known, None) is None:
            return False
        self._settled.append(known)
        del self._settled[:-_SETTLED]
        return True

    def explain(self, found: Diagnosis | None, *, waited: float | None) -> Diagnosis | None:
        """Return the diagnosis; a timeout mentions unknown ids of responses, if there were any."""
        if found is None or found.code != "timeout" or waited is None or not self._strange:
            return found
        came = ", ".join(map(json.dumps, self._strange))
        advice = "is there a newer release of the server?"
        message = (
            f"did not answer within {waited:.1f} s, but sent responses with unknown ids ({came}; the request had "
            f"the id {json.dumps(self._last)}); {advice}"
        )
        return replace(found, message=message, advice=advice)

    def refused(self, error: ErrorData) -> Iterator[Unsaid]:
        """Yield the error as response to each pending request; afterwards none is pending."""
        while self._ids:
            number = self._ids.pop(next(iter(self._ids)))
            yield Unsaid(jsonrpc="2.0", id=number, error=error)


class Traffic:
    """Reports each message as one line of redacted JSON."""

    def __init__(self, name: str, tell: Callable[[str, Direction, str], object], *, hide: Redactor) -> None:
        self._name = name
        self._tell = tell
        self._hide = hide

    def show(self, direction: Direction, message: JSONRPCMessage) -> None:
        """Report a message."""
        try:
            line = written(message).decode()
        except UnwritableError:
            # It is not sent either.
            return
        self._tell(self._name, direction, self._hide(line))


def shown(read: Source, write: Sink, traffic: Traffic | None) -> tuple[Source, Sink]:
    """Return the same two streams, reporting each message to `traffic`."""
    return (
        (read, write) if traffic is None else (_ReportedReadStream(read, traffic), _ReportedWriteStream(write, traffic))
    )


class _ReportedReadStream(ReadStream):
    def __init__(self, inner: Source, traffic: Traffic) -> None:
        super().__init__(inner)
        self._traffic = traffic

    async def receive(self) -> SessionMessage | Exception:
        item = await self._inner.receive()
        if isinstance(item, SessionMessage) and not isinstance(item.message, Unsaid):
            self._traffic.show("received", item.message)
        return item


class _ReportedWriteStream(WriteStream):
    def __init__(self, inner: Sink, traffic: Traffic) -> None:
        super().__init__(inner)
        self._traffic = traffic

    async def send(self, item: SessionMessage, /) -> None:
        self._traffic.show("sent", item.message)
        await self._inner.send(item)


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
    return _LimitedReadStream(read, write, requests), _LimitedWriteStream(write, requests)


class _Requests:
    def __init__(self, is_behind: Callable[[], bool], warn: Callable[[str], object]) -> None:
        self.open: set[RequestId] = set()
        self.is_behind = is_behind
        self._warn = warn
        self._warned: list[str] = []

    def warn(self, warning: str) -> None:
        if warning not in self._warned:
            self._warned.append(warning)
            self._warn(warning)

    def done(self, number: RequestId | None) -> None:
        if number is not None:
            self.open.discard(coerce_request_id(number))


class _LimitedReadStream(ReadStream):
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


class _LimitedWriteStream(WriteStream):
    def __init__(self, inner: Sink, requests: _Requests) -> None:
        super().__init__(inner)
        self._requests = requests

    async def send(self, item: SessionMessage, /) -> None:
        if self._requests.open and isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._requests.done(item.message.id)
        await self._inner.send(item)
