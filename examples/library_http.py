"""An MCP server over Streamable HTTP that responds with 401 without an Authorization header."""

from loopback import needs_header, serve
from mcp.server import MCPServer

library = MCPServer("library", version="1.0", log_level="WARNING")

SHELVES = {"protocols": "The Art of Saying Exactly That", "gardens": "Herbs for Small Balconies"}


@library.tool()
def find_book(topic: str) -> str:
    """Find a book on a topic."""
    return SHELVES.get(topic, "nothing on that topic")


if __name__ == "__main__":
    app = library.streamable_http_app()
    serve(needs_header(app, "Authorization", "Bearer library-card", challenge="Bearer"), path="/mcp")
