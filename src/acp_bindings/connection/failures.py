"""What of all that a handler raises is a failure of its own, and what is meant for the connection or the program."""

from __future__ import annotations

import asyncio
from typing import cast

import anyio

__all__ = ["alone", "is_failure", "is_for_task_alone", "take_back"]


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
    return not (_is_scope_cancelled() or (task and task.cancelling()))


def is_for_task_alone(error: BaseException | None) -> bool:
    """Whether asyncio has cancelled this task, and no scope that it is in; then that is taken back, and it can go on.

    Whoever knows of the task by what is done in it means that alone. Raised, it would end the whole group of the task.
    """
    return isinstance(error, asyncio.CancelledError) and take_back()


def take_back() -> bool:
    """Take back that asyncio has cancelled this task, and no scope that it is in; whether there was anything to do."""
    if _is_scope_cancelled():
        return False
    task = asyncio.current_task()
    if task is None or not task.cancelling():
        return False
    while task.uncancel():
        pass
    return True


def _is_scope_cancelled() -> bool:
    return anyio.current_effective_deadline() <= anyio.current_time()
