"""Reads the servers that the command line names, and starts their processes."""

from __future__ import annotations

import os
import re
import shutil
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import takewhile
from typing import Any, Literal
from urllib.parse import urlsplit

from mcp_launch._command.inputs import (
    Session,
    Typed,
    choices,
    is_like_a_url,
    is_url,
    name_of,
    only_named,
    source_of,
    with_unique_names,
)
from mcp_launch._command.show.text import findings_of, print_findings
from mcp_launch._command.signals import signals_deferred
from mcp_launch._command.trust import trusted
from mcp_launch._executable import RUNNERS, WITH_VALUE, WITH_VALUE_OF_DOCKER, operand_in
from mcp_launch._spawn_ahead import end_the_rest, start_ahead
from mcp_launch.config._detection import project_of
from mcp_launch.config._documents import Place
from mcp_launch.config._entries import Config, Entry, input_ids
from mcp_launch.config._read import read_config
from mcp_launch.config._references import texts_in
from mcp_launch.failures import NoServers, Phrases, UnusableInput, did_you_mean

LONGEST = 16 * 2**20
"""The maximum size of a file, in bytes. Some clients keep other data in their config files."""
_BEHIND = "; is it a command? Put commands after --"
_SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts", ".sh")
_CODE = frozenset(("-c", "-e", "--eval"))
"""Options followed by code, which cannot be used as a name."""


def read_inputs(typed: Typed, *, unusable: list[str] | None = None) -> list[Session]:
    """Return a session for each file, each URL and the command.

    A file that specifies directories for some of its servers yields a session for each directory. With *unusable*,
    files with errors are skipped, and the errors are added to it.
    """
    _refuse_contradictions(typed)
    inputs = inputs_of(typed.inputs)
    sessions: list[Session] = []
    for each in typed.servers:
        with noted(unusable):
            sessions += _read(each, typed, inputs)
    sessions += _discovered(typed, inputs, unusable) if typed.discover else []
    if typed.command is not None:
        sessions.append(command_session(typed.command, typed))
    refuse_unknown(inputs, (name for session in sessions for name in session.asked))
    sessions = with_unique_names(sessions)
    sessions = only_named(sessions, typed.only) if typed.only else sessions
    return sessions if typed.trust else trusted(sessions, unusable=unusable)


@contextmanager
def noted(unusable: list[str] | None) -> Generator[None]:
    """Add the message of an UnusableInput to the list instead of raising it, if there is a list."""
    try:
        yield
    except UnusableInput as error:
        if unusable is None:
            raise
        unusable.append(str(error))


@contextmanager
def started_ahead(sessions: Iterable[Session], *, strict: bool = False) -> Generator[None]:
    """Start the processes of these servers, so that they run while the libraries are imported.

    With *strict*, commands that the format of their file does not allow are left out.

    At the end of the block, processes that the launcher did not take over are ended.
    """
    try:
        # Otherwise a signal right after a process was started, before it is registered, would leave it running.
        with signals_deferred():
            for session in sessions:
                start_ahead(session.servers, cwd=session.cwd, strict=strict and bool(session.phrases.absolute))
        yield
    finally:
        with signals_deferred():
            end_the_rest()


def read_file(
    given: str,
    *,
    format: str | None = None,  # noqa: A002 - the word of the command line
    workspace: str | None = None,
    inputs: Mapping[str, str] | None = None,
) -> Config:
    """Read the config in a file, or on standard input if that is `-`. *workspace* may be relative."""
    directory = None if workspace is None else os.path.abspath(workspace)
    try:
        text = text_of(given)
        return read_config(text, source=source_of(given), format=format, workspace=directory, inputs=inputs)
    except NoServers:
        raise
    except UnusableInput as error:
        raise UnusableInput(f"{error}{_instead(given)}") from None


def inputs_of(given: Sequence[str], *, option: str = "--set") -> dict[str, str]:
    """Return the values of inputs by name, from `NAME=VALUE` or the `NAME` of a variable."""
    pairs = [_variable(each, number, option=option) for number, each in enumerate(given, 1)]
    return {pair["name"]: pair["value"] for pair in pairs}


def asked_in(config: Config) -> list[str]:
    """Return the names of the inputs that a file declares or refers to."""
    used = texts_in([[entry.written, entry.written_cwd] for entry in config.entries])
    return input_ids(config.rest) + [each.name for text in used for each in text.references if each.kind == "input"]


def refuse_unknown(given: Iterable[str], asked: Iterable[str]) -> None:
    """Reject inputs that no file asks for, which are probably misspelled."""
    known = sorted(set(asked))
    for name in given:
        if name not in known:
            raise UnusableInput(
                f"--set {name}: no file asks for this{did_you_mean(name, known) or f'; {choices(known)}'}"
            )


def text_of(file: str) -> str:
    """Return the text of a file, or of standard input if that is `-`, with its byte order mark."""
    source = source_of(file)
    # Standard input is None if the parent process has closed it.
    if file == "-" and sys.stdin is None:
        raise UnusableInput("standard input: is closed")
    try:
        if file == "-":
            data = sys.stdin.buffer.read(LONGEST + 1)
        else:
            with open(file, "rb") as opened:
                data = opened.read(LONGEST + 1)
        if len(data) > LONGEST:
            raise UnusableInput(f"{source}: is larger than {LONGEST >> 20} MB; is it a config file?")
        return data.decode()
    except OSError as error:
        raise UnusableInput(f"{source}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        # As PowerShell and Notepad write it.
        is_utf16 = error.object.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        hint = "; is it UTF-16? Save it as UTF-8" if is_utf16 else ""
        raise UnusableInput(f"{source}: not UTF-8 at byte {error.start}{hint}") from None
    except ValueError:
        raise UnusableInput(f"{source}: is not a valid file name") from None


def read_words(
    words: Sequence[str], *, tool: str | None = None, has_command: bool
) -> tuple[list[str], str | None, str, list[str]]:
    """Return the files or URLs, the name of the server, the tool, and its arguments.

    The words are `[FILE|URL] [SERVER] TOOL [NAME=VALUE]...`, without FILE or URL if there is a command after `--`, and
    without TOOL if *tool* is given by `--tool`.
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


def chosen(sessions: list[Session], name: str | None, *, tool: str | None = None) -> Session:
    """Return a session with only the server of this name, or with the only server if *name* is None."""
    known = [(name_of(entry.server), session, entry) for session in not_empty(sessions) for entry in session.entries]
    meant = [each for each in known if name is None or each[0] == name]
    names = [each for each, _, _ in known if each is not None]
    if name is None and len(known) > 1:
        if tool in names:
            raise UnusableInput(f'no tool of "{tool}" was given; use call FILE {tool} TOOL name=value ...')
        raise UnusableInput(
            f"specify the server after the file; {choices(names)}"
            if names
            else f"the {len(known)} servers have no names; add names to select one"
        )
    if not meant:
        raise UnusableInput(f'no server is named "{name}"{did_you_mean(name or "", names) or f"; {choices(names)}"}')
    # If several servers have the name, the first is used, as in a launch.
    name, session, entry = meant[0]
    # The first session of a file has the findings about all of its servers.
    found = tuple(each for every in sessions for each in every.findings if each.server in {None, name})
    return replace(session, entries=[entry], findings=found)


def not_empty(sessions: list[Session]) -> list[Session]:
    """Return the sessions; if they have no servers, print the findings, which may say why, and raise."""
    if any(session.entries for session in sessions):
        return sessions
    print_findings(findings_of(sessions))
    raise UnusableInput("no servers were found")


def names_in(places: Sequence[str]) -> list[str]:
    """Return the names of the servers in files; invalid files are skipped."""
    names: list[str] = []
    for file in Typed(servers=places).files:
        with suppress(UnusableInput):
            found = (name_of(server) for session in read_inputs(Typed(servers=[file])) for server in session.servers)
            names += [name for name in found if name is not None]
    return names


def _refuse_contradictions(typed: Typed) -> None:
    try:
        os.getcwd()
    except OSError as error:
        raise UnusableInput(f"the current directory cannot be used ({error.strerror}); change to another one") from None
    urls = [each for each in typed.servers if is_url(each)]
    command = typed.command
    twice = next((source_of(each) for each, times in Counter(typed.servers).items() if times > 1), None)
    contradictions = {
        "no server was given: pass a FILE, - for standard input, a URL, or -- and a command": not (
            typed.servers or typed.discover or command is not None
        ),
        "no command follows --": command is not None and not command,
        "a URL follows --, not a command; leave out the --": command and is_url(command[0]),
        f"{twice} was given twice": twice,
        # A secret for one URL must not be sent to the others.
        f"--header requires exactly one URL, not {len(urls)}": typed.headers and len(urls) != 1,
        "--sse requires a URL": typed.sse and not urls,
        "--env requires a command after --": typed.env and command is None,
    }
    if message := next((message for message, is_one in contradictions.items() if is_one), None):
        raise UnusableInput(message)


def _read(given: str, typed: Typed, inputs: Mapping[str, str]) -> list[Session]:
    if is_url(given):
        return [url_session(given, typed)]
    return config_sessions(read_file(given, workspace=typed.workspace, inputs=inputs), typed, origin="file")


def _discovered(typed: Typed, inputs: Mapping[str, str], unusable: list[str] | None) -> list[Session]:
    """Return the servers in the files of clients, which may also contain only other settings."""
    sessions: list[Session] = []
    for file, found in typed.found.items():
        with noted(unusable), suppress(NoServers):
            # Claude Code stores the servers of a project under the root of its repository.
            workspace = typed.workspace or (None if found.scope == "project" else str(typed.projects[-1]))
            config = read_file(file, format=found.format, workspace=workspace, inputs=inputs)
            sessions += config_sessions(config, typed, origin="project" if found.scope == "project" else "file")
    if not sessions and not typed.servers and typed.command is None:
        raise UnusableInput("--discover found no servers in the files of this project or your own")
    return sessions


def config_sessions(config: Config, typed: Typed, *, origin: Literal["file", "project"]) -> list[Session]:
    """Return the servers of a config that are not disabled, a session for each directory."""
    if config.cwd is not None and not os.path.isabs(config.cwd):
        raise UnusableInput(f'{config.source}: cwd must be an absolute path, not "{config.cwd}"')
    project = os.path.abspath(typed.workspace) if typed.workspace else project_of(config.source, os.environ)
    shared = typed.directory(config.cwd or project)
    entries: dict[str, list[Entry]] = {}
    for entry in config.entries:
        if not entry.disabled:
            cwd = os.path.normpath(os.path.join(shared, entry.cwd)) if entry.cwd else shared
            entries.setdefault(cwd, []).append(entry)
    sessions = [
        Session(source=config.source, entries=each, cwd=cwd, origin=origin, phrases=config.phrases)
        for cwd, each in entries.items()
    ]
    first, *others = sessions or [Session(source=config.source, entries=[], cwd=shared, origin=origin)]
    return [replace(first, findings=config.findings, asked=asked_in(config)), *others]


def url_session(url: str, typed: Typed) -> Session:
    try:
        name = urlsplit(url).hostname
    except ValueError:
        name = None
    headers = [_header(each, number) for number, each in enumerate(typed.headers, 1)]
    server = {"type": "sse" if typed.sse else "http", "name": name or "server", "url": url, "headers": headers}
    phrases = Phrases(http="leave out --sse", sse="add --sse")
    return _typed_session(source_of(url), server, typed, phrases)


def command_session(words: Sequence[str], typed: Typed) -> Session:
    # Looked up as a shell does: users need not type the absolute path that ACP requires.
    found = shutil.which(words[0])
    server = {
        "name": _called(words),
        "command": os.path.abspath(found) if found else words[0],
        "args": list(words[1:]),
        "env": [_variable(each, number) for number, each in enumerate(typed.env, 1)],
    }
    return _typed_session("--", server, typed, Phrases(absolute=""))


def _typed_session(source: str, server: dict[str, Any], typed: Typed, phrases: Phrases) -> Session:
    entry = Entry(name=server["name"], server=server, place=Place(1, 1), written=server)
    return Session(source=source, entries=[entry], cwd=typed.directory(), phrases=phrases)


def _instead(file: str) -> str:
    """Return what may have been meant by a file that cannot be used."""
    if is_like_a_url(file):
        return "; is it a URL? URLs begin with http:// or https://"
    is_script = file.lower().endswith(_SCRIPTS)
    return _BEHIND if is_script or ("." not in os.path.basename(file) and shutil.which(file)) else ""


def _header(text: str, number: int) -> dict[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        # Not quoted, because it may be a secret.
        raise UnusableInput(f"--header number {number} must be 'NAME: VALUE', but has no colon")
    return {"name": name.strip(), "value": value.strip()}


def _called(words: Sequence[str]) -> str:
    """Return a name for the server of a command: the program, or the script or package that a runner starts."""
    program = _stem(words[0])
    if program not in RUNNERS:
        return program
    skip = WITH_VALUE_OF_DOCKER if program in ("docker", "podman") else WITH_VALUE
    at = operand_in(words[1:], with_value=skip)
    if at is None or words[at] in _CODE:
        return program
    # Without the version and extras; the scope of an npm package is not part of the stem.
    return re.split(r"[@=<>!~\[]", _stem(words[at + 1]), maxsplit=1)[0] or program


def _stem(path: str) -> str:
    name = os.path.basename(path)
    stem, suffix = os.path.splitext(name)
    return stem if suffix in (*_SCRIPTS, ".cmd", ".exe") else name or path


def _variable(text: str, number: int, *, option: str = "--env") -> dict[str, str]:
    name, given, value = text.partition("=")
    if not given:
        # The ids of inputs often have dashes, which a shell does not allow in the name of a variable.
        is_id = option != "--env" and re.fullmatch(r"[A-Za-z][\w.-]*", name, re.ASCII)
        variable = re.sub(r"[.-]", "_", name).upper() if is_id and not name.isidentifier() else name
        if not variable.isidentifier():
            # Not quoted, because it may be a secret.
            raise UnusableInput(f"{option} number {number} must be NAME=VALUE, or the NAME of a variable")
        if variable not in os.environ:
            raise UnusableInput(f"{option} {name}: the variable {variable} is not set; use {name}=VALUE")
        value = os.environ[variable]
    return {"name": name, "value": value}
