"""A web server that sends exactly the bytes of a test, with one request per connection."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request of a client."""

    method: str
    target: str
    headers: dict[str, str]
    """The headers, by lower-case name."""
    body: bytes
    released: threading.Event
    """Set when the server ends. Wait for it to never respond."""

    @property
    def message(self) -> dict[str, Any]:
        """The JSON-RPC message in the body."""
        return json.loads(self.body) if self.body else {}

    @property
    def asks(self) -> str:
        """The method of the JSON-RPC message, or of HTTP."""
        return self.message.get("method", self.method)


Answer: TypeAlias = Callable[[Request], Iterable[bytes]]


@dataclass(kw_only=True)
class Raw:
    """A running server."""

    port: int
    origin: str
    seen: list[Request] = field(default_factory=list[Request])
    """Every request so far."""


@contextmanager
def raw_server(answer: Answer, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Generator[Raw]:
    """Serve until the block ends. A connection is closed after its response."""
    released = threading.Event()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    connections: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        connections.append(connection)
        with contextlib.suppress(OSError, ValueError), connection, _secured(connection, tls) as inner:
            connections.append(inner)
            request = _read(inner, released)
            raw.seen.append(request)
            for part in answer(request):
                inner.sendall(part)
            with contextlib.suppress(OSError):
                inner.shutdown(socket.SHUT_RDWR)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=serve, args=(connection,), daemon=True))
            threads[-1].start()

    threads: list[threading.Thread] = []
    with socket.create_server((host, 0), family=family) as listener:
        port = listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        raw = Raw(port=port, origin=f"http{'s' if tls else ''}://{shown}:{port}")
        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        try:
            yield raw
        finally:
            released.set()
            listener.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for connection in connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()


def _secured(connection: socket.socket, tls: ssl.SSLContext | None) -> socket.socket:
    if tls is None:
        return connection
    inner = tls.wrap_socket(connection.dup(), server_side=True, do_handshake_on_connect=False)
    try:
        inner.do_handshake()
    except OSError:
        with inner, contextlib.suppress(OSError):
            # Closed with something unread, the connection would be reset, and the alert be lost.
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
        raise
    return inner


def _read(connection: socket.socket, released: threading.Event) -> Request:
    stream = connection.makefile("rb")
    method, target, _ = stream.readline().decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while line := stream.readline().strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    body = stream.read(int(headers.get("content-length", 0)))
    return Request(method=method, target=target, headers=headers, body=body, released=released)


def head(status: int = 200, *, content_type: str = "application/json", **headers: object) -> bytes:
    """Return the head of a response; `Content_Length=5` is a header."""
    lines = [f"HTTP/1.1 {status} Said", f"Content-Type: {content_type}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join((*lines, "", "")).encode()


def reply(status: int = 200, body: bytes = b"", *, content_type: str = "application/json", **headers: object) -> bytes:
    """Return a complete response."""
    return head(status, content_type=content_type, Content_Length=len(body), **headers) + body


def event(data: object, *, name: str = "message") -> bytes:
    """Return an event of an event stream. Anything but a string is written as JSON."""
    return f"event: {name}\ndata: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def result(message: dict[str, Any]) -> dict[str, Any]:
    """Return the response of a small MCP server of the handshake era, which has no tools."""
    results: dict[str, Any] = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "raw", "version": "1"},
        },
        "tools/list": {"tools": []},
    }
    if (found := results.get(message["method"])) is not None:
        return {"jsonrpc": "2.0", "id": message["id"], "result": found}
    return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}}


class Sse:
    """The same over the deprecated transport; `gate` responds to requests in place of the server, or returns None."""

    def __init__(
        self,
        endpoint: str = "/messages",
        *,
        start: bytes = b"",
        gate: Callable[[Request], bytes | None] = lambda _: None,
    ) -> None:
        self.endpoint = endpoint
        self.start = start
        self.gate = gate
        self.said: list[bytes] = []
        self.answers: Callable[[dict[str, Any]], dict[str, Any]] = result

    def __call__(self, request: Request) -> Iterable[bytes]:
        if (refusal := self.gate(request)) is not None:
            yield refusal
        elif request.method == "GET":
            said = self.said = []
            named = self.endpoint.format(host=request.headers["host"])
            yield head(content_type="text/event-stream") + self.start + event(named, name="endpoint")
            while not request.released.wait(0.01):
                while said:
                    yield said.pop(0)
        else:
            if "id" in request.message:
                self.said.append(event(self.answers(request.message)))
            yield reply(202)


def works(request: Request) -> bytes:
    """Return the response of a small MCP server with a session."""
    if request.method != "POST":
        return reply(204 if request.method == "DELETE" else 405)
    if "id" not in request.message:
        return reply(202)
    return reply(200, json.dumps(result(request.message)).encode(), Mcp_Session_Id="s1")
