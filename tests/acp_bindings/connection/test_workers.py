"""Which task does which job, and what one job leaves for the next."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import partial

import anyio
import anyio.to_thread
import pytest
from anyio.lowlevel import checkpoint

from acp_bindings.connection.workers import Workers

pytestmark = pytest.mark.anyio

COLOUR: ContextVar[str] = ContextVar("colour", default="none")


@asynccontextmanager
async def workers() -> AsyncGenerator[Workers]:
    """Workers, for as long as it takes them to do what they are given, at most."""
    is_whole = False
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            yield Workers(tasks)
            await anyio.wait_all_tasks_blocked()
            is_whole = True
            tasks.cancel_scope.cancel()
    # A task of its own that is cancelled would end the group, and the block with it, without a word.
    assert is_whole


def this_task() -> object:
    """The coroutine of the task that does the job; as long as it is kept, no other is it."""
    return anyio.get_current_task().coro


async def test_jobs_that_never_wait_are_done_in_their_order_by_one_task() -> None:
    done: list[tuple[int, object]] = []

    async def job(number: int) -> None:
        done.append((number, this_task()))

    async with workers() as given:
        for number in range(10):
            given.start_soon(partial(job, number))
    assert [number for number, _ in done] == list(range(10))
    assert len({task for _, task in done}) == 1


async def test_a_task_that_has_had_nothing_to_do_does_the_next_job() -> None:
    done: list[object] = []

    async def job() -> None:
        done.append(this_task())

    async with workers() as given:
        for _ in range(3):
            given.start_soon(job)
            await anyio.wait_all_tasks_blocked()
    assert len(done) == 3
    assert len(set(done)) == 1


async def test_jobs_that_wait_hold_up_none_behind_them() -> None:
    last = anyio.Event()
    done: list[int] = []

    async def job(number: int) -> None:
        if number == 9:
            last.set()
        await last.wait()
        done.append(number)

    async with workers() as given:
        for number in range(10):
            given.start_soon(partial(job, number))
    assert sorted(done) == list(range(10))


async def test_a_task_whose_job_has_waited_does_no_other() -> None:
    done: list[object] = []

    async def job() -> None:
        done.append(this_task())
        await checkpoint()

    async with workers() as given:
        for _ in range(3):
            given.start_soon(job)
            await anyio.wait_all_tasks_blocked()
    assert len(done) == len(set(done)) == 3


async def test_what_a_job_leaves_in_a_context_variable_no_other_sees() -> None:
    seen: list[str] = []

    async def job(colour: str) -> None:
        seen.append(COLOUR.get())
        COLOUR.set(colour)

    async with workers() as given:
        for colour in ("red", "green", "blue"):
            given.start_soon(partial(job, colour))
        await anyio.wait_all_tasks_blocked()
        given.start_soon(partial(job, "white"))
    assert seen == ["none"] * 4


async def test_a_job_that_is_cancelled_where_it_waits_is_told_and_the_others_are_not() -> None:
    scope = anyio.CancelScope()
    told: list[str] = []

    async def cancelled() -> None:
        with scope:
            try:
                await anyio.sleep_forever()
            except anyio.get_cancelled_exc_class():
                told.append("cancelled")
                raise

    async def other() -> None:
        await checkpoint()
        told.append("done")

    async with workers() as given:
        given.start_soon(cancelled)
        await anyio.wait_all_tasks_blocked()
        scope.cancel()
        given.start_soon(other)
    assert sorted(told) == ["cancelled", "done"]


async def test_a_job_is_given_what_it_waited_for() -> None:
    seen: list[str] = []

    async def job() -> None:
        seen.append(await anyio.to_thread.run_sync(lambda: "a word"))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            Workers(tasks).start_soon(job)
    assert seen == ["a word"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("is_called", [False, True])
async def test_an_idle_task_that_asyncio_cancels_goes_on_with_the_next_job(is_called: bool) -> None:
    known: list[asyncio.Task[object] | None] = []

    async def job() -> None:
        known.append(asyncio.current_task())

    async with workers() as given:
        given.start_soon(job)
        await anyio.wait_all_tasks_blocked()
        assert known[0] is not None
        if is_called:
            given.start_soon(job)
        known[0].cancel()
        await anyio.wait_all_tasks_blocked()
        given.start_soon(job)
        await anyio.wait_all_tasks_blocked()
        assert known == [known[0]] * (3 if is_called else 2)
