"""An MCP server over stdio that returns its environment or headers, or waits until it is cancelled."""

import sys
from pathlib import Path

import anyio

# It is run as a script, in a directory that is not this one.
sys.path.append(str(Path(__file__).parents[2]))

from tests.mcp_launch.servers.echo import echo


@echo.tool()
async def wait() -> str:
    """Wait until the call is cancelled."""
    await anyio.sleep_forever()
    return ""


if __name__ == "__main__":
    echo.run("stdio")
