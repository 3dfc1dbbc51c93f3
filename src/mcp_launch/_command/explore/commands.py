"""`mcp-launch tools`, `resources`, `prompts`, `call` and `shell`.

Each starts its servers first, and imports the libraries, which takes time, while the servers start.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING

from mcp_launch._command.ahead import started_ahead
from mcp_launch._command.find_servers import read_inputs, text_of
from mcp_launch._command.inputs import Session, Typed, did_you_mean, name_of, there_are
from mcp_launch.failures import UnusableInput

if TYPE_CHECKING:
    from mcp_launch.options import Listing


def offers(typed: Typed, kind: Listing, *, timeout: float, as_json: bool, verbose: bool) -> int:
    """Print what the servers that are meant offer of a kind; the exit status.

    Raises:
        UnusableInput: what was typed or a file cannot be used, or standard output not be written to.
        SystemExit: a signal came.
    """
    sessions = read_inputs(typed)
    with started_ahead(sessions):
        # Imported late: it takes time, in which the servers get going.
        from mcp_launch._command.explore.listing import list_all  # noqa: PLC0415

        return list_all(sessions, kind, timeout=timeout, as_json=as_json, verbose=verbose)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Which tool is to be called, and with what."""

    server: str | None
    """Its name; None means the only one there is."""
    tool: str
    words: Sequence[str] = field(default=(), repr=False)
    """The arguments as typed: `name=value`."""
    whole: str | None = field(default=None, repr=False)
    """All arguments as a JSON object, or `@FILE` with one."""
    checked: bool = True
    """Whether arguments that the schema does not allow are refused here."""


def call(
    typed: Typed,
    meant: Call,
    *,
    timeout: float,
    wait: float | None,
    save: str | None,
    as_json: bool,
    verbose: bool,
    show_secrets: bool,
) -> int:
    """Call the tool and print its answer; the exit status.

    Raises:
        UnusableInput: what was typed or a file cannot be used, or the answer not be written.
        SystemExit: a signal came.
    """
    if meant.whole == "-":
        if "-" in typed.servers:
            raise UnusableInput("standard input holds the servers already; give the arguments as --args @FILE")
        meant = replace(meant, whole=text_of("-", source="standard input"))
    session = chosen(read_inputs(typed), meant.server, tool=meant.tool)
    with started_ahead([session]):
        # Imported late: it takes time, in which the server gets going.

        from mcp_launch._command.explore.calling import call_once  # noqa: PLC0415

        return call_once(
            session,
            meant,
            timeout=timeout,
            wait=wait,
            save=save,
            as_json=as_json,
            verbose=verbose,
            show_secrets=show_secrets,
        )


def read_words(
    words: Sequence[str], *, tool: str | None = None, has_command: bool
) -> tuple[list[str], str | None, str, list[str]]:
    """Where the servers are, the name of one of them, the tool, and its arguments.

    The words are `[FILE|URL] [SERVER] TOOL [NAME=VALUE]...`. With a command behind -- there is no FILE or URL, and with
    `tool`, which --tool gave, no TOOL.

    Raises:
        UnusableInput: no tool is named.
    """
    places = [] if has_command else list(words[:1])
    rest = list(words[len(places) :])
    names = list(takewhile(lambda word: "=" not in word, rest))
    if not names and tool is None:
        raise UnusableInput("no tool was named: call FILE [SERVER] TOOL name=value ..., or call TOOL ... -- COMMAND")
    # Only a file may hold several servers. Elsewhere a further name is refused as an argument without a value.
    has_several = "-" in places or bool(Typed(servers=places).files)
    has_server = has_several and len(names) > (1 if tool is None else 0)
    server = rest.pop(0) if has_server else None
    return places, server, rest.pop(0) if tool is None else tool, rest


def shell(
    typed: Typed, server: str | None, *, timeout: float, save: str | None, verbose: bool, show_secrets: bool
) -> int:
    """Explore the server of that name, or the only one if that is None; the exit status.

    Raises:
        UnusableInput: what was typed or a file cannot be used, or standard output not be written to.
        SystemExit: a signal came.
    """
    if "-" in typed.servers:
        raise UnusableInput("standard input is what is typed at the prompt; give FILE by its name")
    session = chosen(read_inputs(typed), server)
    with started_ahead([session]):
        # Imported late: it takes time, in which the server gets going.
        from mcp_launch._command.explore.prompt import explore  # noqa: PLC0415

        return explore(session, timeout=timeout, save=save, verbose=verbose, show_secrets=show_secrets)


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
