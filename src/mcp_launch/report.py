"""What happened to every server, as JSON that can be shown: what was configured as secret is not in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import TypeAdapter, with_config
from typing_extensions import TypedDict  # that of Python 3.11 cannot be read by pydantic

from acp_bindings.secrets.redact import Redactor
from mcp_launch.changes import State
from mcp_launch.failures import FailureJson, Stage
from mcp_launch.servers.record import Record
from mcp_launch.specs import TransportName

if TYPE_CHECKING:
    from mcp_types import Tool

__all__ = ["Era", "Report", "ServerReport", "ToolReport", "report", "report_schema"]

Era: TypeAlias = Literal["2026-07-28", "handshake"]
"""How a session came to be: by `server/discover`, without a handshake, or by `initialize` as before."""


@with_config(use_attribute_docstrings=True)
class ToolReport(TypedDict):
    """One tool."""

    name: str
    description: str | None


@with_config(use_attribute_docstrings=True)
class ServerReport(TypedDict):
    """One server: how far it got, what it is, and why it cannot be used if it cannot."""

    name: str
    """Its name in the request, or its place there when it has none."""
    transport: TransportName | None
    """null for an entry that did not parse."""
    target: str | None
    """The command, or the URL without user-info and query."""
    state: State
    stage: Stage
    """How far it got: a server that works is in `call`."""
    seconds: dict[Stage, float]
    """Time spent in each stage that is over."""
    era: Era | None
    """How the session came to be."""
    protocol_version: str | None
    """The version of MCP that was agreed on."""
    server: dict[str, str] | None
    """The name and version the server gives itself."""
    capabilities: dict[str, Any] | None
    """What the server says that it can do, as MCP writes it."""
    counts: dict[str, int]
    """How many tools, resources, resource_templates and prompts it has, of those that were listed."""
    tools: list[ToolReport] | None
    restarts: int
    """How often it was started again after it had died."""
    warnings: list[str]
    """What the user should know of a server although it works."""
    failure: FailureJson | None


@with_config(use_attribute_docstrings=True)
class Report(TypedDict):
    """All servers, in the order of the request."""

    ok: bool
    """Whether none has failed."""
    servers: list[ServerReport]


def report(records: Sequence[Record]) -> Report:
    """The report of a launch."""
    return Report(ok=all(record.failure is None for record in records), servers=[_server(record) for record in records])


def report_schema() -> dict[str, Any]:
    """The JSON schema of a report."""
    return TypeAdapter(Report).json_schema()


def _server(record: Record) -> ServerReport:
    spec, failure, offer = record.spec, record.failure, record.offer
    hide = spec.redactor if spec else Redactor()
    return ServerReport(
        name=record.name,
        transport=spec.transport if spec else None,
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
