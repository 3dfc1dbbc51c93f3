"""Offers a client's own MCP server to an agent: over HTTP on the loopback interface, or as a command over stdio."""
