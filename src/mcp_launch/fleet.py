"""Launch many servers at once. Each succeeds or fails by itself, and all are closed when the block ends."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, get_args
from weakref import WeakSet

import anyio
from pydantic import BaseModel

from acp_bindings._redact import Redactor
from mcp_launch._catalogue import Catalogue, UnknownTool, is_name_of
from mcp_launch._servers.launched import LaunchedServer
from mcp_launch._servers.life import live, read_entry
from mcp_launch._servers.record import Change, Changes, Record, Terms
from mcp_launch.failures import LaunchError, LaunchFailure, NotReady, UnknownServer, UnusableInput
from mcp_launch.options import TOOLS, Budgets, Listing, OptionsFor, Transports, refuse_no_numbers
from mcp_launch.report import Era, Report, ServerReport, ToolReport, TransportName

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from mcp.shared.dispatcher import ProgressFnT
    from mcp_types import CallToolResult, Tool

__all__ = ["Fleet", "Policy", "launch", "report"]


def report(records: Sequence[Record]) -> Report:
    """Return the report of a launch."""
    return Report(ok=all(record.failure is None for record in records), servers=[_server(record) for record in records])


def _server(record: Record) -> ServerReport:
    spec, failure, offer = record.spec, record.failure, record.offer
    hide = spec.redactor if spec else Redactor()
    return ServerReport(
        name=record.name,
        transport=record.transport,
        target=spec.target if spec else None,
        state=record.state,
        stage=record.stage,
        seconds={stage: round(seconds, 3) for stage, seconds in record.times.items()},
        era=_era(record.protocol_version),
        protocol_version=record.protocol_version,
        server=hide.json(record.server),
        capabilities=hide.json(record.capabilities),
        counts=offer.counts,
        tools=None if offer.tools is None else [_tool(tool, hide) for tool in offer.tools],
        restarts=record.restarts,
        warnings=[hide(warning) for warning in record.warnings],
        failure=failure.to_json() if failure else None,
    )


def _tool(tool: Tool, hide: Redactor) -> ToolReport:
    return ToolReport(name=hide(tool.name), description=hide(tool.description) if tool.description else None)


def _era(protocol_version: str | None) -> Era | None:
    if protocol_version is None:
        return None
    # Versions are dates.
    return "2026-07-28" if protocol_version >= "2026-07-28" else "handshake"


Policy: TypeAlias = Literal["best effort", "all"]
"""The effect of a server that does not become ready: with `all` the launch fails, otherwise only the server."""


@asynccontextmanager
async def launch(
    servers: Iterable[object] | None,
    *,
    cwd: str | os.PathLike[str],
    timeout: float = 30.0,
    budgets: Budgets | None = None,
    options: OptionsFor | None = None,
    lists: Collection[Listing] = TOOLS,
    transports: Transports | None = None,
    policy: Policy = "best effort",
    required: Collection[str] = (),
    background: bool = False,
) -> AsyncGenerator[Fleet]:
    """Start all servers at once and yield them when each is ready or has failed, within `timeout` seconds.

    `servers` is the `mcpServers` of an ACP request: models of any protocol version, raw JSON, or both. An entry that
    does not parse is a failed server like any other. All servers are closed when the block ends, also on cancellation.

    Args:
        servers: the entries; None means an empty list.
        cwd: the session's working directory, as an absolute path. Processes are started in it.
        timeout: seconds for all servers together to become ready.
        budgets: seconds for each stage of each server.
        options: further settings: for all servers, by name, or a function of the name.
        lists: what each server must list before it is ready: tools, resources, prompts.
        transports: the transports that the agent advertised to its client, as in `capabilities`. Entries with another
            transport fail. None allows all.
        policy: with `all`, every server must become ready.
        required: names of servers that must become ready.
        background: yield as soon as the required servers are ready, while the others are still starting.

    Raises:
        UnusableInput: an argument is not valid, for example a `cwd` that is not absolute or a negative `timeout`.
        NotReady: a required server did not become ready; `.failures` say why. All servers have been closed.
    """
    if policy not in get_args(Policy):
        raise UnusableInput(f'policy must be "best effort" or "all", not {_quoted(policy)}')
    refuse_no_numbers(timeout=timeout)
    _check_names("lists", lists, known=get_args(Listing))
    _check_names("transports", transports or (), known=get_args(TransportName))
    _check_names("required", required)
    terms = Terms(cwd=_absolute(cwd), budgets=budgets or Budgets(), lists=lists, transports=transports)
    entries = _entries_of(servers)
    async with Fleet(terms, entries, options=options, timeout=timeout) as fleet:
        needed = [server for server in fleet if policy == "all" or server.name in required]
        for server in needed if background else fleet:
            await server.settled()
        absent = [_absent(name) for name in required if name not in fleet]
        if unready := [*absent, *(server.failure for server in needed if server.failure)]:
            raise NotReady(unready, fleet.report)
        yield fleet


class Fleet:
    """The launched servers, in the order of the request. `fleet["name"]` returns one of them."""

    def __init__(self, terms: Terms, entries: Iterable[object], *, options: OptionsFor | None, timeout: float) -> None:
        self._terms = terms
        self._entries = entries
        self._options = options
        self._timeout = timeout
        self._owners: TaskGroup | None = None
        """The tasks of the servers; None unless the fleet is open."""
        self._servers: list[tuple[Record, LaunchedServer]] = []
        self._added = 0
        self._tools: Catalogue | None = None
        """The tools of all servers, including dead ones, whose tools are not unknown; None after a change."""
        # Weak references, because readers do not say when they stop and unread changes would pile up.
        self._readers: WeakSet[Changes] | None = None

    async def __aenter__(self) -> Self:
        self._owners = await anyio.create_task_group().__aenter__()
        try:
            for entry in self._entries:
                self._start(entry, options=self._options, timeout=self._timeout, keeps_twins=True)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        owners, self._owners = self._owners, None
        for record, _ in self._servers:
            record.end()
        try:
            if owners:
                # Without the exception of the block, which the task group would wrap in a group.
                await owners.__aexit__(None, None, None)
        finally:
            # Also if the task group itself is cancelled.
            for reader in self._readers or ():
                reader.end()

    def __repr__(self) -> str:
        return f"<Fleet of {len(self)}>"

    def __getitem__(self, name: str) -> LaunchedServer:
        """Return the first server with this name. A second one is in `servers`, failed as `duplicate_name`.

        Raises:
            UnknownServer: no server has this name; also a KeyError.
        """
        return self._find(name)[1]

    def __contains__(self, name: object) -> bool:
        return any(server.name == name for server in self)

    def __iter__(self) -> Iterator[LaunchedServer]:
        return iter(self.servers)

    def __len__(self) -> int:
        return len(self.servers)

    @property
    def servers(self) -> tuple[LaunchedServer, ...]:
        """All servers, in the order of the request, followed by those that were added."""
        return tuple(server for _, server in self._servers)

    @property
    def failures(self) -> list[LaunchFailure]:
        """The failures, in the order of the servers."""
        return [server.failure for server in self if server.failure]

    @property
    def report(self) -> Report:
        """The current state of every server as JSON, without secrets."""
        return report([record for record, _ in self._servers])

    def changes(self) -> Changes:
        """Return the changes of the servers for one reader: first the current state of each, then every change.

        The iteration ends with the fleet.
        """
        changes = Changes([record.change() for record, _ in self._servers])
        if self._owners is None:
            changes.end()
        if self._readers is None:
            self._readers = WeakSet()
        self._readers.add(changes)
        return changes

    @property
    def catalogue(self) -> Catalogue:
        """The tools of the servers that are ready, as last listed, by names for a model."""
        return Catalogue((server.name, server.tools) for server in self if server.state == "ready")

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        progress: ProgressFnT | None = None,
    ) -> CallToolResult:
        """Call a tool by its name in the catalogue. An error of the tool itself is part of the result.

        Args:
            name: the name in `catalogue`.
            arguments: the arguments of the tool.
            timeout: seconds for the response, instead of the budget for calls.
            progress: called with each progress notification: progress, total and message.

        Raises:
            UnknownTool: no server has this tool; the message can be given to the model.
            LaunchFailure: its server has failed.
            InvalidResult: the result is not valid, or could not be validated; it is in `.result`.
            mcp.MCPError: the server refused the call, or did not respond in time.
        """
        if self._tools is None:
            self._tools = Catalogue((server.name, server.tools) for server in self)
        try:
            entry = self._tools[name]
        except UnknownTool as error:
            named = [server for server in self if is_name_of(server.name, name)]
            failure = named[0].failure if named else None
            starting = any(server.state == "starting" for server in named or (() if error.similar else self))
            raise UnknownTool(name, error.similar, failure, starting=starting) from None
        session = self[entry.server].session
        return await session.call_tool(entry.tool.name, arguments, timeout, progress)

    async def settled(self) -> None:
        """Wait until each server is ready or has failed; use it after a launch with `background`."""
        for server in self.servers:
            await server.settled()

    def add(self, server: object, *, options: OptionsFor | None = None, timeout: float = 30.0) -> LaunchedServer:
        """Start one more server and return it; `await added.ready()` waits for its session.

        Args:
            server: an `McpServer` model of any protocol version, or its raw JSON. If it does not parse, the returned
                server has failed. If its name is taken, it has failed too and is not part of the fleet.
            options: further settings of the server; by default those of the launch.
            timeout: seconds for it to become ready.

        Raises:
            LaunchError: the fleet is closed.
            UnusableInput: `options` are not `Options`, or `timeout` is not a non-negative number.
        """
        refuse_no_numbers(timeout=timeout)
        return self._start(server, options=self._options if options is None else options, timeout=timeout)

    def _start(
        self, entry: object, *, options: OptionsFor | None, timeout: float, keeps_twins: bool = False
    ) -> LaunchedServer:
        """Add a server and start it, if its entry is valid.

        A failed server whose name is taken is only kept with `keeps_twins`, because it would hide the other.
        """
        if self._owners is None:
            raise LaunchError("the fleet is closed; launch another one")
        transports, taken = self._terms.transports, {server.name for server in self}
        record = read_entry(entry, index=self._added, taken=taken, transports=transports, options=options)
        self._added += 1
        server = LaunchedServer(record)
        if record.failure and record.name in taken and not keeps_twins:
            return server
        self._servers.append((record, server))
        record.tell = self._tell
        self._tell(record.change())
        if record.spec is None or record.failure:
            record.gone = True
        else:
            self._owners.start_soon(partial(live, record, record.spec, terms=self._terms, timeout=timeout))
        return server

    async def remove(self, name: str) -> None:
        """Close a server and remove it from the fleet, while the others run.

        Raises:
            UnknownServer: no server has this name; also a KeyError.
        """
        found = self._find(name)
        record, _ = found
        record.end()
        try:
            if not record.gone:
                record.ended = record.ended or anyio.Event()
                await record.ended.wait()
        finally:
            # Another task may have removed it meanwhile.
            self._servers = [each for each in self._servers if each is not found]
            self._tools = None

    def _tell(self, change: Change) -> None:
        self._tools = None
        for reader in self._readers or ():
            reader.add(change)

    def _find(self, name: str) -> tuple[Record, LaunchedServer]:
        for found in self._servers:
            if found[1].name == name:
                return found
        raise UnknownServer(name, [server.name for server in self])


def _entries_of(servers: Iterable[object] | None) -> list[object]:
    # Callers may not use a type checker. Iterating over a model would return its fields.
    given: Any = servers
    if not isinstance(given, Iterable | None) or isinstance(given, str | bytes | Mapping | BaseModel):
        raise UnusableInput(f"mcpServers must be an array of servers, not {type(servers).__name__}")
    return [] if servers is None else list(servers)


def _absolute(cwd: str | os.PathLike[str]) -> str:
    directory = os.fspath(cwd)
    if not os.path.isabs(directory):
        raise UnusableInput(f'cwd must be an absolute path, not "{directory}"')
    return directory


def _check_names(argument: str, names: Collection[str], *, known: Sequence[str] = ()) -> None:
    """Raise if a collection contains an unknown name, or is a string, which would count as one of its characters."""
    if isinstance(names, str):
        raise UnusableInput(f'{argument} must be a collection of names such as {{"{names}"}}, not "{names}"')
    for name in names if known else ():
        if name not in known:
            raise UnusableInput(f"{argument} can only contain {', '.join(known)}, not {_quoted(name)}")


def _quoted(given: object) -> str:
    return f'"{given}"' if isinstance(given, str) else repr(given)


def _absent(name: str) -> LaunchFailure:
    return LaunchFailure(
        "is required, but no server in the request has this name", server=name, stage="spec", code="failed"
    )
