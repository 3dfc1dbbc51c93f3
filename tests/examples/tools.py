"""An MCP server with the tools that the tests of the example agent need."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
from mcp.server import MCPServer

server = MCPServer("tools", log_level="ERROR")


@server.tool()
def where() -> str:
    """The directory that it runs in."""
    return os.getcwd()


@server.tool()
def pid() -> int:
    """Which process it is."""
    return os.getpid()


@server.tool()
async def stay(path: str) -> str:
    """Write a file to say that it has begun, and never answer."""
    Path(path).touch()
    await anyio.sleep_forever()
    return "never"


if __name__ == "__main__":
    server.run("stdio")
