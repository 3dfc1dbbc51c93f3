"""Live MCP sessions from the `mcpServers` of an ACP request, or for each server the reason why not.

    async with mcp_launch.launch(request.mcp_servers, cwd=request.cwd) as fleet:
        tools = await fleet["filesystem"].session.list_tools()

Needs the extra `launch`; what needs the MCP SDK is imported when it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_launch.agents.capabilities import capabilities
    from mcp_launch.agents.catalogue import Catalogue, CatalogueEntry, UnknownTool
    from mcp_launch.agents.content import to_acp, to_mcp, tool_call_update
    from mcp_launch.agents.kept import ContentError
    from mcp_launch.budgets import Budgets
    from mcp_launch.changes import Change, Changes
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
    from mcp_launch.limits import Limits
    from mcp_launch.local.serve import LocalServer, serve_local
    from mcp_launch.options import Options
    from mcp_launch.restart import Restart
    from mcp_launch.servers.launched import LaunchedServer
    from mcp_launch.session import open_session
    from mcp_launch.shapes import Report, report_schema
    from mcp_launch.through_acp.consumer import AcpConsumer
    from mcp_launch.through_acp.provider import AcpProvider, AcpServer

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
    "LocalServer",
    "NoTransport",
    "NotReady",
    "Options",
    "Report",
    "Restart",
    "UnknownServer",
    "UnknownTool",
    "UnusableInput",
    "capabilities",
    "launch",
    "open_session",
    "report_schema",
    "serve_local",
    "to_acp",
    "to_mcp",
    "tool_call_update",
]

if not TYPE_CHECKING:
    # Imported on first use, so that the command can say what to install when the extra is missing. Hidden from type
    # checkers, to which a module with a `__getattr__` has every name there is.
    _HOMES = {
        "AcpConsumer": "through_acp.consumer",
        "AcpProvider": "through_acp.provider",
        "AcpServer": "through_acp.provider",
        "Budgets": "budgets",
        "Catalogue": "agents.catalogue",
        "CatalogueEntry": "agents.catalogue",
        "Change": "changes",
        "Changes": "changes",
        "ContentError": "agents.kept",
        "Fleet": "fleet",
        "InvalidResult": "failures",
        "LaunchError": "failures",
        "LaunchFailure": "failures",
        "LaunchedServer": "servers.launched",
        "Limits": "limits",
        "LocalServer": "local.serve",
        "NoTransport": "failures",
        "NotReady": "failures",
        "Options": "options",
        "Report": "shapes",
        "Restart": "restart",
        "UnknownServer": "failures",
        "UnknownTool": "agents.catalogue",
        "UnusableInput": "failures",
        "capabilities": "agents.capabilities",
        "launch": "fleet",
        "open_session": "session",
        "report_schema": "shapes",
        "serve_local": "local.serve",
        "to_acp": "agents.content",
        "to_mcp": "agents.content",
        "tool_call_update": "agents.content",
    }

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            module = importlib.import_module(f"{__name__}.{home}")
        except ModuleNotFoundError as error:
            raise ImportError(f"mcp_launch needs {error.name}: pip install 'acp-bindings[launch]'") from error
        return getattr(module, name)

    def __dir__() -> list[str]:
        return __all__
