"""`mcp-launch check --watch`: repeats the check whenever one of its files changes."""

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
from typing import NoReturn, TypeAlias, TypeVar

import anyio

from mcp_launch._command.inputs import Session, Typed
from mcp_launch._command.show.text import complain, printable, remark
from mcp_launch._command.signals import ENDING, exit_if_asked, exit_on_signals, heeded, note
from mcp_launch.failures import UnusableInput
from mcp_launch.fleet import Fleet, launch
from mcp_launch.options import EVERYTHING, Budgets, Direction, Listing, Options

_LOOK = 0.2
"""Seconds between two looks at the files: for a few of them, no compiled library is needed that the system notifies."""

_State: TypeAlias = dict[str, tuple[int, int, int] | None]


def again_and_again(typed: Typed, once: Callable[[], object]) -> NoReturn:
    """Check now and after each change, until a signal comes.

    Raises:
        UnusableInput: no file was named, or standard input, which does not change.
        SystemExit: a signal came.
    """
    if not typed.files or "-" in typed.servers:
        raise UnusableInput("--watch goes with files: there has to be something that changes")
    while True:
        before = _state(typed)
        try:
            once()
        except UnusableInput as error:
            # The next change will mend it.
            complain(str(error))
        remark((f"watching {', '.join(typed.files)}; Ctrl-C ends it", "dim"))
        _wait_for_change(typed, before)


def _wait_for_change(typed: Typed, before: _State) -> None:
    while (state := _state(typed)) == before:
        time.sleep(_LOOK)
    # Wait until it no longer changes: it may be half written.
    while state != before:
        time.sleep(_LOOK)
        before, state = state, _state(typed)


def _state(typed: Typed) -> _State:
    """What tells one version of each file from the next, also when an editor puts a new file in its place."""
    return {file: _version(file) for file in typed.files}


def _version(file: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


T = TypeVar("T")

_LONGER = "does it need more time (--timeout)"
"""The option to use, whichever file the servers come from."""


def run(
    sessions: Sequence[Session],
    use: Callable[[Sequence[Fleet]], Awaitable[T]],
    *,
    timeout: float,
    options: Options,
    lists: Collection[Listing] = EVERYTHING,
) -> T:
    """Launch a fleet for each session and return what `use` makes of them; it is called while they are starting.

    Raises:
        SystemExit: a signal came; all servers are gone.
    """
    # Reports say what the libraries would log, without the URLs and headers that they log.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        return anyio.run(_run, sessions, use, timeout, options, lists)
    finally:
        # The event loop has reset the signals to Python's defaults, not to our handlers from before.
        exit_on_signals()


async def _run(
    sessions: Sequence[Session],
    use: Callable[[Sequence[Fleet]], Awaitable[T]],
    timeout: float,
    options: Options,
    lists: Collection[Listing],
) -> T:
    stopped_by: list[int] = []
    with anyio.CancelScope() as scope:

        def stop(number: int) -> None:
            stopped_by.append(number)
            note(number)
            scope.cancel()

        # These handlers stay until the servers are gone, so that a second Ctrl-C does not cut their end short, which is
        # bounded. On Windows there are no such handlers, and Ctrl-C is a KeyboardInterrupt.
        with contextlib.suppress(NotImplementedError):
            for number in filter(heeded, ENDING):
                asyncio.get_running_loop().add_signal_handler(number, stop, number)
        # A signal may have come before these handlers were set.
        exit_if_asked()
        async with contextlib.AsyncExitStack() as stack:
            fleets = [
                await stack.enter_async_context(
                    launch(
                        session.servers,
                        cwd=session.cwd,
                        timeout=timeout,
                        budgets=_budgets_within(timeout),
                        options=replace(
                            options, secrets=session.secrets, phrases=session.phrases._replace(longer=_LONGER)
                        ),
                        lists=lists,
                        background=True,
                    )
                )
                for session in sessions
            ]
            return await use(fleets)
    raise SystemExit(128 + stopped_by[0])


def _budgets_within(timeout: float) -> Budgets:
    """The default budgets; with a timeout longer than the handshake's, handshake and listing may take all of it."""
    usual = Budgets()
    return usual if timeout <= usual.handshake else replace(usual, handshake=timeout, list=timeout)


async def settled(fleets: Sequence[Fleet], *, quiet: bool = False) -> None:
    """Wait until each server is ready or has failed; with *quiet*, standard output stays as it is meanwhile."""
    async with _progress(fleets, quiet=quiet):
        for fleet in fleets:
            await fleet.settled()


def _progress(fleets: Sequence[Fleet], *, quiet: bool) -> AbstractAsyncContextManager[None]:
    # Standard error first: standard output may be redirected.
    terminals = (stream for stream in (sys.stderr, None if quiet else sys.stdout) if stream and stream.isatty())
    if (terminal := next(terminals, None)) is None:
        return nullcontext()
    from rich.console import Console  # noqa: PLC0415 - slow to import, and only for terminals

    from mcp_launch._command.show.live import progress  # noqa: PLC0415

    console = Console(file=terminal, highlight=False)
    if console.is_dumb_terminal:
        return nullcontext()
    return progress(fleets, console)


_ARROWS: dict[Direction, str] = {"sent": "->", "received": "<-"}


def with_traffic(options: Options) -> Options:
    """The options with callbacks that show messages and standard error."""
    return replace(options, stderr=_show_stderr, traffic=_show_message)


def _show_message(server: str, direction: Direction, line: str) -> None:
    remark((f"{printable(server)} {_ARROWS[direction]}", "cyan"), printable(line))


def _show_stderr(server: str, line: str) -> None:
    remark((f"{printable(server)} !!", "magenta"), printable(line))
