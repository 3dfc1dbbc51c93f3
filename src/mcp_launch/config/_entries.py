"""The servers and findings of a config file.

An `Entry` contains its server twice: ready to be launched, and with the references of its file, for writing another
file. `repr` shows neither, because they contain secrets.

All classes are named tuples, because defining a dataclass takes longer than reading a small file.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from mcp_launch._json_values import as_items, as_members, texts
from mcp_launch.config._documents import Path, Place
from mcp_launch.failures import Phrases

NOTES = frozenset({"disabled", "not_in_file", "other_project"})
"""The codes of findings about servers that are not started on purpose."""
NOTHING: Mapping[str, Any] = MappingProxyType({})


class Config(NamedTuple):
    """The servers of a file, in its order."""

    entries: tuple[Entry, ...]
    format: str
    source: str
    cwd: str | None = None
    """The directory of the session, if the file specifies one."""
    findings: tuple[Finding, ...] = ()
    rest: Mapping[str, Any] = NOTHING
    """Members for all servers, such as the `inputs` of VS Code."""
    phrases: Phrases = Phrases()
    """The wording of failures and warnings in the terms of the format, for `Options(phrases=…)`."""

    @property
    def servers(self) -> list[Any]:
        """The ACP JSON of the servers that are not disabled."""
        return [entry.server for entry in self.entries if not entry.disabled]

    def __repr__(self) -> str:
        return f"Config(source={self.source!r}, format={self.format!r}, entries={self.entries!r})"


def input_ids(rest: Mapping[str, Any]) -> list[str]:
    """Return the ids of the `inputs` that a file defines."""
    return texts([as_members(each).get("id") for each in as_items(rest.get("inputs"))])


class Entry(NamedTuple):
    """One server of a config file."""

    name: str
    server: Any
    """The JSON of an ACP `McpServer` for `launch`, with variables replaced by their values."""
    place: Place
    """The position of its name."""
    written: Any
    """The server before replacement: ACP JSON, in which each string with references is a `Text`."""
    written_cwd: Any = None
    """Its directory before replacement."""
    disabled: bool = False
    """True if the file says that it must not be started."""
    cwd: str | None = None
    """The working directory of this server, if the format supports it; ACP does not."""
    timeout: float | None = None
    """The timeout of a request in seconds, if the format supports it."""
    extra: Mapping[str, Any] = NOTHING
    """The members that ACP does not support, unchanged."""
    secrets: tuple[str, ...] = ()
    """The values of environment variables in its arguments and in the path of its URL, for `Options(secrets=…)`."""
    path: Path = ()
    """The names and indices that lead to it in the file, for `edit_config`."""
    raw: Any = None
    """The whole entry as in the file, if its format describes more than a server."""

    def __repr__(self) -> str:
        return f"Entry(name={self.name!r}, place={self.place!r}, disabled={self.disabled!r})"


class Finding(NamedTuple):
    """A problem in a file that does not stop reading. Its message does not quote values."""

    line: int
    """From 1, like the column."""
    column: int
    server: str | None
    """The name of the server concerned, if any."""
    code: str
    """A stable identifier, such as `unset_variable`; docs/config.md lists them."""
    message: str

    @property
    def place(self) -> Place:
        """The position in the file."""
        return Place(self.line, self.column)

    @property
    def is_note(self) -> bool:
        """True if the file intends it; other findings are warnings."""
        return self.code in NOTES
