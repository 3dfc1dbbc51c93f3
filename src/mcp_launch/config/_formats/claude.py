"""The formats of Claude Code and Claude Desktop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mcp_launch._json_values import as_members, texts
from mcp_launch.config import _references as variables
from mcp_launch.config._entries import Entry
from mcp_launch.config._formats.format import EntryReading, Reading
from mcp_launch.config._formats.map import OF_CLIENTS, MapFormat


class ClaudeCode(MapFormat):
    """Claude Code: `.mcp.json` of a project, and `~/.claude.json`, with servers of the user and of each project.

    `${VAR}` and `${VAR:-default}` are replaced in command, args, env, url and headers; a bare `$VAR` is not. Source:
    "Connect Claude Code to tools via MCP" in its documentation. What users measured about variables, and about a URL
    without a type, is in https://github.com/excalidraw/excalidraw-mcp/issues/64.
    """

    name = "claude-code"
    title = "Claude Code"
    syntax = variables.CLAUDE_CODE
    types = {"stdio": "stdio", "http": "http", "sse": "sse"}  # noqa: RUF012 - a Mapping is not written to
    needs_type = True
    timeout = ("timeout", 0.001)
    others = frozenset({"oauth", "alwaysLoad"})
    unread = frozenset({"headersHelper"})

    def read(self, reading: Reading) -> Iterator[Entry]:
        value = as_members(reading.document.value)
        if "projects" not in value:
            yield from super().read(reading)
            return
        projects = as_members(value["projects"])
        # As in Claude Code, a project's server replaces the user's with the same name.
        project = as_members(projects.get(reading.values.workspace or ""))
        off = set(texts(project.get("disabledMcpServers")))
        path = ("projects", reading.values.workspace or "")
        own = as_members(project.get("mcpServers"))
        everywhere = as_members(value.get("mcpServers"))
        for servers, at in ((own, (*path, "mcpServers")), (everywhere, ("mcpServers",))):
            for entry in self.read_map(servers, at, reading):
                if servers is own or entry.name not in own:
                    yield entry._replace(disabled=entry.name in off)
        for name, other in projects.items() if reading.values.workspace is None else ():
            if there := as_members(as_members(other).get("mcpServers")):
                message = f"the servers of this project are not read: {', '.join(there)}; pass the project as workspace"
                reading.note("other_project", message, path=("projects", name))

    def read_entry(self, raw: dict[str, Any], at: EntryReading) -> Entry | None:
        if at.reading.client is not None:
            return super().read_entry(raw, at)
        # The file may be that of another client, such as Cline, with `disabled` and a `timeout` in seconds.
        entry = super().read_entry({key: value for key, value in raw.items() if key not in ("disabled", "timeout")}, at)
        more = {"timeout": raw["timeout"]} if "timeout" in raw else {}
        return entry and entry._replace(disabled=raw.get("disabled") is True, extra={**entry.extra, **more})


class ClaudeDesktop(MapFormat):
    """Claude Desktop: `claude_desktop_config.json`, plain JSON with stdio servers and without variables.

    Source: "Connect to local MCP servers" in the documentation of the Model Context Protocol. Servers with a URL belong
    in the settings of the app, but some files contain them anyway. They are read and reported. The app skips them, and
    its connectors do not reach this machine: https://github.com/cboxdk/statamic-mcp/issues/20,
    https://github.com/anthropics/claude-ai-mcp/issues/444. After a byte order mark, it removes all servers from the
    file: https://github.com/tradesdontlie/tradingview-mcp/issues/406.
    """

    name = "claude-desktop"
    title = "Claude Desktop"
    rejects_mark = True
    urls = {"url": "http", "serverUrl": "http"}  # noqa: RUF012 - a Mapping is not written to
    transports = ("stdio",)
    elsewhere = (
        "; add a public URL as a connector in its settings, or write "
        '"command": "npx", "args": ["-y", "mcp-remote", "URL"]'
    )
    phrases = OF_CLIENTS._replace(needs='a "command"')
