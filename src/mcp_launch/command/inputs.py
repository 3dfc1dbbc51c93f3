"""What the user typed, read: files, standard input, URLs, or a command become servers to launch."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast
from urllib.parse import urlsplit

from mcp_launch.command.signals import held
from mcp_launch.config.entries import Config, Finding
from mcp_launch.config.formats import format_called
from mcp_launch.config.read import read_config
from mcp_launch.failures import NoServers, UnusableInput
from mcp_launch.processes.ahead import end_the_rest, start_ahead
from mcp_launch.wording import Wording

__all__ = ["Session", "Typed", "read_file", "read_inputs", "started_ahead", "text_of"]

Entry: TypeAlias = Any
"""The raw JSON of a server, as ACP writes it."""


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
    """Whether the files of all clients are meant too that are there."""
    workspace: str | None = None
    """The directory of the project, as typed."""

    @property
    def files(self) -> list[str]:
        """Those of the servers that are files, and those that are found."""
        return [*(each for each in self.servers if each != "-" and not _is_url(each)), *self.found]

    @property
    def found(self) -> dict[str, str]:
        """The files of clients that are there, with the format of each, if they are meant; none that was typed."""
        if not self.discover:
            return {}
        # Imported here: few ask for it.
        from mcp_launch.config.locations import discover  # noqa: PLC0415

        typed = {os.path.abspath(each) for each in self.servers}
        found = discover(directory=self.workspace or os.getcwd())
        return {str(each.path): each.format for each in found if os.path.abspath(each.path) not in typed}


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Servers that were given together, and are launched in one directory."""

    source: str
    """What to call where they come from."""
    servers: list[Entry] = field(repr=False)
    cwd: str
    """Absolute."""
    findings: tuple[Finding, ...] = ()
    """What is odd in the file; of one that is several sessions, the first has them all."""
    wording: Wording = field(default_factory=Wording)
    """How it is said what to change there."""


def read_inputs(typed: Typed, *, unusable: Callable[[UnusableInput], object] | None = None) -> list[Session]:
    """The servers that are meant: a session for each file, and for each server that was typed.

    A file that names directories for some of its servers makes a session for each directory. `unusable` is told of each
    file that cannot be used, which is then left out.

    Raises:
        UnusableInput: nothing was typed, what was typed does not fit together, or a file cannot be used, of which
            nobody is told or besides which there is nothing.
    """
    _refuse_misfits(typed)
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
        sessions.append(_of_command(typed.command, typed))
    return _told_apart(_chosen(sessions, typed.only) if typed.only else sessions)


@contextmanager
def started_ahead(sessions: Iterable[Session], *, strict: bool = False) -> Generator[None]:
    """A block in which the processes of these servers run already, while what launches them is being imported."""
    try:
        # A signal between the start of a process and the note of it would leave one that nobody knows of.
        with held():
            for session in sessions:
                start_ahead(session.servers, cwd=session.cwd, strict=strict)
        yield
    finally:
        with held():
            end_the_rest()


def _refuse_misfits(typed: Typed) -> None:
    try:
        os.getcwd()
    except OSError as error:
        raise UnusableInput(f"the current directory cannot be used ({error.strerror}): go to another one") from None
    urls = [each for each in typed.servers if _is_url(each)]
    if not typed.servers and typed.command is None and not typed.discover:
        raise UnusableInput("no server was given: name a FILE, - for standard input, a URL, or -- and a command")
    if typed.command is not None and not typed.command:
        raise UnusableInput("nothing stands behind --: name the command of a server there")
    if typed.command and _is_url(typed.command[0]):
        raise UnusableInput("what stands behind -- is a URL, and no command: leave out the --")
    if twice := next((each for each, times in Counter(typed.servers).items() if times > 1), None):
        raise UnusableInput(f"{_source(twice)} was given twice")
    if typed.headers and len(urls) != 1:
        # What is secret for one of them is none of the other's business.
        raise UnusableInput(f"--header goes with one URL, and {len(urls) or 'none'} were given")
    if typed.sse and not urls:
        raise UnusableInput("--sse goes with a URL, and none was given")
    if typed.env and typed.command is None:
        raise UnusableInput("--env goes with a command behind --, and none was given")


def _is_url(text: str) -> bool:
    return text.lower().startswith(("http://", "https://"))


def read_file(given: str, *, format: str | None = None, workspace: str | None = None) -> Config:  # noqa: A002
    """What stands in a file, or in standard input if that is `-`; a workspace may be relative.

    Raises:
        UnusableInput: it cannot be read, or holds no list of servers.
    """
    source = _source(given)
    text = text_of(given, source=source)
    return read_config(
        text, source=source, format=format, workspace=None if workspace is None else os.path.abspath(workspace)
    )


def _read(given: str, typed: Typed) -> list[Session]:
    return [_of_url(given, typed)] if _is_url(given) else _of_config(read_file(given, workspace=typed.workspace), typed)


def _discovered(typed: Typed, unusable: Callable[[UnusableInput], object] | None) -> list[Session]:
    """The servers in the files that are there; most clients have other settings in the same file, and may have none."""
    sessions: list[Session] = []
    for file, name in typed.found.items():
        try:
            sessions += _of_config(read_file(file, format=name, workspace=typed.workspace or os.getcwd()), typed)
        except NoServers:
            continue
        except UnusableInput as error:
            if unusable is None:
                raise
            unusable(error)
    if not sessions and not typed.servers and typed.command is None:
        raise UnusableInput("--discover found no file with servers, of the project here or of the user")
    return sessions


def _of_config(config: Config, typed: Typed) -> list[Session]:
    if config.cwd is not None and not os.path.isabs(config.cwd):
        raise UnusableInput(f'{config.source}: cwd must be an absolute path, not "{config.cwd}"')
    shared = _directory(typed, config.cwd)
    servers: dict[str, list[Entry]] = {}
    for entry in config.entries:
        if not entry.disabled:
            cwd = os.path.normpath(os.path.join(shared, entry.cwd)) if entry.cwd else shared
            servers.setdefault(cwd, []).append(entry.server)
    wording = format_called(config.format).wording
    sessions = [Session(source=config.source, servers=each, cwd=cwd, wording=wording) for cwd, each in servers.items()]
    first, *others = sessions or [Session(source=config.source, servers=[], cwd=shared)]
    return [replace(first, findings=config.findings), *others]


def _source(given: str) -> str:
    if _is_url(given) or "://" in given:
        # Imported late: it takes as long as the start of a server.
        from acp_bindings.secrets.redact import shown_url  # noqa: PLC0415

        try:
            return shown_url(given)
        except ValueError:
            return "the URL"
    if given == "-":
        return "standard input"
    return given.partition("?")[0] if _LIKE_A_URL.match(given) else given


def _directory(typed: Typed, of_file: str | None = None) -> str:
    """What the user types may be relative; what a request says must be absolute."""
    return os.path.abspath(typed.cwd) if typed.cwd else of_file or os.getcwd()


def text_of(file: str, *, source: str) -> str:
    """What stands in a file, or comes from standard input if that is `-`.

    Raises:
        UnusableInput: it cannot be read, or is no text.
    """
    # Standard input is None when whoever started us has closed it.
    if file == "-" and sys.stdin is None:
        raise UnusableInput("standard input: is closed")
    try:
        if file == "-":
            data = sys.stdin.buffer.read()
        else:
            with open(file, "rb") as opened:
                data = opened.read()
        return data.decode("utf-8-sig")
    except FileNotFoundError as error:
        raise UnusableInput(f"{source}: {error.strerror}{_instead(file)}") from None
    except OSError as error:
        raise UnusableInput(f"{source}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UnusableInput(f"{source}: not UTF-8 at byte {error.start}") from None
    except ValueError:
        raise UnusableInput(f"{source}: is no name that a file can have") from None


_LIKE_A_URL = re.compile(r"\w{2,}:/|[\w.-]+:\d{1,5}(?:[/?#]|$)")


def _instead(file: str) -> str:
    """What a name of no file was most likely meant to be."""
    if _LIKE_A_URL.match(file):
        return "; is it a URL? Those begin with http:// or https://"
    is_program = not os.path.dirname(file) and shutil.which(file) is not None
    return "; is it a command? Those stand behind --" if is_program else ""


def _of_url(url: str, typed: Typed) -> Session:
    try:
        name = urlsplit(url).hostname
    except ValueError:
        name = None
    headers = [_header(each, number) for number, each in enumerate(typed.headers, 1)]
    entry = {"type": "sse" if typed.sse else "http", "name": name or "server", "url": url, "headers": headers}
    wording = Wording(http="leave out --sse", sse="add --sse")
    return Session(source=_source(url), servers=[entry], cwd=_directory(typed), wording=wording)


def _header(text: str, number: int) -> dict[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        # Not quoted: it may be the secret alone.
        raise UnusableInput(f"--header number {number} must be 'NAME: VALUE', and has no colon")
    return {"name": name.strip(), "value": value.strip()}


def _of_command(words: Sequence[str], typed: Typed) -> Session:
    cwd = _directory(typed)
    entry = {
        "name": _called(words),
        # As a shell finds it. ACP wants an absolute path, but of who writes a file, not of who types.
        "command": _found(words[0]),
        "args": list(words[1:]),
        "env": [_variable(each, number) for number, each in enumerate(typed.env, 1)],
    }
    return Session(source="--", servers=[entry], cwd=cwd)


def _found(command: str) -> str:
    found = shutil.which(command)
    return os.path.abspath(found) if found else command


_RUNNERS = frozenset(("bun", "bunx", "deno", "node", "npx", "pipx", "python", "python3", "uv", "uvx"))
_CODE = frozenset(("-c", "-e", "--eval"))
"""The options of those that run the text behind them, which is no name."""
_SUFFIXES = frozenset((".cjs", ".cmd", ".exe", ".js", ".mjs", ".py", ".sh", ".ts"))


def _called(words: Sequence[str]) -> str:
    """A name for the server of a command: what is run, also if another program runs it."""
    program = _stem(words[0])
    if program not in _RUNNERS:
        return program
    verbs = ("run", "x", "tool")
    meant = next((word for word in words[1:] if word in _CODE or not (word.startswith("-") or word in verbs)), words[0])
    if meant in _CODE:
        return program
    # Without the version that was asked for; a scope begins with the same character.
    package, _, _ = _stem(meant).partition("@")
    return package or program


def _stem(path: str) -> str:
    name = os.path.basename(path)
    stem, suffix = os.path.splitext(name)
    return stem if suffix in _SUFFIXES else name or path


def _variable(text: str, number: int) -> dict[str, str]:
    name, given, value = text.partition("=")
    if not given:
        if not name.isidentifier():
            # Not quoted: it may be the secret alone.
            raise UnusableInput(f"--env number {number} must be NAME=VALUE, or the NAME of a variable")
        if name not in os.environ:
            raise UnusableInput(f"--env {name}: there is no such variable here; say {name}=VALUE")
        value = os.environ[name]
    return {"name": name, "value": value}


def _chosen(sessions: Iterable[Session], only: Sequence[str]) -> list[Session]:
    """The servers of these names."""
    known = {name for session in sessions for name in _names(session)}
    if strange := next((name for name in only if name not in known), None):
        for session in sessions:
            if told := next((each for each in session.findings if each.server == strange and each.is_note), None):
                raise UnusableInput(f"{session.source}:{told.line}:{told.column}: {strange}: {told.message}")
        there_are = f"there are {', '.join(sorted(known))}" if known else "there are none"
        raise UnusableInput(f'no server is called "{strange}"; {there_are}')
    return [
        replace(
            session,
            servers=[entry for entry in session.servers if _name(entry) in only],
            findings=tuple(each for each in session.findings if each.server is None or each.server in only),
        )
        for session in sessions
    ]


def _told_apart(sessions: list[Session]) -> list[Session]:
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
                entry if (name := _name(entry)) is None else {**entry, "name": called(name, session)}
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
    return {name for entry in session.servers if (name := _name(entry)) is not None}


def _name(entry: Entry) -> str | None:
    name: object = cast("dict[str, object]", entry).get("name") if isinstance(entry, dict) else None
    return name if isinstance(name, str) and name else None
