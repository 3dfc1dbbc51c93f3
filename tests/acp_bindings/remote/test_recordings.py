"""Recordings of conversations over HTTP and WebSocket: clean, and equal to those over stdio."""

from __future__ import annotations

import json
import re
import sys
from typing import Any, Literal

import anyio
import pytest

from acp_bindings import v1, v2
from acp_bindings.agent import Agent
from acp_bindings.check import Check
from acp_bindings.client import Client
from tests.acp_bindings.remote.conftest import Serve

pytestmark = pytest.mark.anyio

STDIO = [sys.executable, "-m", "tests.acp_bindings.remote.speaking"]
_RANDOM = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Recording:
    """The `trace` of a client."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def __call__(self, who: Literal["us", "peer"], line: bytes) -> None:
        """Record a line."""
        said = {"from": "client" if who == "us" else "agent", "message": json.loads(line)}
        self.lines.append(json.dumps(said).encode())

    @property
    def messages(self) -> dict[str, list[Any]]:
        """The messages of each side in order, with random ids numbered by their first appearance."""
        numbers: dict[str, str] = {}
        sides: dict[str, list[Any]] = {"client": [], "agent": []}
        for line in self.lines:
            text = _RANDOM.sub(lambda found: numbers.setdefault(found[0], f"id {len(numbers)}"), line.decode())
            sides[json.loads(text)["from"]].append(json.loads(text)["message"])
        return sides


async def recorded(target: Any, package: Any) -> Recording:
    """Return the recording of a conversation with two sessions, permission, cancellation and load."""
    recording = Recording()
    client = Client("test", version="1.0", protocols=[package], permission=lambda _: True)
    async with client.connect(target, trace=recording) as connected:
        async with connected.session(cwd="/tmp") as session:
            assert await session.prompt("count 50") == "end_turn"
            assert await session.prompt("ask") == "end_turn"
            record = session.record
        other = await connected.session(cwd="/tmp")
        async for _ in other.prompt("wait"):
            await other.cancel()
        async with connected.load(record) as again:
            assert await again.prompt("hello") == "end_turn"
    return recording


@pytest.mark.parametrize("profile", ["http", "ws"])
@pytest.mark.parametrize("package", [v1, v2], ids=["v1", "v2"])
async def test_a_recording_is_clean_and_equals_that_over_stdio(
    profile: str, package: Any, agent: Agent, serve: Serve
) -> None:
    with anyio.fail_after(60):
        local = await recorded(STDIO, package)
        async with serve(agent.asgi()) as origin:
            remote = await recorded(f"{origin.replace('http', profile, 1)}/acp", package)
    assert [str(found) for found in Check(remote.lines)] == []
    assert remote.messages == local.messages
    assert len(remote.lines) > 60
