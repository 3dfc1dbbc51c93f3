"""Cancellation and contexts of the tasks that run handlers, which asyncio may cancel in other ways than anyio."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import copy_context
from types import coroutine
from typing import Any

import anyio


def is_failure(error: BaseException) -> bool:
    """Return True if *error* is a failure of the handler only. Call this where *error* is caught.

    asyncio raises `CancelledError` when a task is cancelled, but also when a future or task that it awaits was
    cancelled. The second case is a failure of the handler.
    """
    if not isinstance(error, asyncio.CancelledError):
        return isinstance(error, Exception)
    task = asyncio.current_task()
    return not (_is_scope_cancelled() or (task and task.cancelling()))


def is_for_task_alone(error: BaseException | None) -> bool:
    """Return True if asyncio, not a cancel scope, has cancelled this task, after undoing the cancellation.

    User code that cancels the task means the handler that runs in it. If the error were raised, it would end the whole
    task group.
    """
    if not isinstance(error, asyncio.CancelledError) or _is_scope_cancelled():
        return False
    task = asyncio.current_task()
    if task is None or not task.cancelling():
        return False
    while task.uncancel():
        pass
    return True


async def idle(wait: Callable[[], Awaitable[object]]) -> None:
    """Wait in a task that runs handlers. If asyncio cancels the task, only this wait ends early."""
    try:
        await wait()
    except BaseException as error:
        if not is_for_task_alone(error):
            raise


@coroutine
def run_apart(job: Coroutine[Any, Any, None], when_it_waits: Callable[[], None] | None) -> Generator[Any, Any, bool]:
    """Await *job* in a new context, and call *when_it_waits* when it waits for the first time.

    Returns:
        True if the job waited, so other tasks may have run in the meantime.
    """
    waited = False
    within = copy_context().run
    act: Callable[[Any], Any] = job.send
    given: Any = None
    while True:
        try:
            wanted = within(act, given)
        except StopIteration:
            return waited
        if when_it_waits and not waited:
            when_it_waits()
        waited = True
        try:
            given = yield wanted
        except BaseException as error:  # noqa: BLE001 - thrown into the job
            act, given = job.throw, error
        else:
            act = job.send


def _is_scope_cancelled() -> bool:
    return anyio.current_effective_deadline() <= anyio.current_time()
