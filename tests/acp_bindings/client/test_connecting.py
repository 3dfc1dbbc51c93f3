"""Connecting to agents: processes, connections, versions, and what goes wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_bindings import v1, v2
from acp_bindings.client import Client, Files
from acp_bindings.connection import CannotStart, Connection, ConnectionClosed, RequestFailed, connect_process
from acp_bindings.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND
from acp_bindings.setup import OPENING, NotAbsolute, RequestError, UnsupportedProtocolVersion
from tests.acp_bindings.client.support import Agent, connected, hello, said, streams

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = [sys.executable, str(ROOT / "examples" / "agent.py")]


@pytest.mark.parametrize("protocol", [v1, v2])
async def test_the_example_agent_responds_requests_permission_writes_and_loads(
    protocol: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACP_SESSIONS", str(tmp_path / "sessions"))
    client = Client("editor", version="1.0", files=Files(), permission=bool, protocols=[protocol], patience=20)
    with anyio.fail_after(60):
        async with client.connect(EXAMPLE) as agent:
            async with agent.session(cwd=tmp_path) as session:
                heard = [said(update) async for update in session.prompt("say Hello\nwrite notes.txt remember")]
                # In v1, the title of the call is shown again after the question.
                updates = ["tool_call_update"] * (2 if protocol is v1 else 1)
                assert heard == ["Hello\n", "tool_call", *updates]
                assert session.state.messages[-1].text == "Hello\n"
                assert session.state.tool_calls[0].status == "completed"
                async for update in session.prompt("slow 1000"):
                    assert said(update) == "1\n"
                    break
                assert await session.prompt("say Again") == "end_turn"
            (listed,) = [each for each in await agent.list() if each.session_id == session.id]
            async with agent.load(listed) as again:
                texts = [each.text for each in again.state.messages if each.role == "agent"]
                assert texts == ["Hello\n", "1\n", "Again\n"]
    assert (tmp_path / "notes.txt").read_text() == "remember"


async def test_a_process_does_not_get_paths_of_another_system() -> None:
    with anyio.fail_after(30):
        async with Client("editor", version="1.0").connect(EXAMPLE) as agent:
            with pytest.raises(NotAbsolute):
                await agent.session(cwd="/project" if os.name == "nt" else "C:\\project")


async def test_a_command_is_found_on_path_and_its_response_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "my-agent"
    script.write_text(f"#!/bin/sh\nexec {sys.executable} {ROOT}/examples/connection_agent.py\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    servers = [v1.McpServerStdio(name="files", command="/usr/bin/files-mcp", args=[], env=[])]

    async with Client("editor", version="1.0").connect(["my-agent", "--acp"]) as agent:  # noqa: SIM117 - as documented
        async with agent.session(cwd="/home/me/project", mcp_servers=servers) as session:
            async for update in session.prompt("What does this do?"):
                print(update)
            print(session.state.messages[-1].text, session.state.stop_reason)

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "content=TextContent(type='text', text='Hello') session_update='agent_message_chunk'"
    assert lines[2:] == ["Hellothere end_turn"]


async def test_an_agent_process_that_exits_during_a_turn_is_reported(tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text(
        (ROOT / "examples" / "connection_agent.py")
        .read_text()
        .replace(
            "    print(",
            "    import os; print('out of tokens', file=__import__('sys').stderr, flush=True); os._exit(3)\n    print(",
        )
    )
    async with (
        Client("editor", version="1.0").connect([sys.executable, str(script)]) as agent,
        agent.session(cwd=tmp_path) as session,
    ):
        with pytest.raises(ConnectionClosed) as caught:
            await session.prompt("Hi")
    assert caught.value.exit_status == 3
    assert "out of tokens" in str(caught.value)


async def test_a_connection_keeps_its_own_handlers() -> None:
    raw, (here, there) = Agent(1, hello), await streams()
    own: list[Any] = []

    def extension(params: Any, _: Connection) -> str:
        own.append(params)
        return "done"

    connection = Connection(here, here, protocol=OPENING, role="client", handlers={"_acme/do": extension})
    async with (
        Connection(there, there, protocol=OPENING, role="agent", handlers=raw.handlers) as theirs,
        Client("editor", version="1.0").connect(connection) as agent,
    ):
        assert agent.connection is connection
        assert await theirs.request({"a": 1}, method="_acme/do") == "done"
    assert own == [{"a": 1}]


async def test_options_for_a_command_are_refused_for_a_connection() -> None:
    connecting = connect_process(EXAMPLE, protocol=OPENING)
    with pytest.raises(TypeError, match="for a command"):
        await Client("editor", version="1.0").connect(connecting, env={"A": "b"}).__aenter__()


async def test_a_command_in_a_string_is_refused_as_a_url() -> None:
    with pytest.raises(ValueError, match="'my-agent --acp' is not a URL; pass a command as a list"):
        await Client("editor", version="1.0").connect("my-agent --acp").__aenter__()


async def test_a_command_that_cannot_be_started_is_reported() -> None:
    with pytest.raises(CannotStart, match="command not found"):
        async with Client("editor", version="1.0").connect(["no-such-agent"]):
            pytest.fail("it was started")


async def test_an_agent_of_another_version_is_refused() -> None:
    with pytest.raises(UnsupportedProtocolVersion):
        async with connected(Agent(1, hello), protocols=[v2]):
            pytest.fail("it was accepted")


async def test_an_error_in_the_block_is_raised_as_it_is() -> None:
    with pytest.raises(LookupError, match="mine"):
        async with connected(Agent(1, hello)) as agent, agent.session(cwd="/project"):
            raise LookupError("mine")


async def test_one_client_connects_to_several_agents() -> None:
    client = Client("editor", version="1.0")
    answers: list[str] = []

    async def talk(version: int) -> None:
        raw, (here, there) = Agent(version, hello), await streams()
        async with (
            anyio.create_task_group() as raw.tasks,
            Connection(there, there, protocol=OPENING, role="agent", handlers=raw.handlers, grace=0),
            client.connect(Connection(here, here, protocol=OPENING, role="client")) as agent,
            agent.session(cwd="/project") as session,
        ):
            await session.prompt("Hi")
            answers.append(f"{agent.peer.version} {session.state.messages[-1].text}")

    async with anyio.create_task_group() as tasks:
        for version in (1, 2):
            tasks.start_soon(talk, version)
    assert sorted(answers) == ["1 Hello", "2 Hello"]


@pytest.mark.parametrize("code", [METHOD_NOT_FOUND, INVALID_PARAMS])
async def test_the_error_of_initialize_suggests_that_the_program_is_not_an_agent(code: int) -> None:
    error = f'{{"code": {code}, "message": "no"}}'
    script = f"""
import json
print(json.dumps({{"jsonrpc": "2.0", "id": json.loads(input())["id"], "error": {error}}}), flush=True)
"""
    with pytest.raises(RequestError) as caught:
        async with Client("editor", version="1.0").connect([sys.executable, "-c", script]):
            pass
    assert str(caught.value) == f"initialize failed, perhaps because this is not an ACP agent: no ({code})"


async def test_ask_sends_requests_that_have_no_method_in_the_client() -> None:
    raw = Agent(1, hello)
    async with connected(raw) as agent:
        answer = await agent.ask(v1.NewSessionRequest(cwd="/project", mcp_servers=[]))
        assert answer.session_id == "s1"
        with pytest.raises(RequestError) as caught:
            await agent.ask(v1.AuthenticateRequest(method_id="x"))
        assert isinstance(caught.value.__cause__, RequestFailed)


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=30)


def test_importing_the_package_imports_nothing_of_the_extra() -> None:
    assert run("import sys, acp_bindings.client; print('anyio' in sys.modules)").stdout == "False\n"


def test_importing_a_name_without_the_extra_names_the_package_to_install() -> None:
    done = run("import sys; sys.modules['anyio'] = None; from acp_bindings.client import Client")
    says = "ImportError: acp_bindings.client.Client needs anyio: pip install 'acp-bindings[connection]'"
    assert done.stderr.splitlines()[-1] == says


def test_the_package_does_not_import_the_launcher() -> None:
    sources = (ROOT / "src" / "acp_bindings" / "client").glob("*.py")
    assert not [path.name for path in sources if re.search(r"\bmcp_launch\b", path.read_text(encoding="utf-8"))]
