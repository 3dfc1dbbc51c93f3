"""What is done to its end, although the task that has it done is cancelled meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

__all__ = ["to_the_end"]


async def to_the_end(work: Callable[[], Awaitable[None]]) -> None:
    """Do it, and wait for it, in a task of its own: asyncio's own cancellation of a task reaches through a shield.

    Raises:
        ExceptionGroup: what it raised, as of any task of a group.
    """

    async def shielded() -> None:
        with anyio.CancelScope(shield=True):
            await work()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(shielded)
