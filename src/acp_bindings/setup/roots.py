"""Whether a file lies within the directories of a session: their boundary, with symbolic links followed.

Of the setup rules this looks at the file system, on the side of the agent; on that of the client `commands` does.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from acp_bindings.errors import AcpError
from acp_bindings.setup.paths import Flavour, likeness, require_absolute, require_directories
from acp_bindings.setup.shown import one_line

__all__ = ["OutsideRoots", "Roots"]


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
