"""A pseudo-terminal for a command, and its screen."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from tests.mcp_launch.support import SOURCE

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PATIENCE = 30.0
_TELLING = ("COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR")
"""Variables that override the properties of the terminal."""


class Terminal:
    """A terminal that runs one command."""

    def __init__(self, process: subprocess.Popen[bytes], end: int) -> None:
        self.process = process
        self._end = end
        self._shown = b""
        self._seen = 0
        self._open = True

    @property
    def shown(self) -> str:
        """All output so far, including control sequences."""
        return self._shown.decode()

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._end, keys)

    def hang_up(self) -> None:
        """Close it like a terminal window."""
        if self._end >= 0:
            os.close(self._end)
        self._open, self._end = False, -1

    def read_until(self, seen: Callable[[str], bool]) -> str:
        """Read until the output satisfies *seen*, and return it."""
        until = time.monotonic() + _PATIENCE
        while not seen(self.shown):
            assert self._open, self.shown
            assert time.monotonic() < until, self.shown
            self._read()
        return self.shown

    def see(self, wanted: str) -> None:
        """Wait until this text appears after the previously seen text, ignoring control sequences."""

        def seen(shown: str) -> bool:
            text = CONTROL.sub("", shown)
            at = text.find(wanted, self._seen)
            self._seen = at + len(wanted) if at >= 0 else self._seen
            return at >= 0

        self.read_until(seen)

    def status(self) -> int:
        """Read all output and return the exit status."""
        until = time.monotonic() + _PATIENCE
        while self._open:
            assert time.monotonic() < until, self.shown
            self._read()
        return self.process.wait(_PATIENCE)

    def _read(self) -> None:
        if select.select([self._end], [], [], 0.1)[0]:
            # Linux says EIO when the last process has closed the other end.
            with contextlib.suppress(OSError):
                if chunk := os.read(self._end, 65536):
                    self._shown += chunk
                    if b"\x1b[6n" in chunk:
                        # As a terminal that is asked where its cursor is.
                        os.write(self._end, b"\x1b[1;1R")
                    return
            self._open = False


@contextmanager
def terminal(
    *args: str, columns: int = 80, rows: int = 24, command: Sequence[str] = (), **variables: str
) -> Generator[Terminal]:
    """Run the command `mcp-launch`, or another, in a terminal of that size."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    env = {name: value for name, value in os.environ.items() if name not in _TELLING}
    env |= {"PYTHONPATH": str(SOURCE), "TERM": "xterm-256color", **variables}

    def own_terminal() -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        command or [sys.executable, "-m", "mcp_launch", *args],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=env,
        preexec_fn=own_terminal,  # noqa: PLW1509 - only the child's Ctrl-C needs it, and no thread runs here
    )
    os.close(theirs)
    shown = Terminal(process, ours)
    try:
        yield shown
    finally:
        shown.hang_up()
        process.kill()
        process.wait()
