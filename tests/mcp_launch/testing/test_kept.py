"""A block that runs in a separate task ends as it would without one."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from contextvars import ContextVar

import anyio
import anyio.lowlevel
import pytest

from mcp_launch.testing._loop import Kept

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("where", ["at the start", "at the end"])
async def test_an_error_is_raised_where_the_block_is_entered_or_left(where: str) -> None:
    @asynccontextmanager
    async def block() -> AsyncGenerator[None]:
        if where == "at the start":
            raise ValueError(where)
        yield
        raise ValueError(where)

    with pytest.raises(ValueError, match=where):
        async with Kept(block()):
            assert where == "at the end"


async def test_the_end_of_the_block_is_awaited_even_when_cancelled() -> None:
    ended: list[bool] = []

    @asynccontextmanager
    async def block() -> AsyncGenerator[None]:
        yield
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        ended.append(True)

    with anyio.CancelScope() as scope:
        async with Kept(block()):
            scope.cancel()
            await anyio.lowlevel.checkpoint()

    assert ended == [True]


async def test_a_block_cancelled_while_it_opens_is_closed_first() -> None:
    left: list[bool] = []

    @asynccontextmanager
    async def block() -> AsyncGenerator[None]:
        try:
            scope.cancel()
            await anyio.sleep_forever()
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
            left.append(True)

    with anyio.CancelScope() as scope:
        async with Kept(block()):
            pass

    assert left == [True]
    assert scope.cancelled_caught


async def test_a_block_has_the_context_variables_of_its_caller() -> None:
    variable = ContextVar[str]("variable")

    @asynccontextmanager
    async def block() -> AsyncGenerator[str]:
        yield variable.get()

    variable.set("mine")
    async with Kept(block()) as value:
        assert value == "mine"


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_an_event_loop_that_ends_before_it_is_left_ends_it(backend: str) -> None:
    left: list[bool] = []

    @asynccontextmanager
    async def block() -> AsyncGenerator[None]:
        try:
            yield
        finally:
            left.append(True)

    async def enter() -> None:
        await Kept(block()).__aenter__()

    anyio.run(enter, backend=backend)

    assert left == [True]
