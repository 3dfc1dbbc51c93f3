"""The command that replaces the published schemas: `python -m codegen.update SOURCE`."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codegen import lock
from codegen.changes import describe_changes
from codegen.errors import ReplaceError, SourceError
from codegen.lock import FILES, LOCK, LockedFile
from codegen.replace import replace_together
from codegen.sources import fetch, parse_schema

SCHEMA_FOLDER = Path(__file__).resolve().parents[1] / "schema"

_EPILOG = """\
sources:
  npm:@agentclientprotocol/sdk@2.4.0   an npm package; a tag such as latest works too
  ../acp/schema                        a folder with the same relative paths as schema/

A source must have all four files, unless --only names those that you want. The other files are not
changed, and lock.toml records the source of each file. Nothing is replaced before all files have been
fetched and checked. Exit status: 0 done, 2 nothing was changed.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = _parser().parse_args(argv)
    try:
        changes = update(
            options.source,
            folder=options.schema_folder,
            only=options.only,
            sha256=dict(options.sha256),
            release=options.release,
            timeout=options.timeout,
            dry_run=options.dry_run,
        )
    except SourceError as error:
        print(f"error: {error}", file=sys.stderr)
        if not (isinstance(error, ReplaceError) and error.lost):
            print("Nothing was changed.", file=sys.stderr)
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
    """The previous content of the files that are replaced."""
    new: Mapping[str, bytes]
    locked: Mapping[str, LockedFile]
    """The whole lock after the update."""
    previous: Mapping[str, LockedFile] = field(default_factory=dict[str, LockedFile])
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
                before = self.previous[file].version if file in self.previous else lock.UNKNOWN_VERSION
                lines += ["", f"### {file}: {before} → {self.locked[file].version}", ""]
                lines += self._changes(file, data)
        return lines

    def _status(self, file: str) -> str:
        if file not in self.new:
            return f"kept, from {self.locked[file].source}"
        if file not in self.old:
            return "new"
        return "unchanged" if self.old[file] == self.new[file] else "changed"

    def _changes(self, file: str, data: bytes) -> list[str]:
        try:
            before = parse_schema(file, self.old[file])
        except SourceError as error:
            return [f"- The previous file cannot be compared: {error}"]
        return describe_changes(file, before, parse_schema(file, data))


def update(
    source: str,
    *,
    folder: Path = SCHEMA_FOLDER,
    only: Sequence[str] = (),
    sha256: Mapping[str, str] | None = None,
    release: str | None = None,
    timeout: float = 120.0,
    dry_run: bool = False,
) -> Update:
    """Replace the schemas in *folder* and their lock by those of *source*: all of them or none.

    Raises:
        SourceError: the source cannot be used; the folder is as it was.
    """
    if Path(source).is_dir() and Path(source).resolve() == folder.resolve():
        raise SourceError(f"{source}: this is the folder to update. Name another source")
    delivery = fetch(source, only=only, sha256=sha256, timeout=timeout)
    for file in FILES:
        if file not in delivery.files:
            lock.verified_bytes(folder, file)
    try:
        previous = lock.read(folder)
    except SourceError:
        previous = {}  # every file is replaced, so a broken lock does not matter
    version = release or delivery.version
    fresh = {
        file: LockedFile.of(data, source=delivery.source, version=version) for file, data in delivery.files.items()
    }
    locked = {file: fresh.get(file) or previous[file] for file in FILES}
    result = Update(
        source=delivery.source,
        old={file: (folder / file).read_bytes() for file in delivery.files if (folder / file).is_file()},
        new=delivery.files,
        locked=locked,
        previous=previous,
    )
    if not dry_run:
        # The lock is written last: until then, a build notices that the files differ from it.
        replace_together(folder, {**delivery.files, LOCK: lock.render(locked).encode()})
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nox -s update_schema --",
        description="Replace the published schemas and their lock together, and print what changed.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("source", metavar="SOURCE", help="the new schemas, see below")
    parser.add_argument(
        "--only",
        metavar="FILE",
        action="append",
        default=[],
        choices=FILES,
        help=f"replace only this file: {', '.join(FILES)}",
    )
    parser.add_argument(
        "--sha256",
        metavar="FILE=HEX",
        action="append",
        default=[],
        type=_digest,
        help="the digest that a file must have",
    )
    parser.add_argument("--release", metavar="TEXT", help="the version to record if the source does not name one")
    parser.add_argument("--timeout", metavar="SECONDS", type=float, default=120.0, help="the limit for npm (120)")
    parser.add_argument("--dry-run", action="store_true", help="fetch, check and compare, but replace nothing")
    parser.add_argument(
        "--schema-folder", metavar="PATH", type=Path, default=SCHEMA_FOLDER, help="the folder to update (schema/)"
    )
    return parser


def _digest(text: str) -> tuple[str, str]:
    file, _, digest = text.partition("=")
    if file not in FILES or not re.fullmatch("[0-9a-fA-F]{64}", digest):
        raise argparse.ArgumentTypeError(f"{text!r} is not FILE=HEX with 64 digits and one of {', '.join(FILES)}")
    return file, digest


if __name__ == "__main__":
    sys.exit(main())
