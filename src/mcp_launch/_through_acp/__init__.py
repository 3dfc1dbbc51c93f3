"""MCP servers over the ACP connection itself (`type: "acp"`, unstable), for both of its sides."""
