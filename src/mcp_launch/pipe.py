"""The standard input of a child as a pipe of our own, because it can tell whether the child has read what was sent.

That tells a server which leaves because of what it was asked from one that never came so far.
"""

from __future__ import annotations

import fcntl
import os
import struct
import termios

import anyio
import anyio.lowlevel

__all__ = ["InputPipe"]


class InputPipe:
    """The pipe; give `child_end` to the child and close it here."""

    def __init__(self) -> None:
        self.child_end, self._end = os.pipe()
        os.set_blocking(self._end, False)
        self._open = True
        self._sent = 0

    async def send(self, data: bytes) -> None:
        """Write all of it.

        Raises:
            OSError: the child no longer reads.
            anyio.ClosedResourceError: it was closed here.
        """
        rest = memoryview(data)
        while rest:
            if not self._open:
                raise anyio.ClosedResourceError
            try:
                written = os.write(self._end, rest)
            except BlockingIOError:
                await anyio.wait_writable(self._end)
            else:
                self._sent += written
                rest = rest[written:]
        await anyio.lowlevel.checkpoint()

    def was_read(self) -> bool:
        """Whether anything that was sent has been read. Where the system does not tell, everything was."""
        if not self._open:
            return False
        unread: int = struct.unpack("i", fcntl.ioctl(self._end, termios.FIONREAD, bytes(4)))[0]
        return unread < self._sent

    async def aclose(self) -> None:
        """Close it, which a child reads as the end of its input."""
        if self._open:
            self._open = False
            anyio.notify_closing(self._end)
            os.close(self._end)
        await anyio.lowlevel.checkpoint()
