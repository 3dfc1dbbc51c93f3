"""Find out why a server failed: from exceptions of the session, HTTP responses, and the end of its process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mcp_launch.failures import Code, Stage


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The reason of a failure. Output of the server in it is not redacted yet."""

    code: Code
    message: str
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    stage: Stage | None = None
    """The stage, if the transport knows it better than the session."""
    advice: str | None = None
    """Advice, if the diagnosis has more than the general advice for the code."""


def advised(code: Code, event: str, advice: str, facts: dict[str, Any], *, said: str = "") -> Diagnosis:
    """Return a diagnosis whose message has the event, the advice, and what the server said."""
    return Diagnosis(code, f"{event}; {advice}{said}", facts, advice=advice)
