"""The stages of each server in seconds from its start, and the ticks of a scale that fits all servers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mcp_launch.failures import Stage
from mcp_launch.shapes import ServerReport

__all__ = ["Span", "elapsed", "spans", "ticks"]

_MOST_TICKS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One stage of one server."""

    stage: Stage
    start: float
    """Seconds from the start of the server."""
    seconds: float
    failed: bool = False
    """Whether the server failed in this stage."""


def elapsed(server: ServerReport) -> float:
    """Seconds from the start of a server until it was ready or had failed."""
    spent = sum(server["seconds"].values())
    # Each stage is rounded on its own, so that their sum may be a little longer than `elapsed`.
    return max(spent, server["failure"]["elapsed"]) if server["failure"] else spent


def spans(server: ServerReport) -> list[Span]:
    """The stages of a server, one after the other; the last is that in which it failed, if it did."""
    found: list[Span] = []
    spent = 0.0
    for stage, seconds in server["seconds"].items():
        found.append(Span(stage=stage, start=spent, seconds=seconds))
        spent += seconds
    if failure := server["failure"]:
        found.append(Span(stage=failure["stage"], start=spent, seconds=elapsed(server) - spent, failed=True))
    return found


def ticks(longest: float) -> list[float]:
    """Round numbers of seconds from zero to at most `longest`, not more than `_MOST_TICKS` of them."""
    if longest <= 0:
        return [0.0]
    power = 10.0 ** math.floor(math.log10(longest / _MOST_TICKS))
    step = next(step for step in (2 * power, 5 * power, 10 * power, 20 * power) if longest / step < _MOST_TICKS)
    return [round(step * number, 9) for number in range(int(longest / step) + 1)]
