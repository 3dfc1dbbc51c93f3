"""A real MCP server, built with the SDK, that returns its environment, directory or HTTP headers.

`echo.py stdio` serves standard input and output; `echo.py http` and `echo.py sse` print their URL first.
"""

import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

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


@contextmanager
def serving(kind: str, server: MCPServer = echo) -> Generator[str]:
    """Serve HTTP in a thread until the block ends, and yield the URL."""
    # The thread makes the app, which contains locks of the event loop that runs where it is made.
    app = server.streamable_http_app if kind == "http" else server.sse_app
    with serving_app(app) as origin:
        yield f"{origin}/{'mcp' if kind == 'http' else 'sse'}"


@contextmanager
def serving_app(app: Callable[[], Any]) -> Generator[str]:
    """Serve the web application that *app* returns in a thread until the block ends, and yield its origin."""
    # Without WebSockets, whose library warns of old versions.
    how: dict[str, Any] = {"factory": True, "log_level": "error", "log_config": None, "ws": "none"}
    web = uvicorn.Server(uvicorn.Config(app, timeout_graceful_shutdown=1, **how))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        # asyncio sets it only on sockets that it made itself; without it each answer would wait 40 ms for the client's
        # ACK.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        thread = threading.Thread(target=web.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            web.should_exit = True
            thread.join()


def serve(kind: str, server: MCPServer = echo) -> None:
    """Serve HTTP until standard input closes."""
    with serving(kind, server) as url:
        print(url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    echo.run("stdio") if sys.argv[1] == "stdio" else serve(sys.argv[1])
