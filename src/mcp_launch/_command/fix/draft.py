"""One entry of a config file that is being fixed, with the names of its format."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from mcp_launch._command.fix.packages import Package
from mcp_launch._json_values import as_items, as_members, texts
from mcp_launch.config._documents import Path
from mcp_launch.config._edit import Edit
from mcp_launch.config._entries import Entry
from mcp_launch.config._formats.format import Format
from mcp_launch.config._formats.map import MapFormat
from mcp_launch.report import FailureJson


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """Edits that may make a server work."""

    what: str
    """The change in words, without values that may be secret."""
    edits: tuple[Edit, ...] = field(repr=False)
    beyond: str | None = None
    """The program, package or variable that the server would get although its file does not name it."""
    package: Package | None = None
    """The package that must exist."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A failing entry: as in its file, as it was launched, and why it failed."""

    form: Format
    entry: Entry
    raw: dict[str, Any] = field(repr=False)
    """The entry as in the file."""
    failure: FailureJson
    folder: str
    """The directory of the file, or of the project that it belongs to."""
    cwd: str

    @property
    def server(self) -> dict[str, Any]:
        """The entry in ACP's format, with variables replaced."""
        return as_members(self.entry.server)

    @property
    def is_map(self) -> bool:
        """True if variables and headers are maps, and not lists of names and values."""
        return isinstance(self.form, MapFormat)

    @property
    def code(self) -> str:
        """The code of the failure."""
        return self.failure["code"]

    @cached_property
    def errors(self) -> list[str]:
        """The lines of the last error that it logged by a message, then the last lines of standard error."""
        facts = self.failure["facts"]
        return [*texts(facts.get("logged")), *texts(facts.get("stderr"))]

    @cached_property
    def output(self) -> str:
        """Its errors, and the first lines of standard output."""
        return "\n".join([*self.errors, *map(str, as_items(self.failure["facts"].get("stdout")))])

    def name_of(self, member: str) -> str:
        """Return the name that the format has for a member of ACP."""
        if not isinstance(self.form, MapFormat):
            return member
        names = [theirs for theirs, ours in self.form.members().items() if ours == member] or [member]
        return next((each for each in names if each in self.raw), names[0])

    @property
    def command(self) -> str:
        """The command as in the file; empty if it is not a string."""
        value = self.raw.get(self.name_of("command"))
        return value if isinstance(value, str) else ""

    @property
    def args(self) -> list[str]:
        """The arguments as in the file, without those that are not strings."""
        return texts(self.raw.get("args"))

    @property
    def program(self) -> str:
        """The name of the program, without directory and suffix."""
        return os.path.splitext(os.path.basename(self.command.replace("\\", "/")))[0].lower()

    def run(self, command: str, args: Iterable[str], what: str, **more: Any) -> Remedy:
        """Return the remedy of another command and other arguments."""
        member = self.name_of("command")
        edits: list[Edit] = []
        if command != self.command:
            edits.append(Edit(self.at(member), command))
        if (given := list(args)) != self.args:
            edits.append(Edit(self.at("args"), given, after=member))
        return Remedy(what=what, edits=tuple(edits), **more)

    def at(self, *steps: str | int) -> Path:
        """Return the path of a part of the entry."""
        return (*self.entry.path, *steps)

    @property
    def url(self) -> str:
        """The URL as in the file; empty if it is not a string."""
        value = self.raw.get(self.name_of("url"))
        return value if isinstance(value, str) else ""

    def speak(self, transport: str, url: str | None = None) -> tuple[Edit, ...] | None:
        """Return the edits that set the transport of the URL, or of another; None if the format cannot express it."""
        if not isinstance(self.form, MapFormat):
            return (Edit(self.at("type"), transport),)
        if transport not in self.form.transports:
            return None
        member = self.name_of("url")
        others = [each for each, means in self.form.urls.items() if means == transport]
        if len(set(self.form.urls.values())) > 1:
            if not others or member not in self.raw:
                return None
            kinds = tuple(Edit(self.at(each), action="remove") for each in ("type", "transport") if each in self.raw)
            if transport in self.form.types:
                kinds = (Edit(self.at("type"), self.form.types[transport]),)
            return (*kinds, *([] if member in others else [Edit(self.at(member), others[0], "rename")]))
        if transport in self.form.types or "type" in self.raw:
            word = self.form.types.get(transport, transport)
            return () if self.raw.get("type") == word else (Edit(self.at("type"), word),)
        return () if transport == self.form.guess(member, self.url if url is None else url) else None


def each_value(at: Path, value: Any) -> Iterator[tuple[Path, str, Any]]:
    """Yield the path, the name and the value of each variable or header."""
    if isinstance(value, dict):
        for name, each in cast("dict[str, Any]", value).items():
            yield (*at, name), name, each
    for index, pair in enumerate(as_items(value)):
        named = as_members(pair).get("name")
        if isinstance(named, str) and "value" in as_members(pair):
            yield (*at, index, "value"), named, pair["value"]


def renamed(at: Path, name: str) -> Edit:
    """Return the edit that renames a variable or header, whose value is at this path."""
    return Edit((*at[:-1], "name"), name) if at[-1] == "value" else Edit(at, name, "rename")
