"""Serve an MCP server's web application on a free loopback port until standard input closes."""

import hmac
import socket
import sys
import threading

import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send


def serve(app: ASGIApp, *, path: str) -> None:
    """Print the URL, then serve until standard input closes, which it also does when the parent dies, or SIGTERM."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))

    def stop_with_parent() -> None:
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=stop_with_parent, daemon=True).start()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}{path}", flush=True)
    server.run(sockets=[listener])


def needs_header(app: ASGIApp, name: str, value: str, *, challenge: str) -> ASGIApp:
    """Return the application, which responds with 401 to requests without the header."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            sent = dict(scope["headers"]).get(name.lower().encode(), b"")
            if not hmac.compare_digest(sent, value.encode()):
                refusal = PlainTextResponse(f"the header {name} is missing or wrong", 401)
                refusal.headers["WWW-Authenticate"] = challenge
                await refusal(scope, receive, send)
                return
        await app(scope, receive, send)

    return guarded
