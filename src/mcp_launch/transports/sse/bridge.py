"""What is made for httpx2 in the form that httpx takes: an authentication, a proxy, and a body in pieces."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import httpx
import httpx2

from mcp_launch.diagnosis.no_answer import TooLong
from mcp_launch.transports.bodies import bound
from mcp_launch.transports.media import EVENT_STREAM, media_type
from mcp_launch.transports.passing import PiecewiseBody

__all__ = ["BridgedAuth", "HttpxBody", "bridged_proxy"]


class BridgedAuth(httpx.Auth):
    """Sends for an authentication what it wants sent, and gives it the answers."""

    def __init__(self, auth: httpx2.Auth) -> None:
        self._auth = auth

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """The same requests and answers, translated."""
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
                    # An event stream is left to whoever asked for it.
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
    """The authentication gave up; the cause says why."""


_FRAMING = frozenset((b"content-encoding", b"content-length", b"transfer-encoding"))


def bridged_proxy(proxy: httpx2.Proxy | None) -> httpx.Proxy | None:
    """The same proxy."""
    if proxy is None:
        return None
    return httpx.Proxy(
        str(proxy.url), ssl_context=proxy.ssl_context, auth=proxy.auth, headers=proxy.headers.multi_items()
    )
