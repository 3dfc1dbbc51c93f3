"""The client's end of a WebSocket."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from acp_bindings.remote._websocket_client import WebSocketLink

pytestmark = pytest.mark.anyio


async def test_a_message_after_the_end_of_the_input_is_a_broken_connection() -> None:
    nothing: Any = None
    link: Any = WebSocketLink(nothing, nothing, limit=1000)
    link._protocol.receive_eof()

    with pytest.raises(anyio.BrokenResourceError):
        await link.send(b'{"jsonrpc":"2.0","method":"session/cancel"}\n')
