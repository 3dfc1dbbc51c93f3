"""Each test runs on asyncio and on trio, and must leave no process, socket or task behind."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator

import pytest

from tests.mcp_launch.servers.web import Web, misbehaving_web
from tests.mcp_launch.support import Marked, marked_servers, web_server


@pytest.fixture
async def marked(anyio_backend: str, echo_urls: dict[str, str]) -> AsyncGenerator[Marked]:
    """Servers that must leave nothing at the end of the test: no process, pipe, socket or task."""
    async with marked_servers() as servers:
        yield servers


@pytest.fixture
def web(marked: Marked) -> Generator[Web]:
    """A web server that misbehaves as the path says. It ends before `marked` looks for leftovers."""
    with misbehaving_web() as server:
        yield server


@pytest.fixture(scope="session")
def echo_urls() -> Generator[dict[str, str]]:
    """The URLs of the real server, over Streamable HTTP and over SSE."""
    with web_server("http") as http, web_server("sse") as sse:
        yield {"http": http, "sse": sse}
