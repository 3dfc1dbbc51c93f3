"""The base class of all formats, and the state while a file is read or written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mcp_launch.config._documents import Document, Grammar, Path, Place, unusable
from mcp_launch.config._entries import Config, Entry, Finding
from mcp_launch.config._references import NONE, Syntax
from mcp_launch.failures import Phrases, UnusableInput


class Format:
    """The config format of a client."""

    name: str
    """Its name on the command line, such as `claude-code`."""
    title: str
    """The name of the client in messages."""
    grammar: Grammar = "json"
    syntax: Syntax = NONE
    at: tuple[tuple[str, ...], ...] = (("mcpServers",),)
    """The paths at which a file may contain servers; new files use the first."""
    phrases: Phrases = Phrases()
    """The wording of messages about files in this format."""

    def read(self, reading: Reading) -> Iterator[Entry]:
        """Yield the entries of a document, before their references are replaced: without `server` and `cwd`."""
        raise NotImplementedError

    def write(self, writing: Writing) -> Any:
        """Return the JSON of a file with these entries."""
        raise NotImplementedError

    def omit(self, writing: Writing, entry: Entry | None, what: str, code: str = "not_said") -> None:
        """Add a finding about something that this client does not support."""
        writing.note(entry, code, f"{self.title} does not support {what}; it was omitted")


class Reading:
    """A document that is being read, and the findings so far."""

    def __init__(
        self, document: Document, *, source: str, client: str | None = None, workspace: str | None = None
    ) -> None:
        self.document = document
        self.source = source
        self.client = client
        """The name of the client that reads this file, if the path or the user specifies it."""
        self.workspace = workspace
        self.cwd: str | None = None
        self.rest: dict[str, Any] = {}
        self.findings: list[Finding] = []

    def note(self, code: str, message: str, *, path: Path, server: str | None = None) -> None:
        """Add a finding about the member at a path."""
        self.note_at(code, message, place=self.document.key_place(path), server=server)

    def note_at(self, code: str, message: str, *, place: Place, server: str | None) -> None:
        """Add a finding about a position."""
        self.findings.append(Finding(place.line, place.column, server, code, message))

    def refuse(self, message: str, *, path: Path = ()) -> UnusableInput:
        """Return the error for a value that makes the whole file invalid."""
        return unusable(self.source, self.document.place(path), message)


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
