"""The base class of all formats, and the state of a file while it is read or written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from mcp_launch.config._documents import Document, Grammar, Path, Place, unusable
from mcp_launch.config._entries import NOTHING, Config, Entry, Finding
from mcp_launch.config._references import NONE, Syntax, Text
from mcp_launch.failures import Phrases, UnusableInput


class Format:
    """How one client's files name servers."""

    name: str
    """What it is called on a command line, such as `claude-code`."""
    title: str
    """What people call the client."""
    grammar: Grammar = "json"
    syntax: Syntax = NONE
    at: tuple[tuple[str, ...], ...] = (("mcpServers",),)
    """The paths at which a file may have its servers; a new file has them at the first."""
    phrases: Phrases = Phrases()
    """How messages say what to change in its files."""

    def read(self, reading: Reading) -> Iterator[Draft]:
        """The entries of a document."""
        raise NotImplementedError

    def write(self, writing: Writing) -> Any:
        """The JSON of a file with these entries."""
        raise NotImplementedError


class Draft:
    """An entry that was read, before its references are replaced."""

    def __init__(
        self,
        name: str,
        server: Any,
        path: Path,
        *,
        cwd: Any = None,
        disabled: bool = False,
        timeout: float | None = None,
        extra: Mapping[str, Any] = NOTHING,
        place: Place | None = None,
    ) -> None:
        self.name = name
        self.server = server
        self.path = path
        self.cwd = cwd
        self.disabled = disabled
        self.timeout = timeout
        self.extra = extra
        self.place = place
        """Where its name stands, if not at its path."""


class Reading:
    """A document that is being read, and what was found in it so far."""

    def __init__(
        self, document: Document, *, source: str, client: str | None = None, workspace: str | None = None
    ) -> None:
        self.document = document
        self.source = source
        self.client = client
        """The name of the client that reads this file, if its path or the user says so."""
        self.workspace = workspace
        self.cwd: str | None = None
        self.rest: dict[str, Any] = {}
        self.findings: list[Finding] = []

    def note(self, code: str, message: str, *, path: Path, server: str | None = None) -> None:
        """Add a finding about the member at this path."""
        self.note_at(code, message, place=self.document.key_place(path), server=server)

    def note_at(self, code: str, message: str, *, place: Place, server: str | None) -> None:
        """Add a finding about this place."""
        self.findings.append(Finding(place.line, place.column, server, code, message))

    def refuse(self, message: str, *, path: Path = ()) -> UnusableInput:
        """The error for a value that makes the whole file useless."""
        return unusable(self.source, self.document.place(path), message)


class Writing:
    """A file that is being written, and what it cannot express."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.findings: list[Finding] = []

    def note(self, entry: Entry | None, code: str, message: str, *, place: Place | None = None) -> None:
        """Add a finding about something that is lost, or means something else now."""
        at = place or (Place(1, 1) if entry is None else entry.place)
        name = None if entry is None else entry.name
        self.findings.append(Finding(at.line, at.column, name, code, message))


MEMBERS = frozenset({"command", "args", "env", "url", "headers"})
"""Those in which most clients replace references."""


class Words(Format):
    """The names of members, and which of them a client has."""

    command: str = "command"
    env: str = "env"
    urls: Mapping[str, str] = {"url": "http"}
    """The members that hold a URL, each with its transport where there is no type; the first that is present counts."""
    types: Mapping[str, str] = {}
    """What is written as `type` for each transport; those not here are written without a type."""
    transports: tuple[str, ...] = ("stdio", "http", "sse")
    """The transports that this client has."""
    needs_type: bool = False
    """Whether a server without a type is a program, even if it has a URL."""
    guesses_sse: bool = False
    """Whether a URL that ends in /sse means SSE where there is no type."""
    cwd: str | None = None
    """The member with the directory of one server."""
    timeout: tuple[str, float] | None = None
    """The member with the timeout, and its unit in seconds."""
    disabled: tuple[str, bool] | None = None
    """The member that disables a server, and its value when it does."""
    disables_apart: bool = False
    """Whether another part of the file says which servers are not to be started."""
    others: frozenset[str] = frozenset()
    """Further members that this client knows."""
    unread: frozenset[str] = frozenset()
    """Members that this client knows and that are not read here, so that the server may run in another way."""
    expands: frozenset[str] = MEMBERS
    """The members in which references are replaced."""
    keeps: tuple[str, ...] = ()
    """Members of the file itself that are kept when it is written."""

    def known(self) -> set[str]:
        """Every member that this client knows in a server."""
        optional = [self.cwd, self.timeout and self.timeout[0], self.disabled and self.disabled[0]]
        fixed = {self.command, "args", self.env, *self.urls, "headers", "type", "transport"}
        return {*fixed, *self.others, *self.unread, *(each for each in optional if each)}

    def guess(self, member: str, url: Any) -> str:
        """The transport of a URL without a type."""
        return "sse" if self.guesses_sse and ends_in_sse(url) else self.urls[member]


def ends_in_sse(url: Any) -> bool:
    """Whether the path of a URL ends in /sse, as with most servers that speak SSE."""
    text = url.written() if isinstance(url, Text) else url
    try:
        return isinstance(text, str) and urlsplit(text).path.rstrip("/").endswith("/sse")
    except ValueError:
        return False
