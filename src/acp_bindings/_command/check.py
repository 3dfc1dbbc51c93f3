"""Runs `acp-bindings check` and `acp-bindings rules`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from acp_bindings._standard_streams import printable, shown_on
from acp_bindings.check._checking import Check
from acp_bindings.check._inputs import Unusable
from acp_bindings.check._report import SCHEMA, entry_of, entry_without_messages, lines_of
from acp_bindings.check._rules import RULES
from acp_bindings.setup._versions import package_named


def check_files(
    files: Sequence[str],
    *,
    type_name: str | None,
    protocol: str | None,
    as_json: bool,
    show_secrets: bool,
) -> int:
    """Print the problems in *files* and return the exit status."""
    package = package_named(protocol) if protocol else None

    def opened(name: str) -> Check:
        return Check(lines_in(name), protocol=package, type=type_name, show_values=show_secrets)

    if not as_json:
        return max(_print_findings(name, opened) for name in files)
    entries = [_entry(name, opened) for name in files]
    sys.stdout.write(f"{json.dumps({'files': entries}, indent=2)}\n")
    return max(2 if each["unusable"] else int(each["errors"] > 0) for each in entries)


def _print_findings(name: str, opened: Callable[[str], Check]) -> int:
    try:
        check = opened(name)
        _write(shown_on(sys.stdout, line) for line in lines_of(check, name=name))
    except Unusable as error:
        sys.stdout.flush()
        sys.stderr.write(shown_on(sys.stderr, f"acp-bindings check: {printable(name)}: {error}\n"))
        return 2
    return int(check.errors > 0)


def _entry(name: str, opened: Callable[[str], Check]) -> dict[str, Any]:
    try:
        return entry_of(opened(name), name=name)
    except Unusable as error:
        return entry_without_messages(name, error)


def print_rules() -> None:
    """Print all rules."""
    width = max(len(each.id) for each in RULES)
    _write(f"{each.id:{width}}  {each.severity:7}  {each.doc}\n" for each in RULES)


def print_schema() -> None:
    """Print the JSON schema of the document of `--json`."""
    sys.stdout.write(f"{json.dumps(SCHEMA, indent=2)}\n")


def _write(pieces: Iterable[str]) -> None:
    for each in pieces:
        sys.stdout.write(each)


LONGEST_LINE = 256 * 2**20
"""The maximum length of a line in bytes. Some files, such as devices, have no end."""


def lines_in(name: str) -> Iterator[bytes]:
    """Yield the lines of a file or of standard input.

    Raises:
        Unusable: it cannot be read.
    """
    # It is None if the parent process has closed it.
    if name == "-" and sys.stdin is None:
        raise Unusable("standard input is closed")
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else open(name, "rb") as file:
            for line in iter(partial(file.readline, LONGEST_LINE), b""):
                if len(line) == LONGEST_LINE:
                    raise Unusable(f"it has a line of more than {LONGEST_LINE // 2**20} MB")
                yield line
    except (OSError, ValueError) as error:
        raise Unusable(f"it cannot be read: {getattr(error, 'strerror', None) or error}") from None
