"""The ends of pipes on this side, such as those to a child. They are cheap, and report whether it has read anything.

This distinguishes a child that exits because of a request from one that exits before reading it.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import select
import struct
import sys
import termios
from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel

if sys.platform == "win32":
    raise ImportError("acp_bindings._processes.pipes is not for Windows")


class _End:
    """A descriptor that this object closes."""

    def __init__(self, descriptor: int) -> None:
        self._end = descriptor
        self._open = True
        self._waiting: anyio.CancelScope | None = None

    async def aclose(self) -> None:
        """Close the descriptor, also while a task waits for it."""
        if self._open:
            self._open = False
            if self._waiting is None:
                os.close(self._end)
            else:
                # Not `anyio.notify_closing`, which on asyncio does not reach a waiter in another task.
                self._waiting.cancel()
        await anyio.lowlevel.checkpoint()

    def _unread(self) -> int:
        """Return the number of bytes in the pipe."""
        unread: int = struct.unpack("i", fcntl.ioctl(self._end, termios.FIONREAD, bytes(4)))[0]
        # At a writing end, macOS reports it only as the size of the file, which is 0 on Linux.
        return unread or os.fstat(self._end).st_size

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


class Writer(_End):
    """A writing end. The descriptor must not block."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor)
        self._sent = 0
        self._unsent = b""
        self._turn = anyio.Lock(fast_acquire=True)

    async def send(self, data: bytes) -> None:
        """Write all of *data*. If this is cancelled, the rest of it is written before what is sent next.

        Raises:
            OSError: the other end was closed.
            anyio.ClosedResourceError: it was closed here.
        """
        async with self._turn:
            await self._write(self._unsent + data)

    def send_at_once(self, data: bytes) -> int:
        """Write what can be written without waiting, and return how many bytes. Errors are left to `send`."""
        if self._unsent or not self._open or self._turn.locked():
            return 0
        try:
            written = os.write(self._end, data)
        except OSError:
            return 0
        self._sent += written
        return written

    def was_read(self) -> bool:
        """True if the other side has read anything, or that is unknown: on macOS, once that side is closed."""
        if not self._open:
            return False
        return self._unread() < self._sent

    def has_reader(self) -> bool:
        """True if a process holds the other end."""
        if not self._open:
            return False
        poll = select.poll()
        # macOS reports nothing about a descriptor that is registered without an event.
        poll.register(self._end, select.POLLOUT)
        return not any(found & (select.POLLERR | select.POLLHUP) for _, found in poll.poll(0))

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
            self._unsent = bytes(rest)


class Reader(_End):
    """A reading end. The descriptor may block, because it is only read when data is available."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor)
        self._arrivals: _Arrivals | None = None

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """Return the next chunk. Cancellation does not lose any bytes.

        Raises:
            anyio.EndOfStream: the other end was closed.
            anyio.ClosedResourceError: it was closed here.
        """
        if self._arrivals is None and _on_asyncio():
            self._arrivals = _Arrivals(self._end)
        chunk = await (self._arrivals.next(max_bytes) if self._arrivals and self._open else self._read(max_bytes))
        if not self._open:
            raise anyio.ClosedResourceError
        if not chunk:
            raise anyio.EndOfStream
        return chunk

    def has_data(self) -> bool:
        """True if there is something to read."""
        return self._open and self._unread() > 0

    async def aclose(self) -> None:
        """Close the descriptor, also while a task waits for it."""
        if self._arrivals:
            self._arrivals.stop()
        await super().aclose()

    async def _read(self, max_bytes: int) -> bytes:
        while True:
            # Before each read, not only when there is nothing to read: a flood must let other tasks run.
            await self._wait(anyio.wait_readable)
            with contextlib.suppress(BlockingIOError):
                return os.read(self._end, max_bytes)


class _Arrivals:
    """Reads on asyncio, with one registration for all reads: to register for each takes longer than to read."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._listening = False
        self._max_bytes = 0
        self._waiter: asyncio.Future[None] | None = None
        self._chunk: bytes | None = None
        """Bytes that were read but not returned yet, because the reader may have been cancelled."""

    async def next(self, max_bytes: int) -> bytes | None:
        """Return the next chunk, empty at the end; None after `stop`."""
        if self._waiter:
            raise anyio.BusyResourceError("reading from")
        if self._chunk is not None:
            await anyio.lowlevel.checkpoint()
        else:
            self._max_bytes = max_bytes
            self._waiter = self._loop.create_future()
            if not self._listening:
                self._loop.add_reader(self._descriptor, self._take)
                self._listening = True
            try:
                await self._waiter
            finally:
                self._waiter = None
        chunk, self._chunk = self._chunk, None
        return chunk

    def stop(self) -> None:
        """Release the descriptor, and wake waiting tasks."""
        self._ignore()
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)

    def _take(self) -> None:
        if self._waiter is None or self._waiter.done():
            # No task reads now, and the event loop would report the same data again and again.
            self._ignore()
            return
        try:
            self._chunk = os.read(self._descriptor, self._max_bytes)
        except BlockingIOError:
            return
        except OSError as error:
            self._waiter.set_exception(error)
        else:
            self._waiter.set_result(None)

    def _ignore(self) -> None:
        if self._listening:
            self._loop.remove_reader(self._descriptor)
            self._listening = False


def _on_asyncio() -> bool:
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False
