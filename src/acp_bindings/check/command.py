"""The command line `acp-bindings`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial

from acp_bindings._cli import shown_on, version, written_by
from acp_bindings._lazy import PACKAGES
from acp_bindings.check._checking import Check
from acp_bindings.check._inputs import Unusable
from acp_bindings.check._report import SCHEMA, document_of, lines_of, printable, unusable_document
from acp_bindings.check._rules import RULES
from acp_bindings.setup._versions import package_named


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    with written_by("acp-bindings"):
        options = _parser().parse_args(arguments)
        if reconfigure := getattr(sys.stdout, "reconfigure", None):
            # Escape characters that the terminal cannot show.
            reconfigure(errors="backslashreplace")
        try:
            status: int = options.run(options)
        except KeyboardInterrupt:
            return 130
        return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="acp-bindings", description="Tools for the Agent Client Protocol.", allow_abbrev=False
    )
    parser.add_argument(
        "--version",
        action=_Print,
        const=lambda: f"acp-bindings {version()}",
        nargs=0,
        help="print the version and exit",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    check = commands.add_parser(
        "check",
        help="find problems in a message, a payload or a recorded conversation",
        description="Print the problems in each FILE, one finding on each line. FILE contains a conversation, with one "
        "message on each line; or one JSON document: a message, the params or the result of one, an mcpServers array, "
        "or a list of any of these.",
        epilog="Exit status: 0 if there are no errors, warnings aside; 1 if there are errors; 2 if a FILE or the "
        "command line cannot be used; 130 after Ctrl-C.",
        allow_abbrev=False,
    )
    check.add_argument("files", metavar="FILE", nargs="+", help='a file, or "-" for standard input')
    check.add_argument("--type", metavar="NAME", help="the type of a payload, such as v1.NewSessionRequest")
    check.add_argument(
        "--protocol", choices=PACKAGES, help="the protocol of messages without an initialize (default: v1)"
    )
    check.add_argument("--json", action="store_true", help="print one JSON document instead of lines")
    check.add_argument(
        "--json-schema",
        action=_Print,
        const=lambda: json.dumps(SCHEMA, indent=2),
        nargs=0,
        help="print the JSON schema of that document and exit",
    )
    check.add_argument(
        "--show-secrets", action="store_true", help="also print the value at each path, which may be a secret"
    )
    check.set_defaults(run=_check)
    rules = commands.add_parser("rules", help="list the rules", description="List the rules that check uses.")
    rules.set_defaults(run=_rules)
    return parser


class _Print(argparse.Action):
    """Print what `const` returns. Like --help, this requires no FILE."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        """Print it and exit."""
        sys.stdout.write(f"{self.const()}\n")
        parser.exit()


def _check(options: argparse.Namespace) -> int:
    if not options.json:
        return max(_check_one(each, options) for each in options.files)
    status, separator = 0, ""
    sys.stdout.write('{"files":[')
    for each in options.files:
        sys.stdout.write(separator)
        status, separator = max(status, _check_one(each, options)), ",\n"
    sys.stdout.write("]}\n")
    return status


def _check_one(name: str, options: argparse.Namespace) -> int:
    protocol = package_named(options.protocol) if options.protocol else None
    try:
        check = Check(_raw(name), protocol=protocol, type=options.type, show_values=options.show_secrets)
        lines = (shown_on(sys.stdout, line) for line in lines_of(check, name=name))
        _write(document_of(check, name=name) if options.json else lines)
    except Unusable as error:
        if options.json:
            sys.stdout.write(unusable_document(name, error))
        else:
            sys.stdout.flush()
            sys.stderr.write(shown_on(sys.stderr, f"acp-bindings check: {printable(name)}: {error}\n"))
        return 2
    if check.unusable:
        return 2
    return 1 if check.errors else 0


def _rules(_: argparse.Namespace) -> int:
    width = max(len(each.id) for each in RULES)
    _write(f"{each.id:{width}}  {each.severity:7}  {each.doc}\n" for each in RULES)
    return 0


def _write(pieces: Iterable[str]) -> None:
    for each in pieces:
        sys.stdout.write(each)


LONGEST_LINE = 256 * 2**20
"""The maximum length of a line in bytes. Some files, such as devices, have no end."""


def _raw(name: str) -> Iterator[bytes]:
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
