"""Writes a map of servers: members get the client's names, and what the client does not have is noted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from mcp_launch.config.entries import Entry
from mcp_launch.config.formats.format import Writing
from mcp_launch.config.formats.words import Words
from mcp_launch.config.places import unusable
from mcp_launch.config.references import Reference, Text
from mcp_launch.json_values import as_items, as_members, is_empty

__all__ = ["MapWriter"]


class MapWriter(Words):
    """How a map format is written; a client with a rule of its own overrides the method for it."""

    SHARED: ClassVar = frozenset({"description", "envFile"})
    """Members that mean the same to every client that has them."""

    def write(self, writing: Writing) -> Any:
        """The JSON of a file, with the map where this client looks first."""
        servers: dict[str, Any] = {}
        for entry in writing.config.entries:
            key = self.key(entry.name)
            if key in servers:
                message = f"the name {entry.name!r} occurs twice, and {self.title} has one server of each name"
                raise unusable(writing.config.source, entry.place, message)
            if (raw := self._write_entry(entry, writing)) is not None:
                servers[key] = raw
        return self.write_file(servers, writing)

    def key(self, name: str) -> str:
        """The key of a server in the map."""
        return name

    def write_file(self, servers: dict[str, Any], writing: Writing) -> dict[str, Any]:
        """The whole file."""
        if writing.config.cwd is not None:
            writing.note(None, "not_said", f"{self.title} has no directory for all servers; cwd is left out")
        file: dict[str, Any] = {}
        for member, value in writing.config.rest.items():
            if member in self.keeps:
                file[member] = value
            else:
                writing.note(None, "not_said", f"{self.title} has no {member}; it is left out")
        return {**file, self.at[0][0]: servers}

    def unshape(self, entry: Entry, kind: str, server: Mapping[str, Any], writing: Writing) -> dict[str, Any]:
        """The server with the names that this client has for its members."""
        raw: dict[str, Any] = {}
        if kind in self.types:
            raw["type"] = self.types[kind]
        if kind == "stdio":
            names = {"command": self.command, "args": "args", "env": self.env}
        else:
            names = {"url": self._url_member(entry, kind, server, writing), "headers": "headers"}
        for ours, theirs in names.items():
            if ours not in server:
                continue
            value = self._as_map(entry, ours, server[ours], writing) if ours in ("env", "headers") else server[ours]
            if value or ours not in ("env", "headers"):
                raw[theirs] = self._render(entry, theirs, value, writing)
        for member in sorted(set(server) - {"type", "name", "_meta", *names}):
            writing.note(entry, "not_said", f"{self.title} has no {member} in a server of type {kind}; it is left out")
        return raw

    def literal(self, entry: Entry, member: str, text: str, writing: Writing) -> str:
        """A text that is to be read as it stands; notes if the client would replace a part of it."""
        if member in self.expands and isinstance(self.syntax.parse(text, entry.place), Text):
            message = f"{self.title} would replace a part of {member} that is meant as it stands"
            writing.note(entry, "would_be_replaced", message)
        return text

    def _write_entry(self, entry: Entry, writing: Writing) -> dict[str, Any] | None:
        """One entry, or None where this client cannot have it at all, which is then noted."""
        server = entry.written
        members = as_members(server)
        if not members.keys() - {"name"}:
            writing.note(entry, "left_out", "is no server, and is left out")
            return None
        kind = members.get("type", "stdio")
        if kind not in self.transports:
            shown = f"of type {kind}" if isinstance(kind, str) else "whose type is no text"
            writing.note(entry, "left_out", f"{self.title} has no servers {shown}; it is left out")
            return None
        if entry.disabled and self.disabled is None and not self.disables_apart:
            writing.note(entry, "left_out", f"{self.title} has no disabled servers; it is left out")
            return None
        raw = self.unshape(entry, str(kind), members, writing)
        return self._write_more(entry, raw, writing)

    def _url_member(self, entry: Entry, kind: str, server: Mapping[str, Any], writing: Writing) -> str:
        member = next((each for each, means in self.urls.items() if means == kind), next(iter(self.urls)))
        if kind not in self.types and (meant := self.guess(member, server.get("url"))) != kind:
            message = f"{self.title} tells the transport by the URL, which says {meant} here, not {kind}"
            writing.note(entry, "not_said", message)
        return member

    def _as_map(self, entry: Entry, member: str, value: Any, writing: Writing) -> Any:
        """Pairs of `name` and `value` as a map; any other value as it is."""
        pairs = as_items(value)
        if pairs != value or not all(_is_pair(pair) for pair in pairs):
            return cast("object", value)
        found: dict[str, Any] = {}
        for pair in pairs:
            if pair["name"] in found:
                message = f"{self.title} has each name once in {member}; of {pair['name']} the last is taken"
                writing.note(entry, "not_said", message)
            found[pair["name"]] = pair["value"]
        return found

    def _render(self, entry: Entry, member: str, value: Any, writing: Writing) -> Any:
        """A value with its references as this client writes them."""
        match value:
            case Text():
                return "".join(self._part(entry, member, part, value, writing) for part in value.parts)
            case str():
                return self.literal(entry, member, value, writing)
            case [*items]:
                return [self._render(entry, member, item, writing) for item in items]
            case dict():
                members = cast("dict[str, Any]", value)
                return {name: self._render(entry, member, item, writing) for name, item in members.items()}
            case _:
                return value

    def _part(self, entry: Entry, member: str, part: str | Reference, text: Text, writing: Writing) -> str:
        if isinstance(part, str):
            return self.literal(entry, member, part, writing)
        said = self.syntax.write(part) if member in self.expands else None
        if said is not None:
            return said
        # In a file of the same client, only a reference that it does not know comes here, and means what it did.
        if self.name != writing.config.format:
            message = f"{self.title} does not replace {part.shown} in {member}; it stays as it is"
            writing.note(entry, "variable_not_said", message, place=text.place)
        return part.text

    def _write_more(self, entry: Entry, raw: dict[str, Any], writing: Writing) -> dict[str, Any]:
        """Add what ACP's server does not have: directory, timeout, whether it is started, and other members."""
        if entry.written_cwd is not None:
            if self.cwd and raw.get(self.command) is not None:
                raw[self.cwd] = self._render(entry, self.cwd, entry.written_cwd, writing)
            else:
                writing.note(entry, "not_said", f"{self.title} has no directory for one server; it is left out")
        if entry.timeout is not None:
            if self.timeout:
                raw[self.timeout[0]] = _number(entry.timeout / self.timeout[1])
            else:
                writing.note(entry, "not_said", f"{self.title} has no timeout for one server; it is left out")
        if self.disabled and entry.disabled:
            raw[self.disabled[0]] = self.disabled[1]
        for member, value in entry.extra.items():
            if self.name == writing.config.format or (member in self.SHARED and member in self.known()):
                raw.setdefault(member, value)
            elif not is_empty(value):
                message = f"{self.title} has no {member!r}, or means something else; it is left out"
                writing.note(entry, "not_said", message)
        return raw


def _is_pair(pair: Any) -> bool:
    return as_members(pair).keys() == {"name", "value"} and isinstance(pair["name"], str)


def _number(value: float) -> float:
    """The number rounded to five digits, and as an integer where it is one."""
    rounded = round(value, 5)
    return int(rounded) if rounded == int(rounded) else rounded
