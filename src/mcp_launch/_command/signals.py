"""The signals that end the command, each with its own exit status."""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

ENDING = [signal.SIGINT, signal.SIGTERM]
if sys.platform != "win32":
    ENDING.append(signal.SIGHUP)
"""Ctrl-C, `kill`, and a terminal that was closed."""


def heeded(number: int) -> bool:
    """Whether the signal counts: under `nohup`, or in the background of a script, some do not."""
    return signal.getsignal(number) is not signal.SIG_IGN


def exit_on_signals() -> None:
    """Let each of them raise SystemExit, so that all is cleaned up; once one has come, further ones are ignored."""
    for number in filter(heeded, ENDING):
        # Ignored until the interpreter has ended, so that a second Ctrl-C does not change the exit status.
        signal.signal(number, signal.SIG_IGN if _came else _exit)


def note(number: int) -> None:
    """Remember that this signal ends the command."""
    _came.append(number)


@contextmanager
def held() -> Generator[None]:
    """A block that no signal cuts short; the first that came meanwhile is raised at its end."""
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in filter(heeded, ENDING)}
    for number in before:
        signal.signal(number, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def exit_if_asked() -> None:
    """End the command if a signal has come and its SystemExit was lost: Python drops one that is raised in a callback.

    Raises:
        SystemExit: one has.
    """
    if _came:
        raise SystemExit(128 + _came[0])


_came: list[int] = []
"""The signal that ends the command, once one has come."""


def _exit(number: int, _frame: FrameType | None) -> NoReturn:
    note(number)
    sys.unraisablehook = _report_dropped
    # A second signal must not cut the cleanup short, which is bounded.
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(128 + number)


def _report_dropped(dropped: sys.UnraisableHookArgs) -> None:
    """Report an exception that Python drops, unless it is our SystemExit, which `exit_if_asked` raises again."""
    if not issubclass(dropped.exc_type, SystemExit):
        sys.__unraisablehook__(dropped)
