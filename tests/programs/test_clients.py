"""The ten lines with the clients of both SDKs, and the official Python SDK, which has v1 only, with our examples."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import acp
import acp.schema as s
import anyio
import pytest

from acp_bindings import client as ours
from acp_bindings import v1
from acp_bindings.setup.errors import BadProtocolVersion
from tests.programs.pairs import EXAMPLES, node
from tests.programs.steps import FOLDER

HELLO = [sys.executable, str(EXAMPLES / "hello_agent.py")]
TOOLS = s.McpServerStdio(
    name="greeter",
    command=sys.executable,
    args=[str(EXAMPLES / "greeter_stdio.py")],
    env=[s.EnvVariable(name="GREETING", value="Hi")],
)


@pytest.mark.parametrize("version", [1, 2])
def test_the_typescript_client_talks_with_ten_lines(version: int, tmp_path: Path) -> None:
    command = [node(), str(FOLDER / "hello.mjs"), str(version), str(tmp_path), *HELLO]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout) == {
        "protocolVersion": version,
        "stops": ["end_turn", "end_turn"],
        "said": ["You said Hello.", "You said Hello."],
        "replay": ["Hello", "You said Hello."],
    }


@pytest.mark.parametrize(("program", "said"), [("echo_agent.py", "Hello"), ("agent.py", "Client sent:Hello")])
def test_our_client_talks_with_the_agents_of_the_official_sdk(program: str, said: str, tmp_path: Path) -> None:
    async def scene() -> None:
        command = [sys.executable, Path(os.environ["OFFICIAL_EXAMPLES"], program)]
        if program == "echo_agent.py":
            with pytest.raises(BadProtocolVersion, match="offer only 1"):
                await ours.Client("test", version="1.0").connect(command).__aenter__()
        client = ours.Client("test", version="1.0", protocols=[v1] if program == "echo_agent.py" else None)
        async with client.connect(command) as agent, agent.session(cwd=tmp_path) as session:
            with anyio.fail_after(30):
                await session.prompt("Hello")
            # The first message is the prompt.
            assert [each.text for each in session.state.messages[1:]] == [said]
            assert (agent.peer.version, session.state.stop_reason) == (1, "end_turn")

    anyio.run(scene)


class Client:
    """A client of the official SDK that allows everything."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.files: dict[str, str] = {}

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)

    async def request_permission(self, options: list[Any], **_: Any) -> s.RequestPermissionResponse:
        allowed = next(each for each in options if each.kind == "allow_once")
        outcome = s.AllowedOutcome(outcome="selected", option_id=allowed.option_id)
        return s.RequestPermissionResponse(outcome=outcome)

    async def write_text_file(self, path: str, content: str, **_: Any) -> None:
        self.files[path] = content

    def texts(self) -> list[str]:
        """Return what was heard since the last call."""
        found: list[str] = []
        for update in self.updates:
            content: Any = getattr(update, "content", None) or []
            if hasattr(content, "text"):
                found.append(content.text)
            else:
                found += [each.content.text for each in content]
        self.updates = []
        return found


async def talk(command: list[str], folder: Path, scene: Any, **environment: str) -> None:
    client: Any = Client()
    async with acp.spawn_agent_process(client, *command, cwd=folder, env=environment) as (agent, process):
        files = s.FileSystemCapabilities(read_text_file=False, write_text_file=True)
        capabilities = s.ClientCapabilities(fs=files)
        initialized = await agent.initialize(protocol_version=1, client_capabilities=capabilities)
        assert initialized.protocol_version == 1
        with anyio.fail_after(30):
            await scene(agent, client)
        assert process.returncode is None


def test_the_official_client_talks_with_ten_lines(tmp_path: Path) -> None:
    async def scene(agent: Any, client: Client) -> None:
        session = (await agent.new_session(cwd=str(tmp_path), mcp_servers=[])).session_id
        assert (await agent.prompt(session_id=session, prompt=[acp.text_block("Hello")])).stop_reason == "end_turn"
        assert client.texts() == ["You said Hello."]
        await agent.load_session(cwd=str(tmp_path), session_id=session, mcp_servers=[])
        assert client.texts() == ["Hello", "You said Hello."]

    anyio.run(talk, HELLO, tmp_path, scene)


def test_the_official_client_uses_all_of_the_example_agent(tmp_path: Path) -> None:
    cwd = str(tmp_path)

    async def scene(agent: Any, client: Client) -> None:
        async def prompt(text: str) -> tuple[str, list[str]]:
            reason = (await agent.prompt(session_id=session, prompt=[acp.text_block(text)])).stop_reason
            return reason, client.texts()

        session = (await agent.new_session(cwd=cwd, mcp_servers=[TOOLS])).session_id
        assert await prompt("call greeter__greet name=Ada") == ("end_turn", ["Hi, Ada!"])
        await prompt("write notes.txt remember")
        assert client.files == {str(tmp_path / "notes.txt"): "remember"}
        assert [each.cwd for each in (await agent.list_sessions()).sessions] == [cwd]
        await agent.close_session(session_id=session)
        with pytest.raises(acp.RequestError) as caught:
            await prompt("say Hello")
        assert caught.value.code == -32002
        await agent.load_session(cwd=cwd, session_id=session, mcp_servers=[TOOLS])
        assert client.texts()[:2] == ["call greeter__greet name=Ada", "Hi, Ada!"]
        await agent.resume_session(cwd=cwd, session_id=session, mcp_servers=[TOOLS])
        assert client.texts() == []

    command = [sys.executable, str(EXAMPLES / "agent.py")]
    anyio.run(lambda: talk(command, tmp_path, scene, ACP_SESSIONS=str(tmp_path)))
