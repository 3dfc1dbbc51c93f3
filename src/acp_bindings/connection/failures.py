"""Which exceptions are failures of a handler, and which are meant for the connection or the program.

Several handlers may run in one task, one after the other. What is meant for one of them must not reach the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import copy_context
from types import coroutine
from typing import Any, cast

import anyio

__all__ = ["alone", "idle", "is_failure", "is_for_task_alone", "run_apart", "take_back"]


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


async def idle(wait: Callable[[], Awaitable[object]]) -> None:
    """Wait in a task that has run handlers. If asyncio cancels the task, that may end early, and ends nothing else."""
    try:
        await wait()
    except BaseException as error:
        if not is_for_task_alone(error):
            raise


@coroutine
def run_apart(job: Coroutine[Any, Any, None], when_it_waits: Callable[[], None] | None) -> Generator[Any, Any, bool]:
    """Await *job* in a context of its own, and call *when_it_waits* when it waits for the first time.

    Returns:
        Whether it waited, so that other tasks may have run meanwhile.
    """
    waited = False
    within = copy_context().run
    act: Callable[[Any], Any] = job.send
    given: Any = None
    cancelled = False
    while True:
        try:
            wanted = within(act, given)
        except StopIteration:
            if cancelled:
                # Also a cancellation that the job has not let through ends with it.
                take_back()
            return waited
        if when_it_waits and not waited:
            when_it_waits()
        waited = True
        try:
            given = yield wanted
        except BaseException as error:  # noqa: BLE001 - it is for the job
            act, given = job.throw, error
            cancelled = cancelled or isinstance(error, asyncio.CancelledError)
        else:
            act = job.send


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
