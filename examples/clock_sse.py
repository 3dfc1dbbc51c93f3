"""An MCP server over the deprecated SSE transport that responds with 401 without an X-API-Key header."""

import datetime

from loopback import needs_header, serve
from mcp.server import MCPServer

clock = MCPServer("clock", version="1.0", log_level="WARNING")


@clock.tool()
def weekday(date: str) -> str:
    """Tell the day of the week of a date, which is written as in 2026-01-01."""
    return f"{datetime.date.fromisoformat(date):%A}"


if __name__ == "__main__":
    serve(needs_header(clock.sse_app(), "X-API-Key", "tick-tock", challenge="X-API-Key"), path="/sse")
