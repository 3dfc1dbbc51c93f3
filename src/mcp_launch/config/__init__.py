"""Reads and writes the config files of ACP clients, desktop clients and editors that list MCP servers.

    config = read_config(text, source=".vscode/mcp.json")
    text, lost = write_config(config, "claude-code")

Other settings in these files are ignored. See docs/config.md. Modules are imported when a name is first used, so that
commands start fast.
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
    # Hidden from type checkers, which would accept any name of a module with a `__getattr__`.
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
