"""Open, serve and close the session of one server, and list what it offers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
from mcp import MCPError

from acp_bindings._logs import kept_out_of_logs
from acp_bindings._processes.process import ChildProcess
from acp_bindings._redact import Redactor
from mcp_launch._diagnosis import Diagnosis
from mcp_launch._diagnosis.protocol import diagnose_session, is_closed, server_answered
from mcp_launch._servers.client import connected_client, reader_of
from mcp_launch._servers.record import Offer, Record, Terms
from mcp_launch._servers.sdk_session import Protection
from mcp_launch._spawn import spawn
from mcp_launch._spec import HttpServer, ServerSpec, SseServer, StdioServer
from mcp_launch._transports import Transport, TransportTerms
from mcp_launch._transports.http import HttpTransport
from mcp_launch._transports.messages import Reader
from mcp_launch._transports.stdio import StdioTransport
from mcp_launch._transports.streams import is_farewell
from mcp_launch.failures import InvalidResult, LaunchFailure, Stage
from mcp_launch.lock import changes, facts, locked, summary
from mcp_launch.options import TOOLS, Listing, allow_more, megabytes

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import Tool


PAGES = 1000
"""The maximum number of pages of a list, because an endless list would fill the memory."""

_NAMED = 3
"""The maximum number of names in a warning."""


async def list_offer(
    client: Client, lists: Collection[Listing], *, seconds: float, warn: Callable[[str], None]
) -> Offer:
    """Return the server's lists of the given kinds. A list is empty if the server does not have the capability.

    An error in listing tools is raised. An error in listing the rest, or exceeding the given seconds, is only a
    warning. The limits of a message apply to all pages of a list together.
    """
    has, reader = client.server_capabilities, reader_of(client)
    offer = Offer()
    if "tools" in lists:
        tools: list[Tool] = [] if has.tools is None else await _pages(client.list_tools, "tools", reader, warn)
        _warn_of_doubles(Counter(tool.name for tool in tools), warn)
        offer.tools = tools
    with anyio.move_on_after(seconds) as patience:
        if "resources" in lists:
            if has.resources is None:
                offer.resources, offer.resource_templates = [], []
            else:
                offer.resources = await _willing(client.list_resources, "resources", reader, warn)
                # Most servers have none, and not all of them support the method.
                templates = client.list_resource_templates
                offer.resource_templates = await _willing(templates, "resource_templates", reader, None)
        if "prompts" in lists:
            prompts = client.list_prompts
            offer.prompts = [] if has.prompts is None else await _willing(prompts, "prompts", reader, warn)
    if patience.cancelled_caught:
        warn(f"did not list its resources and prompts within {seconds:.1f} s")
    return offer


def _warn_of_doubles(names: Counter[str], warn: Callable[[str], None]) -> None:
    if doubles := [name for name, times in names.items() if times > 1]:
        quoted = ", ".join(f'"{name}"' for name in doubles[:_NAMED])
        more = f" and {len(doubles) - _NAMED} more" if len(doubles) > _NAMED else ""
        warn(f"lists more than one tool named {quoted}{more}; calls cannot tell them apart")


async def _willing(
    list_page: Callable[..., Awaitable[Any]], kind: str, reader: Reader, warn: Callable[[str], None] | None
) -> Any:
    """Return all pages, or None if the server refuses to list them."""
    try:
        return await _pages(list_page, kind, reader, warn)
    except MCPError as error:
        if is_closed(error) or is_farewell(error.error):
            raise
        reason = f'"{error}"'
    except InvalidResult as error:
        reason = diagnose_session(error, waited=None).message
    if warn:
        warn(f"could not list its {kind}: {reason}")
    return None


async def _pages(
    list_page: Callable[..., Awaitable[Any]], kind: str, reader: Reader, warn: Callable[[str], None] | None
) -> Any:
    items: list[Any] = []
    bytes_before, values_before, most = reader.bytes, reader.values, reader.limits
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        page = await list_page(cursor=cursor)
        items += getattr(page, kind)
        cursor = page.next_cursor
        # Some servers send an empty cursor with the last page.
        if not cursor:
            return items
        if cursor in seen:
            wrong = "repeats itself"
        elif len(seen) == PAGES - 1:
            wrong = f"has more than {PAGES} pages"
        elif reader.bytes - bytes_before >= most.bytes:
            wrong = f"is longer than {megabytes(most.bytes)} ({allow_more('bytes')})"
        elif reader.values - values_before >= most.values:
            wrong = f"has more than {most.values:,} JSON values ({allow_more('values')})"
        elif len(items) >= most.items:
            wrong = f"has more than {most.items:,} items ({allow_more('items')})"
        else:
            seen.add(cursor)
            continue
        if warn:
            warn(f"its list of {kind} {wrong} and was cut")
        return items


async def serve_stdio(
    record: Record, spec: StdioServer, process: ChildProcess, *, terms: Terms, deadline: float
) -> None:
    """Open the session of a process, serve it until it ends, and close it; the outcome is in the record.

    A server that exits when it is probed for the newer era, or then refuses the handshake, is started again for the
    older one.
    """
    owner = _Owner(record, spec, terms=terms, deadline=deadline)
    transport = owner.stdio(process, spec)
    failure = await owner.attempt(transport)
    may_try = record.options.mode != "legacy" and record.wanted and anyio.current_time() < deadline
    if failure and transport.failed_by_probe and may_try:
        transport = owner.stdio((await spawn(spec, cwd=terms.cwd))[0], spec, again=True)
        failure = await owner.attempt(transport)
    if failure:
        record.fail(failure)


async def serve_web(record: Record, spec: HttpServer, *, terms: Terms, deadline: float) -> None:
    """Open the session at a URL, serve it until it ends, and close it; the outcome is in the record.

    If the client of its file tries both transports, the other one is tried for a URL that speaks it.
    """
    failure = await _attempt_web(record, spec, terms=terms, deadline=deadline)
    is_wrong = failure is not None and failure.code == "wrong_transport"
    if is_wrong and record.options.phrases.tries_both and record.wanted and anyio.current_time() < deadline:
        other = HttpServer if isinstance(spec, SseServer) else SseServer
        record.spec = other(name=spec.name, url=spec.url, headers=spec.headers, secrets=spec.secrets)
        record.warnings.clear()
        failure = await _attempt_web(record, record.spec, terms=terms, deadline=deadline)
    if failure:
        record.fail(failure)


async def _attempt_web(record: Record, spec: HttpServer, *, terms: Terms, deadline: float) -> LaunchFailure | None:
    owner = _Owner(record, spec, terms=terms, deadline=deadline)
    began = anyio.current_time()
    transport = owner.web(spec)
    # The first one imports an HTTP library and reads certificates, which is not the server's work.
    owner.deadline += anyio.current_time() - began
    return await owner.attempt(transport)


class _Owner:
    """Opens, serves and closes one server, in one or two attempts."""

    def __init__(self, record: Record, spec: ServerSpec, *, terms: Terms, deadline: float) -> None:
        self._options = record.options
        """The options, whose mode changes for a server of the older era."""
        self._record = record
        self._spec = spec
        self._budgets = terms.budgets
        self._lists = terms.lists
        self.deadline = deadline
        self._scope = anyio.CancelScope()
        self._allowed = 0.0
        """The seconds of the current budget."""
        self._failure: LaunchFailure | None = None
        """The failure that ended the session; requests on it still say so after a restart of the server."""
        self._error: Exception | None = None
        """The error after which the transport is closing, which a cancellation would hide."""
        self._changed: LaunchFailure | None = None
        """The failure if the tools differ from their lock, which has no other cause to look for."""

    def stdio(self, process: ChildProcess, spec: StdioServer, *, again: bool = False) -> StdioTransport:
        """Return a transport for a new process; with `again`, the one before failed when it was probed."""
        if again:
            self._options = replace(self._options, mode="legacy")
        return StdioTransport(process, spec, self._terms(), again=again)

    def web(self, spec: HttpServer) -> Transport:
        """Return a transport for the URL of the specification."""
        if isinstance(spec, SseServer):
            # Imported late because it imports httpx, which takes a tenth of a second and only SSE needs.
            from mcp_launch._transports.sse import SseTransport  # noqa: PLC0415

            self._record.warn("the SSE transport is deprecated by MCP; use a Streamable HTTP URL if the server has one")
            self._options = replace(self._options, mode="legacy")
            return SseTransport(spec, self._terms())
        return HttpTransport(spec, self._terms())

    def _terms(self) -> TransportTerms:
        """Return the terms of the next transport, whose session is not over."""
        self._record.over = anyio.Event()
        return TransportTerms(
            options=self._options,
            budgets=self._budgets,
            on_lost=self._record.over.set,
            give_up=self._give_up,
            warn=self._record.warn,
        )

    def _give_up(self) -> None:
        self._scope.cancel()

    async def attempt(self, transport: Transport) -> LaunchFailure | None:
        """Open, serve and close the session once."""
        record = self._record
        error = self._error = None
        # Until the end, because a diagnosis may send another request.
        with kept_out_of_logs(self._spec.redactor):
            try:
                with anyio.CancelScope() as self._scope:
                    await self._live(transport)
            # Outside of the scope because on trio, an error at the moment of a cancellation is in one group with it.
            except Exception as caught:  # noqa: BLE001 - whatever it is, it costs this server and no other
                error = caught
            if record.wanted:
                self._failure = self._changed or await self._explain(transport, error or self._error)
                return self._failure
            if self._scope.cancelled_caught:
                record.warn(f"did not end its session within {self._budgets.close:g} s")
            return None

    async def _live(self, transport: Transport) -> None:
        record, budgets = self._record, self._budgets
        self._allow(budgets.connect)
        async with transport.open() as streams, self._noting():
            self._enter("handshake", budgets.handshake)
            protection = Protection(
                server=record.name,
                hide=self._spec.redactor,
                seconds=budgets.validate,
                probe=transport.probe,
                noise=transport.noise,
            )
            async with connected_client(
                streams,
                self._options,
                patience=budgets.call,
                reader=transport.reader,
                protection=protection,
                why=lambda: self._failure,
            ) as client:
                transport.note_initialized()
                record.protocol_version = client.protocol_version
                if info := client.server_info:
                    record.server = {"name": info.name, "version": info.version}
                record.capabilities = client.server_capabilities.model_dump(
                    mode="json", by_alias=True, exclude_none=True
                )
                if lists := (*self._lists, *TOOLS) if self._options.lock else self._lists:
                    self._enter("list", budgets.list)
                    left = max(0.0, self._scope.deadline - anyio.current_time())
                    record.offer = await list_offer(client, lists, seconds=left / 2, warn=record.warn)
                self._changed = self._change()
                if self._changed:
                    return
                self._scope.deadline = math.inf
                record.client = client
                record.ready()
                try:
                    await record.over.wait()
                finally:
                    record.lose()
                if record.wanted:
                    return
                record.enter("close")

    @asynccontextmanager
    async def _noting(self) -> AsyncGenerator[None]:
        """Remember an error in the block, and limit the time for closing the transport after the block."""
        error: Exception | None = None
        try:
            yield
        except Exception as caught:
            error = caught
            raise
        finally:
            # Otherwise the error is a consequence.
            if not self._scope.cancel_called:
                self._error = error
                self._scope.deadline = min(self._scope.deadline, anyio.current_time() + self._budgets.close)

    def _change(self) -> LaunchFailure | None:
        """Return the failure of a server whose tools differ from their lock."""
        record = self._record
        if (lock := self._options.lock) is None:
            return None
        known = lock.servers.get(record.name, {})
        found = list(changes(known, locked(record.offer.tools or (), self._spec.redactor.json)))
        if not found and record.name in lock.servers:
            return None
        message = summary(found, lock, record.name)
        return Diagnosis("changed", message, facts(found, lock)).failure(record.name, stage="list", hide=Redactor())

    def _enter(self, stage: Stage, budget: float) -> None:
        self._record.enter(stage)
        self._allow(budget)

    def _allow(self, seconds: float) -> None:
        # One scope whose deadline moves, because scopes around parts of the opening could not be left in order.
        now = anyio.current_time()
        self._allowed = max(0.0, min(self.deadline - now, seconds))
        self._scope.deadline = now + self._allowed

    def _waited(self) -> float | None:
        """Return the seconds of the budget that was exceeded, if that ended the session."""
        # After a session was ready, only closing it has a deadline, which is not why it ended.
        ready, given_up = self._record.state == "ready", anyio.current_time() < self._scope.deadline
        exceeded = self._scope.cancelled_caught and not (ready or given_up or self._error)
        return self._allowed if exceeded else None

    async def _explain(self, transport: Transport, error: Exception | None) -> LaunchFailure:
        record, spec, waited = self._record, self._spec, self._waited()
        found = await transport.diagnose(waited=waited, answered=server_answered(error))
        found = found or diagnose_session(error, waited=waited)
        if waited is not None:
            if found.code == "timeout" and not round(waited, 1):
                late = f"its time ran out before it could answer; {self._options.phrases.longer}?"
                found = replace(found, message=late, advice=None)
            found = replace(found, facts={**found.facts, "budget": round(waited, 3)})
        return found.failure(record.name, stage=record.stage, hide=spec.redactor).because(error, hide=spec.redactor)
