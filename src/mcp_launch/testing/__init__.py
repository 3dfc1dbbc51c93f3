"""MCP servers in pytest: a test for each server of a config file, and the fixture `mcp_server` for your own tests.

Requires the extra `launch`. pytest loads the plugin automatically.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_launch.testing._fixture import McpServerFixture, McpSession
    from mcp_launch.testing._items import McpServerWarning

__all__ = ["McpServerFixture", "McpServerWarning", "McpSession"]

if not TYPE_CHECKING:
    _HOMES = {"McpServerFixture": "_fixture", "McpServerWarning": "_items", "McpSession": "_fixture"}

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{__name__}.{home}"), name)

    def __dir__() -> list[str]:
        return __all__
