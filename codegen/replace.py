"""Replacing several files together: all of them or none."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from codegen.errors import ReplaceError


def replace_together(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write every file of *contents* (paths relative to *folder*) in order.

    New and old versions are complete on disk before the first file changes. Neither replacing nor restoring needs
    space or a second write.

    Raises:
        ReplaceError: the file system refused; every file is as it was.
    """
    targets = {folder / file: data for file, data in contents.items()}
    touched: list[Path] = []
    lost: list[Path] = []
    current = folder
    try:
        for current, data in targets.items():
            current.parent.mkdir(parents=True, exist_ok=True)
            _new(current).write_bytes(data)
            if current.is_file():
                shutil.copymode(current, _new(current))
                shutil.copy2(current, _old(current))
        for current in targets:
            # Recorded first, because an interrupt may come between the two lines. Restoring twice does no harm.
            touched.append(current)
            os.replace(_new(current), current)
    except OSError as error:
        lost += _restore(touched)
        raise ReplaceError(current, error, lost=[_old(target) for target in lost]) from error
    except BaseException:
        lost += _restore(touched)
        raise
    finally:
        leftover = [_new(target) for target in targets] + [_old(target) for target in targets if target not in lost]
        for path in leftover:
            with contextlib.suppress(OSError):
                path.unlink()


def _restore(touched: list[Path]) -> list[Path]:
    """Undo the replacements, and return the files for which this failed."""
    lost: list[Path] = []
    for target in touched:
        try:
            if _old(target).exists():
                os.replace(_old(target), target)
            elif target.is_file():
                target.unlink()
        except OSError:
            lost.append(target)
    return lost


def _new(target: Path) -> Path:
    return target.with_name(f".{target.name}.new")


def _old(target: Path) -> Path:
    return target.with_name(f".{target.name}.old")
