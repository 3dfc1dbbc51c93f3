"""The relay in front of the servers with a URL: forwards HTTP requests, and observes the messages in them."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2
from typing_extensions import override

from acp_bindings._events import EventBuffer, event_of
from acp_bindings._http import is_loopback
from acp_bindings.setup._servers import is_owned
from mcp_launch._diagnosis.responses import LOST
from mcp_launch._receipts.servers import HASTE, Relayed
from mcp_launch._spec import HttpServer
from mcp_launch._transports.web import origin
from mcp_launch.failures import LaunchFailure

if TYPE_CHECKING:
    from mcp_launch._local.listener import Application, Receive, Scope, Send

_LONGEST = 16 << 20
"""Bytes of a response that are observed."""
_OF_CONNECTION = frozenset((b"connection", b"keep-alive", b"transfer-encoding", b"te", b"upgrade", b"proxy-connection"))
"""Headers that are about one connection only."""


@asynccontextmanager
async def forwarding(servers: Mapping[str, Relayed]) -> AsyncGenerator[Application]:
    """Yield the application that forwards requests to the servers, by the token at the start of their path."""
    async with Client() as client:

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            token, _, path = scope["raw_path"].decode("latin-1").lstrip("/").partition("/")
            server = servers.get(token)
            if server is None or not isinstance(server.spec, HttpServer):
                await _respond(send, 404, "acp-bindings tap: unknown server; start a new session")
                return
            if token not in sites:
                sites[token] = _Site(server, server.spec, token)
            site = sites[token]
            has_begun = False
            async with anyio.create_task_group() as tasks:
                body = await _body(receive)
                ids = site.observer.sent(body)

                async def watch() -> None:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                    # Over SSE, all responses come on the stream. Otherwise, each comes to its own request and none to
                    # a GET: agents close the stream that a server refuses with 405.
                    site.abandoned(None if site.is_sse else ids)
                    tasks.cancel_scope.cancel()

                tasks.start_soon(watch)
                has_begun = await site.exchange(client, scope, path, body, ids=ids, send=send)
                tasks.cancel_scope.cancel()
            if has_begun:
                # Last, because `receive` reports the end of a complete response in the same way as a lost connection.
                await send({"type": "http.response.body", "body": b""})

        sites: dict[str, _Site] = {}
        yield app


class Client(httpx2.AsyncClient):
    """An HTTP client that leaves timeouts, limits and cookies to the agent.

    Like the launcher, it reaches loopback directly.
    """

    def __init__(self) -> None:
        no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
        limits = httpx2.Limits(max_connections=None)
        super().__init__(timeout=None, follow_redirects=False, cookies=no_cookies, limits=limits)

    @override
    def _transport_for_url(self, url: httpx2.URL) -> httpx2.AsyncBaseTransport:
        return self._transport if is_loopback(url.host) else super()._transport_for_url(url)


class _Site:
    """A server with a URL, and the observer of its messages."""

    def __init__(self, server: Relayed, spec: HttpServer, token: str) -> None:
        self._server = server
        self._spec = spec
        self._token = token
        self.observer = server.observer()
        self.is_sse = spec.transport == "sse"
        self._headers = [(name.encode(), value.encode()) for name, value in spec.headers if not is_owned(name)]
        """The headers of the specification, except for those that belong to the protocol, which the agent sends."""
        self._url = urlsplit(spec.url)
        server.at_end = self.abandoned

    def abandoned(self, ids: Collection[str | int] | None = None) -> None:
        """Find out why the agent has closed a connection, if it waited there for these requests, or for any."""
        if self.observer.waits_for(ids) or (self.is_sse and not self.observer.started):
            self._server.check(seconds=HASTE)

    async def exchange(
        self, client: httpx2.AsyncClient, scope: Scope, path: str, body: bytes, *, ids: list[str | int], send: Send
    ) -> bool:
        """Forward a request and its response, except for its end; return False if there is no response to end."""
        observer, has_begun = self.observer, False
        own = {name.lower() for name, _ in self._headers}
        dropped = {*own, *_OF_CONNECTION, b"host", b"accept-encoding", b"content-length"}
        # Not compressed, so that the messages can be observed.
        headers = [
            *((name, value) for name, value in scope["headers"] if name not in dropped),
            (b"accept-encoding", b"identity"),
            *self._headers,
        ]
        content = body if scope["method"] not in ("GET", "HEAD") else None
        try:
            target = self._target(path, scope["query_string"])
            async with client.stream(scope["method"], target, headers=headers, content=content) as response:
                if self._is_lost(scope, response.status_code):
                    # Before the agent gets the status, because it may then close the connection, which ends this task.
                    self._server.fail(
                        LaunchFailure(LOST, server=self._spec.name, stage=observer.stage, code="session_lost")
                    )
                head = {"status": response.status_code, "headers": [*self._headers_at_relay(response)]}
                await send({"type": "http.response.start", **head})
                has_begun = True
                reader = _Reader(response, self if self.is_sse else None)
                async for chunk in response.aiter_raw():
                    for message in reader.feed(chunk):
                        observer.received(message)
                    await send({"type": "http.response.body", "body": reader.forwarded, "more_body": True})
                for message in reader.rest():
                    observer.received(message)
            if self._is_unanswered(scope, response.status_code, ids):
                self._server.check()
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            # Agents do without the stream of events and the responses to notifications.
            if ids or (self.is_sse and not observer.started):
                self._server.check()
            if not has_begun:
                await _respond(send, 502, f"acp-bindings tap: {type(error).__name__} at the MCP server")
        return has_begun

    def _is_lost(self, scope: Scope, status: int) -> bool:
        is_post = scope["method"] == "POST" and not self.is_sse
        return is_post and self.observer.started and status == HTTPStatus.NOT_FOUND

    def _is_unanswered(self, scope: Scope, status: int, ids: list[str | int]) -> bool:
        if self.is_sse and scope["method"] == "GET":
            return not self.observer.started
        # Over SSE, the response to a request comes on the stream.
        return self.observer.waits_for(ids) and (not self.is_sse or status >= 300)

    def _target(self, path: str, query: bytes) -> str:
        if f"/{path}" == (self._url.path or "/") and not query:
            return self._spec.url
        return self._url._replace(path=f"/{path}", query=query.decode("latin-1"), fragment="").geturl()

    def at_relay(self, url: str) -> str:
        """Return the path at the relay for a URL that the server names, or the URL if it has another origin."""
        there = urljoin(self._spec.url, url)
        if origin(httpx2.URL(there)) != origin(httpx2.URL(self._spec.url)):
            if self.is_sse:
                self._server.check()
            return url
        parts = urlsplit(there)
        return parts._replace(scheme="", netloc="", path=f"/{self._token}{parts.path}").geturl()

    def _headers_at_relay(self, response: httpx2.Response) -> Iterator[tuple[bytes, bytes]]:
        for name, value in response.headers.raw:
            if name.lower() == b"location":
                yield name, self.at_relay(value.decode("latin-1")).encode("latin-1")
            elif name.lower() not in _OF_CONNECTION:
                yield name, value


class _Reader:
    """Finds the messages in a response. For a server over SSE, it replaces the endpoint by that of the relay."""

    def __init__(self, response: httpx2.Response, site: _Site | None) -> None:
        self._is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        self._site = site if self._is_stream else None
        self._events = EventBuffer(sys.maxsize)
        self._body = b""
        self.forwarded = b""
        """What to forward of the last chunk."""

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the messages that *chunk* completes."""
        self.forwarded = chunk
        if not self._is_stream:
            self._body = (self._body + chunk)[: _LONGEST + 1]
            return
        blocks: list[bytes | bytearray] = []
        for block in self._events.feed(chunk):
            event = event_of(block)
            if self._site and event and event.name == "endpoint":
                endpoint = self._site.at_relay(event.data.decode())
                blocks.append(b"event: endpoint\ndata: %b\n\n" % endpoint.encode())
            else:
                blocks.append(block)
            if event:
                yield event.data
        if self._site:
            # Whole events, because one of them was replaced.
            self.forwarded = b"".join(blocks)

    def rest(self) -> Iterator[bytes]:
        """Yield the message of a response that is not a stream."""
        if not self._is_stream and len(self._body) <= _LONGEST:
            yield self._body


async def _body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while (message := await receive())["type"] == "http.request":
        parts.append(message["body"])
        if not message.get("more_body"):
            break
    return b"".join(parts)


async def _respond(send: Send, status: int, why: str) -> None:
    body = why.encode()
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
