"""`python -m release TAG`: print the notes of the release, or the reasons against releasing this tag."""

from __future__ import annotations

import argparse
import datetime
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from release.changelog import UNRELEASED, Section, notes, sections

ROOT = Path(__file__).resolve().parents[1]


def main(argv: Sequence[str] | None = None, *, root: Path = ROOT) -> int:
    """Run the command. Return 1 if the tag must not be released; the reasons are on standard error."""
    parser = argparse.ArgumentParser(prog="nox -s release_notes --", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tag", metavar="TAG", help="the tag, such as v1.2.0")
    parser.add_argument(
        "--repository", metavar="URL", help="the repository of the tag; must equal the one in pyproject.toml"
    )
    parser.add_argument(
        "--output", metavar="FILE", type=Path, help="write the notes to this file instead of standard output"
    )
    options = parser.parse_args(argv)
    project: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changes = sections((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    wrong = [
        *_wrong_with_tag(options.tag, project["version"]),
        *_wrong_with_changelog(changes, project["version"]),
        *_wrong_with_repository(options.repository, project["urls"]["Repository"]),
    ]
    if wrong:
        print(*(f"error: {each}" for each in wrong), sep="\n", file=sys.stderr)
        return 1
    text = notes(changes[project["version"]])
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


def _wrong_with_tag(tag: str, version: str) -> Iterator[str]:
    if tag != f"v{version}":
        yield f"the tag is {tag}, but the version in pyproject.toml is {version}: expected v{version}"


def _wrong_with_changelog(changes: Mapping[str, Section], version: str) -> Iterator[str]:
    section = changes.get(version)
    if section is None:
        yield f'CHANGELOG.md has no section "## {version} - YYYY-MM-DD"'
        return
    try:
        datetime.date.fromisoformat(section.date)
    except ValueError:
        yield f'CHANGELOG.md: "## {version}" needs its date, as in "## {version} - 2026-01-31"'
    if not section.text:
        yield f'CHANGELOG.md: there is no text below "## {version}"'
    if UNRELEASED in changes and changes[UNRELEASED].text:
        yield f'CHANGELOG.md: the changes below "## {UNRELEASED}" would be released, but are not in the notes'


def _wrong_with_repository(pushed_to: str | None, declared: str) -> Iterator[str]:
    if pushed_to is not None and pushed_to.rstrip("/").lower() != declared.rstrip("/").lower():
        yield f"the repository is {pushed_to}, but pyproject.toml says {declared}, which the package's page links to"


if __name__ == "__main__":
    sys.exit(main())
