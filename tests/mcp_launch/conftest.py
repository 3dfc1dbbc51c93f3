"""Each test runs on asyncio and on trio, and must leave no process, socket or task behind."""

from __future__ import annotations

import gc
from collections.abc import AsyncGenerator, Generator

import anyio
import pytest

from tests.mcp_launch.support import Marked, open_files, web_server


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """The event loops that are supported."""
    return request.param


@pytest.fixture
async def marked(anyio_backend: str, echo_urls: dict[str, str]) -> AsyncGenerator[Marked]:
    """Servers of which nothing may be left at the end of the test: no process, pipe, socket or task."""
    files = open_files()
    tasks = len(anyio.get_running_tasks())
    servers = Marked()
    yield servers
    with anyio.move_on_after(2):
        # The kernel takes a moment to let go of what was killed or closed.
        while servers.running() or len(open_files()) > len(files):
            gc.collect()
            await anyio.sleep(0.01)
    assert servers.running() == []
    assert len(open_files()) <= len(files)
    assert len(anyio.get_running_tasks()) <= tasks


@pytest.fixture(scope="session")
def echo_urls() -> Generator[dict[str, str]]:
    """The URLs of the real server, over Streamable HTTP and over SSE."""
    with web_server("http") as http, web_server("sse") as sse:
        yield {"http": http, "sse": sse}
