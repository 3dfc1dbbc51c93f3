"""Starts the MCP servers of an ACP request, and explains why a server cannot be used.

    async with mcp_launch.launch(request.mcp_servers, cwd=request.cwd) as fleet:
        tools = await fleet["filesystem"].session.list_tools()

Requires the extra `launch`. Modules are imported when a name is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_bindings._lazy import lazy_names

if TYPE_CHECKING:
    from mcp_launch._catalogue import Catalogue, CatalogueEntry, UnknownTool, capabilities
    from mcp_launch._lint import LintRule, LintTarget, estimate_tokens, lint, lint_rules
    from mcp_launch._local.serve import LocalServer, serve_local
    from mcp_launch._servers.launched import LaunchedServer
    from mcp_launch._servers.record import Change, Changes
    from mcp_launch._through_acp.consumer import AcpConsumer
    from mcp_launch._through_acp.provider import AcpProvider, AcpServer
    from mcp_launch.content import ContentError, to_acp, to_mcp, tool_call_update
    from mcp_launch.failures import (
        InvalidResult,
        LaunchError,
        LaunchFailure,
        NoTransport,
        NotReady,
        UnknownServer,
        UnusableInput,
    )
    from mcp_launch.fleet import Fleet, launch
    from mcp_launch.lock import ToolChange, ToolLock
    from mcp_launch.logins import StoredLogins
    from mcp_launch.options import Budgets, Limits, Options, Restart
    from mcp_launch.report import Report, report_schema
    from mcp_launch.session import open_session
    from mcp_launch.sessions import SessionServers, for_sessions

__all__ = [
    "AcpConsumer",
    "AcpProvider",
    "AcpServer",
    "Budgets",
    "Catalogue",
    "CatalogueEntry",
    "Change",
    "Changes",
    "ContentError",
    "Fleet",
    "InvalidResult",
    "LaunchError",
    "LaunchFailure",
    "LaunchedServer",
    "Limits",
    "LintRule",
    "LintTarget",
    "LocalServer",
    "NoTransport",
    "NotReady",
    "Options",
    "Report",
    "Restart",
    "SessionServers",
    "StoredLogins",
    "ToolChange",
    "ToolLock",
    "UnknownServer",
    "UnknownTool",
    "UnusableInput",
    "capabilities",
    "estimate_tokens",
    "for_sessions",
    "launch",
    "lint",
    "lint_rules",
    "open_session",
    "report_schema",
    "serve_local",
    "to_acp",
    "to_mcp",
    "tool_call_update",
]

if not TYPE_CHECKING:
    # Imported on first use, so that the command can say what to install if the extra is missing. Hidden from type
    # checkers, which accept any name of a module with a `__getattr__`.
    _, _load, _ = lazy_names(
        __name__,
        {
            "_catalogue": "Catalogue CatalogueEntry UnknownTool capabilities",
            "content": "ContentError to_acp to_mcp tool_call_update",
            "failures": "InvalidResult LaunchError LaunchFailure NoTransport NotReady UnknownServer UnusableInput",
            "fleet": "Fleet launch",
            "_lint": "LintRule LintTarget estimate_tokens lint lint_rules",
            "_local.serve": "LocalServer serve_local",
            "logins": "StoredLogins",
            "lock": "ToolChange ToolLock",
            "options": "Budgets Limits Options Restart",
            "report": "Report report_schema",
            "_servers.launched": "LaunchedServer",
            "_servers.record": "Change Changes",
            "session": "open_session",
            "sessions": "SessionServers for_sessions",
            "_through_acp.consumer": "AcpConsumer",
            "_through_acp.provider": "AcpProvider AcpServer",
        },
    )

    def __getattr__(name: str) -> Any:
        try:
            return _load(name)
        except ModuleNotFoundError as error:
            needed = (error.name or "").partition(".")[0]
            raise ImportError(f"mcp_launch needs {needed}: pip install 'acp-bindings[launch]'") from error

    def __dir__() -> list[str]:
        return __all__
