"""Web servers that misbehave as their path says, in a thread of the test process."""

from __future__ import annotations

import base64
import contextlib
import json
import queue
import socket
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from tests.mcp_launch.servers.leak import forms
from tests.mcp_launch.servers.raw import raw_server, result
from tests.mcp_launch.servers.tls import certificates

JSON = "application/json"
WHOLE = {
    "html": ("text/html", "<html>Welcome</html>"),
    "empty": (JSON, ""),
    "notjson": (JSON, "{oops"),
    "notrpc": (JSON, '{"status": "up"}'),
}
"""The type and body of responses to every request."""
EXPIRED: dict[str, Any] = {
    "status": 401,
    "body": "expired",
    "content_type": "text/plain",
    "WWW-Authenticate": 'Bearer error="invalid_token"',
}
GONE: dict[str, Any] = {"status": 404, "body": "no such session", "content_type": "text/plain"}
UNTIL: dict[str, dict[str, Any]] = {
    "expires": {"method": "tools/list", **EXPIRED},
    "forgets": {"method": "tools/list", **GONE},
    "mumbles": {"method": "tools/list", "status": 200, "body": "{key}", "content_type": JSON},
    "squeezes": {
        "method": "tools/list",
        "status": 200,
        "body": "no gzip",
        "content_type": JSON,
        "Content-Encoding": "gzip",
    },
    "tool401": {"method": "tools/call", **EXPIRED},
    "tool404": {"method": "tools/call", **GONE},
}
"""The response of servers that work until they get the method; `{key}` repeats a header of the request."""


class Handler(BaseHTTPRequestHandler):
    """Responds according to the first part of the path."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    released: ClassVar[threading.Event]
    events: ClassVar[queue.SimpleQueue[bytes | None]]
    seen: ClassVar[list[tuple[str, str, dict[str, str]]]]
    echoes: ClassVar[bool]
    """True if the server repeats the secrets of a request in everything that it sends."""

    def do_POST(self) -> None:
        """Handle a message of the client."""
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._behave()

    def do_GET(self) -> None:
        """Handle the request for an event stream."""
        self.body = b""
        self._behave()

    def do_DELETE(self) -> None:
        """Handle the end of the session."""
        self.body = b""
        self._behave()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Do not log."""

    def _behave(self) -> None:
        self.seen.append((self.command, self.path, dict(self.headers)))
        name, _, self._rest = unquote(self.path.partition("?")[0]).strip("/").partition("/")
        if name.isdecimal():
            self._status(int(name), self._rest)
        elif name in WHOLE:
            self._reply(200, WHOLE[name][1], content_type=WHOLE[name][0])
        elif name in UNTIL:
            self._works_until(**UNTIL[name])
        else:
            getattr(self, f"_{name}")()

    def _status(self, status: int, header: str) -> None:
        named, _, value = header.partition("=")
        body = "" if status == 204 else f"no entry with {self.headers.get('X-Key')}"
        self._reply(status, body, **({named: value} if named else {}))

    def _ends(self) -> None:
        self._reply(200, ": nothing\n\n", content_type="text/event-stream")

    def _silent(self) -> None:
        self._stream("")

    def _never(self) -> None:
        self.released.wait(20)
        self.close_connection = True

    def _drop(self) -> None:
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def _to(self) -> None:
        """Redirect with the status and to the port in the rest of the path."""
        status, _, port = self._rest.partition("/")
        self._reply(int(status), "", Location=f"http://127.0.0.1:{port}/mcp")

    def _works_until(self, method: str, status: int, body: str, **headers: str) -> None:
        if f'"{method}"'.encode() in self.body:
            self._reply(status, body.format(key=json.dumps(str(self.headers.get("X-Key")))), **headers)
        else:
            self._works()

    def _works(self) -> None:
        """A small stateful MCP server."""
        if b'"hold"' in self.body:
            self._never()
        elif b'"forget"' in self.body:
            self._reply(404, "no such session")
        elif self.command == "GET":
            self._reply(405, "")
        elif self.command == "DELETE":
            self._farewell()
        else:
            self._answer(json.loads(self.body))

    def _swallows(self) -> None:
        """Works, but does not respond to unknown methods."""
        if b'"server/discover"' in self.body:
            self._never()
        else:
            self._works()

    def _clingy(self) -> None:
        """Works, but never responds to the end of the session."""
        self._works()

    def _refuses(self) -> None:
        """Refuses with both an MCP error and an HTTP status."""
        reply = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no"}}
        self._reply(400, json.dumps(reply), content_type="application/json")

    def _streams(self) -> None:
        """Works with event streams, which end a moment after the response, or not at all if the path says so."""
        message = json.loads(self.body or "{}")
        if "id" not in message:
            self._works()
            return
        self.send_response(200)
        for header in (("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked")):
            self.send_header(*header)
        self.end_headers()
        event = f"data: {json.dumps(result(message))}\n\n".encode()
        self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
        if self._rest:
            self._never()
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _farewell(self) -> None:
        if self.path.startswith("/clingy"):
            self._never()
        else:
            self._reply(204, "")

    def _answer(self, message: dict[str, Any]) -> None:
        if "id" not in message:
            self._reply(202, "")
        else:
            reply = json.dumps(result(message))
            session = f"s1-{quote(self._secrets()[0], safe='')}" if self.echoes else "s1"
            self._reply(200, reply, content_type="application/json", **{"Mcp-Session-Id": session})

    def _sse(self) -> None:
        """Serve the deprecated transport with an endpoint that refuses every message."""
        if self.command == "POST":
            self._reply(405, "")
        else:
            self._stream("event: endpoint\ndata: /500\n\n")

    def _events(self) -> None:
        """Serve the deprecated transport, working as the rest of the path says."""
        if self.command == "POST" and b'"hold"' in self.body:
            self._never()
        elif self.command == "POST" and b'"forget"' in self.body:
            self._reply(404, "no such session")
        elif self.command == "POST":
            self._reply(202, "")
            self._say(json.loads(self.body))
        else:
            self._tell_events()

    def _tell_events(self) -> None:
        start, line_end = {"bom": (b"\xef\xbb\xbf", b"\r\n"), "cr": (b"", b"\r")}.get(self._rest, (b"", b"\n"))
        self._head("Text/Event-Stream; charset=latin-1" if self._rest == "bom" else "text/event-stream")
        self._event(start + b"event: endpoint\ndata: " + self.path.encode() + b"\n: caf\xc3\xa9\n\n", line_end)
        while (data := self.events.get()) is not None:
            self._event(b"data: " + data + b"\n\n", line_end)
        self.close_connection = True

    def _tells(self) -> None:
        """Serve the deprecated transport, refuse the list of tools, and repeat a secret."""
        if b'"tools/list"' in self.body:
            self._reply(401, "", **{"WWW-Authenticate": str(self.headers.get("X-Key"))})
        else:
            self._events()

    def _event(self, text: bytes, line_end: bytes) -> None:
        # A reader that waits for what follows a bare CR gets the start of a comment.
        self.wfile.write(text.replace(b"\n", line_end) + (b":\r" if line_end == b"\r" else b""))
        self.wfile.flush()

    def _say(self, message: dict[str, Any]) -> None:
        """Respond on the event stream."""
        if message.get("method") == "tools/call":
            tool = message["params"]["name"]
            if tool == "hang_up":
                self.events.put(None)
                return
            size = message["params"]["arguments"]["size"]
            content = [{"type": "text", "text": "é" + "x" * size}]
            reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": content}}
        elif "id" in message:
            reply = result(message)
        else:
            return
        self.events.put(json.dumps(reply, ensure_ascii=False).encode())

    def _nowhere(self) -> None:
        """Serve the deprecated transport with an endpoint that is not a valid URL."""
        self._stream(f"event: endpoint\ndata: http://{self._rest}\n\n")

    def _beside(self) -> None:
        """Serve the deprecated transport with an endpoint on the port that the rest of the path names."""
        self._stream(f"event: endpoint\ndata: http://127.0.0.1:{self._rest}/steal?token=abc\n\n")

    def _secrets(self) -> list[str]:
        """Return the secrets of the request: two headers, the decoded Basic credentials, the query and its values."""
        query = urlsplit(self.path).query
        known = [self.headers.get("X-Key", ""), self.headers.get("Authorization", ""), query]
        scheme, _, token = known[1].partition(" ")
        if scheme == "Basic":
            known += [token, pair := base64.b64decode(token).decode(), *pair.split(":")]
        return [value for value in (*known, *(value for _, value in parse_qsl(query))) if value]

    def _leak(self, body: str, headers: dict[str, str]) -> str:
        """Return the body with the secrets, and add them to the headers."""
        secrets = self._secrets()
        first, last = secrets[0], secrets[-1]
        if "WWW-Authenticate" in headers:
            between = ", " if " " in headers["WWW-Authenticate"] else " "
            headers["WWW-Authenticate"] += f"{between}realm={json.dumps(first)}, given={json.dumps(last)}"
        if not headers.get("Location", "/").startswith("/"):
            headers["Location"] += f"/{quote(first, safe='')}?token={quote(last, safe='')}"
        told = " ".join(form for secret in secrets for form in forms(secret))
        match body[:4]:
            case "" | '{"js':
                return body
            case '{"st':
                return f'{body[:-1]}, "given": {json.dumps(told)}}}'
            case _:
                return f"{body} {told}"

    def _reply(self, status: int, body: str, *, content_type: str = "text/plain", **headers: str) -> None:
        reason = None
        if self.echoes:
            body = self._leak(body, headers)
            reason = f"{HTTPStatus(status).phrase} {quote(self._secrets()[0])}" if status >= 400 else None
        self.send_response(status, reason)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body.encode())))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def _head(self, content_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.end_headers()

    def _stream(self, start: str) -> None:
        self._head("text/event-stream")
        self.wfile.write(start.encode())
        self.wfile.flush()
        self.released.wait(20)
        self.close_connection = True


class Web:
    """A running misbehaving web server."""

    def __init__(self, handler: type[Handler]) -> None:
        self._handler = handler
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.port: int = self._server.server_address[1]
        self.origin = f"http://127.0.0.1:{self.port}"
        self.seen = handler.seen
        """Every request so far: method, path, headers."""

    @property
    def connections(self) -> int:
        """The number of connections so far."""
        return self._server.connections

    def stop(self) -> None:
        """Close everything, including hanging connections."""
        self._handler.released.set()
        self._handler.events.put(None)
        self._server.shutdown()
        self._server.close_connections()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: type[Handler]) -> None:
        super().__init__(address, handler)
        self._connections: list[socket.socket] = []

    @property
    def connections(self) -> int:
        """The number of connections so far."""
        return len(self._connections)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Store the connection."""
        self._connections.append(request)
        super().process_request(request, client_address)

    def close_connections(self) -> None:
        """Close the connections of all clients."""
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that hang up, which these tests provoke."""


@contextmanager
def misbehaving_web(*, repeats_secrets: bool = False) -> Generator[Web]:
    """Serve until the block ends."""

    class OwnHandler(Handler):
        released = threading.Event()
        events = queue.SimpleQueue()
        seen: ClassVar[list[tuple[str, str, dict[str, str]]]] = []
        echoes = repeats_secrets

    web = Web(OwnHandler)
    try:
        yield web
    finally:
        web.stop()


@contextmanager
def tls_server(folder: Path) -> Generator[int]:
    """Serve TLS with an untrusted certificate, and yield the port."""
    with raw_server(lambda _: [], tls=certificates(folder, password="-").serving()) as raw:
        yield raw.port


if __name__ == "__main__":
    with misbehaving_web() as itself:
        print(itself.origin, flush=True)
        sys.stdin.read()
