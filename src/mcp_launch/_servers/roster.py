"""The entries of a request, read: each is the beginning of a server, or of its failure."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import warnings
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
from mcp_launch.failures import LaunchError, LaunchFailure, UnknownServer, UnusableInput, Wording
from mcp_launch.options import Options, OptionsFor, Restart, Transports, options_for

if TYPE_CHECKING:
    from types import ModuleType

    from anyio.abc import TaskGroup


def entries_of(servers: Iterable[object] | None) -> list[object]:
    """The entries of an `mcpServers`; null reads as none.

    Raises:
        UnusableInput: it is no list.
    """
    # What comes from outside is what it is, whatever its type says; of a model, iterating would give the fields.
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
    """The record of one entry; one that cannot be used has failed already.

    Args:
        entry: a model of any protocol version, or raw JSON.
        index: its place in the request, by which one without a name is called.
        taken: the names of the servers there are.
        transports: what the agent advertised; stdio needs no advertising.
        options: those of all servers, or by name.
    """
    # Options by name may have none for an entry that is broken.
    wording = options.wording if isinstance(options, Options) else Wording()
    try:
        spec = parse_server(entry, index=index, wording=wording)
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
        record.fail(_not_advertised(spec))
    elif isinstance(spec, SseServer):
        _deprecate(record)
    return record


def _not_advertised(spec: ServerSpec) -> LaunchFailure:
    message = f'the agent did not say that it can connect to "{spec.transport}" servers; use another transport'
    facts = {"type": spec.transport}
    return LaunchFailure(message, server=spec.name, stage="spec", code="unsupported_transport", facts=facts)


def _deprecate(record: Record) -> None:
    record.warn("the SSE transport is deprecated by MCP; ask for a Streamable HTTP url")
    # Where warnings are errors, what a client sends must not decide whether anything is launched.
    with contextlib.suppress(DeprecationWarning):
        warnings.warn(f"{record.name}: the SSE transport is deprecated by MCP", DeprecationWarning, _caller())


def _caller() -> int:
    """The stack level of who called this package, as `warnings.warn` counts in the function that asks."""
    level, frame = 0, inspect.currentframe()
    # A launch is entered by contextlib. From Python 3.12 on, warnings.warn could skip both by itself.
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in ("mcp_launch", "contextlib"):
        level, frame = level + 1, frame.f_back
    return level


async def live(record: Record, spec: ServerSpec, *, terms: Terms, timeout: float) -> None:
    """Open the server within `timeout` seconds, keep it until it is no longer wanted, and leave nothing of it.

    How that goes is in the record; nothing is raised.
    """
    try:
        with record.scope:
            await _live_once(record, spec, terms=terms, timeout=timeout)
            if record.options.restart:
                await _live_again(record, spec, record.options.restart, terms=terms, timeout=timeout)
    except Exception as error:  # noqa: BLE001 - whatever it is, it costs this server and no other
        # What fails at the moment of a cancellation is in one group with it, on trio, and nobody asks for it any more.
        if record.wanted and record.failure is None:
            record.fail(_unknown(record, spec, error))
    record.close()


async def _live_again(record: Record, spec: ServerSpec, restart: Restart, *, terms: Terms, timeout: float) -> None:
    tried = 0
    # One that has never been ready does not die: it does not work.
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
        # Asked of the record, since it may have been ended in the very moment in which the wait was over.
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
            process, warning = await spawn(spec, cwd=terms.cwd, strict=record.options.strict)
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
    """A failure that nobody foresaw."""
    message = f"could not be served ({type(error).__name__})"
    failure = LaunchFailure(message, server=record.name, stage=record.stage, code="failed")
    return failure.because(error, hide=spec.redactor)


_owner: ModuleType | None = None


def import_sdk() -> ModuleType:
    """The part of this package that needs the SDK, which takes a second to import the first time."""
    global _owner  # noqa: PLW0603 - a thread that finds it imported costs as much as the rest of a server's start here
    _owner = importlib.import_module("mcp_launch._servers.owner")
    return _owner


async def _sdk(terms: Terms) -> ModuleType:
    """The same, imported in a thread, one for all: meanwhile the servers that were spawned get going."""
    owner = _owner
    if owner is None:
        async with terms.importing:
            owner = _owner
            if owner is None:
                owner = await anyio.to_thread.run_sync(import_sdk)
    return owner


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
