"""The HTTP client of the SSE transport, which follows the rule for headers and remembers why it failed."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import httpx
from httpx_sse import EventSource, SSEError

from mcp_launch.diagnosis import Diagnosis
from mcp_launch.diagnosis.no_answer import UNMAPPED, TooLong
from mcp_launch.specs import HttpServer
from mcp_launch.transports import TRIAL
from mcp_launch.transports.bodies import start_of
from mcp_launch.transports.compression import unpack_slowly
from mcp_launch.transports.cookies import cookie_jar
from mcp_launch.transports.headers import HeaderRule, follows
from mcp_launch.transports.media import EVENT_STREAM, media_type
from mcp_launch.transports.memory import Memory
from mcp_launch.transports.network import Network, usable
from mcp_launch.transports.posts import MOST_CONNECTIONS
from mcp_launch.transports.sse.bridge import BridgedAuth, HttpxBody, bridged_proxy
from mcp_launch.transports.sse.events import events_of

__all__ = ["EventClient", "speaks_sse"]

_REDIRECTS = 5


class EventClient(httpx.AsyncClient):
    """httpx as its users know it, plus a rule and a memory."""

    def __init__(self, spec: HttpServer, network: Network, *, connect: float) -> None:
        with usable(spec, network.names_proxy):
            super().__init__(
                auth=BridgedAuth(network.auth) if network.auth else None,
                verify=network.verify,
                proxy=bridged_proxy(network.proxy),
                trust_env=network.trust_env,
                timeout=httpx.Timeout(connect, read=None, pool=None),
                limits=httpx.Limits(max_connections=MOST_CONNECTIONS, max_keepalive_connections=20),
                event_hooks={"request": [self._apply_rule], "response": [_UNPACK]},
            )
        self._kept_cookies = _Cookies(cookie_jar())
        self.rule = HeaderRule(spec, logs_in=network.auth is not None)
        self.hide = spec.redactor
        self.memory = Memory(self.rule, network, usual="/sse", hide=self.hide, connect=connect)
        self.proven = False
        """Whether the session is initialised."""
        self.lost: Diagnosis | None = None
        """What said that the server has forgotten it, if it has."""
        self.reads = False
        """Whether the event stream was open."""

    @property
    def cookies(self) -> httpx.Cookies:
        """Those that the server has set."""
        return self._kept_cookies

    @cookies.setter
    def cookies(self, cookies: Any) -> None:
        self._kept_cookies = _Cookies(cookies)

    @asynccontextmanager
    async def events(self, url: str) -> AsyncGenerator[EventSource]:
        """The events that a GET is answered with.

        Raises:
            SSEError: it was answered with something else.
            TooLong: an event has no end.
            httpx.RequestError: it was not answered.
        """
        headers = {"accept": EVENT_STREAM, "accept-encoding": "identity", "cache-control": "no-store"}
        response = await self.send_within_origin(self.build_request("GET", url, headers=headers))
        if not response.is_success or media_type(response.headers) != EVENT_STREAM:
            raise SSEError("not an event stream")
        self.reads = True
        async with events_of(response) as events:
            yield events

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
        """Send it, and keep what came back or why nothing did; only the body of an event stream is left to read."""
        options["stream"] = True
        memory, named = self.memory, request.method == "POST"
        in_session = self.proven and named
        try:
            response = await super().send(request, **options)
        except (httpx.RequestError, *UNMAPPED) as error:
            memory.failed(request.url, error)
            raise
        # What matters of a POST is its status: the answer comes with the event stream.
        is_mcp = response.is_success and (request.method == "POST" or media_type(response.headers) == EVENT_STREAM)
        # Kept at once, because the body may be slow to come.
        memory.answered(request, response, is_mcp=is_mcp, in_session=in_session, named=named)
        body = b""
        if not is_mcp and not follows(request, response.next_request):
            body = await start_of(response)
        elif not is_mcp or request.method == "POST":
            if "content-length" in response.headers:
                # Read to its end, so that the connection serves the next POST too.
                await start_of(response)
            await response.aclose()
        # Again, with what explains it: others were answered meanwhile, and whoever sent this asks the memory next.
        memory.answered(request, response, is_mcp=is_mcp, body=body, in_session=in_session, named=named)
        if memory.found is not None and memory.found.code == "session_lost":
            self.lost = memory.found
        return response

    async def _apply_rule(self, request: httpx.Request) -> None:
        if self.rule.adds:
            request.headers = httpx.Headers(self.rule.apply(request))


_UNPACK = partial(unpack_slowly, HttpxBody, httpx.DecodingError)


class _Cookies(httpx.Cookies):
    """Cookies of answers that set some; to look for them httpx makes a request of urllib for each answer."""

    def extract_cookies(self, response: httpx.Response) -> None:
        if "set-cookie" in response.headers:
            super().extract_cookies(response)


async def speaks_sse(spec: HttpServer, network: Network) -> bool:
    """Whether a GET is answered with the event that begins an SSE session."""
    found = False
    with anyio.move_on_after(TRIAL) as scope, contextlib.suppress(httpx.RequestError, TooLong, *UNMAPPED):
        async with EventClient(spec, network, connect=TRIAL) as client, client.events(spec.url) as events:
            async for event in events.aiter_sse():
                # Others may have come with it, and are read in spite of the end of the scope.
                found = found or event.event == "endpoint"
                # Not a break, which would leave httpx's generators unfinished for the garbage collector.
                scope.cancel()
    return found
