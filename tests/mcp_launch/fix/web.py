"""A small MCP server over HTTP: /mcp works, /guarded/mcp needs a token, all else is not there.

/to/SCHEME/HOST/PORT redirects to another origin, and /local/mcp needs the host name localhost.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.mcp_launch.support import SECRET

ANSWERS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "web", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "go", "inputSchema": {"type": "object"}}]},
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        if path.startswith("/to/") and path.count("/") == 4:
            _, _, scheme, host, port = path.split("/")
            self._send(308, Location=f"{scheme}://{host}:{port}/mcp")
        elif path == "/local/mcp" and not self.headers["Host"].startswith("localhost:"):
            self._send(403, {"error": "Access is only allowed at localhost"})
        elif path not in ("/mcp", "/guarded/mcp", "/local/mcp"):
            self._send(404)
        elif path.startswith("/guarded") and self.headers.get("Authorization") != f"Bearer {SECRET}":
            self._send(401, WWW_Authenticate="Bearer")
        elif "id" not in message:
            self._send(202)
        else:
            result = ANSWERS.get(message["method"])
            error = {"error": {"code": -32601, "message": "Method not found"}}
            self._send(200, {"jsonrpc": "2.0", "id": message["id"], **({"result": result} if result else error)})

    def do_GET(self) -> None:
        self._send(405 if self.path.endswith("/mcp") else 404)

    do_DELETE = do_GET  # noqa: N815 - the name that http.server calls

    def _send(self, status: int, value: Any = None, **headers: str) -> None:
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        headers |= {"Content-Length": str(len(body)), **({"Content-Type": "application/json"} if body else {})}
        for name, each in headers.items():
            self.send_header(name.replace("_", "-"), each)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@contextmanager
def small_web(*, tls: ssl.SSLContext | None = None) -> Generator[str]:
    """Serve until the block ends, and yield the origin as if it were without TLS."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
