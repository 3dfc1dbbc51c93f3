"""Writes a file without destroying the old one on errors."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from contextlib import suppress
from errno import EBUSY
from functools import partial
from pathlib import Path
from secrets import token_hex


def atomic_write(path: str, data: bytes, *, follow: bool = True, private: bool = False) -> None:
    """Write the bytes into the file, which is unchanged if that fails.

    Args:
        path: the file.
        data: its new content.
        follow: True to replace the target of a link, False to replace the link: for a path that was checked before.
        private: True for a file that only this user can read, also if others could read the old one. A file that can be
            written but not replaced keeps its mode.

    Raises:
        OSError: that is not possible. It names *path*, and never a temporary file.
    """
    target = os.path.realpath(path) if follow else path
    try:
        if not (_is_replaceable(path) and _replaced(target, data, private=private)):
            Path(path).write_bytes(data)
    except OSError as error:
        error.filename, error.filename2 = path, None
        raise


def _replaced(target: str, data: bytes, *, private: bool) -> bool:
    """Replace the file, or create it. Return False if it is mounted into a container and so cannot be replaced."""
    beside = os.path.join(os.path.dirname(target), f".acp-bindings-{token_hex(8)}.tmp")
    try:
        with open(beside, "xb", opener=partial(os.open, mode=0o600 if private else 0o666)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            if not private:
                shutil.copymode(target, beside)
            _keep_owner(target, beside)
        os.replace(beside, target)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(beside)
        if getattr(error, "errno", None) != EBUSY:
            raise
        return False
    return True


def _keep_owner(target: str, beside: str) -> None:
    """Give the new file to the owner of the old one, which an administrator may write for another user."""
    if sys.platform != "win32":
        found = os.stat(target)
        with suppress(OSError):
            os.chown(beside, found.st_uid, found.st_gid)


def _is_replaceable(path: str) -> bool:
    """Return False for a device, a pipe, our own output, and a file that may be written but not replaced."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return True
    folder = os.path.dirname(os.path.realpath(path))
    is_ordinary = stat.S_ISREG(mode) and not path.startswith(("/dev/", "/proc/"))
    return is_ordinary and os.access(path, os.W_OK) and os.access(folder, os.W_OK)
