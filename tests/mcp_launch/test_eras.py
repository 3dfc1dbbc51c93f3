"""The choice of the MCP era, also for servers that ignore the probe or respond to it late."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import MCPError
from mcp_types import UNSUPPORTED_PROTOCOL_VERSION

import mcp_launch
from mcp_launch import Budgets, Options
from mcp_launch._transports.era import Probe
from tests.mcp_launch.servers.raw import Request, head, raw_server, reply, works
from tests.mcp_launch.support import SERVERS, Marked, http

pytestmark = pytest.mark.anyio

PROBE = Budgets(probe=0.2, close=1.0)
LATE = 3 * PROBE.probe


async def era_of(server: dict[str, Any], *, cwd: Path, options: Options | None = None) -> str | None:
    """Return the era of a working server, which must be known in half of the time that the SDK waits for a response."""
    with anyio.fail_after(5):
        async with mcp_launch.launch([server], cwd=cwd, budgets=PROBE, options=options) as fleet:
            assert fleet.failures == []
            return fleet.report["servers"][0]["era"]


def modern(request: Request) -> bytes:
    """Return the response of a server without a handshake."""
    if request.method != "POST" or "id" not in request.message:
        return reply(202 if request.method == "POST" else 405)
    whole = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    results: dict[str, Any] = {
        "server/discover": {**whole, "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
        "tools/list": {**whole, "tools": []},
    }
    found = results.get(request.asks)
    told = {"error": {"code": -32601, "message": "Method not found"}} if found is None else {"result": found}
    body = json.dumps({"jsonrpc": "2.0", "id": request.message["id"], **told})
    return reply(404 if found is None else 200, body.encode())


async def test_an_empty_event_stream_for_the_probe_may_end(marked: Marked, tmp_path: Path) -> None:
    closed = threading.Event()

    def streams(request: Request) -> Iterator[bytes]:
        if request.asks != "server/discover":
            yield works(request)
            return
        try:
            yield head(content_type="text/event-stream")
            while not request.released.wait(0.01):
                yield b": wait\n\n"
        finally:
            closed.set()

    with raw_server(streams) as raw, anyio.fail_after(5):
        async with mcp_launch.open_session(http(f"{raw.origin}/mcp"), cwd=tmp_path, budgets=PROBE) as session:
            assert session.protocol_version == "2025-06-18"
            while not closed.is_set():
                await anyio.sleep(0.01)


async def test_a_slow_url_may_support_only_the_newer_era(marked: Marked, tmp_path: Path) -> None:
    def late(request: Request) -> Iterator[bytes]:
        request.released.wait(LATE)
        yield modern(request)

    with raw_server(late) as raw:
        assert await era_of(http(f"{raw.origin}/mcp"), cwd=tmp_path) == "2026-07-28"


@pytest.mark.parametrize("sdk_waits", [10.0, PROBE.probe])
async def test_a_login_does_not_count_against_the_probe(
    sdk_waits: float, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The seconds that the SDK itself has for the probe, which a person at a browser needs more of.
    monkeypatch.setattr("mcp.client.session.DISCOVER_TIMEOUT_SECONDS", sdk_waits)

    class Login(httpx2.Auth):
        async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
            response = yield request
            if response.status_code == 401:
                # The user enters a password.
                await anyio.sleep(LATE)
                request.headers["Authorization"] = "Bearer token-of-the-login"
                yield request

    def asks_for_login(request: Request) -> Iterator[bytes]:
        yield modern(request) if "authorization" in request.headers else reply(401)

    with raw_server(asks_for_login) as raw:
        era = await era_of(http(f"{raw.origin}/mcp"), cwd=tmp_path, options=Options(auth=Login()))
        asked = [request.asks for request in raw.seen]

    assert (era, asked[:2]) == ("2026-07-28", ["server/discover"] * 2)


@pytest.mark.parametrize("late", [{"supportedVersions": ["2025-11-25"]}, MCPError(-32601, "Method not found")])
async def test_a_late_response_to_the_probe_does_not_end_the_handshake(late: dict[str, Any] | MCPError) -> None:
    probe, is_late = Probe(seconds=0.05, was_read=lambda: True), anyio.Event()

    async def discover() -> dict[str, Any]:
        await is_late.wait()
        if isinstance(late, MCPError):
            raise late
        return late

    async def initialize() -> str:
        is_late.set()
        await anyio.wait_all_tasks_blocked()
        return "initialized"

    async with anyio.create_task_group() as tasks:
        with pytest.raises(MCPError, match="not answered in time"):
            await probe.discover(discover, tasks=tasks)
        assert await probe.initialize(initialize) == "initialized"


@pytest.mark.parametrize("is_early", [True, False])
async def test_a_late_response_to_the_probe_counts_if_the_handshake_gets_none(*, is_early: bool) -> None:
    probe, is_late = Probe(seconds=0.05, was_read=lambda: True), anyio.Event()
    found = {"supportedVersions": ["2026-07-28"]}

    async def discover() -> dict[str, Any]:
        await is_late.wait()
        return found

    async def initialize() -> None:
        is_late.set()
        await anyio.sleep_forever()

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            with pytest.raises(MCPError, match="not answered in time"):
                await probe.discover(discover, tasks=tasks)
            if is_early:
                is_late.set()
                await anyio.wait_all_tasks_blocked()
            with pytest.raises(MCPError, match="initialize was not answered") as raised:
                await probe.initialize(initialize)
            assert raised.value.code == UNSUPPORTED_PROTOCOL_VERSION
            assert await probe.discover(discover, tasks=tasks) == found


async def test_a_slow_start_may_support_only_the_newer_era(
    marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp.client.session.DISCOVER_TIMEOUT_SECONDS", 0.1)
    server = marked.stdio("odd", sys.executable, "-S", str(SERVERS / "odd.py"), "starts_slowly_and_ignores_handshake")

    assert await era_of(server, cwd=tmp_path) == "2026-07-28"


@pytest.mark.parametrize(
    "script",
    [
        "cat | {odd} starts_slowly_and_knows_2026_alone",
        "read -r lost; exec {odd} knows_2026_alone",
        # It is still starting when its input has been read already, so that its response is late.
        "cat | {odd} starts_slowly_and_ignores_handshake",
    ],
    ids=["buffers its input", "lost the probe", "responds late"],
)
async def test_a_program_that_supports_only_the_newer_era_is_probed_again(
    script: str, marked: Marked, tmp_path: Path
) -> None:
    command = script.format(odd=f"{sys.executable} -S {SERVERS / 'odd.py'}")

    assert await era_of(marked.stdio("odd", "/bin/sh", "-c", command), cwd=tmp_path) == "2026-07-28"


@pytest.mark.parametrize(
    ("mode", "options", "told"),
    [
        (
            "opens_once",
            None,
            "failed when it was probed for MCP 2026-07-28; it was started again without the probe",
        ),
        # The failure without the probe is the one to report.
        ("opens_once_and_exits", None, "exited"),
        ("opens_once_and_exits", Options(mode="legacy"), "exited"),
    ],
)
async def test_a_server_that_takes_the_probe_for_the_handshake_is_started_again_without_it(
    mode: str, options: Options | None, told: str, marked: Marked, tmp_path: Path
) -> None:
    server = marked.stdio("odd", sys.executable, "-S", str(SERVERS / "odd.py"), mode)

    async with mcp_launch.launch([server], cwd=tmp_path, options=options, budgets=Budgets(close=1.0)) as fleet:
        assert [*fleet["odd"].warnings, *(failure.code for failure in fleet.failures)] == [told]

    assert len((tmp_path / "starts").read_text()) == (1 if options else 2)


async def test_a_refused_handshake_after_a_lost_probe_is_reported(marked: Marked, tmp_path: Path) -> None:
    server = marked.plain("swallows_probe_and_rejects")

    with anyio.fail_after(5):
        async with mcp_launch.launch([server], cwd=tmp_path, budgets=PROBE) as fleet:
            [failure] = fleet.failures

    assert (failure.stage, failure.code) == ("handshake", "rejected")
    assert failure.facts["jsonrpc_error"]["code"] == -32603
