"""The session's two streams over the requests of one client, which know why they ended."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED, ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCRequest

from mcp_launch.budgets import Budgets
from mcp_launch.diagnosis import Diagnosis
from mcp_launch.failures import Stage
from mcp_launch.options import Options
from mcp_launch.specs import HttpServer
from mcp_launch.transports import DOUBTFUL
from mcp_launch.transports.era import bound_probe
from mcp_launch.transports.http.client import WebClient
from mcp_launch.transports.http.reading import message_in_full
from mcp_launch.transports.media import EVENT_STREAM
from mcp_launch.transports.messages import cancelled_by
from mcp_launch.transports.network import network
from mcp_launch.transports.posts import Posts
from mcp_launch.transports.server_requests import limited
from mcp_launch.transports.streams import ReadStream, Sink, Source, WriteStream
from mcp_launch.transports.traffic import Traffic, shown
from mcp_launch.transports.unanswered import Unanswered, Unsaid, farewell

if TYPE_CHECKING:
    from mcp.client import Transport as Streams

__all__ = ["HttpTransport"]

_WORDS = 16
"""Characters by which an error that the SDK gives of its own is known."""
_OF_THE_SDK = (CONNECTION_CLOSED, "SSE stream ended")
"""How that begins which it gives where an answer was of the right kind, and no message came of it."""


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
        self._client = WebClient(spec, self._network, connect=budgets.connect, limits=options.limits)
        self.reader = self._client.reader
        self._probe = budgets.probe
        self._unanswered = Unanswered()
        self.warnings = [*self._client.rule.warnings, *self._network.warnings]
        self._client.reading.warn = self.warnings.append

    def prove(self) -> None:
        """Say that the session is initialised: a request that cannot be sent then costs that request only."""
        self._client.proven = True

    def open(self) -> Streams:
        """A block in which requests can be sent; at its end the session and all sockets are closed."""
        return self._opened()

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[Any]:
        streams = streamable_http_client(self._spec.url, http_client=self._client)
        async with self._client, anyio.create_task_group() as tasks:
            self._client.posts = posts = Posts(tasks)
            async with streams as (read, write):
                tasks.start_soon(posts.forward, write)
                watched, noted = shown(
                    _WatchedStream(read, self._client, self._unanswered, self._on_lost),
                    _NotedStream(write, self._unanswered, posts),
                    self._traffic,
                )
                watched, noted = limited(watched, noted, is_behind=posts.are_behind, warn=self.warnings.append)
                # Withdrawn, its request is closed, so that what comes of it late is not taken for what came of others.
                yield bound_probe(
                    watched, noted, seconds=self._probe, was_read=lambda: self._client.probed, withdraws=True
                )
            tasks.cancel_scope.cancel()

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
            told = f"did not answer within {waited:.1f} s; {self._wording.longer}?"
            return self._unanswered.explain(Diagnosis("timeout", told, answer.facts), waited=waited)
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
            item.message = self._unanswered.named(message_in_full(item.message, self.last_context))
            self._unanswered.received(item.message)
            if isinstance(item.message, Unsaid):
                self._client.memory.found = self._client.memory.found or self._client.reading.found
            elif isinstance(item.message, JSONRPCError) and self._is_unsaid(item.message.error):
                item.message = Unsaid(jsonrpc="2.0", id=item.message.id, error=item.message.error)
        return item

    def _is_unsaid(self, error: ErrorData) -> bool:
        """Whether an error is no word of the server: what it answered, if it did, has no message in it."""
        answer = self._client.memory.answer
        return answer is None or not answer.is_mcp or (error.code, error.message[:_WORDS]) == _OF_THE_SDK


class _NotedStream(WriteStream):
    """What the SDK's transport writes, where each request is known to wait for an answer."""

    def __init__(self, inner: Sink, unanswered: Unanswered, posts: Posts) -> None:
        super().__init__(inner)
        self._unanswered = unanswered
        self._posts = posts

    async def send(self, item: SessionMessage, /) -> None:
        self._unanswered.sent(item.message)
        match item.message:
            case JSONRPCRequest() | JSONRPCNotification(method="notifications/initialized"):
                await self._inner.send(item)
            case message:
                if (number := cancelled_by(message)) is not None:
                    self._posts.abandon(number)
                self._posts.put(item)
