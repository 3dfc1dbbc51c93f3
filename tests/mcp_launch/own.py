"""A client's own MCP server for the tests of offering it, and a record of its use."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context


class Own:
    """A server with tools that return at once, report progress, or never return."""

    def __init__(self) -> None:
        self.server: MCPServer[Any] = MCPServer("editor", lifespan=self._live, log_level="WARNING")
        self.waiting, self.cancelled = anyio.Event(), anyio.Event()
        self.lives = 0
        self.server.tool()(self.selection)
        self.server.tool()(self.count)
        self.server.tool()(self.wait)

    @asynccontextmanager
    async def _live(self, _: Any) -> AsyncGenerator[None]:
        self.lives += 1
        yield
        # Not cancelled, when the block ends as it should.
        await anyio.sleep(0)
        self.lives -= 1

    async def selection(self, file: str) -> str:
        """Return the selected text."""
        return f"the selection in {file}"

    async def count(self, context: Context[Any, Any], last: int) -> str:
        """Count, and report progress."""
        for number in range(1, last + 1):
            await context.report_progress(number, last)
        return "done"

    async def wait(self) -> None:
        """Wait forever."""
        self.waiting.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.cancelled.set()
