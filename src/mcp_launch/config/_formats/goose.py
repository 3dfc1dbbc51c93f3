"""Goose: `extensions` in `config.yaml`: `cmd`, `envs`, `uri`; its built-in extensions are no servers.

`env_keys` are the names of variables whose values it keeps elsewhere, or finds in the environment. `${VAR}` is replaced
in headers, by what `envs` and `env_keys` say. Source: "Configuration Files" of its documentation, and in its repository
`agents/extension.rs`, `config/extensions.rs` and `agents/extension_manager.rs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from mcp_launch._json_values import as_items, as_members, texts
from mcp_launch.config import _references as variables
from mcp_launch.config._documents import Path
from mcp_launch.config._entries import Entry
from mcp_launch.config._formats.format import Draft, Reading, Writing
from mcp_launch.config._formats.map import MapFormat
from mcp_launch.config._references import Reference, Text, walk
from mcp_launch.failures import Phrases

_BROUGHT = {
    "builtin": "is built into Goose",
    "platform": "is built into Goose",
    "frontend": "is brought by the program that Goose runs in",
    "inline_python": "is a program that stands in the file, which Goose runs",
}


class Goose(MapFormat):
    """A map format with variables that are kept elsewhere, and with built-in extensions."""

    name = "goose"
    title = "Goose"
    grammar = "yaml"
    syntax = variables.GOOSE
    at = (("extensions",),)
    command = "cmd"
    env = "envs"
    urls = {"uri": "http"}  # noqa: RUF012 - a Mapping is not written to
    types = {"stdio": "stdio", "http": "streamable_http", "sse": "sse"}  # noqa: RUF012
    phrases = Phrases(
        http='set "type" to "streamable_http"',
        needs='a "cmd", or with a "uri" and its "type"',
        words=(("command", "cmd"), ("env", "envs"), ("url", "uri"), ("http", "streamable_http")),
    )
    timeout = ("timeout", 1.0)
    disabled = ("enabled", False)
    others = frozenset({"name", "description", "env_keys", "bundled", "available_tools", "display_name"})
    unread = frozenset({"socket"})
    expands = frozenset({"headers"})

    def read_entry(self, name: str, raw: dict[str, Any], path: Path, reading: Reading) -> Draft | None:
        # Goose shows the name in the entry, and derives the key of the map from it.
        shown = raw.get("name")
        name = shown if isinstance(shown, str) and shown else name
        kind = raw.get("type")
        if isinstance(kind, str) and kind in _BROUGHT:
            reading.note("not_in_file", f"{_BROUGHT[kind]}; no server to launch", path=path, server=name)
            return None
        return super().read_entry(name, raw, path, reading)

    def shape(
        self, name: str, kind: Any, raw: Mapping[str, Any], path: Path, reading: Reading
    ) -> tuple[dict[str, Any], set[str]]:
        keys = list(texts(raw.get("env_keys")))
        envs = as_members(raw.get("envs"))
        used = {"name", "env_keys"}
        if kind in ("http", "sse"):
            known = {**_references(keys, path, reading), **envs}
            members = {header: _inlined(value, known) for header, value in as_members(raw.get("headers")).items()}
            raw = {member: value for member, value in raw.items() if member != "envs"}
            raw = {**raw, "headers": members} if members else raw
            used.add("envs")
        elif keys:
            raw = {**raw, "envs": {**_references(keys, path, reading), **envs}}
        server, more = super().shape(name, kind, raw, path, reading)
        return server, used | more

    def unshape(self, entry: Entry, kind: str, server: Mapping[str, Any], writing: Writing) -> dict[str, Any]:
        keys: list[str] = []
        if kind == "stdio":
            pairs = as_items(server.get("env"))
            keys = [as_members(pair).get("name", "") for pair in pairs if _is_own(as_members(pair))]
            if keys:
                server = {**server, "env": [pair for pair in pairs if not _is_own(as_members(pair))]}
        else:
            named = dict.fromkeys(each.name for each in _all_references(server.get("headers")))
            keys = [key for key in named if self.syntax.write(Reference("", "env", key)) is not None]
        if kind == "sse":
            writing.note(entry, "not_said", "Goose no longer connects to servers of type sse")
        raw = super().unshape(entry, kind, server, writing)
        start: dict[str, Any] = {"enabled": True, "type": raw.pop("type", kind), "name": entry.name, "description": ""}
        start |= {"description": entry.extra["description"]} if "description" in entry.extra else {}
        if kind == "stdio":
            raw.setdefault("args", [])
        return {**start, **raw, **({"env_keys": keys} if keys else {})}

    def literal(self, entry: Entry, member: str, text: str, writing: Writing) -> str:
        # Goose replaces what the entry names, and leaves the rest alone.
        named = {each.name for each in _all_references(entry.written)}
        found = self.syntax.parse(text, entry.place)
        if isinstance(found, Text) and not named & {each.name for each in found.references}:
            return text
        return super().literal(entry, member, text, writing)

    def key(self, name: str) -> str:
        return "".join(name.split()).lower()


def _references(keys: list[str], path: Path, reading: Reading) -> dict[str, Any]:
    place = reading.document.place
    return {
        key: Text((Reference(f"${{{key}}}", "env", key),), place((*path, "env_keys", index)))
        for index, key in enumerate(keys)
    }


def _all_references(server: Any) -> list[Reference]:
    found: list[Reference] = []
    walk(server, lambda text: found.extend(text.references))
    return found


def _inlined(value: Any, known: Mapping[str, Any]) -> Any:
    """A header in which the values that the entry gives are filled in; any other `${VAR}` is plain text."""
    if not isinstance(value, Text):
        return value
    parts: list[str | Reference] = []
    for part in value.parts:
        said = known.get(part.name) if isinstance(part, Reference) else part
        if isinstance(said, Text):
            parts.append(part)
        else:
            parts.append(said if isinstance(said, str) else cast("Reference", part).text)
    if any(isinstance(part, Reference) for part in parts):
        return Text(tuple(parts), value.place)
    return "".join(cast("list[str]", parts))


def _is_own(pair: Mapping[str, Any]) -> bool:
    """Whether a variable of `env` is only passed on from the environment, under the same name."""
    value = pair.get("value")
    return isinstance(value, Text) and value.parts == (Reference("", "env", str(pair.get("name"))),)


FORMAT = Goose()
