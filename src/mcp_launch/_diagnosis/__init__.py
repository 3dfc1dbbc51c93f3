"""Finds out why a server failed: from exceptions of the session, answers of HTTP, and the end of its process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mcp_launch.failures import Code, Stage


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why a server failed. What the server itself said is not redacted yet."""

    code: Code
    message: str
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    stage: Stage | None = None
    """Where it failed, if the transport knows better than the session above it."""
