"""Child processes and their pipes, shared with `mcp_launch`. Stopping a process leaves none of its children."""
