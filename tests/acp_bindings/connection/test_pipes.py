"""Ends of pipes: what is read is neither lost nor waited for when it is not there."""

import asyncio
import os

import anyio
import anyio.lowlevel
import pytest

from acp_bindings.connection.processes.pipe import Reader

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("steps", range(6))
async def test_a_reader_that_is_cancelled_while_something_arrives_loses_nothing(steps: int) -> None:
    source, sink = os.pipe()
    reader, heard = Reader(source), b""

    async def hear(scope: anyio.CancelScope) -> None:
        nonlocal heard
        with scope:
            heard += await reader.receive()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            scope = anyio.CancelScope()
            tasks.start_soon(hear, scope)
            await anyio.wait_all_tasks_blocked()
            os.write(sink, b"first")
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            scope.cancel()
        os.write(sink, b" second")
        while heard != b"first second":
            heard += await reader.receive()
    os.close(sink)
    await reader.aclose()


async def test_a_reader_of_a_descriptor_that_blocks_waits_without_blocking() -> None:
    source, sink = os.pipe()
    reader = Reader(source)
    for text in (b"one", b"two", b"three"):
        os.write(sink, text)
        assert await reader.receive() == text
        with anyio.move_on_after(0.01) as nothing:
            await reader.receive()
        assert nothing.cancelled_caught
    os.close(sink)
    with anyio.fail_after(5), pytest.raises(anyio.EndOfStream):
        await reader.receive()
    await reader.aclose()


async def test_a_reader_that_is_closed_while_somebody_waits_tells_so() -> None:
    source, sink = os.pipe()
    reader = Reader(source)

    async def hear() -> None:
        with pytest.raises(anyio.ClosedResourceError):
            await reader.receive()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hear)
            await anyio.wait_all_tasks_blocked()
            await reader.aclose()
    os.close(sink)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("steps", range(4))
async def test_a_reader_that_asyncio_cancels_while_something_arrives_loses_nothing(steps: int) -> None:
    source, sink = os.pipe()
    reader = Reader(source)
    task = asyncio.create_task(reader.receive())
    await anyio.wait_all_tasks_blocked()
    os.write(sink, b"first")
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    [heard] = await asyncio.gather(task, return_exceptions=True)
    if isinstance(heard, BaseException):
        with anyio.fail_after(5):
            assert await reader.receive() == b"first"
    os.close(sink)
    await reader.aclose()
