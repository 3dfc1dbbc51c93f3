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
from mcp_types import (
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from mcp_launch.budgets import Budgets
from mcp_launch.diagnosis import Diagnosis
from mcp_launch.diagnosis.http import UNMAPPED, TooLong
from mcp_launch.failures import Stage
from mcp_launch.options import Options
from mcp_launch.specs import HttpServer
from mcp_launch.transports import DOUBTFUL, LONGEST, TRIAL
from mcp_launch.transports.bridge import BridgedAuth, bridged_proxy
from mcp_launch.transports.headers import HeaderRule, follows, origin
from mcp_launch.transports.http import speaks_http
from mcp_launch.transports.media import EVENT_STREAM, JSON, media_type
from mcp_launch.transports.messages import UNWRITABLE, UnwritableError, refusal, written
from mcp_launch.transports.network import Network, network, usable
from mcp_launch.transports.web import Memory, start_of

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client import Transport as Streams

__all__ = ["SseTransport", "speaks_sse"]

_REDIRECTS = 5


class SseTransport:
    """The streams over one event stream and the POSTs that belong to it."""

    def __init__(
        self,
        spec: HttpServer,
        *,
        options: Options,
        budgets: Budgets,
        on_lost: Callable[[], None],
        give_up: Callable[[], None],
    ) -> None:
        self._spec = spec
        self._network = network(spec, options)
        self._client = EventClient(spec, self._network, connect=budgets.connect)
        self.warnings = [*self._client.rule.warnings, *self._network.warnings]
        self._on_lost = on_lost
        self._give_up = give_up
        self._endpoint: httpx.URL | None = None
        self._found: Diagnosis | None = None
        self._waiting: dict[RequestId, JSONRPCRequest] = {}

    def prove(self) -> None:
        """Say that the session is initialised: what the server does not know now, it has forgotten."""
        self._client.proven = True

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
        memory, stage = self._client.memory, self._stage
        if (found := await memory.diagnosis(waited=waited, stage=stage)) is not None:
            if found.code in DOUBTFUL and self._endpoint is None and await speaks_http(self._spec, self._network):
                message = 'this URL speaks Streamable HTTP: set "type" to "http"'
                return replace(found, code="wrong_transport", message=message)
            return found
        if (answer := memory.answer) is None:
            return None
        if waited is not None:
            told = "its event stream named no endpoint" if self._endpoint is None else "did not answer"
            return Diagnosis("timeout", f"{told} within {waited:.1f} s", answer.facts, stage=stage)
        if answered:
            return None
        return Diagnosis("disconnected", "its event stream ended", answer.facts, stage=stage)

    @property
    def _stage(self) -> Stage | None:
        return None if self._endpoint is not None else "connect"

    async def _receive(
        self,
        to_session: MemoryObjectSendStream[SessionMessage | Exception],
        *,
        task_status: TaskStatus[httpx.URL],
    ) -> None:
        """Read the event stream; started, with the endpoint, once it has named that."""
        async with to_session:
            try:
                await self._read(to_session, task_status)
                self._end("its event stream ended")
            except SSEError:
                # Not an event stream; the memory has what came instead.
                pass
            except TooLong:
                self._end(f"sent an event of more than {LONGEST >> 20} MB, and was given up")
            except (httpx.RequestError, *UNMAPPED) as error:
                # Where nothing came at all, the memory knows why.
                if self._client.reads:
                    self._end("its event stream broke off", error=type(error).__name__)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass
            finally:
                await self._tell(to_session)
                self._on_lost()
                if self._endpoint is None:
                    self._give_up()

    async def _read(
        self,
        to_session: MemoryObjectSendStream[SessionMessage | Exception],
        task_status: TaskStatus[httpx.URL],
    ) -> None:
        async with self._client.events(self._spec.url) as events:
            async for event in events.aiter_sse():
                if event.event == "endpoint" and self._endpoint is None:
                    self._endpoint = self._accept(event.data, stream=events.response.request.url)
                    if self._endpoint is None:
                        # Not a return, which would leave httpx's generators unfinished for the garbage collector.
                        self._give_up()
                    else:
                        task_status.started(self._endpoint)
                elif event.event == "message" and event.data:
                    try:
                        await self._deliver(event.data, to_session)
                    except anyio.get_cancelled_exc_class():
                        # It comes again at the next read, and ends httpx's generators, which otherwise would be left
                        # for the garbage collector.
                        continue

    def _end(self, message: str, **facts: str) -> None:
        answer = self._client.memory.answer
        shown = {**(answer.facts if answer else {}), **facts}
        self._found = self._found or Diagnosis("disconnected", message, shown, stage=self._stage)

    async def _tell(self, to_session: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Answer the requests that will not be answered any more."""
        if self._found is not None:
            while self._waiting:
                _, request = self._waiting.popitem()
                if (reply := refusal(request, self._found.message)) is not None:
                    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                        await to_session.send(reply)

    def _accept(self, named: str, *, stream: httpx.URL) -> httpx.URL | None:
        """The endpoint, if it is on the origin of the stream; messages and headers go nowhere else."""
        try:
            # With no user-info of its own, which would be sent as credentials.
            endpoint = stream.join(named).copy_with(userinfo=stream.userinfo)
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
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._waiting.pop(message.id, None)
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
            match item.message:
                case JSONRPCRequest(id=number) as waiting:
                    self._waiting[number] = waiting
                case JSONRPCNotification(method="notifications/cancelled", params={"requestId": number}):
                    self._waiting.pop(number, None)
                case _:
                    pass
            # The memory has what went wrong.
            with contextlib.suppress(httpx.RequestError, *UNMAPPED):
                await client.send_within_origin(request)
            complaint = found.message if (found := client.memory.found) is not None else None
        # No answer will come on the event stream: give the waiting request one.
        if complaint is not None and (reply := refusal(item.message, complaint)) is not None:
            if isinstance(item.message, JSONRPCRequest):
                self._waiting.pop(item.message.id, None)
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await to_session.send(reply)
        if client.lost:
            self._on_lost()


async def speaks_sse(spec: HttpServer, network: Network) -> bool:
    """Whether a GET is answered with the event that begins an SSE session."""
    found = False
    with anyio.move_on_after(TRIAL) as scope, contextlib.suppress(httpx.RequestError, TooLong, *UNMAPPED):
        async with EventClient(spec, network, connect=TRIAL) as client, client.events(spec.url) as events:
            async for event in events.aiter_sse():
                found = event.event == "endpoint"
                # Not a break, see above.
                scope.cancel()
    return found


class EventClient(httpx.AsyncClient):
    """httpx as its users know it, plus a rule and a memory."""

    def __init__(self, spec: HttpServer, network: Network, *, connect: float) -> None:
        with usable(spec, "proxy"):
            super().__init__(
                auth=BridgedAuth(network.auth) if network.auth else None,
                verify=network.verify,
                proxy=bridged_proxy(network.proxy),
                trust_env=network.trust_env,
                timeout=httpx.Timeout(connect, read=None),
                event_hooks={"request": [self._apply_rule]},
            )
        self.rule = HeaderRule(spec, logs_in=network.auth is not None)
        self.memory = Memory(self.rule, network, hide=spec.redactor, connect=connect)
        self.proven = False
        """Whether the session is initialised."""
        self.lost = False
        """Whether the server has forgotten it."""
        self.reads = False
        """Whether the event stream was open."""

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send it, and keep what came back or why nothing did; only the body of an event stream is left to read."""
        options["stream"] = True
        memory, in_session = self.memory, self.proven and request.method == "POST"
        try:
            response = await super().send(request, **options)
        except (httpx.RequestError, *UNMAPPED) as error:
            memory.failed(request.url, error)
            raise
        # What matters of a POST is its status: the answer comes with the event stream.
        is_mcp = response.is_success and (request.method == "POST" or media_type(response.headers) == EVENT_STREAM)
        # Kept at once, because the body may be slow to come.
        memory.answered(request, response, is_mcp=is_mcp, in_session=in_session)
        body = b""
        if not is_mcp and not follows(request, response.next_request):
            body = await start_of(response)
        elif not is_mcp or request.method == "POST":
            if "content-length" in response.headers:
                # Read to its end, so that the connection serves the next POST too.
                await start_of(response)
            await response.aclose()
        # Again, with what explains it: others were answered meanwhile, and whoever sent this asks the memory next.
        memory.answered(request, response, is_mcp=is_mcp, body=body, in_session=in_session)
        self.lost = self.lost or (memory.found is not None and memory.found.code == "session_lost")
        return response

    async def _apply_rule(self, request: httpx.Request) -> None:
        if self.rule.adds:
            request.headers = httpx.Headers(self.rule.apply(request))

    async def send_within_origin(self, request: httpx.Request) -> httpx.Response:
        """Send, and follow redirects that keep the method and the origin; any other one is the answer."""
        for _ in range(_REDIRECTS):
            response = await self.send(request)
            following = response.next_request
            if following is None or not follows(request, following):
                return response
            self.memory.forget()
            request = following
        return await self.send(request)

    @asynccontextmanager
    async def events(self, url: str) -> AsyncGenerator[EventSource]:
        """The events that a GET is answered with.

        Raises:
            SSEError: it was answered with something else.
            TooLong: an event has no end.
            httpx.RequestError: it was not answered.
        """
        # Not compressed, so that what is counted is what is kept.
        headers = {"accept": EVENT_STREAM, "accept-encoding": "identity", "cache-control": "no-store"}
        response = await self.send_within_origin(self.build_request("GET", url, headers=headers))
        if not response.is_success or media_type(response.headers) != EVENT_STREAM:
            raise SSEError("not an event stream")
        # What httpx-sse 0.4.3 leaves to its caller: it compares the content type by case, decodes by its charset
        # although event streams are UTF-8 always, takes a byte order mark for a part of the first field, and keeps an
        # event of any size. That it sees an event which ends in a bare CR only with the byte after it, we leave.
        response.headers["content-type"] = EVENT_STREAM
        response.encoding = "utf-8-sig"
        self.reads = True
        with anyio.CancelScope() as reading:
            response.stream = _Bounded(response.stream, reading)
            try:
                yield EventSource(response)
            finally:
                with anyio.CancelScope(shield=True):
                    await response.aclose()
        if reading.cancelled_caught:
            raise TooLong


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
