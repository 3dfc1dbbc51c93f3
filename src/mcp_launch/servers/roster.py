"""The servers of one launch, the tasks of their owners, and who is told of them; a fleet is what users see of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakSet

import anyio

from mcp_launch.agents.catalogue import Catalogue
from mcp_launch.changes import Change, Changes
from mcp_launch.failures import LaunchError, UnknownServer
from mcp_launch.options import OptionsFor
from mcp_launch.servers.entries import read_entry
from mcp_launch.servers.launched import LaunchedServer
from mcp_launch.servers.life import live
from mcp_launch.servers.record import Record
from mcp_launch.terms import Terms

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

__all__ = ["Roster"]


class Roster:
    """Servers can be added and removed while it is open; at its end all are closed."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._owners: TaskGroup | None = None
        """There while it is open."""
        self._servers: list[tuple[Record, LaunchedServer]] = []
        self._added = 0
        self._tools: Catalogue | None = None
        """All tools, until something changes."""
        # Weakly, because nobody says when he stops reading, and what he does not read would pile up.
        self._readers: WeakSet[Changes] = WeakSet()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """A block at whose end all servers are closed; what is raised in it is raised as it is."""
        error: BaseException | None = None
        try:
            async with anyio.create_task_group() as owners:
                try:
                    self._owners = owners
                    yield
                except BaseException as caught:  # noqa: BLE001 - kept out of the task group, which would wrap it in a group
                    error = caught
                finally:
                    self._owners = None
                    for record in self.records:
                        record.end()
        finally:
            # Also when it is the group that is cancelled, which raises that itself.
            for reader in self._readers:
                reader.end()
        if error is not None:
            raise error

    @property
    def servers(self) -> tuple[LaunchedServer, ...]:
        """All of them, in the order in which they were added."""
        return tuple(server for _, server in self._servers)

    @property
    def records(self) -> list[Record]:
        """What is known of each."""
        return [record for record, _ in self._servers]

    @property
    def tools(self) -> Catalogue:
        """All tools, also of servers that died: that is another answer than that there is no such tool."""
        if self._tools is None:
            self._tools = Catalogue((server.name, server.tools) for server in self.servers)
        return self._tools

    def named(self, name: str) -> LaunchedServer:
        """The first server of that name.

        Raises:
            UnknownServer: there is none.
        """
        return self._find(name)[1]

    def add(
        self, entry: object, *, options: OptionsFor | None, timeout: float, keeps_twins: bool = False
    ) -> LaunchedServer:
        """One more server, which begins to live if it can be used.

        What fails under a name that is taken is only kept if `keeps_twins`: it would stand in the way of the other.

        Raises:
            LaunchError: it is not open any more.
            UnusableInput: `options` are none.
        """
        if self._owners is None:
            raise LaunchError("the fleet has ended; launch another one")
        transports, taken = self._terms.transports, {record.name for record in self.records}
        record = read_entry(entry, index=self._added, taken=taken, transports=transports, options=options)
        self._added += 1
        server = LaunchedServer(record)
        if record.failure and record.name in taken and not keeps_twins:
            return server
        self._servers.append((record, server))
        record.tell = self._tell
        self._tell(record.change())
        if record.spec is None or record.failure:
            record.ended.set()
        else:
            self._owners.start_soon(partial(live, record, record.spec, terms=self._terms, timeout=timeout))
        return server

    async def remove(self, name: str) -> None:
        """Close a server and forget it.

        Raises:
            UnknownServer: there is none of that name.
        """
        found = self._find(name)
        record, _ = found
        record.end()
        try:
            await record.ended.wait()
        finally:
            # Somebody else may have taken it out meanwhile.
            self._servers = [each for each in self._servers if each is not found]
            self._tools = None

    def changes(self) -> Changes:
        """How it is with each of them now, then what changes, until the end."""
        changes = Changes([record.change() for record in self.records])
        if self._owners is None:
            changes.end()
        self._readers.add(changes)
        return changes

    def _tell(self, change: Change) -> None:
        self._tools = None
        for reader in self._readers:
            reader.add(change)

    def _find(self, name: str) -> tuple[Record, LaunchedServer]:
        for found in self._servers:
            if found[0].name == name:
                return found
        raise UnknownServer(name, [record.name for record in self.records])
