"""MCP over a process's standard input and output."""
