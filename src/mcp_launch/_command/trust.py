"""Lists the servers that would be started, with secrets hidden, and asks for confirmation of those of a project."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from typing import TypedDict

from acp_bindings._standard_streams import printable
from mcp_launch._command.inputs import Session
from mcp_launch._command.show.text import confirmed, has_terminal
from mcp_launch._executable import words_of
from mcp_launch._json_values import as_items, as_members
from mcp_launch.config._entries import Entry
from mcp_launch.config._references import Text, texts_in
from mcp_launch.failures import UnusableInput
from mcp_launch.report import TransportName

_trusted: set[str] = set()
"""The servers that the user confirmed. With `--watch`, they are confirmed again only if they change."""


class PlannedServer(TypedDict):
    """A server that would be started."""

    name: str
    transport: TransportName | None
    """None if the entry does not determine it."""
    command: list[str] | None
    """The program and its arguments; arguments that look like secrets are masked."""
    url: str | None
    """Without user-info and query."""
    cwd: str
    env: list[str]
    """The names of the variables in `env`."""
    headers: list[str]
    variables: list[str]
    """The names of the environment variables whose values it receives."""
    source: str
    """The file, or another name for where it comes from."""
    line: int | None
    """From 1, like the column; None if it is not from a file."""
    column: int | None
    needs_trust: bool
    """True if it is only started after confirmation or with `--trust`."""


def planned(sessions: Iterable[Session]) -> list[PlannedServer]:
    return [_planned(session, entry) for session in sessions for entry in session.entries]


def lines_of(servers: Iterable[PlannedServer]) -> Iterator[str]:
    """Return a line for each server, as compilers write it: `source:line:column: name: transport: what`."""
    for each in servers:
        place = each["source"] if each["line"] is None else f"{each['source']}:{each['line']}:{each['column']}"
        what = shlex.join(each["command"]) if each["command"] else each["url"] or "nothing"
        more = {
            "env": each["env"],
            "headers": each["headers"],
            "variables": each["variables"],
            "needs": ["--trust"] if each["needs_trust"] else [],
        }
        notes = "".join(f" [{label}: {', '.join(names)}]" for label, names in more.items() if names)
        yield printable(f"{place}: {each['name']}: {each['transport'] or '?'}: {what}{notes}")


def trusted(sessions: list[Session], *, unusable: list[str] | None = None) -> list[Session]:
    """Return the sessions that may be started. On a terminal, ask the user to confirm those of the project.

    With *unusable*, an error for each file that is skipped is added to it.
    """
    untrusted = [each for each in sessions if each.origin == "project" and each.entries and _key(each) not in _trusted]
    if not untrusted:
        return sessions
    intro = "This project requests these servers. Their commands run with your permissions and the listed variables:"
    is_terminal = has_terminal()
    if is_terminal and confirmed(intro, lines_of(planned(untrusted)), "Start them?"):
        _trusted.update(map(_key, untrusted))
        return sessions
    why = (
        "not confirmed"
        if is_terminal
        else "belongs to the project; use --list to see its servers, or --trust to start them"
    )
    errors = [f"{source}: {why}" for source in dict.fromkeys(each.source for each in untrusted)]
    if unusable is None:
        raise UnusableInput("; ".join(errors))
    unusable += errors
    return [each for each in sessions if each not in untrusted]


def _planned(session: Session, entry: Entry) -> PlannedServer:
    from mcp_launch._spec import transport_meant  # noqa: PLC0415 - rarely needed

    written = as_members(entry.written)
    name = as_members(entry.server).get("name")
    command = _shown(written["command"]) if "command" in written else None
    is_file = session.origin != "typed"
    return PlannedServer(
        name=name if isinstance(name, str) and name else entry.name,
        transport=transport_meant(entry.server),
        command=None if command is None else [_masked(command), *_arguments(as_items(written.get("args")))],
        url=_shown_url(_shown(written["url"])) if "url" in written else None,
        cwd=session.cwd,
        env=_names(written.get("env")),
        headers=_names(written.get("headers")),
        variables=_variables(entry),
        source=session.source,
        line=entry.place.line if is_file else None,
        column=entry.place.column if is_file else None,
        needs_trust=session.origin == "project",
    )


def _shown(value: object) -> str:
    """Return a string as in its file, including the defaults of variables, which are used if these are not set."""
    if isinstance(value, Text):
        return value.written()
    return value if isinstance(value, str) else "?"


def _shown_url(url: str) -> str:
    base, mark, _ = re.split(r"([?#]|$)", url, maxsplit=1)
    return re.sub(r"(?<=//)[^/@]*@", "", base) + (f"{mark}…" if mark else "")


def _masked(command: str) -> str:
    """Return a command without secrets. It may contain arguments by mistake."""
    words = words_of(command)
    masked = list(_arguments(words))
    return command if masked == words else " ".join(masked)


def _arguments(args: Iterable[object]) -> Iterator[str]:
    from acp_bindings._secrets import secret_arguments  # noqa: PLC0415 - rarely needed

    shown = [_shown(each) for each in args]
    masked = set(secret_arguments(shown))
    for index, each in enumerate(shown):
        option, equals, _ = each.partition("=")
        yield each if index not in masked else f"{option}=…" if equals and option.startswith("-") else "…"


def _names(pairs: object) -> list[str]:
    return [name for each in as_items(pairs) if isinstance(name := as_members(each).get("name"), str)]


def _variables(entry: Entry) -> list[str]:
    references = [each for text in texts_in([entry.written, entry.written_cwd]) for each in text.references]
    return list(dict.fromkeys(each.name for each in references if each.kind == "env"))


def _key(session: Session) -> str:
    # Without the names in `server`, which depend on other files.
    servers = [{**as_members(each.server), "name": each.name} for each in session.entries]
    return json.dumps([session.source, session.cwd, servers])
