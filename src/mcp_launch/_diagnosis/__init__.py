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
