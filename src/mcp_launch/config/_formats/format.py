"""The base class of all formats, and the state while a file is read or written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from mcp_launch._json_values import is_empty, texts
from mcp_launch._unexpanded import UNEXPANDED, name_in
from mcp_launch.config._documents import Document, Grammar, Path, Place, unusable
from mcp_launch.config._entries import Config, Entry, Finding
from mcp_launch.config._references import NONE, Reference, Syntax, Text, Values, leaves_in
from mcp_launch.failures import Phrases, UnusableInput


class Format:
    """The config format of a client."""

    name: str
    """Its name on the command line, such as `claude-code`."""
    title: str
    """The name of the client in messages."""
    grammar: Grammar = "json"
    rejects_mark: bool = False
    """True if the client is known to reject a file that begins with a byte order mark."""
    syntax: Syntax = NONE
    at: tuple[tuple[str, ...], ...] = (("mcpServers",),)
    """The paths at which a file may contain servers; new files use the first."""
    expands: frozenset[str] = frozenset()
    """The members in which references are replaced."""
    types: Mapping[str, str] = {}
    """The `type` of each transport; others are written without a type."""
    cwd: str | None = None
    """The member for the directory of a server."""
    others: frozenset[str] = frozenset()
    """Further members of a server that the client supports."""
    phrases: Phrases = Phrases()
    """The wording of messages about files in this format."""

    def read(self, reading: Reading) -> Iterator[Entry]:
        """Yield the entries of a document, before their references are replaced: without `server` and `cwd`."""
        raise NotImplementedError

    def write(self, writing: Writing) -> Any:
        raise NotImplementedError

    def known(self) -> set[str]:
        """Return all members that the client supports in a server."""
        return {"name", "type", "command", "args", "env", "url", "headers", *self.others}

    def note_unexpanded(self, member: str, value: Any, entry: EntryReading) -> None:
        """Report what looks like a reference in a member, although this client sends it as it is written."""
        if member in ("args", "command") and any(each in _CODE for each in texts(value)):
            # A shell or an interpreter expands it.
            return
        for steps, text in strings_in(value, (member,)):
            if found := UNEXPANDED.search(text):
                shown = found[0] if found[0].startswith("%") else Reference(found[0], "unknown").shown
                message = f"{self.title} does not replace {shown} in {member}; {self._instead(shown, member)}"
                entry.reading.note_at("unexpanded_variable", message, place=entry.place(*steps), server=entry.name)

    def _instead(self, shown: str, member: str) -> str:
        """Return what to write instead of a reference in the syntax of something else."""
        name = name_in(shown)
        known = self.syntax.write(Reference("", "env", name)) if name and member in self.expands else None
        return f"write {known}" if known and known != shown else _VALUE

    def all_phrases(self) -> Phrases:
        """Return the wording, with the advice for variables that this client does not replace."""
        members = ("args", "command", "env", "headers", "url")
        advice = ((member, self._instead("NAME", member)) for member in members)
        return self.phrases._replace(variables=tuple(each for each in advice if each[1] != _VALUE))

    def omit(self, writing: Writing, entry: Entry | None, what: str, code: str = "not_said") -> None:
        """Add a finding about something that this client does not support."""
        writing.note(entry, code, f"{self.title} does not support {what}; it was omitted")

    def omit_more(self, writing: Writing, entry: Entry) -> None:
        """Add a finding for each part of an entry that is not a part of ACP's server."""
        more = {"cwd": entry.written_cwd, "timeout": entry.timeout, **entry.extra}
        for member in (member for member, value in more.items() if not is_empty(value)):
            self.omit(writing, entry, f"{member!r} in a server")


_VALUE = "write the value"
_CODE = frozenset(("-c", "-e", "--eval", "-Command", "/c", "/C"))
"""Options that are followed by code."""


def strings_in(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the strings in a JSON value that are sent as written, with their paths."""
    for at, leaf in leaves_in(value, path):
        if isinstance(leaf, str):
            yield at, leaf
        elif isinstance(leaf, Text):
            # Joined by a character that is not part of a reference.
            yield at, " ".join(part for part in leaf.parts if isinstance(part, str))


class Reading:
    """A document that is being read, and the findings so far."""

    def __init__(self, document: Document, *, source: str, client: str | None = None, values: Values) -> None:
        self.document = document
        self.source = source
        self.client = client
        """The name of the client that reads this file, if the path or the user specifies it."""
        self.values = values
        self.cwd: str | None = None
        self.rest: dict[str, Any] = {}
        self.findings: list[Finding] = []

    def note(self, code: str, message: str, *, path: Path, server: str | None = None) -> None:
        """Add a finding about the member at a path."""
        self.note_at(code, message, place=self.document.key_place(path), server=server)

    def note_at(self, code: str, message: str, *, place: Place, server: str | None) -> None:
        self.findings.append(Finding(place.line, place.column, server, code, message))

    def refuse(self, message: str, *, path: Path = ()) -> UnusableInput:
        """Return the error for a value that makes the whole file invalid."""
        return unusable(self.source, self.document.place(path), message)


class EntryReading(NamedTuple):
    """One entry that is being read."""

    reading: Reading
    name: str
    path: Path

    def note(self, code: str, message: str, *steps: str | int) -> None:
        """Add a finding about the entry, or about the part of it to which these steps lead."""
        self.reading.note(code, message, path=(*self.path, *steps), server=self.name)

    def place(self, *steps: str | int) -> Place:
        """Return the position of the value of a part."""
        return self.reading.document.place((*self.path, *steps))


class Writing:
    """A file that is being written, and findings about what it cannot express."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.findings: list[Finding] = []

    def note(self, entry: Entry | None, code: str, message: str, *, place: Place | None = None) -> None:
        """Add a finding about something that is lost or changes its meaning."""
        at = place or (Place(1, 1) if entry is None else entry.place)
        name = None if entry is None else entry.name
        self.findings.append(Finding(at.line, at.column, name, code, message))
