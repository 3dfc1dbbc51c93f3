"""The formats of agents on the command line: Gemini CLI and Goose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mcp_launch._json_values import as_items, as_members, texts
from mcp_launch.config import _references as variables
from mcp_launch.config._entries import Entry
from mcp_launch.config._formats.format import EntryReading, Reading, Writing
from mcp_launch.config._formats.map import MEMBERS, OF_CLIENTS, MapFormat, ends_in_sse
from mcp_launch.config._references import Reference, Text, map_leaves, texts_in


class Gemini(MapFormat):
    """Gemini CLI: `mcpServers` in `settings.json`, JSON with comments.

    `httpUrl` is Streamable HTTP, whatever the type. `url` has the transport of its type; without one, Gemini CLI tries
    Streamable HTTP, then SSE. `$VAR` and `${VAR}` are replaced everywhere, and stay as they are if the variable is not
    set. `mcp.excluded` and `mcp.allowed` list the servers that are not, or only, started. Source:
    `docs/tools/mcp-server.md`, `mcp-client.ts`, `envVarResolver.ts` and, for the byte order mark, `settings.ts` in its
    repository.
    """

    name = "gemini"
    title = "Gemini CLI"
    grammar = "json with comments"
    rejects_mark = True
    syntax = variables.GEMINI
    urls = {"httpUrl": "http", "url": "sse"}  # noqa: RUF012 - a Mapping is not written to
    types = {"sse": "sse"}  # noqa: RUF012
    phrases = OF_CLIENTS._replace(
        http='call the URL "httpUrl"',
        sse='call the URL "url", and set "type" to "sse"',
        needs='a "command", an "httpUrl" or a "url"',
        urls=(("http", "httpUrl"),),
    )
    cwd = "cwd"
    timeout = ("timeout", 0.001)
    disables_apart = True
    others = frozenset({"trust", "description", "includeTools", "excludeTools", "extensionName", "oauth"})
    unread = frozenset({"tcp", "authProviderType", "targetAudience", "targetServiceAccount"})
    expands = frozenset({*MEMBERS, "httpUrl", "cwd"})

    def read(self, reading: Reading) -> Iterator[Entry]:
        lists = as_members(as_members(reading.document.value).get("mcp"))
        excluded = set(texts(lists.get("excluded")))
        allowed = set(texts(lists.get("allowed")))
        for entry in super().read(reading):
            yield entry._replace(disabled=entry.name in excluded or (bool(allowed) and entry.name not in allowed))

    def transport(self, raw: Mapping[str, Any]) -> Any:
        return "http" if "httpUrl" in raw else super().transport(raw)

    def guess(self, member: str, url: Any) -> str:
        # In older releases, `url` was only for SSE.
        return "sse" if member == "url" and ends_in_sse(url) else "http"

    def _instead(self, shown: str, member: str) -> str:
        # Both forms are replaced, so a variable in either form only needs a value.
        return super()._instead(shown, member).replace("${NAME}", "$NAME or ${NAME}")

    def write_file(self, servers: dict[str, Any], writing: Writing) -> dict[str, Any]:
        file = super().write_file(servers, writing)
        if off := [entry.name for entry in writing.config.entries if entry.disabled and entry.name in servers]:
            file = {"mcp": {"excluded": off}, **file}
        return file


_PROVIDED = {
    "builtin": "is built into Goose",
    "platform": "is built into Goose",
    "frontend": "is provided by the program that embeds Goose",
    "inline_python": "is a program inside the file, which Goose runs",
}


class Goose(MapFormat):
    """Goose: `extensions` in `config.yaml`, with `cmd`, `envs` and `uri`; built-in extensions are not servers.

    `env_keys` lists variables whose values are stored elsewhere or come from the environment. `${VAR}` is replaced only
    in headers and, by newer releases, in `uri`, by the values of `envs` and `env_keys`. Goose skips an entry without
    `enabled`, or with a `cmd` and without `args`. Source: "Configuration Files" in its documentation, and
    `agents/extension.rs`, `config/extensions.rs` and `agents/extension_manager.rs` in its repository.
    """

    name = "goose"
    title = "Goose"
    grammar = "yaml"
    syntax = variables.GOOSE
    at = (("extensions",),)
    command = "cmd"
    env = "envs"
    urls = {"uri": "http"}  # noqa: RUF012 - a Mapping is not written to
    types = {"stdio": "stdio", "http": "streamable_http", "sse": "sse"}  # noqa: RUF012
    transports = ("stdio", "http")
    phrases = OF_CLIENTS._replace(
        http='set "type" to "streamable_http"',
        needs='a "cmd", or with a "uri" and its "type"',
        words=(("command", "cmd"), ("env", "envs"), ("url", "uri"), ("http", "streamable_http")),
    )
    timeout = ("timeout", 1.0)
    whole_timeout = True
    disabled = ("enabled", False)
    others = frozenset({"name", "description", "env_keys", "bundled", "available_tools", "display_name"})
    unread = frozenset({"socket"})
    expands = frozenset({"headers", "uri", "url"})

    def read_entry(self, raw: dict[str, Any], at: EntryReading) -> Entry | None:
        # Goose displays the name in the entry, and derives the key of the map from it.
        shown = raw.get("name")
        at = at._replace(name=shown if isinstance(shown, str) and shown else at.name)
        kind = raw.get("type")
        if isinstance(kind, str) and kind in _PROVIDED:
            at.note("not_in_file", f"{_PROVIDED[kind]} and is not launched")
            return None
        return super().read_entry(raw, at)

    def _note_refused(self, kind: Any, raw: Mapping[str, Any], at: EntryReading) -> None:
        for member in ("enabled", "args") if kind == "stdio" else ("enabled",):
            if member not in raw:
                at.note("missing_member", f"has no {member}, so Goose skips it")
        super()._note_refused(kind, raw, at)

    def literally(self, member: str, seen: Mapping[str, Any], raw: Mapping[str, Any]) -> Any:
        if member not in self.expands:
            return super().literally(member, seen, raw)
        known = dict.fromkeys((*texts(raw.get("env_keys")), *as_members(raw.get("envs"))), "")
        return map_leaves(seen.get(member), lambda leaf, _: _inlined(leaf, known))

    def _instead(self, shown: str, member: str) -> str:
        return "list its name in env_keys" if member in self.expands else super()._instead(shown, member)

    def shape(self, kind: Any, raw: Mapping[str, Any], at: EntryReading) -> tuple[dict[str, Any], set[str]]:
        keys = list(texts(raw.get("env_keys")))
        envs = as_members(raw.get("envs"))
        used = {"name", "env_keys"}
        if kind in ("http", "sse"):
            known = {**_references(keys, at), **envs}
            raw = {
                member: map_leaves(value, lambda leaf, _: _inlined(leaf, known))
                for member, value in raw.items()
                if member != "envs"
            }
            used.add("envs")
        elif keys:
            raw = {**raw, "envs": {**_references(keys, at), **envs}}
        server, more = super().shape(kind, raw, at)
        return server, used | more

    def unshape(self, entry: Entry, kind: str, server: Mapping[str, Any], writing: Writing) -> dict[str, Any]:
        if kind == "stdio":
            keys, server = without_forwarded(server)
        else:
            keys = self._env_keys(server)
        raw = super().unshape(entry, kind, server, writing)
        start: dict[str, Any] = {"enabled": True, "type": raw.pop("type", kind), "name": entry.name, "description": ""}
        start |= {"description": entry.extra["description"]} if "description" in entry.extra else {}
        if kind == "stdio":
            raw.setdefault("args", [])
        return {**start, **raw, **({"env_keys": keys} if keys else {})}

    def replaced_in(self, entry: Entry, member: str, text: str) -> list[Reference]:
        # Goose only replaces variables that the entry lists.
        listed = self._env_keys(entry.written)
        return [each for each in super().replaced_in(entry, member, text) if each.name in listed]

    def _env_keys(self, server: Any) -> list[str]:
        references = (each for text in texts_in(server) for each in text.references)
        return list(dict.fromkeys(each.name for each in references if self.syntax.write(each) is not None))

    def key(self, name: str) -> str:
        return "".join(name.split()).lower()


def _references(keys: list[str], at: EntryReading) -> dict[str, Any]:
    return {key: Text((Reference("", "env", key),), at.place("env_keys", index)) for index, key in enumerate(keys)}


def _inlined(value: Any, known: Mapping[str, Any]) -> Any:
    """Return a string with the values that the entry lists; any other `${VAR}` is plain text."""
    if not isinstance(value, Text):
        return value
    parts = (part if isinstance(part, str) else _said(part, known) for part in value.parts)
    text = Text(tuple(parts), value.place)
    return text if any(text.references) else text.written()


def _said(reference: Reference, known: Mapping[str, Any]) -> str | Reference:
    said = known.get(reference.name)
    return reference if isinstance(said, Text) else said if isinstance(said, str) else reference.literal


def without_forwarded(server: Mapping[str, Any]) -> tuple[list[str], Mapping[str, Any]]:
    """Return the variables of `env` that are only forwarded from the environment, and the server without them."""
    names: list[str] = []
    others: list[Any] = []
    for pair in as_items(server.get("env")):
        name, value = as_members(pair).get("name"), as_members(pair).get("value")
        if isinstance(value, Text) and value.parts == (Reference("", "env", str(name)),):
            names.append(str(name))
        else:
            others.append(pair)
    return names, {**server, "env": others} if names else server
