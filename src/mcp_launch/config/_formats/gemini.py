"""Gemini CLI: `mcpServers` in `settings.json`, JSON with comments; `httpUrl` is Streamable HTTP, `url` is SSE.

`$VAR` and `${VAR}` are replaced in every text, and stay as they are where nothing is set. `mcp.excluded` and
`mcp.allowed` say which servers are not started. Source: `docs/tools/mcp-server.md` and `envVarResolver.ts` of its
repository.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mcp_launch._json_values import as_members, texts
from mcp_launch.config import _references as variables
from mcp_launch.config._formats.format import MEMBERS, Draft, Reading, Writing
from mcp_launch.config._formats.map import MapFormat
from mcp_launch.failures import Phrases


class Gemini(MapFormat):
    """A map format with lists of the servers to start and not to start."""

    name = "gemini"
    title = "Gemini CLI"
    grammar = "json with comments"
    syntax = variables.GEMINI
    urls = {"httpUrl": "http", "url": "sse"}  # noqa: RUF012 - a Mapping is not written to
    phrases = Phrases(
        http='call the URL "httpUrl"',
        sse='call the URL "url"',
        needs='a "command", an "httpUrl" or a "url"',
        urls=(("http", "httpUrl"), ("sse", "url")),
    )
    cwd = "cwd"
    timeout = ("timeout", 0.001)
    disables_apart = True
    others = frozenset({"trust", "description", "includeTools", "excludeTools", "extensionName", "oauth"})
    unread = frozenset({"tcp", "authProviderType", "targetAudience", "targetServiceAccount"})
    expands = frozenset({*MEMBERS, "httpUrl", "cwd"})

    def read(self, reading: Reading) -> Iterator[Draft]:
        lists = as_members(as_members(reading.document.value).get("mcp"))
        excluded = set(texts(lists.get("excluded")))
        allowed = set(texts(lists.get("allowed")))
        for draft in super().read(reading):
            draft.disabled = draft.name in excluded or (bool(allowed) and draft.name not in allowed)
            yield draft

    def transport(self, raw: Mapping[str, Any]) -> Any:
        return "http" if "httpUrl" in raw else super().transport(raw)

    def write_file(self, servers: dict[str, Any], writing: Writing) -> dict[str, Any]:
        file = super().write_file(servers, writing)
        if off := [entry.name for entry in writing.config.entries if entry.disabled and entry.name in servers]:
            file = {"mcp": {"excluded": off}, **file}
        return file


FORMAT = Gemini()
