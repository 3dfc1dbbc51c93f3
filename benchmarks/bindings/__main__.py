"""`nox -s bench -- bindings`: the speed of all contestants in one run.

Only ratios are meaningful. They compare the best of many short rounds, in which the contestants take turns, so that a
busy machine affects all of them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

from benchmarks.bindings.decoders import CONTESTANTS
from benchmarks.bindings.messages import MESSAGES, TURN
from benchmarks.race import ROOT, race, seconds_of

OFFICIAL = ("official", "its connection")
LIMITS = ("plain pydantic", "dictionaries")
GOALS = {
    "read update stream": 2.0,
    "read NewSessionRequest": 2.0,
    "read InitializeResponse": 2.5,
    "write update stream": 1.3,
    "line": 3.0,
}
"""The goal for each task: its speed relative to the official SDK."""

FIRST_USE = {"ours, session/update": 1.2}
"""The goal for the import time, relative to importing pydantic and creating one model."""

OURS, OTHERS = "ours", [name for name in CONTESTANTS if name != "ours"]

WHO = """\
ours             acp_bindings: decode and encode with all checks; for a line, read of the codec
official         agent-client-protocol: model_validate_json and model_dump_json of its models, its fastest way;
                 for a line, json and its router, without the task that its connection starts for each
its connection   agent-client-protocol: as its connection does it, with dictionaries and json;
                 for a line, the connection itself, from the arrival of the line, with the task that it starts
plain pydantic   pydantic-core with plain models of the same shapes, without reading rules and methods
dictionaries     pydantic-core with the same shapes as validated dictionaries: the limit without objects
msgspec          hand-written structs, which preserve no unknown fields and tolerate no errors
JSON alone       pydantic_core.from_json without types: the limit"""

UPDATE = """'{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}'"""
IMPORTS = {
    "import pydantic, one model": "from pydantic import BaseModel\nclass M(BaseModel):\n  a: str\nM(a='')",
    "ours, import": "from acp_bindings import decode, v1",
    "ours, NewSessionRequest": "from acp_bindings import decode, v1\n"
    """decode(v1.NewSessionRequest, '{"cwd":"/","mcpServers":[]}')""",
    "ours, session/update": f"from acp_bindings import decode, v1\ndecode(v1.SessionNotification, {UPDATE})",
    "plain pydantic, session/update": "from benchmarks.bindings.plain import SessionNotification as S\n"
    f"S.model_validate_json({UPDATE})",
    "msgspec, session/update": "import msgspec\nfrom benchmarks.bindings.structs import SessionNotification as S\n"
    f"msgspec.json.decode({UPDATE}, type=S)",
    "official, session/update": f"from acp.schema import SessionNotification as S\nS.model_validate_json({UPDATE})",
    "official, import acp": "import acp",
}


def main() -> None:
    options = argparse.ArgumentParser(prog="nox -s bench -- bindings", description=__doc__)
    options.add_argument("--rounds", type=int, default=40, help="turns that each contestant takes at each thing")
    rounds = options.parse_args().rounds
    print(f"{WHO}\n")
    report_messages(rounds)
    report_imports(max(rounds // 3, 1))
    report_generation()


def report_messages(rounds: int) -> None:
    tasks = [f"{doing} {name}" for doing in ("read", "write") for name in MESSAGES]
    figures = race("benchmarks.bindings.decoders", CONTESTANTS, dict.fromkeys([*tasks, "line", "hold"], rounds))
    best = {key: min(seen) for key, seen in figures.items()}
    head(f"read: JSON text to objects, µs for one message; the stream is a turn of {len(TURN)} mixed updates")
    for task in tasks[: len(MESSAGES)]:
        row(task.removeprefix("read "), best, task, 1e6)
    head("write: objects to JSON text, only what was read, µs for one message")
    for task in tasks[len(MESSAGES) :]:
        row(task.removeprefix("write "), best, task, 1e6)
    head("line: a line of JSON-RPC to the handler of its method, called with what it says, µs for one of the stream")
    row("session/update line", best, "line", 1e6)
    head("hold: memory that one message of the stream takes once read, bytes of Python's allocator")
    row("update stream", best, "hold", 1)
    report_goals(best)


def report_goals(best: dict[tuple[str, str], float]) -> None:
    print("\ngoals: how many times as fast as the official SDK ours are; in brackets its limits are: plain pydantic,")
    print("and dictionaries, which are not typed objects")
    print(f"{'':24}{'goal':>10}" + "".join(f"{name:>32}" for name in OFFICIAL))
    for task, goal in GOALS.items():
        shown = f"{task:24}{goal:>10.1f}"
        for name in OFFICIAL:
            ratio, *limits = (best[task, name] / best[task, each] for each in (OURS, *LIMITS) if (task, each) in best)
            limit = ", ".join(f"{each:.2f}" for each in limits)
            shown += f"{f'{ratio:.2f} [{limit}] {verdict(ratio >= goal)}':>32}"
        print(shown)


def verdict(is_reached: bool) -> str:
    return "REACHED" if is_reached else "NOT REACHED"


def head(what: str) -> None:
    print(
        f"\n{what}\n{'':24}{OURS:>10}" + "".join(f"{name:>16}" for name in OTHERS) + "   (others: their figure / ours)"
    )


def row(name: str, best: dict[tuple[str, str], float], task: str, unit: float) -> None:
    ours = best.get((task, OURS))
    shown = f"{name:24}" + (f"{ours * unit:>10.2f}" if ours else f"{'-':>10}")
    for other in OTHERS:
        theirs = best.get((task, other))
        shown += (
            f"{theirs / ours:>16.2f}" if ours and theirs else f"{theirs * unit:>14.2f} u" if theirs else f"{'-':>16}"
        )
    print(shown)


def report_imports(rounds: int) -> None:
    best = {name: min(seconds) for name, seconds in seconds_of(IMPORTS, rounds).items()}
    base = next(iter(best.values()))
    print("\nfirst use: from nothing imported to the first object, in a new process, modules compiled; the ratio is to")
    print("importing pydantic and making one model")
    for name, seconds in best.items():
        goal = FIRST_USE.get(name)
        reached = f"   goal: at most {goal}: {verdict(seconds / base <= goal)}" if goal else ""
        print(f"{name:32}{seconds * 1e3:>10.1f} ms{seconds / base:>10.2f}{reached}")


def report_generation() -> None:
    started = time.perf_counter()
    command = [sys.executable, "-m", "codegen", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=600)
    print("\ngeneration: schema to the four packages, formatted, compared with the committed ones")
    print(f"{'python -m codegen --check':32}{time.perf_counter() - started:>10.1f} s    exit status {done.returncode}")


if __name__ == "__main__":
    main()
