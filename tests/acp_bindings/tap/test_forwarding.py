"""The tap changes nothing: bytes, ends of streams, signals and exit status are those of the agent."""

import json
import os
import random
import resource
import select
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

from acp_bindings._tap.forwarding import signals_kept
from tests.acp_bindings.tap.support import SECONDS, lines_of, run, running, tap
from tests.mcp_launch.support import wait_until
from tests.mcp_launch.terminal import terminal

if sys.platform == "win32":
    pytest.skip("signals and limits of POSIX", allow_module_level=True)

ECHO = """
import os
while chunk := os.read(0, 1000):
    os.write(1, chunk)
    os.write(2, bytes(reversed(chunk)))
"""
"""Sends what it reads back, and backwards on standard error."""

BOTH = """
import hashlib, sys, threading
data = sys.stdin.buffer.read()
sys.stderr.write(hashlib.sha256(data).hexdigest())
sys.stdout.buffer.write(data[::-1])
"""

WAITS = """
import signal, sys
def leave(number, frame):
    sys.stderr.write(f"got {number}")
    sys.exit(40 + number)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, leave)
print("ready", flush=True)
while True:
    signal.pause()
"""


def messages(count: int, *, seed: int = 7) -> bytes:
    """Random lines: messages, large ones, text, any bytes, empty lines, and a last line without its end."""
    source = random.Random(seed)
    lines: list[bytes] = []
    for number in range(count):
        match source.randrange(20):
            case 0:
                lines.append(source.randbytes(source.randrange(300)).replace(b"\n", b""))
            case 1:
                lines.append(b"a line of a log\r" * source.randrange(3))
            case 2 if number % 100 == 0:
                lines.append(json.dumps({"jsonrpc": "2.0", "method": "_x", "params": {"a": "b" * 300_000}}).encode())
            case _:
                text = "é" * source.randrange(20)
                lines.append(
                    json.dumps({"jsonrpc": "2.0", "id": number, "method": "_x", "params": {"a": text}}).encode()
                )
    return b"\n".join([*lines, b'{"half": '])


def test_every_byte_arrives_in_both_directions(tmp_path: Path) -> None:
    sent = messages(20_000)
    recording = tmp_path / "talk.ndjson"
    done = run(tap("-o", str(recording), agent=BOTH), sent)
    bare = run([sys.executable, "-c", BOTH], sent)
    assert done.stdout == bare.stdout == sent[::-1]
    assert done.stderr == bare.stderr
    lines = lines_of(recording)
    assert len([line for line in lines if line.get("from") == "client"]) == len(
        [*filter(bytes.strip, sent.split(b"\n"))]
    )
    assert lines[-1]["end"] == {"exitStatus": 0}


def test_streams_that_do_not_block_are_waited_for(tmp_path: Path) -> None:
    def unblock() -> None:
        for stream in (0, 1):
            os.set_blocking(stream, False)

    agent = "import sys; print('ready', flush=True); print(sys.stdin.readline() * 100_000)"
    with running(tap("-o", str(tmp_path / "talk"), agent=agent), before=unblock) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        os.write(process.stdin.fileno(), b"0123456789\n")
        time.sleep(0.5)  # until the pipe is full
        out, _ = process.communicate(timeout=SECONDS)
    assert out == b"0123456789\n" * 100_000 + b"\n"


def test_the_recording_has_the_end_of_the_input_in_its_place(tmp_path: Path) -> None:
    recording = tmp_path / "talk.ndjson"
    run(tap("-o", str(recording), agent=BOTH), b'{"a": 1}\nhalf')
    half, closed, *rest = lines_of(recording)[1:]
    assert half["message"] == "half"
    assert closed["closed"] == {"from": "client"}
    assert {each.get("from") for each in rest[:-1]} == {"agent"}
    assert "end" in rest[-1]


def test_an_agent_that_exits_first_has_no_end_of_its_input(tmp_path: Path) -> None:
    recording = tmp_path / "talk.ndjson"
    with running(tap("-o", str(recording), agent="")) as process:
        process.wait(timeout=SECONDS)
    assert [sorted(each) for each in lines_of(recording)] == [["end", "time"]]


def test_bytes_are_forwarded_without_waiting_for_a_line(tmp_path: Path) -> None:
    with running(tap("-o", str(tmp_path / "talk"), agent=ECHO)) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        for part in (b'{"a', b"\xff", b"\n\n"):
            os.write(process.stdin.fileno(), part)
            assert os.read(process.stdout.fileno(), 100) == part
            assert os.read(process.stderr.fileno(), 100) == part[::-1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_are_sent_to_the_agent(tmp_path: Path, number: signal.Signals) -> None:
    recording = tmp_path / "talk"
    with running(tap("-o", str(recording), agent=WAITS)) as process:
        assert process.stdout
        process.stdout.readline()
        process.send_signal(number)
        # Standard error ends when no process has it open any more.
        _, err = process.communicate(timeout=10)
    assert process.returncode == 40 + number
    assert err == f"got {int(number)}".encode()
    assert lines_of(recording)[-1]["end"] == {"exitStatus": 40 + number}


def test_an_agent_that_ignores_a_signal_goes_on(tmp_path: Path) -> None:
    # `print` must not be called again by a handler that interrupts it.
    ignores = (
        "import os, signal; signal.signal(signal.SIGTERM, lambda *_: os.write(1, b'no\\n'))\nprint('ready', flush=True)"
    )
    with running(tap("-o", str(tmp_path / "talk"), agent=ignores + ECHO)) as process:
        assert process.stdout
        process.stdout.readline()
        process.terminate()
        assert process.stdout.readline() == b"no\n"
        out, _ = process.communicate(b"on", timeout=10)
    assert (out, process.returncode) == (b"on", 0)


def test_a_signal_to_the_process_group_does_not_end_the_recording(tmp_path: Path) -> None:
    agent = "print('ready', flush=True); input()"
    with running(tap("-o", str(tmp_path / "talk"), agent=agent), before=lambda: os.setpgid(0, 0)) as process:
        assert process.stdout
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGTERM)
        assert process.communicate(timeout=10) == (b"", b"")
    assert lines_of(tmp_path / "talk")[-1]["end"] == {"exitStatus": 128 + signal.SIGTERM}


def test_a_signal_that_comes_before_the_agent_is_started_is_sent_to_it() -> None:
    with signals_kept() as forward_to:
        signal.raise_signal(signal.SIGTERM)
        with subprocess.Popen(["sleep", "20"]) as agent:
            forward_to(agent)
            assert agent.wait(10) == -signal.SIGTERM


def test_a_signal_that_is_ignored_does_not_end_the_agent(tmp_path: Path) -> None:
    def ignore() -> None:  # like `nohup`
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    agent = f"print('ready', flush=True)\n{ECHO}"
    with running(tap("-o", str(tmp_path / "talk"), agent=agent), before=ignore) as process:
        assert process.stdout
        process.stdout.readline()
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate(b"on", timeout=10)
    assert (out, process.returncode) == (b"on", 0)


def test_ctrl_c_at_a_terminal_is_not_sent_to_the_agent_again() -> None:
    code = "import signal; from acp_bindings._tap.forwarding import _is_sent_to_all as is_sent; "
    code += "print('is sent:', is_sent(signal.SIGINT), is_sent(signal.SIGTERM))"
    with terminal(command=[sys.executable, "-c", code]) as screen:
        screen.see("is sent: True False")


def test_a_killed_tap_leaves_no_agent(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "alive")
    deaf = f"""
import signal
alive = open({str(tmp_path / "alive")!r}, "wb")
signal.signal(signal.SIGTERM, lambda *_: None)
print("ready", flush=True)
while True:
    signal.pause()
"""
    recording = tmp_path / "talk"
    with running(tap("-o", str(recording), agent=deaf)) as process, open(tmp_path / "alive", "rb") as alive:
        assert process.stdout
        process.stdout.readline()
        wait_until(lambda: recording.exists() and recording.read_bytes().endswith(b"\n"))
        process.kill()
        # It ends with the agent, and the streams of the tap with the recording process.
        assert select.select([alive], [], [], 10)[0]
        assert alive.read() == b""
        assert process.communicate(timeout=10) == (b"", b"")
    assert [line["message"] for line in lines_of(recording)] == ["ready"]


@pytest.mark.parametrize(
    ("code", "status"), [("exit(0)", 0), ("exit(3)", 3), ("import os; os.kill(os.getpid(), 9)", 137)]
)
def test_the_exit_status_is_that_of_the_agent(tmp_path: Path, code: str, status: int) -> None:
    recording = tmp_path / "talk"
    done = run(tap("-o", str(recording), agent=code))
    assert (done.returncode, done.stdout, done.stderr) == (status, b"", b"")
    assert lines_of(recording)[-1]["end"] == {"exitStatus": status}


@pytest.mark.parametrize(
    ("name", "reason", "status"), [("no-such-agent", "command not found", 127), ("/", "Permission denied", 126)]
)
def test_a_command_that_cannot_be_started_has_the_exit_status_of_a_shell(
    tmp_path: Path, name: str, reason: str, status: int
) -> None:
    recording = tmp_path / "talk"
    done = run([*tap("-o", str(recording), agent="")[:-3], name])
    assert (done.returncode, done.stdout) == (status, b"")
    assert done.stderr.decode() == f"acp-bindings tap: {name}: {reason}\n"
    why, end = lines_of(recording)
    assert (why["stderr"], end["end"]) == (done.stderr.decode().strip(), {"exitStatus": status})


def test_an_agent_notices_that_the_client_no_longer_reads(tmp_path: Path) -> None:
    writes = "import os, sys\ntry:\n while True: os.write(1, b'x' * 1000)\nexcept BrokenPipeError: sys.exit(7)"
    with running(tap("-o", str(tmp_path / "talk"), agent=writes)) as process:
        assert process.stdout
        process.stdout.close()
        assert process.wait(timeout=10) == 7


def test_the_client_notices_that_the_agent_closes_its_output(tmp_path: Path) -> None:
    closes = "import os, sys; os.close(1); sys.stdin.read(); sys.exit(5)"
    with running(tap("-o", str(tmp_path / "talk"), agent=closes)) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.read() == b""
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(timeout=10) == 5


def test_output_of_a_process_that_outlives_the_agent_does_not_delay_the_exit(tmp_path: Path) -> None:
    leaves = "import subprocess, sys; subprocess.Popen(['sleep', '30']); print('left', flush=True)"
    with running(tap("-o", str(tmp_path / "talk"), agent=leaves)) as process:
        assert process.wait(timeout=10) == 0
        assert process.stdout
        assert process.stdout.read(5) == b"left\n"


@pytest.mark.parametrize("limited", [False, True], ids=["full disk", "limited size"])
def test_a_recording_that_cannot_be_written_does_not_disturb_the_conversation(tmp_path: Path, limited: bool) -> None:
    recording = tmp_path / "talk" if limited else Path("/dev/full")
    if not limited and not recording.exists():
        pytest.skip("this system has no /dev/full")
    sent = messages(500)
    limit = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))) if limited else None
    # Bytecode would be cut off too, and later processes would fail to read it.
    done = run(tap("-o", str(recording), agent=BOTH), sent, before=limit, PYTHONDONTWRITEBYTECODE="1")
    assert done.stdout == sent[::-1]
    [line] = [line for line in done.stderr.splitlines(keepends=True) if b"acp-bindings" in line]
    assert b"the recording ends here, the conversation goes on\n" in line
    if limited:
        assert 9_000 < recording.stat().st_size <= 10_000


def test_a_file_in_a_missing_folder_is_reported_and_not_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "talk"
    done = run(tap("-o", str(path), agent="print('hello')"))
    assert (done.returncode, done.stdout, path.parent.exists()) == (0, b"hello\n", False)
    why = "No such file or directory; nothing is recorded, the conversation goes on"
    assert done.stderr.decode() == f"acp-bindings tap: {path}: {why}\n"


def test_only_the_user_can_read_a_recording(tmp_path: Path) -> None:
    run(tap("-o", str(tmp_path / "talk"), agent=""))
    assert (tmp_path / "talk").stat().st_mode & 0o777 == 0o600


def test_the_conversation_goes_on_without_the_recording_process(tmp_path: Path) -> None:
    recording = tmp_path / "talk"
    with running(tap("-o", str(recording), agent=ECHO)) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        for number in range(100):
            if number == 1:
                os.kill(child_of(process.pid, b"recording"), signal.SIGKILL)
            os.write(process.stdin.fileno(), b"%03d" % number)
            assert os.read(process.stdout.fileno(), 3) == b"%03d" % number
        process.stdin.close()
        assert b"the recording process has ended; the conversation goes on\n" in process.stderr.read()
        assert process.wait(timeout=10) == 0


def test_the_conversation_goes_on_without_the_viewer(tmp_path: Path) -> None:
    # Without a browser.
    with running(tap("-o", str(tmp_path / "talk"), "--view", agent=ECHO), BROWSER="true") as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        assert b"http://127.0.0.1:" in process.stderr.readline()
        for number in range(100):
            if number == 1:
                os.kill(child_of(child_of(process.pid, b"recording"), b"view"), signal.SIGKILL)
            os.write(process.stdin.fileno(), b"%03d" % number)
            assert os.read(process.stdout.fileno(), 3) == b"%03d" % number
        process.communicate(timeout=10)
    assert process.returncode == 0
    assert "end" in lines_of(tmp_path / "talk")[-1]


def test_the_module_path_may_be_set_only_in_the_process(tmp_path: Path) -> None:
    # As in an archive.
    venv.create(tmp_path / "empty")
    code = f"import sys; sys.path[:] = {sys.path}; from acp_bindings.__main__ import main; main()"
    command = [str(tmp_path / "empty/bin/python"), "-c", code, *tap("--view", agent=ECHO)[3:]]
    with running(command, BROWSER="true", XDG_STATE_HOME=str(tmp_path)) as process:
        assert process.stderr
        assert b"recording to" in process.stderr.readline()
        assert b"http://127.0.0.1:" in process.stderr.readline()
        process.communicate(timeout=10)
    assert len(list(tmp_path.glob("acp-bindings/recordings/*"))) == 1


def test_the_viewer_ends_with_the_agent(tmp_path: Path) -> None:
    with running(tap("-o", str(tmp_path / "talk"), "--view", agent=ECHO), BROWSER="true") as process:
        assert process.stderr
        assert b"http://127.0.0.1:" in process.stderr.readline()
        # The viewer has standard error open, too.
        process.communicate(timeout=10)
    assert process.returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
def test_the_viewer_ends_with_a_killed_recording_process(tmp_path: Path) -> None:
    with running(tap("-o", str(tmp_path / "talk"), "--view", agent=ECHO), BROWSER="true") as process:
        assert process.stderr
        assert b"http://127.0.0.1:" in process.stderr.readline()
        os.kill(child_of(process.pid, b"recording"), signal.SIGKILL)
        # The viewer has standard error open, too.
        process.communicate(timeout=10)
    assert process.returncode == 0


def child_of(parent: int, named: bytes) -> int:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    [found] = [int(each) for each in children if named in Path(f"/proc/{each}/cmdline").read_bytes()]
    return found
