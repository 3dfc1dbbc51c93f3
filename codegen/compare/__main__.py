"""`python -m codegen.compare OLD NEW`: what changed between two published versions, as Markdown for the changelog."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from codegen.compare.note import note
from codegen.sources import FILES, Delivery, SourceError, parse, parse_schema


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 2 when one of the two cannot be had."""
    parser = argparse.ArgumentParser(prog="nox -s compare --", description=__doc__)
    parser.add_argument("old", metavar="OLD", help="npm:PACKAGE@VERSION, github:TAG, a base URL or a folder")
    parser.add_argument("new", metavar="NEW", help="another one of these")
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=float, default=120.0, help="for npm, or each download (120)"
    )
    options = parser.parse_args(argv)
    try:
        old, new = (parse(text, timeout=options.timeout).fetch(FILES) for text in (options.old, options.new))
        for file in FILES:
            for line in _section(file, old, new):
                print(line)
    except SourceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _section(file: str, old: Delivery, new: Delivery) -> list[str]:
    title = f"### {file}: {old.version} → {new.version}"
    match old.files.get(file), new.files.get(file):
        case None, None:
            return []
        case None, _:
            return [title, "", f"- new: {old.source} has no such file", ""]
        case _, None:
            return [title, "", f"- **Breaking:** gone: {new.source} has no such file", ""]
        case before, after if before == after:
            return [title, "", "- No change at all", ""]
        case before, after:
            return [title, "", *note(file, parse_schema(file, before), parse_schema(file, after)), ""]


if __name__ == "__main__":
    sys.exit(main())
