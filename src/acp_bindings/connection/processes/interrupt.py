"""Ctrl-C that comes while a process is being started: raised there, nobody would know of the process, and end it."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["held_back"]


@contextmanager
def held_back() -> Generator[None]:
    """Have Ctrl-C interrupt the event loop after the block instead of the block, which must not wait for anything."""
    handler = signal.getsignal(signal.SIGINT)
    loop = _asyncio_loop()
    # asyncio's own handlers cancel tasks, at which nothing is forgotten; trio's raises in whatever runs.
    raises = handler is signal.default_int_handler or (loop is None and callable(handler))
    if not raises or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came and loop:
            loop.call_soon(signal.raise_signal, signal.SIGINT)
        elif came and callable(handler):
            # Without a frame trio's gives it to the main task, at its next checkpoint.
            handler(signal.SIGINT, None)


def _asyncio_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
