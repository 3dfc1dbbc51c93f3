"""The explore commands in a real terminal: a shell with history and completion, and harmless output."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.mcp_launch.explore.here import ODD
from tests.mcp_launch.support import Marked, wait_until

if sys.platform == "win32":
    pytest.skip("there is no pty on Windows", allow_module_level=True)

from tests.mcp_launch.terminal import CONTROL, Terminal, terminal

WIDE = 120


@contextmanager
def marked_shell(folder: Path) -> Generator[tuple[Marked, Terminal]]:
    """Run the shell on a terminal, with a server whose processes can be found."""
    marked = Marked()
    file = folder / "servers.json"
    file.write_text(json.dumps([marked.stdio("odd", ODD["command"], *ODD["args"])]))
    with terminal("shell", str(file), columns=WIDE, XDG_STATE_HOME=str(folder / "state")) as shown:
        yield marked, shown


def end(shown: Terminal, keys: bytes = b"\x04") -> int:
    shown.see("odd>")
    shown.type(keys)
    return shown.status()


def test_a_terminal_shows_progress_and_then_harmless_text(odd_file: str) -> None:
    with terminal("tools", odd_file, columns=WIDE) as shown:
        assert shown.status() == 0

    assert "wait odd stdio" in CONTROL.sub("", shown.shown)
    assert "typed(path: string" in CONTROL.sub("", shown.shown)
    assert not {"\x1b]0;", "\x1b[2J\x1b]", "\x07"} & {part for part in ("\x1b]0;", "\x07") if part in shown.shown}


def test_log_messages_and_progress_of_a_tool_are_shown(odd_file: str) -> None:
    with terminal("call", odd_file, "hang", "--wait", "2", columns=WIDE) as shown:
        shown.see("info: hanging with [redacted]")
        shown.see("progress 1/2: half of it")
        assert shown.status() == 1


def test_a_person_completes_calls_cancels_and_leaves(tmp_path: Path) -> None:
    with marked_shell(tmp_path) as (marked, shown):
        shown.see("odd: 11 tools, 2 resources, 1 resource template, 1 prompt; type help for the commands")
        shown.see("odd>")
        # A person waits for what the key does.
        for keys, comes in ((b"call ty\t", "ped"), (b"pa\t", "th="), (b"x de\t", "ep="), (b"tr\t", "ue")):
            shown.type(keys)
            shown.see(comes)
        shown.type(b"\r")
        shown.see('{"path": "x", "deep": true}')
        shown.see("odd>")
        shown.type(b"call hang\r")
        shown.see("info: hanging with [redacted]")
        shown.see("progress 1/2: half of it")
        shown.type(b"\x03")
        shown.see("cancelled")
        shown.see("noticed that it was cancelled")
        shown.type(b"thrown away\x03")
        shown.see("odd>")
        shown.type(b"call rude\r")
        shown.see("boo")
        shown.see("odd>")
        shown.type(b"call grow\r")
        shown.see("grew")
        shown.see("odd>")
        shown.type(b"read memo://today\r")
        shown.see("nothing")
        shown.see("odd>")
        shown.type(b"tool grown\r")
        shown.see("grown()")
        assert end(shown) == 0

    assert marked.running() == []
    assert "\x1b]0;title" not in shown.shown
    assert "Traceback" not in shown.shown


def test_a_server_that_exits_is_reported_at_once(tmp_path: Path) -> None:
    with marked_shell(tmp_path) as (marked, shown):
        shown.see("odd>")
        shown.type(b"read memo://today\r")
        shown.see("nothing")
        shown.see("odd>")
        for number in marked.running():
            os.kill(number, 9)
        shown.see("mcp-launch: odd: ")
        shown.see("SIGKILL")
        shown.type(b"read memo://today\r")
        shown.see("SIGKILL")
        assert end(shown) == 0


def test_a_server_that_exits_during_a_call_is_reported_once(odd_file: str, tmp_path: Path) -> None:
    with terminal("shell", odd_file, columns=WIDE, XDG_STATE_HOME=str(tmp_path / "state")) as shown:
        shown.see("odd>")
        shown.type(b"call leave\r")
        shown.see("exited with status 9")
        shown.see("odd>")
        assert end(shown) == 0

    assert shown.shown.count("exited with status 9") == 1


def test_closing_the_terminal_ends_the_server(tmp_path: Path) -> None:
    with marked_shell(tmp_path) as (marked, shown):
        shown.see("odd>")
        shown.type(b"call hang\r")
        shown.see("hanging")
        shown.hang_up()
        assert shown.process.wait(30) == 129

    wait_until(lambda: marked.running() == [])


def test_a_signal_ends_the_shell_and_restores_the_terminal(odd_file: str) -> None:
    # Its history cannot be stored either.
    with terminal("shell", odd_file, columns=WIDE, XDG_STATE_HOME="/dev/null") as shown:
        shown.see("odd>")
        shown.type(b"read memo://today\r")
        shown.see("nothing")
        shown.see("odd>")
        shown.process.send_signal(signal.SIGTERM)
        assert shown.status() == 143

    # Pasted text is no longer marked as such. The terminal may still echo its last answer after this.
    assert re.findall(r"\x1b\[\?2004[hl]", shown.shown)[-1] == "\x1b[?2004l"


def test_the_history_is_stored_and_private(odd_file: str, tmp_path: Path) -> None:
    kept = tmp_path / "state" / "mcp-launch" / "history"
    kept.parent.mkdir(parents=True)
    kept.touch(mode=0o644)
    state = str(tmp_path / "state")

    with terminal("shell", odd_file, columns=WIDE, XDG_STATE_HOME=state) as shown:
        shown.see("odd>")
        shown.type(b"read memo://today\r")
        shown.see("nothing")
        assert end(shown, b"quit\r") == 0
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "+read memo://today\n" in kept.read_text()

    with terminal("shell", odd_file, columns=WIDE, XDG_STATE_HOME=state) as shown:
        shown.see("odd>")
        shown.type(b"\x1b[A\x1b[A\r")
        shown.see("nothing")
        assert end(shown) == 0


def test_a_relative_folder_for_the_history_is_ignored(odd_file: str, tmp_path: Path) -> None:
    with terminal("shell", odd_file, columns=WIDE, XDG_STATE_HOME="state", HOME=str(tmp_path)) as shown:
        assert end(shown) == 0

    assert (tmp_path / ".local" / "state" / "mcp-launch" / "history").is_file()
