"""Contestants in processes of their own, which take turns in short rounds; the best round of each counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Installed packages are compiled; what is imported from here has to be, too, after the first time."""


def best_rounds(contestants: Iterable[str], tasks: Iterable[str], rounds: int) -> dict[tuple[str, str], float]:
    """What each contestant needs for each task that it has a part in."""
    best: dict[tuple[str, str], float] = {}
    with _running(contestants) as processes:
        for _ in range(rounds):
            for task in tasks:
                for name, process in processes.items():
                    if (needed := _ask(process, task)) is not None:
                        best[task, name] = min(needed, best.get((task, name), needed))
    return best


def best_imports(codes: dict[str, str], rounds: int) -> dict[str, float]:
    """The seconds that each code takes in a new process, the start of Python not counted."""
    for code in codes.values():
        _seconds_of(code)  # compiles what is not
    best = dict.fromkeys(codes, float("inf"))
    for _ in range(rounds):
        for name, code in codes.items():
            best[name] = min(best[name], _seconds_of(code))
    return best


@contextmanager
def _running(contestants: Iterable[str]) -> Iterator[dict[str, subprocess.Popen[str]]]:
    command = [sys.executable, "-m", "benchmarks.bindings.contestants"]
    processes = {
        name: subprocess.Popen(
            [*command, name], cwd=ROOT, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
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
