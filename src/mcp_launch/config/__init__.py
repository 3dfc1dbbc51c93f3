"""Reads and writes the config files of ACP clients, desktop clients and editors that list MCP servers.

    config = read_config(text, source=".vscode/mcp.json")
    text, lost = write_config(config, "claude-code")

Other settings in these files are ignored. See docs/config.md. Importing this package is fast: it needs only the
standard library until a YAML file is read.
"""

from mcp_launch.config._documents import Place
from mcp_launch.config._entries import Config, Entry, Finding
from mcp_launch.config._formats import FORMATS
from mcp_launch.config._locations import Candidate, discover
from mcp_launch.config._read import read_config, write_config

__all__ = [
    "FORMATS",
    "Candidate",
    "Config",
    "Entry",
    "Finding",
    "Place",
    "discover",
    "read_config",
    "write_config",
]
