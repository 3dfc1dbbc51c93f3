"""The life of one server: spawned or connected to, served until it is over, and given another if it may have one."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from acp_bindings._processes.process import ChildProcess
from mcp_launch.failures import LaunchFailure
from mcp_launch.processes.spawn import spawn
from mcp_launch.restart import Restart
from mcp_launch.servers.record import Record
from mcp_launch.specs import ServerSpec, StdioServer
from mcp_launch.terms import Terms

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["import_sdk", "live"]


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
    _owner = importlib.import_module("mcp_launch.servers.owner")
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
