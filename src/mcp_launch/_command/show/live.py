"""Shows the progress of starting servers on a terminal."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager

import anyio
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from acp_bindings._standard_streams import printable, without_ci_commands
from mcp_launch._servers.launched import LaunchedServer
from mcp_launch._servers.record import Change
from mcp_launch.fleet import Fleet

_TICK = 0.1
"""Seconds between two updates of the terminal."""


@asynccontextmanager
async def progress(fleets: Sequence[Fleet], console: Console) -> AsyncGenerator[None]:
    """Show the progress of the servers during a block, and remove it afterwards."""
    board = _Board(fleets)
    with Live(board, console=console, transient=True, auto_refresh=False) as live:
        async with anyio.create_task_group() as tasks:
            for fleet in fleets:
                tasks.start_soon(board.follow, fleet)
            tasks.start_soon(_tick, live)
            yield
            tasks.cancel_scope.cancel()


async def _tick(live: Live) -> None:
    while True:
        live.refresh()
        await anyio.sleep(_TICK)


class _Board:
    """The latest state of each server."""

    def __init__(self, fleets: Iterable[Fleet]) -> None:
        self._servers = [server for fleet in fleets for server in fleet]
        self._width = max((len(server.name) for server in self._servers), default=0)
        self._latest: dict[str, tuple[Change, float]] = {}
        """The last change of each server by its name, and when its start began."""

    async def follow(self, fleet: Fleet) -> None:
        async for change in fleet.changes():
            self._latest[change.server] = change, anyio.current_time() - change.elapsed

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield a line for each server, or only for those that are still starting if there is not enough space."""
        room = max(1, console.height - 2)
        shown = self._servers
        if len(shown) > room:
            shown = [server for server in shown if server.state == "starting"][:room]
        yield from map(self._line, shown)
        if hidden := len(self._servers) - len(shown):
            yield Text(f"and {hidden} more", style="dim", no_wrap=True, overflow="ellipsis")

    def _line(self, server: LaunchedServer) -> Text:
        mark, colour, text = self._about(server)
        return Text.assemble(
            (mark, colour),
            " ",
            (without_ci_commands(printable(server.name)).ljust(self._width), "bold"),
            " ",
            ((server.transport or "?").ljust(5), "dim"),
            " ",
            text,
            no_wrap=True,
            overflow="ellipsis",
        )

    def _about(self, server: LaunchedServer) -> tuple[str, str, str]:
        change, began = self._latest.get(server.name, (None, anyio.current_time()))
        match server.state, server.failure:
            case _, failure if failure:
                return "FAIL", "red", f"{failure.code} in {failure.stage} {failure.elapsed:.1f} s"
            case "starting", _:
                return "wait", "yellow", f"{change.stage if change else 'spec'} {anyio.current_time() - began:.1f} s"
            case _:
                return "ok  ", "green", f"ready {change.elapsed if change else 0:.1f} s"
