"""The HTTP client of the SSE transport, on httpx, which takes authentications and proxies made for httpx2."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import Any, ClassVar, cast

import anyio
import httpx
import httpx2
from anyio.lowlevel import checkpoint
from httpx_sse import EventSource
from typing_extensions import override

from acp_bindings._events import Event, EventBuffer, EventTooLong, event_of
from acp_bindings._http import cookie_jar
from mcp_launch._diagnosis import Diagnosis
from mcp_launch._diagnosis.responses import UNMAPPED, TooLong
from mcp_launch._http_types import EVENT_STREAM, media_type
from mcp_launch._spec import HttpServer
from mcp_launch._transports import TRIAL
from mcp_launch._transports.memory import Memory
from mcp_launch._transports.messages import Reader
from mcp_launch._transports.network import Network, usable
from mcp_launch._transports.posts import MOST_CONNECTIONS
from mcp_launch._transports.web import HeaderRule, PiecewiseBody, bound, follows, start_of, unpack_slowly
from mcp_launch.options import Limits, allow_more, megabytes


class BridgedAuth(httpx.Auth):
    """Runs an authentication for httpx2 in httpx."""

    def __init__(self, auth: httpx2.Auth) -> None:
        self._auth = auth

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """Convert requests and responses."""
        theirs = httpx2.Request(
            request.method, str(request.url), headers=request.headers.raw, content=await request.aread()
        )
        async with aclosing(self._auth.async_auth_flow(theirs)) as flow:
            try:
                outgoing = await anext(flow)
                while True:
                    sent = httpx.Request(
                        outgoing.method,
                        str(outgoing.url),
                        headers=outgoing.headers.raw,
                        content=await outgoing.aread(),
                        extensions=request.extensions,
                    )
                    response = yield sent
                    body = b""
                    # An event stream is left to the caller.
                    if media_type(response.headers) != EVENT_STREAM:
                        bound(HttpxBody, response)
                        body = await response.aread()
                    answer = httpx2.Response(
                        response.status_code,
                        headers=[(name, value) for name, value in response.headers.raw if name.lower() not in _FRAMING],
                        content=body,
                        request=outgoing,
                    )
                    outgoing = await flow.asend(answer)
            except StopAsyncIteration:
                return
            except (httpx2.RequestError, TooLong) as error:
                raise AuthFailed(str(error), request=request) from error


class HttpxBody(PiecewiseBody, httpx.AsyncByteStream):
    """A body in pieces."""


class AuthFailed(httpx.RequestError):
    """The authentication failed; the cause says why."""


_FRAMING = frozenset((b"content-encoding", b"content-length", b"transfer-encoding"))


def bridged_proxy(proxy: httpx2.Proxy | None) -> httpx.Proxy | None:
    """Return the same proxy for httpx."""
    if proxy is None:
        return None
    return httpx.Proxy(
        str(proxy.url), ssl_context=proxy.ssl_context, auth=proxy.auth, headers=proxy.headers.multi_items()
    )


_REDIRECTS = 5
_PIECE = 65536
"""Bytes of an event stream that are handled before other tasks run."""


class NoEventsError(Exception):
    """The response is not an event stream."""


class EventClient(httpx.AsyncClient):
    """An httpx client that applies the headers of a specification and remembers why requests failed."""

    def __init__(self, spec: HttpServer, network: Network, *, connect: float, limits: Limits | None = None) -> None:
        self.rule = HeaderRule(spec, phrases=network.phrases, logs_in=network.auth is not None)
        with usable(spec, network.proxy_option, library="httpx"):
            super().__init__(
                auth=BridgedAuth(network.auth) if network.auth else None,
                cookies=cookie_jar(),
                verify=network.verify,
                proxy=bridged_proxy(network.proxy),
                trust_env=network.trust_env,
                timeout=httpx.Timeout(connect, read=None, pool=None),
                limits=httpx.Limits(max_connections=MOST_CONNECTIONS, max_keepalive_connections=20),
                event_hooks={"request": self.rule.hooks, "response": [_UNPACK]},
            )
        self._network = network
        self.hide = spec.redactor
        self.reader = Reader(limits or Limits())
        self.memory = Memory(self.rule, network, self, usual="/sse", hide=self.hide, connect=connect)
        self.initialized = False
        """True once the session is initialized."""
        self.lost: Diagnosis | None = None
        """The response by which the server has lost the session, if it has."""
        self.reads = False
        """True once the event stream is open."""

    @asynccontextmanager
    async def events(self, url: str) -> AsyncGenerator[Events]:
        """The events that a GET is answered with.

        Raises:
            NoEventsError: it returned something else.
            TooLong: an event is longer than the limit.
            httpx.RequestError: it was not answered.
        """
        headers = {"accept": EVENT_STREAM, "accept-encoding": "identity", "cache-control": "no-store"}
        traced = {"trace": self.memory.follow}
        response = await self.send_within_origin(self.build_request("GET", url, headers=headers, extensions=traced))
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

    async def send_within_origin(self, request: httpx.Request) -> httpx.Response:
        """Send, and follow redirects that keep the method and the origin; any other one is the answer."""
        for _ in range(_REDIRECTS):
            response = await self.send(request)
            following = response.next_request
            if following is None or not follows(request, following):
                return response
            self.memory.forget()
            request = following
        return await self.send(request)

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request and remember the outcome; only the body of an event stream remains unread."""
        options["stream"] = True
        memory, is_post = self.memory, request.method == "POST"
        in_session = self.initialized
        try:
            response = await super().send(request, **options)
        except (httpx.RequestError, *UNMAPPED) as error:
            memory.failed(request.url, error)
            raise
        # Only the status of a POST matters, because the response comes by the event stream.
        is_mcp = response.is_success and (is_post or media_type(response.headers) == EVENT_STREAM)
        remember = partial(memory.answered, request, response, is_mcp=is_mcp, in_session=in_session, named=is_post)
        # Immediately, because the body may be slow.
        remember()
        body = b""
        if not is_mcp and not follows(request, response.next_request):
            body = await start_of(response)
        elif not is_mcp or is_post:
            if "content-length" in response.headers:
                # Read to its end, so that the connection can be used for the next POST.
                await start_of(response)
            await response.aclose()
        # Again, with the body, because there were other responses meanwhile and the caller reads the memory next.
        remember(body=body)
        if memory.found is not None and memory.found.code == "session_lost":
            self.lost = memory.found
        return response

    @override
    def _transport_for_url(self, url: httpx.URL) -> httpx.AsyncBaseTransport:
        # Here, because a pattern in `mounts` does not match every spelling, and a login may be at any URL.
        return self._transport if self._network.is_direct(url) else super()._transport_for_url(url)


class Events:
    """The events of a response."""

    def __init__(self, response: httpx.Response, limit: int, reading: anyio.CancelScope) -> None:
        self.url = response.request.url
        """The URL of the response."""
        self.wrong: EventTooLong | None = None
        """The error that stopped reading early."""
        self._response = response
        self._buffer = EventBuffer(limit, too_long=f"it is longer than {megabytes(limit)}; {allow_more('bytes')}")
        self._reading = reading

    async def __aiter__(self) -> AsyncGenerator[Event]:
        async for chunk in self._response.aiter_bytes():
            for start in range(0, len(chunk), _PIECE):
                if start:
                    await checkpoint()
                try:
                    for block in self._buffer.feed(chunk[start : start + _PIECE]):
                        if event := _event_of(block):
                            yield event
                        # Otherwise, a long event would stay in memory until the next one.
                        del block, event
                except EventTooLong as error:
                    # Not an exception, which would leave httpx's generators to the garbage collector.
                    self.wrong = error
                    self._reading.cancel()


class _Block:
    """A block of lines, as the response that httpx-sse reads. A response of httpx takes six times as long."""

    headers: ClassVar = {"content-type": EVENT_STREAM}

    def __init__(self, lines: bytearray) -> None:
        self._lines = lines

    def iter_text(self) -> Iterator[str]:
        yield self._lines.decode(errors="replace")


def _event_of(block: bytearray) -> Event | None:
    """Return the event in a block of lines; None if it has no data."""
    if len(block) > _PIECE:
        # httpx-sse copies a long event five times.
        return event_of(block)
    for event in EventSource(cast("httpx.Response", _Block(block))).iter_sse():
        if event.data:
            return Event(event.event, event.data.encode())
    return None


_UNPACK = partial(unpack_slowly, HttpxBody, httpx.DecodingError)


async def speaks_sse(spec: HttpServer, network: Network) -> bool:
    """Return True if the response to a GET is an SSE session."""
    found = False
    with anyio.move_on_after(TRIAL) as scope, contextlib.suppress(httpx.RequestError, NoEventsError, *UNMAPPED):
        async with EventClient(spec, network, connect=TRIAL) as client, client.events(spec.url) as events:
            async for event in events:
                # Events that came at the same time are read even after the scope has ended.
                found = found or event.name == "endpoint"
                # Not a break, which would leave httpx's generators to the garbage collector.
                scope.cancel()
    return found
