"""The signals that end the command, each with its own exit status, from the first moment on."""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

__all__ = ["ENDING", "exit_if_asked", "exit_on_signals", "heeded", "held", "note"]

ENDING = [signal.SIGINT, signal.SIGTERM]
if sys.platform != "win32":
    ENDING.append(signal.SIGHUP)
"""Those that ask it to end: Ctrl-C, `kill`, and a terminal that was closed."""


def heeded(number: int) -> bool:
    """Whether the signal counts: under `nohup`, or in the background of a script, some do not."""
    return signal.getsignal(number) is not signal.SIG_IGN


def exit_on_signals() -> None:
    """Let each of them raise SystemExit, so that what was begun is cleared up; ignored, once one has come."""
    for number in filter(heeded, ENDING):
        # What is ignored stays so until the interpreter is gone: a second Ctrl-C does not change the exit status.
        signal.signal(number, signal.SIG_IGN if _came else _exit)


def note(number: int) -> None:
    """Know that this one ends the command."""
    _came.append(number)


@contextmanager
def held() -> Generator[None]:
    """A block that no signal cuts short; the first that came meanwhile counts at its end."""
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
    """End the command if a signal has come, and what that raised was dropped: of a callback of an import, Python does.

    Raises:
        SystemExit: one has.
    """
    if _came:
        raise SystemExit(128 + _came[0])


_came: list[int] = []
"""The signal that ends the command, once it is there."""


def _exit(number: int, _frame: FrameType | None) -> NoReturn:
    note(number)
    sys.unraisablehook = _tell_of_others
    # A second one does not cut short what the first began, and that is bounded.
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(128 + number)


def _tell_of_others(dropped: sys.UnraisableHookArgs) -> None:
    """Tell of what was dropped, unless it is our own exit, which is not lost."""
    if not issubclass(dropped.exc_type, SystemExit):
        sys.__unraisablehook__(dropped)
