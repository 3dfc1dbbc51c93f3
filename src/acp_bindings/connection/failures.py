"""Which exceptions are failures of a handler, and which are meant for the connection or the program."""

from __future__ import annotations

import asyncio
from typing import cast

import anyio

__all__ = ["alone", "is_failure", "is_for_task_alone", "take_back"]


def alone(error: BaseException) -> BaseException:
    """The only exception in *error*, if that is a group of one, however deep; else *error* itself."""
    while isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        first, *others = group.exceptions
        if others:
            return group
        error = first
    return error


def is_failure(error: BaseException) -> bool:
    """Whether *error* fails the handler alone. Call this where *error* is caught.

    asyncio raises `CancelledError` when a task is cancelled, and also when a future or task that it waits for is. The
    second is a failure: taken for the first, the task would end without a word.
    """
    if not isinstance(error, asyncio.CancelledError):
        return isinstance(error, Exception)
    task = asyncio.current_task()
    return not (_is_scope_cancelled() or (task and task.cancelling()))


def is_for_task_alone(error: BaseException | None) -> bool:
    """Whether *error* is that asyncio, and no cancel scope, has cancelled this task; then that is taken back.

    Who cancels the task knows it by the handler that runs in it, and means only that. Raised, it would end the whole
    task group.
    """
    return isinstance(error, asyncio.CancelledError) and take_back()


def take_back() -> bool:
    """Take back that asyncio, and no cancel scope, has cancelled this task; whether it had."""
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
