"""`mcp-launch fix`: edits that make the failing servers of a config file work."""
