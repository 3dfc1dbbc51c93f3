"""Serve MCP to `relay`, the command that an agent starts for a server offered over stdio."""

from __future__ import annotations

import secrets
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError, JSONRPCResponse

from mcp_launch._local import relay
from mcp_launch._local.listener import LIMITS, Serve
from mcp_launch._transports.messages import UNWRITABLE, Invalid, Reader, UnwritableError, written
from mcp_launch._transports.streams import ReadStream
from mcp_launch.failures import UnusableInput

if TYPE_CHECKING:
    from anyio.abc import SocketStream
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.lowlevel import Server


_FIRST = 10.0
"""Seconds for the token."""


@asynccontextmanager
async def over_stdio(server: Server[Any], *, token: str) -> AsyncGenerator[Serve]:
    """Run the server while the block runs, and yield the function that serves a connection."""
    # The lifespan is entered once for all connections, as over HTTP; the SDK would enter it for each.
    async with server.lifespan(server) as state:

        async def serve(stream: SocketStream, admit: Callable[[], object]) -> None:
            lines = BufferedByteReceiveStream(stream)
            if not await _comes_with(token, lines):
                return
            admit()
            await stream.send(relay.WELCOME)
            outgoing, outbox = anyio.create_memory_object_stream[SessionMessage]()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_write, outbox, stream)
                incoming: Any = ReadStream(_Incoming(lines, outgoing))
                await serve_dual_era_loop(server, incoming, outgoing, lifespan_state=state)

        yield serve


def stdio_entry(name: str, *, port: int, token: str) -> dict[str, Any]:
    """Return the raw `McpServer` entry for the agent; v1 ignores the `type`."""
    # Isolated, so that it does not run code in the directory where the agent starts it.
    args = ["-I", "-S", str(Path(relay.__file__).resolve()), str(port)]
    env = [{"name": relay.TOKEN, "value": token}]
    return {"type": "stdio", "name": name, "command": sys.executable, "args": args, "env": env}


def refuse_unstartable() -> None:
    """Raise if an agent cannot start the relay.

    Raises:
        UnusableInput: this program lacks a Python interpreter, which the agent would run.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        raise UnusableInput("over stdio the agent must start Python, but this program has no interpreter; use http")


async def _comes_with(token: str, lines: BufferedByteReceiveStream) -> bool:
    with anyio.move_on_after(_FIRST):
        try:
            return secrets.compare_digest(await lines.receive_until(b"\n", 256), token.encode())
        except (anyio.IncompleteRead, anyio.DelimiterNotFound):
            return False
    return False


class _Incoming:
    """The messages of the agent."""

    def __init__(self, lines: BufferedByteReceiveStream, outgoing: MemoryObjectSendStream[SessionMessage]) -> None:
        self._lines = lines
        self._outgoing = outgoing
        self._reader = Reader(LIMITS, fixed=True)

    async def receive(self) -> SessionMessage:
        while True:
            try:
                found = await self._reader.read(await self._lines.receive_until(b"\n", LIMITS.bytes))
            except (anyio.IncompleteRead, anyio.DelimiterNotFound, anyio.BrokenResourceError):
                raise anyio.EndOfStream from None
            if not isinstance(found, Invalid):
                return SessionMessage(found)
            if found.id is not None and found.is_call:
                error = ErrorData(code=INVALID_REQUEST, message=f"not read: {found.why}")
                await self._outgoing.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=found.id, error=error)))

    async def aclose(self) -> None:
        """Do nothing: the connection is closed where it was accepted."""


async def _write(outbox: MemoryObjectReceiveStream[SessionMessage], stream: SocketStream) -> None:
    # Written in a separate task, because a handler that is cancelled while sending would leave half a line.
    async with outbox:
        with suppress(anyio.BrokenResourceError):  # the reading side ends then too
            async for item in outbox:
                await stream.send(_line(item))


def _line(item: SessionMessage) -> bytes:
    message = item.message
    try:
        line = written(message)
    except UnwritableError:
        if not isinstance(message, JSONRPCResponse):
            return b""
        line = written(JSONRPCError(jsonrpc="2.0", id=message.id, error=UNWRITABLE))
    return line + b"\n"
