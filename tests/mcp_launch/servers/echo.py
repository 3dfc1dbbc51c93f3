"""A real MCP server, built with the SDK, that returns its environment, directory or HTTP headers.

`echo.py stdio` serves standard input and output; `echo.py http` and `echo.py sse` print their URL first.
"""

import json
import os
import socket
import sys
import threading

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

echo = MCPServer("echo", version="1", log_level="ERROR")


@echo.tool()
def environment(name: str) -> str | None:
    """Return the value of an environment variable."""
    return os.environ.get(name)


@echo.tool()
def directory() -> str:
    """Return the working directory."""
    return os.getcwd()


@echo.tool()
def headers(ctx: Context) -> str:
    """Return the headers of the request for this call, as JSON."""
    request = ctx.request_context.request
    return json.dumps([] if request is None else list(request.headers.items()))


@echo.resource("memo://today")
def today() -> str:
    """The tasks of the day."""
    return "nothing"


@echo.prompt()
def greet(name: str) -> str:
    """Ask for a greeting."""
    return f"Greet {name}."


def serve(kind: str, server: MCPServer = echo) -> None:
    """Serve HTTP until standard input closes."""
    app = server.streamable_http_app() if kind == "http" else server.sse_app()
    listener = socket.create_server(("127.0.0.1", 0))
    # asyncio sets it only on sockets that it made itself; without it each answer would wait 40 ms for the client's ACK.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    web = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))

    def stop_with_parent() -> None:
        sys.stdin.read()
        web.should_exit = True

    threading.Thread(target=stop_with_parent, daemon=True).start()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/{'mcp' if kind == 'http' else 'sse'}", flush=True)
    web.run(sockets=[listener])


if __name__ == "__main__":
    echo.run("stdio") if sys.argv[1] == "stdio" else serve(sys.argv[1])
