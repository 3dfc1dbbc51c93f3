"""Third-party SDKs and this package talk over HTTP and WebSocket, in both directions."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.streams.text import TextReceiveStream

from acp_bindings import v1, v2
from acp_bindings.agent import Agent
from acp_bindings.client import Client, ConnectedAgent, Session
from acp_bindings.setup import RequestError
from tests.acp_bindings.remote.conftest import Serve
from tests.acp_bindings.remote.conftest import agent as agent  # noqa: PLC0414 - a fixture
from tests.acp_bindings.remote.conftest import serve as serve  # noqa: PLC0414

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("profile", ["http", "ws"])]

FOLDER = Path(__file__).parent
SIZE = 20_000_000
COUNT = "".join(f"{each} " for each in range(300))
PACKAGES: dict[int, Any] = {1: v1, 2: v2}
PEERS = pytest.mark.parametrize(
    ("peer", "version"),
    [("typescript", 1), ("typescript", 2), ("official", 1)],
    ids=["TypeScript v1", "TypeScript v2", "official Python v1"],
)


def facts(version: int, size: int = SIZE) -> dict[str, Any]:
    """Return the facts of a conversation with a prompt of *size* bytes."""
    spoken = f"{COUNT}yes{size}: {20 * 'x'}"
    return {
        "version": version,
        "prompt": "end_turn",
        "cancelled": "cancelled",
        "permission": "end_turn",
        "large": "end_turn",
        "said": spoken,
        "unknown": -32002,  # Session not found
        "again": "end_turn",
        "loaded": f"{spoken}5: hello",
    }


NO_SESSION = {"unknown": -32603, "again": -32603, "loaded": facts(1)["said"]}
"""The differences of the official Python SDK's HTTP server.

It responds with 404 to a prompt in a session that it has not created on the same connection, even if it was loaded.
"""
READABLE = 1_000_000
"""The official Python SDK's WebSocket client reads messages of at most 1 MiB, and the history has the prompt."""


def command(side: str, peer: str) -> list[str]:
    """Return the command of a program of another SDK.

    Raises:
        RuntimeError: Node or the packages are not installed.
    """
    if peer == "official":
        return [sys.executable, str(FOLDER / f"{side}_official.py")]
    node = shutil.which("node")
    if node is None or not (FOLDER / "node_modules" / "ws").is_dir():
        raise RuntimeError("Node or the TypeScript SDK is not installed: run `nox -s remote_peers`")
    return [node, str(FOLDER / f"{side}.mjs")]


@PEERS
async def test_clients_of_other_sdks_use_our_agent(
    profile: str, peer: str, version: int, agent: Agent, serve: Serve
) -> None:
    size = READABLE if (peer, profile) == ("official", "ws") else SIZE
    # A server must not close a connection just when a client of a busy machine uses it again.
    options = {"websocket_max_message_size": 64 << 20, "keep_alive_timeout": 75}
    with anyio.fail_after(60):
        async with serve(agent.asgi(), **options) as url:
            target = f"{url.replace('http', profile, 1)}/acp"
            done = await anyio.run_process([*command("client", peer), target, str(version), str(size)], check=False)
    assert not done.returncode, done.stderr.decode()
    assert json.loads(done.stdout) == facts(version, size)


@PEERS
async def test_our_client_uses_agents_of_other_sdks(profile: str, peer: str, version: int) -> None:
    found: dict[str, Any] = {}
    client = Client("test", version="1.0", protocols=[PACKAGES[version]], permission=lambda _: True)
    with anyio.fail_after(60):
        async with running(command("server", peer)) as port:
            url = f"{profile}://127.0.0.1:{port}/acp"
            async with client.connect(url) as connected:
                found["version"] = connected.peer.version
                record = await first_part(connected, found)
            async with client.connect(url) as connected:
                session = await connected.load(record)
                found["again"] = await outcome(session.prompt("hello"))
                found["loaded"] = said(session)
                assert not connected.remarks
    assert found == facts(version) | (NO_SESSION if (peer, profile) == ("official", "http") else {})


async def first_part(connected: ConnectedAgent, found: dict[str, Any]) -> Any:
    session, other = await connected.session(cwd="/tmp"), await connected.session(cwd="/tmp")
    begun = anyio.Event()

    async def wait() -> None:
        turn = other.prompt("wait")
        async for _ in turn:
            begun.set()
        found["cancelled"] = other.state.stop_reason

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await begun.wait()
        found["prompt"] = await session.prompt("count 300")
        await other.cancel()
    found["permission"] = await session.prompt("ask")
    found["large"] = await session.prompt(SIZE * "x")
    found["said"] = said(session)
    package = PACKAGES[connected.peer.version]
    unknown = package.PromptRequest(session_id="unknown", prompt=[package.TextContent(text="hello")])
    found["unknown"] = await outcome(connected.ask(unknown))
    return session.record


async def outcome(asking: Awaitable[Any]) -> Any:
    """Return the response, or the code of the error."""
    try:
        return await asking
    except RequestError as error:
        return error.code


def said(session: Session) -> str:
    return "".join(each.text for each in session.state.messages if each.role == "agent")


@asynccontextmanager
async def running(arguments: Sequence[str]) -> AsyncGenerator[int]:
    """Run a server in the block, and yield its port."""
    async with await anyio.open_process(arguments, stderr=None) as process:
        assert process.stdin
        assert process.stdout
        yield int(await TextReceiveStream(process.stdout).receive())
        await process.stdin.aclose()
