"""`nox -s bench -- limits`: what a hostile server costs its client, on each transport, and the worst of it.

Each line is a server and a client in processes of their own. `peak` is the memory above that of the open session,
`delay` the longest time during which nothing else ran in the client, and `stop` the time from SIGTERM until the call
was cancelled; in both, the time does not count for which the client waited for a processor. After the known shapes come
random ones.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
from typing import Any, NamedTuple

from benchmarks.limits.shapes import KNOWN, Shape, random_shape, to_json
from benchmarks.race import ENVIRONMENT, ROOT

TRANSPORTS = {
    "stdio": "stdio",
    "http": "Streamable HTTP, JSON",
    "stream": "Streamable HTTP, event stream",
    "sse": "SSE",
}
MOST_MEMORY, MOST_SECONDS = 400.0, 1.0
"""The goals, in MB and seconds."""


class Line(NamedTuple):
    """The cost of one message."""

    transport: str
    shape: Shape
    outcome: str
    peak: float
    delay: float
    seconds: float
    stopped: float

    def __str__(self) -> str:
        return (
            f"{self.transport:7}{self.outcome:19}{self.peak:7.0f} MB{self.delay:8.2f} s{self.stopped:8.2f} s"
            f"{self.seconds:8.2f} s  {self.shape}"
        )


def main() -> None:
    options = argparse.ArgumentParser(prog="nox -s bench -- limits", description=__doc__)
    options.add_argument("--only", nargs="+", choices=TRANSPORTS, default=list(TRANSPORTS), metavar="TRANSPORT")
    options.add_argument("--count", type=int, default=40, help="random shapes, on all transports together (40)")
    options.add_argument("--seed", type=int, default=1, help="of the random shapes (1)")
    options.add_argument("--quick", action="store_true", help="one shape on each transport, to see that it runs")
    options.add_argument("--loop", choices=["asyncio", "trio"], default="asyncio")
    chosen = options.parse_args()
    print(f"{'':7}{'outcome':19}{'peak':>10}{'delay':>10}{'stop':>10}{'all':>10}  message", flush=True)
    known = KNOWN[:1] if chosen.quick else KNOWN
    cases = [(transport, shape) for shape in known for transport in chosen.only if _is_possible(transport, shape)]
    seed = random.Random(chosen.seed)
    while len(cases) < len(known) * len(chosen.only) + (0 if chosen.quick else chosen.count):
        case = seed.choice(chosen.only), random_shape(seed)
        if _is_possible(*case):
            cases.append(case)
    lines: list[Line] = []
    for transport, shape in cases:
        lines.append(_measured(transport, shape, chosen.loop))
        print(lines[-1], flush=True)
    _print_worst(lines)


def _is_possible(transport: str, shape: Shape) -> bool:
    # A JSON body is one message, which is the response. The SSE server here and pipes do not compress.
    if transport == "http" and shape.kind not in ("response", "stray", "schema", "stall"):
        return False
    return not (shape.squeezed and transport in ("stdio", "sse"))


def _measured(transport: str, shape: Shape, loop: str) -> Line:
    command = [sys.executable, "-m", "benchmarks.limits.client", transport, to_json(shape), loop]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        return Line(transport, shape, "CRASHED", math.nan, math.nan, math.nan, math.nan)
    seen: dict[str, Any] = json.loads(done.stdout)
    return Line(transport, shape, seen["outcome"], seen["peak"], seen["delay"], seen["seconds"], seen["stopped"])


def _print_worst(lines: list[Line]) -> None:
    print("\nthe worst of each")
    for name, most, unit in (("peak", MOST_MEMORY, "MB"), ("delay", MOST_SECONDS, "s"), ("stopped", MOST_SECONDS, "s")):
        worst = max(lines, key=lambda line: 0.0 if math.isnan(getattr(line, name)) else getattr(line, name))
        reached = "reached" if getattr(worst, name) <= most else "NOT REACHED"
        print(f"{name:8}{getattr(worst, name):8.2f} {unit}, goal ≤ {most:g} {unit}: {reached}\n        {worst}")
    late = [line for line in lines if line.outcome in ("TimeoutError", "CRASHED")]
    print(f"calls that outlived their timeout, and crashes: {len(late)}")


if __name__ == "__main__":
    main()
