"""Many servers at once: each has its own owner, its own outcome, and an end with the block that launched it."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args
from weakref import WeakSet

import anyio

from mcp_launch.agents.catalogue import Catalogue
from mcp_launch.budgets import Budgets
from mcp_launch.changes import Change, Changes
from mcp_launch.entries import entries_of, read_entry
from mcp_launch.failures import LaunchError, LaunchFailure, NotReady, UnknownServer, UnusableInput
from mcp_launch.life import live
from mcp_launch.options import OptionsFor
from mcp_launch.record import Record
from mcp_launch.report import Report, report
from mcp_launch.server import LaunchedServer
from mcp_launch.terms import TOOLS, Listing, Terms, Transports

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from mcp.shared.dispatcher import ProgressFnT
    from mcp_types import CallToolResult

__all__ = ["Fleet", "Policy", "launch"]

Policy: TypeAlias = Literal["best effort", "all"]
"""Whether the servers that do not become ready cost only themselves, or the launch."""


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

    `servers` is the `mcpServers` of an ACP request: models of any protocol version, or their raw JSON, or both. What
    does not parse is a failed server like any other. All servers are closed when the block ends, also on cancellation.

    Args:
        servers: the entries; None is read as the empty list.
        cwd: the session's working directory, absolute. Processes are started in it.
        timeout: seconds for all of them together to get ready.
        budgets: seconds for each stage of each server.
        options: what else is decided here about the servers: for all, by name, or a function of the name.
        lists: what each server is asked to list before it counts as ready, of tools, resources and prompts.
        transports: those that the agent advertised to its client, `capabilities` tells which: an entry of another one
            is a failure. None takes them all.
        policy: with `all`, every server must become ready.
        required: names of servers that must become ready.
        background: yield as soon as the servers that must become ready are; the others go on starting meanwhile.

    Raises:
        UnusableInput: `cwd` is not absolute, `servers` is no list, `options` are none, there is no such `policy`, or
            a text stands for a collection of names.
        NotReady: a server that must become ready did not; its `.failures` say why. All servers are closed then.
    """
    if policy not in get_args(Policy):
        raise UnusableInput(f'policy must be "best effort" or "all", not "{policy}"')
    _refuse_texts(lists=lists, transports=transports, required=required)
    terms = Terms(cwd=_absolute(cwd), budgets=budgets or Budgets(), lists=lists, transports=transports)
    entries = entries_of(servers)
    error: BaseException | None = None
    fleet = Fleet(terms)
    try:
        async with anyio.create_task_group() as owners:
            try:
                fleet.begin(owners)
                for entry in entries:
                    fleet.add(entry, options=options, timeout=timeout)
                needed = [server for server in fleet if policy == "all" or server.name in required]
                for server in needed if background else fleet:
                    await server.settled()
                absent = [_absent(name) for name in required if name not in fleet]
                if unready := [*absent, *(server.failure for server in needed if server.failure)]:
                    raise NotReady(unready, fleet.report)
                yield fleet
            except BaseException as caught:  # noqa: BLE001 - kept out of the task group, which would wrap it in a group
                error = caught
            finally:
                fleet.end()
    finally:
        # Also when it is the group that is cancelled, which raises that itself.
        fleet.ended()
    if error is not None:
        raise error


class Fleet:
    """The launched servers, in the order of the request; `fleet["name"]` is one of them."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._owners: TaskGroup | None = None
        self._servers: list[tuple[Record, LaunchedServer]] = []
        self._added = 0
        self._known: Catalogue | None = None
        """All tools, until something changes."""
        # Weakly, because nobody says when he stops reading, and what he does not read would pile up.
        self._readers: WeakSet[Changes] = WeakSet()

    def __repr__(self) -> str:
        return f"<Fleet of {len(self)}>"

    def __getitem__(self, name: str) -> LaunchedServer:
        """The first server of that name; a second one is a failed `duplicate_name` in `servers`.

        Raises:
            UnknownServer: there is none, which is a KeyError too.
        """
        return self._named(name)[1]

    def __contains__(self, name: object) -> bool:
        return any(server.name == name for server in self)

    def __iter__(self) -> Iterator[LaunchedServer]:
        return iter(self.servers)

    def __len__(self) -> int:
        return len(self._servers)

    @property
    def servers(self) -> tuple[LaunchedServer, ...]:
        """All of them, in the order of the request, then those that were added."""
        return tuple(server for _, server in self._servers)

    @property
    def failures(self) -> list[LaunchFailure]:
        """The failures there are, in the order of the servers."""
        return [server.failure for server in self if server.failure]

    @property
    def report(self) -> Report:
        """What happened to every server so far: JSON, and nothing secret in it."""
        return report([record for record, _ in self._servers])

    def changes(self) -> Changes:
        """What happens to the servers, for one reader: first how it is with each of them now, then what changes.

        It ends with the fleet.
        """
        changes = Changes([record.change() for record, _ in self._servers])
        if self._owners is None:
            changes.end()
        self._readers.add(changes)
        return changes

    @property
    def catalogue(self) -> Catalogue:
        """The tools of the servers that are ready, by names for a model; as they were when last listed."""
        return Catalogue((server.name, server.tools) for server in self if server.state == "ready")

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        progress: ProgressFnT | None = None,
    ) -> CallToolResult:
        """Call a tool by its name in the catalogue; one that itself fails says so in the result.

        Args:
            name: as in `catalogue`.
            arguments: those of the tool.
            timeout: seconds until it must have answered, instead of what the budgets say of calls.
            progress: takes what the tool tells of its progress: how far, of how much, and a message.

        Raises:
            UnknownTool: no server has such a tool; the message can be given to the model.
            LaunchFailure: its server has failed meanwhile.
            mcp.MCPError: the server refused the call, or did not answer in time.
        """
        if self._known is None:
            # Also the tools of servers that died: that is another answer than that there is no such tool.
            self._known = Catalogue((server.name, server.tools) for server in self)
        entry = self._known[name]
        session = self[entry.server].session
        return await session.call_tool(entry.tool.name, arguments, timeout, progress)

    async def settled(self) -> None:
        """Wait until each server is ready or has failed: for those that start in the background."""
        for server in self.servers:
            await server.settled()

    def add(self, server: object, *, options: OptionsFor | None = None, timeout: float = 30.0) -> LaunchedServer:
        """One more server, which starts while the others run; `await added.ready()` waits for its session.

        Args:
            server: an `McpServer` model of any protocol version, or its raw JSON. What does not parse, or has the name
                of another, is a failed server.
            options: what else is decided here about it.
            timeout: seconds for it to get ready.

        Raises:
            LaunchError: the fleet has ended.
            UnusableInput: `options` are none.
        """
        if self._owners is None:
            raise LaunchError("the fleet has ended; launch another one")
        transports, taken = self._terms.transports, {each.name for each in self}
        record = read_entry(server, index=self._added, taken=taken, transports=transports, options=options)
        self._added += 1
        added = LaunchedServer(record)
        self._servers.append((record, added))
        record.tell = self._tell
        self._tell(record.change())
        if record.spec is None or record.failure:
            record.ended.set()
        else:
            self._owners.start_soon(partial(live, record, record.spec, terms=self._terms, timeout=timeout))
        return added

    async def remove(self, name: str) -> None:
        """Close a server, while the others run, and forget it.

        Raises:
            UnknownServer: there is none of that name, which is a KeyError too.
        """
        named = self._named(name)
        record = named[0]
        record.end()
        try:
            await record.ended.wait()
        finally:
            # Somebody else may have taken it out meanwhile.
            self._servers = [each for each in self._servers if each is not named]
            self._known = None

    def begin(self, owners: TaskGroup) -> None:
        """Servers can be added from now on, and their owners are tasks of that group."""
        self._owners = owners

    def end(self) -> None:
        """Close all servers; the group of their owners ends with them."""
        self._owners = None
        for record, _ in self._servers:
            record.end()

    def ended(self) -> None:
        """There is nothing more to tell."""
        for reader in self._readers:
            reader.end()

    def _tell(self, change: Change) -> None:
        self._known = None
        for reader in self._readers:
            reader.add(change)

    def _named(self, name: str) -> tuple[Record, LaunchedServer]:
        for named in self._servers:
            if named[0].name == name:
                return named
        raise UnknownServer(name, [server.name for server in self])


def _absolute(cwd: str | os.PathLike[str]) -> str:
    directory = os.fspath(cwd)
    if not os.path.isabs(directory):
        raise UnusableInput(f'cwd must be an absolute path, not "{directory}"')
    return directory


def _refuse_texts(**collections: Collection[str] | None) -> None:
    """A text is a collection of texts too, of its characters, which nobody means."""
    for argument, names in collections.items():
        if isinstance(names, str):
            raise UnusableInput(f'{argument} must be a collection of names such as {{"{names}"}}, not "{names}"')


def _absent(name: str) -> LaunchFailure:
    return LaunchFailure(
        "is required, and no server of the request has this name", server=name, stage="spec", code="failed"
    )
