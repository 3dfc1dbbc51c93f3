"""Functions in another process end when they take too long, and leave nothing behind."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from mcp_launch import _killable as killable
from mcp_launch._killable import CallFailed, KillableProcess
from tests.mcp_launch.support import Marked, wait_until

pytestmark = pytest.mark.anyio


@pytest.fixture
async def process(marked: Marked) -> AsyncGenerator[KillableProcess]:
    """A process for slow functions, which must leave nothing behind."""
    process = KillableProcess(seconds=60)
    yield process
    await process.aclose()


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_function_returns_and_the_process_is_used_again(process: KillableProcess) -> None:
    assert await process.call("operator:concat", [1, "\ud800"], [{"a": None}]) == [1, "\ud800", {"a": None}]
    assert await process.call("os:getpid") == await process.call("os:getpid") != os.getpid()


async def test_an_exception_is_reported_by_its_name_and_message(process: KillableProcess) -> None:
    with pytest.raises(CallFailed, match="division by zero") as caught:
        await process.call("operator:truediv", 1, 0)

    assert caught.value.kind == "ZeroDivisionError"
    assert await process.call("operator:add", 1, 1) == 2


async def test_a_function_that_takes_too_long_is_killed_and_the_next_call_gets_a_new_process(marked: Marked) -> None:
    process = KillableProcess(seconds=0.5)
    first = await process.call("os:getpid")

    with pytest.raises(CallFailed, match=r"took longer than 0\.5 s"):
        await process.call("re:search", "^(a+)+$", "a" * 60 + "!")

    assert not runs(first)
    second = await process.call("os:getpid")
    assert second != first
    await process.aclose()
    assert not runs(second)


async def test_a_cancelled_call_ends_the_process(process: KillableProcess) -> None:
    pid = await process.call("os:getpid")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(process.call, "time:sleep", 60)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()

    assert not runs(pid)


async def test_calls_take_turns(process: KillableProcess) -> None:
    returned: list[int] = []

    async def call(number: int) -> None:
        returned.append(await process.call("operator:pos", number))

    async with anyio.create_task_group() as tasks:
        for number in range(5):
            tasks.start_soon(call, number)

    assert sorted(returned) == [0, 1, 2, 3, 4]


async def test_a_process_that_crashes_is_reported(process: KillableProcess) -> None:
    with pytest.raises(CallFailed, match="crashed the process that it ran in"):
        await process.call("os:abort")

    assert await process.call("operator:add", 1, 1) == 2


async def test_memory_is_limited(process: KillableProcess) -> None:
    with pytest.raises(CallFailed) as caught:
        await process.call("operator:mul", [0], killable.MEMORY)

    assert caught.value.kind == "MemoryError"


@pytest.mark.parametrize(
    ("executable", "why"), [("", "needs a Python interpreter"), ("/no/such/python", "could not be started")]
)
async def test_a_call_without_an_interpreter_fails(
    executable: str, why: str, process: KillableProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(killable.sys, "executable", executable)

    with pytest.raises(CallFailed, match=why):
        await process.call("os:getpid")


async def test_a_module_path_may_contain_a_path_object(
    process: KillableProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(killable.sys, "path", [*sys.path, Path()])

    assert await process.call("operator:add", 1, 1) == 2


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_process_ends_after_its_parent_was_killed() -> None:
    """It also counts the seconds itself."""
    process = KillableProcess(seconds=1)
    pid = await process.call("os:getpid")
    # What the call would be if this process, which limits it, were no longer there.
    process._seconds = 600  # pyright: ignore[reportPrivateUsage]

    with pytest.raises(CallFailed, match="crashed the process that it ran in"):
        await process.call("re:search", "^(a+)+$", "a" * 60 + "!")

    wait_until(lambda: not runs(pid))
