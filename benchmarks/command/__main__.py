"""`nox -s bench -- command`: the run time of whole commands, as a shell measures it.

Figures are medians of rounds in which the contestants take turns. The median of the ratios of all rounds is compared
with the goal. The servers are small and start at once, or after a second.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.race import ENVIRONMENT, ROOT

HERE = Path(__file__).parent
SERVER = ROOT / "benchmarks" / "launch" / "server.py"
BIN = Path(sys.executable).parent
INSPECTOR = HERE / "node_modules" / ".bin" / "mcp-inspector"

WHO = """\
mcp-launch   mcp-launch check FILE
mcp.Client   a script of ten lines on the SDK's client, which lists the tools of all servers at once
fastmcp      fastmcp list FILE
inspector    mcp-inspector --cli COMMAND --method tools/list, which supports one server
pydantic     python -c 'import pydantic'"""


class Goal(NamedTuple):
    """The maximum run time of ours, relative to another contestant."""

    most: float
    of: str


class Race(NamedTuple):
    """One row: the commands of the contestants, and the goal."""

    title: str
    commands: Mapping[str, Sequence[str]]
    goal: Goal
    statuses: Sequence[int] = (0,)


def main() -> None:
    options = argparse.ArgumentParser(prog="nox -s bench -- command", description=__doc__)
    options.add_argument("--rounds", type=int, default=15, help="number of rounds (15)")
    chosen = options.parse_args()
    print(WHO)
    if not INSPECTOR.exists():
        print("The Inspector is not installed (this requires npm) and is skipped.")
    with tempfile.TemporaryDirectory(prefix="mcp-launch-bench-") as folder:
        races = [*checks(Path(folder)), *light(Path(folder))]
        names = list(dict.fromkeys(name for race in races for name in race.commands))
        print(f"\nms from start to end, {chosen.rounds} rounds\n{'':24}" + "".join(f"{name:>12}" for name in names))
        for race in races:
            row(race, names, rounds=chosen.rounds)


def checks(folder: Path) -> Iterator[Race]:
    """Servers are started, and their tools listed."""
    for title, number, seconds, goal in (
        ("one server, at once", 1, 0, Goal(1.0, "mcp.Client")),
        ("one server, 1 s", 1, 1, Goal(0.65, "mcp.Client")),
        ("ten servers, 1 s", 10, 1, Goal(0.65, "mcp.Client")),
    ):
        command = server(seconds)
        file = config(folder, number, command)
        commands = {
            "mcp-launch": [str(BIN / "mcp-launch"), "check", file],
            "mcp.Client": [sys.executable, str(HERE / "client.py"), *[" ".join(command)] * number],
            "fastmcp": [str(BIN / "fastmcp"), "list", file],
        }
        if INSPECTOR.exists() and number == 1:
            commands["inspector"] = [str(INSPECTOR), "--cli", *command, "--method", "tools/list"]
        yield Race(title, commands, goal)


def light(folder: Path) -> Iterator[Race]:
    """Nothing is started."""
    broken = folder / "broken.json"
    broken.write_text('{"mcpServers": [}')
    pydantic = [sys.executable, "-c", "import pydantic"]
    for title, args, status in (
        ("--help", ["--help"], 0),
        ("check --help", ["check", "--help"], 0),
        ("schema", ["schema"], 0),
        ("a file that is not JSON", ["check", str(broken)], 2),
    ):
        ours = [str(BIN / "mcp-launch"), *args]
        yield Race(title, {"mcp-launch": ours, "pydantic": pydantic}, Goal(2.0, "pydantic"), (0, status))


def row(race: Race, names: Sequence[str], *, rounds: int) -> None:
    seen: dict[str, list[float]] = {name: [] for name in race.commands}
    order = list(race.commands.items())
    for number in range(rounds + 1):
        for name, command in order:
            needed = seconds_of(command, statuses=race.statuses)
            # The first time compiles what is not, and fills the caches of the system.
            if number:
                seen[name].append(needed)
        order.append(order.pop(0))
    shown = "".join(f"{median(seen[name]) * 1e3:>12.0f}" if name in seen else f"{'-':>12}" for name in names)
    ratio = median(ours / theirs for ours, theirs in zip(seen["mcp-launch"], seen[race.goal.of], strict=True))
    verdict = "reached" if ratio <= race.goal.most else "NOT REACHED"
    print(f"{race.title:24}{shown}   {ratio:.2f}, goal ≤ {race.goal.most:.2f} x {race.goal.of}: {verdict}", flush=True)


def seconds_of(command: Sequence[str], *, statuses: Sequence[int]) -> float:
    """The seconds from the start of a command to its end.

    Raises:
        RuntimeError: it did not do what it was to do.
    """
    started = time.perf_counter()
    done = subprocess.run(
        command, cwd=ROOT, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120
    )
    needed = time.perf_counter() - started
    if done.returncode not in statuses:
        raise RuntimeError(f"{command}: {done.returncode}\n{done.stdout.decode()}\n{done.stderr.decode()}")
    return needed


def server(seconds: float) -> list[str]:
    """The command of a server that needs that long to start."""
    return [sys.executable, "-S", "-I", str(SERVER), "stdio", str(seconds)]


def config(folder: Path, number: int, command: Sequence[str]) -> str:
    """A file that names that server, so many times."""
    entry = {"command": command[0], "args": command[1:]}
    file = folder / f"{number}-{command[-1]}.json"
    file.write_text(json.dumps({"mcpServers": {f"server-{each}": entry for each in range(number)}}))
    return str(file)


if __name__ == "__main__":
    main()
