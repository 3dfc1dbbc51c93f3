"""Every version of the schemas that npm has ever had, each fetched once and kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from codegen.sources import LOCK, Delivery, LockedFile, LockError, lock, replace_together
from codegen.sources.npm import NpmSource, published_versions

PACKAGE = "@agentclientprotocol/sdk"


def deliveries(kept: Path, *, versions: Sequence[str] = (), timeout: float = 120.0) -> Iterator[Delivery]:
    """Yield what each version of the package ships, oldest first.

    Args:
        kept: the folder in which every version has a folder of its own, so that it is fetched once only.
        versions: those that are wanted; all that npm has, when empty.
        timeout: the seconds that npm may take for each of its answers.

    Raises:
        SourceError: npm cannot say which versions there are, or has one no longer.
    """
    for version in versions or published_versions(PACKAGE, timeout=timeout):
        yield _kept(kept / version, version) or _fetched(kept / version, version, timeout=timeout)


def _kept(folder: Path, version: str) -> Delivery | None:
    """What an earlier run has fetched, unless it is not what was fetched any more."""
    try:
        files = {file: lock.verified_bytes(folder, file) for file in lock.read(folder)}
    except LockError:
        return None
    return Delivery(source=f"npm:{PACKAGE}@{version}", version=version, files=files)


def _fetched(folder: Path, version: str, *, timeout: float) -> Delivery:
    delivery = NpmSource(package=f"{PACKAGE}@{version}", timeout=timeout).fetch(())
    records = {
        file: LockedFile.of(data, source=delivery.source, version=version) for file, data in delivery.files.items()
    }
    replace_together(folder, {**delivery.files, LOCK: lock.render(records).encode()})
    return delivery
