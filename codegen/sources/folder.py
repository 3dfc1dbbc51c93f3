"""Schemas in a local folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.sources.delivery import Delivery
from codegen.sources.errors import FolderError
from codegen.sources.lock import FILES, UNKNOWN_VERSION

__all__ = ["FolderSource"]


@dataclass(frozen=True, kw_only=True)
class FolderSource:
    """A folder that holds the files under the same relative paths as the schema folder."""

    path: Path
    covers: tuple[str, ...] = FILES

    def fetch(self, files: Sequence[str]) -> Delivery:  # noqa: ARG002 - all of them cost nothing here
        """The files that the folder has."""
        present = [file for file in FILES if (self.path / file).is_file()]
        try:
            found = {file: (self.path / file).read_bytes() for file in present}
        except OSError as error:
            raise FolderError(self.path, error) from error
        # The lock is committed: the name says enough there, where the folder lies is nobody's business.
        return Delivery(source=f"folder:{self.path.resolve().name}", version=UNKNOWN_VERSION, files=found)
