"""A client's own MCP server, offered to an agent: over HTTP on the loopback interface, or as a command."""
