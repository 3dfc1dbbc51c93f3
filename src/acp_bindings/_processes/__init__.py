"""Child processes and their pipes, and an end that leaves nothing of them; shared with `mcp_launch`."""
