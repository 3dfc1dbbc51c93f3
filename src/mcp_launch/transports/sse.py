"""MCP over SSE, the transport that Streamable HTTP replaced: a GET for what comes in, a POST for each message out.

A small transport of our own, because the SDK's waits for ever for an endpoint that is refused, and turns a POST that
fails into silence. Imported only for a server that wants it.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import httpx
from anyio.abc import TaskStatus
from httpx_sse import EventSource, SSEError
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from mcp_launch.budgets import Budgets
from mcp_launch.failures import Stage
from mcp_launch.specs import HttpServer
from mcp_launch.transports import DOUBTFUL, LONGEST, Diagnosis
from mcp_launch.transports.headers import HeaderRule, origin
from mcp_launch.transports.http import speaks_http
from mcp_launch.transports.messages import UNWRITABLE, UnwritableError, refusal, written
from mcp_launch.transports.web import EVENT_STREAM, JSON, Memory, media_type, start_of, tls_context

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client import Transport as Streams

__all__ = ["SseTransport", "speaks_sse"]

_TRIAL = 2.0
"""Seconds for finding out whether the server speaks this transport."""
_REDIRECTS = 5


class SseTransport:
    """The streams over one event stream and the POSTs that belong to it."""

    def __init__(
        self, spec: HttpServer, *, budgets: Budgets, on_lost: Callable[[], None], give_up: Callable[[], None]
    ) -> None:
        self._spec = spec
        self._client = EventClient(spec, connect=budgets.connect)
        self.warnings = self._client.rule.warnings
        self._on_lost = on_lost
        self._give_up = give_up
        self._endpoint: httpx.URL | None = None
        self._found: Diagnosis | None = None

    def prove(self) -> None:
        """Say that the session is initialised, which changes nothing here: the endpoint was proof enough."""

    def open(self) -> Streams:
        """A block in which the event stream is open and the server has named its endpoint."""
        return self._opened()

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[Any]:
        to_session, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        async with self._client, to_session, read, write, from_session, anyio.create_task_group() as tasks:
            endpoint = await tasks.start(self._receive, to_session)
            tasks.start_soon(self._send, endpoint, from_session, to_session)
            yield read, write
            tasks.cancel_scope.cancel()

    async def diagnose(self, *, waited: float | None, answered: bool) -> Diagnosis | None:  # noqa: PLR0911 - a list of cases
        """Why the stream ended or a POST failed; None when both were answered by the rules."""
        if self._found is not None:
            return self._found
        memory = self._client.memory
        stage: Stage | None = None if self._endpoint is not None else "connect"
        if (silent := await memory.silence(waited=waited, stage=stage)) is not None:
            return silent
        if (found := memory.diagnosis()) is not None:
            if found.code in DOUBTFUL and self._endpoint is None and await speaks_http(self._spec):
                message = 'this URL speaks Streamable HTTP: set "type" to "http"'
                found = replace(found, code="wrong_transport", message=message)
            return replace(found, stage=stage)
        if (answer := memory.answer) is None:
            return None
        if waited is not None:
            told = "its event stream named no endpoint" if self._endpoint is None else "did not answer"
            return Diagnosis("timeout", f"{told} within {waited:.1f} s", answer.facts, stage=stage)
        if answered:
            return None
        return Diagnosis("disconnected", "its event stream ended", answer.facts, stage=stage)

    async def _receive(
        self,
        to_session: MemoryObjectSendStream[SessionMessage | Exception],
        *,
        task_status: TaskStatus[httpx.URL],
    ) -> None:
        """Read the event stream; started, with the endpoint, once it has named that."""
        memory = self._client.memory
        try:
            async with to_session, self._client.events(self._spec.url) as events:
                async for event in events.aiter_sse():
                    if event.event == "endpoint" and self._endpoint is None:
                        self._endpoint = self._accept(event.data, stream=events.response.request.url)
                        if self._endpoint is None:
                            # Not a return, which would leave httpx's generators unfinished for the garbage collector.
                            self._give_up()
                        else:
                            task_status.started(self._endpoint)
                    elif event.event == "message" and event.data:
                        await self._deliver(event.data, to_session)
        except SSEError:
            # Not an event stream; the memory has what came instead.
            pass
        except httpx.RequestError as error:
            if memory.trouble is None:
                message = "its event stream broke off"
                memory.trouble = Diagnosis("disconnected", message, {"error": type(error).__name__})
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        finally:
            self._on_lost()
            if self._endpoint is None:
                self._give_up()

    def _accept(self, named: str, *, stream: httpx.URL) -> httpx.URL | None:
        """The endpoint, if it is on the origin of the stream; messages and headers go nowhere else."""
        try:
            endpoint = stream.join(named)
            ours, theirs = origin(stream), origin(endpoint)
        except (httpx.InvalidURL, ValueError):
            self._found = Diagnosis("not_mcp", "its event stream named an endpoint that is no URL", stage="connect")
            return None
        if ours == theirs:
            return endpoint
        message = f"its endpoint is on another origin, {theirs} instead of {ours}; nothing was sent there"
        facts = {"origin": ours, "endpoint_origin": theirs}
        self._found = Diagnosis("cross_origin_endpoint", message, facts, stage="connect")
        return None

    async def _deliver(self, data: str, to_session: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        try:
            message = jsonrpc_message_adapter.validate_json(data, by_name=False)
        except ValidationError:
            warning = "sent an event that is no JSON-RPC message"
            if warning not in self.warnings:
                self.warnings.append(warning)
            return
        await to_session.send(SessionMessage(message))

    async def _send(
        self,
        endpoint: httpx.URL,
        from_session: MemoryObjectReceiveStream[SessionMessage],
        to_session: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        async with anyio.create_task_group() as posts:
            async for item in from_session:
                if isinstance(item.message, JSONRPCRequest):
                    # A server may hold the POST until it has answered: others must not wait for that.
                    posts.start_soon(self._post, endpoint, item, to_session)
                else:
                    await self._post(endpoint, item, to_session)

    async def _post(
        self, endpoint: httpx.URL, item: SessionMessage, to_session: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        client = self._client
        complaint: ErrorData | str | None
        try:
            body = written(item.message)
        except UnwritableError:
            complaint = UNWRITABLE
        else:
            request = client.build_request("POST", endpoint, content=body, headers={"content-type": JSON})
            # The memory has what went wrong.
            with contextlib.suppress(httpx.RequestError):
                await client.send_within_origin(request)
            complaint = client.memory.complaint()
        # No answer will come on the event stream: give the waiting request one.
        if complaint is not None and (reply := refusal(item.message, complaint)) is not None:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await to_session.send(reply)


async def speaks_sse(spec: HttpServer) -> bool:
    """Whether a GET is answered with the event that begins an SSE session."""
    found = False
    with anyio.move_on_after(_TRIAL) as scope, contextlib.suppress(httpx.RequestError):
        async with EventClient(spec, connect=_TRIAL) as client, client.events(spec.url) as events:
            async for event in events.aiter_sse():
                found = event.event == "endpoint"
                # Not a break, see above.
                scope.cancel()
    return found


class EventClient(httpx.AsyncClient):
    """httpx as its users know it, with proxies and TLS settings from the environment, plus a rule and a memory."""

    def __init__(self, spec: HttpServer, *, connect: float) -> None:
        hooks: dict[str, list[Callable[..., Any]]] = {"request": [self._apply_rule]}
        super().__init__(timeout=httpx.Timeout(connect, read=None), verify=tls_context(), event_hooks=hooks)
        self.rule = HeaderRule(spec)
        self.memory = Memory(spec, connect=connect, authorizes=self.rule.authorizes)

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send it, and keep what came back or why nothing did; only the body of an event stream is left to read."""
        options["stream"] = True
        try:
            response = await super().send(request, **options)
        except httpx.RequestError as error:
            self.memory.failed(request, error)
            raise
        # What matters of a POST is its status: the answer comes with the event stream.
        is_mcp = response.is_success and (request.method == "POST" or media_type(response) == EVENT_STREAM)
        body = b"" if is_mcp else await start_of(response)
        if request.method == "POST":
            await response.aclose()
        self.memory.answered(request, response, is_mcp=is_mcp, body=body)
        return response

    async def _apply_rule(self, request: httpx.Request) -> None:
        request.headers = httpx.Headers(self.rule.apply(request))

    async def send_within_origin(self, request: httpx.Request) -> httpx.Response:
        """Send, and follow redirects that keep the method and the origin; any other one is the answer."""
        for _ in range(_REDIRECTS):
            response = await self.send(request)
            following = response.next_request
            if following is None or following.method != request.method or origin(following.url) != origin(request.url):
                return response
            self.memory.answer = None
            request = following
        return await self.send(request)

    @asynccontextmanager
    async def events(self, url: str) -> AsyncGenerator[EventSource]:
        """The events that a GET is answered with.

        Raises:
            SSEError: it was answered with something else.
            httpx.RequestError: it was not answered.
        """
        # Not compressed, so that what is counted is what is kept.
        headers = {"accept": EVENT_STREAM, "accept-encoding": "identity", "cache-control": "no-store"}
        response = await self.send_within_origin(self.build_request("GET", url, headers=headers))
        if not response.is_success or media_type(response) != EVENT_STREAM:
            raise SSEError("not an event stream")
        # What httpx-sse 0.4.3 leaves to its caller: it compares the content type by case, decodes by its charset
        # although event streams are UTF-8 always, takes a byte order mark for a part of the first field, and keeps an
        # event of any size. That it sees an event which ends in a bare CR only with the byte after it, we leave.
        response.headers["content-type"] = EVENT_STREAM
        response.encoding = "utf-8-sig"
        with anyio.CancelScope() as reading:
            response.stream = _Bounded(response.stream, reading)
            try:
                yield EventSource(response)
            finally:
                with anyio.CancelScope(shield=True):
                    await response.aclose()
        if reading.cancelled_caught:
            message = f"sent an event of more than {LONGEST >> 20} MB, and was given up"
            self.memory.trouble = Diagnosis("disconnected", message)


class _Bounded(httpx.AsyncByteStream):
    """The body of an event stream, which is given up when an event has no end."""

    def __init__(self, body: object, reading: anyio.CancelScope) -> None:
        if not isinstance(body, httpx.AsyncByteStream):
            raise TypeError("the body must be read asynchronously")
        self._body = body
        self._reading = reading

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, tail = 0, b""
        async for chunk in self._body:
            seen = tail + chunk
            blank = max(seen.rfind(end) for end in (b"\n\n", b"\n\r\n", b"\r\r"))
            size = size + len(chunk) if blank < 0 else len(seen) - blank
            tail = seen[-2:]
            if size > LONGEST:
                # Not an exception, which would leave httpx's generators unfinished for the garbage collector.
                self._reading.cancel()
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()
