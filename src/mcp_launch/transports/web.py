"""What a server with a URL answered, kept because its last answer is why a session ends.

Knows neither HTTP library by type: the SDK wants httpx2 for Streamable HTTP, and SSE is read with httpx and httpx-sse.
The one came from the other, so that what is needed of both has one shape, which the protocols below write down.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from http import HTTPStatus
from typing import Any, Protocol, cast
from urllib.parse import urljoin

import anyio
import httpx2

from mcp_launch.failures import Code, Stage
from mcp_launch.redact import shown_url
from mcp_launch.specs import HttpServer
from mcp_launch.transports import Diagnosis
from mcp_launch.transports.headers import Request

__all__ = [
    "EVENT_STREAM",
    "JSON",
    "Answer",
    "Memory",
    "Response",
    "is_jsonrpc",
    "media_type",
    "start_of",
    "tls_context",
]

JSON = "application/json"
EVENT_STREAM = "text/event-stream"

_BODY = 65536
"""Bytes that are read of an answer which is not MCP."""
_SHOWN = 500
"""Characters of them that are shown."""
_PATIENCE = 2.0
"""Seconds for reading them."""


class Response(Protocol):
    """A response of httpx or of httpx2."""

    status_code: int

    @property
    def headers(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def reason_phrase(self) -> str: ...  # noqa: D102
    def aiter_bytes(self) -> AsyncIterator[bytes]: ...  # noqa: D102
    async def aclose(self) -> None: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is worth keeping of an HTTP answer."""

    method: str
    url: str
    status: int
    reason: str
    media_type: str
    headers: dict[str, str]
    """Those that explain an error: www-authenticate, location, retry-after."""
    body: str = ""
    """Its start."""
    is_mcp: bool = False
    """Whether it is what a server of this transport may say."""
    had_session: bool = False
    """Whether the request belonged to a session."""

    @property
    def facts(self) -> dict[str, Any]:
        """As the facts of a failure."""
        return {
            "method": self.method,
            "url": self.url,
            "status": self.status,
            "content_type": self.media_type,
            **self.headers,
            "body": self.body,
        }


class Memory:
    """What came of the last request to one server."""

    def __init__(self, spec: HttpServer, *, connect: float, authorizes: bool) -> None:
        self.answer: Answer | None = None
        """The last one that matters."""
        self.trouble: Diagnosis | None = None
        """Why there was none."""
        self._hide = spec.redactor
        self._url = httpx2.URL(spec.url)
        self._connect = connect
        self._authorizes = authorizes

    def answered(self, request: Request, response: Response, *, is_mcp: bool, body: bytes = b"") -> None:
        """Keep an answer; `body` is the start of what is not MCP."""
        self.trouble = None
        self.answer = Answer(
            method=request.method,
            url=shown_url(str(request.url)),
            status=response.status_code,
            reason=response.reason_phrase,
            media_type=media_type(response),
            headers=_telling(request, response),
            # Redacted first: of a secret that is cut in two, neither half would be recognised.
            body="" if is_mcp else self._hide(body[:_BODY].decode(errors="replace"))[:_SHOWN],
            is_mcp=is_mcp,
            had_session="mcp-session-id" in request.headers,
        )

    def failed(self, request: Request, error: Exception) -> None:
        """Keep why there was no answer: a transport error of either library."""
        self.trouble = _trouble(error, httpx2.URL(str(request.url)), connect=self._connect)

    def diagnosis(self) -> Diagnosis | None:
        """What the last answer says against the server, if anything."""
        return None if self.answer is None else _diagnose(self.answer, authorized=self._authorizes)

    def complaint(self) -> str | None:
        """Why the last request failed, for whoever waits for its answer."""
        found = self.trouble or self.diagnosis()
        return None if found is None else self._hide(found.message)

    async def silence(self, *, waited: float | None, stage: Stage | None) -> Diagnosis | None:
        """Why nothing came back, if that is what happened."""
        trouble = self.trouble
        if trouble is None:
            if self.answer is not None or waited is None:
                return None
            message = f"accepted the connection, but did not answer within {waited:.1f} s"
            return Diagnosis("timeout", message, stage=stage)
        url = self._url
        hung_up = trouble.code == "disconnected" and stage == "connect"
        if hung_up and url.scheme == "http" and await _speaks_tls(url):
            message = f"{url.host}:{url.port or 80} speaks TLS; use https://"
            return replace(trouble, code="tls", message=message, stage=stage)
        return replace(trouble, stage=stage)


def media_type(response: Response) -> str:
    """The content type without its parameters."""
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


def is_jsonrpc(body: bytes) -> bool:
    """Whether it is a JSON-RPC message."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and cast("dict[str, Any]", value).get("jsonrpc") == "2.0"


async def start_of(response: Response) -> bytes:
    """The start of the body, however long or slow that is; the response is closed then."""
    body = b""
    # What breaks off has a start too, and the library's complaint about it tells nothing more.
    with anyio.move_on_after(_PATIENCE) as scope, contextlib.suppress(Exception):
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) >= _BODY:
                # Not a break, which would leave httpx's generators unfinished for the garbage collector.
                scope.cancel()
    with anyio.CancelScope(shield=True):
        await response.aclose()
    return body


@cache
def tls_context() -> ssl.SSLContext:
    """One for all: reading the certificates takes longer than anything else a client does at its start."""
    return httpx2.create_ssl_context()


def _diagnose(answer: Answer, *, authorized: bool) -> Diagnosis | None:  # noqa: PLR0911 - a list of cases
    """What a bad HTTP answer means; None when it says nothing against the server, or says it in MCP."""
    said = f"{answer.status} {answer.reason}".strip()
    told = f"{answer.method} {answer.url} was answered with {said}"
    facts = answer.facts
    match answer.status:
        case HTTPStatus.UNAUTHORIZED:
            facts["authorization_sent"] = authorized
            scheme = answer.headers.get("www_authenticate", "")
            asks = f" (it asks for {scheme.split()[0]})" if scheme.split() else ""
            hint = "is its Authorization header still valid?" if authorized else "does it want an Authorization header?"
            return Diagnosis("unauthorized", f"{told}{asks}; {hint}", facts)
        case HTTPStatus.FORBIDDEN:
            return Diagnosis("forbidden", f"{told}; is this user allowed to use it?", facts)
        case HTTPStatus.NOT_FOUND if answer.had_session:
            return Diagnosis("session_lost", f"{told}: the server no longer knows the session; open a new one", facts)
        case HTTPStatus.NOT_FOUND:
            return Diagnosis("not_found", f"{told}; is the path right? Often it is /mcp", facts)
        case HTTPStatus.METHOD_NOT_ALLOWED:
            return Diagnosis("method_not_allowed", f"{told}; is this the URL of an MCP server?", facts)
        case HTTPStatus.TOO_MANY_REQUESTS:
            after = answer.headers.get("retry_after")
            return Diagnosis("rate_limited", f"{told}; try again {f'after {after}' if after else 'later'}", facts)
        case status if status // 100 == 3:
            target = answer.headers.get("location", "nowhere")
            return Diagnosis("redirected", f"{told} to {target}; if that is the server, use its URL", facts)
        case status if status >= HTTPStatus.BAD_REQUEST and not answer.is_mcp:
            return Diagnosis("http_error", told, facts)
        case _ if not answer.is_mcp:
            kind = answer.media_type or "nothing"
            return Diagnosis("not_mcp", f"{told} and {kind}, which is no MCP message; is the path right?", facts)
        case _:
            return None


async def _speaks_tls(url: httpx2.URL) -> bool:
    """Whether the port of an http:// URL answers a TLS handshake, which explains why it hung up."""
    anything = ssl.create_default_context()
    anything.check_hostname, anything.verify_mode = False, ssl.CERT_NONE
    with anyio.move_on_after(_PATIENCE), contextlib.suppress(OSError, ssl.SSLError, anyio.BrokenResourceError):
        port = url.port or 80
        async with await anyio.connect_tcp(url.host, port, ssl_context=anything, tls_standard_compatible=False):
            return True
    return False


def _telling(request: Request, response: Response) -> dict[str, str]:
    told: dict[str, str] = {
        name.replace("-", "_"): response.headers[name]
        for name in ("www-authenticate", "retry-after")
        if name in response.headers
    }
    # A location that is no URL tells nothing.
    with contextlib.suppress(KeyError, ValueError):
        told["location"] = shown_url(urljoin(str(request.url), response.headers["location"]))
    return told


def _trouble(error: Exception, url: httpx2.URL, *, connect: float) -> Diagnosis:
    # By name: both libraries have these errors, and neither is imported for the sake of the other's.
    kinds = {kind.__name__ for kind in type(error).__mro__}
    port = url.port or {"http": 80, "https": 443}.get(url.scheme)
    where = f"{url.host}:{port}"
    causes = list(_causes(error))
    code: Code
    if tls := next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None):
        reason = getattr(tls, "verify_message", "") or (tls.reason or str(tls)).replace("_", " ").lower()
        plain = tls.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")
        code, message = "tls", f"TLS with {where} failed: {reason}{'; does it want http://?' if plain else ''}"
    elif any(isinstance(cause, socket.gaierror) for cause in causes):
        code, message = "dns", f'the name "{url.host}" is not known; is it spelt right?'
    elif "TimeoutException" in kinds:
        code, message = "timeout", f"no connection to {where} within {connect:g} s"
    elif "ProxyError" in kinds:
        code, message = "refused", f"the proxy did not connect to {where}"
    elif "ConnectError" in kinds:
        code, message = "refused", f"{where} does not accept connections; is the server running?"
    elif "UnsupportedProtocol" in kinds:
        code, message = "invalid_spec", "the URL must start with http:// or https://"
    elif "DecodingError" in kinds:
        code, message = "http_error", f"{where} sent an answer that is not compressed in the way that it says"
    else:
        code, message = "disconnected", f"{where} dropped the connection without an answer"
    return Diagnosis(code, message, {"host": url.host, "port": port, "error": type(error).__name__}, stage="connect")


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        current = todo.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        todo += [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            todo += cast("BaseExceptionGroup[BaseException]", current).exceptions
