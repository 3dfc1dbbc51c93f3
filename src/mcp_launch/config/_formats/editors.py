"""The formats of editors: VS Code, Cursor, Windsurf and Zed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from mcp_launch._json_values import as_members
from mcp_launch.config import _references as variables
from mcp_launch.config._entries import Entry
from mcp_launch.config._formats.format import EntryReading, Reading, Writing
from mcp_launch.config._formats.map import MEMBERS, OF_CLIENTS, MapFormat


class VsCode(MapFormat):
    """VS Code: `.vscode/mcp.json`, the user's `mcp.json`, and `mcp` in `settings.json`, as JSONC.

    `${env:VAR}`, `${input:id}`, `${workspaceFolder}` and other references are replaced everywhere. Values of `env` may
    be numbers or null. A type other than stdio, http and sse is ignored. A URL of any type is tried with Streamable
    HTTP, then with SSE. Source: "MCP configuration reference" and "Variables reference" in its documentation, and
    `mcpConfiguration.ts`.
    """

    name = "vscode"
    title = "VS Code"
    grammar = "jsonc"
    syntax = variables.VSCODE
    at = (("servers",), ("mcp", "servers"))
    types = {"stdio": "stdio", "http": "http", "sse": "sse"}  # noqa: RUF012 - a Mapping is not written to
    phrases = OF_CLIENTS._replace(tries_both=True)
    cwd = "cwd"
    others = frozenset({"dev", "gallery", "version", "oauth"})
    unread = frozenset({"envFile", "sandbox", "sandboxEnabled"})
    expands = frozenset({*MEMBERS, "cwd"})
    keeps = ("inputs",)

    def read(self, reading: Reading) -> Iterator[Entry]:
        value = as_members(reading.document.value)
        holder = value if "servers" in value else as_members(value.get("mcp"))
        if "inputs" in holder:
            reading.rest["inputs"] = holder["inputs"]
        return super().read(reading)

    def transport(self, raw: Mapping[str, Any]) -> Any:
        if "type" in raw and raw["type"] not in ("stdio", "http", "sse"):
            return "stdio" if "command" in raw else "http"
        return super().transport(raw)

    def shape(self, kind: Any, raw: Mapping[str, Any], at: EntryReading) -> tuple[dict[str, Any], set[str]]:
        env = raw.get("env")
        if isinstance(env, dict):
            raw = {**raw, "env": self._texts(cast("dict[str, Any]", env), at)}
        return super().shape(kind, raw, at)

    def _texts(self, env: dict[str, Any], at: EntryReading) -> dict[str, Any]:
        """Return the variables, with numbers as strings. Null would remove a variable, which ACP does not support."""
        found: dict[str, Any] = {}
        for variable, value in env.items():
            if value is None:
                message = f"null removes {variable} from the environment, which is not supported here"
                at.note("not_read", message, "env", variable)
            else:
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                found[variable] = str(value) if is_number else value
        return found


class Cursor(MapFormat):
    """Cursor: `.cursor/mcp.json` of a project and `~/.cursor/mcp.json`, plain JSON.

    `${env:VAR}`, `${workspaceFolder}`, `${userHome}` and similar references are replaced in command, args, env, url and
    headers. Only stdio servers have a type; Cursor tries Streamable HTTP before SSE. Source: "Model Context Protocol"
    in its documentation.
    """

    name = "cursor"
    title = "Cursor"
    syntax = variables.CURSOR
    types = {"stdio": "stdio"}  # noqa: RUF012 - a Mapping is not written to
    guesses_sse = True
    phrases = OF_CLIENTS._replace(
        needs='a "command" or a "url"', urls=(("http", "url"), ("sse", "url")), tries_both=True
    )
    others = frozenset({"auth"})
    unread = frozenset({"envFile"})


class Windsurf(MapFormat):
    """Windsurf: `~/.codeium/windsurf/mcp_config.json`, plain JSON; a URL is `serverUrl` or `url`.

    `${env:VAR}` and `${file:path}` are replaced in command, args, env, URL and headers. Source: "Cascade MCP
    Integration" in its documentation, and https://github.com/CoplayDev/unity-mcp/pull/231 for the byte order mark.
    """

    name = "windsurf"
    title = "Windsurf"
    rejects_mark = True
    syntax = variables.WINDSURF
    urls = {"serverUrl": "http", "url": "http"}  # noqa: RUF012 - a Mapping is not written to
    guesses_sse = True
    phrases = OF_CLIENTS._replace(
        needs='a "command" or a "serverUrl"', urls=(("http", "serverUrl"), ("sse", "serverUrl"))
    )
    disabled = ("disabled", True)
    others = frozenset({"disabledTools", "alwaysAllow", "registry"})
    expands = frozenset({*MEMBERS, "serverUrl"})


class Zed(MapFormat):
    """Zed: `context_servers` in `settings.json`, as JSONC without variables.

    A URL is always Streamable HTTP. The file has no command for servers that an extension provides. In older files
    `command` is an object with `path`, `args` and `env`. Source: "Model Context Protocol" in its documentation, and
    `settings_content/src/project.rs`.
    """

    name = "zed"
    title = "Zed"
    grammar = "jsonc"
    at = (("context_servers",),)
    transports = ("stdio", "http")
    phrases = OF_CLIENTS._replace(needs='a "command" or a "url"', urls=(("http", "url"),))
    timeout = ("timeout", 1.0)
    whole_timeout = True
    disabled = ("enabled", False)
    others = frozenset({"source", "settings", "remote", "oauth"})
    expands = frozenset()

    def read_entry(self, raw: dict[str, Any], at: EntryReading) -> Entry | None:
        if "command" not in raw and "url" not in raw and (raw.get("source") == "extension" or "settings" in raw):
            at.note("not_in_file", "is started by an extension of Zed; the file does not contain its command")
            return None
        return super().read_entry(raw, at)

    def transport(self, raw: Mapping[str, Any]) -> Any:
        return "stdio" if "command" in raw else super().transport(raw)

    def shape(self, kind: Any, raw: Mapping[str, Any], at: EntryReading) -> tuple[dict[str, Any], set[str]]:
        if older := as_members(raw.get("command")):
            inner = {"command": older.get("path"), "args": older.get("args"), "env": older.get("env")}
            raw = {**raw, **{member: value for member, value in inner.items() if value is not None}}
        return super().shape(kind, raw, at)

    def unshape(self, entry: Entry, kind: str, server: Mapping[str, Any], writing: Writing) -> dict[str, Any]:
        raw = super().unshape(entry, kind, server, writing)
        if kind == "stdio":
            raw.setdefault("args", [])  # required by Zed
        return raw
