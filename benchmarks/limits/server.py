"""A server that works until its tool is called: then it sends a shape, and a response after any other message.

For a `stall` it sends a ping and does not read any more, or never responds to a POST. A `flood` is pings without end.

`server.py stdio SHAPE` serves standard input and output. `server.py http SHAPE`, `stream` and `sse` print a URL: that
of Streamable HTTP, which answers with JSON or with an event stream, and of the transport before it.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.limits.shapes import SCHEMAS, Shape, compressed, from_json, message, result_for

ABOUT = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "bench", "version": "1"},
}
TOOL = {"name": "any", "inputSchema": {"type": "object"}}
PING = b'{"jsonrpc":"2.0","id":"p%d","method":"ping"}'


def messages(shape: Shape, asked: dict[str, Any]) -> Iterator[bytes]:
    """Return the response to a request."""
    number = asked.get("id")
    if number is None or "method" not in asked:
        return
    results: dict[str, Any] = {
        "initialize": ABOUT,
        "tools/list": {"tools": [TOOL]},
        "tools/call": {"content": [{"type": "text", "text": "done"}]},
    }
    if shape.kind == "schema":
        ((name, levels),) = shape.parts
        results["tools/list"] = {"tools": [{**TOOL, "outputSchema": {"type": "object", **SCHEMAS[name](levels)}}]}
        results["tools/call"]["structuredContent"] = result_for(name)
    elif asked["method"] == "tools/call" and shape.kind == "stall":
        yield PING % 0
        time.sleep(3600)
    elif asked["method"] == "tools/call" and shape.kind == "flood":
        yield from (PING % each for each in itertools.count())
    elif asked["method"] == "tools/call":
        yield message(shape, number)
        if shape.kind == "response":
            return
    if (result := results.get(asked["method"])) is not None:
        yield json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()
    else:
        error = {"code": -32601, "message": "Method not found"}
        yield json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode()


def serve_stdio(shape: Shape) -> None:
    for line in sys.stdin:
        for each in messages(shape, json.loads(line)):
            sys.stdout.buffer.write(each.replace(b"\n", b" ") + b"\n")
            sys.stdout.buffer.flush()


def serve_web(shape: Shape, way: str) -> None:
    posted: Queue[bytes] = Queue(1000)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if shape.kind == "stall" and "method" not in asked:
                time.sleep(3600)
            if shape.kind in ("stall", "flood") and asked.get("method") == "tools/call":
                self._send_without_end(messages(shape, asked))
                return
            found = list(messages(shape, asked))
            if way == "sse" or not found:
                self._reply(202, b"")
                for each in found:
                    posted.put(each)
            elif way == "stream":
                self._reply(200, b"".join(map(event, found)), "text/event-stream", squeezed=len(found[0]) > 2000)
            else:
                self._reply(200, found[0], squeezed=len(found[0]) > 2000)

        def do_GET(self) -> None:
            if way != "sse":
                self._reply(405, b"")
                return
            self._head(200, "text/event-stream")
            self.close_connection = True
            self._write(b"event: endpoint\ndata: /post\n\n")
            while True:
                self._write(event(posted.get()))

        def do_DELETE(self) -> None:
            self._reply(200, b"")

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
            pass

        def _send_without_end(self, sent: Iterator[bytes]) -> None:
            if way == "sse":
                self._reply(202, b"")
            elif way == "stream":
                self._head(200, "text/event-stream")
                self.close_connection = True
            for each in sent:
                if way == "stream":
                    self.wfile.write(event(each))
                elif way == "sse":
                    posted.put(each)

        def _reply(self, status: int, body: bytes, kind: str = "application/json", *, squeezed: bool = False) -> None:
            squeezed = squeezed and shape.squeezed
            body = compressed(body) if squeezed else body
            more = {"Content-Length": str(len(body)), **({"Content-Encoding": "gzip"} if squeezed else {})}
            self._head(status, kind, **more)
            self._write(body)

        def _head(self, status: int, kind: str, **headers: str) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": kind, **headers}.items():
                self.send_header(name, value)
            self.end_headers()

        def _write(self, data: bytes) -> None:
            try:
                self.wfile.write(data)
            except OSError:
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}/mcp", flush=True)
    sys.stdin.read()


def event(data: bytes) -> bytes:
    """The event; a message of several lines is one of several fields."""
    return b"".join(b"data: %b\n" % line for line in data.split(b"\n")) + b"\n"


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        serve_stdio(from_json(sys.argv[2]))
    else:
        serve_web(from_json(sys.argv[2]), sys.argv[1])
