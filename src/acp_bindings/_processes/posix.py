"""Child processes on POSIX, with a process group for each."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.lowlevel

from acp_bindings._processes.pipes import Reader, Writer


@contextmanager
def held_back() -> Generator[None]:
    """Delay Ctrl-C until after the block, which must not wait. It would leak a process that is being started.

    This applies if Ctrl-C raises `KeyboardInterrupt`. Other handlers of the signal are not changed.
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
    """Return a function that interrupts the event loop like *handler*; None if *handler* does not raise."""
    if getattr(handler, "__module__", "").partition(".")[0] == "trio":
        # Without a frame, it interrupts the main task at its next checkpoint.
        return partial(handler, signal.SIGINT, None)
    if handler is not signal.default_int_handler:
        return None
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return None
    return lambda: loop.call_soon(signal.raise_signal, signal.SIGINT)


if sys.platform == "win32":
    raise ImportError("acp_bindings._processes.posix is not for Windows")

P = TypeVar("P", Reader, Writer)

_LOOK = 0.02
"""Seconds between checks whether a process has exited, on systems without an event for it (macOS)."""


async def start(
    command: Sequence[str], *, cwd: str, env: Mapping[str, str], without_input: bool
) -> tuple[Child, Writer, Reader, Reader]:
    """Start the command in a new process group. *without_input*, its standard error is part of its standard output."""
    await anyio.lowlevel.checkpoint()
    with held_back(), contextlib.ExitStack() as on_failure, contextlib.ExitStack() as child_ends:

        def pipe(kind: type[P]) -> tuple[int, P]:
            """Return the end of the child, and ours."""
            ends = os.pipe()
            our_end, child_end = ends if kind is Reader else reversed(ends)
            on_failure.callback(os.close, our_end)
            child_ends.callback(os.close, child_end)
            os.set_blocking(our_end, False)
            return child_end, kind(our_end)

        (input_, stdin), (output, stdout), (errors, stderr) = pipe(Writer), pipe(Reader), pipe(Reader)
        child = Child(
            subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL if without_input else input_,
                stdout=output,
                stderr=subprocess.STDOUT if without_input else errors,
                cwd=cwd,
                env=dict(env),
                start_new_session=True,
            )
        )
        on_failure.pop_all()
    return child, stdin, stdout, stderr


class Child:
    """A running process.

    Not anyio's: on asyncio before Python 3.12 that starts a thread for each, which takes longer than all the rest.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.pid = process.pid

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal, or None while it runs."""
        return self._process.poll()

    async def wait(self) -> int:
        """Wait for it to exit, and return its status."""
        while (status := self.returncode) is None:
            try:
                # One for each call: no two tasks may wait for the same descriptor.
                descriptor = os.pidfd_open(self.pid)
            except (AttributeError, OSError):
                await anyio.sleep(_LOOK)
                continue
            try:
                await anyio.wait_readable(descriptor)
            finally:
                os.close(descriptor)
        return status

    def kill(self) -> None:
        """End it."""
        self._process.kill()

    async def aclose(self) -> None:
        """Do nothing: it does not own any streams."""


class ProcessTree:
    """The process group that a process leads; it outlives its leader."""

    def __init__(self, pid: int) -> None:
        self._pid = pid

    def ask(self) -> bool:
        """Ask all processes to exit, and return True if there were any."""
        return self._signal(signal.SIGTERM)

    def kill(self) -> bool:
        """End all processes, and return True if there were any."""
        return self._signal(signal.SIGKILL)

    def lives(self) -> bool:
        """Return True if a process remains."""
        return self._signal(0)

    def close(self) -> None:
        """Do nothing: a process group needs no handle."""

    def _signal(self, number: int) -> bool:
        try:
            os.killpg(self._pid, number)
        except (ProcessLookupError, PermissionError):
            # macOS answers EPERM for a group of zombies.
            return False
        return True
