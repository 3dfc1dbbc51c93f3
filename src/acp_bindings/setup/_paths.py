"""Which texts are absolute paths, on POSIX and on Windows, whatever system this runs on.

The schema lets any text pass for a path, and `"."`, `"~"` or `""` for a `cwd` is among what agents are sent most often
and understand least: each takes it for another directory, or for none.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias

from acp_bindings._models.base import known_member
from acp_bindings._problems.transports import ARGUMENTS_APART
from acp_bindings.errors import AcpError
from acp_bindings.setup.errors import InvalidParams, one_line

Flavour: TypeAlias = Literal["posix", "windows", "any"]
"""Whose paths: those of the system that the agent runs on, or of either where that is not known."""

Likeness: TypeAlias = Literal[
    "empty",
    "nul",
    "not unicode",
    "quoted",
    "padded",
    "home",
    "variable",
    "url",
    "windows",
    "drive",
    "posix",
    "relative",
]
"""What a text is that is no absolute path."""


class NotAbsolute(InvalidParams, ValueError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A path that the protocol wants absolute is not: what a client must not send, and an agent refuses (-32602)."""

    def __init__(self, path: str, field: str, likeness: Likeness, flavour: Flavour) -> None:
        example = _EXAMPLES[flavour]
        told = f"{field}: {_shown(path)} is no absolute path: {_REASONS[likeness]}, as in {example}"
        super().__init__(told, data={"field": field})
        self.path = path
        """The text that was given."""
        self.field = field
        """Where it was given: `cwd`, `additionalDirectories[0]`, …"""
        self.likeness: Likeness = likeness
        """What it is instead."""
        self.flavour: Flavour = flavour
        """Whose paths were wanted."""

    def __str__(self) -> str:
        """`cwd: "~/x" is no absolute path: only a shell knows "~"; send the whole path, as in /home/me/project`."""
        return self.message


def require_absolute(path: str | os.PathLike[str], *, flavour: Flavour = "any", field: str = "cwd") -> str:
    """The text of *path*, unchanged, if that is an absolute path that JSON can hold.

    Nothing is resolved, expanded or looked up: whether there is such a directory, only the agent's system knows.

    Args:
        path: what is to be sent, or was received.
        flavour: whose paths, `"posix"` or `"windows"`: those of the system that the *agent* runs on.
        field: what to call it in the error.

    Raises:
        NotAbsolute: it is none; it says what it looks like and what to send.
        ValueError: there is no such *flavour*.
    """
    text = os.fspath(path)
    if not is_absolute(text, flavour=flavour):
        raise NotAbsolute(text, field, likeness(text), flavour)
    return text


def require_directories(paths: Iterable[str | os.PathLike[str]], *, flavour: Flavour = "any") -> list[str]:
    """The texts of *paths*, for `additionalDirectories`: each absolute, none left out.

    Raises:
        NotAbsolute: one is not absolute; `field` says which.
        TypeError: it is one path, not several.
    """
    if isinstance(paths, str | os.PathLike):
        raise TypeError("additionalDirectories is a list of paths, not one path")
    return [
        require_absolute(path, flavour=flavour, field=f"additionalDirectories[{index}]")
        for index, path in enumerate(paths)
    ]


def check_paths(params: object, *, flavour: Flavour = "any") -> None:
    """Refuse a request whose `cwd` or `additionalDirectories` are not absolute, as an agent that got it should.

    Args:
        params: of `session/new`, `session/load`, … of any protocol package; what has no paths passes.
        flavour: whose paths, those of the system that the agent runs on.

    Raises:
        NotAbsolute: one is not; it is the error to answer with.
    """
    cwd: str | None = known_member(params, "cwd")
    if cwd is not None:
        require_absolute(cwd, flavour=flavour)
    require_directories(known_member(params, "additional_directories") or (), flavour=flavour)


def is_absolute(path: str, *, flavour: Flavour = "any") -> bool:
    r"""Whether *path* is absolute: `/x` on POSIX; `C:\x`, `\\server\share`, `\\?\C:\x` on Windows, also with `/`."""
    check_flavour(flavour)
    if "\0" in path or _LONE_SURROGATE.search(path):
        return False
    posix, windows = path.startswith("/"), _WINDOWS.match(path) is not None
    return {"posix": posix, "windows": windows, "any": posix or windows}[flavour]


def check_flavour(flavour: object) -> None:
    """Refuse what is no `Flavour`.

    Raises:
        ValueError: it is none.
    """
    if flavour not in _EXAMPLES:
        raise ValueError(f'flavour is "posix", "windows" or "any", and not {flavour!r}')


def likeness(path: str) -> Likeness:
    """What *path* looks like, where it is not the absolute path that was wanted."""
    if not path:
        return "empty"
    if "\0" in path:
        return "nul"
    if _LONE_SURROGATE.search(path):
        return "not unicode"
    for looks, pattern in _LOOKS.items():
        if pattern.match(path):
            return looks
    return "relative"


_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")

_SLASH, _SEGMENT = r"[\\/]", r"[^\\/]+"
_DRIVE = f"[A-Za-z]:{_SLASH}"
_SHARE = f"{_SLASH}{{2}}(?![?.]{_SLASH}){_SEGMENT}{_SLASH}{_SEGMENT}"
_DEVICE = f"{_SLASH}{{2}}[?.]{_SLASH}{_SEGMENT}{_SLASH}"
_WINDOWS = re.compile(f"{_DRIVE}|{_SHARE}|{_DEVICE}")

_LOOKS: dict[Likeness, re.Pattern[str]] = {
    "quoted": re.compile(r"""(["']).*\1$""", re.DOTALL),
    "padded": re.compile(r"\s"),
    "home": re.compile(r"~[\w.-]*([\\/]|$)"),
    "variable": re.compile(r"\$\w|\$\{|%\w+%"),
    "url": re.compile(r"[A-Za-z][\w+.-]+:/"),
    "windows": _WINDOWS,
    "drive": re.compile(r"[A-Za-z]:|\\"),
    "posix": re.compile(r"/"),
}

_REASONS: dict[Likeness, str] = {
    "empty": "it is empty; send the directory",
    "nul": "it holds a NUL, which no path can; send the path alone",
    "not unicode": "its name is not valid Unicode, which JSON cannot hold; rename the directory, or send another",
    "quoted": "the quotes would be part of it; send it without them",
    "padded": "it begins with white space; send it without",
    "home": 'only a shell knows "~"; send the whole path',
    "variable": "nobody fills in its variable; send the whole path",
    "url": "it is a URL; send the path that it is of",
    "windows": "it is one of Windows, the agent is not there; send the path that the agent sees",
    "drive": "it depends on a current drive or directory; send drive and directory",
    "posix": "it is one of POSIX, without a drive; send the path that the agent sees",
    "relative": "it is relative, to what is not said; send the whole path",
}

_EXAMPLES: dict[Flavour, str] = {
    "posix": "/home/me/project",
    "windows": r"C:\Users\me\project",
    "any": r"/home/me/project or C:\Users\me\project",
}


_URL = re.compile(r"(?<![\w+.-])\w[\w+.-]+:[\\/]+")
"""The beginning of a URL, also of one that is quoted, padded or misspelt."""


def _shown(path: str) -> str:
    """The text in quotes, on one line, and without the secrets that a URL may hold."""
    told = path
    if url := _URL.search(path):
        shown, *query = re.split("[?#]", path[url.end() :], maxsplit=1)
        _, user, host = shown.rpartition("@")
        # A password may have a "?" too.
        told = path[: url.end()] + ("" if "@" in "".join(query) else "…" * bool(user) + host) + "…" * bool(query)
    return f'"{one_line(told)}"'


class CommandNotFound(AcpError, LookupError):  # noqa: N818 - says what is wrong, which a suffix would not
    """There is no program of this name that could be run."""

    def __init__(self, command: str, reason: str) -> None:
        super().__init__(command, reason)
        self.command = command
        self.reason = reason
        """Where it was looked for, and what may be wrong."""

    def __str__(self) -> str:
        """`"npx": not found on PATH; is it installed?`."""
        return f'"{self.command}": {self.reason}'


def resolve_command(command: str, *, cwd: str | os.PathLike[str] | None = None, path: str | None = None) -> str:
    r"""The absolute path of the program that *command* means on this system, as `shutil.which` finds it.

    It is what ACP wants in `command`, where people write `npx`. Only a client can tell: the agent may run elsewhere, or
    with another `PATH`. On Windows the extensions of `PATHEXT` are tried, so that `npx` becomes `…\npx.CMD`. Links are
    not followed: a program may go by the name that it is called with.

    Args:
        command: a name that is looked up on `PATH`, or a path, where `~` is the user's home.
        cwd: where a relative path begins; without it there are none.
        path: what to search instead of `PATH`.

    Raises:
        CommandNotFound: there is no such program, or it cannot be executed.
    """
    if "\0" in command or not command:
        raise CommandNotFound(command.replace("\0", "\\0"), "no program has such a name")
    wanted = os.path.expanduser(command)
    if os.path.dirname(wanted):
        if not os.path.isabs(wanted) and cwd is None:
            raise CommandNotFound(command, "a relative path; give cwd=, where it begins, or send an absolute one")
        wanted = os.path.abspath(os.path.join(cwd or "", wanted))
    found = shutil.which(wanted, path=path)
    if found is None:
        raise CommandNotFound(command, _reason(wanted))
    return os.path.abspath(found)


def _reason(wanted: str) -> str:
    if os.path.dirname(wanted):
        if os.path.isdir(wanted):
            return "it is a directory"
        if os.path.exists(wanted):
            return "it is not executable; try chmod +x"
        return "there is no such file" + _arguments(wanted)
    return "not found on PATH" + (_arguments(wanted) or "; is it installed?")


def _arguments(wanted: str) -> str:
    return f"; {ARGUMENTS_APART}" if any(map(str.isspace, wanted)) else ""


class OutsideRoots(AcpError, PermissionError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A path leads out of the directories of the session, or where it leads cannot be told."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path
        """The path that was asked for."""

    def __str__(self) -> str:
        """`"../x" is outside of the session's directories`."""
        return f'"{one_line(self.path)}" is outside of the session\'s directories'


class Roots:
    """The directories that a session may work in: its `cwd` and its `additionalDirectories`.

        roots = Roots(request.cwd, *request.additional_directories)
        roots.resolve("src/main.py").read_text()

    They are resolved once, here: a root that is replaced by a link later leads where it led when the session began.

    This holds back tools whose paths a model thinks up, not a program that runs at the same time: between the answer
    and the use of a path, what it leads to may be exchanged. Nor does it see that a file within has another name
    outside (a hard link, a mount).
    """

    def __init__(self, cwd: str | os.PathLike[str], *additional: str | os.PathLike[str]) -> None:
        """The roots of a session on this system.

        Raises:
            NotAbsolute: one of them is not an absolute path of this system.
        """
        first = require_absolute(cwd, flavour=_HERE)
        self.directories = (first, *require_directories(additional, flavour=_HERE))
        """As they were given, `cwd` first."""
        # One that cannot be resolved contains nothing.
        self._real = [real for each in self.directories if (real := _real(each))]

    def contains(self, path: str | os.PathLike[str]) -> bool:
        """Whether *path*, there or not yet, is one of the roots or lies in one; a relative one begins at `cwd`.

        False where that cannot be told: a loop of links, a directory that is closed to us, a text that others would
        take for something else (`~/x`, `file:///x`).
        """
        try:
            self.resolve(path)
        except OutsideRoots:
            return False
        return True

    def resolve(self, path: str | os.PathLike[str]) -> Path:
        """Where *path* leads, without links. What opens this, not *path*, opens what was looked at.

        Raises:
            OutsideRoots: that is outside of the roots, or cannot be told.
        """
        text = os.fspath(path)
        real = None if likeness(text) in _MISLEADING else _real(os.path.join(self.directories[0], text))
        if real is None or not any(_within(real, root) for root in self._real):
            raise OutsideRoots(text)
        return Path(real)

    def __repr__(self) -> str:
        """`Roots('/home/me/project', '/data')`."""
        return f"Roots({', '.join(map(repr, self.directories))})"


_HERE: Flavour = "windows" if os.name == "nt" else "posix"

_MISLEADING = {"empty", "nul", "home", "url"}


def _within(path: str, root: str) -> bool:
    """Whether *path* is *root* or lies in it; both are without links."""
    path, root = os.path.normcase(path), os.path.normcase(root)
    return path == root or path.startswith(root if root.endswith(os.sep) else root + os.sep)


def _real(path: str) -> str | None:
    """*path* without links, or None where the system does not tell.

    `realpath` goes on by the letter where it cannot look, so its answer is looked through once more.
    """
    try:
        real = Path(os.path.realpath(path))
        if any(map(_is_link, (*reversed(real.parents), real))):
            return None
    except (OSError, ValueError):
        return None
    return str(real)


def _is_link(path: Path) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False
