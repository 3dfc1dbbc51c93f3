"""Contestants in processes of their own, which take turns in short rounds, so that a busy machine hurts all alike.

A contestant reads the names of tasks on standard input and answers each with a figure, or `null` where it has no part.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Installed packages are compiled; what is imported from here has to be, too, after the first time."""

Figures: TypeAlias = dict[tuple[str, str], list[float]]
"""The figures of each contestant for each of its tasks: `figures[task, contestant]`, one figure per round."""


def race(module: str, contestants: Iterable[str], tasks: Mapping[str, int], *args: str) -> Figures:
    """Run all rounds of all tasks. `tasks` has the number of rounds, and `args` go to `python -m module CONTESTANT`."""
    figures: Figures = {}
    with _running(module, contestants, args) as processes:
        order = list(processes.items())
        for number in range(max(tasks.values(), default=0)):
            for task, rounds in tasks.items():
                if number >= rounds:
                    continue
                for name, process in order:
                    if (needed := _ask(process, task)) is not None:
                        figures.setdefault((task, name), []).append(needed)
            # The first one may have to clean up after the last round.
            order.append(order.pop(0))
    return figures


def answer_tasks(work: Mapping[str, Callable[[], float]]) -> None:
    """The contestant's side: do the tasks that standard input names, until it ends."""
    for task in sys.stdin:
        do = work.get(task.strip())
        print(json.dumps(do and do()), flush=True)


def seconds_of(codes: Mapping[str, str], rounds: int) -> dict[str, list[float]]:
    """The seconds that each code takes in a new process, the start of Python not counted."""
    for code in codes.values():
        _seconds_of(code)  # compiles what is not
    seconds: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(rounds):
        for name, code in codes.items():
            seconds[name].append(_seconds_of(code))
    return seconds


@contextmanager
def _running(
    module: str, contestants: Iterable[str], args: Sequence[str]
) -> Iterator[dict[str, subprocess.Popen[str]]]:
    command = [sys.executable, "-m", module]
    processes = {
        name: subprocess.Popen(
            [*command, name, *args],
            cwd=ROOT,
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in contestants
    }
    try:
        yield processes
    finally:
        for process in processes.values():
            process.communicate(timeout=10)


def _ask(process: subprocess.Popen[str], task: str) -> float | None:
    assert process.stdin
    assert process.stdout
    print(task, file=process.stdin, flush=True)
    answer: float | None = json.loads(process.stdout.readline())
    return answer


def _seconds_of(code: str) -> float:
    timed = f"import time\nstarted = time.perf_counter()\n{code}\nprint(time.perf_counter() - started)"
    command = [sys.executable, "-c", timed]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=True, timeout=60)
    return float(done.stdout)
