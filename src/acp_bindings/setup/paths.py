"""Which texts are absolute paths, on POSIX and on Windows, whatever system this runs on.

The schema lets any text pass for a path, and `"."`, `"~"` or `""` for a `cwd` is among what agents are sent most often
and understand least: each takes it for another directory, or for none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

from acp_bindings._models.known import known_member
from acp_bindings.setup.errors import InvalidParams
from acp_bindings.setup.shown import one_line

__all__ = [
    "Flavour",
    "Likeness",
    "NotAbsolute",
    "check_flavour",
    "check_paths",
    "is_absolute",
    "likeness",
    "require_absolute",
    "require_directories",
]

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
