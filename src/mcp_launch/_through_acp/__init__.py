"""MCP servers that are reached through the ACP connection itself (`type: "acp"`, unstable), from both of its sides."""
