"""Reads and writes the config files of ACP clients, desktop clients and editors that list MCP servers.

    config = read_config(text, source=".vscode/mcp.json")
    text, lost = write_config(config, "claude-code")
    text = edit_config(text, [Edit(("mcpServers", "web", "type"), "http")], source=".mcp.json")

Other settings in these files are ignored. See docs/config.md. Importing this package is fast: it needs only the
standard library until a YAML file is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_launch.config._documents import Place
from mcp_launch.config._entries import Config, Entry, Finding
from mcp_launch.config._formats import FORMATS
from mcp_launch.config._locations import Candidate, discover
from mcp_launch.config._read import read_config, write_config

if TYPE_CHECKING:
    from mcp_launch.config._edit import Edit, edit_config

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

if not TYPE_CHECKING:
    # Imported on first use, because `mcp-launch check` does not need it.
    def __getattr__(name: str) -> Any:
        if name not in ("Edit", "edit_config"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from mcp_launch.config import _edit  # noqa: PLC0415

        return getattr(_edit, name)
