"""The parts of a rule: a function that checks one message, with an id, a severity and a short description."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
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
    """`family.name`. The families are the modules of this package, apart from `remarks`, and `leniency`."""
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


def rule(id_: str, severity: Severity, *, on: Iterable[str] | None = None) -> Callable[[Find], Look]:
    """Make a rule from a function. Its docstring is the description."""
    return lambda find: rules({severity: {id_: str(find.__doc__).strip()}}, on=on)(find)


def rules(
    severities: Mapping[Severity, Mapping[str, str]], *, on: Iterable[str] | None = None
) -> Callable[[Find], Look]:
    """Make several rules from one function: for each severity, their ids and descriptions."""
    listed = tuple(Rule(id_, severity, doc) for severity, docs in severities.items() for id_, doc in docs.items())
    _SEVERITIES.update({each.id: each.severity for each in listed})
    return lambda find: Look(listed, find, None if on is None else frozenset(on))


def whole(
    observed: ObservedMessage, id_: str, message: str, *path: str | int, severity: Severity | None = None
) -> Remark:
    """Return a remark on a message, or on the value at *path* in it. By default it has the severity of the rule."""
    return Remark((*observed.top, *path), id_, message, severity or _SEVERITIES[id_])


def remark(
    observed: ObservedMessage, id_: str, message: str, *path: str | int, severity: Severity | None = None
) -> Remark:
    """Return a remark on the value at *path* in the body. By default it has the severity of the rule."""
    return Remark((*observed.at, *path), id_, message, severity or _SEVERITIES[id_])
