"""The command `mcp-launch`: which servers are meant, all of them started, and what is said of each."""
