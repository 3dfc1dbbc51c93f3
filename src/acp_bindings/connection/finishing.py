"""Work that is done to its end, even if the task that waits for it is cancelled meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

__all__ = ["to_the_end"]


async def to_the_end(work: Callable[[], Awaitable[None]]) -> None:
    """Do *work* in a task of its own, and wait for it.

    A shield alone would not do: asyncio's own `Task.cancel` reaches through it.

    Raises:
        ExceptionGroup: what *work* raised, as any task of a group.
    """

    async def shielded() -> None:
        with anyio.CancelScope(shield=True):
            await work()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(shielded)
