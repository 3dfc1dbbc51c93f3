"""Replaces the MCP servers in requests of a client by relays."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from anyio.abc import SocketAttribute
from anyio.streams.buffered import BufferedByteReceiveStream

from acp_bindings._json import items_of, members_of, parsed_members
from acp_bindings._tap.forwarding import framed
from acp_bindings.setup.capabilities import Side
from mcp_launch._local.listener import serve_http
from mcp_launch._receipts import stdio_relay
from mcp_launch._receipts.http_relay import forwarding
from mcp_launch._receipts.servers import Process, Relayed, facts_of, next_frame
from mcp_launch._servers.life import import_sdk, read_entry
from mcp_launch._spec import StdioServer

if TYPE_CHECKING:
    from anyio.abc import SocketStream, TaskGroup

_LAST = 3.0
"""Seconds at the end for what is still to be found out."""
_FIRST = 10.0
"""Seconds for the token of a relay."""


Tell: TypeAlias = Callable[[Mapping[str, Any]], object]


@asynccontextmanager
async def receipts(tell: Tell, notify: Callable[[bytes], object]) -> AsyncGenerator[Receipts]:
    """Run relays while the block runs.

    Args:
        tell: called with each receipt.
        notify: called with each line for the client, once it knows the session.
    """
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
        yield Receipts(servers, tell=tell, notify=notify, tasks=work, ports=ports)
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
        tell: Tell,
        notify: Callable[[bytes], object],
        tasks: TaskGroup,
        ports: tuple[int, int],
    ) -> None:
        self._servers = servers
        self._tell = tell
        self._notify = notify
        self._tasks = tasks
        self._stdio_port, self._web_port = ports
        self._transports: list[Any] | None = None
        """The transports that the agent has advertised; None if it was not asked."""
        self._has_notices = False
        """True if the client shows notices."""
        self._asked: dict[str | int, tuple[Session, object]] = {}
        """The sessions that are being opened, and their ids if they are known, by the id of the request."""

    async def replaced(self, line: bytes) -> bytes:
        """Return a line of the client with relays in place of its servers; invalid entries are reported and stay."""
        message = parsed_members(line)
        params = members_of(message.get("params"))
        entries = items_of(params.get("mcpServers"))
        if not entries:
            return line
        session = Session(self._tell, self._notify)
        number = message.get("id")
        if isinstance(number, str | int):
            self._asked[number] = session, params.get("sessionId")
        taken: set[str] = set()
        cwd = params.get("cwd")
        cwd = cwd if isinstance(cwd, str) and os.path.isabs(cwd) else os.getcwd()
        params["mcpServers"] = [self._relay(each, index, taken, cwd, session) for index, each in enumerate(entries)]
        return json.dumps(message).encode()

    def concerns(self, line: bytes) -> bool:
        """Return True if `hear` needs a line of the conversation, which most lines are not."""
        return bool(self._asked) or b'"protocolVersion"' in line

    def hear(self, sender: Side, line: bytes) -> None:
        """Note the capabilities of both sides, and the sessions that the agent has opened."""
        message = parsed_members(line)
        params, result = members_of(message.get("params")), members_of(message.get("result"))
        if sender == "client":
            ours = members_of(members_of(params.get("clientCapabilities")).get("session"))
            self._has_notices = self._has_notices or isinstance(ours.get("notices"), dict)
            return
        # In v2, no capability is needed.
        self._has_notices = self._has_notices or result.get("protocolVersion") == 2
        if "agentCapabilities" in result:
            offered = members_of(members_of(result["agentCapabilities"]).get("mcpCapabilities"))
            self._transports = [name for name in ("http", "sse") if offered.get(name)]
        number = message.get("id")
        if isinstance(number, str | int) and "method" not in message and number in self._asked:
            session, known = self._asked.pop(number)
            named = result.get("sessionId", known)
            if "result" in message and isinstance(named, str) and self._has_notices:
                session.open(named)

    def _relay(self, entry: object, index: int, taken: set[str], cwd: str, session: Session) -> object:
        if members_of(entry).get("type") == "acp":
            # The client itself serves it over this conversation.
            return entry
        record = read_entry(entry, index=index, taken=taken, transports=cast("Any", self._transports), options=None)
        taken.add(record.name)
        spec = record.spec
        if spec is None:
            if failure := record.failure:
                session.tell({"server": record.name, "event": "failed", **facts_of(failure)})
            return entry
        server = Relayed(spec, entry, cwd=cwd, tasks=self._tasks, tell=session.tell)
        if record.failure:
            server.fail(record.failure)
        token = secrets.token_urlsafe(24)
        self._servers[token] = server
        if isinstance(spec, StdioServer):
            args = ["-I", "-S", str(Path(stdio_relay.__file__).resolve()), str(self._stdio_port)]
            env = [{"name": stdio_relay.TOKEN, "value": token}]
            return {**members_of(entry), "command": sys.executable, "args": args, "env": env}
        url = f"http://127.0.0.1:{self._web_port}/{token}{urlsplit(spec.url).path or '/'}"
        return {**members_of(entry), "url": url, "headers": []}


class Session:
    """The receipts of one session. Failures are also for its user, as notices."""

    def __init__(self, tell: Tell, notify: Callable[[bytes], object]) -> None:
        self._tell = tell
        self._notify = notify
        self._id: str | None = None
        self._unsent: list[Mapping[str, Any]] = []

    def tell(self, about: Mapping[str, Any]) -> None:
        """Report what the agent did with a server."""
        self._tell(about)
        if about["event"] == "failed":
            self._unsent.append(about)
            self._send()

    def open(self, name: str) -> None:
        """Send notices from now on: the client has the id of the session."""
        self._id = name
        self._send()

    def _send(self) -> None:
        if self._id is None:
            return
        for about in self._unsent:
            update = {
                "sessionUpdate": "notice",
                "severity": "warning",
                "title": f"MCP server {about['server']} failed: {about['code']}",
                "description": about["message"],
            }
            params = {"sessionId": self._id, "update": update}
            self._notify(json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode())
        self._unsent.clear()


async def _follow(stream: SocketStream, servers: Mapping[str, Relayed]) -> None:
    received = BufferedByteReceiveStream(stream)
    first = None
    with anyio.move_on_after(_FIRST):
        first = await next_frame(received)
    server = servers.get(first[1].decode(errors="replace")) if first else None
    if server is None or not isinstance(server.spec, StdioServer):
        return
    spec = server.spec
    about = {"command": spec.command, "args": list(spec.args), "env": dict(spec.env)}
    await stream.send(framed(b"s", json.dumps(about).encode()))
    await Process(server, spec).follow(received)
