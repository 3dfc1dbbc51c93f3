"""The names of servers: `--only` picks some of them, and a name that two files use gets the file in front."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from mcp_launch.command.inputs import Session
from mcp_launch.failures import UnknownServer, UnusableInput
from mcp_launch.json_values import as_members

__all__ = ["name_of", "only_named", "told_apart"]


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
