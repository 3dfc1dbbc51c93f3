"""The HTTP client of the SSE transport."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from anyio.lowlevel import checkpoint

from mcp_launch._diagnosis.responses import UNMAPPED, TooLong
from mcp_launch._spec import HttpServer
from mcp_launch._transports import TRIAL
from mcp_launch._transports.events import Event, EventBuffer, EventTooLong, event_of
from mcp_launch._transports.network import Network
from mcp_launch._transports.web import EVENT_STREAM, follows, media_type, start_of
from mcp_launch._transports.web_client import RememberingClient
from mcp_launch.options import Limits

_REDIRECTS = 5
_PIECE = 65536
"""Bytes of an event stream that are handled before other tasks run."""


class NoEventsError(Exception):
    """The response is not an event stream."""


class EventClient(RememberingClient):
    """The client of the SSE transport."""

    def __init__(self, spec: HttpServer, network: Network, *, connect: float, limits: Limits | None = None) -> None:
        super().__init__(spec, network, usual="/sse", connect=connect, limits=limits)
        self.reads = False
        """True once the event stream is open."""

    @asynccontextmanager
    async def events(self, url: str) -> AsyncGenerator[Events]:
        """The events that a GET is answered with.

        Raises:
            NoEventsError: it returned something else.
            TooLong: an event is longer than the limit.
            httpx2.RequestError: it was not answered.
        """
        headers = {"accept": EVENT_STREAM, "accept-encoding": "identity", "cache-control": "no-store"}
        response = await self.send_within_origin(self.build_request("GET", url, headers=headers))
        if not response.is_success or media_type(response.headers) != EVENT_STREAM:
            raise NoEventsError
        self.reads = True
        reading = anyio.CancelScope()
        events = Events(response, self.reader.limits.bytes, reading)
        with reading:
            try:
                yield events
            finally:
                with anyio.CancelScope(shield=True):
                    await response.aclose()
        if reading.cancelled_caught:
            raise TooLong(f"sent an event that exceeds a limit: {events.wrong}")

    async def send_within_origin(self, request: httpx2.Request) -> httpx2.Response:
        """Send, and follow redirects that keep the method and the origin; any other one is the answer."""
        for _ in range(_REDIRECTS):
            response = await self.send(request)
            following = response.next_request
            if following is None or not follows(request, following):
                return response
            self.memory.forget()
            request = following
        return await self.send(request)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request and remember the outcome; only the body of an event stream remains unread."""
        options["stream"] = True
        memory, named = self.memory, request.method == "POST"
        in_session = self.proven and named
        try:
            response = await super().send(request, **options)
        except (httpx2.RequestError, TooLong, *UNMAPPED) as error:
            memory.failed(request, error)
            raise
        # Only the status of a POST matters, because the response comes by the event stream.
        is_mcp = response.is_success and (request.method == "POST" or media_type(response.headers) == EVENT_STREAM)
        # Remembered immediately, because the body may be slow.
        memory.answered(request, response, is_mcp=is_mcp, in_session=in_session, named=named)
        body = b""
        if not is_mcp and not follows(request, response.next_request):
            body = await start_of(response)
        elif not is_mcp or request.method == "POST":
            if "content-length" in response.headers:
                # Read to its end, so that the connection can be used for the next POST.
                await start_of(response)
            await response.aclose()
        # Again, with the body, because there were other responses meanwhile and the caller reads the memory next.
        memory.answered(request, response, is_mcp=is_mcp, body=body, in_session=in_session, named=named)
        if memory.found is not None and memory.found.code == "session_lost":
            self.lost = memory.found
        return response


class Events:
    """The events of a response."""

    def __init__(self, response: httpx2.Response, limit: int, reading: anyio.CancelScope) -> None:
        self.url = response.request.url
        """The URL of the response."""
        self.wrong: EventTooLong | None = None
        """The error that stopped reading early."""
        self._response = response
        self._buffer = EventBuffer(limit)
        self._reading = reading

    async def __aiter__(self) -> AsyncGenerator[Event]:
        async for chunk in self._response.aiter_bytes():
            for start in range(0, len(chunk), _PIECE):
                if start:
                    await checkpoint()
                try:
                    for block in self._buffer.feed(chunk[start : start + _PIECE]):
                        if event := event_of(block):
                            yield event
                except EventTooLong as error:
                    # Not an exception, which would leave httpx2's generators to the garbage collector.
                    self.wrong = error
                    self._reading.cancel()


async def speaks_sse(spec: HttpServer, network: Network) -> bool:
    """Return True if the response to a GET is an SSE session."""
    found = False
    with (
        anyio.move_on_after(TRIAL) as scope,
        contextlib.suppress(httpx2.RequestError, NoEventsError, TooLong, *UNMAPPED),
    ):
        async with EventClient(spec, network, connect=TRIAL) as client, client.events(spec.url) as events:
            async for event in events:
                # Events that came at the same time are read even after the scope has ended.
                found = found or event.name == "endpoint"
                # Not a break, which would leave httpx2's generators to the garbage collector.
                scope.cancel()
    return found
