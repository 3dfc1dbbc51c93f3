"""Read the messages in Streamable HTTP responses, and give the SDK, which parses them again, small stand-ins.

The SDK takes several times the memory of a message, and formats every event for a log that is usually off. So for a
large message it gets a stand-in of the same kind and id, and the session takes the message itself from the context of
the SDK's task.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from contextvars import Context, ContextVar
from itertools import count
from typing import cast
from uuid import uuid4

import httpx2
from anyio import move_on_after
from anyio.lowlevel import checkpoint
from mcp_types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from acp_bindings._events import EventBuffer, EventTooLong, event_of
from acp_bindings._redact import Redactor
from mcp_launch._diagnosis import Diagnosis
from mcp_launch._transports.messages import Invalid, Reader, written
from mcp_launch._transports.streams import Unsaid, farewell
from mcp_launch.options import allow_more, megabytes

_SMALL = 4096
"""Bytes of a message that the SDK gets unchanged, which is faster than creating a stand-in."""
_PIECE = 65536
"""Bytes of an event stream that are handled before other tasks run."""
_END = 0.2
"""Seconds for reading the end of an event stream after the response."""
_TOKEN = "mcp-launch/message"  # noqa: S105 - the name of a field

_SECRET = uuid4().hex
_numbers = count()

_large: ContextVar[tuple[str, JSONRPCMessage] | None] = ContextVar("large", default=None)
"""The large message of the current task, and the token in its stand-in."""


def message_in_full(message: JSONRPCMessage, context: object) -> JSONRPCMessage:
    """Return the message for which this is the stand-in, by the context in which it was sent, or itself."""
    kept = context.get(_large) if isinstance(context, Context) else None
    if kept is None or kept[0] != _token_of(message):
        return message
    # The context lives as long as the session.
    cast("Context", context).run(_large.set, None)
    if isinstance(message, JSONRPCResponse | JSONRPCError):
        # The SDK gives an event the id of the request.
        return kept[1].model_copy(update={"id": message.id})
    return kept[1]


class ResponseReader:
    """Reads the messages in the responses to one client."""

    def __init__(self, reader: Reader, *, hide: Redactor) -> None:
        self.reader = reader
        self.warn: Callable[[str], object] = len
        """Called with a warning for each message that is dropped."""
        self.spoke = False
        """True after the first message."""
        self.found: Diagnosis | None = None
        """The diagnosis of the last response that could not be read."""
        self.unused = b""
        """The start of what the last event stream that ended had besides messages."""
        self._hide = hide

    async def body(self, body: bytes) -> bytes | Invalid:
        """Return the body for the SDK, or why this one is not a message."""
        found = await self.reader.read(body)
        return found if isinstance(found, Invalid) else self._passed(found, body)

    async def event(self, data: bytes, *, is_answer: bool) -> bytes:
        """Return the data for the SDK; `is_answer` is true if the stream is the response to one request."""
        found = await self.reader.read(data)
        return self.unread(found, is_answer=is_answer) if isinstance(found, Invalid) else self._passed(found, data)

    def unread(self, found: Invalid, *, is_answer: bool) -> bytes:
        """Return the data for the SDK in place of an invalid event; empty to drop it."""
        if found.answers is not None or (is_answer and not found.is_call):
            return self.refused(found, found.answers)
        self.warn(found.warning)
        return b""

    def refused(self, found: Invalid, number: RequestId | None) -> bytes:
        """Return the error for a request whose response cannot be read."""
        self.found = found.diagnosis()
        return _stand_in(Unsaid(jsonrpc="2.0", id=number, error=farewell(self.found, hide=self._hide)))

    def _passed(self, message: JSONRPCMessage, text: bytes) -> bytes:
        self.spoke = True
        return text if len(text) <= _SMALL and not self.reader.mended else _stand_in(message)


class EventBody(httpx2.AsyncByteStream):
    """The body of an event stream for the SDK."""

    def __init__(self, response: httpx2.Response, reading: ResponseReader, *, is_answer: bool) -> None:
        self._response = response
        self._chunks = response.aiter_bytes()
        self._reading = reading
        self._is_answer = is_answer
        self._has_events = False
        self._unused = b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        limit = self._reading.reader.limits.bytes
        buffer = EventBuffer(limit, too_long=f"it is longer than {megabytes(limit)}; {allow_more('bytes')}")
        # Proxies cut a stream without events. The SDK opens it again after an end, but not after two errors.
        with suppress(httpx2.TransportError):
            async for chunk in self._chunks:
                for start in range(0, len(chunk), _PIECE):
                    if start:
                        await checkpoint()
                    try:
                        for block in buffer.feed(chunk[start : start + _PIECE]):
                            if given := await self._given(block):
                                self._has_events = True
                                yield given
                                _large.set(None)
                    except EventTooLong as error:
                        found = self._reading.reader.too_long(error.start, str(error))
                        yield _event(self._reading.unread(found, is_answer=self._is_answer))
                        return
        self._reading.unused = self._unused + buffer.rest[:_SMALL]

    async def _given(self, block: bytearray) -> bytes:
        event = event_of(block)
        if event is None or event.name != "message":
            if event:
                self._unused += block[: _SMALL - len(self._unused)]
            # The SDK ignores other events, but decodes them.
            return bytes(block) if len(block) <= _PIECE else b""
        given = await self._reading.event(event.data, is_answer=self._is_answer)
        return bytes(block) if given is event.data else _event(given, event.about)

    async def aclose(self) -> None:
        """Return the connection to the pool if the stream ends now, or close it."""
        try:
            if self._has_events:
                # The SDK stops reading after the response, and most servers then end the stream. Unless that is read,
                # each call would need a new connection.
                with suppress(Exception), move_on_after(_END):
                    await anext(self._chunks, None)
        finally:
            await self._chunks.aclose()
            await self._response.aclose()


def _event(data: bytes, about: bytes = b"") -> bytes:
    return b"%bdata: %b\n\n" % (about, data) if data else b""


def _stand_in(message: JSONRPCMessage) -> bytes:
    """Return a small message for the SDK; the session gets the given one instead."""
    token = f"{_SECRET}{next(_numbers)}"
    _large.set((token, message))
    match message:
        case JSONRPCResponse():
            small: JSONRPCMessage = JSONRPCResponse(jsonrpc="2.0", id=message.id, result={_TOKEN: token})
        case JSONRPCError():
            small = JSONRPCError(jsonrpc="2.0", id=message.id, error=ErrorData(code=0, message=token))
        case JSONRPCRequest():
            small = message.model_copy(update={"params": {_TOKEN: token}})
        case JSONRPCNotification():
            small = message.model_copy(update={"params": {_TOKEN: token}})
    return written(small)


def _token_of(message: JSONRPCMessage) -> object:
    match message:
        case JSONRPCResponse(result=members):
            return members.get(_TOKEN)
        case JSONRPCError(error=error):
            return error.message
        case _:
            return (message.params or {}).get(_TOKEN)
