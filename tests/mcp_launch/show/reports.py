"""Reports to show, and the time at which they were made."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, Literal

from mcp_launch._advice import ADVICE
from mcp_launch.failures import Code, FailureJson, Stage
from mcp_launch.report import CheckReport, FindingReport, ServerReport, ToolReport

__all__ = ["WHEN", "failed", "finding", "report", "tool", "works"]

WHEN = datetime(2026, 11, 21, 11, 5, 7, tzinfo=timezone(timedelta(hours=2)))
"""The time in a time zone two hours ahead of UTC."""


def report(*servers: ServerReport, findings: Sequence[FindingReport] = ()) -> CheckReport:
    works = all(server["failure"] is None for server in servers)
    return CheckReport(ok=works, servers=list(servers), findings=list(findings), unusable=[])


def works(name: str = "files", **more: Any) -> ServerReport:
    """Return the report of a server with one tool."""
    tools = more.get("tools", [tool("read", "Read a file.")])
    known: dict[str, Any] = {
        "name": name,
        "transport": "stdio",
        "target": "/usr/bin/files-mcp",
        "state": "ready",
        "stage": "call",
        "seconds": {"spawn": 0.01, "handshake": 0.5, "list": 0.04},
        "era": "handshake",
        "protocol_version": "2025-06-18",
        "server": {"name": "Files", "version": "1.2.0"},
        "capabilities": {"tools": {"listChanged": True}},
        "counts": {"tools": len(tools or ()), "resources": 0, "resource_templates": 0, "prompts": 1},
        "tools": tools,
        "restarts": 0,
        "warnings": [],
        "failure": None,
    }
    return ServerReport(**(known | more))


def failed(
    name: str = "broken",
    *,
    code: Code = "exited",
    stage: Stage = "handshake",
    message: str = "exited with status 1; it wrote on stderr: no key",
    elapsed: float = 1.5,
    facts: dict[str, Any] | None = None,
    advice: str | None = None,
    **more: Any,
) -> ServerReport:
    """Return the report of a server that failed."""
    evidence = {"stderr": ["starting", "no key"], "exit_code": 1} if facts is None else facts
    advice = ADVICE[code] if advice is None else advice
    failure = FailureJson(stage=stage, code=code, message=message, advice=advice, elapsed=elapsed, facts=evidence)
    nothing: dict[str, Any] = {"server": None, "capabilities": None, "counts": {}, "tools": None}
    known: dict[str, Any] = {"era": None, "protocol_version": None, "seconds": {"spawn": 0.25}, **nothing}
    return works(name, state="failed", stage=stage, failure=failure, **(known | more))


def finding(server: str | None, message: str, *, level: Literal["warning", "note"] = "warning") -> FindingReport:
    """Return a finding about a file."""
    return FindingReport(
        source="f.json", line=2, column=3, level=level, server=server, code="unset_variable", message=message
    )


def tool(name: str, description: str | None = None) -> ToolReport:
    return ToolReport(name=name, description=description)
