"""`python -m codegen`: write the generated packages, or compare them with `--check`."""

from __future__ import annotations

import argparse
import difflib
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from codegen import lock
from codegen.build import PACKAGES, build
from codegen.lock import SourceError
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
            _build_all(options.schema_folder, Path(scratch))
            if options.check:
                return _check(Path(scratch), options.output)
            _replace(Path(scratch), options.output)
    except (CodegenError, SourceError) as error:
        print(f"codegen: {error}", file=sys.stderr)
        return 2
    return 0


def _build_all(schemas: Path, output: Path) -> None:
    """Build every package into *output*."""
    records = lock.read(schemas)
    for file in PACKAGES:
        schema = parse_schema(file, lock.verified_bytes(schemas, file))
        try:
            print(build(file, schema, records[file].source, output))
        except CodegenError as error:
            raise CodegenError(f"{file}: {error}") from error


def _check(built: Path, committed: Path) -> int:
    if difference := "".join(_diff(built, committed)):
        print(difference)
        print("The committed packages differ from what the schemas give. Run `nox -s generate` to write them.")
        return 1
    print("The committed packages are what the schemas give.")
    return 0


def _diff(built: Path, committed: Path) -> Iterator[str]:
    """Yield a unified diff from the committed packages to the built ones."""
    files = {path.relative_to(built) for path in built.rglob("*.py")}
    for package, _ in PACKAGES.values():
        files |= {path.relative_to(committed) for path in (committed / package).rglob("*.py")}
    for file in sorted(files):
        old, new = (_lines(root / file) for root in (committed, built))
        yield from difflib.unified_diff(old, new, f"committed/{file}", f"generated/{file}")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []


def _replace(built: Path, output: Path) -> None:
    """Replace the packages by the built ones."""
    for package, _ in PACKAGES.values():
        shutil.rmtree(output / package, ignore_errors=True)
        shutil.copytree(built / package, output / package)


if __name__ == "__main__":
    sys.exit(main())
