"""Advice uses the phrases of the options if it depends on how servers are configured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mcp_launch
from mcp_launch import Budgets, Options
from mcp_launch.failures import Phrases
from tests.mcp_launch.servers.web import Web
from tests.mcp_launch.support import Marked, http

pytestmark = pytest.mark.anyio

SHORT = Budgets(connect=2.0, handshake=2.0, list=0.5, close=0.5)


def servers_of(web: Web, marked: Marked) -> list[dict[str, Any]]:
    """An example for each place where phrases are used."""
    return [
        http(f"{web.origin}/works", kind="sse", name="of the new transport"),
        http(f"{web.origin}/sse", name="of the old transport"),
        http(f"{web.origin}/never", name="without an answer"),
        http(f"{web.origin}/silent", name="with an empty stream"),
        http(f"{web.origin}/nowhere/{web.origin.removeprefix('http://')}/202", kind="sse", name="with an endpoint"),
        marked.plain("mute", name="mute"),
        marked.plain("hangs_at_list", name="without a list"),
    ]


NEW, OLD = "this URL speaks Streamable HTTP: ", "this URL speaks the deprecated SSE transport: "


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Options(), ('set "type" to "http"', 'set "type" to "sse"', "does it need more time")),
        (
            Options(phrases=Phrases(http="drop -o", sse="add -o", longer="more time (-t)")),
            ("drop -o", "add -o", "more time (-t)"),
        ),
    ],
    ids=["usual", "others"],
)
async def test_advice_uses_the_given_phrases(
    options: Options, words: tuple[str, str, str], web: Web, marked: Marked, tmp_path: Path
) -> None:
    servers = servers_of(web, marked)

    async with mcp_launch.launch(servers, cwd=tmp_path, budgets=SHORT, options=options) as fleet:
        told = {failure.server: failure.message for failure in fleet.failures}

    to_http, to_sse, longer = words
    ends = {
        "of the new transport": NEW + to_http,
        "of the old transport": OLD + to_sse,
        "without an answer": f" s; {longer}?",
        "with an empty stream": f" s; {longer}?",
        "with an endpoint": f" s; {longer}?",
        "mute": f"; {longer}, or an argument to speak MCP on stdio?",
        "without a list": f"; {longer}?",
    }
    assert {name: message[-len(ends[name]) :] for name, message in told.items()} == ends
