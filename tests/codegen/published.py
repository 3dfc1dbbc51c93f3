"""The schemas of every version of the package in npm, from a cache if they were fetched before."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from codegen import lock
from codegen.lock import LOCK, LockError, records_of, write_files
from codegen.sources import Delivery, from_npm, published_versions
from codegen.watch import PACKAGE


def deliveries(cache: Path, *, versions: Sequence[str] = ()) -> Iterator[Delivery]:
    """Yield the schemas of each version of the package, oldest first.

    Args:
        cache: the cache, with a folder for every version.
        versions: the versions to fetch; by default all that npm has.

    Raises:
        SourceError: npm cannot list the versions, or one is no longer available.
    """
    for version in versions or published_versions(PACKAGE):
        yield _from_cache(cache / version, version) or _from_registry(cache / version, version)


def _from_cache(folder: Path, version: str) -> Delivery | None:
    """Return the schemas that an earlier run has fetched, or None if they are missing or changed."""
    try:
        files = {file: lock.verified_bytes(folder, file) for file in lock.read(folder)}
    except LockError:
        return None
    return Delivery(source=f"npm:{PACKAGE}@{version}", version=version, files=files)


def _from_registry(folder: Path, version: str) -> Delivery:
    delivery = from_npm(f"{PACKAGE}@{version}")
    records = records_of(delivery.files, source=delivery.source, version=version)
    write_files(folder, {**delivery.files, LOCK: lock.render(records).encode()})
    return delivery
