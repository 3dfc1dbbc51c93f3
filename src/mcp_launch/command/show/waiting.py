"""Waits until all servers are ready or have failed; a terminal shows meanwhile how far they are."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_launch.fleet import Fleet

__all__ = ["settled"]


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
    from rich.console import Console  # noqa: PLC0415

    console = Console(file=terminal, highlight=False)
    if console.is_dumb_terminal:
        return nullcontext()
    from mcp_launch.command.show.live import progress  # noqa: PLC0415

    return progress(fleets, console)
