"""What happened to every server, as JSON that can be shown: what was configured as secret is not in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from mcp_launch.failures import FailureJson
from mcp_launch.record import Record, State
from mcp_launch.redact import Redactor

__all__ = ["Report", "ServerReport", "ToolReport", "report"]


class ToolReport(TypedDict):
    """One tool."""

    name: str
    description: str | None


class ServerReport(TypedDict):
    """One server: how far it got, what it is, and why it cannot be used if it cannot."""

    name: str
    transport: str | None
    target: str | None
    """The command, or the URL without user-info and query."""
    state: State
    seconds: dict[str, float]
    """Time spent in each stage."""
    protocol_version: str | None
    server: dict[str, str] | None
    """The name and version the server gives itself."""
    tools: list[ToolReport] | None
    warnings: list[str]
    failure: FailureJson | None


class Report(TypedDict):
    """All servers, in the order of the request."""

    ok: bool
    servers: list[ServerReport]


def report(records: Sequence[Record]) -> Report:
    """The report of a launch."""
    return Report(ok=all(record.failure is None for record in records), servers=[_server(record) for record in records])


def _server(record: Record) -> ServerReport:
    spec, failure = record.spec, record.failure
    hide = spec.redactor if spec else Redactor()
    tools = record.tools
    return ServerReport(
        name=record.name,
        transport=spec.transport if spec else None,
        target=spec.target if spec else None,
        state=record.state,
        seconds={stage: round(seconds, 3) for stage, seconds in record.times.items()},
        protocol_version=record.protocol_version,
        server={key: hide(value) for key, value in record.server.items()} if record.server else None,
        tools=None
        if tools is None
        else [
            ToolReport(name=hide(tool.name), description=hide(tool.description) if tool.description else None)
            for tool in tools
        ],
        warnings=[hide(warning) for warning in record.warnings],
        failure=failure.to_json() if failure else None,
    )
