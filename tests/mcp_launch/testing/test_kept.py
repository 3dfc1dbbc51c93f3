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


async def test_what_goes_wrong_at_its_end_is_raised_where_it_is_left() -> None:
    @asynccontextmanager
    async def block() -> AsyncGenerator[None]:
        yield
        raise ValueError("at the end")

    with pytest.raises(ValueError, match="at the end"):
        async with Kept(block()):
            pass


async def test_its_end_is_waited_for_also_when_it_is_cancelled() -> None:
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


async def test_it_is_left_before_anything_else_when_it_is_cancelled_while_it_opens() -> None:
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


async def test_what_goes_wrong_at_its_beginning_is_raised_where_it_is_entered() -> None:
    @asynccontextmanager
    async def block() -> AsyncGenerator[None]:
        raise ValueError("at the beginning")
        yield

    with pytest.raises(ValueError, match="at the beginning"):
        async with Kept(block()):
            pass


async def test_the_variables_of_who_enters_it_are_its_own() -> None:
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
