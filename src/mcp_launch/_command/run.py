"""Runs the servers of a command: launches them, handles signals, shows progress, and repeats for `--watch`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import NoReturn, TypeAlias, TypeVar

import anyio

from acp_bindings._standard_streams import printable
from mcp_launch._command.inputs import Session, Typed
from mcp_launch._command.show.text import complain, remark
from mcp_launch._command.signals import ENDING, exit_if_signalled, exit_on_signals, is_handled, remember_signal
from mcp_launch.failures import UnusableInput
from mcp_launch.fleet import Fleet, launch
from mcp_launch.logins import StoredLogins
from mcp_launch.options import EVERYTHING, Budgets, Direction, Listing, Options

_LOOK = 0.2
"""Seconds between two looks at the files. For a few files, polling does not need a compiled library."""
_Versions: TypeAlias = dict[str, tuple[int, int, int]]
T = TypeVar("T")
_UNPRINTED = logging.NullHandler()
"""One object, because the root logger would keep one of each run. Reports contain what the libraries would log, without
secrets in URLs and headers."""
_ARROWS: dict[Direction, str] = {"sent": "->", "received": "<-"}


def run(
    typed: Typed,
    sessions: Sequence[Session],
    use: Callable[[Sequence[Fleet]], Awaitable[T]],
    *,
    options: Options | None = None,
    lists: Collection[Listing] = EVERYTHING,
    quiet: bool = True,
) -> T:
    """Launch a fleet for each session, and return the result of *use* once each server is ready or has failed.

    Servers with a URL use the stored logins; with --login, the user logs in where one is required. With --verbose,
    messages and standard error of the servers are printed. With *quiet*, progress is not shown on standard output.
    """
    options = options or Options()
    options = replace(options, auth=options.auth or StoredLogins())
    if typed.legacy:
        options = replace(options, mode="legacy")
    if typed.verbose:
        options = replace(options, stderr=_show_stderr, traffic=_show_message)
    logging.getLogger().addHandler(_UNPRINTED)
    try:
        return anyio.run(partial(_run, typed, sessions, use, options, lists, quiet=quiet))
    finally:
        # The event loop has reset the signals to Python's defaults instead of our handlers.
        exit_on_signals()


def launched(
    session: Session, *, timeout: float, options: Options | None = None, lists: Collection[Listing] = EVERYTHING
) -> AbstractAsyncContextManager[Fleet]:
    """Launch the servers of a session in the background."""
    options = options or Options(auth=StoredLogins())
    return launch(
        session.servers,
        cwd=session.cwd,
        timeout=timeout,
        budgets=budgets_within(timeout),
        options=replace(
            options,
            strict=options.strict and bool(session.phrases.absolute),
            secrets=session.secrets,
            phrases=session.phrases._replace(longer="does it need more time (--timeout)"),
            lock=session.lock,
        ),
        lists=lists,
        background=True,
    )


def watch(typed: Typed, once: Callable[[], object]) -> NoReturn:
    """Call *once* now and after each change of a file, until a signal arrives."""
    if not typed.files or "-" in typed.servers:
        raise UnusableInput("--watch requires a FILE that can change")
    while True:
        before = _versions(typed)
        try:
            once()
        except UnusableInput as error:
            # The next change may fix it.
            complain(str(error))
        remark((f"watching {', '.join(typed.files)}; press Ctrl-C to stop", "dim"))
        _wait_for_change(typed, before)


async def _run(
    typed: Typed,
    sessions: Sequence[Session],
    use: Callable[[Sequence[Fleet]], Awaitable[T]],
    options: Options,
    lists: Collection[Listing],
    *,
    quiet: bool,
) -> T:
    stopped_by: list[int] = []
    with anyio.CancelScope() as scope:

        def stop(number: int) -> None:
            stopped_by.append(number)
            remember_signal(number)
            scope.cancel()

        # These handlers stay until the servers have exited, so that a second Ctrl-C does not interrupt that.
        # Windows does not support them: Ctrl-C raises KeyboardInterrupt there.
        with contextlib.suppress(NotImplementedError):
            for number in filter(is_handled, ENDING):
                asyncio.get_running_loop().add_signal_handler(number, stop, number)
        # A signal may have arrived before these handlers were set.
        exit_if_signalled()
        if typed.login:
            from mcp_launch._command.login import log_in_where_required  # noqa: PLC0415 - slow to import

            await log_in_where_required(sessions, timeout=typed.timeout)
        async with contextlib.AsyncExitStack() as stack:
            fleets = [
                await stack.enter_async_context(launched(session, timeout=typed.timeout, options=options, lists=lists))
                for session in sessions
            ]
            async with _progress(fleets, quiet=quiet):
                for fleet in fleets:
                    await fleet.settled()
            return await use(fleets)
    raise SystemExit(128 + stopped_by[0])


def budgets_within(timeout: float) -> Budgets:
    """Return the default budgets, with more time for handshake and listing if the timeout is longer."""
    usual = Budgets()
    return usual if timeout <= usual.handshake else replace(usual, handshake=timeout, list=timeout)


def _progress(fleets: Sequence[Fleet], *, quiet: bool) -> AbstractAsyncContextManager[None]:
    # Standard error first: standard output may be redirected.
    terminals = (stream for stream in (sys.stderr, None if quiet else sys.stdout) if stream and stream.isatty())
    if not fleets or (terminal := next(terminals, None)) is None:
        return nullcontext()
    from rich.console import Console  # noqa: PLC0415 - slow to import, and only for terminals

    from mcp_launch._command.show.live import progress  # noqa: PLC0415

    console = Console(file=terminal, highlight=False)
    if console.is_dumb_terminal:
        return nullcontext()
    return progress(fleets, console)


def _wait_for_change(typed: Typed, before: _Versions) -> None:
    while (now := _versions(typed)) == before:
        time.sleep(_LOOK)
    # Wait until the file no longer changes: it may be half written.
    while now != before:
        time.sleep(_LOOK)
        before, now = now, _versions(typed)


def _versions(typed: Typed) -> _Versions:
    """Return the version of each existing file, which also changes if an editor replaces the file."""
    found: _Versions = {}
    for file in typed.files:
        with contextlib.suppress(OSError):
            stat = os.stat(file)
            found[file] = stat.st_ino, stat.st_size, stat.st_mtime_ns
    return found


def _show_message(server: str, direction: Direction, line: str) -> None:
    remark((f"{printable(server)} {_ARROWS[direction]}", "cyan"), printable(line))


def _show_stderr(server: str, line: str) -> None:
    remark((f"{printable(server)} !!", "magenta"), printable(line))
