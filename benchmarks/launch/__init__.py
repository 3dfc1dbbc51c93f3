"""The speed of launching MCP servers, compared with the SDK and other libraries."""
