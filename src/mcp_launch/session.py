"""Start one server and open its session, for programs that do not need a fleet."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from mcp_launch.failures import UnusableInput
from mcp_launch.fleet import launch
from mcp_launch.options import Budgets, Options

if TYPE_CHECKING:
    from mcp import Client

__all__ = ["open_session"]


@asynccontextmanager
async def open_session(
    server: object,
    *,
    cwd: str | os.PathLike[str],
    timeout: float = 30.0,
    budgets: Budgets | None = None,
    options: Options | None = None,
) -> AsyncGenerator[Client]:
    """Start one MCP server and yield its initialised session, the SDK's own `mcp.Client`.

    `server` is an `McpServer` model of any protocol version, or its raw JSON. The server is stopped when the block
    ends, also on cancellation.

    Args:
        server: the server to start or connect to.
        cwd: the session's working directory, as an absolute path. A process is started in it.
        timeout: seconds until the session must be ready.
        budgets: seconds for each stage.
        options: further settings of the server, except `restart`.

    Raises:
        LaunchFailure: the server could not be used; `.code` and `.stage` say why.
        UnusableInput: `cwd` is not absolute, `timeout` is not a non-negative number, or the options have a `restart`.
    """
    if isinstance(options, Options) and options.restart:
        raise UnusableInput("open_session does not restart servers; use launch() instead")
    async with launch([server], cwd=cwd, timeout=timeout, budgets=budgets, options=options, lists=()) as fleet:
        yield fleet.servers[0].session
