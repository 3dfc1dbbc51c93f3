"""Each test runs on asyncio and on trio, and must leave no process, socket or task behind."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator

import pytest

from tests.mcp_launch.support import Marked, marked_servers, web_server


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """The event loops that are supported."""
    return request.param


@pytest.fixture
async def marked(anyio_backend: str, echo_urls: dict[str, str]) -> AsyncGenerator[Marked]:
    """Servers of which nothing may be left at the end of the test: no process, pipe, socket or task."""
    async with marked_servers() as servers:
        yield servers


@pytest.fixture(scope="session")
def echo_urls() -> Generator[dict[str, str]]:
    """The URLs of the real server, over Streamable HTTP and over SSE."""
    with web_server("http") as http, web_server("sse") as sse:
        yield {"http": http, "sse": sse}
