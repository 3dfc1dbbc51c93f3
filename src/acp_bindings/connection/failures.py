"""What of all that a handler raises is a failure of its own, and what is meant for the connection or the program."""

from __future__ import annotations

import asyncio
from typing import cast

import anyio

__all__ = ["alone", "is_failure"]


def alone(error: BaseException) -> BaseException:
    """What is in a group of one, however deep; anything else is what it is."""
    while isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        first, *others = group.exceptions
        if others:
            return group
        error = first
    return error


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
