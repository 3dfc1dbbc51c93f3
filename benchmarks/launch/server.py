"""A small MCP server that answers at once, without the SDK, so that what is measured is the client.

`server.py stdio` serves standard input and output, `server.py stdio SECONDS` after that time. `server.py web` prints
its origin, where /handshake and /modern speak Streamable HTTP of either era and /sse the transport before it; it stops
when its input closes.
"""

from __future__ import annotations

# Not at the top: a stdio server is to start as fast as Python does.
# ruff: noqa: PLC0415
import json
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

MODERN = "2026-07-28"
ABOUT = {"capabilities": {"tools": {}}, "serverInfo": {"name": "bench", "version": "1"}}
TOOL = {"name": "echo", "description": "Say it again.", "inputSchema": {"type": "object"}}


def answer(message: dict[str, Any], *, modern: bool = False) -> dict[str, Any] | None:
    """The answer to a message, None to a notification."""
    if "id" not in message:
        return None
    envelope = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if modern else {}
    results: dict[str, dict[str, Any]] = {
        "tools/list": {"tools": [TOOL], **envelope},
        "tools/call": {"content": [{"type": "text", "text": "hello"}], **envelope},
    }
    if modern:
        results["server/discover"] = {"supportedVersions": [MODERN], **ABOUT, **envelope}
    else:
        results["initialize"] = {"protocolVersion": "2025-06-18", **ABOUT}
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    if (result := results.get(message["method"])) is None:
        return {**reply, "error": {"code": -32601, "message": "Method not found"}}
    return {**reply, "result": result}


def serve_stdio(seconds: float) -> None:
    time.sleep(seconds)
    for line in sys.stdin:
        if (reply := answer(json.loads(line))) is not None:
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()


def serve_web() -> None:
    import socket
    import threading

    import uvicorn

    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    # asyncio does it for sockets of its own; without it an answer in two parts waits 40 ms for its second one.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server = uvicorn.Server(uvicorn.Config(Web(), log_level="error", lifespan="off", timeout_graceful_shutdown=1))

    def stop_with_parent() -> None:
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=stop_with_parent, daemon=True).start()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    server.run(sockets=[listener])


class Web:
    """The three ways over HTTP, as an ASGI application."""

    def __init__(self) -> None:
        from asyncio import Queue

        self._queue: type[Queue[bytes]] = Queue
        self._sessions: dict[str, Queue[bytes]] = {}

    async def __call__(self, scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Send) -> None:
        """Serve one request."""
        method, path = scope["method"], scope["path"]
        body = await _body(receive)
        if path == "/sse" and method == "GET":
            await self._events(receive, send)
        elif path == "/sse":
            reply = answer(json.loads(body))
            await _reply(send, 202)
            if reply is not None:
                self._sessions[scope["query_string"].decode()].put_nowait(json.dumps(reply).encode())
        elif method != "POST":
            await _reply(send, 200 if method == "DELETE" else 405)
        elif (found := answer(json.loads(body), modern=path == "/modern")) is None:
            await _reply(send, 202)
        else:
            headers = [] if path == "/modern" else [(b"mcp-session-id", b"1")]
            await _reply(send, 200, json.dumps(found).encode(), headers)

    async def _events(self, receive: Callable[[], Awaitable[Any]], send: Send) -> None:
        import asyncio

        session = f"{len(self._sessions)}-{time.monotonic_ns()}"
        events = self._sessions[session] = self._queue()
        await send(_start(200, [(b"content-type", b"text/event-stream")]))
        await send(_more(b"event: endpoint\ndata: /sse?%s\n\n" % session.encode()))
        gone = asyncio.ensure_future(receive())
        while not gone.done():
            event = asyncio.ensure_future(events.get())
            await asyncio.wait((gone, event), return_when=asyncio.FIRST_COMPLETED)
            if event.done():
                await send(_more(b"data: %s\n\n" % event.result()))
            else:
                event.cancel()
        del self._sessions[session]


if TYPE_CHECKING:
    Send = Callable[[dict[str, Any]], Awaitable[None]]


async def _body(receive: Callable[[], Awaitable[Any]]) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body


async def _reply(send: Send, status: int, body: bytes = b"", headers: list[tuple[bytes, bytes]] | None = None) -> None:
    head = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *(headers or ())]
    await send(_start(status, head))
    await send({"type": "http.response.body", "body": body})


def _start(status: int, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": headers}


def _more(body: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": True}


if __name__ == "__main__":
    if sys.argv[1] == "web":
        serve_web()
    else:
        serve_stdio(float(sys.argv[2]) if len(sys.argv) > 2 else 0)
