"""Each test runs on asyncio and on trio, and must leave no process, socket or task behind."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager

import anyio
import pytest

from tests.mcp_launch.support import SERVERS, Marked, open_files


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
    with _web_server("http") as http, _web_server("sse") as sse:
        yield {"http": _url(http), "sse": _url(sse)}


@contextmanager
def _web_server(kind: str) -> Generator[subprocess.Popen[str]]:
    command = [sys.executable, str(SERVERS / "echo.py"), kind]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process


def _url(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()
