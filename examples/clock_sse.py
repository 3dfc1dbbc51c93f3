"""An MCP server over the deprecated SSE transport that wants an X-API-Key header, and answers 401 without it."""

from datetime import UTC, datetime, timedelta, timezone

from loopback import needs_header, serve
from mcp.server import MCPServer

clock = MCPServer("clock", version="1.0", log_level="WARNING")


@clock.tool()
def weekday(utc_offset_hours: float = 0) -> str:
    """Tell the day of the week at an offset from UTC."""
    return datetime.now(UTC).astimezone(timezone(timedelta(hours=utc_offset_hours))).strftime("%A")


if __name__ == "__main__":
    serve(needs_header(clock.sse_app(), "X-API-Key", "tick-tock", challenge="X-API-Key"), path="/sse")
