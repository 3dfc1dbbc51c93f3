"""Claude Desktop: `claude_desktop_config.json`, a map of stdio servers, plain JSON without variables.

Source: "Connect to local MCP servers" of the Model Context Protocol's documentation. Servers with a URL are added in
its settings, not in this file; some files have them all the same, and they are read and told of.
"""

from __future__ import annotations

from mcp_launch.config._formats.map import MapFormat
from mcp_launch.failures import Phrases


class ClaudeDesktop(MapFormat):
    """A map format with stdio servers only."""

    name = "claude-desktop"
    title = "Claude Desktop"
    transports = ("stdio",)
    phrases = Phrases(needs='a "command"')


FORMAT = ClaudeDesktop()
