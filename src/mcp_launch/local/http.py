"""Serves a server of this process over Streamable HTTP, to clients that send the token."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from mcp_launch.limits import Limits
from mcp_launch.local.asgi import Application, Message, Receive, Scope, Send, serve_http
from mcp_launch.transports.messages import Invalid, Reader

if TYPE_CHECKING:
    from anyio.abc import SocketStream
    from mcp.server.lowlevel import Server

__all__ = ["LIMITS", "PATH", "Serve", "http_entry", "over_http"]

PATH = "/mcp"
LIMITS = Limits(bytes=16 << 20, values=500_000, items=500_000)
"""Of what an agent sends. The SDK parses it once more, which takes several times the memory."""
_SMALL = 65536
"""Bytes that need no look, whatever they are."""

Serve: TypeAlias = "Callable[[SocketStream, Callable[[], object]], Awaitable[None]]"
"""A function that serves one connection until it ends. It calls its second argument when the token was received."""


@asynccontextmanager
async def over_http(server: Server[Any], *, port: int, token: str) -> AsyncGenerator[Serve]:
    """A block in which the server runs; yields the function that serves each connection."""
    security = TransportSecuritySettings(allowed_hosts=[f"127.0.0.1:{port}"], allowed_origins=[])
    sessions = StreamableHTTPSessionManager(
        server,
        security_settings=security,
        max_request_body_size=LIMITS.bytes,
        # Never by a timeout: they end with the block.
        session_idle_timeout=None,
    )
    async with sessions.run():

        async def serve(stream: SocketStream, admit: Callable[[], object]) -> None:
            await serve_http(stream, _for_holders(token, _within_limits(sessions.handle_request), admit))

        yield serve


def http_entry(name: str, *, port: int, token: str) -> dict[str, Any]:
    """The raw `McpServer` entry for the agent."""
    headers = [{"name": "Authorization", "value": f"Bearer {token}"}]
    return {"type": "http", "name": name, "url": f"http://127.0.0.1:{port}{PATH}", "headers": headers}


def _for_holders(token: str, app: Application, admit: Callable[[], object]) -> Application:
    """Return the application for requests with the token to its path; `admit` is called for each of them.

    Other requests are refused. Without the token, the connection is closed.
    """
    expected = f"Bearer {token}".encode()

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        sent = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        if not secrets.compare_digest(sent, expected):
            await _refuse(send, 401, "the Authorization header is missing or wrong", (b"www-authenticate", b"Bearer"))
            return
        admit()
        if scope["path"] != PATH:
            await _refuse(send, 404, f"the MCP server is at {PATH}")
        else:
            await app(scope, receive, send)

    return guarded


def _within_limits(app: Application) -> Application:
    """The application, for messages within the limits; others are refused."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        parts, size, more = list[Message](), 0, scope["method"] == "POST"
        while more and size <= LIMITS.bytes:
            parts.append(message := await receive())
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
        if _SMALL < size <= LIMITS.bytes:
            found = await Reader(LIMITS).read(b"".join(part.get("body", b"") for part in parts))
            if isinstance(found, Invalid):
                await _refuse(send, 413 if found.limit else 400, f"the message was not read: {found.why}")
                return
        parts.reverse()

        async def again() -> Message:
            return parts.pop() if parts else await receive()

        await app(scope, again, send)

    return guarded


async def _refuse(send: Send, status: int, why: str, *headers: tuple[bytes, bytes]) -> None:
    body = why.encode()
    about = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(body)), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": [*about, *headers]})
    await send({"type": "http.response.body", "body": body})
