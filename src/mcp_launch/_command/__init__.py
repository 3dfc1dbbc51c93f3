"""The command `mcp-launch`: reads what the user typed, starts the servers that are meant, and shows what they did."""
