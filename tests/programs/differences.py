"""The steps in which a third-party program differs from the expected outcome, each with the reason."""

from __future__ import annotations

from dataclasses import dataclass

from tests.programs.steps import Facts


@dataclass(frozen=True)
class Difference:
    """A difference: the program, the step and version, the facts that show it, and the reason."""

    who: str
    step: str
    shown_by: Facts
    why: str
    version: int = 1


DIFFERENCES = [
    Difference(
        "TypeScript client",
        "an agent of an unknown version",
        {"refused": False},
        "Its v1 returns any version of the agent. Its user has to compare them.",
    ),
    Difference(
        "TypeScript client",
        "an unknown update",
        {"kept": False, "stop": "end_turn"},
        "Its v1 logs an update that it does not know, and drops it; the prompt ends as it should.",
    ),
    Difference(
        "official Python agent",
        "a version that is a date",
        {"code": 0},
        "The SDK takes any text for version 1, which its user cannot tell from a 1 that was sent.",
    ),
    Difference(
        "official Python agent",
        "session/new before initialize",
        {"code": 0},
        "The SDK has no order of methods: the session is made before anybody knows which version is spoken.",
    ),
]
"""A difference that no longer occurs makes the tests fail and must be removed."""
