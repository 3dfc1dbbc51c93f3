"""Reads and writes config files that list MCP servers: those of ACP clients, desktop clients and editors.

    config = read_config(text, source=".vscode/mcp.json")
    text, lost = write_config(config, "claude-code")

Other settings in a client's file are ignored. See docs/config.md. Each name is imported when it is used, so that a
command does not wait for what it does not need.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

if not TYPE_CHECKING:
    # Hidden from type checkers: for them a module with a `__getattr__` would have every name.
    _HOMES = {
        "FORMATS": "_formats",
        "Candidate": "_locations",
        "Config": "_entries",
        "Entry": "_entries",
        "Finding": "_entries",
        "Place": "_documents",
        "discover": "_locations",
        "read_config": "_read",
        "write_config": "_read",
    }

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)

    def __dir__() -> list[str]:
        return __all__
