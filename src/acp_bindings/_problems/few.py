"""The first few of many problems, as many as a line has room for."""

from __future__ import annotations

from collections.abc import Sequence

_SHOWN = 3


def few(told: Sequence[str]) -> str:
    """`a; b; c; 4 more`: the first three, and how many are not shown."""
    more = [f"{len(told) - _SHOWN} more"] if len(told) > _SHOWN else []
    return "; ".join([*told[:_SHOWN], *more])
