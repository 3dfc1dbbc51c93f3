"""The command `mcp-launch` in a real terminal: progress, colors, narrow windows, and Ctrl-C."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_launch.support import Marked, wait_until

if sys.platform == "win32":
    pytest.skip("there is no pty on Windows", allow_module_level=True)

from tests.mcp_launch.terminal import CONTROL, terminal

STUBBORN = "trap '' TERM; cat; sleep 30"


def written(folder: Path, *servers: dict[str, Any]) -> str:
    file = folder / "servers.json"
    file.write_text(json.dumps({"mcpServers": list(servers)}))
    return str(file)


def screen(shown: str) -> list[str]:
    """Return the lines that remain on the screen."""
    lines, row, column = [""], 0, 0
    for piece in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", shown):
        match piece[0], piece[-1]:
            case "\r", _:
                column = 0
            case "\n", _:
                row += 1
                lines += [""] * (row + 1 - len(lines))
            case "\x1b", "A":
                row -= int(piece[2:-1] or 1)
            case "\x1b", "K":
                lines[row] = ""
            case "\x1b", _:
                pass
            case _:
                lines[row] = lines[row][:column].ljust(column) + piece + lines[row][column + len(piece) :]
                column += len(piece)
    return lines


def stages(shown: str) -> Iterator[tuple[str, str]]:
    """Yield the stages of each server in the progress output."""
    for mark, name, stage in re.findall(r"(wait|ok|FAIL) +(\S+) +stdio (\w+)", CONTROL.sub("", shown)):
        yield f"{mark} {name}", stage


def test_a_terminal_shows_how_far_each_server_is_and_then_only_the_outcome(tmp_path: Path) -> None:
    marked = Marked()
    file = written(tmp_path, marked.plain("needs_a_second", name="slow"), marked.plain("exits_silently", name="bad"))

    with terminal("check", file) as shown:
        status = shown.status()

    said = set(stages(shown.shown))
    assert status == 1
    assert ("wait slow", "handshake") in said
    assert re.search(r"wait slow stdio handshake \d\.\d s", CONTROL.sub("", shown.shown))
    left = [line.rstrip() for line in screen(shown.shown) if line.strip()]
    assert [line.split()[:3] for line in left[:2]] == [["ok", "slow", "stdio"], ["FAIL", "bad", "stdio"]]
    assert "\x1b[?25h" in shown.shown.rpartition("\x1b[?25l")[2]


@pytest.mark.parametrize(("term", "no_color"), [("dumb", ""), ("xterm", "1"), ("dumb", "1")])
def test_colours_and_movement_are_disabled_on_request(term: str, no_color: str, tmp_path: Path) -> None:
    file = written(tmp_path, Marked().plain("needs_a_second", name="slow"))

    with terminal("check", file, TERM=term, NO_COLOR=no_color) as shown:
        assert shown.status() == 0

    used = set(CONTROL.findall(shown.shown))
    if term == "dumb":
        assert used == set()
        assert shown.shown.startswith("ok   slow stdio 1 tool: environment")
    else:
        colours = [each for each in used if each.endswith("m") and re.search(r"[;\[](3|4|9)\d", each)]
        assert (colours, bool(used)) == ([], True)


def test_a_narrow_terminal_wraps_no_line_of_the_progress(tmp_path: Path) -> None:
    marked = Marked()
    names = ["a-server-with-a-long-name", "one"]
    file = written(tmp_path, *(marked.plain("needs_a_second", name=name) for name in names))

    with terminal("check", file, columns=30) as shown:
        assert shown.status() == 0

    progress = CONTROL.sub("", shown.shown).rpartition("wait")[0]
    assert progress
    assert max(len(line) for line in re.split(r"[\r\n]+", progress)) <= 30
    assert "ok   one" in "\n".join(screen(shown.shown))


def test_a_low_terminal_shows_those_that_are_waited_for(tmp_path: Path) -> None:
    marked = Marked()
    gate = tmp_path / "gate"
    many = [marked.plain("exits_silently", name=f"bad-{number}") for number in range(8)]
    file = written(tmp_path, *many, marked.plain("waits_at_gate", name="slow", env={"GATE": str(gate)}))

    with terminal("check", file, rows=6) as shown:
        shown.read_until(lambda text: "and 8 more" in text)
        gate.touch()
        assert shown.status() == 1

    assert re.search(r"wait slow +stdio handshake \d\.\d s\s+and 8 more", CONTROL.sub("", shown.shown))


def test_names_and_text_of_servers_cannot_move_the_cursor(tmp_path: Path) -> None:
    rude = r"printf '\033[2J\033]0;boo\007boo' >&2; sleep 0.5; exit 1"
    file = written(tmp_path, Marked().stdio("ru\x1b[2Jde", "/bin/sh", "-c", rude))

    with terminal("check", file, "--verbose") as shown:
        assert shown.status() == 1

    assert "boo" in shown.shown
    assert not {"\x1b[2J", "\x1b]0", "\x07"} & set(re.findall(r"\x1b\[2J|\x1b\]0|\x07", shown.shown))


@pytest.mark.parametrize("when", ["wait mute", "spawned"])
def test_ctrl_c_leaves_only_the_earlier_screen(when: str, tmp_path: Path) -> None:
    marked = Marked()
    file = written(tmp_path, marked.plain("mute", name="mute"), marked.stdio("stubborn", "/bin/sh", "-c", STUBBORN))

    with terminal("check", file) as shown:
        if when == "spawned":
            wait_until(lambda: len(marked.running()) >= 2)
        else:
            shown.read_until(lambda text: "wait" in text)
        shown.type(b"\x03\x03")
        assert shown.status() == 130, shown.shown

    assert marked.running() == []
    assert "Traceback" not in shown.shown
    left = " ".join(line for line in screen(shown.shown) if line.strip())
    assert left in ("", "^C", "^C^C")
    assert "\x1b[?25l" not in shown.shown.rpartition("\x1b[?25h")[2]


def test_closing_the_terminal_ends_the_servers(tmp_path: Path) -> None:
    marked = Marked()
    file = written(tmp_path, marked.stdio("stubborn", "/bin/sh", "-c", STUBBORN))

    with terminal("check", file) as shown:
        shown.read_until(lambda text: "wait" in text)
        shown.hang_up()
        assert shown.process.wait(30) == 129

    wait_until(lambda: marked.running() == [])


def test_watching_checks_again_when_the_file_changes(tmp_path: Path) -> None:
    marked = Marked()
    file = written(tmp_path, marked.plain(name="first"))

    with terminal("check", file, "--watch", TERM="dumb") as shown:
        shown.read_until(lambda text: text.count("press Ctrl-C to stop") == 1)
        written(tmp_path, marked.plain("exits_silently", name="second"))
        shown.read_until(lambda text: text.count("press Ctrl-C to stop") == 2)
        Path(file).write_text("{")
        shown.read_until(lambda text: text.count("press Ctrl-C to stop") == 3)
        Path(file).unlink()
        shown.read_until(lambda text: text.count("press Ctrl-C to stop") == 4)
        shown.type(b"\x03")
        assert shown.status() == 130

    said = [line for line in shown.shown.splitlines() if not line.startswith("watching")]
    assert [line.split()[:2] for line in said[:2]] == [["ok", "first"], ["FAIL", "second"]]
    assert [line.partition(file)[2][:6] for line in said[2:4]] == [":1:2: ", ": No s"]
    assert marked.running() == []
