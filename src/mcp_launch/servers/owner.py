"""The one task that opens, serves and closes a server; everything else talks to the session it opened.

anyio's cancel scopes must be left in the task that entered them, and the SDK holds several. One owner per server is
what makes parallel starts, closing in any order and use from other tasks safe.
"""

from __future__ import annotations

import math
from functools import partial

import anyio

from acp_bindings._processes.process import ChildProcess
from mcp_launch.diagnosis.session import diagnose_session, server_answered
from mcp_launch.failures import LaunchFailure, Stage
from mcp_launch.logs import kept_out_of_logs
from mcp_launch.processes.env import INHERITED
from mcp_launch.processes.spawn import spawn
from mcp_launch.servers.client import connected_client
from mcp_launch.servers.listing import list_offer
from mcp_launch.servers.record import Record
from mcp_launch.servers.session import Protection
from mcp_launch.specs import HttpServer, ServerSpec, SseServer, StdioServer
from mcp_launch.terms import Terms
from mcp_launch.transports import Mode, Transport
from mcp_launch.transports.http.transport import HttpTransport
from mcp_launch.transports.messages import Reader
from mcp_launch.transports.stdio.transport import StdioTransport
from mcp_launch.transports.traffic import Traffic

__all__ = ["serve_stdio", "serve_web"]

_MESSAGE = 2000
"""Characters of a failure's message; a server may have written more."""


async def serve_stdio(
    record: Record, spec: StdioServer, process: ChildProcess, *, terms: Terms, deadline: float
) -> None:
    """Open the session of a process, keep it until it is over, close it; how that went is in the record.

    A server that leaves when it is asked for the newer era is started once more for the older one.
    """
    owner = _Owner(record, spec, terms=terms, deadline=deadline)
    transport = owner.stdio(process, spec)
    failure = await owner.attempt("auto", transport)
    if failure and transport.died_of_probe and record.wanted and anyio.current_time() < deadline:
        transport = owner.stdio((await spawn(spec, cwd=terms.cwd))[0], spec, again=True)
        failure = await owner.attempt("legacy", transport)
    if failure:
        record.fail(failure)


async def serve_web(record: Record, spec: HttpServer, *, terms: Terms, deadline: float) -> None:
    """Open the session at a URL, keep it until it is over, close it; how that went is in the record."""
    owner = _Owner(record, spec, terms=terms, deadline=deadline)
    if failure := await owner.attempt("legacy" if isinstance(spec, SseServer) else "auto", owner.web(spec)):
        record.fail(failure)


class _Owner:
    """Opens, serves and closes one server, in one attempt or a second one."""

    def __init__(self, record: Record, spec: ServerSpec, *, terms: Terms, deadline: float) -> None:
        self._record = record
        self._spec = spec
        self._budgets = terms.budgets
        self._lists = terms.lists
        self._deadline = deadline
        self._scope = anyio.CancelScope()
        self._allowed = 0.0
        """The seconds of the budget that is being used up."""
        self._failure: LaunchFailure | None = None
        """Why the session ended, which it still says when the server has another one."""

    def stdio(self, process: ChildProcess, spec: StdioServer, *, again: bool = False) -> StdioTransport:
        """The transport over a process that has just been started, the second time if it left when it was probed."""
        self._record.over = anyio.Event()
        return StdioTransport(
            process,
            command=spec.command,
            given={*INHERITED, *(name for name, _ in spec.env)},
            again=again,
            hide=self._spec.redactor,
            probe=self._budgets.probe,
            close=self._budgets.close,
            reader=Reader(self._record.options.limits),
            wording=self._record.options.wording,
            on_lost=self._record.over.set,
            stderr=partial(listener, self._record.name) if (listener := self._record.options.stderr) else None,
            traffic=self._traffic(),
        )

    def web(self, spec: HttpServer) -> Transport:
        """The transport to the URL of the specification."""
        if isinstance(spec, SseServer):
            # Imported late: it brings httpx, which takes a tenth of a second and which nothing else needs.
            from mcp_launch.transports.sse.transport import SseTransport  # noqa: PLC0415

            return SseTransport(
                spec,
                options=self._record.options,
                budgets=self._budgets,
                on_lost=self._record.over.set,
                give_up=self._give_up,
                traffic=self._traffic(),
            )
        return HttpTransport(
            spec,
            options=self._record.options,
            budgets=self._budgets,
            on_lost=self._record.over.set,
            traffic=self._traffic(),
        )

    def _traffic(self) -> Traffic | None:
        tell = self._record.options.traffic
        return Traffic(self._record.name, tell, hide=self._spec.redactor) if tell else None

    async def attempt(self, mode: Mode, transport: Transport) -> LaunchFailure | None:
        """Open, serve and close the session once."""
        # Until the end, since finding out what was wrong may take another request.
        with kept_out_of_logs(self._spec.redactor):
            return await self._attempt(mode, transport)

    async def _attempt(self, mode: Mode, transport: Transport) -> LaunchFailure | None:
        error: Exception | None = None
        try:
            with anyio.CancelScope() as self._scope:
                await self._live(mode, transport)
        # Outside of the scope: what fails at the moment of a cancellation is in one group with it, on trio.
        except Exception as caught:  # noqa: BLE001 - whatever it is, it costs this server and no other
            error = caught
        record = self._record
        for warning in transport.warnings:
            record.warn(warning)
        if not record.wanted:
            if self._scope.cancelled_caught:
                record.warn(f"did not end its session within {self._budgets.close:g} s")
            return None
        self._failure = await self._explain(transport, error, waited=self._waited())
        return self._failure

    async def _live(self, mode: Mode, transport: Transport) -> None:
        record, budgets = self._record, self._budgets
        self._allow(budgets.connect)
        async with transport.open() as streams:
            self._enter("handshake", budgets.handshake)
            protection = Protection(server=record.name, hide=self._spec.redactor, seconds=budgets.validate)
            async with connected_client(
                streams,
                mode,
                record.options,
                patience=budgets.call,
                reader=transport.reader,
                protection=protection,
                why=lambda: self._failure,
            ) as client:
                transport.prove()
                record.protocol_version = client.protocol_version
                if info := client.server_info:
                    record.server = {"name": info.name, "version": info.version}
                record.capabilities = client.server_capabilities.model_dump(
                    mode="json", by_alias=True, exclude_none=True
                )
                if self._lists:
                    self._enter("list", budgets.list)
                    record.offer = await list_offer(client, self._lists, seconds=self._left() / 2, warn=record.warn)
                for warning in transport.warnings:
                    record.warn(warning)
                self._scope.deadline = math.inf
                record.client = client
                record.ready()
                try:
                    await record.over.wait()
                finally:
                    record.lose()
                self._scope.deadline = anyio.current_time() + budgets.close
                if record.wanted:
                    return
                record.enter("close")

    def _enter(self, stage: Stage, budget: float) -> None:
        self._record.enter(stage)
        self._allow(budget)

    def _allow(self, seconds: float) -> None:
        # One scope whose deadline moves: a scope around a part of the opening could not be left in order.
        now = anyio.current_time()
        self._allowed = max(0.0, min(self._deadline - now, seconds))
        self._scope.deadline = now + self._allowed

    def _left(self) -> float:
        """The seconds that are left of what the stage was allowed."""
        return max(0.0, self._scope.deadline - anyio.current_time())

    def _waited(self) -> float | None:
        """The seconds of the budget that was used up, if that is what ended it."""
        # Of a session that was ready only the farewell has a deadline, and that is not why it ended.
        ready, given_up = self._record.state == "ready", anyio.current_time() < self._scope.deadline
        return self._allowed if self._scope.cancelled_caught and not ready and not given_up else None

    def _give_up(self) -> None:
        self._scope.cancel()

    async def _explain(self, transport: Transport, error: Exception | None, *, waited: float | None) -> LaunchFailure:
        record, spec = self._record, self._spec
        found = await transport.diagnose(waited=waited, answered=server_answered(error))
        found = found or diagnose_session(error, waited=waited)
        hide = spec.redactor
        facts = found.facts if waited is None else {**found.facts, "budget": round(waited, 3)}
        return LaunchFailure(
            hide.start(found.message, _MESSAGE),
            server=record.name,
            stage=found.stage or record.stage,
            code=found.code,
            facts=hide.json(facts),
        ).because(error, hide=hide)
