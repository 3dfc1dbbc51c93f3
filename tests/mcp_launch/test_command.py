"""The command `mcp-launch`, run as users run it."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from mcp_launch.__main__ import NEEDED
from tests.mcp_launch.support import SECRET, SERVERS, SOURCE, Marked, run_python

PLAIN = [str(SERVERS / "plain.py")]


COMMAND = [sys.executable, "-m", "mcp_launch"]
TERMINAL = {"COLUMNS": "40", "NO_COLOR": "1"}
ENV = {**os.environ, "PYTHONPATH": str(SOURCE), **TERMINAL}
STUBBORN = "trap '' TERM; cat; sleep 30"


def run(
    *args: str, stdin: str = "", python: tuple[str, ...] = (), **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return run_python(*python, "-m", "mcp_launch", *args, stdin=stdin, **(TERMINAL | variables))


def wait_until(happened: Callable[[], bool]) -> None:
    """Look again and again; for what other processes do there is no event."""
    until = time.monotonic() + 10
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.01)


def plain(mode: str = "works") -> dict[str, Any]:
    return {"command": sys.executable, "args": [*PLAIN, mode], "env": {"SECRET": SECRET}}


def test_working_servers_are_one_line_each_and_exit_0(tmp_path: Path) -> None:
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"first": plain(), "second": plain()}}))

    done = run("check", str(file))

    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[:6] for line in done.stdout.splitlines()] == [
        ["ok", "first", "stdio", "1", "tool:", "environment"],
        ["ok", "second", "stdio", "1", "tool:", "environment"],
    ]


def test_a_failed_server_says_why_and_exits_1() -> None:
    config = {"mcpServers": {"good": plain(), "bad": plain("exits_with_message")}}

    done = run("check", "-", stdin=json.dumps(config))

    assert done.returncode == 1
    good, bad = done.stdout.splitlines()
    assert good.startswith("ok   good stdio 1 tool")
    assert bad.startswith("FAIL bad  stdio exited in handshake after")
    assert "exited with status 3; it said on stderr: cannot start with key [redacted]" in bad
    assert SECRET not in done.stdout + done.stderr


def test_json_is_one_document_and_nothing_else() -> None:
    config = {"mcpServers": {"banner": plain("prints_banner"), "gone": {"command": "/no/such/program"}}}

    done = run("check", "--json", "-", stdin=json.dumps(config))

    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"]) == (1, False)
    banner, gone = report["servers"]
    assert (banner["state"], banner["tools"]) == ("ready", [{"name": "environment", "description": None}])
    assert (gone["state"], gone["failure"]["code"]) == ("failed", "command_not_found")
    assert SECRET not in done.stdout + done.stderr


def test_a_whole_request_brings_its_directory(tmp_path: Path) -> None:
    server: dict[str, Any] = {"name": "here", "command": "./server", "args": [], "env": []}
    (tmp_path / "server").write_text(f"#!/bin/sh\nexec {sys.executable} {PLAIN[0]}\n")
    (tmp_path / "server").chmod(0o755)
    request = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "session/new",
        "params": {"cwd": str(tmp_path), "mcpServers": [server]},
    }

    done = run("check", "-", stdin=json.dumps(request))

    assert (done.returncode, done.stdout[:8]) == (0, "ok   her")
    assert done.stderr.startswith("warning: here: ")


@pytest.mark.parametrize(
    ("stdin", "says"),
    [
        ('{"mcpServers": [}', "mcp-launch: standard input:1:17: not JSON"),
        ("{}", "mcp-launch: standard input: holds no mcpServers"),
        ('{"mcpServers": [], "cwd": "."}', "mcp-launch: cwd must be an absolute path"),
    ],
)
def test_unusable_input_exits_2_and_says_where(stdin: str, says: str) -> None:
    done = run("check", "--json", "-", stdin=stdin)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(says)


def test_a_relative_directory_on_the_command_line_is_taken_from_here(tmp_path: Path) -> None:
    (tmp_path / "server").write_text(f"#!/bin/sh\nexec {sys.executable} {PLAIN[0]}\n")
    (tmp_path / "server").chmod(0o755)
    config = {"mcpServers": {"here": {"command": "./server", "env": {"SECRET": SECRET}}}}

    done = run("check", "-", "--cwd", os.path.relpath(tmp_path), stdin=json.dumps(config))

    assert (done.returncode, done.stdout.split()[:3]) == (0, ["ok", "here", "stdio"])


def test_the_version_is_printed() -> None:
    done = run("--version")

    assert (done.returncode, done.stdout, done.stderr) == (0, f"mcp-launch {version('acp-bindings')}\n", "")


def test_a_missing_file_exits_2(tmp_path: Path) -> None:
    done = run("check", str(tmp_path / "missing.json"))

    assert (done.returncode, done.stdout) == (2, "")
    assert "missing.json: No such file or directory" in done.stderr


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_lines_of_its_help_are_as_long_as_the_terminal_is_wide(columns: int) -> None:
    done = run("check", "--help", COLUMNS=str(columns))

    text = done.stdout.partition("╭")[0].strip()
    paragraphs = re.split(r"\n\s*\n", text)
    for paragraph in paragraphs:
        for line, following in itertools.pairwise(line.strip() for line in paragraph.splitlines()):
            assert len(f" {line} {following.split(' ')[0]} ") > columns
    assert len(paragraphs) > 3


@pytest.mark.parametrize("args", [("--help",), ("check", "--help"), ("check", "/no/such/file")])
def test_the_sdk_is_not_imported_before_it_is_needed(args: tuple[str, ...]) -> None:
    done = run(*args, python=("-X", "importtime"))

    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "typer" in imported
    assert imported & {"mcp", "mcp_types", "httpx", "httpx2"} == set()


def test_without_the_extra_it_says_what_to_install() -> None:
    # A None in sys.modules hides a package as if it were not installed.
    script = """
import sys
from mcp_launch.__main__ import NEEDED, main
sys.modules.update(dict.fromkeys(NEEDED))
main()
"""
    done = run_python("-c", script, "check", "-")

    assert (done.returncode, done.stdout) == (2, "")
    missing = "anyio, h11, httpx, httpx2, httpx_sse, jinja2, mcp, rich, typer"
    assert done.stderr == f"mcp-launch needs {missing}: pip install 'acp-bindings[launch]'\n"


def test_what_the_command_needs_is_what_the_extra_brings() -> None:
    project = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    brought = [*extras["connection"], *extras["launch"]]
    here = [each for each in brought if "win32" not in each and each != "acp-bindings[connection]"]

    assert sorted(re.split("[<>=]", each)[0].replace("-", "_") for each in here) == sorted(NEEDED)


@pytest.mark.parametrize(
    ("stdin", "says"),
    [(b"\xff\xfe[\0]\0", "not UTF-8 at byte 0"), (b"[" + b"1" * 5000 + b"]", "holds a number that is too long")],
)
def test_input_that_is_no_json_text_exits_2(stdin: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(stdin)
    with (tmp_path / "input").open() as file:
        done = subprocess.run(
            [*COMMAND, "check", "-"], stdin=file, capture_output=True, text=True, env=ENV, check=False
        )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"mcp-launch: standard input: {says}\n"


@pytest.mark.parametrize(
    ("redirection", "status", "says"),
    [
        ("<&-", 2, "mcp-launch: standard input: is closed\n"),
        ("< servers.json >&-", 0, ""),
        ("< servers.json >/dev/full", 2, "mcp-launch: standard output: No space left on device\n"),
        ("< /dev/null 2>/dev/full", 2, ""),
        ("< servers.json | head -c 10 >/dev/null", 0, ""),
        ("--json < servers.json | true", 0, ""),
    ],
)
def test_streams_that_are_closed_or_full_or_go_away_are_no_traceback(
    redirection: str, status: int, says: str, tmp_path: Path
) -> None:
    (tmp_path / "servers.json").write_text('{"mcpServers": {}}')

    script = f'"$@" check - {redirection}'
    done = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *COMMAND], cwd=tmp_path, capture_output=True, text=True, env=ENV, check=False
    )

    assert (done.returncode, done.stderr) == (status, says)


def test_a_name_that_the_terminal_cannot_show_is_shown_all_the_same() -> None:
    config = {"mcpServers": {"caf\u00e9": {"command": "/no/such/program"}}}

    done = run("check", "-", stdin=json.dumps(config), PYTHONIOENCODING="ascii")

    assert (done.returncode, done.stdout[:12]) == (1, r"FAIL caf\xe9")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_servers_before_the_command(number: signal.Signals, status: int) -> None:
    marked = Marked()
    servers = [marked.plain("mute", name="mute"), marked.stdio("stubborn", "/bin/sh", "-c", STUBBORN)]

    with subprocess.Popen([*COMMAND, "check", "-"], stdin=PIPE, stdout=PIPE, stderr=PIPE, env=ENV) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(servers).encode())
        process.stdin.close()
        wait_until(lambda: len(marked.running()) >= 2)
        process.send_signal(number)
        process.send_signal(number)
        assert process.wait(timeout=20) == status
        assert process.stderr is not None
        assert process.stderr.read() == b""

    assert marked.running() == []


def test_what_a_server_says_cannot_move_the_cursor() -> None:
    config = {
        "mcpServers": {"rude": {"command": "/bin/sh", "args": ["-c", r"printf '\033[2J\033[31mboo' >&2; exit 1"]}}
    }

    done = run("check", "-", stdin=json.dumps(config))

    assert "\033" not in done.stdout
    assert "boo" in done.stdout
    assert len(done.stdout.splitlines()) == 1
