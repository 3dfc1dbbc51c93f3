"""`python -m benchmarks.limits.client TRANSPORT SHAPE LOOP` calls a tool of such a server, and prints what it cost.

Twice in one session: once to its end, and once until SIGTERM, which comes somewhere on the way.
"""

from __future__ import annotations

import gc
import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskStatus
from mcp import Client, MCPError

import mcp_launch

SERVER = Path(__file__).parent / "server.py"
CALL, PATIENCE = 20.0, 60.0
"""Seconds for the response to a call, by its timeout, and until the call is said to have outlived that."""
TICK = 0.01


def clock() -> float:
    """The time in seconds, without that for which this thread waited for a processor that others had."""
    waited = Path("/proc/self/schedstat").read_text().split()[1]
    return time.perf_counter() - int(waited) / 1e9


class Ticker:
    """Knows the longest time during which the event loop did nothing else."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def run(self) -> None:
        while True:
            began = clock()
            await anyio.sleep(TICK)
            self.longest = max(self.longest, clock() - began - TICK)


def memory(name: str) -> float:
    """A figure of this process in MB: `VmRSS` for now, `VmHWM` for the most since it was reset."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{name}:")[1].split()[0]) / 1024


async def called(session: Client) -> str:
    """Return the result of a call: `ok`, a code, or the name of an exception."""
    try:
        with anyio.fail_after(PATIENCE):
            await session.call_tool("any", {})
    except MCPError as error:
        data: Any = error.error.data
        return data["code"] if isinstance(data, dict) and "code" in data else f"MCPError {error.error.code}"
    except Exception as error:  # noqa: BLE001 - that is what is asked
        return type(error).__name__
    return "ok"


async def seconds_to_stop(session: Client, after: float) -> float:
    """The seconds from SIGTERM, which comes so long after the call began, until the call is cancelled."""
    sent = math.nan

    def send() -> None:
        nonlocal sent
        time.sleep(after)
        sent = clock()
        os.kill(os.getpid(), signal.SIGTERM)

    async def cancel(scope: anyio.CancelScope, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM) as signals:
            task_status.started()
            async for _ in signals:
                scope.cancel()
                return

    async with anyio.create_task_group() as tasks:
        with anyio.CancelScope() as scope:
            await tasks.start(cancel, scope)
            threading.Thread(target=send).start()
            await called(session)
            await anyio.sleep_forever()
    return max(0.0, clock() - sent)


async def cost(entry: dict[str, Any]) -> dict[str, Any]:
    """The cost of the calls of a server."""
    ticker = Ticker()
    async with mcp_launch.open_session(
        entry, cwd=Path.cwd(), budgets=mcp_launch.Budgets(call=CALL, close=1)
    ) as session:
        await session.list_tools()
        gc.collect()
        before = memory("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ticker.run)
            began = time.perf_counter()
            outcome = await called(session)
            seconds = time.perf_counter() - began
            peak = memory("VmHWM") - before
            try:
                stopped = await seconds_to_stop(session, random.uniform(0, seconds))
            except mcp_launch.LaunchFailure:
                stopped = math.nan
            tasks.cancel_scope.cancel()
    return {"outcome": outcome, "peak": peak, "delay": ticker.longest, "seconds": seconds, "stopped": stopped}


def main() -> None:
    transport, shape, loop = sys.argv[1:]
    warnings.simplefilter("ignore", DeprecationWarning)
    command = [sys.executable, "-I", "-S", str(SERVER), transport, shape]
    if transport == "stdio":
        entry = {"name": "hostile", "command": command[0], "args": command[1:], "env": []}
        print(json.dumps(anyio.run(cost, entry, backend=loop)))
        return
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        kind = "sse" if transport == "sse" else "http"
        entry = {"type": kind, "name": "hostile", "url": server.stdout.readline().strip(), "headers": []}
        print(json.dumps(anyio.run(cost, entry, backend=loop)))
        server.kill()


if __name__ == "__main__":
    main()
