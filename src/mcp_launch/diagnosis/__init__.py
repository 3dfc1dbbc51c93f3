"""What went wrong, found out from what was seen: words of the session, answers of HTTP, last words of processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mcp_launch.failures import Code, Stage

__all__ = ["Diagnosis"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why a transport failed. What the server said in it is not yet redacted."""

    code: Code
    message: str
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    stage: Stage | None = None
    """Where, if the transport knows better than the session above it."""
