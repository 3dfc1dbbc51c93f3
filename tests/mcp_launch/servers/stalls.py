"""MCP servers that stall or flood their client, over each transport.

`stalls.py MODE` is a stdio server; `Web` is served by `raw_server`. The modes:

- `stops_reading`: works, and pings its client at each call. After its first call the stdio server stops reading, and
  sends log messages, until the file that the variable `GATE` names exists. The web servers never respond to the POST of
  a pong.
- `floods_unread`: sends pings forever instead of a response to the first request, and does not read pongs, or respond
  to their POSTs.
- `asks`: at each call it sends five `roots/list` requests, and responds once two of them got an error.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.mcp_launch.servers.raw import Request

Message = dict[str, Any]


def result(message: Message) -> Message:
    """Return the response of a server whose tools accept anything."""
    results: dict[str, Message] = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "stalls", "version": "1"},
        },
        "tools/list": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "seen")]},
        "tools/call": {"content": [{"type": "text", "text": "done"}]},
    }
    reply: Message = {"jsonrpc": "2.0", "id": message["id"]}
    if found := results.get(message["method"]):
        return {**reply, "result": found}
    return {**reply, "error": {"code": -32601, "message": "Method not found"}}


def requests(method: str) -> Iterator[Message]:
    """Yield requests forever."""
    for number in itertools.count(1):
        yield {"jsonrpc": "2.0", "id": f"{method}-{number}", "method": method}


def flood() -> Iterator[bytes]:
    """Yield events with pings forever, many at a time."""
    pings = requests("ping")
    while True:
        yield b"".join(b"data: %b\n\n" % json.dumps(next(pings)).encode() for _ in range(1000))


def is_response(message: Message) -> bool:
    """Return True if the client sent the message as a response to a request of this server."""
    return "method" not in message


def serve_stdio(mode: str) -> None:
    """Serve on standard input and output."""
    pings, asked = requests("ping"), requests("roots/list")
    seen: list[Any] = []
    for line in sys.stdin:
        message = json.loads(line)
        seen.append([message.get("method"), message.get("params", {}).get("name")])
        if is_response(message) or "id" not in message:
            continue
        reply = result(message)
        while mode == "floods_unread":
            # The pong has the same id, and so does not fit into the buffer of a pipe.
            ping = next(pings)
            write({**ping, "id": ping["id"].ljust(100_000)})
        if message["method"] == "tools/call":
            if mode == "asks":
                write(*itertools.islice(asked, 5))
                reply["result"] = errors(json.loads(line) for line in sys.stdin)
            elif message["params"]["name"] == "seen":
                reply["result"] = {"content": [{"type": "text", "text": json.dumps(seen)}]}
            else:
                write(next(pings))
        write(reply)
        while mode == "stops_reading" and message["method"] == "tools/call" and not os.path.exists(os.environ["GATE"]):
            write({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "full"}})
            time.sleep(0.01)


def errors(messages: Iterator[Message]) -> Message:
    """The result of a tool that waits for two errors of the client."""
    found = itertools.islice((message["error"] for message in messages if "error" in message), 2)
    return {"content": [{"type": "text", "text": json.dumps(list(found))}]}


def write(*messages: Message) -> None:
    """Write one line for each message."""
    sys.stdout.write("".join(json.dumps(message) + "\n" for message in messages))
    sys.stdout.flush()


class Web:
    """A server for one session, to be served by `raw_server`."""

    def __init__(self, mode: str) -> None:
        self._mode = mode
        self._pings, self._asked = requests("ping"), requests("roots/list")
        self._responses: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._events: queue.SimpleQueue[Message] = queue.SimpleQueue()

    def http(self, request: Request) -> Iterator[bytes]:
        """The response over Streamable HTTP."""
        from tests.mcp_launch.servers.raw import event, head, reply

        message = request.message
        if request.method != "POST":
            yield reply(204 if request.method == "DELETE" else 405)
        elif is_response(message) or "id" not in message:
            yield self._accept(request)
        elif self._mode == "floods_unread":
            yield head(content_type="text/event-stream")
            yield from flood()
        elif message["method"] == "tools/call":
            yield head(content_type="text/event-stream")
            yield from map(event, self._call(request))
        else:
            yield reply(200, json.dumps(result(message)).encode(), Mcp_Session_Id="s1")

    def sse(self, request: Request) -> Iterator[bytes]:
        """The response over SSE."""
        from tests.mcp_launch.servers.raw import event, head, reply

        message = request.message
        if request.method == "GET":
            yield head(content_type="text/event-stream")
            yield event("/messages", name="endpoint")
            for told in taken(self._events, request):
                if self._mode == "floods_unread":
                    yield from flood()
                yield event(told)
        elif is_response(message) or "id" not in message:
            yield self._accept(request)
        else:
            yield reply(202)
            for told in self._call(request) if message["method"] == "tools/call" else [result(message)]:
                self._events.put(told)

    def _accept(self, request: Request) -> bytes:
        from tests.mcp_launch.servers.raw import reply

        if is_response(request.message):
            self._responses.put(request.message)
            if self._mode in ("stops_reading", "floods_unread"):
                request.released.wait()
        return reply(202)

    def _call(self, request: Request) -> Iterator[Message]:
        reply = result(request.message)
        if self._mode == "asks":
            yield from itertools.islice(self._asked, 5)
            reply["result"] = errors(taken(self._responses, request))
        else:
            yield next(self._pings)
        yield reply


def taken(messages: queue.SimpleQueue[Message], request: Request) -> Iterator[Message]:
    """Yield the messages of a queue until the server ends."""
    while not request.released.is_set():
        with contextlib.suppress(queue.Empty):
            yield messages.get(timeout=0.05)


def handler(kind: str, web: Web) -> Callable[[Request], Iterator[bytes]]:
    """Return the handler for `raw_server`."""
    return web.http if kind == "http" else web.sse


if __name__ == "__main__":
    serve_stdio(sys.argv[1])
