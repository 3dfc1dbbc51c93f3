"""The example agent with bad input: wrong order, wrong params, garbage, floods, and clients that die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.examples.support import Place, talking

pytestmark = pytest.mark.anyio

INITIALIZE: dict[int, dict[str, Any]] = {
    1: {"protocolVersion": 1},
    2: {"protocolVersion": 2, "info": {"name": "tests", "version": "1.0"}, "capabilities": {}},
}


class Bare:
    """The agent as a process, with unprocessed lines."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def say(self, *lines: dict[str, Any] | bytes) -> None:
        """Write all lines at once."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(_line(each) + b"\n" for each in lines))
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """Return the next line."""
        assert self.process.stdout is not None
        message: dict[str, Any] = json.loads(self.process.stdout.readline())
        return message

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and return its result or error."""
        self.say({"id": 1, "method": method, **({} if params is None else {"params": params})})
        while "id" not in (heard := self.hear()):
            pass
        return heard.get("error") or heard["result"]


def _line(message: dict[str, Any] | bytes) -> bytes:
    return message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()


@contextmanager
def bare(place: Place, version: int | None = None) -> Generator[Bare]:
    """Start the agent, and initialize it if a version is given; kill it if it hangs."""
    pipe = subprocess.PIPE
    with subprocess.Popen(place.command, stdin=pipe, stdout=pipe, stderr=pipe, env=os.environ | place.env) as process:
        try:
            agent = Bare(process)
            if version:
                assert agent.ask("initialize", INITIALIZE[version])["protocolVersion"] == version
            yield agent
            process.communicate(timeout=30)
        finally:
            process.kill()


async def test_requests_before_initialize_are_refused(place: Place) -> None:
    new: dict[str, Any] = {"cwd": str(place.project), "mcpServers": []}
    requests: list[tuple[str, dict[str, Any] | None]] = [
        ("session/new", new),
        ("session/load", {}),
        ("session/list", None),
        ("odd", None),
    ]
    with bare(place) as agent:
        for method, params in requests:
            assert agent.ask(method, params)["code"] == -32600
        assert agent.ask("initialize", INITIALIZE[1])["protocolVersion"] == 1
        assert "sessionId" in agent.ask("session/new", new)


@pytest.mark.parametrize(("asked", "answered"), [(1, 1), (2, 2), (3, 2), (65535, 2)])
async def test_a_client_of_another_version_gets_the_best_there_is(place: Place, asked: int, answered: int) -> None:
    with bare(place) as agent:
        result = agent.ask("initialize", {**INITIALIZE[2], "protocolVersion": asked})
        assert result["protocolVersion"] == answered


async def test_an_invalid_version_is_refused_and_initialize_may_be_repeated(place: Place) -> None:
    with bare(place) as agent:
        for wrong in ({}, {"protocolVersion": "1"}, {"protocolVersion": "2025-03-26"}, {"protocolVersion": 1.5}):
            assert agent.ask("initialize", wrong)["code"] == -32602
        assert agent.ask("initialize", {"protocolVersion": 0})["code"] == -32022
        assert agent.ask("initialize", INITIALIZE[1])["protocolVersion"] == 1


async def test_wrong_params_and_unknown_methods_are_refused(place: Place) -> None:
    with bare(place, 1) as agent:
        answered = [(method, params, agent.ask(method, params).get("code")) for method, params, _ in REFUSED]
    assert answered == REFUSED


REFUSED: list[tuple[str, dict[str, Any] | None, int]] = [
    ("session/new", {"cwd": "/"}, -32602),
    ("session/new", {"mcpServers": []}, -32602),
    ("session/new", {"cwd": ".", "mcpServers": []}, -32602),
    ("session/new", {"cwd": "~", "mcpServers": []}, -32602),
    ("session/new", {"cwd": "C:\\x", "mcpServers": []}, -32602),
    ("session/new", {"cwd": "/", "mcpServers": [{"name": "x"}]}, -32602),
    ("session/new", {"cwd": "/", "mcpServers": [{"type": "acp", "name": "x", "serverId": "y"}]}, -32602),
    ("session/new", None, -32602),
    ("session/load", {"sessionId": "s", "cwd": "/"}, -32602),
    ("session/prompt", {"sessionId": "s"}, -32602),
    ("session/prompt", {"sessionId": "s", "prompt": [{"type": "text", "text": "x"}]}, -32002),
    (
        "session/prompt",
        {"sessionId": "s", "prompt": [{"type": "image", "data": "", "mimeType": "image/png"}]},
        -32602,
    ),
    ("session/fork", {"sessionId": "s", "cwd": "/"}, -32601),
    ("authenticate", {"methodId": "browser"}, -32601),
    ("odd", {}, -32601),
    ("_odd/do", {}, -32601),
    ("fs/read_text_file", {"sessionId": "s", "path": "/"}, -32601),
]
"""A method, its params, and the code of the error."""


async def test_garbage_gets_errors_and_the_agent_continues(place: Place, version: int) -> None:
    garbage = [b"garbage", b'{"jsonrpc": "2.0"', b"[]", b"\xff\xfe", b"", b"null", b'{"id": 1}', b"x" * 1_000_000]
    with bare(place, version) as agent:
        agent.say(*garbage, {"method": "session/cancel", "params": {"sessionId": "nobody"}}, {"method": "odd"})
        result = agent.ask("session/new", {"cwd": str(place.project), "mcpServers": []})
        codes = [result["code"]]
        while "sessionId" not in result:
            result = agent.hear()
            codes.append(result.get("error", {}).get("code"))
            result = result.get("result", {})
        assert set(codes[:-1]) == {-32700, -32600}
        assert "sessionId" in result


async def test_every_request_of_a_flood_is_answered(place: Place) -> None:
    count, heard = 20_000, list[int]()
    requests: list[dict[str, Any]] = [{"id": each, "method": "session/list", "params": {}} for each in range(count)]
    with bare(place, 1) as agent:

        def read() -> None:
            heard.extend(agent.hear()["id"] for _ in range(count))

        with anyio.fail_after(120):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(anyio.to_thread.run_sync, read)
                tasks.start_soon(anyio.to_thread.run_sync, lambda: agent.say(*requests))
    assert sorted(heard) == list(range(count))


async def test_fifty_sessions_at_once_have_their_own_servers_and_leave_nothing(place: Place, version: int) -> None:
    async with talking(place, version) as talk:
        sessions: list[str] = []

        async def one() -> None:
            session = await talk.new(place.project, place.light())
            sessions.append(session)
            await talk.prompt(session, "call light__environment")

        with anyio.fail_after(240):
            async with anyio.create_task_group() as tasks:
                for _ in range(50):
                    tasks.start_soon(one)
        pids = {json.loads(text)["pid"] for who, text in talk.seen.said() if who == "completed"}
        assert len(set(sessions)) == len(pids) == 50


Death = Callable[[Bare], None]


def hang_up(agent: Bare) -> None:
    """Close the pipes, as when the client is killed."""
    for each in (agent.process.stdin, agent.process.stdout):
        assert each is not None
        each.close()


def say_no_more(agent: Bare) -> None:
    """Close the agent's input, and continue to read its output."""
    assert agent.process.stdin is not None
    agent.process.stdin.close()


def terminate(agent: Bare) -> None:
    """Stop the agent with SIGTERM, as an impatient client does."""
    agent.process.send_signal(signal.SIGTERM)


def kill(agent: Bare) -> None:
    """Kill the agent itself, so that its servers see the end of their input."""
    agent.process.kill()


@pytest.mark.parametrize("end", [hang_up, say_no_more, terminate, kill])
@pytest.mark.parametrize("doing", ["slow 1000", "call tools__stay path={}"])
async def test_a_client_that_leaves_during_a_prompt_leaves_nothing_behind(
    place: Place, version: int, doing: str, end: Death, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    server: Any = {**place.tools(), **({} if version == 1 else {"type": "stdio"})}
    pipe = subprocess.PIPE
    with subprocess.Popen(place.command, stdin=pipe, stdout=pipe, env=os.environ | place.env) as process:
        try:
            agent = Bare(process)
            agent.ask("initialize", INITIALIZE[version])
            session = agent.ask("session/new", {"cwd": str(place.project), "mcpServers": [server]})["sessionId"]
            text = {"type": "text", "text": doing.format(begun)}
            agent.say({"id": 2, "method": "session/prompt", "params": {"sessionId": session, "prompt": [text]}})
            if "stay" in doing:
                with anyio.fail_after(30):
                    while not begun.exists():
                        await anyio.sleep(0.01)
            else:
                while "agent_message_chunk" not in str(agent.hear()):
                    pass
            end(agent)
            process.wait(timeout=30)
        finally:
            process.kill()
    await place.nothing_left()
