"""`python -m codegen`: write the generated packages, or compare them with `--check`."""

from __future__ import annotations

import argparse
import difflib
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from codegen import lock
from codegen.build import PACKAGES, build
from codegen.errors import LockError, SourceError
from codegen.replace import replace_together
from codegen.sources import parse_schema
from codegen.tree import CodegenError

ROOT = Path(__file__).resolve().parents[1]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        0 if the packages were written or equal the committed ones, 1 if they differ, 2 if they cannot be built.
    """
    parser = argparse.ArgumentParser(prog="python -m codegen", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; print a diff and fail if there is one")
    parser.add_argument("--schema-folder", type=Path, default=ROOT / "schema", metavar="PATH")
    parser.add_argument("--output", type=Path, default=ROOT / "src" / "acp_bindings", metavar="PATH")
    options = parser.parse_args(argv)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            unlocked = _build_all(options.schema_folder, Path(scratch), locked_only=not options.check)
            if options.check:
                return _check(Path(scratch), options.output, unlocked)
            _replace(Path(scratch), options.output)
    except (CodegenError, SourceError) as error:
        print(f"codegen: {error}", file=sys.stderr)
        return 2
    return 0


def _build_all(schemas: Path, output: Path, *, locked_only: bool) -> list[str]:
    """Build every package into *output*. Return messages about files that differ from the lock."""
    records = lock.read(schemas)
    unlocked: list[str] = []
    for file in PACKAGES:
        try:
            data = lock.verified_bytes(schemas, file)
        except LockError as error:
            if locked_only or file not in records or not (schemas / file).is_file():
                raise
            unlocked.append(str(error))
            data = (schemas / file).read_bytes()
        try:
            built = build(file, parse_schema(file, data), records[file].source, output)
        except CodegenError as error:
            raise CodegenError(f"{file}: {error}") from error
        print(f"{built.package:12} {built.definitions} definitions, {built.names} names in {built.modules} modules")
    return unlocked


def _check(built: Path, committed: Path, unlocked: list[str]) -> int:
    for complaint in unlocked:
        print(f"codegen: {complaint}", file=sys.stderr)
    difference = "".join(_diff(built, committed))
    if difference:
        print(difference)
        print("The committed packages differ from what the schemas give. Run `nox -s generate` to write them.")
    elif not unlocked:
        print("The committed packages are what the schemas give.")
    return 1 if difference or unlocked else 0


def _diff(built: Path, committed: Path) -> Iterator[str]:
    """Yield a unified diff from the committed packages to the built ones."""
    files = {path.relative_to(built) for path in built.rglob("*.py")}
    for package, _ in PACKAGES.values():
        files |= {path.relative_to(committed) for path in (committed / package).rglob("*.py")}
    for file in sorted(files):
        old, new = (_lines(root / file) for root in (committed, built))
        yield from difflib.unified_diff(old, new, f"committed/{file}", f"generated/{file}")
        if not old and not new:
            yield f"committed/{file} is empty and not generated\n"


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []


def _replace(built: Path, output: Path) -> None:
    """Replace the packages by the built files together, and remove modules that are no longer generated."""
    files = {str(path.relative_to(built)): path.read_bytes() for path in sorted(built.rglob("*.py"))}
    replace_together(output, files)
    for package, _ in PACKAGES.values():
        for path in (output / package).rglob("*.py"):
            if str(path.relative_to(output)) not in files:
                path.unlink()


if __name__ == "__main__":
    sys.exit(main())
