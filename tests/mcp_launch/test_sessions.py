"""Sessions on the three transports with real servers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import MCPError

import mcp_launch
from tests.mcp_launch.support import MARK, Marked, ask, http

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("R51", "R77")
async def test_a_stdio_server_gets_its_environment_and_the_session_directory(marked: Marked, tmp_path: Path) -> None:
    server = marked.echo(env={"COLOUR": "green"})

    async with mcp_launch.open_session(server, cwd=tmp_path) as session:
        assert await ask(session, "environment", name="COLOUR") == "green"
        assert await ask(session, "environment", name=MARK) == marked.mark
        assert await ask(session, "directory") == str(tmp_path.resolve())


@pytest.mark.requirement("R77")
async def test_a_stdio_server_does_not_inherit_unrelated_variables(
    marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOMEBODY_ELSES_KEY", "1234")
    monkeypatch.setenv("LC_TIME", "C")

    async with mcp_launch.open_session(marked.plain(), cwd=tmp_path) as session:
        environment = (await ask(session, "environment"))["env"]

    assert "SOMEBODY_ELSES_KEY" not in environment
    assert environment["LC_TIME"] == "C"


@pytest.mark.requirement("R81", "R82", "R85")
@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_headers_arrive_in_order_and_repeated(
    kind: str, marked: Marked, echo_urls: dict[str, str], tmp_path: Path
) -> None:
    server: dict[str, Any] = http(echo_urls[kind], kind=kind)
    server["headers"] = [
        {"name": "X-Key", "value": "one"},
        {"name": "Authorization", "value": "Bearer abc"},
        {"name": "X-Key", "value": "two"},
    ]

    async with mcp_launch.open_session(server, cwd=tmp_path) as session:
        arrived: list[list[str]] = await ask(session, "headers")

    assert [pair for pair in arrived if pair[0] in ("x-key", "authorization")] == [
        ["x-key", "one"],
        ["authorization", "Bearer abc"],
        ["x-key", "two"],
    ]


@pytest.mark.requirement("R86")
async def test_an_sse_server_is_announced_as_deprecated(
    marked: Marked, echo_urls: dict[str, str], tmp_path: Path
) -> None:
    async with mcp_launch.launch([http(echo_urls["sse"], kind="sse")], cwd=tmp_path) as fleet:
        assert [tool.name for tool in fleet["web"].tools] == ["environment", "directory", "headers"]
        assert any("the SSE transport is deprecated" in warning for warning in fleet["web"].warnings)


async def test_cancellation_ends_the_server_and_is_not_swallowed(marked: Marked, tmp_path: Path) -> None:
    with anyio.CancelScope() as scope:
        async with mcp_launch.open_session(marked.plain(), cwd=tmp_path):
            scope.cancel()
            await anyio.sleep_forever()

    assert scope.cancelled_caught
    assert marked.running() == []


@pytest.mark.parametrize("kind", ["stdio", "http", "sse"])
async def test_a_message_that_cannot_be_written_fails_its_call_and_not_the_session(
    kind: str, marked: Marked, echo_urls: dict[str, str], tmp_path: Path
) -> None:
    server = marked.plain() if kind == "stdio" else http(echo_urls[kind], kind=kind)

    async with mcp_launch.open_session(server, cwd=tmp_path) as session:
        with pytest.raises(MCPError, match="not sent: it contains a lone surrogate"):
            await ask(session, "environment", name="\ud83d")
        assert "environment" in [tool.name for tool in (await session.list_tools()).tools]


@pytest.mark.requirement("R50")
async def test_a_relative_cwd_is_refused(tmp_path: Path) -> None:
    with pytest.raises(mcp_launch.UnusableInput, match="absolute"):
        async with mcp_launch.launch([], cwd="."):
            pass
