"""Which servers are meant by what the user typed: files, standard input, URLs, or a command."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from mcp_launch.command.inputs.given import is_url
from mcp_launch.config.entries import Entry, Finding
from mcp_launch.wording import Wording

if TYPE_CHECKING:
    from mcp_launch.config.locations import Candidate

__all__ = ["Session", "Typed"]


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
        from mcp_launch.config.locations import discover  # noqa: PLC0415

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
    wording: Wording = field(default_factory=Wording)
    """How it is said what to change there."""

    @property
    def servers(self) -> list[Any]:
        """The raw JSON of the servers, as ACP writes it."""
        return [entry.server for entry in self.entries]

    @property
    def secrets(self) -> list[str]:
        """The values that variables have in arguments and URLs."""
        return [secret for entry in self.entries for secret in entry.secrets]
