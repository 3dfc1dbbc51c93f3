"""Checks: small functions with an id, what they require, and where that is from; and their outcomes.

A check that returns is `ok`; the other outcomes are raised.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from acp_bindings.probe._bench import Bench
    from acp_bindings.probe._probed_agent import Line


Over: TypeAlias = Literal["any", "lines", "stdio"]
"""`lines`: transports that carry any line, which HTTP does not. `stdio`: standard streams of a process."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check of the probe."""

    id: str
    """Its family, a dot, and its name: `sessions.relative-cwd`."""
    requires: str
    """The requirement, in a sentence."""
    source: str
    """The source: a page and a section of the protocol, or another specification."""
    cure: str
    """The advice if an agent fails."""
    versions: tuple[int, ...]
    """The versions of the protocol that it is for."""
    over: Over
    """The transports that it is for."""
    run: Callable[[Bench], Awaitable[None]]


def check(
    source: str, cure: str, *, versions: tuple[int, ...] = (1, 2), over: Over = "any"
) -> Callable[[Callable[[Bench], Awaitable[None]]], Check]:
    """Make a check of a function. `check_auth.login` has the id `auth.login` and requires what its docstring says."""

    def make(function: Callable[[Bench], Awaitable[None]]) -> Check:
        family = function.__module__.rpartition(".check_")[2]
        name: str = getattr(function, "__name__", "")
        return Check(
            id=f"{family}.{name.strip('_')}".replace("_", "-"),
            requires=" ".join((inspect.getdoc(function) or "").split()),
            source=source,
            cure=cure,
            versions=versions,
            over=over,
            run=function,
        )

    return make


Status: TypeAlias = Literal["ok", "fail", "warn", "skip"]


class Outcome(Exception):  # noqa: N818 - three of them are not errors
    """The end of a check that is not `ok`."""

    status: Status

    def __init__(self, message: str, lines: Iterable[Line] = (), *, cure: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.lines = list(lines)
        """The lines of the conversation that show it; none if the check was skipped."""
        self.cure = cure
        """The advice; by default that of the check."""
        self.hint = hint
        """What else may help."""


class Failed(Outcome):
    """The agent does not do what the protocol requires."""

    status = "fail"


class Warned(Outcome):
    """The agent does not do what the protocol recommends, or what clients rely on."""

    status = "warn"


class Skipped(Outcome):
    """The check could not be made; the message says why."""

    status = "skip"
