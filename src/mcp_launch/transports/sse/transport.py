"""The session's two streams over an event stream and the POSTs that belong to it."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage

from mcp_launch.budgets import Budgets
from mcp_launch.diagnosis import Diagnosis
from mcp_launch.options import Options
from mcp_launch.specs import HttpServer
from mcp_launch.transports import DOUBTFUL
from mcp_launch.transports.http.client import speaks_http
from mcp_launch.transports.network import network
from mcp_launch.transports.posts import Posts
from mcp_launch.transports.server_requests import limited
from mcp_launch.transports.sse.client import EventClient
from mcp_launch.transports.sse.inbox import Inbox
from mcp_launch.transports.sse.listening import Listener
from mcp_launch.transports.sse.posting import Poster
from mcp_launch.transports.traffic import Traffic, shown
from mcp_launch.transports.unanswered import Unanswered

if TYPE_CHECKING:
    from mcp.client import Transport as Streams

__all__ = ["SseTransport"]


class SseTransport:
    """The streams over the requests of one client."""

    def __init__(
        self,
        spec: HttpServer,
        *,
        options: Options,
        budgets: Budgets,
        on_lost: Callable[[], None],
        give_up: Callable[[], None],
        traffic: Traffic | None = None,
    ) -> None:
        self._spec = spec
        self._traffic = traffic
        self._wording = options.wording
        self._network = network(spec, options)
        self._client = EventClient(spec, self._network, connect=budgets.connect, limits=options.limits)
        self.reader = self._client.reader
        self.warnings = [*self._client.rule.warnings, *self._network.warnings]
        self._on_lost = on_lost
        self._unanswered = Unanswered()
        self._listener = Listener(self._client, warn=self.warnings.append, on_lost=on_lost, give_up=give_up)

    def prove(self) -> None:
        """Say that the session is initialised: what the server does not know now, it has forgotten."""
        self._client.proven = True

    def open(self) -> Streams:
        """A block in which the event stream is open and the server has named its endpoint."""
        return self._opened()

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[Any]:
        to_session, read = anyio.create_memory_object_stream[SessionMessage](0)
        # Sending never waits, because the timeout of a request begins when it is sent.
        write, from_session = anyio.create_memory_object_stream[SessionMessage](math.inf)
        async with self._client, to_session, read, write, from_session, anyio.create_task_group() as tasks:
            posts = Posts(tasks)
            inbox = Inbox(to_session, self._unanswered, on_answer=posts.answered)
            endpoint = await tasks.start(self._listener.run, self._spec.url, inbox)
            poster = Poster(self._client, endpoint, inbox, posts, on_lost=self._on_lost)
            tasks.start_soon(poster.run, from_session, tasks)
            yield limited(*shown(read, write, self._traffic), is_behind=posts.are_behind, warn=self.warnings.append)
            tasks.cancel_scope.cancel()

    async def diagnose(self, *, waited: float | None, answered: bool) -> Diagnosis | None:
        """Why the stream ended or a POST failed; None when both were answered by the rules."""
        listener, memory = self._listener, self._client.memory
        if listener.found is not None:
            return listener.found
        if (found := await memory.diagnosis(waited=waited, stage=listener.stage, wording=self._wording)) is not None:
            return await self._unless_other(found, in_full=False) if found.code in DOUBTFUL else found
        if (answer := memory.answer) is None:
            return None
        if waited is not None:
            nowhere = listener.endpoint is None
            told = "its event stream named no endpoint" if nowhere else "did not answer"
            advice = "is this the URL of an SSE server" if nowhere else self._wording.longer
            late = Diagnosis("timeout", f"{told} within {waited:.1f} s; {advice}?", answer.facts, stage=listener.stage)
            return self._unanswered.explain(await self._unless_other(late, in_full=True), waited=waited)
        if answered:
            return listener.misshapen
        return Diagnosis("disconnected", "its event stream ended", answer.facts, stage=listener.stage)

    async def _unless_other(self, found: Diagnosis, *, in_full: bool) -> Diagnosis:
        """That, unless the URL speaks the other transport, which has event streams too."""
        if self._listener.endpoint is None and await speaks_http(self._spec, self._network, in_full=in_full):
            message = f"this URL speaks Streamable HTTP: {self._wording.http}"
            return replace(found, code="wrong_transport", message=message)
        return found
