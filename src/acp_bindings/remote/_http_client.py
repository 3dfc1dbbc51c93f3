"""The client of the HTTP profile: each message is a POST, and event streams bring the messages of the agent."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import anyio
import httpx
from anyio.abc import TaskGroup

from acp_bindings._condition import Condition
from acp_bindings._envelope import line_of
from acp_bindings._events import EventBuffer, EventTooLong, event_of
from acp_bindings.jsonrpc import INTERNAL_ERROR
from acp_bindings.remote._network import Network
from acp_bindings.remote._reasons import Reply
from acp_bindings.remote._wire import (
    CLOSES_SESSION,
    CONNECTION_ID,
    EVENT_STREAM,
    JSON,
    OPENS_SESSION,
    REOPENS_SESSION,
    SESSION_ID,
    Outline,
    as_line,
    is_sendable,
    outline,
    session_of,
)
from acp_bindings.remote.errors import Unreachable

SILENCE = 60.0
"""Seconds without an event or a comment after which a stream is taken for lost. Servers send comments every 15 s."""
_BUFFER = 4 * 1024 * 1024
"""Bytes that may wait for the connection before the streams are read no further."""
_RETRY = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds before each attempt to reopen a stream."""
_OPENING = 10.0
"""Seconds to wait for the stream of a session before its requests are sent nevertheless."""
_FAREWELL = 1.0
_GATEWAY = frozenset({502, 503, 504})
_DOUBT = 2.0
"""Seconds in which it shows whether the agent is gone, or only the request has failed."""
_FATAL = frozenset({401, 403, 404, 410})
"""Statuses that concern the whole connection. With any other, only the request has failed."""
_ELSEWHERE = frozenset({404, 429})
"""Statuses of a session without a stream: it is not open yet at this server, or the connection has too many. Its
messages are then on the stream of the connection."""
_GONE = (
    "no longer knows the connection (404); has it closed the connection or restarted, "
    "or do several workers respond without affinity?"
)
_LOST = "no longer has all messages that were under way when an event stream was cut (410)"


class _Stream:
    """An event stream that is being read."""

    def __init__(self) -> None:
        self.opened = anyio.Event()
        """Set when the server has accepted the stream, or will not now."""
        self.retry = anyio.Event()
        self.last = ""
        """The id of the last event."""
        self.moved = Condition()
        """Notified when bytes have arrived or the session is closed."""
        self.reading = anyio.CancelScope()
        self.failures = 0
        """The number of times that it was lost or not opened since the server last accepted it."""


class HttpLink:
    """The source and the sink of a connection to an agent at a URL."""

    def __init__(self, network: Network, tasks: TaskGroup, *, limit: int) -> None:
        self.network, self._tasks, self._limit = network, tasks, limit
        self._id: str | None = None
        self._streams: dict[str | None, _Stream] = {}
        self._asked: dict[Any, str] = {}
        """The sessions of the agent's open requests."""
        self._requests: dict[Any, Outline] = {}
        """Our open requests."""
        self._is_numbered = False
        """True if the server numbers the events of each stream from 1, as that of this package does."""
        self._inbound = bytearray()
        self._arrived = Condition()
        self._taken = Condition()
        self._failed = anyio.Event()
        self.failure: Unreachable | None = None
        """Why the connection has ended, once it has."""

    # -- the source

    async def receive(self, _: int = 65536, /) -> bytes:
        """Return the next messages of the agent."""
        while not self._inbound:
            if self.failure is not None:
                raise anyio.EndOfStream
            await self._arrived.wait()
        chunk = bytes(self._inbound)
        self._inbound.clear()
        self._taken.notify_all()
        return chunk

    async def aclose(self) -> None:
        """End the connection."""
        if self._id is None:
            return
        id_, self._id = self._id, None
        with anyio.move_on_after(_FAREWELL, shield=True), suppress(httpx.HTTPError):
            await self.network.client.delete(self.network.url, headers={CONNECTION_ID: id_})

    def _fail(self, failure: Unreachable) -> None:
        if self.failure is None:
            self.failure = failure
            self._failed.set()
            self._arrived.notify_all()
            self._taken.notify_all()
            for stream in self._streams.values():
                stream.opened.set()

    async def _feed(self, line: bytes) -> None:
        self._inbound += line
        self._arrived.notify_all()
        while len(self._inbound) > _BUFFER and self.failure is None:
            await self._taken.wait()

    # -- the sink

    async def send(self, item: bytes, /) -> None:
        """Post each line, one after the other: a cancellation must not overtake its prompt."""
        for line in item.splitlines(keepends=True):
            if self.failure is not None:
                raise anyio.BrokenResourceError
            about = cast("Outline", outline(line))
            try:
                if self._id is None:
                    await self._initialize(line, about)
                else:
                    await self._post(line, about)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                self._fail(self.network.explain(error))
            if self.failure is not None:
                raise anyio.BrokenResourceError

    async def _initialize(self, line: bytes, about: Outline) -> None:
        response = await self.network.post(line, {"content-type": JSON, "accept": JSON}, limit=self._limit)
        id_ = response.headers.get(CONNECTION_ID, "")
        if response.status_code != 200 or not id_ or not is_sendable(id_) or response.is_compressed:
            said = outline(response.content)
            if response.status_code == 200 and said is not None and said.is_error and said.key == about.key:
                # An agent that refuses does not have to make a connection.
                await self._feed(as_line(response.content))
            else:
                self._fail(self.network.refused(response))
            return
        self._id = id_
        await self._feed(as_line(response.content))
        self._open(None)

    async def _post(self, line: bytes, about: Outline) -> None:
        session_id = about.session_id
        if about.method is None:
            session_id = self._asked.pop(about.key, None)
        headers = {"content-type": JSON, CONNECTION_ID: self._id or ""}
        if about.is_request:
            self._requests[about.key] = about
        if session_id is not None and is_sendable(session_id):
            headers[SESSION_ID] = session_id
            if about.is_request:
                stream = self._open(session_id)
                # History comes on the stream, and some servers drop messages without a reader.
                with anyio.move_on_after(_OPENING):
                    await stream.opened.wait()
        response = await self.network.post(line, headers, limit=self._limit)
        if response.status_code == 404 and about.method in REOPENS_SESSION and headers.pop(SESSION_ID, ""):
            # The official Python SDK does not know the session before this request, and then accepts no header.
            response = await self.network.post(line, headers, limit=self._limit)
        has_content = response.status_code == 200 and (response.content or response.is_compressed)
        if has_content and outline(response.content) is not None:
            await self._take(as_line(response.content), session_id)
        elif not response.is_success or (has_content and (about.is_request or response.media_type != JSON)):
            # Some servers have other JSON instead of a 202. A request would then never get its response.
            await self._reject(about, response)

    async def _reject(self, about: Outline, response: Reply) -> None:
        """End the connection, or only fail the request if the response concerns nothing else."""
        status = response.status_code
        reason, is_fatal = _GONE if status == 404 else "", status in _FATAL
        if status == 404 and b"session" in (body := response.content.lower()) and b"connection" not in body:
            reason, is_fatal = "does not know the session (404)", False
        refused = self.network.refused(response, reason)
        if status in _GATEWAY:
            # Most often the agent is gone, and then its streams end too.
            with anyio.move_on_after(_DOUBT):
                await self._failed.wait()
        if is_fatal or not about.is_request:
            self._fail(refused)
        elif self.failure is None:
            error = {"code": INTERNAL_ERROR, "message": str(refused), "data": {"status": status}}
            await self._take(line_of({"id": about.id}, "error", error), about.session_id)

    # -- the event streams

    def _open(self, session_id: str | None) -> _Stream:
        """Return the stream of a session or of the connection, which is read from now on."""
        if (stream := self._streams.get(session_id)) is None:
            stream = self._streams[session_id] = _Stream()
            self._tasks.start_soon(self._listen, session_id, stream)
        return stream

    async def _listen(self, session_id: str | None, stream: _Stream) -> None:
        """Read a stream until it or the connection is closed, and reopen it where that loses nothing."""
        with stream.reading:
            while True:
                await anyio.sleep(_RETRY[stream.failures])
                if self.failure is not None or self._id is None:
                    return
                failure = await self._read_once(self._id, session_id, stream)
                if failure.status in _ELSEWHERE and session_id is not None and stream.last in ("", "0"):
                    stream.opened.set()
                    # A proxy may have sent a 429, too.
                    with anyio.move_on_after(_RETRY[-1] if failure.status == 429 else math.inf):
                        await stream.retry.wait()
                    stream.retry = anyio.Event()
                    continue
                stream.failures += 1
                can_go_on = bool(stream.last) or self._is_numbered or not stream.opened.is_set()
                is_fatal = failure.status in _FATAL or failure.code == "not_acp"
                if is_fatal or stream.failures == len(_RETRY) or not can_go_on:
                    self._fail(failure)
                    return

    async def _read_once(self, id_: str, session_id: str | None, stream: _Stream) -> Unreachable:
        """Open a stream and read it to its end. Return why it ended, or why it was not opened."""
        if stream.opened.is_set() and self._is_numbered:
            # So that a stream that was lost before its first event continues too.
            stream.last = stream.last or "0"
        headers = {"accept": EVENT_STREAM, CONNECTION_ID: id_}
        if session_id is not None:
            headers[SESSION_ID] = session_id
        if stream.last:
            headers["last-event-id"] = stream.last
        try:
            async with self.network.stream(headers, silence=SILENCE) as response:
                if not Reply(response.status_code, response.headers, b"").is_event_stream:
                    start = await self.network.start_of(response)
                    return self.network.refused(start, {404: _GONE, 410: _LOST}.get(start.status_code, ""))
                stream.opened.set()
                stream.failures = 0
                await self._read(response, session_id, stream)
        except (httpx.HTTPError, EventTooLong) as error:
            return self.network.explain(error, silence=SILENCE)
        return self.network.lost("the server closed an event stream")

    async def _read(self, response: httpx.Response, session_id: str | None, stream: _Stream) -> None:
        chunks = response.aiter_bytes()
        try:
            await self._read_events(chunks, session_id, stream)
        except BaseException:
            # This ends httpx's generators, which would be left to the garbage collector: Trio complains about that.
            with anyio.CancelScope() as reading:
                reading.cancel()
                async for _ in chunks:
                    pass
            raise

    async def _read_events(self, chunks: AsyncIterator[bytes], session_id: str | None, stream: _Stream) -> None:
        buffer = EventBuffer(self._limit)
        async for chunk in chunks:
            for block in buffer.feed(chunk):
                if (event := event_of(block)) is None:
                    continue
                if block.startswith(b": after "):
                    await self._wait_for_history(block)
                await self._take(as_line(event.data), session_id)
                for field in event.about.splitlines():
                    if field.startswith(b"id:") and is_sendable(id_ := field[3:].strip().decode("latin-1")):
                        self._is_numbered |= not stream.last and id_ == "1"
                        stream.last = id_
            stream.moved.notify_all()

    async def _wait_for_history(self, block: bytearray) -> None:
        """Wait until the stream of a session has brought the events that the server has sent before this one."""
        last, _, session_id = block.partition(b"\n")[0].removeprefix(b": after ").decode("latin-1").partition(" ")
        stream = self._streams.get(session_id)
        if stream is None or not (last.isdecimal() and (stream.last or "0").isdecimal()):
            return
        with anyio.move_on_after(SILENCE) as limit:
            # Also after a failure: the response would say that the session is loaded, but its history is incomplete.
            while int(stream.last or 0) < int(last) and self._streams.get(session_id) is stream:
                await stream.moved.wait()
                limit.deadline = anyio.current_time() + SILENCE

    async def _take(self, line: bytes, session_id: str | None) -> None:
        closed = None
        # Most lines are notifications of a session, which need not be parsed.
        is_known = session_of(line) is not None and not line.startswith(b'{"jsonrpc":"2.0","id"')
        about = None if is_known else outline(line)
        if about is not None and about.method is None:
            closed = self._settle(about)
        elif about is not None and about.is_request and session_id is not None:
            self._asked[about.key] = session_id
        await self._feed(line)
        if closed:
            closed.moved.notify_all()
            # Only now, because this may be the stream that is read here.
            closed.reading.cancel()

    def _settle(self, response: Outline) -> _Stream | None:
        """Open the stream of a session that a response opens, and return the stream of one that it closes."""
        request = self._requests.pop(response.key, None)
        opened = response.result.get("sessionId")
        if opened is None and request is not None and request.method in OPENS_SESSION:
            opened = request.session_id
        if opened and is_sendable(opened):
            # At once: the server keeps what the agent sends for the session until then.
            self._open(opened).retry.set()
        if request and request.session_id and request.method in CLOSES_SESSION and not response.is_error:
            return self._streams.pop(request.session_id, None)
        return None


@asynccontextmanager
async def open_http(network: Network, *, limit: int) -> AsyncGenerator[HttpLink]:
    """Return the link of a connection over HTTP, whose event streams are read until the end of the block."""
    error: BaseException | None = None
    async with anyio.create_task_group() as tasks:
        try:
            yield HttpLink(network, tasks, limit=limit)
        except BaseException as caught:  # noqa: BLE001 - the task group would wrap it
            error = caught
        tasks.cancel_scope.cancel()
    if error is not None:
        raise error
