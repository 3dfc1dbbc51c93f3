"""The example agent with clients that die, careless users, and servers that exit: it continues or exits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_bindings import v2
from acp_bindings.connection import Connection, Handlers
from tests.examples.support import Place, talking
from tests.mcp_launch.support import wait_until

pytestmark = pytest.mark.anyio

INITIALIZE: dict[int, dict[str, Any]] = {
    1: {"protocolVersion": 1},
    2: {"protocolVersion": 2, "info": {"name": "tests", "version": "1.0"}, "capabilities": {}},
}


class Bare:
    """The agent as a process, with unprocessed lines."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def say(self, message: dict[str, Any]) -> None:
        """Write a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """Return the next line."""
        assert self.process.stdout is not None
        message: dict[str, Any] = json.loads(self.process.stdout.readline())
        return message

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its result."""
        self.say({"id": 1, "method": method, "params": params})
        while "id" not in (heard := self.hear()):
            pass
        return heard["result"]


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
def test_a_client_that_leaves_during_prompts_leaves_nothing_behind(
    place: Place, version: int, end: Callable[[Bare], None], tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    server: Any = {**place.tools(), **({} if version == 1 else {"type": "stdio"})}
    pipe = subprocess.PIPE
    with subprocess.Popen(place.command, stdin=pipe, stdout=pipe, env=os.environ | place.env) as process:
        try:
            agent = Bare(process)
            agent.ask("initialize", INITIALIZE[version])
            sessions = [agent.ask("session/new", {"cwd": str(place.project), "mcpServers": [server]}) for _ in "ab"]
            for each, doing in zip(sessions, (f"call tools__stay path={begun}", "slow 1000"), strict=True):
                prompt = {"sessionId": each["sessionId"], "prompt": [{"type": "text", "text": doing}]}
                agent.say({"id": 2, "method": "session/prompt", "params": prompt})
            while "agent_message_chunk" not in str(agent.hear()):
                pass
            wait_until(begun.exists)
            end(agent)
            process.wait(timeout=30)
        finally:
            process.kill()
    place.nothing_left()


@pytest.mark.parametrize("address", [[], ["here"]])
def test_an_address_without_a_port_is_refused(address: list[str]) -> None:
    command = [sys.executable, "examples/agent.py", "--http", *address]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert done.stderr == "usage: agent.py --http HOST:PORT\n"


@pytest.mark.skipif(os.name == "nt", reason="its folders cannot contain named pipes")
async def test_only_regular_files_are_read_and_written(place: Place) -> None:
    async def allow(request: v2.RequestPermissionRequest, connection: Connection) -> v2.RequestPermissionResponse:
        return v2.RequestPermissionResponse(outcome=v2.SelectedPermissionOutcome(option_id="allow"))

    # A thread that waits for the other end of a pipe could not be cancelled.
    os.mkfifo(place.project / "pipe")
    with anyio.fail_after(60):
        async with talking(place, 2, handlers=Handlers({v2.RequestPermissionRequest: allow})) as talk:
            session = await talk.new(place.project)
            assert await talk.prompt(session, "read pipe\nwrite pipe x") == "end_turn"
    ends = [text for how, text in talk.seen.said() if how == "failed"]
    assert ["not a regular file" in text for text in ends] == [True, True]


async def test_a_prompt_of_a_megabyte_gets_a_short_title(place: Place, version: int) -> None:
    async with talking(place, version) as talk:
        session = await talk.new(place.project)

        assert await talk.prompt(session, "say " + "x" * 1_000_000) == "end_turn"

        listed = await talk.ask(talk.wire.ListSessionsRequest())
        assert [each.title for each in listed.sessions] == ["say " + "x" * 76]


async def test_a_server_that_exits_between_prompts_is_reported_and_the_session_continues(
    place: Place, version: int
) -> None:
    async with talking(place, version) as talk:
        session = await talk.new(place.project, place.tools())
        for each in place.running():
            os.kill(each, signal.SIGKILL)

        # The launcher hears of it from the system, soon.
        with anyio.fail_after(30):
            while "tools: was ended by SIGKILL" not in talk.seen.text():
                await talk.prompt(session, "servers")

        assert await talk.prompt(session, "call tools__where\nsay hello") == "end_turn"
        assert talk.seen.text().endswith("hello\n")


async def test_a_link_out_of_the_project_is_not_followed(place: Place, version: int) -> None:
    (place.project / "out").symlink_to(place.project.parent)
    (place.project.parent / "secret").write_text("hunter2")
    async with talking(place, version) as talk:
        session = await talk.new(place.project)

        await talk.prompt(session, "read out/secret\nread ../secret\nwrite out/new text")

        assert [how for how, _ in talk.seen.said() if how in ("completed", "failed")] == ["failed"] * 3
        assert "hunter2" not in str(talk.seen.said())
        assert not (place.project.parent / "new").exists()
