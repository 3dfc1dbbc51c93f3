"""Reads and writes text files at paths that were checked before, for agents and clients."""

from __future__ import annotations

import io
import os
import stat
from contextlib import suppress
from errno import EINVAL
from itertools import islice
from pathlib import Path

from acp_bindings._atomic_write import atomic_write


def read_text(path: Path, *, most_bytes: int | None = None) -> str:
    """Return the text of a regular file, with its line ends as they are.

    Raises:
        OSError: the file cannot be read, or is not a regular file.
        ValueError: it is not UTF-8, or too large.
    """
    # A named pipe would wait for its other end, and a device may do anything when it is opened.
    more = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | more)) as file:
        _check_regular(os.fstat(file.fileno()), path)
        data = file.read(-1 if most_bytes is None else most_bytes + 1)
    if most_bytes is not None and len(data) > most_bytes:
        raise ValueError(f"the file has more than {most_bytes} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ValueError("the file is not UTF-8 text") from None


def write_text(path: Path, text: str) -> None:
    """Replace a file as a whole, or create it and its directory.

    Raises:
        OSError: the file cannot be written, or is not a regular file.
    """
    with suppress(FileNotFoundError):
        _check_regular(os.lstat(path), path)
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(str(path), text.encode(), follow=False)


def lines_of(text: str, line: int | None, limit: int | None) -> str:
    """Return up to *limit* lines of *text*, of which the first is the *line*th, counted from 1."""
    if line is None and limit is None:
        return text
    start = max((line or 1) - 1, 0)
    lines = io.StringIO(text)  # unlike `splitlines`, it splits only at line feeds, as editors do
    return "".join(islice(lines, start, None if limit is None else start + limit))


def _check_regular(found: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(EINVAL, "it is not a regular file", str(path))
