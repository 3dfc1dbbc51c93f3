"""The subcommands of `mcp-launch`, except `check`.

Those that need servers start them first and import the libraries while the servers start.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files
from itertools import takewhile
from typing import TYPE_CHECKING

from mcp_launch._command.find_servers import read_file, read_inputs, started_ahead, text_of
from mcp_launch._command.inputs import Call, Session, Typed, name_of, there_are
from mcp_launch._command.show.text import found_in, print_findings, refusing, write, write_file
from mcp_launch.config._formats import format_called
from mcp_launch.config._read import write_config
from mcp_launch.failures import UnusableInput, did_you_mean

if TYPE_CHECKING:
    from mcp_launch.options import Listing

_OF_LAUNCHING = frozenset(
    {"asks_user", "disabled", "missing_type", "not_read", "other_transport", "unknown_variable", "unset_variable"}
)
"""Codes of findings that are not reported, because they only matter for starting the servers. The new file means the
same as the old one there, or `write_config` reports the loss."""


def list_offers(typed: Typed, kind: Listing, *, timeout: float, as_json: bool, verbose: bool) -> int:
    """Print the tools, resources or prompts of all servers, and return the exit status.

    Raises:
        UnusableInput: the arguments or a file are invalid, or standard output cannot be written to.
        SystemExit: a signal arrived.
    """
    with refusing(kind, as_json=as_json):
        sessions = read_inputs(typed)
        with started_ahead(sessions):
            # Imported while the servers start.
            from mcp_launch._command.explore.listing import list_all  # noqa: PLC0415

            return list_all(sessions, kind, timeout=timeout, as_json=as_json, verbose=verbose)


def call(
    typed: Typed,
    words: Sequence[str],
    *,
    tool: str | None,
    whole: str | None,
    checked: bool,
    timeout: float,
    wait: float | None,
    save: str | None,
    as_json: bool,
    verbose: bool,
    show_secrets: bool,
) -> int:
    """Call a tool, print its result, and return the exit status.

    Raises:
        UnusableInput: the arguments or a file are invalid, or the result cannot be written.
        SystemExit: a signal arrived.
    """
    with refusing("call", as_json=as_json):
        places, server, tool, arguments = read_words(words, tool=tool, has_command=typed.command is not None)
        if whole == "-":
            if "-" in places:
                raise UnusableInput("standard input already contains the servers; use --args @FILE for the arguments")
            whole = text_of("-", source="standard input")
        session = chosen(read_inputs(replace(typed, servers=places)), server, tool=tool)
        with started_ahead([session]):
            # Imported while the server starts.
            from mcp_launch._command.explore.calling import call_once  # noqa: PLC0415

            return call_once(
                session,
                Call(tool=tool, words=arguments, whole=whole, checked=checked),
                timeout=timeout,
                wait=wait,
                save=save,
                as_json=as_json,
                verbose=verbose,
                show_secrets=show_secrets,
            )


def shell(
    typed: Typed,
    place: str | None,
    server: str | None,
    *,
    timeout: float,
    save: str | None,
    verbose: bool,
    show_secrets: bool,
) -> int:
    """Explore one server interactively, and return the exit status.

    Raises:
        UnusableInput: the arguments or a file are invalid, or standard output cannot be written to.
        SystemExit: a signal arrived.
    """
    if place == "-":
        raise UnusableInput("standard input is used for the commands of the shell; pass a FILE")
    session = chosen(read_inputs(replace(typed, servers=[] if place is None else [place])), server)
    with started_ahead([session]):
        # Imported while the server starts.
        from mcp_launch._command.explore.shell import explore  # noqa: PLC0415

        return explore(session, timeout=timeout, save=save, verbose=verbose, show_secrets=show_secrets)


def convert(file: str, *, to: str, origin: str | None = None, workspace: str | None = None) -> None:
    """Print a file in another format, and report on standard error what that format cannot express.

    Raises:
        UnusableInput: the file is invalid or cannot be converted, a format is unknown, or standard output cannot be
            written to.
    """
    format_called(to)  # first: an unknown format matters more than problems of the file
    config = read_file(file, format=origin, workspace=workspace)
    text, lost = write_config(config, to)
    found = [each for each in config.findings if each.code not in _OF_LAUNCHING]
    print_findings(found_in(config.source, sorted([*found, *lost], key=lambda each: each.place)))
    write_file(text)


def print_schema() -> None:
    """Print the JSON schema of the report of `check --json`.

    It is stored in a file, because generating it loads pydantic; the tests compare the two.

    Raises:
        UnusableInput: standard output cannot be written to.
    """
    schema = files("mcp_launch._command") / "report.schema.json"
    write(schema.read_text(encoding="utf-8").rstrip())


def read_words(
    words: Sequence[str], *, tool: str | None = None, has_command: bool
) -> tuple[list[str], str | None, str, list[str]]:
    """Return the files or URLs, the name of the server, the tool, and its arguments.

    The words are `[FILE|URL] [SERVER] TOOL [NAME=VALUE]...`, without FILE or URL if there is a command after `--`, and
    without TOOL if *tool* is given by `--tool`.

    Raises:
        UnusableInput: no tool is given.
    """
    places = [] if has_command else list(words[:1])
    rest = list(words[len(places) :])
    names = list(takewhile(lambda word: "=" not in word, rest))
    if not names and tool is None:
        raise UnusableInput(
            "no tool was given; use call FILE [SERVER] TOOL name=value ..., or call TOOL ... -- COMMAND"
        )
    # Only a file can contain several servers. Otherwise another name is rejected as an argument without a value.
    has_several = "-" in places or bool(Typed(servers=places).files)
    has_server = has_several and len(names) > (1 if tool is None else 0)
    server = rest.pop(0) if has_server else None
    return places, server, rest.pop(0) if tool is None else tool, rest


def chosen(sessions: Sequence[Session], name: str | None, *, tool: str | None = None) -> Session:
    """Return a session with only the server of this name, or with the only server if *name* is None.

    Raises:
        UnusableInput: the name is unknown, or required because there are several servers.
    """
    known = [(name_of(entry.server), session, entry) for session in sessions for entry in session.entries]
    meant = [each for each in known if name is None or each[0] == name]
    names = [each for each, _, _ in known if each is not None]
    if not known:
        raise UnusableInput("there are no servers")
    if name is None and len(known) > 1:
        if tool in names:
            raise UnusableInput(f'no tool of "{tool}" was given; use call FILE {tool} TOOL name=value ...')
        raise UnusableInput(
            f"specify the server; {there_are(names)}"
            if names
            else f"the {len(known)} servers have no names; add names to select one"
        )
    if not meant:
        raise UnusableInput(f'no server is named "{name}"{did_you_mean(name or "", names) or f"; {there_are(names)}"}')
    # If several servers have the name, the first is used, as in a launch.
    _, session, entry = meant[0]
    return replace(session, entries=[entry])


def names_in(places: Sequence[str]) -> list[str]:
    """Return the names of the servers in files; invalid files are skipped."""
    names: list[str] = []
    for file in Typed(servers=places).files:
        with suppress(UnusableInput):
            found = (name_of(server) for session in read_inputs(Typed(servers=[file])) for server in session.servers)
            names += [name for name in found if name is not None]
    return names
