"""An MCP server over stdio that needs an environment variable; it stops when its standard input closes."""

import os
import sys

from mcp.server import MCPServer

greeter = MCPServer("greeter", version="1.0", log_level="WARNING")


@greeter.tool()
def greet(name: str) -> str:
    """Greet somebody with the greeting from the environment."""
    return f"{os.environ['GREETING']}, {name}!"


if __name__ == "__main__":
    if "GREETING" not in os.environ:
        sys.exit('greeter: the environment variable GREETING is not set; try GREETING="Good morning"')
    greeter.run("stdio")
