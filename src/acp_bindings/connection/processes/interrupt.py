"""Ctrl-C while a process is being started: raised there, it would leave a process that nobody knows of."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any

__all__ = ["held_back"]


@contextmanager
def held_back() -> Generator[None]:
    """Have Ctrl-C interrupt the event loop after the block, not the block itself, which must not wait for anything.

    This holds where Ctrl-C raises `KeyboardInterrupt` in whatever runs. Other handlers of the signal are left alone.
    """
    handler = signal.getsignal(signal.SIGINT)
    deliver = _delivery(handler)
    if deliver is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    try:
        signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            deliver()


def _delivery(handler: Any) -> Callable[[], object] | None:
    """What interrupts the event loop by *handler*, if that raises wherever it is called."""
    if getattr(handler, "__module__", "").partition(".")[0] == "trio":
        # Without a frame it gives it to the main task, at its next checkpoint.
        return partial(handler, signal.SIGINT, None)
    if handler is not signal.default_int_handler:
        return None
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return None
    return lambda: loop.call_soon(signal.raise_signal, signal.SIGINT)
