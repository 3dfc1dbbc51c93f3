"""MCP servers in pytest: a test for each server of a config file, and the fixture `mcp_server` for your own tests.

Requires the extra `launch`. pytest loads the plugin automatically.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_bindings._lazy import lazy_names

if TYPE_CHECKING:
    from mcp_launch.testing._fixture import McpServerFixture, McpSession
    from mcp_launch.testing._items import McpServerWarning
else:
    _, __getattr__, __dir__ = lazy_names(
        __name__, {"_fixture": "McpServerFixture McpSession", "_items": "McpServerWarning"}
    )

__all__ = ["McpServerFixture", "McpServerWarning", "McpSession"]
