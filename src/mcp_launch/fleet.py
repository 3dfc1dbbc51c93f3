"""Many servers at once: each has its own owner, its own outcome, and an end with the block that launched it."""

from __future__ import annotations

import contextlib
import importlib
import os
import warnings
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from mcp_launch.budgets import Budgets
from mcp_launch.failures import LaunchFailure, UnusableInput
from mcp_launch.options import OptionsFor, options_for
from mcp_launch.process import ServerProcess, spawn
from mcp_launch.record import Record, State
from mcp_launch.report import Report, report
from mcp_launch.specs import ServerSpec, SseServer, StdioServer, parse_server

if TYPE_CHECKING:
    from types import ModuleType

    from mcp import Client
    from mcp_types import Tool

__all__ = ["Fleet", "LaunchedServer", "launch"]


@asynccontextmanager
async def launch(
    servers: Iterable[Any] | None,
    *,
    cwd: str | os.PathLike[str],
    timeout: float = 30.0,
    budgets: Budgets | None = None,
    options: OptionsFor | None = None,
    list_tools: bool = True,
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
        list_tools: list the tools of each server before it counts as ready.

    Raises:
        UnusableInput: `cwd` is not absolute, `servers` is no list, or `options` are none.
    """
    directory = _absolute(cwd)
    records = _records(servers, options)
    fleet = Fleet(records)
    deadline = anyio.current_time() + timeout
    limits = budgets or Budgets()
    error: BaseException | None = None
    async with anyio.create_task_group() as owners:
        try:
            for record in records:
                if record.spec is not None and record.failure is None:
                    own = partial(_own, cwd=directory, budgets=limits, deadline=deadline, list_tools=list_tools)
                    owners.start_soon(own, record, record.spec)
            for record in records:
                await record.settled.wait()
            yield fleet
        except BaseException as caught:  # noqa: BLE001 - kept out of the task group, which would wrap it in a group
            error = caught
        finally:
            for record in records:
                record.end()
    if error is not None:
        raise error


class LaunchedServer:
    """One server of a fleet: its session, or why it has none."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def __repr__(self) -> str:
        return f"<LaunchedServer {self.name!r} {self.state}>"

    @property
    def name(self) -> str:
        """Its name in the request, or its place there when it has none."""
        return self._record.name

    @property
    def transport(self) -> str | None:
        """`stdio`, `http` or `sse`; None for an entry that did not parse."""
        return self._record.spec.transport if self._record.spec else None

    @property
    def state(self) -> State:
        """`starting`, `ready`, `failed` or `closed`."""
        return self._record.state

    @property
    def session(self) -> Client:
        """The live session: the SDK's own `mcp.Client`.

        Raises:
            LaunchFailure: it has none; the same as `failure`.
        """
        if self._record.client is not None:
            return self._record.client
        if self._record.failure is not None:
            # Without what earlier raises left on it.
            raise self._record.failure.with_traceback(None)
        raise LaunchFailure(
            f"has no session, it is {self.state}", server=self.name, stage=self._record.stage, code="failed"
        )

    @property
    def failure(self) -> LaunchFailure | None:
        """Why it cannot be used, or None. A server that dies later gets its failure then."""
        return self._record.failure

    @property
    def tools(self) -> list[Tool]:
        """Its tools as listed at the start; empty when they were not."""
        return list(self._record.tools or ())

    @property
    def warnings(self) -> list[str]:
        """What the user should know although it works."""
        return list(self._record.warnings)


class Fleet:
    """The launched servers, in the order of the request; `fleet["name"]` is one of them."""

    def __init__(self, records: list[Record]) -> None:
        self._records = records
        self.servers = tuple(LaunchedServer(record) for record in records)

    def __repr__(self) -> str:
        return f"<Fleet of {len(self.servers)}>"

    def __getitem__(self, name: str) -> LaunchedServer:
        """The first server of that name; a second one is a failed `duplicate_name` in `servers`."""
        for server in self.servers:
            if server.name == name:
                return server
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(server.name == name for server in self.servers)

    def __iter__(self) -> Iterator[LaunchedServer]:
        return iter(self.servers)

    def __len__(self) -> int:
        return len(self.servers)

    @property
    def failures(self) -> list[LaunchFailure]:
        """The failures there are, in the order of the request."""
        return [record.failure for record in self._records if record.failure]

    @property
    def report(self) -> Report:
        """What happened to every server so far: JSON, and nothing secret in it."""
        return report(self._records)


def _absolute(cwd: str | os.PathLike[str]) -> str:
    directory = os.fspath(cwd)
    if not os.path.isabs(directory):
        raise UnusableInput(f'cwd must be an absolute path, not "{directory}"')
    return directory


def _records(servers: Iterable[Any] | None, options: OptionsFor | None) -> list[Record]:
    if isinstance(servers, str | bytes | Mapping):
        raise UnusableInput("mcpServers must be an array of servers, not a text or a map")
    records: list[Record] = []
    taken: set[str] = set()
    for index, server in enumerate(servers or ()):
        try:
            spec = parse_server(server, index=index)
        except LaunchFailure as failure:
            record = Record(name=failure.server, spec=None)
            record.fail(failure)
        else:
            record = Record(name=spec.name, spec=spec, options=options_for(spec.name, options))
            if spec.name in taken:
                message = "another server of this request has the same name; names must differ"
                record.fail(LaunchFailure(message, server=spec.name, stage="spec", code="duplicate_name"))
            elif isinstance(spec, SseServer):
                record.warn("the SSE transport is deprecated by MCP; ask for a Streamable HTTP url")
                # Where warnings are errors, what a client sends must not decide whether anything is launched.
                with contextlib.suppress(DeprecationWarning):
                    message = f"{spec.name}: the SSE transport is deprecated by MCP"
                    warnings.warn(message, DeprecationWarning, stacklevel=4)
        taken.add(record.name)
        records.append(record)
    return records


async def _own(
    record: Record, spec: ServerSpec, *, cwd: str, budgets: Budgets, deadline: float, list_tools: bool
) -> None:
    process: ServerProcess | None = None
    with record.scope:
        try:
            if isinstance(spec, StdioServer):
                record.enter("spawn")
                process, warning = await spawn(spec, cwd=cwd)
                if warning:
                    record.warn(warning)
                record.enter("handshake")
            else:
                record.enter("connect")
            owner = await _sdk()
            await owner.serve(record, spec, process, cwd=cwd, budgets=budgets, deadline=deadline, list_tools=list_tools)
        except LaunchFailure as failure:
            record.fail(failure)
        except Exception as error:  # noqa: BLE001 - whatever it is, it costs this server and no other
            message = f"could not be served ({type(error).__name__})"
            unknown = LaunchFailure(message, server=record.name, stage=record.stage, code="failed")
            record.fail(unknown.because(error, hide=spec.redactor))
        finally:
            if process is not None:
                await process.stop(patience=0)
    record.close()


async def _sdk() -> ModuleType:
    """The part of this package that needs the SDK.

    Importing that takes a second, which is spent in a thread: meanwhile the servers that were spawned get going.
    """
    return await anyio.to_thread.run_sync(importlib.import_module, "mcp_launch.owner")
