"""An event loop in a thread, for plain tests: it runs from when it is first needed until pytest ends."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

__all__ = ["held", "portal_of"]

T = TypeVar("T")

_PORTAL = pytest.StashKey[BlockingPortal]()


def portal_of(config: pytest.Config) -> BlockingPortal:
    """The loop of this run of pytest, which is started now if it is the first time.

    It is asyncio's. When pytest ends, whatever still runs in it is cancelled, and so closes what it holds.
    """
    portal = config.stash.get(_PORTAL, None)
    if portal is None:
        thread = start_blocking_portal(name="mcp_launch.testing")
        portal = config.stash[_PORTAL] = thread.__enter__()

        def stop() -> None:
            try:
                portal.call(portal.stop, True)
            finally:
                thread.__exit__(None, None, None)

        config.add_cleanup(stop)
    return portal


@contextmanager
def held(portal: BlockingPortal, block: AbstractAsyncContextManager[T]) -> Generator[T]:
    """Enter an async block in a task of the portal; yields what it gives, and leaves it at the end.

    Unlike `BlockingPortal.wrap_async_context_manager` it gives the block up when the wait for it is interrupted: by
    Ctrl-C, or a plugin that ends a test which takes too long.
    """
    opened: Future[tuple[T, anyio.Event]] = Future()

    async def live() -> None:
        try:
            async with block as value:
                leave = anyio.Event()
                opened.set_result((value, leave))
                await leave.wait()
        except Exception as error:
            if opened.done():
                raise
            opened.set_exception(error)
        finally:
            opened.cancel()

    life = portal.start_task_soon(live)
    try:
        value, leave = opened.result()
    except BaseException:
        life.cancel()
        raise
    try:
        yield value
    finally:
        portal.call(leave.set)
        life.result()
