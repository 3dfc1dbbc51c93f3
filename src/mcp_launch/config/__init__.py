"""Reads and writes the config files of ACP clients, desktop clients and editors that list MCP servers.

    config = read_config(text, source=".vscode/mcp.json")
    text, lost = write_config(config, "claude-code")
    text = edit_config(text, [Edit(("mcpServers", "web", "type"), "http")], source=".mcp.json")

Other settings in these files are ignored. See docs/config.md. Importing this package is fast: it needs only the
standard library until a YAML file is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_bindings._lazy import lazy_names
from mcp_launch.config._documents import Place
from mcp_launch.config._entries import Config, Entry, Finding
from mcp_launch.config._formats import FORMATS
from mcp_launch.config._locations import Candidate, discover
from mcp_launch.config._read import read_config, write_config

if TYPE_CHECKING:
    from mcp_launch.config._edit import Edit, edit_config
else:
    # Imported on first use, because `mcp-launch check` does not need it.
    _, __getattr__, __dir__ = lazy_names(__name__, {"_edit": "Edit edit_config"})

__all__ = [
    "FORMATS",
    "Candidate",
    "Config",
    "Edit",
    "Entry",
    "Finding",
    "Place",
    "discover",
    "edit_config",
    "read_config",
    "write_config",
]
