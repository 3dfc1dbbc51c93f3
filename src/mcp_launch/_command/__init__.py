"""The command `mcp-launch`."""
