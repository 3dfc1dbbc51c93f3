"""Run the command `mcp-launch` in the process of the test, because a separate process spends most time on imports."""

from __future__ import annotations

import io
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from subprocess import CompletedProcess
from unittest import mock

from mcp_launch._command.cli import main
from mcp_launch._command.signals import ENDING


class Output(io.TextIOWrapper):
    """What the command prints to. A test that needs a terminal replaces its `isatty`."""


def run_here(*args: str, stdin: str = "", **variables: str) -> CompletedProcess[str]:
    """Run the command with these arguments, standard input and additional variables, without a terminal."""
    return _run(args, stdin, variables, merged=False)


def printed_here(*args: str, stdin: str = "", **variables: str) -> str:
    """Run the command in the same way, and return what it writes to standard output and standard error, in order."""
    return _run(args, stdin, variables, merged=True).stdout


def _run(args: Sequence[str], stdin: str, variables: dict[str, str], *, merged: bool) -> CompletedProcess[str]:
    handlers = {number: signal.getsignal(number) for number in ENDING}
    printed = io.BytesIO(), io.BytesIO()
    out, err = (Output(each, encoding="utf-8", write_through=True) for each in printed)
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogateescape") as given,
        mock.patch.dict(os.environ, variables),
        mock.patch.multiple(sys, argv=["mcp-launch", *args], stdin=given, stdout=out, stderr=out if merged else err),
    ):
        os.environ.pop("FORCE_COLOR", None)
        given.write(stdin)
        given.seek(0)
        status: object = None
        try:
            main()
        except SystemExit as ended:
            status = ended.code or 0
    for number, handler in handlers.items():
        signal.signal(number, handler)
    assert isinstance(status, int)
    return CompletedProcess([*args], status, *(each.getvalue().decode() for each in printed))
