"""The shape of a report as JSON, and the words that stand in it; loads nothing that takes time."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from typing_extensions import TypedDict  # that of Python 3.11 cannot be read by pydantic

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
"""How a server is reached, as ACP calls it."""

State: TypeAlias = Literal["starting", "ready", "failed", "closed"]

Stage: TypeAlias = Literal["spec", "spawn", "connect", "handshake", "list", "call", "close"]
"""The stages of a server's life, in order. A stdio server is spawned, the others are connected to."""

Era: TypeAlias = Literal["2026-07-28", "handshake"]
"""How a session began: by `server/discover`, without a handshake, or by `initialize` as before."""

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
    # everything else
    "failed",
]


class FailureJson(TypedDict):
    """A failure in a report."""

    stage: Stage
    """Where in the server's life it happened."""
    code: Code
    """What happened, for programs."""
    message: str
    """What happened, and what to try, for people."""
    elapsed: float
    """Seconds from the start of the server."""
    facts: dict[str, Any]
    """The evidence: exit status and standard error of a process, status and headers of an HTTP answer."""


class ToolReport(TypedDict):
    """One tool."""

    name: str
    description: str | None


class ServerReport(TypedDict):
    """One server: how far it got, what it is, and why it cannot be used if it cannot."""

    name: str
    """Its name in the request; where it has none, its place, such as `mcpServers[0]`."""
    transport: TransportName | None
    """Of an entry that did not parse the one that was meant; null if nothing tells."""
    target: str | None
    """The command, or the URL without user-info and query."""
    state: State
    stage: Stage
    """How far it got: a server that works is in `call`."""
    seconds: dict[Stage, float]
    """Time spent in each stage that is over."""
    era: Era | None
    """How the session began."""
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


class Report(TypedDict):
    """All servers, in the order of the request."""

    ok: bool
    """Whether none has failed."""
    servers: list[ServerReport]


class FindingReport(TypedDict):
    """Something odd in a file that names servers."""

    source: str
    """The file, or what else the servers are from."""
    line: int
    """From 1, as the column."""
    column: int
    level: Literal["warning", "note"]
    """A note says what is not started, and why that is meant so."""
    server: str | None
    """The name of the server that it is about, which may be one that is not started; null for the file."""
    code: str
    """What it is, for programs."""
    message: str
    """What it is, for people."""


class CheckReport(TypedDict):
    """What `mcp-launch check` prints: a report, and what is odd in the files that name its servers."""

    ok: bool
    """Whether no server has failed, and every file that names servers could be read."""
    servers: list[ServerReport]
    """In the order in which they were named."""
    findings: list[FindingReport]
    """In the order of the files, and in each file by place."""
    unusable: list[str]
    """Why a file, or what was typed, cannot be used; the servers of such a file are not in `servers`."""


def report_schema() -> dict[str, Any]:
    """The JSON schema of a report."""
    return _schema(Report)


def check_schema() -> dict[str, Any]:
    """The JSON schema of the report that `mcp-launch check` prints."""
    return _schema(CheckReport)


def _schema(root: type[Report | CheckReport]) -> dict[str, Any]:
    # Imported here: pydantic takes time to load, and only the schemas need it.
    from pydantic import TypeAdapter, with_config  # noqa: PLC0415

    for shape in (FailureJson, ToolReport, ServerReport, FindingReport, Report, CheckReport):
        with_config(use_attribute_docstrings=True)(shape)
    return TypeAdapter(root).json_schema()
