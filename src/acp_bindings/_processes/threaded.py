"""Descriptors that are read and written in a thread: files on every system, and everything on Windows."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

import anyio
import anyio.from_thread
import anyio.lowlevel

T = TypeVar("T")


class _Threaded:
    """A descriptor that is read or written in a separate thread.

    When the task that waits is cancelled, the thread is left behind, because a read or write cannot be interrupted. A
    program that exits does not wait for this thread, as it would for one of anyio's on asyncio.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._jobs: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._is_busy = self._is_closed = False
        Thread(target=self._work, name=f"descriptor {descriptor}", daemon=True).start()

    async def aclose(self) -> None:
        """Close the descriptor, once; after a read or write that was left behind, which would block the closing."""
        if self._is_closed:
            return
        self._is_closed = True
        closing = partial(os.close, self._descriptor)
        try:
            if self._is_busy:
                self._jobs.put(closing)
            else:
                # It takes no time, and the thread must not be left to an event loop that ends meanwhile.
                with anyio.CancelScope(shield=True):
                    await self._do(closing)
        finally:
            self._jobs.put(None)

    async def _do(self, job: Callable[[], T]) -> T:
        future: Future[T] = Future()
        done, token = anyio.Event(), anyio.lowlevel.current_token()

        def work() -> None:
            try:
                future.set_result(job())
            except BaseException as error:  # noqa: BLE001 - raised in the task that waits
                future.set_exception(error)
            with contextlib.suppress(anyio.RunFinishedError):
                anyio.from_thread.run_sync(done.set, token=token)

        self._is_busy = True
        self._jobs.put(work)
        await done.wait()
        self._is_busy = False
        return future.result()

    def _work(self) -> None:
        while job := self._jobs.get():
            job()


class ThreadedSource(_Threaded):
    """A source of bytes from a descriptor, which it closes."""

    async def receive(self, max_bytes: int = 65536, /) -> bytes:
        """Return the next bytes.

        Raises:
            anyio.EndOfStream: there are no more.
            OSError: it cannot be read.
        """
        if chunk := await self._do(partial(os.read, self._descriptor, max_bytes)):
            return chunk
        raise anyio.EndOfStream


class ThreadedSink(_Threaded):
    """A sink of bytes to a descriptor, which it closes."""

    async def send(self, item: bytes, /) -> None:
        """Write all of it.

        Raises:
            OSError: it cannot be written.
        """
        rest = memoryview(item)
        while rest:
            rest = rest[await self._do(partial(os.write, self._descriptor, rest)) :]
