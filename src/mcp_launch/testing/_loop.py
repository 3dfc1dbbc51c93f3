"""An event loop in a thread for synchronous tests, and context managers that stay open in tasks."""

from __future__ import annotations

import asyncio
import contextvars
import signal
from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager
from typing import ClassVar, Generic, TypeVar

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

T = TypeVar("T")

_PORTAL = pytest.StashKey[BlockingPortal]()


def portal_of(config: pytest.Config) -> BlockingPortal:
    """Return the event loop of this pytest run, and start it on the first call.

    It uses asyncio. When pytest ends, its remaining tasks are cancelled.
    """
    portal = config.stash.get(_PORTAL, None)
    if portal is None:
        stack = ExitStack()
        portal = config.stash[_PORTAL] = stack.enter_context(start_blocking_portal(name="mcp_launch.testing"))
        stack.callback(portal.call, portal.stop, True)
        config.add_cleanup(stack.close)
    return portal


@contextmanager
def held(portal: BlockingPortal, block: AbstractAsyncContextManager[T]) -> Generator[T]:
    """Enter a block in the event loop of the portal, yield its value, and exit it at the end, in another task.

    Unlike `BlockingPortal.wrap_async_context_manager`, this cancels the block if waiting for it is interrupted, by
    Ctrl-C or by a plugin for timeouts.
    """
    entering = portal.start_task_soon(block.__aenter__)
    try:
        value = entering.result()
    except BaseException:
        entering.cancel()
        raise
    try:
        yield value
    finally:
        portal.call(block.__aexit__, None, None, None)


class Kept(AbstractAsyncContextManager[T], Generic[T]):
    """An async context manager that runs another one in its own task."""

    run_is_over: ClassVar[bool] = False
    """True once Ctrl-C has ended the tests, so that only fixtures are torn down."""

    def __init__(self, block: AbstractAsyncContextManager[T]) -> None:
        self._block = block

    async def __aenter__(self) -> T:
        self._settled, self._leave, self._gone = anyio.Event(), anyio.Event(), anyio.Event()
        self._scope = anyio.CancelScope()
        self._values: list[T] = []
        self._error: Exception | None = None
        # asyncio keeps only weak references to tasks.
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
            # Ctrl-C interrupted the other task, and will interrupt or cancel this one too.
            await anyio.sleep_forever()
        return self._values[0]

    async def __aexit__(self, *_: object) -> None:
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
            # Ctrl-C must reach the test runner, once. trio raises it in the task that happens to run, so it has to be
            # raised again. asyncio's loop stops when a task raises it, unless a task group wrapped it, as here.
            if not _in_asyncio():
                signal.raise_signal(signal.SIGINT)
            elif isinstance(error, KeyboardInterrupt) or not Kept.run_is_over:
                raise KeyboardInterrupt from error
        finally:
            self._settled.set()
            self._gone.set()


def _start(work: Callable[[], Awaitable[None]]) -> object:
    """Start a task outside of any task group, for which anyio has no function."""
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
