"""ACP: an array of `McpServer`, a whole `session/new` or `session/load` request, or its params.

Entries are unchanged, because ACP does not support variables. A map of servers in the params is read in the format of
other clients. Source: the schema of the Agent Client Protocol, "Session Setup".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from mcp_launch._json_values import as_items, as_members
from mcp_launch.config._detection import meant_by
from mcp_launch.config._documents import Path
from mcp_launch.config._entries import Entry
from mcp_launch.config._formats.claude import ClaudeCode
from mcp_launch.config._formats.format import EntryReading, Format, Reading, Writing
from mcp_launch.config._references import Text, map_leaves

ACCEPTED = (
    "an mcpServers array, a session/new or session/load request or its params, "
    'or {"mcpServers": {name: ...}} as desktop clients write it'
)


class Acp(Format):
    """The servers that an ACP client sends to an agent."""

    name = "acp"
    title = "ACP"
    types = {"http": "http", "sse": "sse"}  # noqa: RUF012 - a Mapping is not written to
    others = frozenset({"_meta"})

    def read(self, reading: Reading) -> Iterator[Entry]:
        value = reading.document.value
        if isinstance(value, list):
            return self._read_array(as_items(value), (), reading)
        if isinstance(method := as_members(value).get("method"), str):
            if not method.startswith("session/"):
                message = f'a "{method}" request does not contain servers; expected {ACCEPTED}'
                raise reading.refuse(message, path=("method",))
            return self._read_params(as_members(value).get("params"), ("params",), reading)
        return self._read_params(value, (), reading)

    def _read_params(self, value: Any, path: Path, reading: Reading) -> Iterator[Entry]:
        params = as_members(value)
        if "mcpServers" not in params:
            meant = meant_by(params, "mcpServers") or f"; expected {ACCEPTED}"
            raise reading.refuse(f"contains no mcpServers{meant}", path=path)
        cwd = params.get("cwd")
        if cwd is not None and not isinstance(cwd, str):
            raise reading.refuse("cwd must be a string", path=(*path, "cwd"))
        reading.cwd = cwd
        at = (*path, "mcpServers")
        match params["mcpServers"]:
            case None:
                return iter(())
            case [*entries]:
                return self._read_array(entries, at, reading)
            case dict():
                return ClaudeCode().read_map(as_members(params["mcpServers"]), at, reading)
            case _:
                raise reading.refuse("mcpServers must be an array or a map of servers", path=at)

    def _read_array(self, entries: list[Any], at: Path, reading: Reading) -> Iterator[Entry]:
        for index, entry in enumerate(entries):
            name = as_members(entry).get("name")
            called = name if isinstance(name, str) and name else f"mcpServers[{index}]"
            one = EntryReading(reading, called, (*at, index))
            _note_odd(as_members(entry), one)
            for member in ("command", "args", "env", "url", "headers"):
                self.note_unexpanded(member, as_members(entry).get(member), one)
            yield Entry(called, None, one.place("name"), entry, path=one.path)

    def write(self, writing: Writing) -> Any:
        servers = [
            written for entry in writing.config.entries if (written := self._write_entry(entry, writing)) is not None
        ]
        for member in sorted(writing.config.rest):
            self.omit(writing, None, member)
        return servers if writing.config.cwd is None else {"cwd": writing.config.cwd, "mcpServers": servers}

    def _write_entry(self, entry: Entry, writing: Writing) -> Any:
        if entry.disabled:
            self.omit(writing, entry, "disabled servers", "left_out")
            return None
        server = map_leaves(entry.written, lambda leaf, _: _plain(entry, leaf, writing))
        # ACP entries are unchanged.
        if writing.config.format != self.name and isinstance(server, dict):
            server = _complete(cast("dict[str, Any]", server))
        self.omit_more(writing, entry)
        return server


def _note_odd(entry: dict[str, Any], at: EntryReading) -> None:
    """Report members of an entry that have no effect."""
    kind = entry.get("type", "stdio")
    unused = {"stdio": "url", "http": "command", "sse": "command"}.get(kind) if isinstance(kind, str) else None
    if unused in entry and {"command", "url"} <= entry.keys():
        at.note("unused_member", f"{unused} has no effect in a server of this type", unused)
    seen: set[str] = set()
    for index, pair in enumerate(as_items(entry.get("env"))):
        variable = as_members(pair).get("name")
        if isinstance(variable, str) and variable in seen:
            message = f"the variable {variable} occurs twice in env; the last value is used"
            at.note("repeated_variable", message, "env", index)
        seen |= {variable} if isinstance(variable, str) else set()


def _plain(entry: Entry, leaf: Any, writing: Writing) -> Any:
    if not isinstance(leaf, Text):
        return leaf
    for reference in leaf.references:
        message = f"ACP does not support variables; {reference.shown} was not replaced"
        writing.note(entry, "variable_not_said", message, place=leaf.place)
    return leaf.written()


def _complete(server: dict[str, Any]) -> dict[str, Any]:
    """Return the server with all members that ACP version 1 requires, in its order. A stdio server has no type."""
    given = {member: value for member, value in server.items() if value is not None}
    first: dict[str, Any] = {"type": None, "name": None, "url": None, "headers": []}
    if given.get("type", "stdio") == "stdio":
        given.pop("type", None)
        first = {"name": None, "command": None, "args": [], "env": []}
    return {member: value for member, value in {**first, **given}.items() if value is not None}
