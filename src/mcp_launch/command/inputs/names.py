"""The names of the servers in several sessions: which are wanted, and which are told apart since two files use them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from mcp_launch.command.inputs import Entry, Session
from mcp_launch.failures import UnknownServer, UnusableInput
from mcp_launch.json_values import as_members

__all__ = ["name_of", "only_named", "told_apart"]


def name_of(entry: Entry) -> str | None:
    """What an entry is called, if it has a name that can be seen."""
    name: object = as_members(entry).get("name")
    return name if isinstance(name, str) and name else None


def only_named(sessions: Iterable[Session], only: Sequence[str]) -> list[Session]:
    """The same with the servers of these names alone.

    Raises:
        UnusableInput: one of them has no server.
    """
    known = {name for session in sessions for name in _names(session)}
    if strange := next((name for name in only if name not in known), None):
        for session in sessions:
            if told := next((each for each in session.findings if each.server == strange and each.is_note), None):
                raise UnusableInput(f"{session.source}:{told.line}:{told.column}: {strange}: {told.message}")
        raise UnusableInput(str(UnknownServer(strange, sorted(known))))
    return [
        replace(
            session,
            servers=[entry for entry in session.servers if name_of(entry) in only],
            findings=tuple(each for each in session.findings if each.server is None or each.server in only),
        )
        for session in sessions
    ]


def told_apart(sessions: list[Session]) -> list[Session]:
    """The same, where a name that several files use says of which file it is."""
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
            servers=[
                entry if (name := name_of(entry)) is None else {**entry, "name": called(name, session)}
                for entry in session.servers
            ],
            findings=tuple(
                each if each.server is None else each._replace(server=called(each.server, session))
                for each in session.findings
            ),
        )
        for session in sessions
    ]


def _names(session: Session) -> set[str]:
    return {name for entry in session.servers if (name := name_of(entry)) is not None}
