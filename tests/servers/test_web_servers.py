"""Failures of servers with a URL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError

import mcp_launch
from tests.mcp_launch.support import Marked, ask, http
from tests.servers.installed import WebServer

pytestmark = [
    pytest.mark.anyio,
    # See test_everything.
    pytest.mark.filterwarnings("ignore:Exception ignored in. <async_generator:pytest.PytestUnraisableExceptionWarning"),
]


@pytest.mark.parametrize(("given", "spoken"), [("http", "sse"), ("sse", "http")])
async def test_a_url_of_the_other_transport_is_reported(
    marked: Marked, web_servers: dict[str, dict[str, Any]], tmp_path: Path, given: str, spoken: str
) -> None:
    server = web_servers[spoken] | {"type": given}

    with anyio.fail_after(30):
        async with mcp_launch.launch([server], cwd=tmp_path) as fleet:
            failure = fleet["everything"].failure

    assert failure
    assert (failure.code, failure.stage) == ("wrong_transport", "connect")
    assert f'set "type" to "{spoken}"' in str(failure)


async def test_a_wrong_path_is_reported(marked: Marked, web_servers: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    server = http(web_servers["http"]["url"].replace("/mcp", "/api"))

    with anyio.fail_after(30):
        async with mcp_launch.launch([server], cwd=tmp_path) as fleet:
            failure = fleet["web"].failure

    assert failure
    assert (failure.code, failure.facts["status"]) == ("not_found", 404)


async def test_a_stopped_server_is_reported_by_the_next_call(marked: Marked, tmp_path: Path) -> None:
    with WebServer("http") as server, anyio.fail_after(30):
        async with mcp_launch.open_session(server.spec, cwd=tmp_path) as session:
            assert await ask(session, "echo", message="here") == "Echo: here"
            server.kill()
            with pytest.raises(MCPError, match="does not accept connections; is the server running"):
                await session.call_tool("echo", {"message": "gone"})


async def test_a_server_whose_event_stream_breaks_off_has_failed(marked: Marked, tmp_path: Path) -> None:
    with WebServer("sse") as server, anyio.fail_after(30):
        async with mcp_launch.launch([server.spec], cwd=tmp_path) as fleet:
            server.kill()
            while fleet["everything"].failure is None:
                await anyio.lowlevel.checkpoint()
            failure = fleet["everything"].failure

    assert (failure.code, failure.stage) == ("disconnected", "call")


async def test_a_restarted_server_has_lost_the_session(marked: Marked, tmp_path: Path) -> None:
    with WebServer("http") as server, anyio.fail_after(30):
        async with mcp_launch.launch([server.spec], cwd=tmp_path) as fleet:
            server.kill()
            with WebServer("http", port=server.port), pytest.raises(MCPError, match="no longer has this session"):
                await fleet["everything"].session.call_tool("echo", {"message": "who?"})
            while fleet["everything"].failure is None:
                await anyio.lowlevel.checkpoint()
            failure = fleet["everything"].failure

    assert (failure.code, failure.facts["status"]) == ("session_lost", 400)
