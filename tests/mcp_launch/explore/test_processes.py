"""The explore commands as processes: signals and pipes."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from subprocess import PIPE

from tests.mcp_launch.explore.here import ODD
from tests.mcp_launch.support import Marked
from tests.mcp_launch.test_command import COMMAND, ENV


def marked_file(folder: Path, marked: Marked) -> str:
    file = folder / "servers.json"
    file.write_text(json.dumps([marked.stdio("odd", ODD["command"], *ODD["args"])]))
    return str(file)


def test_a_signal_ends_the_server_of_a_call_and_the_command(tmp_path: Path) -> None:
    marked = Marked()
    command = [*COMMAND, "call", marked_file(tmp_path, marked), "hang"]

    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=ENV) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"info: hanging with [redacted]\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 143
        assert process.stderr.read() == b""

    assert marked.running() == []


def test_ctrl_c_ends_a_shell_that_waits_for_a_line_of_a_pipe(tmp_path: Path) -> None:
    marked = Marked()
    command = [*COMMAND, "shell", marked_file(tmp_path, marked)]

    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=ENV) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"read memo://today\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"nothing\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130

    assert marked.running() == []


def test_each_result_is_printed_before_the_next_line_is_read(tmp_path: Path) -> None:
    command = [*COMMAND, "shell", marked_file(tmp_path, Marked())]

    with subprocess.Popen(
        command, stdin=PIPE, stdout=PIPE, stderr=subprocess.DEVNULL, env={**ENV, "PYTHONUNBUFFERED": ""}
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line, answer in ((b"help", b"tools  "), (b"tool hang", b"hang()"), (b"call structured", b"{")):
            process.stdin.write(line + b"\n")
            process.stdin.flush()
            while not process.stdout.readline().startswith(answer):
                pass
        process.stdin.close()
        assert process.wait(timeout=20) == 0
