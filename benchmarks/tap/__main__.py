"""`nox -s bench -- tap`: what a tap costs a conversation.

Only comparisons are meaningful. They take the best of many short rounds, in which the contestants take turns.
"""

from __future__ import annotations

import argparse

from benchmarks.race import Figures, race
from benchmarks.tap.clients import CONTESTANTS, TRIPS, UPDATES

WHO = """\
bare         the client starts the agent
tee          sh -c 'tee -a FILE | agent | tee -a FILE'
between.py   examples/between.py
tap          acp-bindings tap -o FILE
tap --check  the same with --check"""

TASKS = {
    "median": f"latency: from a request to its response, µs, the median of {TRIPS}",
    "p99": "latency: the same, the 99th percentile",
    "stream": f"throughput: µs for each update, in a stream of {UPDATES:,}, each written by itself",
}


def main() -> None:
    options = argparse.ArgumentParser(prog="nox -s bench -- tap", description=__doc__)
    options.add_argument("--rounds", type=int, default=10, help="number of rounds")
    options.add_argument("--only", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS), metavar="CONTESTANT")
    chosen = options.parse_args()
    print(WHO)
    figures = race("benchmarks.tap.clients", chosen.only, dict.fromkeys(TASKS, chosen.rounds))
    for task, what in TASKS.items():
        print(f"\n{what}")
        for name in chosen.only:
            print(f"{name:12}{min(figures[task, name]) * 1e6:10.1f}")
    report(figures)


def report(figures: Figures) -> None:
    best = {key: min(seen) for key, seen in figures.items()}
    if ("median", "bare") not in best or ("median", "tap") not in best:
        return
    added = {task: best[task, "tap"] - best[task, "bare"] for task in ("median", "p99")}
    share = best["stream", "tap"] / best["stream", "bare"] - 1
    print(f"\ngoal: less than 1 ms for each trip: {_reached(added['p99'] < 1e-3)}", end="")
    print(f", {added['median'] * 1e6:.0f} µs at the median, {added['p99'] * 1e6:.0f} µs at the 99th percentile")
    print(f"goal: less than 5 % of the throughput: {_reached(share < 0.05)}, {share:+.1%}")


def _reached(is_reached: bool) -> str:
    return "REACHED" if is_reached else "NOT REACHED"


if __name__ == "__main__":
    main()
