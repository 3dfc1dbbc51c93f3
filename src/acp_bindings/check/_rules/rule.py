"""The parts of a rule: a function that checks one message, with an id, a severity and a short description."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from acp_bindings.check._observed import ObservedMessage
from acp_bindings.setup.errors import Remark, Severity

Find: TypeAlias = Callable[[ObservedMessage], Iterable[Remark]]


OPENING = frozenset({"session/fork", "session/load", "session/new", "session/resume"})
"""The methods that create or open a session, whose params have MCP servers."""


@dataclass(frozen=True)
class Rule:
    """A rule, known by a stable id."""

    id: str
    """`family.name`. The families are the modules of this package, and `leniency`."""
    severity: Severity
    """The usual severity of its findings."""
    doc: str
    """A description of the problem, in one line."""


@dataclass(frozen=True)
class Look:
    """A function that checks one or more rules. Its remarks have the ids of these rules and full paths."""

    rules: tuple[Rule, ...]
    find: Find
    on: frozenset[str] | None
    """The methods of the messages to check, and of the requests that they answer; None for all messages.

    Payloads are checked in any case, because they have no method."""


_SEVERITIES: dict[str, Severity] = {}
"""The severity of each rule, by id."""


def rule(id: str, severity: Severity, *, on: Iterable[str] | None = None) -> Callable[[Find], Look]:  # noqa: A002
    """Make a rule from a function. Its docstring is the description."""
    return lambda find: _look([Rule(id, severity, str(find.__doc__).strip())], find, on)


def rules(
    severities: Mapping[Severity, Mapping[str, str]], *, on: Iterable[str] | None = None
) -> Callable[[Find], Look]:
    """Make several rules from one function: for each severity, their ids and descriptions."""
    listed = [Rule(id_, severity, doc) for severity, docs in severities.items() for id_, doc in docs.items()]
    return lambda find: _look(listed, find, on)


def _look(listed: list[Rule], find: Find, on: Iterable[str] | None) -> Look:
    _SEVERITIES.update({each.id: each.severity for each in listed})
    return Look(tuple(listed), find, None if on is None else frozenset(on))


def under(observed: ObservedMessage, remark: Remark, id: str, severity: Severity | None = None) -> Remark:  # noqa: A002
    """Return a *remark* of `acp_bindings.setup`, with a path in the body, as a remark of the rule *id*."""
    return replace(remark, path=(*observed.at, *remark.path), rule=id, severity=severity or remark.severity)


def whole(
    observed: ObservedMessage,
    id: str,  # noqa: A002
    message: str,
    *path: str | int,
    severity: Severity | None = None,
) -> Remark:
    """Return a remark on a message, or on the value at *path* in it. By default it has the severity of the rule."""
    return Remark((*observed.top, *path), id, message, severity or _SEVERITIES[id])


def remark(
    observed: ObservedMessage,
    id: str,  # noqa: A002
    message: str,
    *path: str | int,
    severity: Severity | None = None,
) -> Remark:
    """Return a remark on the value at *path* in the body. By default it has the severity of the rule."""
    return Remark((*observed.at, *path), id, message, severity or _SEVERITIES[id])
