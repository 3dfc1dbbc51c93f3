"""The content of a report, and its schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import mcp_launch
from mcp_launch.options import EVERYTHING
from tests.mcp_launch.support import SECRET, Marked, http, scripted

pytestmark = pytest.mark.anyio


async def test_every_report_matches_its_schema(marked: Marked, echo_urls: dict[str, str], tmp_path: Path) -> None:
    validator = jsonschema_rs.validator_for(_closed(mcp_launch.report_schema()))
    servers = [marked.plain(), http(echo_urls["http"]), marked.plain("exits_silently", name="bad"), {"name": "broken"}]

    async with mcp_launch.launch(servers, cwd=tmp_path, background=True, lists=EVERYTHING) as fleet:
        reports: list[Any] = [fleet.report]
        await fleet.settled()
        reports.append(fleet.report)
    reports.append(fleet.report)

    assert [list(validator.iter_errors(report)) for report in reports] == [[], [], []]
    assert [[server["state"] for server in report["servers"]] for report in reports] == [
        ["starting", "starting", "starting", "failed"],
        ["ready", "ready", "failed", "failed"],
        ["closed", "closed", "failed", "failed"],
    ]


async def test_tool_names_and_descriptions_are_redacted(marked: Marked, tmp_path: Path) -> None:
    tool = {"name": f"get_{SECRET}", "description": f"Get {SECRET}.", "inputSchema": {"type": "object"}}

    async with mcp_launch.launch([marked.stdio("s", *scripted(tmp_path, tools=[tool]))], cwd=tmp_path) as fleet:
        assert fleet.report["servers"][0]["tools"] == [{"name": "get_[redacted]", "description": "Get [redacted]."}]


async def test_a_report_describes_the_servers_and_what_they_offer(
    marked: Marked, echo_urls: dict[str, str], tmp_path: Path
) -> None:
    servers = [marked.plain(), http(echo_urls["http"])]

    async with mcp_launch.launch(servers, cwd=tmp_path, lists=EVERYTHING) as fleet:
        plain, web = fleet.report["servers"]

    assert (plain["era"], plain["protocol_version"], plain["stage"]) == ("handshake", "2025-06-18", "call")
    assert plain["capabilities"] == {"tools": {}}
    assert plain["counts"] == {"tools": 1, "resources": 0, "resource_templates": 0, "prompts": 0}
    assert list(plain["seconds"]) == ["spawn", "handshake", "list"]
    assert (web["era"], web["protocol_version"]) == ("2026-07-28", "2026-07-28")
    assert web["counts"] == {"tools": len(web["tools"] or ()), "resources": 1, "resource_templates": 0, "prompts": 1}
    assert list(web["seconds"]) == ["connect", "handshake", "list"]


async def test_a_failed_server_is_in_the_stage_that_its_failure_names(
    marked: Marked, echo_urls: dict[str, str], tmp_path: Path
) -> None:
    servers = [
        http(echo_urls["http"].replace("127.0.0.1", "no-such-host.invalid")),
        http("http://a:b", name="none"),
        marked.plain("dies_at_list", name="late"),
    ]

    async with mcp_launch.launch(servers, cwd=tmp_path) as fleet:
        failures, found = fleet.failures, fleet.report["servers"]
        changes = fleet.changes()
        last = [(await anext(changes)).stage for _ in servers]

    assert [failure.stage for failure in failures] == ["connect", "spec", "list"]
    assert [each["stage"] for each in found] == last == ["connect", "spec", "list"]
    assert [list(each["seconds"]) for each in found] == [[], [], ["spawn", "handshake"]]


async def test_only_requested_lists_are_fetched(marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.launch([marked.plain()], cwd=tmp_path, lists=()) as fleet:
        report = fleet.report["servers"][0]
        assert (fleet["plain"].tools, fleet["plain"].resources, fleet["plain"].prompts) == ([], [], [])

    assert (report["counts"], report["tools"], list(report["seconds"])) == ({}, None, ["spawn", "handshake"])


@pytest.mark.parametrize(
    ("mode", "warning"),
    [
        ("refuses_resources", 'could not list its resources: "no database"'),
        ("denies_resources", 'could not list its resources: "not for you"'),
        ("garbles_resources", "could not list its resources: sent a response that is not valid MCP: resources/0/name"),
        ("hangs_at_resources", "did not list its resources and prompts within 0.5 s"),
    ],
)
async def test_a_server_that_cannot_list_its_resources_is_ready_with_a_warning(
    mode: str, warning: str, marked: Marked, tmp_path: Path
) -> None:
    budgets = mcp_launch.Budgets(list=1.0)

    async with mcp_launch.launch([marked.plain(mode)], cwd=tmp_path, budgets=budgets, lists=EVERYTHING) as fleet:
        plain = fleet["plain"]
        assert (plain.state, [tool.name for tool in plain.tools]) == ("ready", ["environment"])
        assert any(each.startswith(warning) for each in plain.warnings)
        assert "resources" not in fleet.report["servers"][0]["counts"]


async def test_a_server_that_dies_while_it_lists_has_failed(marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.launch([marked.plain("dies_at_prompts")], cwd=tmp_path, lists=EVERYTHING) as fleet:
        [failure] = fleet.failures

    assert (failure.stage, failure.code, failure.facts["exit_code"]) == ("list", "exited", 1)


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without additional members."""
    for each in (schema, *schema["$defs"].values()):
        each.setdefault("additionalProperties", False)
    return schema
