"""Both ends of a connection, ours or bare, over real pipes and sockets, with handlers for tests."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import json
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import UNIXSocketStream

from acp_bindings import v1
from acp_bindings._processes.pipes import Reader, Writer
from acp_bindings.connection import Connection, ConnectionClosed, Handlers
from acp_bindings.jsonrpc import ProtocolPackage, Role

HELLO = v1.SessionNotification(session_id="s", update=v1.AgentMessageChunk(content=v1.TextContent(text="hello")))
NEW = v1.NewSessionRequest(cwd="/project", mcp_servers=[])
PROMPT = v1.PromptRequest(session_id="s", prompt=[])
SECRET = "sk-hunter2-never-shown"


def line_of(message: dict[str, Any] | bytes) -> bytes:
    """Return a message, or a line without its newline, as it is sent."""
    line = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
    return line + b"\n"


class AtOnce:
    """A source that returns everything at once, and then the end."""

    def __init__(self, everything: bytes) -> None:
        self.rest = everything

    async def receive(self, max_bytes: int = 65536, /) -> bytes:
        if not self.rest:
            raise anyio.EndOfStream
        chunk, self.rest = self.rest, b""
        return chunk

    async def aclose(self) -> None:
        """Do nothing, because nothing is open."""


async def streams() -> tuple[UNIXSocketStream, UNIXSocketStream]:
    """Return two connected ends."""
    one, other = socket.socketpair()
    return await UNIXSocketStream.from_socket(one), await UNIXSocketStream.from_socket(other)


@asynccontextmanager
async def both(
    *, agent: Any = None, client: Any = None, protocol: ProtocolPackage = v1, **options: Any
) -> AsyncGenerator[tuple[Connection, Connection]]:
    """Connect an agent and a client with these handlers over two pipes."""
    (to_agent, from_client), (to_client, from_agent) = os.pipe(), os.pipe()
    ends = Reader(to_agent), Writer(from_agent), Reader(to_client), Writer(from_client)
    os.set_blocking(from_agent, False)
    os.set_blocking(from_client, False)
    try:
        async with (
            Connection(*ends[:2], protocol=protocol, role="agent", handlers=agent, **options) as agent_,
            Connection(*ends[2:], protocol=protocol, role="client", handlers=client, **options) as client_,
        ):
            yield agent_, client_
    finally:
        # Of a connection that was not entered.
        with anyio.CancelScope(shield=True):
            for end in ends:
                await end.aclose()


class Bare:
    """The other end without a `Connection`: it sends and receives lines unchanged."""

    def __init__(self, stream: UNIXSocketStream) -> None:
        self.stream = stream
        self._bytes = b""

    async def say(self, *messages: dict[str, Any] | bytes) -> None:
        """Send messages, or lines, all at once."""
        await self.stream.send(b"".join(map(line_of, messages)))

    async def hear(self) -> Any:
        """Return the next message."""
        with anyio.fail_after(5):
            while b"\n" not in self._bytes:
                self._bytes += await self.stream.receive()
        line, _, self._bytes = self._bytes.partition(b"\n")
        return {name: value for name, value in json.loads(line).items() if name != "jsonrpc"}


@asynccontextmanager
async def against(
    handlers: Handlers | dict[Any, Any] | None = None,
    *,
    role: Role = "agent",
    protocol: ProtocolPackage = v1,
    **options: Any,
) -> AsyncGenerator[tuple[Connection, Bare]]:
    """Connect an end of ours and a bare one."""
    one, other = await streams()
    async with (
        one,
        other,
        Connection(one, one, protocol=protocol, role=role, handlers=handlers, **options) as connection,
    ):
        yield connection, Bare(other)


async def fill(connection: Connection) -> None:
    """Send notifications until there is no more room, to a peer that does not read."""
    await connection.notify("x" * 1_000_000, method="_acme/told")
    while connection._outbox._lines:
        await anyio.lowlevel.checkpoint()
    await connection.notify("x" * 100_000, method="_acme/told")
    assert connection._outbox.is_full
    await anyio.wait_all_tasks_blocked()


async def until_full(connection: Connection) -> None:
    """Wait until senders have to wait for room, and all tasks wait."""
    while not connection._outbox.is_full:
        await anyio.lowlevel.checkpoint()
    await anyio.wait_all_tasks_blocked()


async def until_crowded(connection: Connection) -> None:
    """Wait until no more is read."""
    while not connection._serving.is_crowded:
        await anyio.lowlevel.checkpoint()


def setting(event: anyio.Event) -> Any:
    """Return a handler that sets *event*."""

    def set_it(params: Any, connection: Connection) -> None:
        event.set()

    return set_it


async def new_session(request: v1.NewSessionRequest, connection: Connection) -> v1.NewSessionResponse:
    return v1.NewSessionResponse(session_id=f"session of {request.cwd}")


async def forever(params: Any, connection: Connection) -> None:
    await anyio.sleep_forever()


def nothing(params: Any, connection: Connection) -> None:
    """Do nothing, so that the response is empty."""


def an_x(params: Any, connection: Connection) -> str:
    return "x"


def one(params: Any, connection: Connection) -> int:
    return 1


def same(params: Any, connection: Connection) -> Any:
    return params


async def ask_back(params: Any, connection: Connection) -> Any:
    return await connection.request(params, method="_acme/back")


def into(heard: list[Any], *, waits: bool = False) -> Any:
    """Return a handler that stores its params; with *waits*, an `async def` that lets other tasks run first."""

    def hear(params: Any, connection: Connection) -> None:
        heard.append(params)

    async def hear_later(params: Any, connection: Connection) -> None:
        await anyio.lowlevel.checkpoint()
        heard.append(params)

    return hear_later if waits else hear


def until(event: anyio.Event) -> Any:
    """Return a handler that waits for *event*."""

    async def wait(params: Any, connection: Connection) -> None:
        await event.wait()

    return wait


async def ask_into(answers: list[Any], connection: Connection, params: Any = None, method: str = "_acme/do") -> None:
    answers.append(await connection.request(params, method=method))


async def fails(connection: Connection, says: str, params: Any = None, **options: Any) -> None:
    """Send a request that gets no response, because the connection ends."""
    with pytest.raises(ConnectionClosed, match=says):
        await connection.request(params, **options)


def an_answer(id_: int) -> dict[str, Any]:
    return {"id": id_, "result": {}}


def doing(id_: int | str, params: Any = None) -> dict[str, Any]:
    return {"id": id_, "method": "_acme/do", "params": params}


def much(params: Any, connection: Connection) -> str:
    return "x" * 1000
