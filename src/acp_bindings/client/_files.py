"""The file system of a client, for agents of v1: `fs/read_text_file` and `fs/write_text_file`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from acp_bindings._text_files import lines_of, read_text, write_text
from acp_bindings.errors import AcpError
from acp_bindings.setup._paths import HERE, OutsideRoots, Roots, require_absolute
from acp_bindings.setup.errors import NOT_FOUND, InvalidParams, RequestError

if TYPE_CHECKING:
    from acp_bindings.setup.capabilities import ClientCapability

MOST_BYTES = 16 * 1024 * 1024
"""The default maximum size of a file that is read, in bytes."""


class Files:
    """Reads and writes text files for an agent, inside the directories of the session or of the client.

        client = Client("editor", version="1.0", files=Files())

    Links are resolved first, so a link that leads out is refused. Only regular files are opened, so a pipe or a device
    does not block. A file is replaced as a whole when it is written, so nobody sees half of it; it keeps its
    permissions, and missing directories are created.

    An editor with unsaved changes overrides `read`, which gets the resolved path.
    """

    def __init__(self, *roots: str | os.PathLike[str], read_only: bool = False, most_bytes: int = MOST_BYTES) -> None:
        """Create the file system.

        Args:
            roots: the directories in which files may be read and written; by default those of each session.
            read_only: do not write, and advertise only `fs.read_text_file`.
            most_bytes: the maximum size of a file that is read.

        Raises:
            NotAbsolute: a directory is not an absolute path of this system.
        """
        self._roots = Roots(*roots) if roots else None
        self._read_only = read_only
        self._most_bytes = most_bytes

    @property
    def capabilities(self) -> frozenset[ClientCapability]:
        """The capabilities to advertise."""
        return frozenset({"fs.read_text_file"} if self._read_only else {"fs.read_text_file", "fs.write_text_file"})

    async def read_text_file(
        self, path: str, *, directories: Sequence[str], line: int | None = None, limit: int | None = None
    ) -> str:
        """Return the text of a file for an agent.

        Args:
            path: the path in the request.
            directories: the directories of the session.
            line: the first line, from 1.
            limit: the maximum number of lines.

        Raises:
            InvalidParams: the path is not absolute or outside of the directories, or it is not a text file.
            RequestError: the file does not exist, or cannot be read.
        """
        with _errors_as_answers():
            text = await self.read(self._resolved(path, directories))
        return lines_of(text, line, limit)

    async def write_text_file(self, path: str, content: str, *, directories: Sequence[str]) -> None:
        """Write a file for an agent; arguments and errors as for `read_text_file`."""
        with _errors_as_answers():
            await self.write(self._resolved(path, directories), content)

    async def read(self, path: Path) -> str:
        """Return the text of the file at *path*, which is resolved and allowed. Override it to serve other text.

        Raises:
            OSError: the file cannot be read, or is not a regular file.
            ValueError: it is not UTF-8, or too large.
        """
        return await anyio.to_thread.run_sync(partial(read_text, path, most_bytes=self._most_bytes))

    async def write(self, path: Path, content: str) -> None:
        """Replace or create the file at *path*, which is resolved and allowed.

        Raises:
            OSError: the file cannot be written, or is not a regular file.
        """
        await anyio.to_thread.run_sync(write_text, path, content)

    def _resolved(self, path: str, directories: Sequence[str]) -> Path:
        require_absolute(path, flavour=HERE, field="path")
        roots = self._roots or Roots(*directories)
        try:
            return roots.resolve(path)
        except OutsideRoots:
            raise InvalidParams("path: it is outside of the directories that this client allows") from None


@contextlib.contextmanager
def _errors_as_answers() -> Generator[None]:
    try:
        yield
    except AcpError:
        raise
    except FileNotFoundError as error:
        raise RequestError(NOT_FOUND, "the file does not exist") from error
    except OSError as error:
        raise InvalidParams(f"path: {error.strerror or 'it cannot be opened'}") from error
    except ValueError as error:
        raise InvalidParams(f"path: {error}") from error
