"""Conversations of our own clients and agents have no findings."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_bindings import v1, v2
from acp_bindings.check import Check
from acp_bindings.client import Client, ConnectedAgent, Files, Session, Terminals

EXAMPLES = Path(__file__).parents[3] / "examples"
TOOLS = v1.McpServerStdio(
    name="tools", command=sys.executable, args=["-S", str(EXAMPLES.parent / "tests/examples/tools.py")], env=[]
)
USUAL = {"secret.recorded", "capability.sse-deprecated"}

Talk = Callable[[ConnectedAgent, Path], Awaitable[None]]


async def hello(agent: ConnectedAgent, folder: Path) -> None:
    async with agent.session(cwd=folder) as session:
        await session.prompt("Hello")
        await session.prompt("Hello again")


async def tools(agent: ConnectedAgent, folder: Path) -> None:
    async with agent.session(cwd=folder, mcp_servers=[TOOLS]) as session:
        await session.prompt("tools")
        await session.prompt("tools__where")


async def everything(agent: ConnectedAgent, folder: Path) -> None:
    session = await agent.session(cwd=folder, mcp_servers=[TOOLS])
    other = await agent.session(cwd=folder)
    for text in ("say hi", "call tools__where\ncall no__tool", "write notes.txt x\nread notes.txt", "help"):
        await session.prompt(text)
    await _cancelled(session)
    await other.prompt("say bye")
    await session.prompt("say more")
    record = session.record
    await session.close()
    again = await agent.load(record.with_servers([TOOLS]))
    await again.prompt("say again")
    await other.close()
    await agent.resume(other.record)
    await again.close()


async def _cancelled(session: Session) -> None:
    async with session.prompt("slow 100") as turn:
        async for _ in turn:
            await session.cancel()
            break


@pytest.mark.full
@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("protocol", [v1, v2])
@pytest.mark.parametrize(
    ("agent", "talk"), [("hello_agent.py", hello), ("tools_agent.py", tools), ("agent.py", everything)]
)
async def test_our_examples_have_no_findings(agent: str, talk: Talk, protocol: Any, tmp_path: Path) -> None:
    lines: list[bytes] = []

    def trace(who: str, line: bytes) -> None:
        lines.append(json.dumps({"from": "client" if who == "us" else "agent", "message": line.decode()}).encode())

    client = Client(
        "test", version="1", permission=lambda _: True, files=Files(), terminals=Terminals(), protocols=[protocol]
    )
    home = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "ACP_SESSIONS": str(tmp_path / "sessions")}
    (tmp_path / "project").mkdir()
    with anyio.fail_after(60):
        async with client.connect([sys.executable, str(EXAMPLES / agent)], env=home, trace=trace) as connected:
            await talk(connected, tmp_path / "project")
    assert len(lines) > 5
    assert [str(each) for each in Check(lines) if each.rule not in USUAL] == []
