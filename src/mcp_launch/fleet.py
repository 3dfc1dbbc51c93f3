"""Launch many servers at once. Each succeeds or fails by itself, and all are closed when the block ends."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from acp_bindings._redact import Redactor
from mcp_launch._catalogue import Catalogue, UnknownTool, is_name_of
from mcp_launch._servers.launched import LaunchedServer
from mcp_launch._servers.record import Changes, Record, Terms
from mcp_launch._servers.roster import Roster, entries_of
from mcp_launch.failures import LaunchFailure, NotReady, UnusableInput
from mcp_launch.options import TOOLS, Budgets, Listing, OptionsFor, Transports, refuse_no_numbers
from mcp_launch.report import Era, Report, ServerReport, ToolReport, TransportName

if TYPE_CHECKING:
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
    entries = entries_of(servers)
    roster = Roster(terms)
    async with roster.open():
        for entry in entries:
            roster.add(entry, options=options, timeout=timeout, keeps_twins=True)
        fleet = Fleet(roster)
        needed = [server for server in fleet if policy == "all" or server.name in required]
        for server in needed if background else fleet:
            await server.settled()
        absent = [_absent(name) for name in required if name not in fleet]
        if unready := [*absent, *(server.failure for server in needed if server.failure)]:
            raise NotReady(unready, fleet.report)
        yield fleet


class Fleet:
    """The launched servers, in the order of the request. `fleet["name"]` returns one of them."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster

    def __repr__(self) -> str:
        return f"<Fleet of {len(self)}>"

    def __getitem__(self, name: str) -> LaunchedServer:
        """Return the first server with this name. A second one is in `servers`, failed as `duplicate_name`.

        Raises:
            UnknownServer: no server has this name; also a KeyError.
        """
        return self._roster.named(name)

    def __contains__(self, name: object) -> bool:
        return any(server.name == name for server in self)

    def __iter__(self) -> Iterator[LaunchedServer]:
        return iter(self.servers)

    def __len__(self) -> int:
        return len(self.servers)

    @property
    def servers(self) -> tuple[LaunchedServer, ...]:
        """All servers, in the order of the request, followed by those that were added."""
        return self._roster.servers

    @property
    def failures(self) -> list[LaunchFailure]:
        """The failures, in the order of the servers."""
        return [server.failure for server in self if server.failure]

    @property
    def report(self) -> Report:
        """The current state of every server as JSON, without secrets."""
        return report(self._roster.records)

    def changes(self) -> Changes:
        """Return the changes of the servers for one reader: first the current state of each, then every change.

        The iteration ends with the fleet.
        """
        return self._roster.changes()

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
        try:
            entry = self._roster.tools[name]
        except UnknownTool as error:
            failure = next((server.failure for server in self if is_name_of(server.name, name)), None)
            raise UnknownTool(name, error.similar, failure) from None
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
            options: further settings of the server.
            timeout: seconds for it to become ready.

        Raises:
            LaunchError: the fleet is closed.
            UnusableInput: `options` are not `Options`, or `timeout` is not a non-negative number.
        """
        refuse_no_numbers(timeout=timeout)
        return self._roster.add(server, options=options, timeout=timeout)

    async def remove(self, name: str) -> None:
        """Close a server and remove it from the fleet, while the others run.

        Raises:
            UnknownServer: no server has this name; also a KeyError.
        """
        await self._roster.remove(name)


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
