"""Absolute paths of POSIX and Windows, on any system; commands; and the directories of a session.

The schema accepts any string as a path. A `cwd` such as `"."`, `"~"` or `""` is a common mistake, which each agent
interprets differently.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

from acp_bindings._models.base import known_member
from acp_bindings._problems.transports import ARGUMENTS_APART
from acp_bindings.errors import AcpError, one_line
from acp_bindings.setup.errors import InvalidParams

Flavour: TypeAlias = Literal["posix", "windows", "any"]
"""The kind of paths: those of the system that the agent runs on, or any if it is not known."""

HERE: Flavour = "windows" if os.name == "nt" else "posix"
"""The kind of paths of this system."""


class NotAbsolute(InvalidParams, ValueError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A path is not absolute, although the protocol requires it. An agent responds with this error (-32602)."""

    def __init__(self, path: str, field: str, likeness: str, flavour: Flavour) -> None:
        _, reason = _MISTAKES[likeness]
        message = f'{field}: "{one_line(path)}" is not an absolute path: {reason}. Example: {_EXAMPLES[flavour]}'
        super().__init__(message, data={"field": field})
        self.path = path
        """The path."""
        self.field = field
        """Its field: `cwd`, `additionalDirectories[0]`, …"""
        self.likeness = likeness
        """The kind of mistake: `empty`, `nul`, `not unicode`, `quoted`, `padded`, `home`, `variable`, `url`, `windows`,
        `drive`, `posix` or `relative`."""
        self.flavour: Flavour = flavour
        """The required kind of paths."""

    def __str__(self) -> str:
        """`cwd: "~/x" is not an absolute path: only a shell expands "~"; send the full path. Example: /home/me/app`."""
        return self.message


def require_absolute(path: str | os.PathLike[str], *, flavour: Flavour = "any", field: str = "cwd") -> str:
    """Return *path* unchanged, as a string, if it is an absolute path that JSON can represent.

    The path is not resolved, expanded or looked up, because the agent may run on another system.

    Args:
        path: the path to send, or that was received.
        flavour: `"posix"` or `"windows"`: the kind of paths of the system that the *agent* runs on.
        field: the name of the field in the error.

    Raises:
        NotAbsolute: the path is not absolute.
        ValueError: *flavour* is unknown.
    """
    text = os.fspath(path)
    if not is_absolute(text, flavour=flavour):
        raise NotAbsolute(text, field, likeness(text), flavour)
    return text


def require_directories(paths: Iterable[str | os.PathLike[str]], *, flavour: Flavour = "any") -> list[str]:
    """Return *paths* as strings for `additionalDirectories`, if all are absolute.

    Raises:
        NotAbsolute: a path is not absolute; its index is in `field`.
        TypeError: *paths* is a single path.
    """
    if isinstance(paths, str | os.PathLike):
        raise TypeError("additionalDirectories must be a list of paths, not one path")
    return [
        require_absolute(path, flavour=flavour, field=f"additionalDirectories[{index}]")
        for index, path in enumerate(paths)
    ]


def check_paths(params: object, *, flavour: Flavour = "any") -> None:
    """Raise if `cwd` or `additionalDirectories` of a received request are not absolute.

    Args:
        params: the params of `session/new`, `session/load`, … of any protocol package. Params without paths pass.
        flavour: the kind of paths of the system that the agent runs on.

    Raises:
        NotAbsolute: a path is not absolute; respond with this error.
    """
    cwd: str | None = known_member(params, "cwd")
    if cwd is not None:
        require_absolute(cwd, flavour=flavour)
    require_directories(known_member(params, "additional_directories") or (), flavour=flavour)


def is_absolute(path: str, *, flavour: Flavour = "any") -> bool:
    r"""Return True for an absolute path: `/x` on POSIX; `C:\x`, `\\server\share`, `\\?\C:\x` on Windows, or `/`."""
    check_flavour(flavour)
    if "\0" in path or _LONE_SURROGATE.search(path):
        return False
    posix, windows = path.startswith("/"), _WINDOWS.match(path) is not None
    return {"posix": posix, "windows": windows, "any": posix or windows}[flavour]


def check_flavour(flavour: object) -> None:
    """Raise for an unknown `Flavour`.

    Raises:
        ValueError: *flavour* is unknown.
    """
    if flavour not in _EXAMPLES:
        raise ValueError(f'flavour must be "posix", "windows" or "any", not {flavour!r}')


def likeness(path: str) -> str:
    """Return the likely kind of mistake in *path*, which is not absolute."""
    return next(kind for kind, (pattern, _) in _MISTAKES.items() if pattern.match(path))


_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")

_SLASH, _SEGMENT = r"[\\/]", r"[^\\/]+"
_DRIVE = f"[A-Za-z]:{_SLASH}"
_SHARE = f"{_SLASH}{{2}}(?![?.]{_SLASH}){_SEGMENT}{_SLASH}{_SEGMENT}"
_DEVICE = f"{_SLASH}{{2}}[?.]{_SLASH}{_SEGMENT}{_SLASH}"
_WINDOWS = re.compile(f"{_DRIVE}|{_SHARE}|{_DEVICE}")

_MISTAKES: dict[str, tuple[re.Pattern[str], str]] = {
    "empty": (re.compile(r"\Z"), "it is empty; send a directory"),
    "nul": (re.compile(r"[^\0]*\0"), "a path cannot contain a NUL character"),
    "not unicode": (
        re.compile(r"[^\ud800-\udfff]*[\ud800-\udfff]"),
        "its name is not valid Unicode, so JSON cannot contain it; rename the directory or send another one",
    ),
    "quoted": (re.compile(r"""(["']).*\1$""", re.DOTALL), "the quotes count as part of the name; remove them"),
    "padded": (re.compile(r"\s"), "it begins with white space; remove it"),
    "home": (re.compile(r"~[\w.-]*([\\/]|$)"), 'only a shell expands "~"; send the full path'),
    "variable": (re.compile(r"\$\w|\$\{|%\w+%"), "variables are not expanded; send the full path"),
    "url": (re.compile(r"[A-Za-z][\w+.-]+:/"), "it is a URL; send a file path"),
    "windows": (_WINDOWS, "it is a Windows path, but the agent runs on POSIX; send the path that the agent uses"),
    "drive": (
        re.compile(r"[A-Za-z]:|\\"),
        "it depends on the current drive or directory; send the drive and the full path",
    ),
    "posix": (re.compile(r"/"), "it is a POSIX path without a drive; send the path that the agent uses"),
    "relative": (re.compile(""), "it is relative; send the full path"),
}
"""The kinds of mistakes, each with its pattern and the advice. The first pattern that matches counts."""

_EXAMPLES: dict[Flavour, str] = {
    "posix": "/home/me/project",
    "windows": r"C:\Users\me\project",
    "any": r"/home/me/project or C:\Users\me\project",
}


class CommandNotFound(AcpError, LookupError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A command was not found or is not executable."""

    def __init__(self, command: str, reason: str) -> None:
        super().__init__(command, reason)
        self.command = command
        self.reason = reason
        """The place that was searched, and the likely mistake."""

    def __str__(self) -> str:
        """`"npx": not found on PATH; is it installed?`."""
        return f'"{self.command}": {self.reason}'


def resolve_command(command: str, *, cwd: str | os.PathLike[str] | None = None, path: str | None = None) -> str:
    r"""Return the absolute path of a program on this system, as `shutil.which` finds it.

    ACP requires an absolute path in `command`, where people write `npx`. The client has to resolve it, because the
    agent may run elsewhere or with another `PATH`. On Windows the extensions of `PATHEXT` are tried, so `npx` becomes
    `…\npx.CMD`. Links are not followed, because a program may depend on the name that it is called with.

    Args:
        command: a name on `PATH`, or a path, which may begin with `~`.
        cwd: the base of a relative path; without it, relative paths are not accepted.
        path: the search path to use instead of `PATH`.

    Raises:
        CommandNotFound: the program does not exist or is not executable.
    """
    if "\0" in command or not command:
        raise CommandNotFound(command.replace("\0", "\\0"), "it is not the name of a program")
    wanted = os.path.expanduser(command)
    if os.path.dirname(wanted):
        if not os.path.isabs(wanted) and cwd is None:
            raise CommandNotFound(command, "it is a relative path; pass cwd=, or an absolute path")
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
        return "the file does not exist" + _arguments(wanted)
    return "not found on PATH" + (_arguments(wanted) or "; is it installed?")


def _arguments(wanted: str) -> str:
    return f"; {ARGUMENTS_APART}" if any(map(str.isspace, wanted)) else ""


class OutsideRoots(AcpError, PermissionError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A path is outside the directories of the session, or cannot be resolved."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path
        """The path."""

    def __str__(self) -> str:
        """`"~/x" is outside the directories of the session: only a shell expands "~"`."""
        kind = likeness(self.path)
        # Its advice is for the directories of a session, not for a path in them.
        reason = _MISTAKES[kind][1].partition(";")[0] if kind in {*_MISLEADING, "not unicode"} else ""
        return f'"{one_line(self.path)}" is outside the directories of the session' + (reason and f": {reason}")


class Roots:
    """The directories that a session may work in: its `cwd` and its `additionalDirectories`.

        roots = Roots(request.cwd, *request.additional_directories)
        roots.resolve("src/main.py").read_text()

    They are resolved once, when the object is created. Replacing a root with a link later has no effect.

    This protects against paths that a model makes up, not against a program that runs at the same time and replaces a
    file between the check and its use. It does not detect hard links or mounts.
    """

    def __init__(self, cwd: str | os.PathLike[str], *additional: str | os.PathLike[str]) -> None:
        """Resolve the directories of a session on this system.

        Raises:
            NotAbsolute: one of them is not an absolute path of this system.
        """
        first = require_absolute(cwd, flavour=HERE)
        self.directories = (first, *require_directories(additional, flavour=HERE))
        """The directories as passed, `cwd` first."""
        self._real = [Path(os.path.realpath(each)) for each in self.directories]

    def contains(self, path: str | os.PathLike[str]) -> bool:
        """Return True if *path*, which need not exist, is in one of the roots. A relative path begins at `cwd`.

        Return False if the path cannot be resolved: a loop of links, a directory without access, or a string that other
        programs interpret differently (`~/x`, `file:///x`).
        """
        try:
            self.resolve(path)
        except OSError:
            return False
        return True

    def resolve(self, path: str | os.PathLike[str]) -> Path:
        """Return *path* with links resolved. Open the result, not *path*.

        Raises:
            OutsideRoots: the path is outside the roots.
            OSError: it cannot be resolved, as in a loop of links, or below a file, or is too long for the system.
            ValueError: a model has passed something else, such as a number.
        """
        try:
            text = os.fspath(path)
        except TypeError as error:
            raise ValueError(f"path: {error}") from None
        if len(text) > _LONGEST:
            # First, because the work below grows with the square of the number of its parts.
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        real = Path()  # not inside any root, because it is relative
        with suppress(ValueError):  # as for a NUL character
            real = Path(os.path.realpath(os.path.join(self.directories[0], text)))
        if likeness(text) in _MISLEADING or not any(map(real.is_relative_to, self._real)):
            # Also if it cannot be resolved, because the error would show what is there.
            raise OutsideRoots(text)
        # `realpath` keeps parts that it cannot access, so its result is checked for links again.
        if any(map(_is_link, (*reversed(real.parents), real))):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        return real

    def __repr__(self) -> str:
        """`Roots('/home/me/project', '/data')`."""
        return f"Roots({', '.join(map(repr, self.directories))})"


_LONGEST = 32767 if os.name == "nt" else 4096
"""Characters of a path. The system refuses longer ones."""

_MISLEADING = {"empty", "nul", "home", "url"}


def _is_link(path: Path) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False
