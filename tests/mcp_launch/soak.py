"""`nox -s soak`: servers opened and closed over a thousand times, well and badly; nothing may grow.

After a warm-up, every part ends with as many descriptors, tasks and processes as it began with, and with no more memory
than a bound for each cycle. Linux only: that is where one process can count all of it.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import random
import sys
import threading
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import asdict, astuple, dataclass, fields
from itertools import cycle
from pathlib import Path
from typing import Any

import anyio
from mcp import MCPError

import mcp_launch
from mcp_launch import Budgets, Options, Restart
from tests.mcp_launch.support import Marked, bad_web_server, http, web_server

HASTY = Budgets(connect=0.5, handshake=0.4, probe=0.1, list=0.3, close=0.6)
"""Budgets for servers that hang."""
RESTART = Options(restart=Restart(first=0.0))
WARM_UP = 4
"""Minimum cycles before counting, for what is loaded at first use and memory that the allocator keeps."""
KB_EACH = 1.0
"""Resident memory that a cycle may take in the long run. An open session takes about a hundred times as much."""
SLACK_KB = 4096
"""What the allocator may keep in addition. After a hundred servers at once, it settles only after several cycles."""
SLACK_OBJECTS = 100
"""Objects created at the first use of something, such as a rare response of the web servers."""
OBJECTS_EACH = 0.5
"""Python objects that a cycle may leave. If one is left each time, that is a leak."""

BAD_STDIO = (
    "works",
    "exits_with_message",
    "exits_silently",
    "dies_of_signal",
    "prints_usage",
    "logs_then_silent",
    "prints_banner",
    "prints_bytes",
    "leaves_at_probe",
    "swallows_probe",
    "rejects",
    "answers_nonsense",
    "mute",
    "dies_at_list",
    "hangs_at_list",
    "floods_stderr",
    "ignores_end",
    "leaves_child",
    "wraps_mute_child",
)
BAD_HTTP = ("401", "404", "500", "html", "notjson", "ends", "silent", "never", "drop", "to/307/9", "expires", "forgets")
BAD_SSE = ("401", "html", "silent", "never", "drop", "sse", "beside/9")


@dataclass(frozen=True)
class Count:
    """The resources of this process."""

    descriptors: int
    tasks: int
    threads: int
    processes: int
    """Servers and the processes that they left, and our zombies."""
    objects: int
    """Python objects, as counted by the garbage collector."""
    resident: int
    """Memory in KB."""


class Complaints(logging.Handler):
    """Collects messages of Python and the event loop about unclosed objects and unhandled errors."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._said: list[str] = []
        logging.getLogger("asyncio").addHandler(self)
        sys.unraisablehook = lambda found: self._said.append(repr(found.exc_value))

    def emit(self, record: logging.LogRecord) -> None:
        """Store the message."""
        self._said.append(record.getMessage())

    def taken(self) -> list[str]:
        """Return the messages since the last call."""
        said, self._said = self._said, []
        return [f"{len(said)} complaints such as {said[-1]}"] if said else []


class Soak:
    """The servers of one run, the ways to use them, and the observations."""

    def __init__(self, *, urls: dict[str, str], bad_web: str, seed: int) -> None:
        self._marked = Marked()
        self._urls = urls
        self._bad_web = bad_web
        self._random = random.Random(seed)
        self._bad = cycle(self._all_bad())
        self._cwd = Path.cwd()
        self._complaints = Complaints()
        self.fleet: mcp_launch.Fleet | None = None
        """A fleet that stays open, for the parts that use one."""
        self.failed = False

    async def stdio(self) -> None:
        """Open, list, call and close a working server."""
        await self._use(self._marked.plain())

    async def http(self) -> None:
        """Do the same with a server that is already running."""
        await self._use(http(self._urls["http"]))

    async def sse(self) -> None:
        """Do the same over the deprecated transport."""
        await self._use(http(self._urls["sse"], kind="sse"))

    async def hundred(self) -> None:
        """Open, call and close a hundred servers at once."""
        servers = [self._marked.plain(name=f"plain-{number}") for number in range(100)]
        await self._use(*servers)

    async def changing(self) -> None:
        """Add a server to an open fleet, let it crash and restart, and remove it, while an observer watches."""
        assert self.fleet is not None
        added = self.fleet.add(self._marked.plain(), options=RESTART)
        async for change in self.fleet.changes():
            if change.state == "ready":
                break
        await self._crash(added)
        async for change in self.fleet.changes():
            if change.state == "ready" and added.restarts:
                break
        await self.fleet.remove("plain")

    async def failing(self) -> None:
        """Let a server fail, at the start or in use."""
        async with mcp_launch.launch([next(self._bad)], cwd=self._cwd, timeout=3, budgets=HASTY) as fleet:
            server = fleet.servers[0]
            if server.failure is None and server.transport == "stdio":
                await self._crash(server)

    async def cancelled(self) -> None:
        """Cancel opening, using or closing at any moment, with working and broken servers."""
        good = [self._marked.plain(), http(self._urls["http"]), http(self._urls["sse"], kind="sse", name="sse")]
        servers = self._random.sample([*good, next(self._bad)], k=2)
        moment = self._random.choice((0.0, self._random.uniform(0, 0.02), self._random.uniform(0, 0.15)))
        with anyio.move_on_after(moment):
            async with mcp_launch.launch(servers, cwd=self._cwd, timeout=3, budgets=HASTY) as fleet:
                for server in fleet:
                    if server.failure is None:
                        await server.session.list_tools()
                await anyio.sleep(self._random.uniform(0, 0.02))

    def _all_bad(self) -> list[dict[str, Any]]:
        stdio = [self._marked.plain(mode, name="bad") for mode in BAD_STDIO]
        web = [http(f"{self._bad_web}/{path}", name="bad") for path in BAD_HTTP]
        events = [http(f"{self._bad_web}/{path}", name="bad", kind="sse") for path in BAD_SSE]
        return self._random.sample(stdio + web + events, k=len(stdio + web + events))

    @staticmethod
    async def _crash(server: mcp_launch.LaunchedServer) -> None:
        try:
            await server.session.call_tool("die", {})
        except MCPError:
            # As expected: the call has no response.
            return

    async def _use(self, *servers: dict[str, Any]) -> None:
        async with mcp_launch.launch(servers, cwd=self._cwd) as fleet:
            if fleet.failures:
                raise fleet.failures[0]
            for server in fleet:
                await server.session.call_tool("environment" if server.transport == "stdio" else "directory", {})

    async def count(self) -> Count:
        """Count the resources after everything that ends has ended."""
        with anyio.move_on_after(3):
            while self._processes():
                await anyio.sleep(0.02)
        for _ in range(3):
            await anyio.sleep(0.02)
            gc.collect()
        return Count(
            descriptors=len(os.listdir("/proc/self/fd")),
            tasks=len(anyio.get_running_tasks()),
            threads=threading.active_count(),
            processes=self._processes(),
            objects=len(gc.get_objects()),
            resident=int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024,
        )

    def _processes(self) -> int:
        return len(self._marked.running()) + _zombies()

    async def run(self, part: Callable[[], Awaitable[None]], cycles: int) -> None:
        """Run a part this many times, and report what has grown."""
        for _ in range(max(cycles // 10, WARM_UP)):
            await part()
        before = await self.count()
        began = anyio.current_time()
        for _ in range(cycles):
            await part()
        seconds = anyio.current_time() - began
        after = await self.count()
        name = getattr(part, "__name__", "?")
        grown = _grown(before, after, cycles) + self._complaints.taken()
        self.failed = self.failed or bool(grown)
        verdict = f"FAILED: {', '.join(grown)}" if grown else "held"
        pairs = "".join(f"{f'{a} → {b}':>18}" for a, b in zip(astuple(before), astuple(after), strict=True))
        each = (after.resident - before.resident) / cycles
        print(f"{name:10}{cycles:>7}{pairs}{each:>8.2f}{seconds / cycles * 1e3:>9.0f}  {verdict}", flush=True)


def _told(count: Count) -> str:
    return ", ".join(f"{value} {name}" for name, value in asdict(count).items())


def _grown(before: Count, after: Count, cycles: int) -> list[str]:
    exactly = [name for name in ("descriptors", "tasks", "processes") if getattr(after, name) > getattr(before, name)]
    bounds = {"objects": OBJECTS_EACH * cycles + SLACK_OBJECTS, "resident": KB_EACH * cycles + SLACK_KB}
    return exactly + [name for name, most in bounds.items() if getattr(after, name) - getattr(before, name) > most]


def _zombies() -> int:
    """Return the number of our zombies."""
    found = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = entry.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        found += state == "Z" and int(parent) == os.getpid()
    return found


async def soak(options: argparse.Namespace, urls: dict[str, str], bad_web: str) -> bool:
    """Run every part, and return True if nothing has grown."""
    run = Soak(urls=urls, bad_web=bad_web, seed=options.seed)
    start = await run.count()
    print(f"at the start: {_told(start)}")
    print(f"each part after its warm-up, a tenth as long, and at its end; seed {options.seed}\n")
    columns = "".join(f"{field.name:>18}" for field in fields(Count))
    print(f"{'':10}{'cycles':>7}{columns}{'KB each':>8}{'ms each':>9}")
    n: int = options.cycles
    # The hundred first: its threads and memory are then there for all others.
    good = ((run.hundred, 5), (run.stdio, n * 6 // 10), (run.http, n // 5), (run.sse, n // 5))
    bad = ((run.failing, n * 3 // 10), (run.cancelled, n * 4 // 10), (run.hundred, 5))
    for part, cycles in good + bad:
        await run.run(part, max(cycles, 1))
    async with mcp_launch.launch([], cwd=Path.cwd()) as run.fleet:
        await run.run(run.changing, max(n // 5, 1))
    end = await run.count()
    print(f"\nat the end: {_told(end)}")
    return not run.failed


def main() -> None:
    """Run the soak test; return 1 if something has grown."""
    parser = argparse.ArgumentParser(prog="nox -s soak", description=__doc__)
    parser.add_argument("--cycles", type=int, default=1000, help="of good servers; the bad ones come on top")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", choices=("asyncio", "trio"), default="asyncio")
    options = parser.parse_args()
    warnings.simplefilter("error", ResourceWarning)
    warnings.simplefilter("ignore", DeprecationWarning)
    # Log messages of the SDK about bad servers do not matter here.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    with web_server("http") as http_url, web_server("sse") as sse_url, bad_web_server() as bad_web:
        urls = {"http": http_url, "sse": sse_url}
        held = anyio.run(soak, options, urls, bad_web, backend=options.backend)
    raise SystemExit(0 if held else 1)


if __name__ == "__main__":
    main()
