"""The standard streams of a command: closed ones take everything, and what cannot be written is told."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TextIO

_CI = ("CI", "GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")
"""Variables that are set in a CI job, where a stream may be a terminal too."""
_COMMAND = r"(?:^|(?<=[\r\n]))(?P<space>[^\S\r\n]*):(?=:[\w-]+(?: [^\r\n]*?)?::)|##(?=\w*\[)"
"""What a runner takes for a command: `::name …::` at the start of a line (GitHub), and anywhere in it `##[name]`
(GitHub and Azure), `##vso[` (Azure) and `##teamcity[`.

Source: `ActionCommand.cs` of actions/runner, "Logging commands" of Azure Pipelines, "Service Messages" of TeamCity.
"""
_BY_SIGNAL = 128
"""Statuses above it say that a signal ended the command."""


@contextmanager
def written_by(command: str) -> Generator[None]:
    """A block that is all of a command, and that ends it where the system refuses something, such as to write.

    What a signal ends, keeps the status of that: a terminal that goes away cannot be written to either.

    Raises:
        SystemExit: 1 when nobody reads standard output any more, 2 when it cannot be written or another `OSError` came.
    """
    # They are None when whoever started us has closed them.
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
            if isinstance(refused, BrokenPipeError):  # who reads has seen enough
                raise SystemExit(1) from None
            where = "standard output: " if unwritten else ""
            with suppress(OSError):
                sys.stderr.write(f"{command}: {where}{refused.strerror or refused}\n")
            discard_unwritable(sys.stderr)
            raise SystemExit(2) from None
        discard_unwritable(sys.stderr)


def shown_on(stream: TextIO, text: str) -> str:
    """Return *text* as it may be written to *stream*: without commands to a CI system if one may read it."""
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
    """Why what waits in *stream* cannot be written, if it cannot; then it is gone.

    The interpreter would try once more at its end, complain, and put its own exit status in place of the command's.
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
    """What is installed; `unknown` where only the code is, as in an archive or a frozen program."""
    from importlib import metadata  # noqa: PLC0415 - few ever ask, and it loads much

    try:
        return metadata.version("acp-bindings")
    except metadata.PackageNotFoundError:
        return "unknown"
