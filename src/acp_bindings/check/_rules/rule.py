"""What a rule is: a function that looks at one message, with an id and a line that explains it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from acp_bindings.check._conversation import ObservedMessage
from acp_bindings.setup._peer import initialize_remarks
from acp_bindings.setup.capabilities import Side
from acp_bindings.setup.errors import Remark, Severity

Find: TypeAlias = Callable[[ObservedMessage], Iterable[Remark]]


@dataclass(frozen=True)
class Rule:
    """What is looked for, known by a stable id."""

    id: str
    """Its family (`schema`, `leniency`, `lifecycle`, `capability`, `path`, `secret`), a dot, and its name."""
    severity: Severity
    """How bad it mostly is."""
    doc: str
    """What is wrong where it is found, in a line."""


@dataclass(frozen=True)
class Look:
    """A function that checks one rule, or several. Its remarks have the ids of these, and paths from the top."""

    rules: tuple[Rule, ...]
    find: Find


def rule(id: str, severity: Severity) -> Callable[[Find], Look]:  # noqa: A002
    """Make a rule of a function, whose docstring explains it."""

    def made(find: Find) -> Look:
        return Look((Rule(id, severity, str(find.__doc__).strip()),), find)

    return made


def rules(severities: Mapping[Severity, Mapping[str, str]]) -> Callable[[Find], Look]:
    """Make several rules of one function: for each severity their ids, with a line that explains each."""

    def made(find: Find) -> Look:
        listed = (Rule(id_, severity, doc) for severity, docs in severities.items() for id_, doc in docs.items())
        return Look(tuple(listed), find)

    return made


def under(observed: ObservedMessage, remark: Remark, id: str, severity: Severity | None = None) -> Remark:  # noqa: A002
    """A *remark* of `acp_bindings.setup`, whose path is one in the body, as a remark of the rule *id*."""
    return replace(remark, path=(*observed.at, *remark.path), rule=id, severity=severity or remark.severity)


def of_initialize(
    observed: ObservedMessage,
    remark_rule: str,
    id: str,  # noqa: A002
    *,
    severity: Severity | None = None,
) -> Iterator[Remark]:
    """What `initialize_remarks` says by the rule *remark_rule* of a message of `initialize`, as the rule *id*."""
    side = _SIDES.get(observed.type_name or "")
    if side is not None and observed.typed is not None:
        for each in initialize_remarks(observed.typed, side=side, version=observed.version):
            if each.rule == remark_rule:
                yield under(observed, each, id, severity)


_SIDES: dict[str, Side] = {"InitializeRequest": "client", "InitializeResponse": "agent"}


def whole(observed: ObservedMessage, id: str, message: str, *path: str | int, severity: Severity = "error") -> Remark:  # noqa: A002
    """The remark of a rule on a message, or on what stands at *path* in it."""
    return Remark((*observed.top, *path), id, message, severity)


def remark(
    observed: ObservedMessage,
    id: str,  # noqa: A002
    message: str,
    *path: str | int,
    severity: Severity = "error",
    **facts: Any,
) -> Remark:
    """The remark of a rule on what stands at *path* in the body."""
    return Remark((*observed.at, *path), id, message, severity, facts)
