"""Runs servers for as long as a command needs them, and ends them all, whatever signal comes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import TypeVar

import anyio

from mcp_launch.budgets import Budgets
from mcp_launch.command.inputs import Session
from mcp_launch.command.signals import ENDING, exit_if_asked, exit_on_signals, heeded, note
from mcp_launch.fleet import Fleet, launch
from mcp_launch.options import Options
from mcp_launch.terms import EVERYTHING, Listing

__all__ = ["run"]

T = TypeVar("T")

_LONGER = "does it need longer (--timeout)"
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
                            options, secrets=session.secrets, wording=session.wording._replace(longer=_LONGER)
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
