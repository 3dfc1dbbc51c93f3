"""The client's end of a WebSocket."""

from __future__ import annotations

from typing import Any

import anyio
import httpcore
import pytest
from websockets.protocol import OPEN, SERVER, Protocol

from acp_bindings.remote._network import Network
from acp_bindings.remote._websocket_client import WebSocketLink

pytestmark = pytest.mark.anyio


async def test_a_message_after_the_end_of_the_input_is_a_broken_connection() -> None:
    nothing: Any = None
    link: Any = WebSocketLink(nothing, nothing, limit=1000)
    link._protocol.receive_eof()

    with pytest.raises(anyio.BrokenResourceError):
        await link.send(b'{"jsonrpc":"2.0","method":"session/cancel"}\n')


class ClosedEarly:
    """The stream to a server that closes the WebSocket without reading a long message to its end."""

    def __init__(self) -> None:
        self.broken = anyio.Event()

    async def write(self, data: bytes, timeout: float) -> None:
        self.broken.set()
        raise httpcore.WriteError

    async def read(self, size: int, timeout: float) -> bytes:
        await self.broken.wait()
        server = Protocol(SERVER, state=OPEN)
        server.send_close(1009)
        return b"".join(server.data_to_send())


async def test_the_reason_of_the_server_is_told_if_it_closes_while_the_client_writes() -> None:
    network = Network("ws://127.0.0.1/acp", timeout=5)
    link = WebSocketLink(network, ClosedEarly(), limit=1000)

    async def read() -> None:
        with pytest.raises(anyio.EndOfStream):
            await link.receive()

    async with network.client, anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        with pytest.raises(anyio.BrokenResourceError):
            await link.send(b'{"jsonrpc":"2.0","method":"session/cancel"}\n')
    assert "the agent closed the WebSocket (1009: message too big)" in str(link.failure)
