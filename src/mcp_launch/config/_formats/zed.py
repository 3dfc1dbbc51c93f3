"""Zed: `context_servers` in its `settings.json`, with comments and trailing commas and without variables.

A URL is one of Streamable HTTP; what an extension brings has no command in the file. Older files have an object with
`path`, `args` and `env` as `command`. Source: "Model Context Protocol" of its documentation, and
`settings_content/src/project.rs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_launch._json_values import as_members
from mcp_launch.config._documents import Path
from mcp_launch.config._entries import Entry
from mcp_launch.config._formats.format import Draft, Reading, Writing
from mcp_launch.config._formats.map import MapFormat
from mcp_launch.failures import Phrases


class Zed(MapFormat):
    """A map format with servers of extensions, and an older form of `command`."""

    name = "zed"
    title = "Zed"
    grammar = "jsonc"
    at = (("context_servers",),)
    transports = ("stdio", "http")
    phrases = Phrases(needs='a "command" or a "url"', urls=(("http", "url"),))
    timeout = ("timeout", 1.0)
    disabled = ("enabled", False)
    others = frozenset({"source", "settings", "remote", "oauth"})
    expands = frozenset()

    def read_entry(self, name: str, raw: dict[str, Any], path: Path, reading: Reading) -> Draft | None:
        if "command" not in raw and "url" not in raw and (raw.get("source") == "extension" or "settings" in raw):
            message = "is started by an extension of Zed; the file has no command for it"
            reading.note("not_in_file", message, path=path, server=name)
            return None
        return super().read_entry(name, raw, path, reading)

    def transport(self, raw: Mapping[str, Any]) -> Any:
        return "stdio" if "command" in raw else super().transport(raw)

    def shape(
        self, name: str, kind: Any, raw: Mapping[str, Any], path: Path, reading: Reading
    ) -> tuple[dict[str, Any], set[str]]:
        if older := as_members(raw.get("command")):
            inner = {"command": older.get("path"), "args": older.get("args"), "env": older.get("env")}
            raw = {**raw, **{member: value for member, value in inner.items() if value is not None}}
        return super().shape(name, kind, raw, path, reading)

    def unshape(self, entry: Entry, kind: str, server: Mapping[str, Any], writing: Writing) -> dict[str, Any]:
        raw = super().unshape(entry, kind, server, writing)
        if kind == "stdio":
            raw.setdefault("args", [])  # without which Zed refuses the entry
        return raw


FORMAT = Zed()
