"""MCP over SSE, the transport that Streamable HTTP replaced: a GET for what comes in, a POST for each message out.

A small transport of our own, because the SDK's waits for ever for an endpoint that is refused, and turns a POST that
fails into silence.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
from anyio.abc import TaskStatus
from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED, ErrorData, JSONRPCError, JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from mcp_launch.budgets import Budgets
from mcp_launch.redact import shown_url
from mcp_launch.specs import HttpServer
from mcp_launch.transports import Diagnosis
from mcp_launch.transports.http import hung_up, initialize_request, refused_headers
from mcp_launch.transports.web import EVENT_STREAM, JSON, WebClient, media_type

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client import Transport as Streams

__all__ = ["SseTransport"]

_TRIAL = 2.0
"""Seconds for finding out whether the server speaks the other transport."""
_DOUBTFUL = ("method_not_allowed", "not_found", "http_error", "not_mcp")
_MAX_EVENT = 64 * 1024 * 1024
_REDIRECTS = 5


class SseTransport:
    """The streams over one event stream and the POSTs that belong to it."""

    def __init__(
        self, spec: HttpServer, *, budgets: Budgets, on_lost: Callable[[], None], give_up: Callable[[], None]
    ) -> None:
        self.warnings: list[str] = []
        self._spec = spec
        self._client = WebClient(spec, connect=budgets.connect, posts_are_answered=False)
        self._on_lost = on_lost
        self._give_up = give_up
        self._endpoint: httpx2.URL | None = None
        self._found: Diagnosis | None = None

    def prove(self) -> None:
        """Say that the session is initialised, which changes nothing here: the endpoint was proof enough."""

    def open(self) -> Streams:
        """A block in which the event stream is open and the server has named its endpoint."""
        return self._opened()

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[Any]:
        client = self._client
        self.warnings += refused_headers(client)
        to_session, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        async with client, to_session, read, write, from_session, anyio.create_task_group() as tasks:
            endpoint = await tasks.start(self._receive, to_session)
            tasks.start_soon(self._send, endpoint, from_session, to_session)
            yield read, write
            tasks.cancel_scope.cancel()

    async def diagnose(self, *, waited: float | None, answered: bool) -> Diagnosis | None:  # noqa: PLR0911 - a list of cases
        """Why the stream ended or a POST failed; None when both were answered by the rules."""
        client = self._client
        stage = None if self._endpoint is not None else "connect"
        if self._found is not None:
            return self._found
        if client.trouble is not None:
            return await hung_up(client.trouble, self._spec, stage=stage)
        answer = client.answer
        if answer is None:
            if waited is None:
                return None
            return Diagnosis(
                "timeout", f"accepted the connection, but did not answer within {waited:.1f} s", stage=stage
            )
        found = client.diagnosis()
        if found is None and self._endpoint is None and answer.media_type != EVENT_STREAM:
            found = Diagnosis("not_mcp", f"it answered with {answer.media_type or 'nothing'}, not with an event stream")
        if found is not None:
            found = replace(found, stage=stage)
            if found.code in _DOUBTFUL and self._endpoint is None and await self._speaks_http():
                message = 'this URL speaks Streamable HTTP: set "type" to "http"'
                return replace(found, code="wrong_transport", message=message)
            return found
        if waited is not None:
            silent = "its event stream named no endpoint" if self._endpoint is None else "did not answer"
            return Diagnosis("timeout", f"{silent} within {waited:.1f} s", answer.facts, stage=stage)
        if answered:
            return None
        return Diagnosis("disconnected", "its event stream ended", answer.facts, stage=stage)

    async def _receive(
        self,
        to_session: MemoryObjectSendStream[SessionMessage | Exception],
        *,
        task_status: TaskStatus[httpx2.URL],
    ) -> None:
        """Read the event stream; started, with the endpoint, once it has named that."""
        client = self._client
        try:
            async with to_session, _event_stream(client, self._spec.url) as response:
                if not response.is_success or media_type(response) != EVENT_STREAM:
                    self._give_up()
                    return
                async for event in httpx2.EventSource(response, max_event_size=_MAX_EVENT):
                    if event.event == "endpoint" and self._endpoint is None:
                        endpoint = response.request.url.join(event.data)
                        if self._accept(endpoint, stream=response.request.url):
                            task_status.started(endpoint)
                        else:
                            self._give_up()
                    elif event.event == "message" and event.data:
                        await self._deliver(event.data, to_session)
        except httpx2.TransportError as error:
            if client.trouble is None:
                message = "its event stream broke off"
                client.trouble = Diagnosis("disconnected", message, {"error": type(error).__name__})
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        finally:
            self._on_lost()
            if self._endpoint is None:
                self._give_up()

    def _accept(self, endpoint: httpx2.URL, *, stream: httpx2.URL) -> bool:
        """Take the endpoint if it is on the origin of the stream; messages and headers go nowhere else."""
        ours, theirs = _origin(stream), _origin(endpoint)
        if ours == theirs:
            self._endpoint = endpoint
            return True
        message = f"its endpoint is on another origin, {theirs} instead of {ours}; nothing was sent there"
        facts = {"origin": ours, "endpoint_origin": theirs}
        self._found = Diagnosis("cross_origin_endpoint", message, facts, stage="connect")
        return False

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
        endpoint: httpx2.URL,
        from_session: MemoryObjectReceiveStream[SessionMessage],
        to_session: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        self._client.survives = True
        async with anyio.create_task_group() as posts:
            async for item in from_session:
                if isinstance(item.message, JSONRPCRequest):
                    # A server may hold the POST until it has answered: others must not wait for that.
                    posts.start_soon(self._post, endpoint, item, to_session)
                else:
                    await self._post(endpoint, item, to_session)

    async def _post(
        self, endpoint: httpx2.URL, item: SessionMessage, to_session: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        body = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        request = self._client.build_request("POST", endpoint, content=body, headers={"content-type": JSON})
        response = await _send_within_origin(self._client, request)
        await response.aclose()
        if not response.is_success and isinstance(item.message, JSONRPCRequest):
            # No answer will come on the event stream: give the waiting request one.
            found = self._client.trouble or self._client.diagnosis()
            message = found.message if found else f"the message was answered with {response.status_code}"
            error = ErrorData(code=CONNECTION_CLOSED, message=message)
            reply = SessionMessage(JSONRPCError(jsonrpc="2.0", id=item.message.id, error=error))
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await to_session.send(reply)

    async def _speaks_http(self) -> bool:
        """Whether a POST of `initialize` is answered by an MCP server."""
        with anyio.move_on_after(_TRIAL):
            try:
                async with (
                    WebClient(self._spec, connect=_TRIAL) as client,
                    client.stream(
                        "POST",
                        self._spec.url,
                        content=initialize_request(),
                        headers={"content-type": JSON, "accept": f"{JSON}, {EVENT_STREAM}"},
                    ) as response,
                ):
                    answer = client.answer
                    return response.is_success and answer is not None and answer.is_mcp
            except httpx2.HTTPError:
                return False
        return False


@asynccontextmanager
async def _event_stream(client: WebClient, url: str) -> AsyncGenerator[httpx2.Response]:
    headers = {"accept": EVENT_STREAM, "cache-control": "no-store"}
    response = await _send_within_origin(client, client.build_request("GET", url, headers=headers))
    try:
        yield response
    finally:
        with anyio.CancelScope(shield=True):
            await response.aclose()


async def _send_within_origin(client: WebClient, request: httpx2.Request) -> httpx2.Response:
    """Send, and follow redirects that keep the method and the origin; any other one is the answer."""
    for _ in range(_REDIRECTS):
        response = await client.send(request, stream=True)
        following = response.next_request
        if following is None or following.method != request.method or _origin(following.url) != _origin(request.url):
            return response
        await response.aclose()
        client.answer = None
        request = following
    return await client.send(request, stream=True)


def _origin(url: httpx2.URL) -> str:
    return shown_url(str(url.copy_with(path="/"))).rstrip("/")
