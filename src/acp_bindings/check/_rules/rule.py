"""What a rule is: a function that looks at one message, with an id and a line that explains it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from acp_bindings.check._conversation import Said
from acp_bindings.setup._peer import initialize_remarks
from acp_bindings.setup.capabilities import Side
from acp_bindings.setup.errors import Remark, Severity

Finder: TypeAlias = Callable[[Said], Iterable[Remark]]


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
    find: Finder


def rule(id: str, severity: Severity) -> Callable[[Finder], Look]:  # noqa: A002
    """Make a rule of a function, whose docstring explains it."""

    def made(find: Finder) -> Look:
        return Look((Rule(id, severity, str(find.__doc__).strip()),), find)

    return made


def rules(severities: Mapping[Severity, Mapping[str, str]]) -> Callable[[Finder], Look]:
    """Make several rules of one function: for each severity their ids, with a line that explains each."""

    def made(find: Finder) -> Look:
        listed = (Rule(id_, severity, doc) for severity, docs in severities.items() for id_, doc in docs.items())
        return Look(tuple(listed), find)

    return made


def under(said: Said, remark: Remark, id: str, severity: Severity | None = None) -> Remark:  # noqa: A002
    """A *remark* of `acp_bindings.setup`, whose path is one in the body, as a remark of the rule *id*."""
    return replace(remark, path=(*said.at, *remark.path), rule=id, severity=severity or remark.severity)


def of_initialize(said: Said, remark_rule: str, id: str, *, severity: Severity | None = None) -> Iterator[Remark]:  # noqa: A002
    """What `initialize_remarks` says by the rule *remark_rule* of a message of `initialize`, as the rule *id*."""
    side = _SIDES.get(said.type_name or "")
    if side is not None and said.typed is not None:
        for each in initialize_remarks(said.typed, side=side, version=said.version):
            if each.rule == remark_rule:
                yield under(said, each, id, severity)


_SIDES: dict[str, Side] = {"InitializeRequest": "client", "InitializeResponse": "agent"}


def whole(said: Said, id: str, message: str, *path: str | int, severity: Severity = "error") -> Remark:  # noqa: A002
    """The remark of a rule on a message, or on what stands at *path* in it."""
    return Remark((*said.top, *path), id, message, severity)


def remark(said: Said, id: str, message: str, *path: str | int, severity: Severity = "error", **facts: Any) -> Remark:  # noqa: A002
    """The remark of a rule on what stands at *path* in the body."""
    return Remark((*said.at, *path), id, message, severity, facts)
