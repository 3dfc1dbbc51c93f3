"""The MCP servers that the probe brings, and their receipts: what the agent started, listed and called."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream, TaskGroup
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.stapled import MultiListener

from acp_bindings._condition import Condition
from acp_bindings.probe import _mcp_stdio
from acp_bindings.probe._probed_agent import Message

WORD = "pelican-7"
"""The value of the environment variable and of the header that must arrive."""
VARIABLE, HEADER = "PROBE_WORD", "X-Probe-Word"
ARGUMENTS = ["--mode", "two words"]
LONGEST_HEAD = 65536
_GONE = (
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.DelimiterNotFound,
    anyio.EndOfStream,
    anyio.IncompleteRead,
)
"""Errors that end one connection, and nothing else."""


class Servers:
    """The servers of one probe. Each entry that is made has a name of its own, by which its receipts are found."""

    def __init__(self, version: int) -> None:
        self._version = version
        self.receipts: list[Message] = []
        self._streams: dict[str, SocketStream] = {}
        """The open event stream of each SSE server."""
        self._sending = anyio.Lock()
        """Held while a response is sent on such a stream, which several requests may share."""
        self._moved = Condition()
        self._count = 0

    async def start(self, tasks: TaskGroup) -> None:
        """Listen on loopback."""
        self._ports: list[int] = []
        for handle in (self._hear_stdio, self._hear_http):
            listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
            self._ports.append(listener.extra(SocketAttribute.local_port))  # noqa: S610 - not Django's
            tasks.start_soon(_serve, listener, handle)

    def stdio(self) -> Message:
        """Return the entry of a new stdio server."""
        name = self._name()
        args = ["-I", str(Path(_mcp_stdio.__file__)), str(self._ports[0]), name, *ARGUMENTS]
        form = {"type": "stdio"} if self._version > 1 else {}
        environment = [{"name": VARIABLE, "value": WORD}]
        return {**form, "name": name, "command": sys.executable, "args": args, "env": environment}

    def broken(self) -> list[Message]:
        """Return entries of servers that cannot be started, or exit at once."""
        whole = self.stdio()
        missing = str(Path(sys.executable).with_name("no-such-program"))
        return [
            {**whole, "name": self._name(), "command": missing, "args": []},
            {**whole, "name": self._name(), "args": ["-c", "raise SystemExit('this server is broken on purpose')"]},
        ]

    def remote(self, kind: str) -> Message:
        """Return the entry of a new server: `http` or `sse`."""
        name = self._name()
        url = f"http://127.0.0.1:{self._ports[1]}/{kind}/{name}"
        return {"type": kind, "name": name, "url": url, "headers": [{"name": HEADER, "value": WORD}]}

    def of(self, entry: Message, event: str | None = None) -> list[Message]:
        """Return the receipts of a server, or those of one kind of event."""
        mine = [each for each in self.receipts if each["server"] == entry["name"]]
        return [each for each in mine if event in (None, each["event"])]

    async def wait(self, holds: Callable[[], Any], seconds: float) -> bool:
        """Wait until *holds* is true. Return whether it is."""
        with anyio.move_on_after(seconds):
            while not holds():
                await self._moved.wait()
        return bool(holds())

    def _name(self) -> str:
        self._count += 1
        return f"probe-{self._count}"

    def _tell(self, server: str, event: str, **facts: Any) -> None:
        self.receipts.append({"server": server, "event": event, **facts})
        self._moved.notify_all()

    async def _hear_stdio(self, stream: SocketStream) -> None:
        """Take the receipts of one process. It has ended when its socket is closed."""
        server, buffered = None, BufferedByteReceiveStream(stream)
        async with stream:
            try:
                while True:
                    receipt = json.loads(await buffered.receive_until(b"\n", LONGEST_HEAD))
                    server = str(receipt["server"])
                    self._tell(**receipt)
            except _GONE:
                if server:
                    self._tell(server, "ended")

    async def _hear_http(self, stream: SocketStream) -> None:
        """Answer one HTTP request."""
        buffered = BufferedByteReceiveStream(stream)
        async with stream:
            try:
                head = (await buffered.receive_until(b"\r\n\r\n", LONGEST_HEAD)).decode("latin-1")
                first, *fields = head.split("\r\n")
                method, path, _ = first.split(" ", 2)
                headers = {name.strip().lower(): value.strip() for name, _, value in (f.partition(":") for f in fields)}
                body = await _body(buffered, headers)
                _, kind, name, *rest = path.split("/")
                self._tell(name, "started", word=headers.get(HEADER.lower()))
                await self._respond(stream, method, kind, name, body=body, is_stream=kind == "sse" and not rest)
            except (*_GONE, ValueError):
                return

    async def _respond(
        self, stream: SocketStream, method: str, kind: str, name: str, *, body: bytes, is_stream: bool
    ) -> None:
        if method == "GET" and is_stream:
            await stream.send(_head("200 OK", "Content-Type: text/event-stream"))
            await stream.send(f"event: endpoint\ndata: /sse/{name}/messages\n\n".encode())
            self._streams[name] = stream
            await stream.receive()  # until the client leaves
        elif method == "POST" and not is_stream:  # clients that try Streamable HTTP first must get an error
            event, response = _mcp_stdio.answer(body)
            if event:
                self._tell(name, event)
            if kind == "sse":
                await stream.send(_head("202 Accepted", "Content-Length: 0"))
                if response and name in self._streams:
                    async with self._sending:
                        await self._streams[name].send(f"event: message\ndata: {json.dumps(response)}\n\n".encode())
            elif response:
                data = json.dumps(response).encode()
                await stream.send(
                    _head("200 OK", "Content-Type: application/json", f"Content-Length: {len(data)}") + data
                )
            else:
                await stream.send(_head("202 Accepted", "Content-Length: 0"))
        else:
            await stream.send(_head("405 Method Not Allowed", "Content-Length: 0"))


async def _serve(listener: MultiListener[SocketStream], handle: Callable[[SocketStream], Awaitable[None]]) -> None:
    async with listener:
        await listener.serve(handle)


async def _body(buffered: BufferedByteReceiveStream, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await buffered.receive_exactly(int(headers.get("content-length") or 0))
    body, size = b"", 1
    while size:  # the last chunk is empty
        size = int(await buffered.receive_until(b"\r\n", LONGEST_HEAD), 16)
        body += (await buffered.receive_exactly(size + 2))[:size]
    return body


def _head(status: str, *fields: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", "Connection: close", *fields, "\r\n"]).encode()
