"""The client of the WebSocket profile: a text frame for each message. httpx makes the connection."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import httpcore
import httpx
from websockets.exceptions import ProtocolError
from websockets.frames import CLOSE_CODE_EXPLANATIONS, Opcode
from websockets.protocol import CLIENT, OPEN, Protocol
from websockets.utils import accept_key, generate_key

from acp_bindings.remote._network import Network
from acp_bindings.remote._wire import PART, as_line
from acp_bindings.remote.errors import Unreachable

_CHUNK = 65536
PING = 20.0
"""Seconds without a frame after which a ping is sent. After as many more, the connection is taken for lost."""
_FAREWELL = 1.0


class WebSocketLink:
    """The source and the sink of a connection to an agent on a WebSocket."""

    def __init__(self, network: Network, stream: Any, *, limit: int) -> None:
        self.network = network
        self._stream: Any = stream
        self._protocol = Protocol(CLIENT, state=OPEN, max_size=limit)
        self._message: list[bytes] = []
        self._writing = anyio.Lock()
        self.failure: Unreachable | None = None
        """Why the connection has ended, once it has."""
        self._failed = anyio.Event()

    async def receive(self, _: int = 65536, /) -> bytes:
        """Return the next messages of the agent."""
        lines = bytearray()
        while not lines:
            if self.failure is not None:
                raise anyio.EndOfStream
            try:
                data = await self._next_data()
            except (httpcore.NetworkError, httpcore.TimeoutException, OSError) as error:
                self._fail(self.network.explain(error, silence=2 * PING))
                continue
            self._protocol.receive_data(data) if data else self._protocol.receive_eof()
            for event in self._protocol.events_received():
                self._take(event, lines)
            if (wrong := self._protocol.parser_exc) is not None and not isinstance(wrong, EOFError):
                self._fail(self.network.explain(wrong))
            elif self._protocol.close_rcvd is not None:
                close = self._protocol.close_rcvd
                why = close.reason or CLOSE_CODE_EXPLANATIONS.get(close.code)
                said = f"{close.code}: {why}" if why else str(close.code)
                self._fail(self.network.lost(f"the agent closed the WebSocket ({said})"))
            elif not data:
                self._fail(self.network.lost("the connection was lost"))
            with suppress(anyio.BrokenResourceError):
                await self._flush()
        return bytes(lines)

    async def _next_data(self) -> bytes:
        try:
            data: bytes = await self._stream.read(_CHUNK, timeout=PING)
        except httpcore.ReadTimeout:
            self._protocol.send_ping(b"")
            await self._flush()
            data = await self._stream.read(_CHUNK, timeout=PING)
        return data

    def _take(self, frame: Any, lines: bytearray) -> None:
        if frame.opcode is Opcode.TEXT or (frame.opcode is Opcode.CONT and self._message):
            self._message.append(frame.data)
            if frame.fin:
                lines += as_line(b"".join(self._message))
                self._message.clear()

    async def send(self, item: bytes, /) -> None:
        """Send each line as a frame."""
        if self.failure is not None or self._protocol.state is not OPEN:
            raise anyio.BrokenResourceError
        for line in item.splitlines():
            self._protocol.send_text(line)
        await self._flush()

    async def _flush(self) -> None:
        async with self._writing:
            data = b"".join(self._protocol.data_to_send())
            if not data:
                return
            try:
                for start in range(0, len(data), PART):
                    await self._stream.write(data[start : start + PART], timeout=self.network.timeout)
            except (httpcore.NetworkError, httpcore.TimeoutException, OSError) as error:
                # An agent that does not read a message to its end may have said why it closes the WebSocket.
                with anyio.move_on_after(_FAREWELL):
                    await self._failed.wait()
                self._fail(self.network.explain(error))
                raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        """Close the WebSocket."""
        with anyio.move_on_after(_FAREWELL, shield=True), suppress(ProtocolError, anyio.BrokenResourceError):
            if self._protocol.state is OPEN:
                self._protocol.send_close(1000)
                await self._flush()

    def _fail(self, failure: Unreachable) -> None:
        self.failure = self.failure or failure
        self._failed.set()


@asynccontextmanager
async def open_websocket(network: Network, *, limit: int) -> AsyncGenerator[WebSocketLink]:
    """Open a WebSocket, and close it at the end of the block.

    Raises:
        Unreachable: the server does not accept it.
    """
    key = generate_key()
    headers = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-key": key,
        "sec-websocket-version": "13",
    }
    try:
        response = await network.upgrade(headers)
    except (httpx.HTTPError, OSError) as error:
        raise network.explain(error) from error
    try:
        if response.status_code != 101:
            raise network.refused(await network.start_of(response))
        if response.headers.get("sec-websocket-accept") != accept_key(key):
            raise network.lost("the server does not speak WebSocket", code="not_acp")
        yield WebSocketLink(network, response.extensions["network_stream"], limit=limit)
    finally:
        with anyio.CancelScope(shield=True):
            await response.aclose()
