"""Checks: small functions with an id, what they require, and where that is from."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_bindings.probe._bench import Bench


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check of the probe."""

    id: str
    """Its family, a dot, and its name: `sessions.relative-cwd`."""
    requires: str
    """What is required of the agent, in a sentence."""
    source: str
    """Where that is from: a page and a section of the protocol, or another specification."""
    cure: str
    """What to do if an agent fails."""
    versions: tuple[int, ...]
    """The versions of the protocol that it is for."""
    stdio_only: bool
    """True if it is about the streams or the process of an agent."""
    run: Callable[[Bench], Awaitable[None]]


def check(
    source: str, cure: str = "", *, versions: tuple[int, ...] = (1, 2), stdio_only: bool = False
) -> Callable[[Callable[[Bench], Awaitable[None]]], Check]:
    """Make a check of a function. Its id is made of the names of its module and its own, the rest is its docstring."""

    def make(function: Callable[[Bench], Awaitable[None]]) -> Check:
        family = function.__module__.rpartition(".")[2]
        return Check(
            id=f"{family}.{function.__name__.strip('_')}".replace("_", "-"),
            requires=" ".join((inspect.getdoc(function) or "").split()),
            source=source,
            cure=cure,
            versions=versions,
            stdio_only=stdio_only,
            run=function,
        )

    return make
