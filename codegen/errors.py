"""The errors of schemas and where they come from.

SourceError
├── LockError      the lock cannot be read, or a file does not match it
└── ReplaceError   a file could not be replaced; the old files were restored
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class SourceError(Exception):
    """A schema cannot be fetched, or is not an ACP schema."""


class LockError(SourceError):
    """`lock.toml` cannot be read, or *file* does not match it."""

    def __init__(self, file: str, reason: str) -> None:
        self.file = file
        self.reason = reason
        super().__init__(
            f"{file}: {reason}. Restore the folder from version control, or run: nox -s update_schema -- SOURCE"
        )


class ReplaceError(SourceError):
    """The file at *path* could not be replaced. The old files were restored, except for those in `lost`."""

    def __init__(self, path: Path, cause: OSError, *, lost: Sequence[Path] = ()) -> None:
        self.path = path
        self.lost = tuple(lost)
        """The copies of the files that could not be restored."""
        message = f"{path}: {cause.strerror or cause}"
        if lost:
            message += f". Some old files could not be restored; their copies are: {', '.join(map(str, lost))}"
        super().__init__(message)
