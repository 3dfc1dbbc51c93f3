"""`nox -s bench -- remote`: updates over HTTP and WebSocket, next to stdio and to the official SDKs; many connections.

Contestants take turns in short rounds, so that a busy machine affects all of them. All servers of Python are uvicorn.
"""

from __future__ import annotations

import argparse
import shutil
from statistics import median

import anyio

from benchmarks.connection.updates import SHORT
from benchmarks.race import race
from benchmarks.remote.clients import CONTESTANTS
from benchmarks.remote.crowd import crowd

GOALS = (
    ("seconds", "http", "official http", "at least 3 times as fast as the official Python SDK", 3.0),
    ("seconds", "http", "TypeScript http", "at least 3 times as fast as the TypeScript SDK", 3.0),
    ("seconds", "ws", "official ws", "at least 3 times as fast as the official Python SDK", 3.0),
    ("seconds", "ws", "TypeScript ws", "at least 3 times as fast as the TypeScript SDK", 3.0),
)
CPU_OF_WEBSOCKET = 1.5
"""The goal: at most so many times the CPU time of stdio."""


def main() -> None:
    options = argparse.ArgumentParser(prog="nox -s bench -- remote", description=__doc__)
    options.add_argument("--rounds", type=int, default=10, help="number of rounds")
    options.add_argument("--only", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS), metavar="CONTESTANT")
    options.add_argument("--connections", type=int, nargs="*", default=[100, 300, 1000], help="sizes of the crowd")
    chosen = options.parse_args()
    names = [each for each in chosen.only if shutil.which("node") or not each.startswith("TypeScript")]
    found = race("benchmarks.remote.clients", names, {"seconds": chosen.rounds, "cpu": max(1, chosen.rounds // 3)})
    best = {key: (min if key[0] == "seconds" else median)(seen) * 1e6 for key, seen in found.items()}
    print(f"an update of a stream of {SHORT:,}, from notify to the handler of the client\n")
    print(f"{'':18}{'µs':>8}{'CPU, both sides, µs':>22}{'CPU / stdio':>14}")
    for name in names:
        cpu, stdio = best["cpu", name], best.get(("cpu", "stdio"))
        ratio = f"{cpu / stdio:>14.2f}" if stdio else ""
        print(f"{name:18}{best['seconds', name]:>8.1f}{cpu:>22.1f}{ratio}")
    print()
    for task, own, other, goal, wanted in GOALS:
        if (task, own) in best and (task, other) in best:
            ratio = best[task, other] / best[task, own]
            print(f"{own}: {ratio:.2f}; goal: {goal}: {'REACHED' if ratio >= wanted else 'NOT REACHED'}")
    if ("cpu", "ws") in best and ("cpu", "stdio") in best:
        ratio = best["cpu", "ws"] / best["cpu", "stdio"]
        goal = f"at most {CPU_OF_WEBSOCKET} times the CPU of stdio"
        print(f"ws: {ratio:.2f}; goal: {goal}: {'REACHED' if ratio <= CPU_OF_WEBSOCKET else 'NOT REACHED'}")
    for scheme in ("http", "ws"):
        for count in chosen.connections:
            print(anyio.run(crowd, scheme, count))


if __name__ == "__main__":
    main()
