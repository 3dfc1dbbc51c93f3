"""An HTTP client that sends a server's headers by rule and remembers its last answer, for the two URL transports."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any, cast

import anyio
import httpx2
from mcp_types import CONNECTION_CLOSED

from mcp_launch.failures import Code
from mcp_launch.redact import shown_url
from mcp_launch.specs import HttpServer
from mcp_launch.transports import Diagnosis

__all__ = ["EVENT_STREAM", "JSON", "Answer", "WebClient", "media_type", "speaks_tls"]

JSON = "application/json"
EVENT_STREAM = "text/event-stream"

_OWNED = frozenset(
    (
        "accept",
        "connection",
        "content-length",
        "content-type",
        "host",
        "last-event-id",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "transfer-encoding",
    )
)
"""Headers that the transport writes; a specification that names one has no say in it."""

_BODY = 65536
"""Bytes that are read of an answer which is not MCP."""
_SHOWN = 500
"""Characters of them that are shown."""
_PATIENCE = 2.0
"""Seconds for reading them."""


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


class WebClient(httpx2.AsyncClient):
    """httpx as its users know it, with proxies and TLS settings from the environment, plus a memory.

    The headers of the specification are put on a request at the last moment and only within the origin of its URL, in
    their order and with repeats, so that no redirect and no authentication flow carries them elsewhere.
    """

    def __init__(self, spec: HttpServer, *, connect: float, posts_are_answered: bool = True) -> None:
        super().__init__(timeout=httpx2.Timeout(connect, read=None), verify=_tls())
        self.answer: Answer | None = None
        """The last one that matters."""
        self.trouble: Diagnosis | None = None
        """Why there was none."""
        self.survives = False
        """Whether a request that cannot be sent is answered with a JSON-RPC error instead of an exception."""
        self._hide = spec.redactor
        self._origin = httpx2.URL(spec.url)
        self._authorized = bool(self._origin.userinfo) or any(
            name.lower() == "authorization" for name, _ in spec.headers
        )
        self._posts_are_answered = posts_are_answered
        """False for SSE, where what matters of a POST is its status: the answer comes with the event stream."""
        self._connect = connect
        kept = [(name, value) for name, value in spec.headers if not _owned(name)]
        self.refused = [name for name, _ in spec.headers if _owned(name)]
        """The names in the specification's headers which the transport owns."""
        self._kept = [(name.encode("ascii"), value.strip(" \t").encode()) for name, value in kept]

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send it as httpx does; keep what came back, or why nothing did."""
        if _within(self._origin, request.url):
            self._add_headers(request)
        stream: bool = options.pop("stream", False)
        try:
            response = await super().send(request, stream=True, **options)
        except httpx2.TransportError as error:
            self.trouble = _trouble(error, request, connect=self._connect)
            if self.survives and request.method == "POST":
                return _error_answer(request, self.trouble.message, status=HTTPStatus.BAD_GATEWAY)
            raise
        self.trouble = None
        if request.method == "POST" or (request.method == "GET" and self.answer is None):
            response = await self._remember(request, response)
            if self.survives and request.method == "POST" and (found := self.diagnosis()) is not None:
                # The SDK would tell the caller no more than that there was an error.
                response = _error_answer(request, self._hide(found.message), status=response.status_code)
        if not stream:
            await response.aread()
        return response

    def diagnosis(self) -> Diagnosis | None:
        """What the last answer says against the server, if anything."""
        return None if self.answer is None else _diagnose(self.answer, authorized=self._authorized)

    def _add_headers(self, request: httpx2.Request) -> None:
        ours = {name.lower() for name, _ in self._kept}
        others = [(name, value) for name, value in request.headers.raw if name.lower() not in ours]
        request.headers = httpx2.Headers([*others, *self._kept])

    async def _remember(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        media = media_type(response)
        body = b""
        is_mcp = response.is_success
        if is_mcp and request.method == "POST" and not self._posts_are_answered:
            pass
        elif is_mcp and media == JSON:
            body = await response.aread()
            is_mcp = self.survives or _is_jsonrpc(body)
        elif is_mcp and media != EVENT_STREAM:
            is_mcp = await _is_notification(request)
        if not is_mcp and not response.is_stream_consumed:
            response, body = await _cut(response)
            is_mcp = media == JSON and _is_jsonrpc(body)
        self.answer = Answer(
            method=request.method,
            url=shown_url(str(request.url)),
            status=response.status_code,
            reason=response.reason_phrase,
            media_type=media,
            headers=_telling(response),
            # Redacted first: of a secret that is cut in two, neither half would be recognised.
            body="" if is_mcp else self._hide(body[:_BODY].decode(errors="replace"))[:_SHOWN],
            is_mcp=is_mcp,
            had_session="mcp-session-id" in request.headers,
        )
        return response


def media_type(response: httpx2.Response) -> str:
    """The content type without its parameters."""
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


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
        case status if httpx2.codes.is_redirect(status):
            target = answer.headers.get("location", "nowhere")
            return Diagnosis("redirected", f"{told} to {target}; if that is the server, use its URL", facts)
        case status if status >= HTTPStatus.BAD_REQUEST and not answer.is_mcp:
            return Diagnosis("http_error", told, facts)
        case _ if not answer.is_mcp:
            kind = answer.media_type or "nothing"
            return Diagnosis("not_mcp", f"{told} and {kind}, which is no MCP message; is the path right?", facts)
        case _:
            return None


@cache
def _tls() -> ssl.SSLContext:
    """One for all: reading the certificates takes longer than anything else a client does at its start."""
    return httpx2.create_ssl_context()


async def speaks_tls(url: httpx2.URL) -> bool:
    """Whether the port of an http:// URL answers a TLS handshake, which explains why it hung up."""
    anything = ssl.create_default_context()
    anything.check_hostname, anything.verify_mode = False, ssl.CERT_NONE
    with anyio.move_on_after(_PATIENCE), contextlib.suppress(OSError, ssl.SSLError, anyio.BrokenResourceError):
        port = url.port or 80
        async with await anyio.connect_tcp(url.host, port, ssl_context=anything, tls_standard_compatible=False):
            return True
    return False


def _owned(name: str) -> bool:
    return name.lower() in _OWNED or name.lower().startswith("mcp-param-")


def _within(origin: httpx2.URL, url: httpx2.URL) -> bool:
    """Whether the URL is on the origin, or is its https upgrade on the default ports."""
    if (origin.scheme, origin.host, origin.port) == (url.scheme, url.host, url.port):
        return True
    upgraded = origin.scheme == "http" and url.scheme == "https" and origin.port is None and url.port is None
    return upgraded and origin.host == url.host


async def _cut(response: httpx2.Response) -> tuple[httpx2.Response, bytes]:
    """The answer with no more than the start of its body, however long or slow that is."""
    body = b""
    with anyio.move_on_after(_PATIENCE) as scope, contextlib.suppress(httpx2.HTTPError):
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) >= _BODY:
                # Not a break, which would leave httpx's generators unfinished for the garbage collector.
                scope.cancel()
    with anyio.CancelScope(shield=True):
        await response.aclose()
    framing = ("content-encoding", "content-length", "transfer-encoding")
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in framing]
    cut = httpx2.Response(response.status_code, headers=headers, content=body, request=response.request)
    cut.next_request = response.next_request
    return cut, body


def _telling(response: httpx2.Response) -> dict[str, str]:
    told = {
        name.replace("-", "_"): response.headers[name]
        for name in ("www-authenticate", "retry-after")
        if name in response.headers
    }
    if "location" in response.headers:
        told["location"] = shown_url(str(response.request.url.join(response.headers["location"])))
    return told


def _is_jsonrpc(body: bytes) -> bool:
    try:
        value: Any = json.loads(body)
    except ValueError:
        return False
    return isinstance(value, dict) and cast("dict[str, Any]", value).get("jsonrpc") == "2.0"


async def _is_notification(request: httpx2.Request) -> bool:
    """Whether the request carries a message that gets no answer."""
    if request.method != "POST":
        return False
    message: Any = json.loads(await request.aread())
    return "id" not in message or "method" not in message


def _error_answer(request: httpx2.Request, message: str, *, status: int) -> httpx2.Response:
    """An answer from which the SDK takes the message."""
    status = max(status, HTTPStatus.BAD_REQUEST)
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": CONNECTION_CLOSED, "message": message}}
    return httpx2.Response(status, json=error, request=request)


def _trouble(error: httpx2.TransportError, request: httpx2.Request, *, connect: float) -> Diagnosis:
    url = request.url
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
    elif isinstance(error, httpx2.TimeoutException):
        code, message = "timeout", f"no connection to {where} within {connect:g} s"
    elif isinstance(error, httpx2.ProxyError):
        code, message = "refused", f"the proxy did not connect to {where}"
    elif isinstance(error, httpx2.ConnectError):
        code, message = "refused", f"{where} does not accept connections; is the server running?"
    elif isinstance(error, httpx2.UnsupportedProtocol):
        code, message = "invalid_spec", "the URL must start with http:// or https://"
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
