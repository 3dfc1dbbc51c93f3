"""The traffic callback gets redacted messages over each transport."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import pytest

import mcp_launch
from tests.mcp_launch.support import SECRET, Marked, ask, bad_web_server, http

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def bad_web() -> Generator[str]:
    with bad_web_server() as origin:
        yield origin


class Seen:
    """The messages shown for each server."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, str]] = []

    def __call__(self, server: str, direction: str, line: str) -> None:
        self.lines.append((server, direction, line))

    def messages(self, direction: str) -> list[Any]:
        return [json.loads(line) for _, each, line in self.lines if each == direction]


@pytest.mark.parametrize("kind", ["stdio", "http", "sse"])
async def test_every_request_and_every_response_is_shown(
    kind: str, marked: Marked, echo_urls: dict[str, str], tmp_path: Path
) -> None:
    seen = Seen()
    server = marked.echo() if kind == "stdio" else http(echo_urls[kind], kind=kind)
    options = mcp_launch.Options(traffic=seen)

    with anyio.fail_after(20):
        async with mcp_launch.launch([server], cwd=tmp_path, options=options) as fleet:
            answer = await ask(fleet.servers[0].session, "directory")

    assert {name for name, _, _ in seen.lines} == {server["name"]}
    asked = {each["id"]: each["method"] for each in seen.messages("sent") if "id" in each}
    answered = [each["id"] for each in seen.messages("received") if "id" in each]
    assert [method for method in asked.values() if method.startswith("tools/")] == ["tools/list", "tools/call"]
    assert sorted(answered) == sorted(asked)
    assert any(json.dumps(answer) in line for _, direction, line in seen.lines if direction == "received")


async def test_traffic_does_not_show_secrets(marked: Marked, tmp_path: Path) -> None:
    seen = Seen()
    server = marked.plain(env={"ECHO": "1"})

    with anyio.fail_after(20):
        async with mcp_launch.launch([server], cwd=tmp_path, options=mcp_launch.Options(traffic=seen)) as fleet:
            await ask(fleet["plain"].session, "environment")

    text = "\n".join(line for _, _, line in seen.lines)
    assert "[redacted]" in text
    assert SECRET not in text


@pytest.mark.parametrize(
    ("kind", "path", "said"),
    [
        ("http", "html", []),
        ("http", "notjson", []),
        ("http", "notrpc", []),
        ("http", "ends", []),
        ("http", "404", []),
        ("http", "drop", []),
        ("http", "refuses", ["no"]),
        ("sse", "html", []),
    ],
)
async def test_traffic_of_a_url_shows_each_message_once(
    kind: str, path: str, said: list[str], bad_web: str, tmp_path: Path
) -> None:
    seen = Seen()

    with anyio.fail_after(20):
        async with mcp_launch.launch(
            [http(f"{bad_web}/{path}", kind=kind)], cwd=tmp_path, options=mcp_launch.Options(traffic=seen)
        ) as fleet:
            assert fleet.failures

    assert list(dict.fromkeys(each["error"]["message"] for each in seen.messages("received"))) == said


@pytest.mark.parametrize("code", ["exit 3", "read line; exit 3", "exec cat >/dev/null"])
async def test_a_silent_process_has_no_received_traffic(code: str, marked: Marked, tmp_path: Path) -> None:
    seen = Seen()
    options = mcp_launch.Options(traffic=seen)

    with anyio.fail_after(20):
        async with mcp_launch.launch(
            [marked.stdio("mute", "/bin/sh", "-c", code)], cwd=tmp_path, timeout=2, options=options
        ) as fleet:
            assert fleet.failures

    assert seen.messages("received") == []


@pytest.mark.parametrize("direction", ["sent", "received"])
async def test_a_raising_traffic_callback_is_not_called_again(direction: str, marked: Marked, tmp_path: Path) -> None:
    calls: list[str] = []

    def listen(_server: str, each: str, line: str) -> None:
        if each == direction:
            calls.append(line)
            raise ZeroDivisionError

    options = mcp_launch.Options(traffic=listen)
    with anyio.fail_after(20):
        async with mcp_launch.launch([marked.plain()], cwd=tmp_path, options=options) as fleet:
            assert (await ask(fleet["plain"].session, "environment"))["cwd"] == str(tmp_path)

    assert len(calls) == 1
    assert fleet["plain"].warnings == ["the traffic callback raised ZeroDivisionError and is not called again"]
