"""The record of where each schema came from and the digest that its bytes must have."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.sources.errors import LockError, ReplaceError

FILES = ("v1/schema.json", "v1/schema.unstable.json", "v2/schema.json", "v2/schema.unstable.json")
"""The schemas that this project is generated from, by their path inside the schema folder."""

LOCK = "lock.toml"

UNKNOWN_VERSION = "unknown"
"""The version of what comes from a source that names none."""

_HEADER = """\
# Where the schemas beside this file come from, and the digests that they must have.
# Written by `nox -s update_schema -- SOURCE`, checked by `nox -s generate`. Not to be edited.
"""


@dataclass(frozen=True, kw_only=True)
class LockedFile:
    """Where one schema came from and which bytes it has."""

    source: str
    """What was fetched, exact enough to fetch it again, as `update_schema` takes it."""
    version: str
    """The release the source itself names, or "unknown"."""
    size: int
    """In bytes."""
    sha256: str
    """In lower-case hexadecimal digits."""

    @classmethod
    def of(cls, data: bytes, *, source: str, version: str) -> LockedFile:
        """The record of `data`."""
        return cls(source=source, version=version, size=len(data), sha256=hashlib.sha256(data).hexdigest())


def read(folder: Path) -> dict[str, LockedFile]:
    """The records of the schema folder, by file.

    Raises:
        LockError: there is no lock, or it is not one.
    """
    try:
        raw = tomllib.loads((folder / LOCK).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LockError(LOCK, "there is none beside the schemas") from None
    except OSError as error:
        raise LockError(LOCK, f"it cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LockError(LOCK, f"it is not TOML: {error}") from error
    return {file: _record(file, entry) for file, entry in raw.items()}


def render(locked: Mapping[str, LockedFile]) -> str:
    """The text of a lock that holds `locked`, sorted by file."""
    return _HEADER + "".join(
        # A JSON string is a TOML basic string as well.
        f"\n[{json.dumps(file)}]\n"
        f"source = {json.dumps(entry.source)}\n"
        f"version = {json.dumps(entry.version)}\n"
        f"size = {entry.size}\n"
        f"sha256 = {json.dumps(entry.sha256)}\n"
        for file, entry in sorted(locked.items())
    )


def verified_bytes(folder: Path, file: str) -> bytes:
    """The bytes of one schema, after they were found equal to what the lock records.

    Raises:
        LockError: the file is not in the lock, is missing, or is not the one recorded.
    """
    return _verified(folder, file, read(folder))


def load_schemas(folder: Path) -> dict[str, dict[str, Any]]:
    """The four schemas as parsed JSON, by file, each verified against the lock.

    Raises:
        LockError: a file is not in the lock, is missing, or is not the one recorded.
    """
    locked = read(folder)
    return {file: json.loads(_verified(folder, file, locked)) for file in FILES}


def _verified(folder: Path, file: str, locked: Mapping[str, LockedFile]) -> bytes:
    expected = locked.get(file)
    if expected is None:
        raise LockError(file, f"{LOCK} does not list it")
    try:
        data = (folder / file).read_bytes()
    except OSError as error:
        raise LockError(file, f"{LOCK} lists it, but it cannot be read: {error.strerror}") from error
    actual = LockedFile.of(data, source=expected.source, version=expected.version)
    if actual != expected:
        reason = (
            f"it is not the file that {LOCK} records from {expected.source} "
            f"(sha256 {expected.sha256}, {expected.size} bytes; here {actual.sha256}, {actual.size} bytes)"
        )
        raise LockError(file, reason)
    return data


def _record(file: str, entry: object) -> LockedFile:
    match entry:
        case {
            "source": str(source),
            "version": str(version),
            "size": int(size),
            "sha256": str(sha256),
        } if re.fullmatch("[0-9a-f]{64}", sha256):
            return LockedFile(source=source, version=version, size=size, sha256=sha256)
        case _:
            raise LockError(LOCK, f"{file!r} needs source, version, size and sha256")


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
