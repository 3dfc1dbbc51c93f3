"""Tells whether what was typed for a server is a URL, and how to show it without secrets."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

from mcp_launch._json_values import as_members
from mcp_launch.config._entries import Entry, Finding
from mcp_launch.failures import Phrases, UnknownServer, UnusableInput

if TYPE_CHECKING:
    from mcp_launch.config._locations import Candidate


_LIKE_A_URL = re.compile(r"\w{2,}:/|[\w.-]+:\d{1,5}(?:[/?#]|$)")


def is_url(given: str) -> bool:
    """Whether it is a URL that a server can have."""
    return given.lower().startswith(("http://", "https://"))


def is_like_a_url(given: str) -> bool:
    """Whether it was most likely meant as a URL: it has another scheme, or a port."""
    return _LIKE_A_URL.match(given) is not None


def is_program(given: str) -> bool:
    """Whether it is the name of a program, as a shell finds it."""
    import shutil  # noqa: PLC0415 - for what was typed wrong, and most is not

    return not os.path.dirname(given) and shutil.which(given) is not None


def source_of(given: str) -> str:
    """What messages call it, without the secrets that a URL may hold."""
    if is_url(given) or "://" in given:
        # Imported late: it takes as long as the start of a server.
        from acp_bindings._redact import shown_url  # noqa: PLC0415

        try:
            return shown_url(given)
        except ValueError:
            return "the URL"
    if given == "-":
        return "standard input"
    return given.partition("?")[0] if is_like_a_url(given) else given


def name_of(server: object) -> str | None:
    """Return the name in the raw JSON of a server, if it has one that is a string and not empty."""
    name: object = as_members(server).get("name")
    return name if isinstance(name, str) and name else None


def only_named(sessions: Iterable[Session], only: Sequence[str]) -> list[Session]:
    """The sessions with only the servers of these names.

    Raises:
        UnusableInput: no server has one of these names.
    """
    known = {name for session in sessions for name in _names(session)}
    if unknown := next((name for name in only if name not in known), None):
        for session in sessions:
            if told := next((each for each in session.findings if each.server == unknown and each.is_note), None):
                raise UnusableInput(f"{session.source}:{told.line}:{told.column}: {unknown}: {told.message}")
        raise UnusableInput(str(UnknownServer(unknown, sorted(known))))
    return [
        replace(
            session,
            entries=[entry for entry in session.entries if name_of(entry.server) in only],
            findings=tuple(each for each in session.findings if each.server is None or each.server in only),
        )
        for session in sessions
    ]


def told_apart(sessions: list[Session]) -> list[Session]:
    """The sessions, in which a name that several files use becomes `FILE:NAME`."""
    named: dict[str, set[str]] = {}
    for session in sessions:
        about = (each.server for each in session.findings if each.server is not None)
        named.setdefault(session.source, set()).update(_names(session), about)
    files = Counter(name for names in named.values() for name in names)

    def called(name: str, session: Session) -> str:
        return f"{session.source}:{name}" if files[name] > 1 else name

    return [
        replace(
            session,
            entries=[
                entry
                if (name := name_of(entry.server)) is None
                else entry._replace(server={**entry.server, "name": called(name, session)})
                for entry in session.entries
            ],
            findings=tuple(
                each if each.server is None else each._replace(server=called(each.server, session))
                for each in session.findings
            ),
        )
        for session in sessions
    ]


def _names(session: Session) -> set[str]:
    return {name for server in session.servers if (name := name_of(server)) is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """The part of what was typed that says which servers are meant."""

    servers: Sequence[str] = field(default=(), repr=False)
    """Files, URLs, and - for standard input."""
    command: Sequence[str] | None = field(default=None, repr=False)
    """What stood behind --, if that was typed."""
    headers: Sequence[str] = field(default=(), repr=False)
    env: Sequence[str] = field(default=(), repr=False)
    sse: bool = False
    only: Sequence[str] = ()
    cwd: str | None = None
    discover: bool = False
    """Whether the files of all clients that exist are meant too."""
    workspace: str | None = None
    """The directory of the project, as typed."""
    trust: bool = False
    """Whether servers of the project's files are started without asking."""

    @property
    def files(self) -> list[str]:
        """The files among `servers`, and those that were discovered."""
        return [*(each for each in self.servers if each != "-" and not is_url(each)), *self.found]

    @property
    def found(self) -> dict[str, Candidate]:
        """Return the files of clients that exist, with --discover, without those that were typed."""
        if not self.discover:
            return {}
        # Imported here: few ask for it.
        from mcp_launch.config._locations import discover  # noqa: PLC0415

        typed = {os.path.abspath(each) for each in self.servers}
        found = discover(directory=self.workspace or os.getcwd())
        # A file of the project that is the user's too, in the home directory, counts as the user's.
        return {str(each.path): each for each in found if os.path.abspath(each.path) not in typed}

    def directory(self, of_file: str | None = None) -> str:
        """Where the servers run: what the user types may be relative; what a file says must be absolute."""
        return os.path.abspath(self.cwd) if self.cwd else of_file or os.getcwd()


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Servers that were given together, and are launched in one directory."""

    source: str
    """Where they come from, as messages call it."""
    entries: list[Entry] = field(repr=False)
    cwd: str
    """Absolute."""
    origin: Literal["typed", "file", "project"] = "typed"
    """Whether they are typed, of a file that was named or is the user's, or of a file that was found in the project."""
    findings: tuple[Finding, ...] = ()
    """What is odd in the file; where a file makes several sessions, the first has all of it."""
    phrases: Phrases = field(default_factory=Phrases)
    """How it is said what to change there."""

    @property
    def servers(self) -> list[Any]:
        """The raw JSON of the servers, as ACP writes it."""
        return [entry.server for entry in self.entries]

    @property
    def secrets(self) -> list[str]:
        """The values that variables have in arguments and URLs."""
        return [secret for entry in self.entries for secret in entry.secrets]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean "this"?`, or nothing when no name is near."""
    near = nearest(name, known)
    return "" if near is None else f'; did you mean "{near}"?'


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The one of the *known* names that is nearest, if one is near."""
    return next(iter(get_close_matches(name, list(known), n=1)), None)


def there_are(known: Iterable[str]) -> str:
    """`there are one, two`."""
    names = ", ".join(known)
    return f"there are {names}" if names else "there are none"
