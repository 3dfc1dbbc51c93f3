"""`nox -s bench -- connection`: the speed of all contestants in one run.

Figures are medians of short rounds in which the contestants take turns. Only ratios are meaningful: they are medians
of the ratios of all rounds, because a machine that others use may be twice as slow a minute later. After the
measurement, every stream is compared with the updates that were sent.
"""

from __future__ import annotations

import argparse
from statistics import median

from benchmarks.connection.clients import CONTESTANTS, IN_FLIGHT, TRIPS
from benchmarks.connection.updates import LONG, SHORT
from benchmarks.race import Figures, race

WHO = """\
ours         acp_bindings.connection on both sides: connect_process and connect_stdio, handlers that are `async def`
official     agent-client-protocol on both sides: spawn_agent_process and run_agent
our client   our client with the official agent
our agent    our agent with the official client
layers       acp_bindings.client and acp_bindings.agent, with the state and the history of the session
agent layer  our client with acp_bindings.agent
client layer acp_bindings.client with our agent
ours, trio   ours on both sides, on trio; all others run on asyncio
ours, def    ours on both sides, with a client handler that is not `async`
bare         lines and JSON over pipes, without types, event loop and checks: the limit"""

OTHERS = [name for name in CONTESTANTS if name != "ours"]
STREAMS = {
    "stream": (
        f"stream: an update from an agent's notify to a client's handler, both typed, µs, in a stream of {SHORT:,}",
        "session/update",
        "at least 3 times as fast as the official SDK",
        3.0,
    ),
    "long stream": (
        f"long stream: the same, in a stream of {LONG:,}",
        "session/update",
        "at least 3 times as fast as the official SDK",
        3.0,
    ),
    "cpu": (
        "processor time: an update of a long stream, both processes together, µs",
        "session/update",
        "at least 3 times less than the official SDK",
        3.0,
    ),
}
"""The measurements of updates: title, row, goal, and the ratio of the goal."""
REQUESTS = {
    "median": (
        f"latency: from a request to its response, typed, µs, one at a time; the median of {TRIPS}",
        "session/new",
        "not slower than the official SDK",
        1.0,
    ),
    "p99": ("latency: the same, the 99th percentile", "session/new", "not slower than the official SDK", 1.0),
    "in flight": (
        f"throughput: requests with {IN_FLIGHT} in flight at all times, µs for one",
        f"{IN_FLIGHT} session/new",
        "not slower than the official SDK",
        1.0,
    ),
}
"""Those of requests."""


def main() -> None:
    options = argparse.ArgumentParser(prog="nox -s bench -- connection", description=__doc__)
    options.add_argument("--rounds", type=int, default=20, help="number of rounds")
    options.add_argument("--only", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS), metavar="CONTESTANT")
    chosen = options.parse_args()
    print(WHO)
    # In processes of their own, because an agent keeps the thousands of sessions that requests create.
    for tasks in (STREAMS, REQUESTS):
        figures = race("benchmarks.connection.clients", chosen.only, dict.fromkeys(tasks, chosen.rounds))
        for task, description in tasks.items():
            report(task, description, figures)


def report(task: str, description: tuple[str, str, str, float], figures: Figures) -> None:
    what, row, goal, wanted = description
    rounds = {name: seen for (of, name), seen in figures.items() if of == task}

    def ratio(name: str, of: str) -> float:
        return median(one / other for one, other in zip(rounds[name], rounds[of], strict=True))

    def shown(name: str) -> str:
        if name not in rounds:
            return "-"
        figure = f"{median(rounds[name]) * 1e6:.1f}"
        return figure if name == "ours" or "ours" not in rounds else f"{figure} ({ratio(name, 'ours'):5.2f})"

    others = "".join(f"{name:>20}" for name in OTHERS)
    print(f"\n{what}\n{'':18}{'ours':>10}{others}   (others: their figure, and it / ours)")
    print(f"{row:18}{shown('ours'):>10}" + "".join(f"{shown(name):>20}" for name in OTHERS))
    if {"ours", "official"} <= rounds.keys():
        found = ratio("official", "ours")
        print(f"goal: {goal}: {_reached(found, wanted)}, {found:.2f}; {1 / median(rounds['ours']):,.0f} a second")
    if task in STREAMS and {"ours", "official", "layers"} <= rounds.keys():
        found = ratio("layers", "ours")
        print(f"goal: the layers at most 1.15 times ours: {_reached(1.15, found)}, {found:.2f}")
        found = ratio("official", "layers")
        print(f"goal: the layers at least 4 times less than the official SDK: {_reached(found, 4)}, {found:.2f}")


def _reached(ratio: float, wanted: float) -> str:
    return "REACHED" if ratio >= wanted else "NOT REACHED"


if __name__ == "__main__":
    main()
