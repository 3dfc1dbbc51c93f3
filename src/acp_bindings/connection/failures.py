"""What of all that a handler raises is a failure of its own, and what is meant for the connection or the program."""

from __future__ import annotations

import asyncio

import anyio

__all__ = ["is_failure"]


def is_failure(error: BaseException) -> bool:
    """Whether it is an exception that costs the call and no more; ask where it is caught.

    asyncio has one word for the cancellation of a task and for that of something which the task waited for. The second
    cancels nobody: taken for the first, the task would end without a word.
    """
    if not isinstance(error, asyncio.CancelledError):
        return isinstance(error, Exception)
    task = asyncio.current_task()
    cancelled = anyio.current_effective_deadline() <= anyio.current_time()
    return not (cancelled or (task and task.cancelling()))
