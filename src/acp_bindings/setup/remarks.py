"""What the rules allow, or a reader excuses, and is most likely a mistake all the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from acp_bindings._problems.message_path import at
from acp_bindings.errors import Path

Severity: TypeAlias = Literal["error", "warning", "info"]
"""Whether it breaks a rule, is likely to go wrong, or is only good to know."""


@dataclass(frozen=True)
class Remark:
    """One thing that most likely was not meant."""

    path: Path
    """The way to it in the message, by wire name and index; empty for the whole."""

    rule: str
    """What it is: `unknown-capability`, `relative-command`, …"""

    message: str
    """What is odd, and what to do. It holds no secret: no value of `env` or `headers`, no query of a URL."""

    severity: Severity = "warning"

    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What it is about, by name, as JSON has it."""

    def __str__(self) -> str:
        """`agentCapabilities.mcp: there is no such capability; did you mean mcpCapabilities?`."""
        return f"{at(self.path)}{self.message}"
