"""The command that replaces the published schemas: `python -m codegen.update SOURCE`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen import lock
from codegen.changes import describe_changes
from codegen.lock import FILES, LOCK, LockedFile, SourceError, records_of, write_files
from codegen.sources import fetch, parse_schema

SCHEMA_FOLDER = Path(__file__).resolve().parents[1] / "schema"

_EPILOG = """\
sources:
  npm:@agentclientprotocol/sdk@2.4.0   an npm package; a tag such as latest works too
  ../acp/schema                        a folder with the same relative paths as schema/

A source must have all four files. Nothing is replaced before all files have been fetched and
checked. Exit status: 0 done, 2 nothing was changed.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = _parser().parse_args(argv)
    try:
        changes = update(options.source, folder=options.schema_folder, dry_run=options.dry_run)
    except SourceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for line in changes.report():
        print(line)
    if options.dry_run:
        print("\nDry run: nothing was changed.")
    else:
        print(f"\nWrote {options.schema_folder}. Next: nox -s generate")
    return 0


@dataclass(frozen=True, kw_only=True)
class Update:
    """The result of an update, or of a dry run."""

    source: str
    old: Mapping[str, bytes]
    """The previous content of the files."""
    new: Mapping[str, bytes]
    locked: Mapping[str, LockedFile]
    """The lock after the update."""
    previous: Mapping[str, LockedFile]
    """The lock before the update; empty if it could not be read."""

    def report(self) -> list[str]:
        """Return what happened to each file, then `differences`, as lines of Markdown."""
        lines = [f"From {self.source}:"]
        for file, entry in self.locked.items():
            lines.append(f"  {file:<24} {entry.size:>8} bytes  sha256 {entry.sha256}  {self._status(file)}")
        return lines + self.differences()

    def differences(self) -> list[str]:
        """Return the changes in each file, as lines of Markdown for the changelog."""
        lines: list[str] = []
        for file, data in self.new.items():
            if self._status(file) == "changed":
                before = self.previous[file].version if file in self.previous else "unknown"
                lines += ["", f"### {file}: {before} → {self.locked[file].version}", ""]
                lines += self._changes(file, data)
        return lines

    def _status(self, file: str) -> str:
        if file not in self.old:
            return "new"
        return "unchanged" if self.old[file] == self.new[file] else "changed"

    def _changes(self, file: str, data: bytes) -> list[str]:
        try:
            before = parse_schema(file, self.old[file])
        except SourceError as error:
            return [f"- The previous file cannot be compared: {error}"]
        return describe_changes(file, before, parse_schema(file, data))


def update(source: str, *, folder: Path = SCHEMA_FOLDER, dry_run: bool = False) -> Update:
    """Replace the schemas in *folder* and their lock by those of *source*.

    Raises:
        SourceError: the source cannot be used; the folder is as it was.
    """
    if Path(source).is_dir() and Path(source).resolve() == folder.resolve():
        raise SourceError(f"{source}: this is the folder to update. Name another source")
    delivery = fetch(source)
    try:
        previous = lock.read(folder)
    except SourceError:
        previous = {}  # every file is replaced, so a broken lock does not matter
    locked = records_of(delivery.files, source=delivery.source, version=delivery.version)
    if not delivery.source.startswith("npm:"):
        # A folder is often a copy with changes, so the source of an unchanged file is still true.
        locked |= {file: was for file, was in previous.items() if file in locked and was.sha256 == locked[file].sha256}
    old = {file: (folder / file).read_bytes() for file in FILES if (folder / file).is_file()}
    if not dry_run:
        # The lock is written last: until then, a build notices that the files differ from it.
        write_files(folder, {**delivery.files, LOCK: lock.render(locked).encode()})
    return Update(source=delivery.source, old=old, new=delivery.files, locked=locked, previous=previous)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nox -s update_schema --",
        description="Replace the published schemas and their lock, and print what changed.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("source", metavar="SOURCE", help="the new schemas, see below")
    parser.add_argument("--dry-run", action="store_true", help="fetch, check and compare, but replace nothing")
    parser.add_argument(
        "--schema-folder", metavar="PATH", type=Path, default=SCHEMA_FOLDER, help="the folder to update (schema/)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
