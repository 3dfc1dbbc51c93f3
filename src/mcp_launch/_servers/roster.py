"""Add servers to a fleet, keep each running or restart it, and close them all."""

from __future__ import annotations

import importlib
from collections.abc import AsyncGenerator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import anyio
import anyio.to_thread
from pydantic import BaseModel

from acp_bindings._processes.process import ChildProcess
from mcp_launch._catalogue import Catalogue
from mcp_launch._servers.launched import LaunchedServer
from mcp_launch._servers.record import Change, Changes, Record, Terms
from mcp_launch._spawn import spawn
from mcp_launch._spec import ServerSpec, SseServer, StdioServer, parse_server, transport_meant
from mcp_launch.failures import OF_ACP, LaunchError, LaunchFailure, UnknownServer, UnusableInput
from mcp_launch.options import Options, OptionsFor, Restart, Transports, options_for

if TYPE_CHECKING:
    from types import ModuleType

    from anyio.abc import TaskGroup


def entries_of(servers: Iterable[object] | None) -> list[object]:
    """Return the entries of `mcpServers`; null means an empty list.

    Raises:
        UnusableInput: it is not a list.
    """
    # Callers may not use a type checker. Iterating over a model would return its fields.
    given: Any = servers
    if not isinstance(given, Iterable | None) or isinstance(given, str | bytes | Mapping | BaseModel):
        raise UnusableInput(f"mcpServers must be an array of servers, not {type(servers).__name__}")
    return [] if servers is None else list(servers)


def read_entry(
    entry: object,
    *,
    index: int,
    taken: Collection[str],
    transports: Transports | None,
    options: OptionsFor | None,
) -> Record:
    """Return the record of one entry, which has already failed if the entry is not valid.

    *index*, its position in the request, names an entry without a name. stdio is allowed whatever *transports* has.
    """
    # Options by name may not have an item for an invalid entry.
    phrases = options.phrases if isinstance(options, Options) else OF_ACP
    try:
        spec = parse_server(entry, index=index, phrases=phrases)
    except LaunchFailure as failure:
        record = Record(name=failure.server, spec=None, meant=transport_meant(entry))
        record.fail(failure)
        return record
    own = options_for(spec.name, options)
    spec = replace(spec, secrets=tuple(own.secrets))
    record = Record(name=spec.name, spec=spec, options=own)
    if spec.name in taken:
        message = "another server has the same name; names must differ"
        record.fail(LaunchFailure(message, server=spec.name, stage="spec", code="duplicate_name"))
    elif transports is not None and spec.transport not in {"stdio", *transports}:
        message = f'the agent did not advertise support for "{spec.transport}" servers; use another transport'
        facts = {"type": spec.transport}
        record.fail(LaunchFailure(message, server=spec.name, stage="spec", code="unsupported_transport", facts=facts))
    elif isinstance(spec, SseServer):
        record.warn("the SSE transport is deprecated by MCP; use a Streamable HTTP URL if the server has one")
    return record


async def live(record: Record, spec: ServerSpec, *, terms: Terms, timeout: float) -> None:
    """Open the server within `timeout` seconds, serve it until it is to be closed, and close it completely.

    The outcome is in the record; nothing is raised.
    """
    try:
        with record.scope:
            await _live_once(record, spec, terms=terms, timeout=timeout)
            if record.options.restart:
                await _live_again(record, spec, record.options.restart, terms=terms, timeout=timeout)
    except Exception as error:  # noqa: BLE001 - whatever it is, it costs this server and no other
        # On trio, an error at the moment of a cancellation is in one group with it, and does not count.
        if record.wanted and record.failure is None:
            record.fail(_unknown(record, spec, error))
    record.close()


async def _live_again(record: Record, spec: ServerSpec, restart: Restart, *, terms: Terms, timeout: float) -> None:
    tried = 0
    # A server that has never been ready is not restarted.
    worked = record.stage in ("call", "close")
    while record.wanted and worked:
        if record.stage == "call" and anyio.current_time() - record.stage_began >= restart.longest:
            tried = 0
        wait = restart.wait(tried)
        if wait is None:
            return
        tried += 1
        record.over = anyio.Event()
        with anyio.move_on_after(wait):
            await record.over.wait()
        # Read from the record, because it may have been ended at the same moment as the wait.
        if not record.wanted:
            return
        record.start_again()
        await _live_once(record, spec, terms=terms, timeout=timeout)


async def _live_once(record: Record, spec: ServerSpec, *, terms: Terms, timeout: float) -> None:
    process: ChildProcess | None = None
    try:
        deadline = anyio.current_time() + timeout
        if isinstance(spec, StdioServer):
            record.enter("spawn")
            process, warning = await spawn(
                spec, cwd=terms.cwd, strict=record.options.strict, phrases=record.options.phrases
            )
            if warning:
                record.warn(warning)
            record.enter("handshake")
            owner = await _sdk(terms)
            await owner.serve_stdio(record, spec, process, terms=terms, deadline=deadline)
        else:
            record.enter("connect")
            owner = await _sdk(terms)
            await owner.serve_web(record, spec, terms=terms, deadline=deadline)
    except LaunchFailure as failure:
        record.fail(failure)
    except Exception as error:  # noqa: BLE001 - whatever it is, it costs this server and no other
        record.fail(_unknown(record, spec, error))
    finally:
        if process is not None:
            await process.stop(patience=0)


def _unknown(record: Record, spec: ServerSpec, error: Exception) -> LaunchFailure:
    """Return the failure for an unexpected exception."""
    message = f"failed unexpectedly ({type(error).__name__})"
    failure = LaunchFailure(message, server=record.name, stage=record.stage, code="failed")
    return failure.because(error, hide=spec.redactor)


_owner: ModuleType | None = None


def import_sdk() -> ModuleType:
    """Import and return the module that needs the SDK, which takes a second the first time."""
    global _owner  # noqa: PLW0603 - a thread that finds it imported costs as much as the rest of a server's start here
    _owner = importlib.import_module("mcp_launch._servers.owner")
    return _owner


async def _sdk(terms: Terms) -> ModuleType:
    """Return the same module, imported in a thread once for all servers, while their processes start."""
    owner = _owner
    if owner is None:
        async with terms.importing:
            owner = _owner
            if owner is None:
                owner = await anyio.to_thread.run_sync(import_sdk)
    return owner


class Roster:
    """The servers of a fleet. They can be added and removed while it is open, and are closed with it."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._owners: TaskGroup | None = None
        """The tasks of the servers; None unless the roster is open."""
        self._servers: list[tuple[Record, LaunchedServer]] = []
        self._added = 0
        self._tools: Catalogue | None = None
        """The tools of all servers; None after a change."""
        # Weak references, because readers do not say when they stop and unread changes would pile up.
        self._readers: WeakSet[Changes] | None = None

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Close all servers when the block ends; exceptions of the block are not wrapped in a group."""
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
            # Also if the task group itself is cancelled.
            for reader in self._readers or ():
                reader.end()
        if error is not None:
            raise error

    @property
    def servers(self) -> tuple[LaunchedServer, ...]:
        """The servers, in the order in which they were added."""
        return tuple(server for _, server in self._servers)

    @property
    def records(self) -> list[Record]:
        """The records of the servers."""
        return [record for record, _ in self._servers]

    @property
    def tools(self) -> Catalogue:
        """The tools of all servers, including dead ones, whose tools are not unknown."""
        if self._tools is None:
            self._tools = Catalogue((server.name, server.tools) for server in self.servers)
        return self._tools

    def named(self, name: str) -> LaunchedServer:
        """Return the first server with this name."""
        return self._find(name)[1]

    def add(
        self, entry: object, *, options: OptionsFor | None, timeout: float, keeps_twins: bool = False
    ) -> LaunchedServer:
        """Add a server and start it, if its entry is valid.

        A failed server whose name is taken is only kept with `keeps_twins`, because it would hide the other.
        """
        if self._owners is None:
            raise LaunchError("the fleet is closed; launch another one")
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
            record.gone = True
        else:
            self._owners.start_soon(partial(live, record, record.spec, terms=self._terms, timeout=timeout))
        return server

    async def remove(self, name: str) -> None:
        """Close a server and remove it."""
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

    def changes(self) -> Changes:
        """Return the current state of each server, followed by every change until the end."""
        changes = Changes([record.change() for record in self.records])
        if self._owners is None:
            changes.end()
        if self._readers is None:
            self._readers = WeakSet()
        self._readers.add(changes)
        return changes

    def _tell(self, change: Change) -> None:
        self._tools = None
        for reader in self._readers or ():
            reader.add(change)

    def _find(self, name: str) -> tuple[Record, LaunchedServer]:
        for found in self._servers:
            if found[0].name == name:
                return found
        raise UnknownServer(name, [record.name for record in self.records])
