"""Find out why a server failed: from exceptions of the session, HTTP responses, and the end of its process."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from acp_bindings._redact import Redactor
from mcp_launch.failures import Code, LaunchFailure, Stage

_MESSAGE = 2000
"""The longest message of a failure in characters, because it may quote what a server wrote."""
NEWER = "is there a newer release of the server?"
UNSUPPORTED_VERSION = re.compile(r"\bunsupported (?:mcp[ -])?protocol[ -]version\b", re.IGNORECASE)
"""What a server says that refuses the version of MCP, by HTTP or by JSON-RPC."""


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

    def failure(self, server: str, *, stage: Stage, hide: Redactor) -> LaunchFailure:
        """Return the failure of a server, redacted; `stage` counts if the diagnosis has none."""
        return LaunchFailure(
            hide.start(self.message, _MESSAGE),
            server=server,
            stage=self.stage or stage,
            code=self.code,
            facts=hide.json(self.facts),
            advice=self.advice and hide(self.advice),
        )


def advised(code: Code, event: str, advice: str, facts: dict[str, Any], *, said: str = "") -> Diagnosis:
    """Return a diagnosis whose message has the event, what the server said, and the advice."""
    return Diagnosis(code, f"{event}{said}; {advice}", facts, advice=advice)
