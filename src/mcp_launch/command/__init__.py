"""The command `mcp-launch`: which servers a file asks for, all of them started, and what is said of each."""
