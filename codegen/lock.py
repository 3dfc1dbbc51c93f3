"""`schema/lock.toml`: the source and the digest of each schema."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

FILES = ("v1/schema.json", "v1/schema.unstable.json", "v2/schema.json", "v2/schema.unstable.json")
"""The schemas that this project is generated from, by their path in the schema folder."""

LOCK = "lock.toml"

_HEADER = """\
# Where the schemas beside this file come from, and the digests that they must have.
# Written by `nox -s update_schema -- SOURCE`, checked by `nox -s generate`. Not to be edited.
"""


class SourceError(Exception):
    """A schema cannot be fetched or written, or is not an ACP schema."""


class LockError(SourceError):
    """`lock.toml` cannot be read, or *file* does not match it."""

    def __init__(self, file: str, reason: str) -> None:
        self.file = file
        super().__init__(
            f"{file}: {reason}. Restore the folder from version control, or run: nox -s update_schema -- SOURCE"
        )


@dataclass(frozen=True, kw_only=True)
class LockedFile:
    """The source and the content of one schema."""

    source: str
    """The exact source, as `update_schema` takes it."""
    version: str
    """The release that the source names, or "unknown"."""
    size: int
    """The size in bytes."""
    sha256: str
    """The digest in lower-case hexadecimal digits."""

    @classmethod
    def of(cls, data: bytes, *, source: str, version: str) -> LockedFile:
        """Return the record of *data*."""
        return cls(source=source, version=version, size=len(data), sha256=hashlib.sha256(data).hexdigest())


def read(folder: Path) -> dict[str, LockedFile]:
    """Return the records of the schema folder, by file.

    Raises:
        LockError: the lock is missing or invalid.
    """
    try:
        raw = tomllib.loads((folder / LOCK).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LockError(LOCK, "the file is missing") from None
    except tomllib.TOMLDecodeError as error:
        raise LockError(LOCK, f"not valid TOML: {error}") from error
    return {file: _record(file, entry) for file, entry in raw.items()}


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


def render(locked: Mapping[str, LockedFile]) -> str:
    """Return the text of a lock that holds *locked*, sorted by file."""
    return _HEADER + "".join(
        # A JSON string is also a TOML basic string.
        f"\n[{json.dumps(file)}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in asdict(entry).items())
        for file, entry in sorted(locked.items())
    )


def verified_bytes(folder: Path, file: str) -> bytes:
    """Return the bytes of one schema, verified against the lock.

    Raises:
        LockError: the file is missing, is not in the lock, or differs from it.
    """
    expected = read(folder).get(file)
    if expected is None:
        raise LockError(file, f"not listed in {LOCK}")
    try:
        data = (folder / file).read_bytes()
    except OSError as error:
        raise LockError(file, f"listed in {LOCK}, but cannot be read: {error.strerror}") from error
    actual = LockedFile.of(data, source=expected.source, version=expected.version)
    if actual != expected:
        reason = (
            f"differs from the file that {LOCK} records from {expected.source} "
            f"(expected sha256 {expected.sha256}, {expected.size} bytes; got {actual.sha256}, {actual.size} bytes)"
        )
        raise LockError(file, reason)
    return data


def replace_together(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write every file of *contents* (paths relative to *folder*). All are complete on disk before the first changes.

    Raises:
        SourceError: the file system refused. Version control has the old files.
    """
    fresh = {folder / file: (folder / file).with_name(f".{Path(file).name}.new") for file in contents}
    try:
        for (target, new), data in zip(fresh.items(), contents.values(), strict=True):
            target.parent.mkdir(parents=True, exist_ok=True)
            new.write_bytes(data)
        for target, new in fresh.items():
            os.replace(new, target)
    except OSError as error:
        raise SourceError(f"{error.filename2 or error.filename}: {error.strerror}") from error
    finally:
        for new in fresh.values():
            new.unlink(missing_ok=True)
