"""Relays in place of the MCP servers of a session, which report to `acp-bindings tap` what an agent does with them."""
