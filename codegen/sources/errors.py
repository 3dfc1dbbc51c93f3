"""What can go wrong with schemas and where they come from.

SourceError
├── UnknownSourceError      the text names no source known here
├── MissingFilesError       the source lacks files it was asked for
├── DownloadError           an HTTP transfer failed
│   ├── HttpStatusError         the server answered with an error
│   ├── DownloadTimeoutError    it took too long
│   └── IncompleteDownloadError the bytes stopped before their end
├── NpmError                the npm client failed
│   └── NpmNotFoundError        there is no npm client
├── FolderError             a file of a local folder cannot be read
├── WrongDigestError        the bytes are not those that were promised
├── NotAnAcpSchemaError     the bytes are no Agent Client Protocol schema
├── LockError               lock.toml cannot be read, or a file does not match it
└── ReplaceError            the file system refused; the old files were put back
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

__all__ = [
    "DownloadError",
    "DownloadTimeoutError",
    "FolderError",
    "HttpStatusError",
    "IncompleteDownloadError",
    "LockError",
    "MissingFilesError",
    "NotAnAcpSchemaError",
    "NpmError",
    "NpmNotFoundError",
    "ReplaceError",
    "SourceError",
    "UnknownSourceError",
    "WrongDigestError",
]


class SourceError(Exception):
    """Root of everything that `codegen.sources` raises."""


class UnknownSourceError(SourceError):
    """The text names no source known here."""

    def __init__(self, source: str, reason: str) -> None:
        self.source = source
        self.reason = reason
        super().__init__(
            f"{source}: {reason}. A source is npm:PACKAGE@VERSION, github:schema-vX.Y.Z, a base URL or a folder"
        )


class MissingFilesError(SourceError):
    """The source lacks files it was asked for; `found` names those it has."""

    def __init__(self, source: str, *, missing: Sequence[str], found: Sequence[str]) -> None:
        self.source = source
        self.missing = tuple(missing)
        self.found = tuple(found)
        message = f"{source} has no {', '.join(missing)}"
        if found:
            only = " ".join(f"--only {file}" for file in found)
            message += f". To take what it has and keep the other files as they are, add: {only}"
        else:
            message += ", nor any other schema where one was expected. Is this the right version or folder?"
        super().__init__(message)


class DownloadError(SourceError):
    """An HTTP transfer failed; `url` is free of user name, password and query."""

    def __init__(self, url: str, reason: str) -> None:
        self.url = url
        self.reason = reason
        super().__init__(f"{url}: {reason}")


class HttpStatusError(DownloadError):
    """The server answered with an error `status`."""

    def __init__(self, url: str, status: int) -> None:
        self.status = status
        super().__init__(url, f"the server answered HTTP {status}")


class DownloadTimeoutError(DownloadError):
    """The transfer did not end within `seconds`."""

    def __init__(self, url: str, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(url, f"no complete answer within {seconds:g} s. Try again, or give more with --timeout")


class IncompleteDownloadError(DownloadError):
    """The bytes stopped before their announced end."""

    def __init__(self, url: str, received: int) -> None:
        self.received = received
        super().__init__(url, f"the download stopped half-way, after {received} bytes. Try again")


class NpmError(SourceError):
    """The npm client failed; `output` is what it said."""

    def __init__(
        self, package: str, reason: str, *, command: str = "pack", status: int | None = None, output: str = ""
    ) -> None:
        self.package = package
        self.reason = reason
        self.command = command
        self.status = status
        self.output = output
        super().__init__(f"npm {command} {package}: {reason}" + (f"\n{output}" if output else ""))


class NpmNotFoundError(NpmError):
    """There is no npm client on the path."""

    def __init__(self, package: str, *, command: str = "pack") -> None:
        reason = 'command not found: "npm". It comes with Node.js; without it, use a github:, URL or folder source'
        super().__init__(package, reason, command=command)


class FolderError(SourceError):
    """A file of the local folder `path` cannot be read."""

    def __init__(self, path: Path, cause: OSError) -> None:
        self.path = path
        self.cause = cause
        super().__init__(f"{cause.filename or path}: cannot be read: {cause.strerror or cause}")


class WrongDigestError(SourceError):
    """The bytes are not those that were promised."""

    def __init__(self, file: str, *, expected: str, actual: str) -> None:
        self.file = file
        self.expected = expected
        self.actual = actual
        super().__init__(f"{file}: expected {expected}, got {actual}. Nothing can be trusted in this download")


class NotAnAcpSchemaError(SourceError):
    """The bytes are no Agent Client Protocol schema."""

    def __init__(self, file: str, reason: str) -> None:
        self.file = file
        self.reason = reason
        super().__init__(f"{file}: not an ACP schema: {reason}")


class LockError(SourceError):
    """lock.toml cannot be read, or `file` does not match it."""

    def __init__(self, file: str, reason: str) -> None:
        self.file = file
        self.reason = reason
        super().__init__(
            f"{file}: {reason}. Restore the folder from version control, or run: nox -s update_schema -- SOURCE"
        )


class ReplaceError(SourceError):
    """The file system refused to replace `path`; the old files were put back.

    `lost` has the copies of those for which that failed too.
    """

    def __init__(self, path: Path, cause: OSError, *, lost: Sequence[Path] = ()) -> None:
        self.path = path
        self.cause = cause
        self.lost = tuple(lost)
        message = f"{path}: {cause.strerror or cause}"
        if lost:
            message += f". Some old files could not be put back, their copies are: {', '.join(map(str, lost))}"
        super().__init__(message)
