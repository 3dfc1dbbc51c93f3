"""The HTTP client of remote connections: TLS, proxies, cookies and logins, and the reasons of its errors."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from traceback import format_exception
from typing import Any, Self, TypeAlias, cast
from urllib.request import getproxies

import anyio
import httpx

from acp_bindings._events import EventTooLong
from acp_bindings._http import Cert, Verify, cookie_jar, is_loopback, ssl_context
from acp_bindings._redact import Redactor, shown_url
from acp_bindings._responses import proxy_for
from acp_bindings.remote._reasons import Reply, reason_of_error, reason_of_reply
from acp_bindings.remote._wire import PART, SLOWEST
from acp_bindings.remote.errors import Reason, Unreachable

Auth: TypeAlias = "tuple[str, str] | httpx.Auth | Callable[[httpx.Request], httpx.Request] | None"

_SHOWN = 8192
"""Bytes that are kept of the body of an error."""
_RETRIES = 3
_LONGEST_RETRY = 30.0
"""Seconds that a request waits at most because the server asks for it."""

_PLAIN = re.compile(
    r"(acp|sec-websocket)-"
    r"|(accept(-encoding)?|connection|content-\w+|host|last-event-id|traceparent|tracestate|upgrade|user-agent)$"
)
"""Headers that no login adds."""


class _Body(httpx.AsyncByteStream):
    """The body of a request, in parts, because the timeout for writing is for each part.

    That of httpx is a generator, which Trio complains about if a request is interrupted.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._start = 0

    def __aiter__(self) -> Self:
        self._start = 0
        return self

    async def __anext__(self) -> bytes:
        if not (part := self._content[self._start : self._start + PART]):
            raise StopAsyncIteration
        self._start += PART
        return part


class Network:
    """An HTTP client for one URL."""

    def __init__(
        self,
        url: str,
        *,
        timeout: float,
        headers: Mapping[str, str] | None = None,
        auth: Auth = None,
        verify: Verify = True,
        cert: Cert = None,
        proxy: str | httpx.Proxy | None = None,
        trust_env: bool = True,
    ) -> None:
        scheme = url.partition(":")[0].lower()
        if scheme not in ("http", "https", "ws", "wss"):
            raise ValueError(f"the URL must begin with http, https, ws or wss, not {scheme!r}")
        self.is_websocket = scheme in ("ws", "wss")
        try:
            # httpx knows only its own schemes.
            self.url = httpx.URL(f"http{url[2:]}" if self.is_websocket else url)
        except httpx.InvalidURL as error:
            raise ValueError(f"the URL is not valid: {error}") from None
        if not self.url.host:
            raise ValueError("the URL has no host")
        for name, value in (headers or {}).items():
            if not {"\r", "\n"}.isdisjoint(value):
                raise ValueError(f"the header {name!r} contains a line break")
        self._given = httpx.URL(shown_url(url))
        """The URL as it was given, in a form to show."""
        self.timeout = timeout
        self.hide = Redactor((headers or {}).values(), urls=[url, *(getproxies().values() if trust_env else ())])
        if isinstance(proxy, str):
            proxy = httpx.Proxy(proxy)
        if proxy is not None:
            self.hide.add([*(proxy.auth or ()), ":".join(proxy.auth or ()), *proxy.headers.values()])
        self._has_login = auth is not None or any(name.lower() == "authorization" for name in headers or ())
        self._new_client = partial(
            httpx.AsyncClient,
            # Compressed responses could be a thousand times as large as what was sent.
            headers={"accept-encoding": "identity", **(headers or {})},
            auth=cast("Any", auth),
            cookies=cookie_jar(),
            verify=ssl_context(verify, cert, trust_env=trust_env, create=httpx.create_ssl_context),
            proxy=proxy,
            trust_env=trust_env and not is_loopback(self.url.host),
            timeout=httpx.Timeout(timeout, pool=None),
            http2=not self.is_websocket,
            # Many servers close an idle connection after 5 s, which is also httpx's default: a message that is sent at
            # that moment would be lost.
            limits=httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=2.0),
            event_hooks={"request": [self._learn]},
        )
        try:
            self.client = self._new_client()
        except ImportError as error:
            if "socksio" not in str(error):
                raise ImportError("acp_bindings.remote needs h2: pip install 'acp-bindings[remote]'") from error
            reason = "a SOCKS proxy requires another package: pip install 'httpx[socks]', or unset ALL_PROXY"
            raise self.lost(reason, code="proxy") from error
        self._via = proxy_for(self.client, self.url, proxy=str(proxy.url) if proxy else None)

    async def _learn(self, request: httpx.Request) -> None:
        """Redact what a login has added."""
        for name, value in request.headers.items():
            if not _PLAIN.match(name):
                self.hide.learn(value)

    async def post(self, content: bytes, headers: Mapping[str, str], *, limit: int) -> Reply:
        """Send a message and return the response, after retries that the server asks for."""
        retries = 0
        while True:
            length = {"content-length": str(len(content))}
            request = self.client.build_request("POST", self.url, headers={**headers, **length})
            request.stream = _Body(content)
            with self._in_time(request, after=len(content) / SLOWEST):
                response = await self.client.send(request, stream=True)
            try:
                reply = await self._read(response, limit=limit)
            finally:
                with anyio.CancelScope(shield=True):
                    await response.aclose()
            wait = reply.retry_after
            if reply.status_code not in (429, 503) or wait is None or wait > _LONGEST_RETRY or retries == _RETRIES:
                return reply
            retries += 1
            await anyio.sleep(wait)

    @contextmanager
    def _in_time(self, request: httpx.Request, *, after: float = 0.0) -> Generator[None]:
        """Limit the time until a response begins. The timeouts of httpx are for each byte."""
        try:
            with anyio.fail_after(self.timeout + after):
                yield
        except TimeoutError:
            raise httpx.ReadTimeout("the response did not begin", request=request) from None

    @asynccontextmanager
    async def stream(self, headers: Mapping[str, str], *, silence: float) -> AsyncGenerator[httpx.Response]:
        """Open an event stream. No bytes for *silence* seconds are an error.

        Each stream has its own TCP connection. If streams share one over HTTP/2, httpcore delivers events late: the
        task that reads from the socket wakes the tasks of the other streams in turn, not the one whose event came, and
        the next of them waits for the socket again.
        """
        timeout = httpx.Timeout(self.timeout, read=silence, pool=None)
        async with (
            self._new_client() as client,
            client.stream("GET", self.url, headers=headers, timeout=timeout) as response,
        ):
            yield response

    async def upgrade(self, headers: Mapping[str, str]) -> httpx.Response:
        """Send a WebSocket handshake."""
        request = self.client.build_request("GET", self.url, headers=headers)
        with self._in_time(request):
            return await self.client.send(request, stream=True)

    async def start_of(self, response: httpx.Response) -> Reply:
        """Return the beginning of an error."""
        return await self._read(response, limit=_SHOWN)

    async def _read(self, response: httpx.Response, *, limit: int) -> Reply:
        reply = Reply(response.status_code, response.headers, b"")
        if reply.is_compressed:
            return reply
        most = limit if response.is_success else _SHOWN
        body = bytearray()
        with anyio.move_on_after(self.timeout) as reading:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > most:
                    # Not a break, which would leave httpx's generators to the garbage collector.
                    reading.cancel()
        if len(body) > limit:
            raise EventTooLong(f"the response is longer than {limit} bytes", bytes(body[:_SHOWN]))
        if reading.cancelled_caught and response.is_success:
            raise httpx.ReadTimeout("the response is not complete")
        return replace(reply, content=bytes(body))

    def refused(self, reply: Reply, reason: str = "") -> Unreachable:
        """Return the error for a response that is not what the protocol requires.

        Args:
            reply: the response.
            reason: why the connection is lost, if that is known.
        """
        body = self.hide(reply.content[:_SHOWN].decode(errors="replace"))
        # Over TLS the proxy is only a tunnel.
        via = self._via if self.url.scheme == "http" else None
        code, meaning = reason_of_reply(reply, body, has_login=self._has_login, via=via, is_websocket=self.is_websocket)
        return Unreachable(
            self.hide(reason or meaning),
            code="disconnected" if reason else code,
            url=str(self._given),
            status=reply.status_code,
            headers=tuple((name, self.hide(value)) for name, value in reply.headers.items() if name != "set-cookie"),
            body=body,
            retry_after=reply.retry_after,
        )

    def lost(self, reason: str, *, code: Reason = "disconnected") -> Unreachable:
        """Return the error for a connection that was lost."""
        return Unreachable(self.hide(reason), code=code, url=str(self._given))

    def explain(self, error: Exception, *, silence: float | None = None) -> Unreachable:
        """Return the error for an exception of the network."""
        code, reason = reason_of_error(
            error, self._given, via=self._via, timeout=self.timeout, silence=silence or self.timeout
        )
        failure = self.lost(reason, code=code)
        if not self.hide.hides("".join(format_exception(error))):
            failure.__cause__ = error
        return failure
