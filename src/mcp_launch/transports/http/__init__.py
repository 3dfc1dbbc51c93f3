"""The Streamable HTTP transport of MCP: the SDK's, on an HTTP client of ours."""
