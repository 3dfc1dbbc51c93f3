"""Servers run for the time of a command, and nothing is left of them, whatever signal comes."""

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
"""The same for all servers, however they were named."""


def run(
    sessions: Sequence[Session],
    use: Callable[[Sequence[Fleet]], Awaitable[T]],
    *,
    timeout: float,
    options: Options,
    lists: Collection[Listing] = EVERYTHING,
) -> T:
    """What `use` makes of the fleets, one for each session; their servers are starting when it is called.

    Raises:
        SystemExit: a signal came; all servers are gone.
    """
    # Reports say what the libraries would log, without the URLs and headers that they log.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        return anyio.run(_run, sessions, use, timeout, options, lists)
    finally:
        # The event loop has put them back to what they are without it, which is not what they were.
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

        # They stay until the servers are gone: a second Ctrl-C does not cut that short, and it is bounded. Where there
        # are no such handlers (Windows), Ctrl-C is a KeyboardInterrupt.
        with contextlib.suppress(NotImplementedError):
            for number in filter(heeded, ENDING):
                asyncio.get_running_loop().add_signal_handler(number, stop, number)
        # Of those that came before.
        exit_if_asked()
        async with contextlib.AsyncExitStack() as stack:
            fleets = [
                await stack.enter_async_context(
                    launch(
                        session.servers,
                        cwd=session.cwd,
                        timeout=timeout,
                        budgets=_budgets_within(timeout),
                        options=replace(options, wording=session.wording._replace(longer=_LONGER)),
                        lists=lists,
                        background=True,
                    )
                )
                for session in sessions
            ]
            return await use(fleets)
    raise SystemExit(128 + stopped_by[0])


def _budgets_within(timeout: float) -> Budgets:
    """Seconds for each stage: the usual ones, but who gives a server more than these gives it all of that."""
    usual = Budgets()
    return usual if timeout <= usual.handshake else replace(usual, handshake=timeout, list=timeout)
