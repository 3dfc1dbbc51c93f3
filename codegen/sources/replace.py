"""Several files of a folder replaced together, or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from codegen.sources.errors import ReplaceError

__all__ = ["replace_together"]


def replace_together(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write every file of `contents` (paths relative to `folder`), in their order.

    New and old versions are complete on disk before the first file changes, so that neither the
    way forward nor the way back needs space or a second write.

    Raises:
        ReplaceError: the file system refused; every file is as it was.
    """
    targets = {folder / file: data for file, data in contents.items()}
    touched: list[Path] = []
    lost: list[Path] = []
    at = folder
    try:
        for at, data in targets.items():
            at.parent.mkdir(parents=True, exist_ok=True)
            _new(at).write_bytes(data)
            if at.is_file():
                shutil.copymode(at, _new(at))
                shutil.copy2(at, _old(at))
        for at in targets:
            # Noted first: an interrupt may come between the two lines, and putting back twice does no harm.
            touched.append(at)
            os.replace(_new(at), at)
    except OSError as error:
        lost += _put_back(touched)
        raise ReplaceError(at, error, lost=[_old(target) for target in lost]) from error
    except BaseException:
        lost += _put_back(touched)
        raise
    finally:
        leftover = [_new(target) for target in targets] + [_old(target) for target in targets if target not in lost]
        for path in leftover:
            with contextlib.suppress(OSError):
                path.unlink()


def _put_back(touched: list[Path]) -> list[Path]:
    """Undo the replacements; the files for which that failed."""
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
