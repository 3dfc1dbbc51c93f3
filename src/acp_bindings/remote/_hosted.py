"""A connection of the HTTP profile on the server: what arrives by POST, and the event streams that leave."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from secrets import token_hex
from time import monotonic
from typing import Any

import anyio

from acp_bindings._condition import Condition
from acp_bindings.remote._wire import CLOSES_SESSION, OPENS_SESSION, PART, REOPENS_SESSION, Outline, outline, session_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of what a remote agent accepts from its clients."""

    body: int = 32 * 1024 * 1024
    """Bytes of a message. A larger one is answered with 413."""
    headers: int = 32 * 1024
    """Bytes of the headers of a request. More are answered with 431."""
    buffer: int = 4 * 1024 * 1024
    """Bytes of each event stream that may wait for the client, before the agent waits too. As many that were sent are
    kept for a client that reconnects."""
    streams: int = 100
    """The streams of sessions of a connection."""
    connections: int = 1000
    """The connections of an identity. One more is answered with 429."""
    idle: float = 300.0
    """Seconds after which a connection without requests and streams is closed."""
    stall: float = 60.0
    """Seconds after which a connection is closed whose client does not read while the agent waits."""
    initialize: float = 30.0
    """Seconds for the response to `initialize`, and for the body of a request; a body has 1 s more for each 16 KB."""


class StreamTaken(Exception):  # noqa: N818 - says what happened
    """Another reader has the stream."""


class EventsLost(Exception):  # noqa: N818 - says what happened
    """The stream no longer has the events after the one that the reader names."""


class EventStream:
    """The events of one stream, numbered from 1. They are kept until a reader has taken them."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        """Bytes of sent events to keep at least for a reader that reconnects."""
        self.size = 0
        """Bytes that no reader has taken."""
        self.idle_since = monotonic()
        self.news = Condition()
        """Notified when there are events, a reader has taken some or read a part of one, or a reader has come."""
        self.is_closed = False
        """True if no more events come."""
        self.is_over = False
        """True if its session was closed."""
        self.begins_after = set[Any]()
        """The requests that are completed on the stream of the connection first, because they began there."""
        self._unsent: deque[bytes] = deque()
        self._sent: deque[bytes] = deque()
        """The last events that a reader has taken, for one that reconnects."""
        self._sent_size = 0
        self._last = 0
        """The number of the last event that a reader has taken."""
        self._reader: object = None

    @property
    def has_reader(self) -> bool:
        """True if a request reads the stream."""
        return self._reader is not None

    @property
    def last(self) -> int:
        """The number of the last event."""
        return self._last + len(self._unsent)

    def add(self, line: bytes, *, after: bytes = b"") -> None:
        """Add a message.

        Args:
            line: the message.
            after: a comment before it.
        """
        event = b"%bid: %d\ndata: %b\n" % (after, self.last + 1, line)
        self._unsent.append(event)
        self.size += len(event)
        self.news.notify_all()

    def attach(self, last: int | None) -> object:
        """Return a token for a reader that continues after the event with the number *last*, or with unsent events.

        Raises:
            StreamTaken: there is a reader, and this one does not continue its work.
            EventsLost: the next event is no longer there.
        """
        if last is None:
            if self.has_reader and not self.is_over:
                raise StreamTaken
        elif not self._last - len(self._sent) <= last <= self._last:
            raise EventsLost
        else:
            # The reader before has lost its connection, even if nothing has shown that here yet.
            again = [self._sent.pop() for _ in range(self._last - last)]
            size = sum(map(len, again))
            self._unsent.extendleft(again)
            self.size, self._sent_size, self._last = self.size + size, self._sent_size - size, last
        self._reader = token = object()
        self.is_over = False
        self.news.notify_all()
        return token

    def detach(self, token: object) -> None:
        """End the work of a reader."""
        if self._reader is token:
            self._reader, self.idle_since = None, monotonic()

    async def take(self, token: object) -> bytes | None:
        """Return the next events as one piece, when there are any; None at the end, or if another reader has come."""
        while self._reader is token:
            if self._unsent:
                events, size = list[bytes](), 0
                while self._unsent and (not events or size + len(self._unsent[0]) <= PART):
                    events.append(event := self._unsent.popleft())
                    size += len(event)
                self._last += len(events)
                self._sent += events
                self._sent_size, self.size = self._sent_size + size, self.size - size
                # A long event is kept as long as it may be under way, which is until as many bytes have followed it.
                while self._sent_size - len(self._sent[0]) > self._kept:
                    self._sent_size -= len(self._sent.popleft())
                self.news.notify_all()
                return b"".join(events)
            if self.is_closed:
                return None
            await self.news.wait()
        return None


class HostedConnection:
    """The source and the sink of a `Connection` whose peer uses HTTP."""

    def __init__(self, *, identity: str | None, limits: Limits) -> None:
        self.id = token_hex(16)
        self.identity = identity
        self.ended = anyio.Event()
        self._limits = limits
        self._streams: dict[str | None, EventStream] = {None: EventStream(limits.buffer)}
        self._routes: dict[Any, tuple[str | None, Outline]] = {}
        """The stream for the response to each request of the client."""
        self._initialized = anyio.Event()
        """Set when there is a response to `initialize`, or will not be."""
        self._response: bytes | None = None
        """That response."""
        self._inbound = bytearray()
        self._arrived = Condition()
        self._room = Condition()
        self._active = monotonic()

    def stream(self, session_id: str | None) -> EventStream | None:
        """Return the stream of a session, or of the connection; None if there are too many."""
        if (stream := self._streams.get(session_id)) is None:
            for id_, each in [*self._streams.items()]:
                if each.is_over and not (each.has_reader or each.size):
                    del self._streams[id_]
            if len(self._streams) <= self._limits.streams:
                stream = self._streams[session_id] = EventStream(self._limits.buffer)
                for key, (_, request) in self._routes.items():
                    if request.session_id == session_id:
                        self._routes[key] = None, request
                        stream.begins_after.add(key)
        return stream

    @property
    def idle(self) -> float:
        """The seconds since the client was last seen."""
        if any(each.has_reader for each in self._streams.values()):
            return 0.0
        return monotonic() - max(self._active, *(each.idle_since for each in self._streams.values()))

    def end(self) -> None:
        """End the connection."""
        if not self.ended.is_set():
            self.ended.set()
            self._initialized.set()
            self._arrived.notify_all()
            self._room.notify_all()
            for stream in self._streams.values():
                stream.is_closed = True
                stream.news.notify_all()

    async def initialize(self, line: bytes) -> bytes | None:
        """Pass `initialize` on and return the response; None if the connection ends before."""
        self._put(line)
        await self._initialized.wait()
        return self._response

    async def deliver(self, line: bytes, about: Outline, session_id: str | None) -> None:
        """Pass a message of the client on, when there is room for it."""
        self._active = monotonic()
        while len(self._inbound) > self._limits.buffer and not self.ended.is_set():
            await self._room.wait()
        if about.is_request:
            self._routes[about.key] = (None if about.method in OPENS_SESSION else session_id, about)
        self._put(line)

    def _put(self, line: bytes) -> None:
        self._inbound += line
        self._arrived.notify_all()

    async def receive(self, _: int = 65536, /) -> bytes:
        """Return the next lines of the client. The source of the connection."""
        while not self._inbound:
            if self.ended.is_set():
                raise anyio.EndOfStream
            await self._arrived.wait()
        chunk = bytes(self._inbound)
        self._inbound.clear()
        self._room.notify_all()
        return chunk

    async def send(self, item: bytes, /) -> None:
        """Add the lines to the streams of their sessions, when these have room. The sink of the connection."""
        for line in item.splitlines(keepends=True) if item.count(b"\n") > 1 else (item,):
            stream, after = self._route(line)
            if stream is None:
                continue
            if stream.size > self._limits.buffer:
                await self._until_read(stream)
            stream.add(line, after=after)

    async def aclose(self) -> None:
        """End the connection."""
        self.end()

    def _route(self, line: bytes) -> tuple[EventStream | None, bytes]:
        """Return the stream for a message of the agent, None for the response to `initialize`; and its comment.

        A session has a stream from the response with its id, or from the request that reads it. Until then its messages
        are on the stream of the connection, because some clients read no other before they know the session. Requests
        in progress at that time are completed there, because messages on two streams can overtake each other.
        """
        after = b""
        if (session_id := session_of(line)) is None and (about := outline(line)) is not None:
            session_id = about.session_id
            if about.method is None:
                if not self._initialized.is_set():
                    self._response = line
                    self._initialized.set()
                    return None, after
                session_id, request = self._routes.pop(about.key, (None, None))
                if request and request.method in OPENS_SESSION:
                    self.stream(about.result.get("sessionId"))
                if request and request.session_id and (own := self._streams.get(request.session_id)):
                    own.begins_after.discard(about.key)
                    if request.method in REOPENS_SESSION:
                        # This stream has the history. Our own client waits for it before it reads this response.
                        after = f": after {own.last} {request.session_id}\n".encode()
                    elif request.method in CLOSES_SESSION:
                        own.is_over = not about.is_error
        stream = self._streams.get(session_id)
        return stream if stream and not stream.begins_after else self._streams[None], after

    async def _until_read(self, stream: EventStream) -> None:
        """Wait until a reader takes events of the stream.

        Raises:
            BrokenResourceError: nothing was read for too long, or the connection has ended.
        """
        with anyio.move_on_after(self._limits.stall) as limit:
            while stream.size > self._limits.buffer and not self.ended.is_set():
                await stream.news.wait()
                limit.deadline = anyio.current_time() + self._limits.stall
        if stream.size > self._limits.buffer:
            self.end()
            raise anyio.BrokenResourceError
