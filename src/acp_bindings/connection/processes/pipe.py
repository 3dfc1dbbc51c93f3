"""The standard streams of a child as pipes of our own, which cost little and tell whether the child reads.

That tells one which leaves because of what it was asked from one that never came so far.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    raise ImportError("acp_bindings.connection.processes.pipe is not for Windows")

import fcntl
import os
import select
import struct
import termios
from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel

__all__ = ["InputPipe", "OutputPipe"]


class _Pipe:
    """Our end of a pipe; give `child_end` to the child and close it here."""

    def __init__(self, our_end: int, child_end: int) -> None:
        os.set_blocking(our_end, False)
        self.child_end = child_end
        self._end = our_end
        self._open = True
        self._waiting: anyio.CancelScope | None = None

    async def aclose(self) -> None:
        """Close it, also while somebody waits for it."""
        if self._open:
            self._open = False
            if self._waiting is None:
                os.close(self._end)
            else:
                # Not `anyio.notify_closing`, which on asyncio does not reach a waiter in another task.
                self._waiting.cancel()
        await anyio.lowlevel.checkpoint()

    async def _wait(self, until_ready: Callable[[int], Awaitable[None]]) -> None:
        if not self._open:
            raise anyio.ClosedResourceError
        try:
            with anyio.CancelScope() as self._waiting:
                await until_ready(self._end)
        finally:
            self._waiting = None
            if not self._open:
                os.close(self._end)
        if not self._open:
            raise anyio.ClosedResourceError


class InputPipe(_Pipe):
    """Standard input of the child."""

    def __init__(self) -> None:
        child_end, our_end = os.pipe()
        super().__init__(our_end, child_end)
        self._sent = 0
        self._unsent = bytearray()
        self._turn = anyio.Lock(fast_acquire=True)

    async def send(self, data: bytes) -> None:
        """Write all of it. What is left of it on cancellation is written before what is sent next.

        Raises:
            OSError: the child no longer reads.
            anyio.ClosedResourceError: it was closed here.
        """
        async with self._turn:
            if self._unsent:
                await self._write(bytes(self._unsent))
            await self._write(data)

    def was_read(self) -> bool:
        """Whether anything that was sent has been read. Where the system does not tell, everything was."""
        if not self._open:
            return False
        unread: int = struct.unpack("i", fcntl.ioctl(self._end, termios.FIONREAD, bytes(4)))[0]
        return unread < self._sent

    def has_reader(self) -> bool:
        """Whether anybody holds the other end."""
        if not self._open:
            return False
        poll = select.poll()
        poll.register(self._end, 0)
        return not poll.poll(0)

    async def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                if not self._open:
                    raise anyio.ClosedResourceError
                try:
                    written = os.write(self._end, rest)
                except BlockingIOError:
                    await self._wait(anyio.wait_writable)
                else:
                    self._sent += written
                    rest = rest[written:]
        finally:
            self._unsent[:] = rest


class OutputPipe(_Pipe):
    """Standard output or standard error of the child."""

    def __init__(self) -> None:
        our_end, child_end = os.pipe()
        super().__init__(our_end, child_end)

    async def receive(self, max_bytes: int) -> bytes:
        """What it wrote, as it comes; a cancellation loses nothing of it.

        Raises:
            anyio.EndOfStream: nobody writes any more.
            anyio.ClosedResourceError: it was closed here.
        """
        while True:
            # Before each read, not only when there is nothing to read: a flood must let other tasks run.
            await self._wait(anyio.wait_readable)
            try:
                chunk = os.read(self._end, max_bytes)
            except BlockingIOError:
                continue
            if not chunk:
                raise anyio.EndOfStream
            return chunk
