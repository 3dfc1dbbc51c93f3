"""`schema/lock.toml`: the source and the digest of each schema."""

from __future__ import annotations

import hashlib
import json
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
    """`lock.toml` cannot be read, or a file does not match it."""

    def __init__(self, file: str, reason: str) -> None:
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


def records_of(files: Mapping[str, bytes], *, source: str, version: str) -> dict[str, LockedFile]:
    """Return the records of the *files* of one source."""
    return {
        file: LockedFile(source=source, version=version, size=len(data), sha256=hashlib.sha256(data).hexdigest())
        for file, data in files.items()
    }


def read(folder: Path) -> dict[str, LockedFile]:
    """Return the records of the schema folder, by file.

    Raises:
        LockError: the lock is missing or invalid.
    """
    try:
        raw = tomllib.loads((folder / LOCK).read_text(encoding="utf-8"))
        return {file: LockedFile(**entry) for file, entry in raw.items()}
    except FileNotFoundError:
        raise LockError(LOCK, "the file is missing") from None
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise LockError(LOCK, f"not valid: {error}") from error


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
    expected, path = read(folder).get(file), folder / file
    if expected is None or not path.is_file():
        raise LockError(file, f"missing here or in {LOCK}")
    data = path.read_bytes()
    if records_of({file: data}, source=expected.source, version=expected.version)[file] != expected:
        raise LockError(file, f"differs from the file that {LOCK} records from {expected.source}")
    return data


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write every file of *contents*, whose paths are relative to *folder*."""
    for file, data in contents.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(data)
