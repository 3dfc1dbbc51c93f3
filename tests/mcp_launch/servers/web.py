"""Web servers that misbehave in the way their path names, in a thread of the test process."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Handler(BaseHTTPRequestHandler):
    """Answers by the first part of the path."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    released: ClassVar[threading.Event]
    seen: ClassVar[list[tuple[str, str, dict[str, str]]]]

    def do_POST(self) -> None:
        """A message of the client."""
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._behave()

    def do_GET(self) -> None:
        """An event stream is asked for."""
        self.body = b""
        self._behave()

    def do_DELETE(self) -> None:
        """The farewell."""
        self.body = b""
        self._behave()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Keep quiet."""

    def _behave(self) -> None:
        self.seen.append((self.command, self.path, dict(self.headers)))
        name, _, rest = self.path.partition("?")[0].strip("/").partition("/")
        if name.isdecimal():
            self._status(int(name), rest)
        else:
            getattr(self, f"_{name}")()

    def _status(self, status: int, header: str) -> None:
        named, _, value = header.partition("=")
        body = "" if status == 204 else f"no entry with {self.headers.get('X-Key')}"
        self._reply(status, body, **({named: value} if named else {}))

    def _html(self) -> None:
        self._reply(200, "<html>Welcome</html>", content_type="text/html")

    def _empty(self) -> None:
        self._reply(200, "", content_type="application/json")

    def _notjson(self) -> None:
        self._reply(200, "{oops", content_type="application/json")

    def _notrpc(self) -> None:
        self._reply(200, '{"status": "up"}', content_type="application/json")

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

    def _away(self) -> None:
        self._reply(307, "", Location="http://elsewhere.invalid/mcp?token=abc")

    def _moved(self) -> None:
        self._reply(307, "", Location="/works")

    def _works(self) -> None:
        """A small stateful MCP server."""
        if self.command == "GET":
            self._reply(405, "")
        elif self.command == "DELETE":
            self._farewell()
        else:
            self._answer(json.loads(self.body))

    def _clingy(self) -> None:
        """Works, but never answers the farewell."""
        self._works()

    def _expires(self) -> None:
        """Works until the list of tools, for which the token has expired."""
        if b'"tools/list"' in self.body:
            self._reply(401, "expired", **{"WWW-Authenticate": 'Bearer error="invalid_token"'})
        else:
            self._works()

    def _forgets(self) -> None:
        """Works until the list of tools, by when the session is forgotten."""
        if b'"tools/list"' in self.body:
            self._reply(404, "no such session")
        else:
            self._works()

    def _refuses(self) -> None:
        """Says no in MCP and in HTTP."""
        reply = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no"}}
        self._reply(400, json.dumps(reply), content_type="application/json")

    def _farewell(self) -> None:
        if self.path.startswith("/clingy"):
            self._never()
        else:
            self._reply(204, "")

    def _answer(self, message: dict[str, Any]) -> None:
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "web", "version": "1"},
            },
            "tools/list": {"tools": []},
        }
        if "id" not in message:
            self._reply(202, "")
        elif message["method"] in results:
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}
            self._reply(200, json.dumps(reply), content_type="application/json", **{"Mcp-Session-Id": "s1"})
        else:
            error = {"code": -32601, "message": "Method not found"}
            reply = {"jsonrpc": "2.0", "id": message["id"], "error": error}
            self._reply(200, json.dumps(reply), content_type="application/json")

    def _sse(self) -> None:
        """The deprecated transport, as far as its endpoint, where every message is refused."""
        if self.command == "POST":
            self._reply(405, "")
        else:
            self._stream("event: endpoint\ndata: /500\n\n")

    def _elsewhere(self) -> None:
        """The deprecated transport, whose endpoint is somebody else's."""
        self._stream("event: endpoint\ndata: http://elsewhere.invalid/steal?token=abc\n\n")

    def _reply(self, status: int, body: str, *, content_type: str = "text/plain", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body.encode())))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def _stream(self, start: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
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
        """Every request: method, path, headers."""

    def stop(self) -> None:
        """Close everything, also what hangs."""
        self._handler.released.set()
        self._server.shutdown()
        self._server.close_connections()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[Handler]) -> None:
        super().__init__(address, handler)
        self._connections: list[socket.socket] = []

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection."""
        self._connections.append(request)
        super().process_request(request, client_address)

    def close_connections(self) -> None:
        """Hang up on every client."""
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what these tests are about."""


@contextmanager
def misbehaving_web() -> Generator[Web]:
    """Serve until the block ends."""

    class OwnHandler(Handler):
        released = threading.Event()
        seen: ClassVar[list[tuple[str, str, dict[str, str]]]] = []

    web = Web(OwnHandler)
    try:
        yield web
    finally:
        web.stop()


@contextmanager
def tls_server(folder: Path) -> Generator[int]:
    """Serve TLS with a certificate that nobody knows, and give the port."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    certificate = builder.sign(key, hashes.SHA256())
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    pem = folder / "server.pem"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + key.private_bytes(*plain))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError), context.wrap_socket(connection, server_side=True) as inner:
                inner.recv(1)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
