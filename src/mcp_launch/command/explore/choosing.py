"""Picks the one server that a command works with, by its name."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from mcp_launch.command.explore.nearest import did_you_mean, there_are
from mcp_launch.command.inputs import Session, Typed
from mcp_launch.command.inputs.names import name_of
from mcp_launch.command.inputs.read import read_inputs
from mcp_launch.failures import UnusableInput

__all__ = ["chosen", "names_in"]


def chosen(sessions: Sequence[Session], name: str | None, *, tool: str | None = None) -> Session:
    """A session with only the server of that name; if that is None, with the only server there is.

    Raises:
        UnusableInput: there is no such server, or more than one to choose from; or the *tool* is the name of one.
    """
    known = [(name_of(entry.server), session, entry) for session in sessions for entry in session.entries]
    meant = [each for each in known if name is None or each[0] == name]
    names = [each for each, _, _ in known if each is not None]
    if not known:
        raise UnusableInput("there is no server")
    if name is None and len(known) > 1:
        if tool in names:
            raise UnusableInput(f'no tool of "{tool}" was named: call FILE {tool} TOOL name=value ...')
        raise UnusableInput(
            f"say which server: {there_are(names)}"
            if names
            else f"give the {len(known)} servers names, to say which of them is meant"
        )
    if not meant:
        raise UnusableInput(f'no server is called "{name}"{did_you_mean(name or "", names) or f"; {there_are(names)}"}')
    # Of several with one name the first counts, as in a launch.
    _, session, entry = meant[0]
    return replace(session, entries=[entry])


def names_in(places: Sequence[str]) -> list[str]:
    """The names of the servers in those places that are files; a file that cannot be used is left out."""
    names: list[str] = []
    for file in Typed(servers=places).files:
        with suppress(UnusableInput):
            found = (name_of(server) for session in read_inputs(Typed(servers=[file])) for server in session.servers)
            names += [name for name in found if name is not None]
    return names
