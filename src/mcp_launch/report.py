"""The JSON shape of reports; imports nothing that is slow to load."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from typing_extensions import TypedDict  # pydantic cannot read the one of Python 3.11

__all__ = [
    "CheckReport",
    "Code",
    "Era",
    "FailureJson",
    "FindingReport",
    "Report",
    "ServerReport",
    "Stage",
    "State",
    "ToolReport",
    "TransportName",
    "check_schema",
    "report_schema",
]


TransportName: TypeAlias = Literal["stdio", "http", "sse"]
"""The transport of a server, by its name in ACP."""

State: TypeAlias = Literal["starting", "ready", "failed", "closed"]

Stage: TypeAlias = Literal["spec", "spawn", "connect", "handshake", "list", "call", "close"]
"""The stages of a server, in order. A stdio server is spawned, the others are connected to."""

Era: TypeAlias = Literal["2026-07-28", "handshake"]
"""The way in which a session began: by `server/discover`, without a handshake, or by `initialize` as before."""

Code: TypeAlias = Literal[
    # spec
    "invalid_spec",
    "duplicate_name",
    "unsupported_transport",
    "invalid_options",
    # spawn
    "command_not_found",
    "not_executable",
    "exited",
    # HTTP and SSE
    "refused",
    "dns",
    "tls",
    "disconnected",
    "unauthorized",
    "forbidden",
    "not_found",
    "method_not_allowed",
    "rate_limited",
    "http_error",
    "redirected",
    "wrong_transport",
    "cross_origin_endpoint",
    "session_lost",
    # MCP
    "not_mcp",
    "timeout",
    "rejected",
    "unsupported_version",
    "invalid_response",
    "changed",
    # everything else
    "failed",
]


class FailureJson(TypedDict):
    """A failure in a report."""

    stage: Stage
    """The stage in which it happened."""
    code: Code
    """The kind of failure, for programs."""
    message: str
    """The event and the advice, for people."""
    advice: str
    """The advice, in sentences."""
    elapsed: float
    """Seconds from the start of the server."""
    facts: dict[str, Any]
    """The evidence: exit status and standard error of a process, status and headers of an HTTP response."""


class ToolReport(TypedDict):
    """One tool."""

    name: str
    description: str | None


class ServerReport(TypedDict):
    """The state of one server, what it is, and why it failed if it did."""

    name: str
    """Its name in the request, or its position such as `mcpServers[0]` if it has none."""
    transport: TransportName | None
    """For an entry that did not parse, the transport that was most likely meant, or null."""
    target: str | None
    """The command, or the URL without user-info and query."""
    state: State
    stage: Stage
    """The last stage that it reached; a server that works is in `call`."""
    seconds: dict[Stage, float]
    """Seconds spent in each finished stage."""
    era: Era | None
    """The way in which the session was opened."""
    protocol_version: str | None
    """The negotiated version of MCP."""
    server: dict[str, str] | None
    """The name and version that the server reports."""
    capabilities: dict[str, Any] | None
    """The capabilities of the server, as MCP writes them."""
    counts: dict[str, int]
    """The number of tools, resources, resource_templates and prompts, if they were listed."""
    tools: list[ToolReport] | None
    restarts: int
    """The number of restarts after it died."""
    warnings: list[str]
    """Problems that do not stop the server."""
    failure: FailureJson | None


class Report(TypedDict):
    """All servers, in the order of the request."""

    ok: bool
    """True if no server has failed."""
    servers: list[ServerReport]


class FindingReport(TypedDict):
    """A finding in a file that configures servers, or with `--lint` in the tools of a server."""

    source: str
    """The file, or another source of the servers."""
    line: int | None
    """Counted from 1, like the column; null if the server is not from a file."""
    column: int | None
    level: Literal["warning", "note"]
    """A note names something that is intentionally not started."""
    server: str | None
    """The name of the server concerned, started or not; null if it concerns the file."""
    code: str
    """The kind of finding, for programs."""
    message: str
    """The finding, for people."""


class CheckReport(TypedDict):
    """The output of `mcp-launch check --json`: a report, and findings in the files that configure the servers."""

    ok: bool
    """True if no server has failed and every file could be read."""
    servers: list[ServerReport]
    """In the order of the arguments and files."""
    findings: list[FindingReport]
    """In the order of the files, and by position within each file."""
    unusable: list[str]
    """Reasons why files or arguments cannot be used; the servers of such a file are not in `servers`."""


def report_schema() -> dict[str, Any]:
    """Return the JSON schema of a report."""
    return _schema(Report)


def check_schema() -> dict[str, Any]:
    """Return the JSON schema of the report of `mcp-launch check`."""
    return _schema(CheckReport)


def _schema(root: type[Report | CheckReport]) -> dict[str, Any]:
    # Imported here because pydantic is slow to load and only the schemas need it.
    from pydantic import TypeAdapter, with_config  # noqa: PLC0415

    for shape in (FailureJson, ToolReport, ServerReport, FindingReport, Report, CheckReport):
        with_config(use_attribute_docstrings=True)(shape)
    return TypeAdapter(root).json_schema()
