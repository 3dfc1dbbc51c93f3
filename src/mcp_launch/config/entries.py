"""What is read from a config file: its servers, and findings about what is odd in it.

An `Entry` has its server twice: ready to be launched, and as the file has it, with its references, from which another
file can be written. `repr` shows neither: they hold secrets.

All are named tuples: to define a dataclass takes longer than to read a small file.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from mcp_launch.config.places import Place

__all__ = ["NOTES", "NOTHING", "Config", "Entry", "Finding"]

NOTES = frozenset({"disabled", "not_in_file", "other_project"})
"""The codes of findings that only say which servers are not started, as the file intends."""

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Finding(NamedTuple):
    """Something odd in a file that is no reason to stop; never quotes a value."""

    line: int
    """From 1, as the column."""
    column: int
    server: str | None
    """The name of the server that it is about, if it is about one."""
    code: str
    """An id that stays, such as `unset_variable`; docs/config.md lists them."""
    message: str

    @property
    def place(self) -> Place:
        """Where in the file."""
        return Place(self.line, self.column)

    @property
    def is_note(self) -> bool:
        """Whether the file intends it so; any other finding is a warning."""
        return self.code in NOTES


class Entry(NamedTuple):
    """One server of a config file."""

    name: str
    server: Any
    """The raw JSON of an ACP `McpServer`, as `launch` takes it, with variables replaced by their values."""
    place: Place
    """Where its name begins."""
    written: Any
    """The server as its file has it: ACP JSON, in which a text that has references is a `Text`."""
    written_cwd: Any = None
    """Its directory as the file has it."""
    disabled: bool = False
    """The file says that it is not to be started."""
    cwd: str | None = None
    """The directory to run this server in, where the format has such a member; ACP has none."""
    timeout: float | None = None
    """Seconds that one request may take, where the format has such a member."""
    extra: Mapping[str, Any] = NOTHING
    """The members that ACP does not have, as they are."""
    secrets: tuple[str, ...] = ()
    """The values of environment variables in its arguments and in the path of its URL, for `Options(secrets=…)`."""

    def __repr__(self) -> str:
        return f"Entry(name={self.name!r}, place={self.place!r}, disabled={self.disabled!r})"


class Config(NamedTuple):
    """The servers that a file asks for, in its order."""

    entries: tuple[Entry, ...]
    format: str
    source: str
    cwd: str | None = None
    """The directory of the whole session, where the file names one."""
    findings: tuple[Finding, ...] = ()
    rest: Mapping[str, Any] = NOTHING
    """What belongs to all servers, such as the `inputs` of VS Code."""

    @property
    def servers(self) -> list[Any]:
        """The raw ACP JSON of the servers that are to be launched: of all but those that are disabled."""
        return [entry.server for entry in self.entries if not entry.disabled]

    def __repr__(self) -> str:
        return f"Config(source={self.source!r}, format={self.format!r}, entries={self.entries!r})"
