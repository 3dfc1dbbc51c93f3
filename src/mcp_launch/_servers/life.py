"""Read the entry of a server, keep the server running or restart it, and close it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from acp_bindings._processes.process import ChildProcess
from mcp_launch._servers.record import Record, Terms
from mcp_launch._spawn import FEWER, spawn
from mcp_launch._spec import ServerSpec, StdioServer, parse_server, transport_meant
from mcp_launch.failures import OF_ACP, LaunchFailure
from mcp_launch.options import Options, OptionsFor, Restart, Transports, options_for

if TYPE_CHECKING:
    from types import ModuleType


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
        # Tools that differ from their lock are not a crash, so they stay refused.
        if wait is None or (record.failure and record.failure.code == "changed"):
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
        if isinstance(spec, StdioServer):
            record.enter("spawn")
            process, warning = await spawn(
                spec, cwd=terms.cwd, strict=record.options.strict, phrases=record.options.phrases
            )
            if warning:
                record.warn(warning)
            record.enter("handshake")
            owner = await _sdk(terms)
            # The time begins after the import, which is not the server's work.
            await owner.serve_stdio(record, spec, process, terms=terms, deadline=anyio.current_time() + timeout)
        else:
            record.enter("connect")
            owner = await _sdk(terms)
            await owner.serve_web(record, spec, terms=terms, deadline=anyio.current_time() + timeout)
    except LaunchFailure as failure:
        record.fail(failure)
    except Exception as error:  # noqa: BLE001 - whatever it is, it costs this server and no other
        record.fail(_unknown(record, spec, error))
    finally:
        if process is not None:
            await process.stop(patience=0)


def _unknown(record: Record, spec: ServerSpec, error: Exception) -> LaunchFailure:
    """Return the failure for an unexpected exception."""
    missing = f": {error.name}" if isinstance(error, ModuleNotFoundError) else ""
    message = f"failed unexpectedly ({type(error).__name__}{missing})"
    advice: str | None = None
    # It has no type of its own. Limits for processes count threads as well.
    if str(error) == "can't start new thread":
        message, advice = "the system cannot start another thread", FEWER
    failure = LaunchFailure(message, server=record.name, stage=record.stage, code="failed", advice=advice)
    return failure.because(error, hide=spec.redactor)


_owner: ModuleType | None = None


def import_sdk() -> ModuleType:
    """Import and return the module that needs the SDK, which takes a second the first time."""
    global _owner  # noqa: PLW0603 - a thread that finds it imported costs as much as the rest of a server's start here
    # A statement, which programs that bundle Python code recognize, such as PyInstaller.
    from mcp_launch._servers import owner  # noqa: PLC0415

    _owner = owner
    return owner


async def _sdk(terms: Terms) -> ModuleType:
    """Return the same module, imported in a thread once for all servers, while their processes start."""
    owner = _owner
    if owner is None:
        async with terms.importing:
            owner = _owner
            if owner is None:
                owner = await anyio.to_thread.run_sync(import_sdk)
    return owner
