"""Each test runs on asyncio and on trio, and must leave no process, descriptor or task behind."""

from __future__ import annotations

import gc
from collections.abc import AsyncGenerator

import anyio
import pytest

from tests.leftovers import children, open_files


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the wait of a closing connection for a peer that does not read."""
    monkeypatch.setattr("acp_bindings.connection._connection._FLUSH", 0.1)


@pytest.fixture(autouse=True)
async def nothing_left(anyio_backend: str) -> AsyncGenerator[None]:
    """Check that a test leaves nothing behind that did not exist when it began."""
    # Children too: servers that other tests share may be running.
    files, before, tasks = open_files(), children(), len(anyio.get_running_tasks())
    yield
    with anyio.move_on_after(2):
        # The kernel takes a moment to let go of what was killed or closed.
        while len(open_files()) > len(files) or not children() <= before:
            gc.collect()
            await anyio.sleep(0.01)
    assert len(open_files()) <= len(files), open_files()
    assert children() <= before
    assert len(anyio.get_running_tasks()) <= tasks
