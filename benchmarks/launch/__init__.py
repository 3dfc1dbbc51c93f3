"""How fast MCP servers are launched, side by side with the raw SDK and with who else launches them."""
