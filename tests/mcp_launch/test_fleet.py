"""Many servers at once, each with its own outcome."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp_types import REQUEST_TIMEOUT

import mcp_launch
from acp_bindings.v1 import McpServerStdio, NewSessionRequest
from mcp_launch import Budgets, LaunchFailure, UnknownTool, UnusableInput
from tests.mcp_launch.support import SECRET, Marked, http

pytestmark = pytest.mark.anyio

SHORT = Budgets(handshake=1.0, close=0.4)


@pytest.mark.requirement("R69", "R89")
async def test_invalid_entries_are_failures_in_their_position(marked: Marked, tmp_path: Path) -> None:
    servers: list[Any] = [
        marked.plain(),
        {"name": "no-env", "command": "/bin/true", "args": []},
        "not even an object",
        {"type": "carrier-pigeon", "name": "pigeon"},
        {"type": "http", "name": "http-with-command", "command": "/bin/true", "args": [], "env": []},
        marked.plain(),
        McpServerStdio(name="no-json", command="/bin/true", args=[], env=[], meta={"x": object()}),
    ]

    async with mcp_launch.launch(servers, cwd=tmp_path) as fleet:
        found = [(server.name, server.failure and server.failure.code) for server in fleet]

    assert found == [
        ("plain", None),
        ("no-env", "invalid_spec"),
        ("mcpServers[2]", "invalid_spec"),
        ("pigeon", "unsupported_transport"),
        ("http-with-command", "invalid_spec"),
        ("plain", "duplicate_name"),
        ("no-json", "invalid_spec"),
    ]
    assert all(server.failure is None or server.failure.stage == "spec" for server in fleet)


@pytest.mark.parametrize(
    "raised",
    [ValueError("mine"), ExceptionGroup("mine", [ValueError()]), SystemExit(3), KeyboardInterrupt()],
    ids=lambda raised: type(raised).__name__,
)
async def test_exceptions_of_the_block_are_raised_unchanged_after_closing(
    raised: BaseException, marked: Marked, tmp_path: Path
) -> None:
    with pytest.raises(type(raised)) as caught:
        async with mcp_launch.launch([marked.plain()], cwd=tmp_path):
            raise raised

    assert caught.value is raised
    assert marked.running() == []


@pytest.mark.requirement("R91")
async def test_the_report_is_json_without_secrets(marked: Marked, echo_urls: dict[str, str], tmp_path: Path) -> None:
    url = echo_urls["http"].replace("http://", f"http://user:{SECRET}@") + f"?key={SECRET}"
    servers = [marked.plain(), http(url, headers={"X-Key": SECRET}), marked.plain("exits_with_message", name="bad")]

    async with mcp_launch.launch(servers, cwd=tmp_path) as fleet:
        report = fleet.report

    assert json.loads(json.dumps(report)) == report
    assert SECRET not in json.dumps(report) + repr(fleet) + repr(fleet.servers)
    plain, web, bad = report["servers"]
    assert (plain["transport"], plain["server"], plain["tools"]) == (
        "stdio",
        {"name": "plain", "version": "1"},
        [{"name": "environment", "description": None}],
    )
    assert (web["target"], web["state"], len(web["tools"] or [])) == (echo_urls["http"], "ready", 3)
    assert bad["failure"] is not None
    assert (report["ok"], bad["failure"]["code"]) == (False, "exited")


async def test_a_failed_server_raises_its_failure_instead_of_a_session(marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.launch([marked.plain("exits_silently")], cwd=tmp_path) as fleet:
        with pytest.raises(LaunchFailure) as raised:
            _ = fleet["plain"].session
        assert raised.value is fleet["plain"].failure
        with pytest.raises(LaunchFailure) as again:
            _ = fleet["plain"].session
        # What earlier raises left on it would keep their frames alive.
        assert len(again.traceback) == 2


async def test_an_empty_list_is_a_fleet(tmp_path: Path) -> None:
    async with mcp_launch.launch(None, cwd=tmp_path) as fleet:
        assert (len(fleet), fleet.report) == (0, {"ok": True, "servers": []})
        assert "plain" not in fleet
        with pytest.raises(KeyError):
            _ = fleet["plain"]


@pytest.mark.parametrize("servers", ["[]", {"mcpServers": []}, 0, False, NewSessionRequest(cwd="/", mcp_servers=[])])
async def test_servers_that_are_not_a_list_are_refused(servers: object, tmp_path: Path) -> None:
    with pytest.raises(UnusableInput, match="must be an array"):
        async with mcp_launch.launch(servers, cwd=tmp_path):  # pyright: ignore[reportArgumentType]
            pass


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ({"policy": "ALL"}, 'policy must be "best effort" or "all", not "ALL"'),
        ({"required": "ab"}, 'required must be a collection of names such as {"ab"}, not "ab"'),
        ({"transports": "http"}, 'transports must be a collection of names such as {"http"}, not "http"'),
        ({"lists": "tools"}, 'lists must be a collection of names such as {"tools"}, not "tools"'),
        ({"lists": ["nope"]}, r'lists can only contain tools, resources, prompts, not "nope"'),
        ({"lists": [["tools"]]}, r"lists can only contain tools, resources, prompts, not \['tools'\]"),
        ({"transports": {"https"}}, r'transports can only contain stdio, http, sse, not "https"'),
        ({"policy": ["all"]}, r"policy must be \"best effort\" or \"all\", not \['all'\]"),
    ],
)
async def test_unknown_names_and_strings_for_collections_are_refused(argument: Any, says: str, tmp_path: Path) -> None:
    with pytest.raises(UnusableInput, match=rf"^{says}$"):
        async with mcp_launch.launch([], cwd=tmp_path, **argument):
            pass


async def test_tools_are_called_by_their_names_in_the_catalogue(
    marked: Marked, echo_urls: dict[str, str], tmp_path: Path
) -> None:
    servers = [marked.plain(), marked.plain(name="plain too"), http(echo_urls["http"]), marked.plain("mute", name="x")]

    async with mcp_launch.launch(servers, cwd=tmp_path, budgets=SHORT) as fleet:
        names = {entry.name: (entry.server, entry.tool.name) for entry in fleet.catalogue}
        assert list(names.values())[:3] == [
            ("plain", "environment"),
            ("plain too", "environment"),
            ("web", "environment"),
        ]
        other = next(name for name, (server, _) in names.items() if server == "plain too")
        pids = [await _pid(fleet, name) for name in ("plain__environment", other)]
        assert len({*pids, *marked.running()}) == 2
        with pytest.raises(UnknownTool, match='unknown tool "environment"; did you mean "plain__environment"'):
            await fleet.call_tool("environment")

        fleet.add(marked.plain(name="late"))
        await fleet.settled()
        assert await _pid(fleet, "late__environment") in marked.running()
        await fleet.remove("plain")
        with pytest.raises(UnknownTool):
            await fleet.call_tool("plain__environment")


@pytest.mark.parametrize(
    ("server", "tool"), [("nope", "nope__add"), ("my café", "my_cafe__add__pqiomsj4"), ("nope", "nope__")]
)
async def test_an_unknown_tool_of_a_failed_server_is_explained_by_its_failure(
    tmp_path: Path, server: str, tool: str
) -> None:
    entry: dict[str, Any] = {"name": server, "command": str(tmp_path / "missing"), "args": [], "env": []}

    async with mcp_launch.launch([entry], cwd=tmp_path) as fleet:
        failure = fleet[server].failure
        with pytest.raises(UnknownTool) as caught:
            await fleet.call_tool(tool)
        assert caught.value.failure is failure
        assert str(caught.value) == f'unknown tool "{tool}", because its server failed: {failure}'

        with pytest.raises(UnknownTool, match=r'unknown tool "other__add"$'):
            await fleet.call_tool("other__add")


async def test_a_second_server_of_one_name_does_not_explain_an_unknown_tool(marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.launch([marked.plain(), marked.plain()], cwd=tmp_path) as fleet:
        with pytest.raises(UnknownTool) as caught:
            await fleet.call_tool("plain__missing")
        assert caught.value.failure is None


async def test_a_call_can_set_its_own_timeout(marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.launch([marked.plain("hangs_at_call")], cwd=tmp_path) as fleet:
        with anyio.fail_after(10), pytest.raises(MCPError) as raised:
            await fleet.call_tool("plain__environment", timeout=0.1)

    assert raised.value.code == REQUEST_TIMEOUT


async def _pid(fleet: mcp_launch.Fleet, tool: str) -> int:
    content = (await fleet.call_tool(tool)).content[0]
    pid: int = json.loads(getattr(content, "text", ""))["pid"]
    return pid
