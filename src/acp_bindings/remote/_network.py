"""The HTTP client of remote connections: TLS, proxies, cookies and logins, and the reasons of its errors."""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeAlias, cast

import anyio
import httpx

from acp_bindings._events import EventTooLong
from acp_bindings._http import Cert, Verify, cookie_jar, is_loopback, ssl_context
from acp_bindings._redact import Redactor, shown_url
from acp_bindings.remote.errors import Unreachable

Auth: TypeAlias = "tuple[str, str] | httpx.Auth | Callable[[httpx.Request], httpx.Request] | None"

_SHOWN = 8192
"""Bytes that are kept of the body of an error."""
_RETRIES = 3
_LONGEST_RETRY = 30.0
"""Seconds that a request waits at most because the server asks for it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response that was read whole, or of which the beginning was read."""

    status_code: int
    headers: httpx.Headers
    content: bytes

    @property
    def is_success(self) -> bool:
        """True for the statuses from 200 to 299."""
        return 200 <= self.status_code < 300

    @property
    def retry_after(self) -> float | None:
        """The seconds of Retry-After, if it has a number."""
        value = self.headers.get("retry-after", "")
        return float(value) if value.isascii() and value.isdecimal() else None


class _Body(httpx.AsyncByteStream):
    """The body of a request. That of httpx is a generator, which Trio complains about if a request is interrupted."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._is_read = False

    def __aiter__(self) -> Self:
        self._is_read = False
        return self

    async def __anext__(self) -> bytes:
        if self._is_read:
            raise StopAsyncIteration
        self._is_read = True
        return self._content


class Network:
    """An HTTP client for one URL."""

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None,
        auth: Auth,
        verify: Verify,
        cert: Cert,
        proxy: str | httpx.Proxy | None,
        trust_env: bool,
        timeout: float,
        http2: bool,
    ) -> None:
        try:
            self.url = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise ValueError(f"the URL is not valid: {error}") from None
        if not self.url.host:
            raise ValueError("the URL has no host")
        self.timeout = timeout
        self._hide = Redactor((headers or {}).values(), urls=[url, *([proxy] if isinstance(proxy, str) else ())])
        match auth:
            case (str(user), str(password)):
                self._hide.add((user, password))
            case _:
                pass
        self._new_client = partial(
            httpx.AsyncClient,
            # Compressed responses could be a thousand times as large as what was sent.
            headers={"accept-encoding": "identity", **(headers or {})},
            auth=cast("Any", auth),
            cookies=cookie_jar(),
            verify=ssl_context(verify, cert, trust_env=trust_env),
            proxy=proxy,
            trust_env=trust_env and not is_loopback(self.url.host),
            timeout=httpx.Timeout(timeout, pool=None),
            http2=http2,
        )
        self.client = self._new_client()

    async def post(self, content: bytes, headers: Mapping[str, str], *, limit: int) -> Reply:
        """Send a message and return the response, after retries that the server asks for."""
        retries = 0
        while True:
            length = {"content-length": str(len(content))}
            request = self.client.build_request("POST", self.url, headers={**headers, **length})
            request.stream = _Body(content)
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

    async def start_of(self, response: httpx.Response) -> Reply:
        """Return the beginning of an error."""
        return await self._read(response, limit=_SHOWN)

    async def _read(self, response: httpx.Response, *, limit: int) -> Reply:
        if response.headers.get("content-encoding", "identity") != "identity":
            return Reply(response.status_code, response.headers, b"")
        most = limit if response.is_success else _SHOWN
        body = bytearray()
        with anyio.CancelScope() as reading:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > most:
                    # Not a break, which would leave httpx's generators to the garbage collector.
                    reading.cancel()
        if len(body) > limit:
            raise EventTooLong(f"the response is longer than {limit} bytes", bytes(body[:_SHOWN]))
        return Reply(response.status_code, response.headers, bytes(body))

    def refused(self, reply: Reply, reason: str = "") -> Unreachable:
        """Return the error for a response that is not what the protocol requires."""
        body = self._hide(reply.content[:_SHOWN].decode(errors="replace"))
        return Unreachable(
            self._hide(reason) if reason else self._meaning(reply, body),
            url=shown_url(str(self.url)),
            status=reply.status_code,
            headers=tuple((name, self._hide(value)) for name, value in reply.headers.items() if name != "set-cookie"),
            body=body,
            retry_after=reply.retry_after,
        )

    def lost(self, reason: str) -> Unreachable:
        """Return the error for a connection that was lost."""
        return Unreachable(self._hide(reason), url=shown_url(str(self.url)))

    def explain(self, error: Exception) -> Unreachable:
        """Return the error for an exception of the network."""
        failure = self.lost(self._reason(error))
        failure.__cause__ = error
        return failure

    def _meaning(self, reply: Reply, body: str) -> str:
        status, type_ = reply.status_code, reply.headers.get("content-type", "")
        said = " ".join(body.split())[:200] if type_.startswith("text/plain") else ""
        said = f": {said}" if said else ""
        match status:
            case 200 if "html" in type_:
                meaning = "responded with a web page; is this the URL of the agent?"
            case 200:
                meaning = f"responded with {type_ or 'an empty body'}, which is not ACP"
            case 301 | 302 | 303 | 307 | 308:
                meaning = f"redirects to {shown_url(reply.headers.get('location', 'another URL'))}; use that URL"
            case 401:
                meaning = "requires authentication (401); pass headers= or auth="
            case 403:
                meaning = f"refuses access (403){said}"
            case 404 | 405:
                meaning = f"does not serve ACP at this path ({status}){said}"
            case _:
                meaning = f"responded with status {status}{said}"
        return meaning

    def _reason(self, error: Exception) -> str:  # noqa: PLR0911 - a table
        """Return the reason of an error in the network, by its deepest known cause."""
        causes: list[BaseException] = [error]
        while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None:
            causes.append(cause)
        for cause in causes:
            match cause:
                case ssl.SSLCertVerificationError():
                    return f"its TLS certificate is not trusted: {cause.verify_message}; pass verify= to trust another"
                case ssl.SSLError():
                    return f"TLS failed: {cause.reason or cause}; does the server use https?"
                case socket.gaierror():
                    return f"the host name {self.url.host} cannot be resolved"
                case ConnectionRefusedError():
                    return "nothing accepts connections there; is the agent running?"
                case _:
                    pass
        match error:
            case EventTooLong():
                return f"sent too much: {error}"
            case httpx.ProxyError():
                return f"the proxy cannot be used: {error}"
            case httpx.ConnectTimeout():
                return f"does not accept the connection within {self.timeout:g} s"
            case httpx.ReadTimeout():
                return "was silent for too long"
            case _:
                return f"the connection was lost ({type(error).__name__}{f': {error}' if str(error) else ''})"
