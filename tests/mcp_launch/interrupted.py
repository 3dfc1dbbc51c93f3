"""Cancel a launch at an exact moment: when all of its tasks together have taken a given number of steps.

Cancelling before each step in turn covers every place where a cancellation can arrive.
`python -m tests.mcp_launch.interrupted` tries them all.
"""

from __future__ import annotations

import gc
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import anyio

import mcp_launch
from tests.leftovers import open_files
from tests.mcp_launch.support import Marked, bad_web_server, http, web_server
from tests.steps import steps_of

PATIENCE = 5.0
"""Seconds for cancelled tasks and processes to end."""


async def steps_of_launch(servers: list[Any], *, cwd: Path, cancel_at: int | None = None) -> int:
    """Launch and close the servers, cancelled before that step; return the number of steps taken."""

    async def launch_and_close() -> None:
        budgets = mcp_launch.Budgets(close=1.0)
        async with mcp_launch.launch(servers, cwd=cwd, budgets=budgets, lists=("tools", "resources")) as fleet:
            assert len(fleet) == len(servers)
            await anyio.lowlevel.checkpoint()

    return await steps_of(launch_and_close, within=60, cancel_at=cancel_at)


async def left_after(servers: list[Any], marked: Marked, *, cwd: Path, cancel_at: int) -> list[str]:
    """Return what is left of a launch that was cancelled before that step, a line for each kind."""
    files, tasks = len(open_files()), len(anyio.get_running_tasks())
    await steps_of_launch(servers, cwd=cwd, cancel_at=cancel_at)

    def left() -> list[str]:
        counts = {
            "processes": len(marked.running()),
            "descriptors": len(open_files()) - files,
            "tasks": len(anyio.get_running_tasks()) - tasks,
        }
        return [f"{count} {kind}" for kind, count in counts.items() if count > 0]

    with anyio.move_on_after(PATIENCE):
        while left():
            gc.collect()
            await anyio.sleep(0.01)
    # Whatever complains when it is collected does so here.
    gc.collect()
    return left()


async def leaks(servers: list[Any], marked: Marked, *, cwd: Path, stride: int = 1) -> tuple[list[str], int]:
    """Cancel at every step, or every few; return what was left where, and the number of steps tried."""
    steps = await steps_of_launch(servers, cwd=cwd)
    places = range(1, steps + 1, stride)
    found = [
        f"cancelled before step {place} of {steps}: {', '.join(left)} left"
        for place in places
        if (left := await left_after(servers, marked, cwd=cwd, cancel_at=place))
    ]
    return found, len(places)


def main() -> int:
    """Try every step for each kind of server on both event loops; return 1 if anything was left."""
    bad = 0
    with (
        web_server("http") as http_url,
        web_server("sse") as sse_url,
        bad_web_server() as bad_origin,
        tempfile.TemporaryDirectory() as folder,
    ):
        for backend in ("asyncio", "trio"):
            marked = Marked()
            kinds = {
                "stdio": marked.plain(),
                "stdio, leaves at the probe": marked.plain("leaves_at_probe"),
                "stdio, has to be killed": marked.plain("ignores_end"),
                "http": http(http_url),
                "sse": http(sse_url, kind="sse"),
                "sse, fails": http(f"{bad_origin}/sse", kind="sse"),
            }
            for kind, server in kinds.items():
                found, places = anyio.run(partial(leaks, [server], marked, cwd=Path(folder)), backend=backend)
                print(f"{backend:8} {kind:28} {places:4} places, {len(found)} left something", *found, sep="\n  ")
                bad += len(found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
