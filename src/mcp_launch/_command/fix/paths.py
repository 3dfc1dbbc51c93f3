"""Finds the programs and files that paths in a config file were meant to name."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from glob import glob
from typing import TYPE_CHECKING, NamedTuple

from acp_bindings._lazy import closest
from mcp_launch._executable import RUNNERS
from mcp_launch._json_values import as_items, as_members

if TYPE_CHECKING:
    from mcp_launch._command.fix.draft import Draft

_PLACES = (
    "~/.local/bin",
    "~/.cargo/bin",
    "~/.bun/bin",
    "~/.deno/bin",
    "~/.volta/bin",
    "~/.nvm/versions/node/*/bin",
    "~/.pyenv/shims",
    "/opt/homebrew/bin",
    "/usr/local/bin",
)
"""Directories in which installers put programs, and that are not on every PATH."""
_SYNONYMS = {"python": ("python3",), "python3": ("python",)}
_SUFFIXES = (".cjs", ".js", ".json", ".mjs", ".py", ".sh", ".ts", ".toml", ".yaml", ".yml", ".db", ".jar")
_HOME = re.compile(r"^(?:~(?=[/\\]|$)|\$HOME\b|\$\{HOME\}|\$\{env:HOME\}|\$\{userHome\}|%USERPROFILE%)")


class Found(NamedTuple):
    """A file that was probably meant."""

    path: str
    is_guess: bool = False
    """True if it only has a similar name."""


def program_at(command: str, draft: Draft) -> str | None:
    """Return the file that a command means for a server, if there is one."""
    if os.path.dirname(command):
        return shutil.which(os.path.join(draft.cwd, command))
    return shutil.which(command, path=_path_of(draft))


def corrected_command(command: str, draft: Draft) -> Found | None:
    """Return the command that was meant by one that does not exist: without quotes, another path, or another name."""
    plain = command.strip().strip("\"'`")
    if plain != command and program_at(plain, draft):
        return Found(plain)
    if is_path(plain) and (found := corrected_path(plain, draft)) and shutil.which(found.path):
        return found
    name = os.path.splitext(os.path.basename(plain.replace("\\", "/")))[0]
    names = [name, *_SYNONYMS.get(name, ())]
    # Only of programs that start servers: another program with a similar name may do anything.
    if name not in RUNNERS and (near := closest(name, RUNNERS)):
        names.append(near)
    if is_path(plain) and not set(names) & set(RUNNERS):
        return None
    for each in names:
        if path := shutil.which(each) or _elsewhere(each):
            return Found(os.path.abspath(path))
    return None


def _path_of(draft: Draft) -> str:
    for pair in as_items(draft.server.get("env")):
        if as_members(pair).get("name") == "PATH":
            return str(pair.get("value"))
    return os.environ.get("PATH", os.defpath)


def _elsewhere(name: str) -> str | None:
    folders = [found for place in _PLACES for found in sorted(glob(os.path.expanduser(place)), reverse=True)]
    return shutil.which(name, path=os.pathsep.join(folders))


def is_path(text: str) -> bool:
    """Return True if an argument is meant as a path, rather than as a package, a URL or a word."""
    if "://" in text or text.startswith("@"):
        return False
    return bool(_HOME.match(text)) or "/" in text or "\\" in text or text.lower().endswith(_SUFFIXES)


def corrected_paths(args: Sequence[str], draft: Draft) -> tuple[list[str], list[str]]:
    """Return the arguments with existing paths instead of others, and those of the paths that are guesses."""
    changed: list[str] = []
    guesses: list[str] = []
    for arg in args:
        option, equals, value = arg.partition("=") if arg.startswith("-") else ("", "", arg)
        found = corrected_path(value, draft) if value and is_path(value) else None
        changed.append(f"{option}{equals}{found.path}" if found else arg)
        guesses += [found.path] if found and found.is_guess else []
    return changed, guesses


def corrected_path(text: str, draft: Draft) -> Found | None:
    """Return the existing path that was meant by one that does not exist, if there is one."""
    if "$" in _HOME.sub("", text) or os.path.exists(os.path.join(draft.cwd, text)):
        return None
    home = os.path.expanduser("~")
    plain = _HOME.sub(lambda _: home, text.strip().strip("\"'").removeprefix("file://"))
    wholes = [os.path.normpath(os.path.join(folder, plain)) for folder in (draft.folder, draft.cwd)]
    for each in (*wholes, *(each.replace("\\", "/") for each in wholes)):
        if os.path.exists(each):
            return Found(each)
    return next((Found(found, is_guess=True) for each in wholes if (found := _respelt(each))), None)


def _respelt(path: str) -> str | None:
    """Return a path of the same directory that differs in one name only, and only a little."""
    folder, rest = path, list[str]()
    while not os.path.isdir(folder):
        folder, name = os.path.split(folder)
        rest.insert(0, name)
        if not name:
            return None
    if not rest:
        return None
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    suffix = os.path.splitext(rest[0])[1]
    meant = [each for each in names if len(rest) > 1 or os.path.splitext(each)[1].lower() == suffix.lower()]
    near = next((each for each in meant if each.lower() == rest[0].lower()), None) or closest(
        rest[0], meant, cutoff=0.8
    )
    found = near and os.path.join(folder, near, *rest[1:])
    return found if found and os.path.exists(found) else None


def environments_near(draft: Draft) -> Iterator[str]:
    """Yield the Python programs of virtual environments beside the script, the file and the directory of the server."""
    scripts = [os.path.dirname(os.path.join(draft.cwd, each)) for each in draft.args if each.endswith(".py")]
    folders: list[str] = []
    for start in (*scripts, draft.folder, draft.cwd):
        folders += [start, os.path.dirname(start)]
    inside = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    paths = (os.path.join(each, name, *inside) for each in folders for name in (".venv", "venv"))
    yield from (each for each in dict.fromkeys(paths) if os.access(each, os.X_OK))
