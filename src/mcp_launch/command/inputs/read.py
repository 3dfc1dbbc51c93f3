"""Turns what the user typed into sessions: the servers to launch, by their files and directories."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from mcp_launch.command.inputs import Session, Typed
from mcp_launch.command.inputs.files import read_file
from mcp_launch.command.inputs.given import is_url, source_of
from mcp_launch.command.inputs.names import only_named, told_apart
from mcp_launch.command.inputs.trust import trusted
from mcp_launch.command.inputs.typed_server import of_command, of_url
from mcp_launch.config.entries import Config, Entry
from mcp_launch.config.formats import format_called
from mcp_launch.failures import NoServers, UnusableInput

__all__ = ["read_inputs"]


def read_inputs(typed: Typed, *, unusable: Callable[[UnusableInput], object] | None = None) -> list[Session]:
    """The servers that are meant: a session for each file, and for each server that was typed.

    A file that names directories for some of its servers makes a session for each directory. `unusable` is called with
    the error of each file that cannot be used, which is then left out.

    Raises:
        UnusableInput: nothing was typed, or what was typed does not fit together; or a file cannot be used or is not
            trusted, and there is no `unusable` to call or nothing else to launch.
    """
    _refuse_contradictions(typed)
    more = typed.command is not None or typed.discover
    sessions: list[Session] = []
    for each in typed.servers:
        try:
            sessions += _read(each, typed)
        except UnusableInput as error:
            if unusable is None or not (sessions or more or each != typed.servers[-1]):
                raise
            unusable(error)
    sessions += _discovered(typed, unusable) if typed.discover else []
    if typed.command is not None:
        sessions.append(of_command(typed.command, typed))
    sessions = told_apart(only_named(sessions, typed.only) if typed.only else sessions)
    return sessions if typed.trust else trusted(sessions, unusable=unusable)


def _refuse_contradictions(typed: Typed) -> None:
    try:
        os.getcwd()
    except OSError as error:
        raise UnusableInput(f"the current directory cannot be used ({error.strerror}): go to another one") from None
    urls = [each for each in typed.servers if is_url(each)]
    if not typed.servers and typed.command is None and not typed.discover:
        raise UnusableInput("no server was given: name a FILE, - for standard input, a URL, or -- and a command")
    if typed.command is not None and not typed.command:
        raise UnusableInput("nothing stands behind --: name the command of a server there")
    if typed.command and is_url(typed.command[0]):
        raise UnusableInput("what stands behind -- is a URL, and no command: leave out the --")
    if twice := next((each for each, times in Counter(typed.servers).items() if times > 1), None):
        raise UnusableInput(f"{source_of(twice)} was given twice")
    if typed.headers and len(urls) != 1:
        # A secret for one of them must not be sent to the others.
        raise UnusableInput(f"--header goes with one URL, and {len(urls) or 'none'} were given")
    if typed.sse and not urls:
        raise UnusableInput("--sse goes with a URL, and none was given")
    if typed.env and typed.command is None:
        raise UnusableInput("--env goes with a command behind --, and none was given")


def _read(given: str, typed: Typed) -> list[Session]:
    if is_url(given):
        return [of_url(given, typed)]
    return _of_config(read_file(given, workspace=typed.workspace), typed, origin="file")


def _discovered(typed: Typed, unusable: Callable[[UnusableInput], object] | None) -> list[Session]:
    """The servers in the files that exist; one may have none, since most clients keep other settings there too."""
    sessions: list[Session] = []
    for file, found in typed.found.items():
        try:
            config = read_file(file, format=found.format, workspace=typed.workspace or os.getcwd())
            sessions += _of_config(config, typed, origin="project" if found.scope == "project" else "file")
        except NoServers:
            continue
        except UnusableInput as error:
            if unusable is None:
                raise
            unusable(error)
    if not sessions and not typed.servers and typed.command is None:
        raise UnusableInput("--discover found no file with servers, of the project here or of the user")
    return sessions


def _of_config(config: Config, typed: Typed, *, origin: Literal["file", "project"]) -> list[Session]:
    if config.cwd is not None and not os.path.isabs(config.cwd):
        raise UnusableInput(f'{config.source}: cwd must be an absolute path, not "{config.cwd}"')
    shared = typed.directory(config.cwd)
    entries: dict[str, list[Entry]] = {}
    for entry in config.entries:
        if not entry.disabled:
            cwd = os.path.normpath(os.path.join(shared, entry.cwd)) if entry.cwd else shared
            entries.setdefault(cwd, []).append(entry)
    wording = format_called(config.format).wording
    sessions = [
        Session(source=config.source, entries=each, cwd=cwd, origin=origin, wording=wording)
        for cwd, each in entries.items()
    ]
    first, *others = sessions or [Session(source=config.source, entries=[], cwd=shared, origin=origin)]
    return [replace(first, findings=config.findings), *others]
