"""The MCP server of the client itself, which runs in its process and is offered to the agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp.server import MCPServer

import mcp_launch
from acp_bindings.setup import AgentPeer

if TYPE_CHECKING:
    from acp_bindings.setup.unions import McpServer

editor = MCPServer("editor", version="1.0", log_level="WARNING")


@editor.tool()
def selection() -> str:
    """The text that the user has selected."""
    return "def answer() -> int:"


@asynccontextmanager
async def offered(agent: AgentPeer) -> AsyncGenerator[list[McpServer]]:
    """Offer the server while the block runs, by a transport of the agent. Yield an empty list if it supports none."""
    wire: Any = agent.protocol
    try:
        local = mcp_launch.serve_local(editor, agent=agent.capabilities)
        async with local as server:
            yield [server.spec(wire.McpServer)]
    except mcp_launch.NoTransport:
        yield []
