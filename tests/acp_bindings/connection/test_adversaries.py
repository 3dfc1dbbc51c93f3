"""Hostile and broken peers, and careless users: what each costs, and that it costs no more than that."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from acp_bindings import v1
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup import OPENING
from tests.acp_bindings.connection.support import against

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("protocol", [v1, OPENING])
@pytest.mark.parametrize(
    "params", [{"requestId": [1]}, {"requestId": {}}, {"requestId": True}, {"requestId": 1.0}, {}, [], None, "1"]
)
async def test_a_cancellation_of_what_is_no_id_cancels_nothing(params: Any, protocol: ProtocolPackage) -> None:
    async def stay(_: Any, connection: Any) -> str:
        await released.wait()
        return "not cancelled"

    def go(_: Any, connection: Any) -> None:
        released.set()

    released = anyio.Event()
    async with against({"_acme/stay": stay, "_acme/go": go}, protocol=protocol) as (_, peer):
        await peer.say({"id": 1, "method": "_acme/stay"}, {"id": None, "method": "_acme/stay"})
        await peer.say({"method": "$/cancel_request", "params": params}, {"method": "_acme/go"})
        assert [(await peer.hear())["result"] for _ in range(2)] == ["not cancelled"] * 2
