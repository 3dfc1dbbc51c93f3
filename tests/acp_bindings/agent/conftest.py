"""Protocol versions, stores and a Redis server for the tests of agents, which must not leave a task behind."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import anyio
import pytest

from acp_bindings.agent import FolderSessions, MemorySessions, RedisSessions, SessionStore


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


@pytest.fixture(params=["memory", "folder", "redis"])
async def store(
    request: pytest.FixtureRequest, anyio_backend_name: str, tmp_path: Path
) -> AsyncGenerator[SessionStore]:
    """Each of the stores, empty."""
    if request.param == "memory":
        yield MemorySessions()
    elif request.param == "folder":
        async with folder_sessions(tmp_path) as sessions:
            yield sessions
    elif anyio_backend_name == "trio":
        pytest.skip("the package redis does not run on trio")
    else:
        sessions = RedisSessions(request.getfixturevalue("redis_url"), prefix=f"{uuid4()}:")
        yield sessions
        await sessions.aclose()


@asynccontextmanager
async def folder_sessions(folder: Path, **options: Any) -> AsyncGenerator[FolderSessions]:
    """A store whose sessions are released in the end."""
    sessions = FolderSessions(folder, **options)
    try:
        yield sessions
    finally:
        for session_id in [*sessions._open]:
            await sessions.release(session_id)


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The URL of a Redis server on loopback, which ends with the tests."""
    command = shutil.which("redis-server") or shutil.which("valkey-server")
    if command is None:
        pytest.skip("neither redis-server nor valkey-server is installed")
    folder = tmp_path_factory.mktemp("redis")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = cast("int", free.getsockname()[1])
    options = ["--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder), "--save", "", "--appendonly", "no"]
    with subprocess.Popen([command, *options], stdout=subprocess.PIPE, text=True) as server:
        output: Any = server.stdout
        lines = iter(output.readline, "")
        assert any("Ready to accept connections" in line for line in lines), "the Redis server did not start"
        yield f"redis://127.0.0.1:{port}/0"
        server.terminate()
        output.read()
