"""The report of a launch: what happened to every server, as JSON, without what was configured as secret."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from acp_bindings._redact import Redactor
from mcp_launch.servers.record import Record
from mcp_launch.shapes import Era, Report, ServerReport, ToolReport

if TYPE_CHECKING:
    from mcp_types import Tool

__all__ = ["report"]


def report(records: Sequence[Record]) -> Report:
    """The report of a launch."""
    return Report(ok=all(record.failure is None for record in records), servers=[_server(record) for record in records])


def _server(record: Record) -> ServerReport:
    spec, failure, offer = record.spec, record.failure, record.offer
    hide = spec.redactor if spec else Redactor()
    return ServerReport(
        name=record.name,
        transport=record.transport,
        target=spec.target if spec else None,
        state=record.state,
        stage=record.stage,
        seconds={stage: round(seconds, 3) for stage, seconds in record.times.items()},
        era=_era(record.protocol_version),
        protocol_version=record.protocol_version,
        server=hide.json(record.server),
        capabilities=hide.json(record.capabilities),
        counts=offer.counts,
        tools=None if offer.tools is None else [_tool(tool, hide) for tool in offer.tools],
        restarts=record.restarts,
        warnings=[hide(warning) for warning in record.warnings],
        failure=failure.to_json() if failure else None,
    )


def _tool(tool: Tool, hide: Redactor) -> ToolReport:
    return ToolReport(name=hide(tool.name), description=hide(tool.description) if tool.description else None)


def _era(protocol_version: str | None) -> Era | None:
    if protocol_version is None:
        return None
    # Versions are dates.
    return "2026-07-28" if protocol_version >= "2026-07-28" else "handshake"
