"""MCP over Streamable HTTP: the SDK's transport on an HTTP client of ours, which knows why it failed."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED, ErrorData

from mcp_launch.budgets import Budgets
from mcp_launch.failures import Stage
from mcp_launch.specs import HttpServer
from mcp_launch.transports import DOUBTFUL, Diagnosis
from mcp_launch.transports.headers import HeaderRule
from mcp_launch.transports.messages import UNWRITABLE
from mcp_launch.transports.streams import ReadStream, Source
from mcp_launch.transports.web import EVENT_STREAM, JSON, Memory, is_jsonrpc, media_type, start_of, tls_context

if TYPE_CHECKING:
    from mcp.client import Transport as Streams

__all__ = ["HttpTransport", "WebClient", "speaks_http"]

_TRIAL = 2.0
"""Seconds for finding out whether the server speaks this transport."""


class HttpTransport:
    """The streams over the requests of one client."""

    def __init__(self, spec: HttpServer, *, budgets: Budgets, on_lost: Callable[[], None]) -> None:
        self._spec = spec
        self._on_lost = on_lost
        self._client = WebClient(spec, connect=budgets.connect)
        self.warnings = self._client.rule.warnings

    def prove(self) -> None:
        """Say that the session is initialised: a request that cannot be sent then costs that request only."""
        self._client.survives = True

    def open(self) -> Streams:
        """A block in which requests can be sent; at its end the session and all sockets are closed."""
        return self._opened()

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[Any]:
        async with self._client, streamable_http_client(self._spec.url, http_client=self._client) as (read, write):
            yield _WatchedStream(read, self._on_lost), write

    async def diagnose(self, *, waited: float | None, answered: bool) -> Diagnosis | None:
        """Why the requests failed; None when each got an answer of MCP."""
        memory = self._client.memory
        stage: Stage | None = None if self._client.survives else "connect"
        if (silent := await memory.silence(waited=waited, stage=stage)) is not None:
            return silent
        if (found := memory.diagnosis()) is not None:
            if found.code in DOUBTFUL and not self._client.survives and await self._speaks_sse():
                message = 'this URL speaks the deprecated SSE transport: set "type" to "sse"'
                found = replace(found, code="wrong_transport", message=message)
            return replace(found, stage=stage)
        if (answer := memory.answer) is None:
            return None
        if waited is not None:
            return Diagnosis("timeout", f"did not answer within {waited:.1f} s", answer.facts)
        if answer.media_type == EVENT_STREAM and not answered:
            return Diagnosis("not_mcp", "its event stream ended without an answer", answer.facts)
        return None

    async def _speaks_sse(self) -> bool:
        # Imported late: it brings httpx, which takes a tenth of a second and which few sessions need.
        from mcp_launch.transports.sse import speaks_sse  # noqa: PLC0415

        return await speaks_sse(self._spec)


class _WatchedStream(ReadStream):
    """A stream that tells when it ends, because the SDK's transport does not: it logs, and closes its streams."""

    def __init__(self, inner: Source, on_lost: Callable[[], None]) -> None:
        super().__init__(inner)
        self._on_lost = on_lost

    async def receive(self) -> SessionMessage | Exception:
        try:
            return await super().receive()
        except anyio.EndOfStream:
            self._on_lost()
            raise


class WebClient(httpx2.AsyncClient):
    """httpx2 as its users know it, with proxies and TLS settings from the environment, plus a rule and a memory.

    The headers of the specification are put on each request at the last moment, in a hook, so that no redirect and
    no authentication flow carries them elsewhere.
    """

    def __init__(self, spec: HttpServer, *, connect: float) -> None:
        hooks: dict[str, list[Callable[..., Any]]] = {"request": [self._apply_rule]}
        super().__init__(timeout=httpx2.Timeout(connect, read=None), verify=tls_context(), event_hooks=hooks)
        self.rule = HeaderRule(spec)
        self.memory = Memory(spec, connect=connect, authorizes=self.rule.authorizes)
        self.survives = False
        """Whether a POST that fails is answered with a JSON-RPC error that says why.

        Otherwise the SDK would tell the caller no more than that there was an error, or end the session.
        """

    def build_request(self, method: str, url: httpx2.URL | str, **options: Any) -> httpx2.Request:
        """Build it as httpx2 does; one whose JSON has no form in UTF-8 is marked, and refused when it is sent."""
        try:
            return super().build_request(method, url, **options)
        except UnicodeEncodeError:
            # Raised here, it would end the SDK's transport instead of this one request.
            options |= {"json": None, "extensions": {"refusal": UNWRITABLE}}
            return super().build_request(method, url, **options)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send it as httpx2 does; keep what came back, or why nothing did."""
        if (refused := request.extensions.get("refusal")) is not None:
            return _error_answer(request, refused, status=HTTPStatus.BAD_REQUEST)
        stream: bool = options.pop("stream", False)
        try:
            response = await super().send(request, stream=True, **options)
            if request.method == "POST" or (request.method == "GET" and self.memory.answer is None):
                response = await self._remember(request, response)
        except httpx2.RequestError as error:
            self.memory.failed(request, error)
            if not self.survives or request.method != "POST":
                raise
            response = httpx2.Response(HTTPStatus.BAD_GATEWAY, request=request)
        else:
            self.memory.trouble = None
        if self.survives and request.method == "POST" and (complaint := self.memory.complaint()) is not None:
            answer = ErrorData(code=CONNECTION_CLOSED, message=complaint)
            response = _error_answer(request, answer, status=response.status_code)
        if not stream:
            await response.aread()
        return response

    async def _apply_rule(self, request: httpx2.Request) -> None:
        request.headers = httpx2.Headers(self.rule.apply(request))

    async def _remember(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        media, body = media_type(response), b""
        is_mcp = response.is_success
        if is_mcp and media == JSON:
            try:
                body = await response.aread()
            except httpx2.DecodingError:
                # Alone among the errors, this one leaves the connection open.
                await response.aclose()
                raise
            is_mcp = is_jsonrpc(body)
        elif is_mcp and media != EVENT_STREAM:
            is_mcp = await _is_notification(request)
        if not is_mcp and not response.is_stream_consumed:
            body = await start_of(response)
            response = _cut(response, body)
            is_mcp = media == JSON and is_jsonrpc(body)
        self.memory.answered(request, response, is_mcp=is_mcp, body=body)
        return response


async def speaks_http(spec: HttpServer) -> bool:
    """Whether a POST of `initialize` is answered by an MCP server."""
    with anyio.move_on_after(_TRIAL):
        try:
            async with (
                WebClient(spec, connect=_TRIAL) as client,
                client.stream(
                    "POST",
                    spec.url,
                    content=_initialize_request(),
                    headers={"content-type": JSON, "accept": f"{JSON}, {EVENT_STREAM}"},
                ) as response,
            ):
                answer = client.memory.answer
                return response.is_success and answer is not None and answer.is_mcp
        except httpx2.HTTPError:
            return False
    return False


def _initialize_request() -> bytes:
    """The smallest request that an MCP server answers."""
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "mcp-launch", "version": "0"}}
    return json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).encode()


def _cut(response: httpx2.Response, body: bytes) -> httpx2.Response:
    """The answer with no more than the start of its body."""
    framing = ("content-encoding", "content-length", "transfer-encoding")
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in framing]
    cut = httpx2.Response(response.status_code, headers=headers, content=body, request=response.request)
    cut.next_request = response.next_request
    return cut


async def _is_notification(request: httpx2.Request) -> bool:
    """Whether the request carries a message that gets no answer."""
    if request.method != "POST":
        return False
    message: Any = json.loads(await request.aread())
    return "id" not in message or "method" not in message


def _error_answer(request: httpx2.Request, error: ErrorData, *, status: int) -> httpx2.Response:
    """An answer from which the SDK takes the error."""
    reply = {"jsonrpc": "2.0", "id": None, "error": error.model_dump(exclude_unset=True)}
    return httpx2.Response(max(status, HTTPStatus.BAD_REQUEST), json=reply, request=request)
