"""The command `acp-bindings play`, as clients start it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_bindings._command.cli import main
from acp_bindings.client import Client
from acp_bindings.play import SCENES, Script
from acp_bindings.remote import Unreachable
from acp_bindings.setup import RequestError

COMMAND = [sys.executable, "-m", "acp_bindings", "play"]


@contextmanager
def started(*arguments: str) -> Generator[subprocess.Popen[bytes]]:
    """Start the command, and kill it in the end."""
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process: Any
    with subprocess.Popen([*COMMAND, *arguments], **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def ask(process: subprocess.Popen[bytes], method: str, **params: Any) -> Any:
    """Send a request, and return the next response."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
    process.stdin.flush()
    for line in process.stdout:
        if "method" not in (message := json.loads(line)):
            return message
    raise EOFError


def open_session(process: subprocess.Popen[bytes]) -> str:
    ask(process, "initialize", protocolVersion=1, clientInfo={"name": "test", "version": "1"})
    id_: str = ask(process, "session/new", cwd=str(Path.cwd()), mcpServers=[])["result"]["sessionId"]
    return id_


def prompt(process: subprocess.Popen[bytes], session: str, text: str) -> Any:
    return ask(process, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])


def test_a_crash_has_its_exit_status() -> None:
    with started() as process:
        session = open_session(process)
        with pytest.raises(EOFError):
            prompt(process, session, "/crash 7")
        assert process.wait(30) == 7


def test_an_expectation_that_is_not_met_is_the_exit_status(tmp_path: Path) -> None:
    path = tmp_path / "talk.ndjson"
    path.write_text('{"prompt": null}\n{"request": {"method": "_a"}, "expect": {"b": 1}}\n')
    with started(str(path)) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        session = open_session(process)
        params = {"sessionId": session, "prompt": [{"type": "text", "text": "Hello"}]}
        request = {"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": params}
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        asked = next(found for line in process.stdout if (found := json.loads(line)).get("method") == "_a")
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {}}).encode() + b"\n")
        process.stdin.flush()
        while "error" not in json.loads(process.stdout.readline()):
            pass
        process.stdin.close()
        assert process.stderr.read().decode().splitlines() == [f'{path}:2: _a: expected {{"b":1}}, got {{}}']
        assert process.wait(30) == 1


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
def test_an_immortal_agent_has_to_be_killed() -> None:
    with started() as process:
        assert process.stdin
        prompt(process, open_session(process), "/rude immortal")
        process.stdin.close()
        process.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.kill()
        assert process.wait(30) == -signal.SIGKILL


@pytest.mark.full
def test_lines_on_standard_error_have_to_be_read() -> None:
    with started() as process:
        assert process.stderr
        session = open_session(process)
        assert prompt(process, session, "/stderr 3")["result"]["stopReason"] == "end_turn"
        assert process.stderr.readline().startswith(b"This line is for the log")


@pytest.mark.full
@pytest.mark.anyio
async def test_the_scenes_are_served_at_a_url(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with anyio.fail_after(60), started("--http", f"127.0.0.1:{port}"):
        client, texts = Client("test", version="1"), []
        while not texts:
            try:
                async with (
                    client.connect(f"http://127.0.0.1:{port}/acp") as agent,
                    agent.session(cwd=tmp_path) as session,
                ):
                    texts = [str(each) async for each in session.prompt("/text")]
                    with pytest.raises(RequestError, match="only possible over standard streams"):
                        async for _ in session.prompt("/crash"):
                            pass
            except Unreachable:
                await anyio.sleep(0.1)
    assert "two pieces" in texts[0]


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_is_shown_as_a_script(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["play", "--show", name, "--version", str(SCENES[name].versions[-1])])
    assert end.value.code == 0
    assert len(Script.parse(capsys.readouterr().out).turns) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no/such/file"], "no/such/file: No such file or directory"),
        (["--replay", "no/such/file"], "no/such/file: No such file or directory"),
        (["--replay", "pyproject.toml"], "pyproject.toml: the agent says nothing in it"),
        (["pyproject.toml"], "pyproject.toml:1: not JSON"),
        (["--rude", "polite"], "there is no rude behaviour polite"),
        (["--without", "session.lod"], 'unknown capability "session.lod"'),
        (["--http", "here"], "--http needs a host and a port"),
        (["--show", "nothing"], "there is no scene nothing"),
    ],
)
def test_what_cannot_be_used_is_reported(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["play", *arguments])
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith(f"acp-bindings play: {message}")
