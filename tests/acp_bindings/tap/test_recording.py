"""What the tap records: lines with time and sender, findings, gaps, and no secrets."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from acp_bindings._tap.forwarding import Copies, Frame, framed, frames_of, python_of
from acp_bindings._tap.recording import Lines, Recording, open_new, tell
from acp_bindings._tap.tap import recordings_folder
from tests.acp_bindings.tap.support import TAP, lines_of, run, running, tap

AGENT = """
import os, sys
print("Bearer", os.environ["MY_API_KEY"], file=sys.stderr, flush=True)
for line in sys.stdin:
    print('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}', flush=True)
"""
INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n'
UPDATE = b'{"jsonrpc":"2.0","id":2,"method":"session/nwe","params":{}}\n'


def test_a_recording_has_all_streams_with_times_and_the_end(tmp_path: Path) -> None:
    done = run(tap("-o", str(tmp_path / "talk"), agent=AGENT), INITIALIZE, MY_API_KEY="swordfish-42")
    assert done.stderr == b"Bearer swordfish-42\n"
    lines = lines_of(tmp_path / "talk")
    times = [line.pop("time") for line in lines]
    assert times == sorted(times)
    lines.remove({"closed": {"from": "client"}})  # before or after the response
    assert sorted(lines, key=lambda line: "stderr" not in line) == [
        {"from": "agent", "stderr": "Bearer [redacted]"},
        {"from": "client", "message": json.loads(INITIALIZE)},
        {"from": "agent", "message": {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}}},
        {"end": {"exitStatus": 0}},
    ]


def test_secrets_are_recorded_on_request(tmp_path: Path) -> None:
    run(tap("-o", str(tmp_path / "talk"), "--secrets", agent=AGENT), MY_API_KEY="swordfish-42")
    assert "Bearer swordfish-42" in [line.get("stderr") for line in lines_of(tmp_path / "talk")]


def test_secrets_in_the_command_are_redacted(tmp_path: Path) -> None:
    agent = "import sys; print(sys.argv, file=sys.stderr)"
    run([*tap("-o", str(tmp_path / "talk"), agent=agent), "--api-key", "swordfish-42"])
    assert "['-c', '--api-key', '[redacted]']" in [line.get("stderr") for line in lines_of(tmp_path / "talk")]


def test_findings_are_reported_while_they_happen(tmp_path: Path) -> None:
    path = tmp_path / "talk"
    done = run(tap("-o", str(path), "--check", agent=AGENT), INITIALIZE + UPDATE, MY_API_KEY="x")
    found = [line["finding"] for line in lines_of(path) if "finding" in line]
    [method] = [each for each in found if each["rule"] == "schema.method"]
    assert lines_of(path)[method["line"] - 1]["message"]["method"] == "session/nwe"
    said = f"{path}:{method['line']}: {method['severity']}[schema.method]"
    assert said in done.stderr.decode()


def test_what_a_peer_sends_has_no_effect_on_a_terminal_or_a_ci_system(capfd: pytest.CaptureFixture[str]) -> None:
    tell("a\x1b[2J\n::error::b ##[error]\x9b\u202e")
    assert capfd.readouterr().err == "a [2J ::error::b ## [error]  \n"


def test_a_command_without_dashes_is_explained() -> None:
    done = run([*TAP, "python", "my agent.py", "--acp"])
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"put -- before the command: -- python 'my agent.py' --acp" in done.stderr


def test_a_directory_gets_a_new_recording_for_each_start(tmp_path: Path) -> None:
    for _ in range(2):
        assert run(tap("-o", str(tmp_path), agent="")).stderr == b""
    assert len([*tmp_path.glob("*-python*.ndjson")]) == 2


def test_a_name_that_ends_like_a_directory_is_one(tmp_path: Path) -> None:
    assert run(tap("-o", f"{tmp_path}/new/", agent="")).stderr == b""
    assert len([*(tmp_path / "new").glob("*-python*.ndjson")]) == 1


def test_only_recordings_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "agent.py"
    path.write_text("print('hello')")
    done = run([*TAP, "-o", str(path), "--", sys.executable, str(path)])
    assert (done.returncode, done.stdout, path.read_text()) == (0, f"hello{os.linesep}".encode(), "print('hello')")
    why = "this file is not a recording and is not replaced; nothing is recorded, the conversation goes on"
    assert done.stderr.decode() == f"acp-bindings tap: {path}: {why}\n"
    path.write_bytes(b"")
    for _ in range(2):
        assert run(tap("-o", str(path), agent="")).stderr == b""
        assert len([line for line in lines_of(path) if "end" in line]) == 1


def test_a_recording_that_cannot_be_removed_is_truncated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(path)

    path = tmp_path / "talk"
    path.write_bytes(b'{"time": "long ago"}\n')
    # As Windows does while a viewer has the file open.
    monkeypatch.setattr("os.unlink", refuse)
    open_new(str(path)).close()
    assert path.read_bytes() == b""


def test_findings_do_not_refer_to_a_file_that_is_not_written(tmp_path: Path) -> None:
    done = run(tap("-o", str(tmp_path / "missing" / "talk"), "--check", agent=AGENT), UPDATE, MY_API_KEY="x")
    assert not (tmp_path / "missing").exists()
    first, *found = [line for line in done.stderr.decode().splitlines() if "Bearer" not in line]
    assert first.endswith("; nothing is recorded, the conversation goes on")
    assert any(each.startswith("acp-bindings tap: error[schema.method]: ") for each in found)
    assert not any("talk" in each for each in found)


def test_without_a_file_the_recording_is_in_the_state_directory(tmp_path: Path) -> None:
    done = run(tap(agent=""), XDG_STATE_HOME=str(tmp_path))
    [path] = (tmp_path / "acp-bindings" / "recordings").iterdir()
    assert done.stderr.decode() == f"acp-bindings tap: recording to {path}\n"


def test_a_relative_state_directory_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    assert recordings_folder() == Path.home() / ".local" / "state" / "acp-bindings" / "recordings"


def test_copies_that_do_not_fit_are_counted_and_never_wait() -> None:
    sent, begun, gate = bytearray(), threading.Event(), threading.Event()

    def send(data: bytes) -> None:
        begun.set()
        assert gate.wait(10)
        sent.extend(data)

    copies = Copies(send, lost=lambda: None, most=10)
    copies.add(b"c", b"1234\n")
    assert begun.wait(10)
    for text in (b"12345", b"6789\n", b"x\n"):
        copies.add(b"a", text)
    gate.set()
    copies.finish(seconds=10)
    assert [each._replace(time=0) for each in frames(bytes(sent))] == [
        Frame(b"c", 0, b"1234\n"),
        Frame(b"a", 0, b"12345"),
        Frame(b"A", 0, b"7"),
    ]


def test_a_slow_recorder_receives_everything_while_it_makes_progress() -> None:
    sent = bytearray()

    def send(data: bytes) -> None:
        time.sleep(0.05)
        sent.extend(data)

    copies = Copies(send, lost=lambda: None)
    for _ in range(2500):
        copies.add(b"a", b"1")
    copies.finish(seconds=1.0)
    assert sum(1 for _ in frames(bytes(sent))) == 2500


def test_a_gap_ends_at_the_next_line(tmp_path: Path) -> None:
    recording = Recording(str(tmp_path / "talk"), secrets=True, check=False)
    parts = [framed(b"a", b"one\ntw"), framed(b"A", b"1000"), framed(b"a", b"ree\nfour\n"), framed(b"x", b"0")]
    for frame in frames(b"".join(parts)):
        recording.take(frame)
    recording.finish()
    assert [{**line, "time": ""} for line in lines_of(tmp_path / "talk")] == [
        {"time": "", "from": "agent", "message": "one"},
        {"time": "", "dropped": {"from": "agent", "bytes": 1006}},
        {"time": "", "from": "agent", "message": "four"},
        {"time": "", "end": {"exitStatus": 0}},
    ]


def test_a_line_that_has_not_ended_when_the_agent_exits_is_recorded(tmp_path: Path) -> None:
    recording = Recording(str(tmp_path / "talk"), secrets=True, check=False)
    for frame in frames(framed(b"a", b"half") + framed(b"x", b"0")):
        recording.take(frame)
    recording.finish()
    assert [line.get("message") for line in lines_of(tmp_path / "talk")] == ["half", None]


def test_a_line_that_is_too_long_is_dropped_up_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_bindings._tap.recording.LONGEST_MESSAGE", 10)
    lines = Lines()
    assert [*lines.feed(b"x" * 11)] == []
    assert [*lines.feed(b"yz\nnext\n")] == [14, b"next"]


def test_a_process_that_has_the_number_of_an_agent_that_has_exited_is_not_killed(tmp_path: Path) -> None:
    recording = Recording(str(tmp_path / "talk"), secrets=True, check=False)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        started = json.dumps({"pid": other.pid, "command": ["agent"]}).encode()
        for frame in frames(framed(b"s", started) + framed(b"x", b"0")):
            recording.take(frame)
        recording.end_agent()
        recording.finish()
        other.communicate(b"\n")
    assert other.returncode == 0


def frames(data: bytes) -> list[Frame]:
    import io

    return [*frames_of(io.BytesIO(data))]


def test_a_failure_of_the_recording_process_does_not_end_the_agent(tmp_path: Path) -> None:
    options = {
        "file": str(tmp_path / "talk"),
        "in_new_folder": False,
        "check": False,
        "view": False,
        "receipts": False,
        "secrets": False,
    }
    command = python_of("acp_bindings._tap.recording", json.dumps(options))
    with running([sys.executable, "-c", "input()"]) as agent:
        known = framed(b"s", json.dumps({"pid": agent.pid, "command": []}).encode())
        assert run(command, known + framed(b"s", b"not JSON")).returncode == 1
        assert agent.poll() is None
        assert run(command, known).returncode == 0
        assert agent.wait(timeout=10) == -signal.SIGKILL
