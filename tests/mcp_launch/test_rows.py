"""Requirements of session setup for launchers that are not covered by other tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

import mcp_launch
from acp_bindings import decode, v1_unstable, v2, v2_unstable
from tests.mcp_launch.servers.web import Web, misbehaving_web
from tests.mcp_launch.support import SECRET, SERVERS, Marked, ask, http

pytestmark = pytest.mark.anyio

OWNED = {
    "accept": "text/plain",
    "CONTENT-TYPE": "text/plain",
    "Last-Event-ID": "7",
    "Mcp-Method": "mine",
    "Mcp-Name": "mine",
    "MCP-Protocol-Version": "mine",
    "Mcp-Session-Id": "mine",
}
"""Headers that the transport writes, in any case."""


@pytest.mark.requirement("R44")
async def test_each_session_has_its_own_servers(marked: Marked, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()

    async with mcp_launch.launch([marked.plain()], cwd=tmp_path / "one") as one:
        async with mcp_launch.launch([marked.plain()], cwd=tmp_path / "two") as two:
            running = marked.running()
            where = [(await ask(fleet["plain"].session, "environment"))["cwd"] for fleet in (one, two)]
        left = marked.running()

        assert where == [str(tmp_path / "one"), str(tmp_path / "two")]
        assert (len(running), len(left)) == (2, 1)
        assert (await ask(one["plain"].session, "environment"))["cwd"] == str(tmp_path / "one")


@pytest.mark.requirement("R51")
async def test_servers_run_in_the_directory_of_the_session(
    marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere, project = tmp_path / "elsewhere", tmp_path / "project"
    elsewhere.mkdir()
    project.mkdir()
    (project / "run").symlink_to(sys.executable)
    monkeypatch.chdir(elsewhere)
    relative = marked.stdio("relative", "./run", "-S", str(SERVERS / "plain.py"), "works")

    async with mcp_launch.launch([marked.plain(), relative], cwd=project) as fleet:
        where = [(await ask(server.session, "environment"))["cwd"] for server in fleet]

    assert where == [str(project)] * 2
    assert Path.cwd() == elsewhere


@pytest.mark.requirement("R70")
@pytest.mark.parametrize("transports", [set[Any](), {"http"}, {"sse"}])
async def test_stdio_is_always_allowed(transports: Any, marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.launch([marked.plain()], cwd=tmp_path, transports=transports) as fleet:
        assert fleet["plain"].state == "ready"


@pytest.mark.requirement("R82", "R85")
@pytest.mark.parametrize(
    ("kind", "path", "methods"), [("http", "works", {"POST", "GET", "DELETE"}), ("sse", "events", {"POST", "GET"})]
)
async def test_the_headers_go_with_every_request(
    *, kind: str, path: str, methods: set[str], web: Web, marked: Marked, tmp_path: Path
) -> None:
    server = http(f"{web.origin}/{path}", kind=kind, headers={"X-Key": "k"})

    async with mcp_launch.open_session(server, cwd=tmp_path) as session:
        await session.list_tools()
        with anyio.fail_after(10):
            while "GET" not in [method for method, _, _ in web.seen]:
                await anyio.sleep(0.01)

    assert {method for method, _, _ in web.seen} == methods
    assert [headers.get("X-Key") for _, _, headers in web.seen] == ["k"] * len(web.seen)


@pytest.mark.requirement("R82", "X9", "D17")
async def test_headers_of_the_transport_cannot_be_overridden(web: Web, marked: Marked, tmp_path: Path) -> None:
    server = http(f"{web.origin}/works", headers=OWNED)

    async with mcp_launch.launch([server], cwd=tmp_path) as fleet:
        warnings = fleet["web"].warnings

    sent = {(name.lower(), value) for _, _, headers in web.seen for name, value in headers.items()}
    assert not sent & {(name.lower(), value) for name, value in OWNED.items()}
    assert [warning.split('"')[1] for warning in warnings] == list(OWNED)


@pytest.mark.requirement("R85")
async def test_sse_messages_and_headers_never_go_to_another_origin(web: Web, marked: Marked, tmp_path: Path) -> None:
    with misbehaving_web() as other:
        server = http(f"{web.origin}/beside/{other.port}", kind="sse", headers={"X-Key": SECRET})
        async with mcp_launch.launch([server], cwd=tmp_path) as fleet:
            assert [server.state for server in fleet] == ["failed"]

        assert [method for method, _, _ in web.seen] == ["GET"]
        assert other.seen == []


@pytest.mark.requirement("R89")
async def test_all_servers_are_connected_to_at_once(marked: Marked, echo_urls: dict[str, str], tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    opens = ("-c", 'touch "$GATE"; exec "$@"', "sh", sys.executable, "-S", str(SERVERS / "plain.py"), "works")
    servers = [
        marked.plain("waits_at_gate", name="waits", env={"GATE": str(gate)}),
        marked.plain("exits_silently", name="bad"),
        http(echo_urls["http"]),
        http(echo_urls["sse"], kind="sse", name="old"),
        marked.stdio("opens", "/bin/sh", *opens, env={"GATE": str(gate)}),
    ]

    with anyio.fail_after(30):
        async with mcp_launch.launch(servers, cwd=tmp_path) as fleet:
            states = {server.name: server.state for server in fleet}

    assert states == {"waits": "ready", "bad": "failed", "web": "ready", "old": "ready", "opens": "ready"}


@pytest.mark.requirement("X10")
async def test_servers_of_an_earlier_request_are_not_reused(marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.launch([marked.plain(name="before")], cwd=tmp_path) as fleet:
        assert [server.name for server in fleet] == ["before"]

    async with mcp_launch.launch([], cwd=tmp_path) as fleet:
        assert list(fleet) == []
        assert marked.running() == []


@pytest.mark.requirement("X2")
async def test_all_servers_end_with_their_session(marked: Marked, echo_urls: dict[str, str], tmp_path: Path) -> None:
    servers = [marked.plain(), marked.plain("leaves_child", name="parent"), http(echo_urls["http"])]

    async with mcp_launch.launch(servers, cwd=tmp_path) as fleet:
        assert [server.state for server in fleet] == ["ready"] * 3
        assert len(marked.running()) >= 2

    assert [server.state for server in fleet] == ["closed"] * 3
    assert marked.running() == []


@pytest.mark.requirement("X13")
@pytest.mark.parametrize("protocol", [v1_unstable, v2, v2_unstable])
async def test_a_server_over_acp_is_reported_and_not_launched(protocol: Any, marked: Marked, tmp_path: Path) -> None:
    server = decode(protocol.McpServer, {"type": "acp", "name": "inner", "serverId": "s1"})

    async with mcp_launch.launch([server, marked.plain()], cwd=tmp_path) as fleet:
        assert [server.state for server in fleet] == ["failed", "ready"]
        failure = fleet["inner"].failure

    assert failure is not None
    assert (failure.stage, failure.code, failure.facts) == ("spec", "unsupported_transport", {"type": "acp"})
