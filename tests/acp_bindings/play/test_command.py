"""The command `acp-bindings play`, as clients start it."""

from __future__ import annotations

import json
import os
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


def write(process: subprocess.Popen[bytes], **message: Any) -> None:
    assert process.stdin
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def ask(process: subprocess.Popen[bytes], method: str, **params: Any) -> Any:
    """Send a request, and return the next response."""
    assert process.stdout
    write(process, id=1, method=method, params=params)
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
        write(process, id=2, method="session/prompt", params=params)
        asked = next(found for line in process.stdout if (found := json.loads(line)).get("method") == "_a")
        write(process, id=asked["id"], result={})
        while "error" not in json.loads(process.stdout.readline()):
            pass
        process.stdin.close()
        assert process.stderr.read().decode().splitlines() == [f'{path}:2: _a: expected {{"b":1}}, got {{}}']
        assert process.wait(30) == 1


@pytest.mark.skipif(os.name == "nt", reason="needs a shell that can close descriptors")
def test_an_agent_whose_standard_input_is_closed_ends() -> None:
    command = ["sh", "-c", 'exec "$0" "$@" <&-', *COMMAND]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("expected", "answers", "got"),
    [
        ("selected", False, "no response"),
        ("selected", True, '{"outcome":{"outcome":"cancelled"}}'),
        ("cancelled", True, ""),
    ],
)
def test_a_cancelled_request_must_be_answered_as_expected(
    tmp_path: Path, expected: str, answers: bool, got: str
) -> None:
    path = tmp_path / "talk.ndjson"
    request: Any = {"method": "session/request_permission", "params": {"toolCall": {"toolCallId": "1"}, "options": []}}
    step: Any = {"request": request, "expect": {"outcome": {"outcome": expected}}}
    path.write_text(f'{{"prompt": null}}\n{json.dumps(step)}\n{{"say": "not reached"}}\n')
    with started(str(path)) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        session = {"sessionId": open_session(process)}
        params = {**session, "prompt": [{"type": "text", "text": "Hello"}]}
        write(process, id=2, method="session/prompt", params=params)
        asked = next(found for line in process.stdout if (found := json.loads(line)).get("method") == request["method"])
        write(process, method="session/cancel", params=session)
        if answers:
            write(process, id=asked["id"], result={"outcome": {"outcome": "cancelled"}})
        process.stdin.close()
        *_, last = map(json.loads, process.stdout)
        assert last["result"] == {"stopReason": "cancelled"}
        problem = f'{path}:2: session/request_permission: expected {{"outcome":{{"outcome":"{expected}"}}}}, got {got}'
        assert process.stderr.read().decode().splitlines() == ([problem] if got else [])
        assert process.wait(30) == bool(got)


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
def test_an_agent_that_does_not_exit_has_to_be_killed() -> None:
    with started() as process:
        assert process.stdin
        prompt(process, open_session(process), "/rude no-exit")
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
    for version in ([], *(["--version", str(each)] for each in SCENES[name].versions)):
        with pytest.raises(SystemExit) as end:
            main(["play", "--show", name, *version])
        assert end.value.code == 0
        assert len(Script.parse(found := capsys.readouterr().out).turns) == 1
        assert found.isascii()  # so that it is JSON in any encoding of standard output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no/such/file"], "no/such/file: No such file or directory"),
        (["--replay", "no/such/file"], "no/such/file: No such file or directory"),
        (
            ["--replay", "pyproject.toml"],
            "pyproject.toml: no line is a message from the agent; a recording has one message on each line",
        ),
        (["pyproject.toml"], "pyproject.toml:1: not JSON"),
        (["--rude", "polite"], "unknown --rude kind 'polite'; choose from "),
        (["--without", "session.lod"], 'unknown capability "session.lod"'),
        (["--version", "2", "--without", "session.load"], "agents of v2 always have session.load"),
        (["--http", "here"], "--http needs a host and a port"),
        (["--http", "localhost:99999"], "--http needs a host and a port"),
        (["--http", ":8000", "--rude", "print"], "--http cannot be combined with --rude"),
        (["--show", "nothing"], "unknown scene 'nothing'; choose from text"),
        (["--show", "cancel", "--version", "1"], "v1 does not have the scene cancel"),
        (
            ["--replay", "pyproject.toml", "--auth", "--http", ":8000", "a.ndjson"],
            "--replay cannot be combined with SCRIPT, --auth, --http",
        ),
        (["examples/recording.ndjson"], "examples/recording.ndjson is a recording; use --replay examples/"),
    ],
)
def test_what_cannot_be_used_is_reported(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["play", *arguments])
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith(f"acp-bindings play: {message}")


def test_a_file_that_is_not_a_script_has_one_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["play", "examples/agent.py"])
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(
    ("address", "served"),
    [
        (":8000", ("127.0.0.1", 8000)),
        ("[::1]:8766", ("::1", 8766)),
        ("localhost:1", ("localhost", 1)),
    ],
)
def test_an_address_has_a_host_and_a_port(
    address: str, served: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Any] = []

    def run(_: object, host: str, port: int) -> None:
        found.append((host, port))

    monkeypatch.setattr("acp_bindings.remote._asgi.AcpApp.run", run)
    with pytest.raises(SystemExit):
        main(["play", "--http", address])
    assert found == [served]


def test_serving_needs_the_extra_remote(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(SystemExit) as end:
        main(["play", "--http", ":8000"])
    assert end.value.code == 2
    assert capsys.readouterr().err == "acp-bindings play: --http needs uvicorn: pip install 'acp-bindings[remote]'\n"


def test_a_port_that_is_in_use_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = subprocess.run([*COMMAND, "--http", address], capture_output=True, check=False, timeout=30)
    assert done.returncode == 2
    assert b"address already in use" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send this signal")
@pytest.mark.parametrize("output", [subprocess.PIPE, subprocess.DEVNULL])
def test_ctrl_c_ends_the_agent(output: int) -> None:
    with subprocess.Popen([*COMMAND], stdin=subprocess.PIPE, stdout=output, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdin
            assert process.stderr
            # It says so once the event loop handles signals.
            process.stdin.write(b"not JSON\n")
            process.stdin.flush()
            process.stderr.readline()
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no terminals of this kind")
def test_a_person_at_a_terminal_is_told_what_this_is() -> None:
    ours, theirs = os.openpty()
    with subprocess.Popen([*COMMAND], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        os.write(ours, b"\x04")
        said = process.communicate(timeout=30)[1]
        os.close(ours)
    assert said == b"This is an agent: a client starts it. Press Ctrl-D to end.\n"
