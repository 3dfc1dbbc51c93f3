"""Where schemas come from: the only part of the pipeline that uses the network.

`parse` turns the text of a source into one, `fetch` brings checked bytes from it, `replace_together`
puts them in place. `lock` records them and verifies them before each build.
"""

from __future__ import annotations

from pathlib import Path

from codegen.sources.delivery import Delivery, Source, check_digest, fetch, parse_schema
from codegen.sources.errors import LockError, ReplaceError, SourceError, UnknownSourceError
from codegen.sources.folder import FolderSource
from codegen.sources.lock import FILES, LOCK, LockedFile, load_schemas, replace_together, verified_bytes
from codegen.sources.npm import NpmSource
from codegen.sources.web import GitHubSource, WebSource

__all__ = [
    "FILES",
    "LOCK",
    "Delivery",
    "LockError",
    "LockedFile",
    "ReplaceError",
    "Source",
    "SourceError",
    "UnknownSourceError",
    "check_digest",
    "fetch",
    "load_schemas",
    "parse",
    "parse_schema",
    "replace_together",
    "verified_bytes",
]


def parse(text: str, *, timeout: float = 120.0) -> Source:
    """The source that `text` names; it may take `timeout` seconds, over HTTP for each file.

    Raises:
        UnknownSourceError: the text names no source known here.
    """
    kind, _, rest = text.partition(":")
    match kind:
        case "npm":
            return NpmSource(package=rest, timeout=timeout)
        case "github":
            return GitHubSource(tag=rest, timeout=timeout)
        case "http" | "https":
            return WebSource(base=text, timeout=timeout)
        case _:
            folder = Path(text)
            if not text or not folder.is_dir():
                raise UnknownSourceError(text, "there is no such folder, and it is no other kind of source")
            return FolderSource(path=folder)
