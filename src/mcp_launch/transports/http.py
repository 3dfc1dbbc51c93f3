"""MCP over Streamable HTTP: the SDK's transport on an HTTP client of ours, which knows why it failed."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR, ErrorData, JSONRPCError

from mcp_launch.budgets import Budgets
from mcp_launch.diagnosis import Diagnosis
from mcp_launch.diagnosis.no_answer import UNMAPPED, TooLong
from mcp_launch.failures import Stage
from mcp_launch.options import Options
from mcp_launch.specs import HttpServer
from mcp_launch.transports import DOUBTFUL, LONGEST, TRIAL
from mcp_launch.transports.bodies import is_jsonrpc, start_of, whole
from mcp_launch.transports.era import bound_probe
from mcp_launch.transports.headers import HeaderRule, follows
from mcp_launch.transports.media import EVENT_STREAM, JSON, media_type
from mcp_launch.transports.memory import Memory
from mcp_launch.transports.messages import UNWRITABLE
from mcp_launch.transports.network import Network, network, usable
from mcp_launch.transports.streams import ReadStream, Sink, Source, WriteStream
from mcp_launch.transports.traffic import Traffic, shown
from mcp_launch.transports.unanswered import Unanswered, Unsaid, farewell

if TYPE_CHECKING:
    from mcp.client import Transport as Streams

__all__ = ["HttpTransport", "WebClient", "speaks_http"]

_WORDS = 16
"""Characters by which an error that the SDK gives of its own is known."""
_UNREADABLE = (PARSE_ERROR, "Failed to parse ")
_OF_THE_SDK = (_UNREADABLE, (CONNECTION_CLOSED, "SSE stream ended"))
"""How those begin that it gives where an answer was of the right kind, and no message came of it."""

_PARSED = 16384
"""Bytes of an answer that are parsed to see what it is. What is not MCP is short: an error, a page, another API."""


class HttpTransport:
    """The streams over the requests of one client."""

    def __init__(
        self,
        spec: HttpServer,
        *,
        options: Options,
        budgets: Budgets,
        on_lost: Callable[[], None],
        traffic: Traffic | None = None,
    ) -> None:
        self._spec = spec
        self._traffic = traffic
        self._on_lost = on_lost
        self._wording = options.wording
        self._network = network(spec, options)
        self._client = WebClient(spec, self._network, connect=budgets.connect)
        self._probe = budgets.probe
        self.warnings = [*self._client.rule.warnings, *self._network.warnings]

    def prove(self) -> None:
        """Say that the session is initialised: a request that cannot be sent then costs that request only."""
        self._client.proven = True

    def open(self) -> Streams:
        """A block in which requests can be sent; at its end the session and all sockets are closed."""
        return self._opened()

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[Any]:
        streams = streamable_http_client(self._spec.url, http_client=self._client, max_sse_event_size=LONGEST)
        async with self._client, streams as (read, write):
            unanswered = Unanswered()
            watched, noted = shown(
                _WatchedStream(read, self._client, unanswered, self._on_lost),
                _NotedStream(write, unanswered),
                self._traffic,
            )
            # Withdrawn, its request is closed, so that what comes of it late is not taken for what came of others.
            yield bound_probe(watched, noted, seconds=self._probe, was_read=lambda: self._client.probed, withdraws=True)

    async def diagnose(self, *, waited: float | None, answered: bool) -> Diagnosis | None:
        """Why the requests failed; None when each got an answer of MCP."""
        memory, proven = self._client.memory, self._client.proven
        stage: Stage | None = None if proven else "connect"
        if (found := await memory.diagnosis(waited=waited, stage=stage, wording=self._wording)) is not None:
            if found.code in DOUBTFUL and not proven and await self._speaks_sse():
                message = f"this URL speaks the deprecated SSE transport: {self._wording.sse}"
                return replace(found, code="wrong_transport", message=message)
            return found
        if (answer := memory.answer) is None:
            return None
        if waited is not None:
            return Diagnosis("timeout", f"did not answer within {waited:.1f} s; {self._wording.longer}?", answer.facts)
        if answer.media_type == EVENT_STREAM and not answered:
            message = "its event stream ended without an answer; its own log may say why"
            return Diagnosis("disconnected" if proven else "not_mcp", message, answer.facts)
        return None

    async def _speaks_sse(self) -> bool:
        # Imported late: it brings httpx, which takes a tenth of a second and which few sessions need.
        from mcp_launch.transports.sse.client import speaks_sse  # noqa: PLC0415

        return await speaks_sse(self._spec, self._network)


class _WatchedStream(ReadStream):
    """What the SDK's transport reads, and two things that it keeps to itself: that it broke down, and why it cannot."""

    def __init__(self, inner: Source, client: WebClient, unanswered: Unanswered, on_lost: Callable[[], None]) -> None:
        super().__init__(inner)
        self._client = client
        self._unanswered = unanswered
        self._on_lost = on_lost

    async def receive(self) -> SessionMessage | Exception:
        if self._client.lost:
            # Whoever lost it has been told by now, and the others are told before the session ends.
            told = farewell(self._client.lost, hide=self._client.hide)
            if (reply := next(self._unanswered.refused(told), None)) is not None:
                return SessionMessage(reply)
            self._on_lost()
        try:
            item = await self._inner.receive()
        except anyio.EndOfStream:
            self._on_lost()
            raise
        if isinstance(item, SessionMessage):
            item.message = self._unanswered.named(item.message)
            self._unanswered.received(item.message)
            if isinstance(item.message, JSONRPCError) and self._is_unsaid(item.message.error):
                item.message = Unsaid(jsonrpc="2.0", id=item.message.id, error=self._told(item.message.error))
        return item

    def _is_unsaid(self, error: ErrorData) -> bool:
        """Whether an error is no word of the server: what it answered, if it did, has no message in it."""
        answer = self._client.memory.answer
        return answer is None or not answer.is_mcp or (error.code, error.message[:_WORDS]) in _OF_THE_SDK

    def _told(self, error: ErrorData) -> ErrorData:
        """What whoever waits is told of an error that the SDK gives."""
        if (error.code, error.message[:_WORDS]) != _UNREADABLE:
            return error
        # The SDK's own words quote the answer, with whatever is in it.
        found = Diagnosis("invalid_response", "gave an answer that is not valid MCP")
        self._client.memory.found = self._client.memory.found or found
        return farewell(found, hide=self._client.hide)


class _NotedStream(WriteStream):
    """What the SDK's transport writes, where each request is known to wait for an answer."""

    def __init__(self, inner: Sink, unanswered: Unanswered) -> None:
        super().__init__(inner)
        self._unanswered = unanswered

    async def send(self, item: SessionMessage, /) -> None:
        self._unanswered.sent(item.message)
        await self._inner.send(item)


class WebClient(httpx2.AsyncClient):
    """httpx2 as its users know it, plus a rule and a memory.

    The headers of the specification are put on each request at the last moment, in a hook, so that no redirect and
    no authentication flow carries them elsewhere.
    """

    def __init__(self, spec: HttpServer, network: Network, *, connect: float) -> None:
        self.rule = HeaderRule(spec, logs_in=network.auth is not None)
        self._url = spec.url
        with usable(spec, network.names_proxy):
            super().__init__(
                auth=network.auth,
                verify=network.verify,
                proxy=network.proxy,
                trust_env=network.trust_env,
                timeout=httpx2.Timeout(connect, read=None),
                event_hooks={"request": [self._apply_rule] if self.rule.adds else []},
            )
        self.hide = spec.redactor
        self.memory = Memory(self.rule, network, usual="/mcp", hide=self.hide, connect=connect)
        self.proven = False
        """Whether a POST that fails is answered with a JSON-RPC error that says why.

        Otherwise the SDK would tell the caller no more than that there was an error, or end the session.
        """
        self.lost: Diagnosis | None = None
        """What said that the server has forgotten the session, if it has."""
        self.probed = False
        """Whether the server has been sent `server/discover`, and has not asked for something else first."""

    def build_request(self, method: str, url: httpx2.URL | str, **options: Any) -> httpx2.Request:
        """Build it as httpx2 does; one whose JSON has no form in UTF-8 is marked, and refused when it is sent."""
        if url == self._url:
            # Parsed already, which takes a thirtieth of a call.
            url = self.rule.url
        try:
            return super().build_request(method, url, **options)
        except UnicodeEncodeError:
            # Raised here, it would end the SDK's transport instead of this one request.
            options |= {"json": None, "extensions": {"refusal": UNWRITABLE}}
            return super().build_request(method, url, **options)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send it as httpx2 does; keep what came of a message."""
        if request.method != "POST":
            # What becomes of a listening GET or of the farewell is no reason for anything.
            return await super().send(request, **options)
        if (refused := request.extensions.get("refusal")) is not None:
            return _error_answer(request, refused, status=HTTPStatus.BAD_REQUEST)
        if request.headers.get("mcp-method") == "server/discover":
            request.extensions["trace"] = self._follow_probe
        stream: bool = options.pop("stream", False)
        try:
            response = await self._remember(request, await super().send(request, stream=True, **options))
        except (httpx2.RequestError, TooLong, *UNMAPPED) as error:
            self.memory.failed(_sent_to(error, request), error)
            if not self.proven:
                raise
            response = httpx2.Response(HTTPStatus.BAD_GATEWAY, request=request)
        found = self.memory.found
        if found is not None and self.proven and not follows(request, response.next_request):
            if found.code == "session_lost":
                self.lost = found
            response = _error_answer(request, farewell(found, hide=self.hide), status=response.status_code)
        if not stream:
            await response.aread()
        return response

    async def _apply_rule(self, request: httpx2.Request) -> None:
        request.headers = httpx2.Headers(self.rule.apply(request))

    async def _follow_probe(self, event: str, info: Mapping[str, Any]) -> None:
        """Know when it was sent, of which connecting and logging in are no part."""
        match event.partition(".")[2]:
            case "send_request_body.complete":
                self.probed = True
            case "receive_response_headers.complete":
                self.probed = info["return_value"][1] == HTTPStatus.OK
            case _:
                pass

    async def _remember(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        if not response.is_success:
            return await self._remember_refusal(request, response)
        media, body = media_type(response.headers), b""
        if media == EVENT_STREAM:
            is_mcp = True
        elif media == JSON:
            response = await _read(response)
            body = response.content
            is_mcp = _is_message(body) or (not body and await _is_notification(request))
        elif not (is_mcp := await _is_notification(request)):
            body = await start_of(response)
            response = _with(response, body)
        self.memory.answered(request, response, is_mcp=is_mcp, body=b"" if is_mcp else body)
        return response

    async def _remember_refusal(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        # Twice, because the body that explains it may be slow to come.
        self.memory.answered(request, response, is_mcp=False)
        if follows(request, response.next_request):
            return response
        body = await start_of(response)
        response = _with(response, body)
        is_mcp = media_type(response.headers) == JSON and is_jsonrpc(body)
        self.memory.answered(request, response, is_mcp=is_mcp, body=body)
        return response


async def speaks_http(spec: HttpServer, network: Network) -> bool:
    """Whether a POST of `initialize` is answered by an MCP server."""
    with anyio.move_on_after(TRIAL):
        try:
            async with (
                WebClient(spec, network, connect=TRIAL) as client,
                client.stream(
                    "POST",
                    spec.url,
                    content=_initialize_request(),
                    headers={"content-type": JSON, "accept": f"{JSON}, {EVENT_STREAM}"},
                ) as response,
            ):
                answer = client.memory.answer
                return response.is_success and answer is not None and answer.is_mcp
        except (httpx2.HTTPError, TooLong, *UNMAPPED):
            return False
    return False


def _initialize_request() -> bytes:
    """The smallest request that an MCP server answers."""
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "mcp-launch", "version": "0"}}
    return json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).encode()


async def _read(response: httpx2.Response) -> httpx2.Response:
    """The answer with its body read, up to the size of the longest message."""
    size = response.headers.get("content-length", "")
    try:
        if size.isdecimal() and int(size) <= LONGEST and "content-encoding" not in response.headers:
            await response.aread()
            return response
        return _with(response, await whole(response, longest=LONGEST))
    except (httpx2.DecodingError, TooLong):
        # Alone among the errors, these leave the connection open.
        await response.aclose()
        raise


def _is_message(body: bytes) -> bool:
    """Whether it is a JSON-RPC message; a long one need only look like it, since the SDK parses it next."""
    return is_jsonrpc(body) if len(body) <= _PARSED else b'"jsonrpc"' in body


def _with(response: httpx2.Response, body: bytes) -> httpx2.Response:
    """The answer with what was read of its body."""
    framing = ("content-encoding", "content-length", "transfer-encoding")
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in framing]
    read = httpx2.Response(response.status_code, headers=headers, content=body, request=response.request)
    read.next_request = response.next_request
    return read


def _sent_to(error: Exception, request: httpx2.Request) -> httpx2.URL:
    """Where the request went that failed: an authentication sends some elsewhere."""
    try:
        return error.request.url if isinstance(error, httpx2.RequestError) else request.url
    except RuntimeError:
        return request.url


async def _is_notification(request: httpx2.Request) -> bool:
    """Whether the request carries a message that gets no answer."""
    message: Any = json.loads(await request.aread())
    return "id" not in message or "method" not in message


def _error_answer(request: httpx2.Request, error: ErrorData, *, status: int) -> httpx2.Response:
    """An answer from which the SDK takes the error."""
    reply = {"jsonrpc": "2.0", "id": None, "error": error.model_dump(exclude_unset=True)}
    return httpx2.Response(max(status, HTTPStatus.BAD_REQUEST), json=reply, request=request)
