"""Runs jobs side by side, most of which never wait: these share one task, and only those that wait take one each."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import copy_context
from types import coroutine
from typing import Any, TypeAlias

import anyio
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint

from acp_bindings.connection.failures import is_for_task_alone, take_back

__all__ = ["Job", "Workers", "idle", "run_apart", "wait_idle"]

Job: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

_MOST_IDLE = 2
"""Tasks that are kept for what comes: one for the next jobs, and one for the rest of them if one waits."""


class Workers:
    """Begins jobs in their order and runs them side by side.

    To start a task takes longer than most jobs do, so one task does them one after the other. When a job waits, another
    task takes the next ones, and the first task ends with that job, as if it had been started for the job alone.
    """

    def __init__(self, tasks: TaskGroup) -> None:
        """Workers that run as tasks of the group *tasks*, until that is cancelled."""
        self._tasks = tasks
        self._jobs: deque[Job] = deque()
        self._coming = False
        """Whether a task has been called to the jobs, and has not taken one yet. It is so whenever jobs wait."""
        self._idle: list[anyio.Event] = []

    def start_soon(self, job: Job) -> None:
        """Have a job done, in a copy of the context, so that no other job sees what it puts into context variables."""
        self._jobs.append(job)
        self._call()

    def _call(self) -> None:
        if not self._coming:
            self._coming = True
            if self._idle:
                self._idle.pop().set()
            else:
                self._tasks.start_soon(self._work)

    async def _work(self) -> None:
        while True:
            self._coming = False
            while self._jobs:
                job = self._jobs.popleft()
                if self._jobs:
                    # Another task is called to the next jobs, in case this one waits.
                    self._call()
                if await run_apart(job()):
                    return
            if len(self._idle) >= _MOST_IDLE:
                return
            await self._called()

    async def _called(self) -> None:
        called = anyio.Event()
        self._idle.append(called)
        await wait_idle(called)


async def wait_idle(called: anyio.Event) -> None:
    """Wait in a task that has nothing to do. Cancelling the task alone, as one of a job that is done, ends nothing."""
    while not called.is_set():
        await idle(called.wait)


async def idle(wait: Callable[[], Awaitable[object]] = checkpoint) -> None:
    """Wait once in such a task, or let others run. Cancelling it alone may end that early, and ends nothing else."""
    try:
        await wait()
    except BaseException as error:
        if not is_for_task_alone(error):
            raise


@coroutine
def run_apart(job: Coroutine[Any, Any, None]) -> Generator[Any, Any, bool]:
    """Await a job in a context of its own; whether it has waited, so that other tasks may have run meanwhile."""
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
        waited = True
        try:
            given = yield wanted
        except BaseException as error:  # noqa: BLE001 - it is for the job
            act, given = job.throw, error
            cancelled = cancelled or isinstance(error, asyncio.CancelledError)
        else:
            act = job.send
