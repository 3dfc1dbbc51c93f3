"""The standard streams of a command: closed streams, write errors, and texts that a CI system would interpret."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TextIO

_CI = ("CI", "GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")
"""Environment variables of CI jobs, in which a stream may also be a terminal."""
_COMMAND = r"(?:^|(?<=[\r\n]))(?P<space>[^\S\r\n]*):(?=:[\w-]+(?: [^\r\n]*?)?::)|##(?=\w*\[)"
"""Text that a CI runner interprets as a command: `::name …::` at the start of a line (GitHub), anywhere `##[name]`
(GitHub and Azure), `##vso[` (Azure) and `##teamcity[`.

Source: `ActionCommand.cs` of actions/runner, "Logging commands" of Azure Pipelines, "Service Messages" of TeamCity.
"""
_BY_SIGNAL = 128
"""Exit statuses above this value mean that a signal ended the command."""


@contextmanager
def written_by(command: str) -> Generator[None]:
    """Run a command in this block, and exit if the system refuses an operation, such as writing.

    After a signal, the exit status stays that of the signal, because a closed terminal cannot be written to either.

    Raises:
        SystemExit: 1 if the reader has closed standard output, 2 after another `OSError`.
    """
    # They are None if the parent process has closed them.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open to the end
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    refused: OSError | None = None
    signalled = False
    try:
        yield
    except OSError as error:
        refused = error
    except SystemExit as error:
        signalled = isinstance(error.code, int) and error.code > _BY_SIGNAL
        raise
    finally:
        unwritten = discard_unwritable(sys.stdout)
        if not signalled and (refused := unwritten or refused):
            if isinstance(refused, BrokenPipeError):  # the reader has stopped
                raise SystemExit(1) from None
            where = "standard output: " if unwritten else ""
            with suppress(OSError):
                sys.stderr.write(f"{command}: {where}{refused.strerror or refused}\n")
            discard_unwritable(sys.stderr)
            raise SystemExit(2) from None
        discard_unwritable(sys.stderr)


def printable(text: str) -> str:
    """Return *text* without control characters, which a peer could use to manipulate the terminal."""
    return "".join(each if each.isprintable() else " " for each in text)


def shown_on(stream: TextIO, text: str) -> str:
    """Return *text* for *stream*, without commands to a CI system if one may read it."""
    return text if stream.isatty() and not any(map(os.environ.get, _CI)) else without_ci_commands(text)


def without_ci_commands(text: str) -> str:
    """Return *text* with a space in everything that a CI system would run as a command.

    The space is visible on purpose: .NET, in which two of these runners are written, skips zero-width characters.
    """
    if "::" not in text and "##" not in text:
        return text
    # Compiled here: most texts never need it.
    return re.sub(_COMMAND, lambda found: "## " if found["space"] is None else f"{found['space']}: ", text)


def discard_unwritable(stream: TextIO) -> OSError | None:
    """Flush *stream*. If that fails, discard the buffered text and return the error.

    Otherwise the interpreter would try again at exit, print an error, and change the exit status.
    """
    try:
        stream.flush()
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        return error
    return None


def version() -> str:
    """Return the installed version; `unknown` without metadata, as in an archive or a frozen program."""
    from importlib import metadata  # noqa: PLC0415 - rarely used, and imports much

    try:
        return metadata.version("acp-bindings")
    except metadata.PackageNotFoundError:
        return "unknown"
