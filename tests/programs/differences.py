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
        "The SDK reads any string as version 1. Its user cannot tell it apart from a 1 in the message.",
    ),
    Difference(
        "official Python agent",
        "session/new before initialize",
        {"code": 0},
        "The SDK does not enforce an order of methods. It creates the session before a version is negotiated.",
    ),
]
"""A difference that no longer occurs makes the tests fail and must be removed."""
