"""The servers that the command line names: files, URLs, and a command."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mcp_launch._json_values import as_members
from mcp_launch.config import Candidate, Entry, Finding, discover
from mcp_launch.failures import Phrases, UnknownServer, UnusableInput

if TYPE_CHECKING:
    from mcp_launch.lock import ToolLock

_LIKE_A_URL = re.compile(r"\w{2,}:/|[\w.-]+:\d{1,5}(?:[/?#]|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """The part of the command line that names servers. The help of the command explains the options."""

    servers: Sequence[str] = field(default=(), repr=False)
    """Files, URLs, and - for standard input."""
    command: Sequence[str] | None = field(default=None, repr=False)
    """The words after `--`, if it was given."""
    headers: Sequence[str] = field(default=(), repr=False)
    env: Sequence[str] = field(default=(), repr=False)
    sse: bool = False
    only: Sequence[str] = ()
    cwd: str | None = None
    discover: bool = False
    workspace: str | None = None
    trust: bool = False
    inputs: Sequence[str] = field(default=(), repr=False)
    timeout: float = 30.0
    verbose: bool = False
    login: bool = False
    legacy: bool = False

    @property
    def files(self) -> list[str]:
        """The files among `servers`, and those that were discovered."""
        return [*(each for each in self.servers if each != "-" and not is_url(each)), *self.found]

    @property
    def found(self) -> dict[str, Candidate]:
        """Return the existing files of clients for --discover, without those in `servers`."""
        if not self.discover:
            return {}
        typed = {os.path.abspath(each) for each in self.servers}
        found = [each for directory in self.projects for each in discover(directory=directory)]
        found.sort(key=lambda each: each.scope == "user")
        # If the project is the home directory, a file of both counts as the user's.
        return {str(each.path): each for each in found if os.path.abspath(each.path) not in typed}

    @property
    def projects(self) -> list[Path]:
        """The directory of --workspace; or the current one and those around it, up to the root of its repository."""
        if self.workspace:
            return [Path(self.workspace)]
        around = [Path.cwd(), *Path.cwd().parents]
        root = next((at for at, each in enumerate(around) if (each / ".git").exists()), 0)
        return around[: root + 1]

    def directory(self, of_file: str | None = None) -> str:
        """Return the working directory of the servers. That of the command line may be relative."""
        return os.path.abspath(self.cwd) if self.cwd else of_file or os.getcwd()


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Servers from one source that are launched in one directory."""

    source: str
    """The name of their source in messages."""
    entries: list[Entry] = field(repr=False)
    cwd: str
    """Absolute."""
    origin: Literal["typed", "file", "project"] = "typed"
    """`typed` for a URL or command, `file` for a file that was named or is the user's, `project` for a found one."""
    findings: tuple[Finding, ...] = ()
    """The findings about the file; if it yields several sessions, the first has all of them."""
    phrases: Phrases = field(default_factory=Phrases)
    """The wording of messages about changes to the file."""
    lock: ToolLock | None = None
    """The tools that its servers must have, by the names under which they are launched."""
    asked: Sequence[str] = ()
    """The names of the inputs that the file asks for; like the findings, only in its first session."""

    @property
    def servers(self) -> list[Any]:
        """The ACP JSON of the servers."""
        return [entry.server for entry in self.entries]

    @property
    def secrets(self) -> list[str]:
        """The values of variables in arguments and URLs."""
        return [secret for entry in self.entries for secret in entry.secrets]


def is_url(given: str) -> bool:
    return given.lower().startswith(("http://", "https://"))


def is_like_a_url(given: str) -> bool:
    """Return True if it was probably meant as a URL, because it has another scheme or a port."""
    return _LIKE_A_URL.match(given) is not None


def is_program(given: str) -> bool:
    """Return True if it is the name of a program on the PATH."""
    import shutil  # noqa: PLC0415 - only needed for mistakes

    return not os.path.dirname(given) and shutil.which(given) is not None


def source_of(given: str) -> str:
    """Return its name in messages, without secrets of a URL."""
    if is_url(given) or "://" in given:
        # Imported late: this takes as long as starting a server.
        from acp_bindings._redact import shown_url  # noqa: PLC0415

        try:
            return shown_url(given)
        except ValueError:
            return "the URL"
    if given == "-":
        return "standard input"
    return given.partition("?")[0] if is_like_a_url(given) else given


def name_of(server: object) -> str | None:
    """Return the name in the JSON of a server, if it is a non-empty string."""
    name: object = as_members(server).get("name")
    return name if isinstance(name, str) and name else None


def only_named(sessions: Sequence[Session], only: Sequence[str]) -> list[Session]:
    """Return the sessions with only these servers, named as by `with_unique_names` or without the file."""

    def spellings(session: Session, name: str | None) -> set[str]:
        return set() if name is None else {name, name.removeprefix(f"{session.source}:")}

    known = {name: spellings(session, name) for session in sessions for name in _names(session)}
    if unknown := next((name for name in only if name not in set().union(*known.values())), None):
        for session in sessions:
            if found := next((each for each in session.findings if each.server == unknown and each.is_note), None):
                raise UnusableInput(f"{session.source}:{found.line}:{found.column}: {unknown}: {found.message}")
        raise UnusableInput(str(UnknownServer(unknown, sorted(known))))
    return [
        replace(
            session,
            entries=[each for each in session.entries if spellings(session, name_of(each.server)) & {*only}],
            findings=tuple(
                each for each in session.findings if each.server is None or spellings(session, each.server) & {*only}
            ),
        )
        for session in sessions
    ]


def with_unique_names(sessions: list[Session]) -> list[Session]:
    """Return the sessions, with `FILE:NAME` for each name that occurs in several files."""
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


def choices(known: Iterable[str]) -> str:
    """Return `choose from one, two`."""
    names = ", ".join(known)
    return f"choose from {names}" if names else "there are none"
