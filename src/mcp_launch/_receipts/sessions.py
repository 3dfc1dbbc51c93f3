"""Replaces the MCP servers in requests of a client by relays."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from anyio.abc import SocketAttribute

from acp_bindings._json import items_of, members_of
from acp_bindings._tap.forwarding import framed
from mcp_launch._local.listener import serve_http
from mcp_launch._receipts import relay
from mcp_launch._receipts.servers import Frames, Process, Relayed, facts_of
from mcp_launch._receipts.web import forwarding
from mcp_launch._servers.roster import import_sdk, read_entry
from mcp_launch._spec import StdioServer

if TYPE_CHECKING:
    from anyio.abc import SocketStream, TaskGroup

_LAST = 3.0
"""Seconds at the end for what is still to be found out."""
_FIRST = 10.0
"""Seconds for the token of a relay."""


@asynccontextmanager
async def receipts(tell: Callable[[Mapping[str, Any]], object]) -> AsyncGenerator[Receipts]:
    """Run relays while the block runs. `tell` is called with each receipt."""
    servers: dict[str, Relayed] = {}

    async def serve_stdio(stream: SocketStream) -> None:
        async with stream:
            await _follow(stream, servers)

    async with (
        forwarding(servers) as app,
        await anyio.create_tcp_listener(local_host="127.0.0.1") as processes,
        await anyio.create_tcp_listener(local_host="127.0.0.1") as web,
        anyio.create_task_group() as work,
        anyio.create_task_group() as tasks,
    ):

        async def serve_web(stream: SocketStream) -> None:
            async with stream:
                await serve_http(stream, app)

        tasks.start_soon(processes.serve, serve_stdio, work)
        tasks.start_soon(web.serve, serve_web)
        # Loaded before a server fails, because that takes a second.
        tasks.start_soon(anyio.to_thread.run_sync, import_sdk)
        ports = (processes.extra(SocketAttribute.local_port), web.extra(SocketAttribute.local_port))  # noqa: S610
        yield Receipts(servers, tell=tell, tasks=work, ports=ports)
        for server in servers.values():
            server.at_end()
            if not server.opened:
                server.tell("unopened")
        tasks.cancel_scope.cancel()
        # The servers of an agent that has exited are about to exit as well.
        work.cancel_scope.deadline = anyio.current_time() + _LAST


class Receipts:
    """The relays of all sessions."""

    def __init__(
        self,
        servers: dict[str, Relayed],
        *,
        tell: Callable[[Mapping[str, Any]], object],
        tasks: TaskGroup,
        ports: tuple[int, int],
    ) -> None:
        self._servers = servers
        self._tell = tell
        self._tasks = tasks
        self._stdio_port, self._web_port = ports
        self._transports: list[Any] | None = None

    async def replaced(self, line: bytes) -> bytes:
        """Return a line of the client with relays in place of its servers; invalid entries are reported and stay."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return line
        params = members_of(members_of(message).get("params"))
        entries = items_of(params.get("mcpServers"))
        if not entries:
            return line
        taken: set[str] = set()
        cwd = params.get("cwd")
        cwd = cwd if isinstance(cwd, str) and os.path.isabs(cwd) else os.getcwd()
        params["mcpServers"] = [self._relay(each, index, taken, cwd) for index, each in enumerate(entries)]
        return json.dumps(message).encode()

    def hear(self, line: bytes) -> None:
        """Note which transports the agent has advertised."""
        if b'"mcpCapabilities"' in line and self._transports is None:
            result = members_of(members_of(json.loads(line)).get("result"))
            offered = members_of(members_of(result.get("agentCapabilities")).get("mcpCapabilities"))
            self._transports = ["stdio", *(name for name in ("http", "sse") if offered.get(name))]

    def _relay(self, entry: object, index: int, taken: set[str], cwd: str) -> object:
        record = read_entry(entry, index=index, taken=taken, transports=cast("Any", self._transports), options=None)
        taken.add(record.name)
        spec = record.spec
        if spec is None:
            if failure := record.failure:
                self._tell({"server": record.name, "event": "failed", **facts_of(failure)})
            return entry
        server = Relayed(spec, cwd=cwd, tasks=self._tasks, tell=self._tell)
        if record.failure:
            server.fail(record.failure)
        token = secrets.token_urlsafe(24)
        self._servers[token] = server
        if isinstance(spec, StdioServer):
            args = ["-I", "-S", str(Path(relay.__file__).resolve()), str(self._stdio_port)]
            env = [{"name": relay.TOKEN, "value": token}]
            return {**members_of(entry), "command": sys.executable, "args": args, "env": env}
        url = f"http://127.0.0.1:{self._web_port}/{token}{urlsplit(spec.url).path or '/'}"
        return {**members_of(entry), "url": url, "headers": []}


async def _follow(stream: SocketStream, servers: Mapping[str, Relayed]) -> None:
    frames = Frames(stream)
    first = None
    with anyio.move_on_after(_FIRST):
        first = await frames.next()
    server = servers.get(first[1].decode(errors="replace")) if first else None
    if server is None or not isinstance(server.spec, StdioServer):
        return
    spec = server.spec
    about = {"command": spec.command, "args": list(spec.args), "env": dict(spec.env)}
    await stream.send(framed(b"s", json.dumps(about).encode()))
    await Process(server, spec).follow(frames)
