"""Wrappers of the two streams of a session: pending requests, reported traffic, and limits on requests."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from typing import Any, Protocol, TypeAlias, get_args

from anyio.abc import ObjectReceiveStream, ObjectSendStream
from anyio.lowlevel import checkpoint
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from acp_bindings._redact import Redactor
from mcp_launch._diagnosis import Diagnosis
from mcp_launch._spec import ServerSpec
from mcp_launch._transports import TransportTerms
from mcp_launch._transports.messages import UnwritableError, cancelled_by, written
from mcp_launch.failures import Code
from mcp_launch.options import Direction


class Source(Protocol):
    """A stream of messages from the server."""

    def receive(self) -> Coroutine[Any, Any, SessionMessage | Exception]: ...
    async def aclose(self) -> None: ...


class Sink(Protocol):
    """A stream of messages to the server."""

    def send(self, item: SessionMessage, /) -> Coroutine[Any, Any, None]: ...
    async def aclose(self) -> None: ...


Receive: TypeAlias = Callable[[], Coroutine[Any, Any, SessionMessage | Exception]]
Send: TypeAlias = Callable[[SessionMessage], Coroutine[Any, Any, None]]


class ReadStream(ObjectReceiveStream[SessionMessage | Exception]):
    """A source in the form that the SDK reads, with another `receive` if one is given."""

    def __init__(self, inner: Source, receive: Receive | None = None) -> None:
        self._inner = inner
        self._receive = receive or inner.receive

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        return await self._receive()

    async def aclose(self) -> None:
        """Close the source."""
        await self._inner.aclose()

    @property
    def last_context(self) -> object:
        """The context in which the last message was sent, if it is known."""
        return getattr(self._inner, "last_context", None)


class WriteStream(ObjectSendStream[SessionMessage]):
    """A sink in the form that the SDK writes to, with another `send`."""

    def __init__(self, inner: Sink, send: Send) -> None:
        self._inner = inner
        self._send = send

    async def send(self, item: SessionMessage) -> None:
        """Forward the message."""
        await self._send(item)

    async def aclose(self) -> None:
        """Close the sink."""
        await self._inner.aclose()


_SAID = 2000
"""The longest error message for a caller in characters, because it may quote what a server wrote."""


def farewell(found: Diagnosis, *, hide: Redactor) -> ErrorData:
    """Return the error for a pending request that will not get a response, with code and facts as its data."""
    # The message is redacted before it is cut. The session redacts the data.
    message = hide.start(found.message, _SAID)
    return ErrorData(code=CONNECTION_CLOSED, message=message, data={"code": found.code, **found.facts})


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

    def __bool__(self) -> bool:
        return bool(self._ids)

    def holds(self, number: RequestId) -> bool:
        """Return True if a request with this id is pending."""
        return coerce_request_id(number) in self._ids

    def sent(self, message: JSONRPCMessage) -> None:
        """Note a message to the server: a request is pending, a cancelled one no longer."""
        if isinstance(message, JSONRPCRequest):
            self._ids[coerce_request_id(message.id)] = message.id
            self._opening = message.id if message.method in ("server/discover", "initialize") else None
        elif (cancelled := cancelled_by(message)) is not None:
            self._ids.pop(coerce_request_id(cancelled), None)
        else:
            self._opening = None

    def named(self, message: JSONRPCMessage) -> JSONRPCMessage:
        """Return the message, with the id of the opening request if it is an error without an id.

        That applies only while no other request is pending. Later, such an error may be about a notification.
        """
        if isinstance(message, JSONRPCError) and message.id is None and [*self._ids.values()] == [self._opening]:
            return JSONRPCError(jsonrpc="2.0", id=self._opening, error=message.error)
        return message

    def received(self, message: JSONRPCMessage) -> RequestId | None:
        """Note a message from the server; return the id of the pending request to which it responds, if it does."""
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            return self._ids.pop(coerce_request_id(message.id), None)
        return None

    def refused(self, error: ErrorData) -> Iterator[Unsaid]:
        """Yield the error as response to each pending request; afterwards none is pending."""
        while self._ids:
            number = self._ids.pop(next(iter(self._ids)))
            yield Unsaid(jsonrpc="2.0", id=number, error=error)


MOST_REQUESTS = 100
"""Requests of one server that are handled at the same time."""
_TOO_MANY = ErrorData(code=INTERNAL_ERROR, message=f"more than {MOST_REQUESTS} requests are in progress")


class Guard:
    """Limits the requests of the server in progress to `MOST_REQUESTS`, and shows the traffic.

    A request beyond that is answered by an error. It is dropped if `is_behind` says that the server does not accept
    our responses either, or if its id is in use.
    """

    # Not functions with shared variables, which take a kilobyte more in each session.
    __slots__ = ("_in_progress", "_is_behind", "_read", "_spec", "_tell", "_terms", "_write")

    def __init__(
        self, read: Source, write: Sink, spec: ServerSpec, terms: TransportTerms, *, is_behind: Callable[[], bool]
    ) -> None:
        self._read = read
        self._write = write
        self._spec = spec
        self._terms = terms
        self._is_behind = is_behind
        self._in_progress: set[RequestId] = set()
        self._tell = terms.options.traffic

    @property
    def streams(self) -> tuple[ReadStream, WriteStream]:
        """The two streams, guarded."""
        return ReadStream(self._read, self.receive), WriteStream(self._write, self.send)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message that is to be handled."""
        while True:
            item = await self._read.receive()
            if isinstance(item, SessionMessage):
                self._show("received", item.message)
                # The SDK does not respond to a request that was cancelled.
                if self._in_progress and (cancelled := cancelled_by(item.message)) is not None:
                    self._in_progress.discard(coerce_request_id(cancelled))
                if isinstance(item.message, JSONRPCRequest) and not await self._accepts(item.message):
                    # A flood of these must let other tasks run.
                    await checkpoint()
                    continue
            return item

    async def send(self, item: SessionMessage) -> None:
        """Send a message; a response ends a request in progress."""
        message = item.message
        self._show("sent", message)
        await self._write.send(item)
        # Not before, because the responses to a flood of requests would delay all other messages.
        if self._in_progress and isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._in_progress.discard(coerce_request_id(message.id))

    def _show(self, direction: Direction, message: JSONRPCMessage) -> None:
        """Give the user's callback a message as one line of redacted JSON."""
        if self._tell is not None and not isinstance(message, Unsaid):
            # A message that cannot be written is not sent either.
            with suppress(UnwritableError):
                line = self._spec.redactor(written(message).decode())
                try:
                    self._tell(self._spec.name, direction, line)
                except Exception as error:  # noqa: BLE001 - whatever it is, it must not end the session
                    self._tell = None
                    self._terms.warn(f"the traffic callback raised {type(error).__name__} and is not called again")

    async def _accepts(self, request: JSONRPCRequest) -> bool:
        number = coerce_request_id(request.id)
        if self._is_behind():
            self._terms.warn("sends requests faster than it accepts the responses; some requests were dropped")
        elif number in self._in_progress:
            self._terms.warn("sent a request with the id of one that was in progress; it was dropped")
        elif len(self._in_progress) >= MOST_REQUESTS:
            self._terms.warn(f"sent more than {MOST_REQUESTS} requests at a time; the rest got an error")
            error = JSONRPCError(jsonrpc="2.0", id=request.id, error=_TOO_MANY)
            await self.send(SessionMessage(error))
        else:
            self._in_progress.add(number)
            return True
        return False
