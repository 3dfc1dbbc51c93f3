"""The signals that end the command, with their exit statuses."""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

ENDING = [signal.SIGINT, signal.SIGTERM]
"""Sent by Ctrl-C, `kill`, and closing the terminal."""
_received: list[int] = []
"""The signal that ends the command, once it has arrived."""


def exit_on_signals() -> None:
    """Let each signal raise SystemExit, so that everything is cleaned up. Further signals are ignored."""
    for number in filter(is_handled, ENDING):
        # Ignored until the interpreter has ended, so that a second Ctrl-C does not change the exit status.
        signal.signal(number, signal.SIG_IGN if _received else _exit)


def exit_if_signalled() -> None:
    """Exit if a signal has arrived.

    Python drops a SystemExit that is raised in a callback, and Python 3.11 replaces one of `__set_name__`.
    """
    if _received:
        raise SystemExit(128 + _received[0])


def remember_signal(number: int) -> None:
    _received.append(number)


@contextmanager
def signals_deferred() -> Generator[None]:
    """Defer signals: the first one that arrives in the block is raised at its end."""
    received: list[int] = []
    before = {number: signal.getsignal(number) for number in filter(is_handled, ENDING)}
    for number in before:
        signal.signal(number, lambda number, _frame: received.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])


def is_handled(number: int) -> bool:
    """Return False if the signal is ignored, as some are under `nohup` and for background jobs of scripts."""
    return signal.getsignal(number) is not signal.SIG_IGN


if sys.platform != "win32":
    ENDING.append(signal.SIGHUP)


def _exit(number: int, _frame: FrameType | None) -> NoReturn:
    remember_signal(number)
    sys.unraisablehook = _report_dropped
    # A second signal must not interrupt the cleanup, which takes a limited time.
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(128 + number)


def _report_dropped(dropped: sys.UnraisableHookArgs) -> None:
    """Report an exception that Python drops, except our SystemExit, which `exit_if_signalled` raises again."""
    if not issubclass(dropped.exc_type, SystemExit):
        sys.__unraisablehook__(dropped)
