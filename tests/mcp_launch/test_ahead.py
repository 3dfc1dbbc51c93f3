"""Processes that are started before the launcher is imported are used by a launch, or ended."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import pytest

import mcp_launch
from mcp_launch import _spawn_ahead as ahead
from mcp_launch._executable import child_environment
from tests.leftovers import open_files
from tests.mcp_launch.support import Marked, ask, wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="on Windows nothing is started ahead")

STUBBORN = "trap '' TERM; while true; do sleep 1; done"


@pytest.fixture(autouse=True)
def nothing_is_left() -> Generator[None]:
    before = open_files()
    yield
    ahead.end_the_rest()
    assert open_files() == before


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would be started."""
    found: list[list[str]] = []

    def start(command: list[str], **_: object) -> None:
        found.append(command)

    monkeypatch.setattr(ahead, "_start", start)
    return found


def only(marked: Marked) -> int:
    """Return the only running process. Its environment cannot be read immediately after the start."""
    wait_until(lambda: len(marked.running()) == 1)
    (pid,) = marked.running()
    return pid


@pytest.mark.anyio
async def test_a_launch_takes_the_process_that_was_started_ahead(marked: Marked, tmp_path: Path) -> None:
    server = marked.plain()
    ahead.start_ahead([server], cwd=str(tmp_path))
    started = only(marked)

    with anyio.fail_after(20):
        async with mcp_launch.launch([server], cwd=tmp_path) as fleet:
            answer = await ask(fleet["plain"].session, "environment")
            assert marked.running() == [started]
    assert (answer["pid"], answer["cwd"]) == (started, str(tmp_path))


@pytest.mark.anyio
@pytest.mark.parametrize("what", ["directory", "environment", "arguments"])
async def test_a_launch_with_other_arguments_starts_another_process(what: str, marked: Marked, tmp_path: Path) -> None:
    server, cwd = marked.plain(), tmp_path
    other: dict[str, Any] = server
    if what == "directory":
        cwd = tmp_path / "other"
        cwd.mkdir()
    elif what == "environment":
        other = marked.plain(env={"MORE": "1"})
    else:
        other = {**server, "args": [*server["args"], "more"]}
    ahead.start_ahead([server], cwd=str(tmp_path))
    started = only(marked)

    with anyio.fail_after(20):
        async with mcp_launch.launch([other], cwd=cwd) as fleet:
            assert (await ask(fleet["plain"].session, "environment"))["pid"] != started
    assert marked.running() == [started]
    ahead.end_the_rest()


@pytest.mark.anyio
async def test_each_process_is_taken_once(marked: Marked, tmp_path: Path) -> None:
    ahead.start_ahead([marked.plain()], cwd=str(tmp_path))

    with anyio.fail_after(20):
        async with mcp_launch.launch([marked.plain(), marked.plain(name="twin")], cwd=tmp_path) as fleet:
            assert len({(await ask(server.session, "environment"))["pid"] for server in fleet}) == 2


def test_unused_processes_are_ended(tmp_path: Path) -> None:
    marked = Marked()
    ahead.start_ahead([marked.plain(), marked.stdio("stubborn", "/bin/sh", "-c", STUBBORN)], cwd=str(tmp_path))
    wait_until(lambda: len(marked.running()) >= 2)

    ahead.end_the_rest()

    assert marked.running() == []


LEAVES = "sleep 0.2; echo bye; echo bye >&2; touch done; exit"


@pytest.mark.parametrize(
    "script",
    [
        f"cat >/dev/null; {LEAVES}",
        f"trap '{LEAVES}' TERM; touch ready; while true; do sleep 0.05; done",
        f"(trap '{LEAVES}' TERM; touch ready; while true; do sleep 0.05; done) & cat >/dev/null",
    ],
    ids=["at the end of its input", "by a signal", "its child by a signal"],
)
def test_unused_processes_have_time_to_exit(script: str, tmp_path: Path) -> None:
    marked = Marked()
    ahead.start_ahead([marked.stdio("slow", "/bin/sh", "-c", script)], cwd=str(tmp_path))
    wait_until(lambda: bool(marked.running()) and ("ready" not in script or (tmp_path / "ready").exists()))

    ahead.end_the_rest()

    assert (tmp_path / "done").exists()
    assert marked.running() == []


def test_pipes_of_a_process_started_ahead_do_not_block(tmp_path: Path) -> None:
    ahead.start_ahead([{"type": "stdio", "name": "s", "command": "/bin/cat"}], cwd=str(tmp_path))
    taken = ahead.take(["/bin/cat"], cwd=str(tmp_path), env=child_environment())

    assert taken
    ends = (taken.stdin, taken.stdout, taken.stderr)
    try:
        assert not any(map(os.get_blocking, ends))
    finally:
        for each in ends:
            os.close(each)
        taken.process.wait()


def test_only_certainly_valid_entries_are_started_ahead(tmp_path: Path, started: list[list[str]]) -> None:
    good = Marked().plain()
    doubtful: list[object] = [
        5,
        {**good, "name": ""},
        {**good, "name": 5},
        {**good, "type": "http"},
        {**good, "command": "no-such-program"},
        {**good, "args": [5]},
        {**good, "args": None},
        {**good, "env": [5]},
        {**good, "env": [{"name": "A"}]},
        {key: value for key, value in good.items() if key != "args"},
        {key: value for key, value in good.items() if key != "env"},
        {key: value for key, value in good.items() if key != "command"},
        {**good, "type": None},
    ]
    # One by one, since of several with one name the first counts.
    for each in doubtful:
        ahead.start_ahead([each], cwd=str(tmp_path))
    ahead.start_ahead([{**good, "command": "sh"}], cwd=str(tmp_path), strict=True)
    assert started == []

    ahead.start_ahead([good], cwd=str(tmp_path))
    assert started == [[good["command"], *good["args"]]]


@pytest.mark.parametrize("what", ["NUL in an argument", "a name with =", "no such directory", "a relative directory"])
def test_errors_of_starting_ahead_are_ignored(what: str, tmp_path: Path) -> None:
    marked = Marked()
    server, cwd = marked.plain(), str(tmp_path)
    if what == "NUL in an argument":
        server["args"].append("a\0b")
    elif what == "a name with =":
        server["env"].append({"name": "A=B", "value": ""})
    else:
        cwd = str(tmp_path / "missing") if what == "no such directory" else "."

    ahead.start_ahead([server], cwd=cwd)

    assert ahead.take([server["command"], *server["args"]], cwd=cwd, env={}) is None
    assert marked.running() == []


def test_the_first_of_several_servers_of_one_name_is_started(tmp_path: Path, started: list[list[str]]) -> None:
    good = Marked().plain()
    other = {**good, "type": "stdio", "name": "other", "args": ["other"]}
    short = {"type": "stdio", "name": "short", "command": "/bin/cat", "env": good["env"]}

    ahead.start_ahead([good, {**good, "args": ["second"]}, other, short], cwd=str(tmp_path))
    assert [command[1:] for command in started] == [good["args"], ["other"], []]
