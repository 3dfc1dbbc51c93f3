"""Which servers a config file asks for: the files of ACP clients, desktop clients and editors, read and written.

    config = read_config(text, source=".vscode/mcp.json")
    text, lost = write_config(config, "claude-code")

What a client's file holds beside servers is left alone. See docs/config.md. Each is imported when it is used: a command
that starts at once does not load what it does not need.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_launch.config.entries import Config, Entry, Finding
    from mcp_launch.config.formats import FORMATS
    from mcp_launch.config.locations import Candidate, discover
    from mcp_launch.config.places import Place
    from mcp_launch.config.read import read_config
    from mcp_launch.config.write import write_config

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
    # Hidden from type checkers, to which a module with a `__getattr__` has every name there is.
    _HOMES = {
        "FORMATS": "formats",
        "Candidate": "locations",
        "Config": "entries",
        "Entry": "entries",
        "Finding": "entries",
        "Place": "places",
        "discover": "locations",
        "read_config": "read",
        "write_config": "write",
    }

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)

    def __dir__() -> list[str]:
        return __all__
