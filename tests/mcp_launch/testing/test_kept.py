"""A block in a task of its own is left as it would be without one."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest

from mcp_launch.testing.kept import Kept

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
