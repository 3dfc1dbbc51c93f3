"""A block in a task of its own, so that it may be entered in one task of the event loop and left in another.

pytest-asyncio does that with an async fixture: its end runs in another task than its beginning. A session holds several
of anyio's cancel scopes, which do not allow it, so that a fixture that is a session would fail at its end.
"""

from __future__ import annotations

import asyncio
import contextvars
import signal
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import ClassVar, Generic, TypeVar

import anyio

__all__ = ["Kept"]

T = TypeVar("T")


class Kept(AbstractAsyncContextManager[T], Generic[T]):
    """Enters the block in a task of its own, which leaves it when this one is left."""

    run_is_over: ClassVar[bool] = False
    """Whether Ctrl-C has ended the tests, so that now only fixtures are torn down."""

    def __init__(self, block: AbstractAsyncContextManager[T]) -> None:
        self._block = block

    async def __aenter__(self) -> T:
        self._settled, self._leave, self._gone = anyio.Event(), anyio.Event(), anyio.Event()
        self._scope = anyio.CancelScope()
        self._values: list[T] = []
        self._error: Exception | None = None
        # asyncio holds its tasks weakly.
        self._task = _start(self._keep)
        try:
            await self._settled.wait()
        except BaseException:
            self._scope.cancel()
            await self._end()
            raise
        if self._error is not None:
            raise self._error
        if not self._values:
            # Ctrl-C interrupted the block, and will interrupt or cancel this task too.
            await anyio.sleep_forever()
        return self._values[0]

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        self._leave.set()
        await self._end()
        if self._error is not None:
            raise self._error

    async def _end(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._gone.wait()

    async def _keep(self) -> None:
        try:
            with self._scope:
                async with self._block as value:
                    self._values.append(value)
                    self._settled.set()
                    await self._leave.wait()
        except Exception as error:  # noqa: BLE001 - raised again where the block is entered or left
            self._error = error
        except BaseException as error:
            if not _is_interrupt(error):
                raise
            # Ctrl-C is for who runs the tests, and once. trio gives it to whatever runs, and nobody else would hear of
            # it. asyncio's loop is left when it comes to a task, unless a group of tasks holds it, as one did here.
            if not _in_asyncio():
                signal.raise_signal(signal.SIGINT)
            elif isinstance(error, KeyboardInterrupt) or not Kept.run_is_over:
                raise KeyboardInterrupt from error
        finally:
            self._settled.set()
            self._gone.set()


def _start(work: Callable[[], Awaitable[None]]) -> object:
    """Start a task that belongs to no task group, which anyio has no function for."""
    if not _in_asyncio():
        import trio  # noqa: PLC0415 - installed, since its loop runs

        return trio.lowlevel.spawn_system_task(work, context=contextvars.copy_context())

    async def run() -> None:
        await work()

    return asyncio.get_running_loop().create_task(run())


def _in_asyncio() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _is_interrupt(error: BaseException) -> bool:
    return BaseExceptionGroup("", [error]).subgroup(KeyboardInterrupt) is not None
