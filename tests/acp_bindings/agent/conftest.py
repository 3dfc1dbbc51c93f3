"""Each test runs on asyncio and on trio, in v1 and v2 where it takes the version, and must leave no task behind."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import anyio
import pytest


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    """The protocol versions."""
    number: int = request.param
    return number


@pytest.fixture(autouse=True)
async def no_task_left(anyio_backend: str) -> AsyncGenerator[None]:
    """Check that a test leaves no task behind, and end it if it hangs."""
    tasks = len(anyio.get_running_tasks())
    yield
    assert len(anyio.get_running_tasks()) <= tasks
