"""The command that replaces the published schemas: `python -m codegen.update SOURCE`."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codegen.compare import note
from codegen.sources import (
    FILES,
    LOCK,
    LockedFile,
    ReplaceError,
    SourceError,
    UnknownSourceError,
    fetch,
    lock,
    parse,
    replace_together,
)
from codegen.sources.delivery import parse_schema

__all__ = ["main", "update"]

SCHEMA_FOLDER = Path(__file__).resolve().parents[1] / "schema"

_EPILOG = """\
sources:
  npm:@agentclientprotocol/sdk@2.4.0   a package, by the npm client; a tag such as latest will do
  github:schema-v1.21.0                a release of the protocol's repository: the files of that version
  https://example.org/acp/schema       a base URL with the same relative paths
  ../acp/schema                        a folder with the same relative paths

A source must have every file that it covers, unless --only says which ones are wanted. The other
files stay as they are, and lock.toml says of each where it is from. Nothing is replaced before
everything has been fetched and checked. Exit status: 0 done, 2 nothing was changed.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit status."""
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
    """What an update did, or would do in a dry run."""

    source: str
    old: Mapping[str, bytes]
    """The files that were there and are replaced."""
    new: Mapping[str, bytes]
    locked: Mapping[str, LockedFile]
    """The whole lock after the update."""
    previous: Mapping[str, LockedFile] = field(default_factory=dict[str, LockedFile])
    """The lock before it, as far as it could be read."""

    def report(self) -> list[str]:
        """Say what became of each file, what changed in meaning and in Python names, as Markdown for the changelog."""
        lines = [f"From {self.source}:"]
        for file, entry in self.locked.items():
            lines.append(f"  {file:<24} {entry.size:>8} bytes  sha256 {entry.sha256}  {self._fate(file)}")
        return lines + self.differences()

    def differences(self) -> list[str]:
        """Say what changed in meaning and in Python names, file by file, each after an empty line."""
        lines: list[str] = []
        for file, data in self.new.items():
            if self._fate(file) == "changed":
                lines += ["", f"### {file}: {self._origin(file)} → {self.locked[file].version}", ""]
                lines += self._compared(file, data)
        return lines

    def _fate(self, file: str) -> str:
        if file not in self.new:
            return f"kept, from {self.locked[file].source}"
        if file not in self.old:
            return "new"
        return "unchanged" if self.old[file] == self.new[file] else "changed"

    def _origin(self, file: str) -> str:
        return self.previous[file].version if file in self.previous else lock.UNKNOWN_VERSION

    def _compared(self, file: str, data: bytes) -> list[str]:
        try:
            before = parse_schema(file, self.old[file])
        except SourceError as error:
            return [f"- The file that was there cannot be compared: {error}"]
        return note(file, before, parse_schema(file, data))


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
    """Replace the schemas in `folder`, and their lock, by those of `source`, all or none.

    Raises:
        SourceError: the source is not usable; the folder is as it was.
    """
    if Path(source).is_dir() and Path(source).resolve() == folder.resolve():
        raise UnknownSourceError(source, "this is the very folder to update")
    delivery = fetch(parse(source, timeout=timeout), only=only, sha256=sha256)
    for file in FILES:
        if file not in delivery.files:
            lock.verified_bytes(folder, file)
    previous = _previous_lock(folder)
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
        # The lock comes last: until it is there, a build notices that the files are not those recorded.
        replace_together(folder, {**delivery.files, LOCK: lock.render(locked).encode()})
    return result


def _previous_lock(folder: Path) -> dict[str, LockedFile]:
    """Read the lock; a broken one is no obstacle where no file is kept, and says nothing of the past."""
    try:
        return lock.read(folder)
    except SourceError:
        return {}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nox -s update_schema --",
        description="Replace the published schemas and their lock, all or none, and print what changed.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("source", metavar="SOURCE", help="where to take them from, see below")
    parser.add_argument(
        "--only",
        metavar="FILE",
        action="append",
        default=[],
        choices=FILES,
        help=f"replace only this: {', '.join(FILES)}",
    )
    parser.add_argument(
        "--sha256",
        metavar="FILE=HEX",
        action="append",
        default=[],
        type=_digest,
        help="the digest that a file must have",
    )
    parser.add_argument("--release", metavar="TEXT", help="the release to record, where the source does not say")
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=float, default=120.0, help="for npm, or each download (120)"
    )
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
