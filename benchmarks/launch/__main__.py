"""`nox -s bench -- launch`: the speed of all contestants in one run.

Figures are medians of rounds in which the contestants take turns, on asyncio. The median of the ratios of all rounds is
compared with the goal. Only the last figure includes imports. The servers are small and answer at once, so that the
clients are measured.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import repeat
from statistics import median
from typing import NamedTuple

from benchmarks.launch.launchers import CALLS, CONTESTANTS, SERVER, SESSIONS
from benchmarks.race import Figures, race, seconds_of

WHO = """\
ours           mcp_launch.launch
raw session    the SDK's stdio_client, streamable_http_client or sse_client and its ClientSession, which tries the
               2026-07-28 era and falls back to the handshake, like all others except the two that say otherwise
raw, one era   the same with the handshake only, which does not reach servers of the 2026-07-28 era
mcp.Client     the SDK's client
fastmcp        its Client, one per server in a separate task, because its configuration of many servers connects them
               one after the other
openai-agents  its MCPServerStdio, …Sse, …StreamableHttp; many with its MCPServerManager, connecting in parallel
bare script    subprocess, lines and JSON with the handshake only, without SDK and event loop: the minimum for stdio"""

KINDS = CONTESTANTS["ours"].reaches
STANDARD = "raw session"
REACHED = {True: "reached", False: "NOT REACHED"}


class Rounds(NamedTuple):
    """The number of rounds of each measurement."""

    opening: int = 40
    calling: int = 60
    slow: int = 3
    many: int = 11
    closing: int = 8
    holding: int = 1
    importing: int = 3


QUICK = Rounds(*[1] * len(Rounds._fields))
FIRST_USE = """
import anyio
from benchmarks.launch import launchers
open_all = launchers.CONTESTANTS[{name!r}].enter()
anyio.run(launchers.seconds_to_open, open_all, [launchers.stdio({seconds})])
"""


class Goal(NamedTuple):
    """The maximum of a figure of ours: in seconds, or relative to another contestant."""

    most: float
    of: str | None = None

    def verdict(self, seen: dict[str, list[float]]) -> str:
        """Our figure with the goal."""
        if "ours" not in seen or (self.of and self.of not in seen):
            return ""
        base = seen[self.of] if self.of else repeat(1.0)
        value = median(ours / theirs for ours, theirs in zip(seen["ours"], base, strict=False))
        unit = f" x {self.of}" if self.of else " s"
        return f"   {value:.2f}, goal ≤ {self.most:.2f}{unit}: {REACHED[value <= self.most]}"


def main() -> None:
    options = argparse.ArgumentParser(prog="nox -s bench -- launch", description=__doc__)
    options.add_argument("--quick", action="store_true", help="one round of each, to see that it runs")
    options.add_argument("--only", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS), metavar="CONTESTANT")
    chosen = options.parse_args()
    rounds, names = (QUICK if chosen.quick else Rounds()), [name for name in CONTESTANTS if name in chosen.only]
    print(f"{WHO}\n")
    with web_server() as origin:
        report_one(names, rounds, origin)
        report_many(names, rounds, origin)
        report_memory(names, rounds, origin)
        report_first_use(names, rounds)


def report_one(names: list[str], rounds: Rounds, origin: str) -> None:
    tasks = {f"open {kind}": rounds.opening for kind in KINDS} | {f"call {kind}": rounds.calling for kind in KINDS}
    figures = contest(names, tasks, origin)
    head("open: connect to one server and list its tools, ms; of stdio the start of the process is a part", names)
    for kind in KINDS:
        row(kind, names, figures, f"open {kind}", goal=Goal(1.05, STANDARD))
    head(f"call: a tool on an open session until its answer, µs, in a row of {CALLS} calls", names)
    for kind in KINDS:
        row(kind, names, figures, f"call {kind}", unit=1e6, goal=Goal(1.05, STANDARD))


def report_many(names: list[str], rounds: Rounds, origin: str) -> None:
    tasks = {"ten": rounds.slow, "hundred": rounds.many, "close": rounds.closing}
    figures = contest(names, tasks, origin)
    head("many stdio servers at once: until all of them have listed their tools, ms", names)
    row("10 that need 1 s each", names, figures, "ten", goal=Goal(1.3))
    row("100 that need nothing", names, figures, "hundred", goal=Goal(1.2, "bare script"))
    head("close: from the end of the block until ten stdio servers are gone, ms", names)
    row("10 open sessions", names, figures, "close")


def report_memory(names: list[str], rounds: Rounds, origin: str) -> None:
    head(f"hold: resident memory of the client for one more open session, KB, of {SESSIONS} in a new process", names)
    for kind in KINDS:
        figures: Figures = {}
        for _ in range(rounds.holding):
            for key, seen in contest(names, {f"hold {kind}": 1}, origin).items():
                figures.setdefault(key, []).extend(seen)
        row(kind, names, figures, f"hold {kind}", unit=1 / 1024)


def report_first_use(names: list[str], rounds: Rounds) -> None:
    head("first use: from nothing imported to the tools of one stdio server, ms, in a new process", names)
    for title, wait in (("server needs nothing", 0), ("server needs 1 s", 1)):
        codes = {name: FIRST_USE.format(name=name, seconds=wait) for name in names}
        figures = {("first", name): seen for name, seen in seconds_of(codes, rounds.importing).items()}
        row(title, names, figures, "first")


def contest(names: list[str], tasks: dict[str, int], origin: str) -> Figures:
    return race("benchmarks.launch.launchers", names, tasks, origin)


def head(what: str, names: list[str]) -> None:
    print(f"\n{what}\n{'':22}" + "".join(f"{name:>14}" for name in names), flush=True)


def row(
    title: str, names: list[str], figures: Figures, task: str, *, unit: float = 1e3, goal: Goal | None = None
) -> None:
    seen = {name: figures[task, name] for name in names if (task, name) in figures}
    shown = "".join(f"{median(seen[name]) * unit:>14.1f}" if name in seen else f"{'-':>14}" for name in names)
    print(f"{title:22}{shown}{goal.verdict(seen) if goal else ''}", flush=True)


@contextmanager
def web_server() -> Iterator[str]:
    command = [sys.executable, str(SERVER), "web"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().strip()


if __name__ == "__main__":
    main()
