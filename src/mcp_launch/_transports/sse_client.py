"""The HTTP client of the SSE transport."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import anyio
import httpx2
from anyio.lowlevel import checkpoint

from acp_bindings._events import Event, EventBuffer, EventTooLong, event_of
from mcp_launch._diagnosis.responses import UNMAPPED, TooLong
from mcp_launch._http_types import EVENT_STREAM, JSON, media_type
from mcp_launch._spec import HttpServer
from mcp_launch._transports import TRIAL
from mcp_launch._transports.client import McpClient
from mcp_launch._transports.network import Network
from mcp_launch._transports.web import chunks_of, follows, start_of
from mcp_launch.options import allow_more, megabytes

_REDIRECTS = 5
_PIECE = 65536
"""Bytes of an event stream that are handled before other tasks run."""


class NoEventsError(Exception):
    """The response is not an event stream."""


class EventClient(McpClient):
    """The client for an event stream and for the messages that are posted elsewhere."""

    usual = "/sse"
    reads = False
    """True once the event stream is open."""

    @asynccontextmanager
    async def events(self, url: str) -> AsyncGenerator[tuple[httpx2.URL, AsyncGenerator[Event]]]:
        """Send a GET, and yield the URL and the events of the response.

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
        try:
            async with aclosing(self._events(response)) as events:
                yield response.request.url, events
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    async def _events(self, response: httpx2.Response) -> AsyncGenerator[Event]:
        limit = self.reader.limits.bytes
        buffer = EventBuffer(limit, too_long=f"it is longer than {megabytes(limit)}; {allow_more('bytes')}")
        async with chunks_of(response) as chunks:
            async for chunk in chunks:
                for start in range(0, len(chunk), _PIECE):
                    if start:
                        await checkpoint()
                    try:
                        for block in buffer.feed(chunk[start : start + _PIECE]):
                            if event := event_of(block):
                                yield event
                    except EventTooLong as error:
                        raise TooLong(f"sent an event that exceeds a limit: {error}") from None

    def message(self, endpoint: httpx2.URL, body: bytes) -> httpx2.Request:
        """Return the POST of a message."""
        return self.message_to(endpoint, body, [*self.headers.raw, (b"Content-Type", JSON.encode())])

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
            memory.failed(request.url, error)
            raise
        # Only the status of a POST matters, because the response comes by the event stream.
        is_mcp = response.is_success and (named or media_type(response.headers) == EVENT_STREAM)
        # Remembered immediately, because the body may be slow.
        memory.answered(request, response, is_mcp=is_mcp, in_session=in_session, named=named)
        body = b""
        if not is_mcp and not follows(request, response.next_request):
            body = await start_of(response)
        elif not is_mcp or named:
            if "content-length" in response.headers:
                # Read to its end, so that the connection can be used for the next POST.
                await start_of(response)
            await response.aclose()
        # Again, with the body, because there were other responses meanwhile and the caller reads the memory next.
        memory.answered(request, response, is_mcp=is_mcp, body=body, in_session=in_session, named=named)
        if memory.found is not None and memory.found.code == "session_lost":
            self.lost = memory.found
        return response


async def speaks_sse(spec: HttpServer, network: Network) -> bool:
    """Return True if the response to a GET is an SSE session."""
    with anyio.move_on_after(TRIAL), contextlib.suppress(httpx2.RequestError, NoEventsError, TooLong, *UNMAPPED):
        async with EventClient(spec, network, connect=TRIAL) as client, client.events(spec.url) as (_, events):
            async for event in events:
                if event.name == "endpoint":
                    return True
    return False
