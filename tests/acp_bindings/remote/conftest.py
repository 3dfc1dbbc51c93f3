"""Each test runs on asyncio and on trio, with real servers, and leaves nothing behind."""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from typing import Any, TypeAlias

import anyio
import httpx
import pytest
from anyio.abc import SocketAttribute
from hypercorn.config import Config

from acp_bindings.agent import Agent
from tests.acp_bindings.connection import conftest as connections
from tests.acp_bindings.remote.speaking import speaking

nothing_left = connections.nothing_left

Serve: TypeAlias = Callable[..., AbstractAsyncContextManager[str]]
"""Serves an ASGI application in a block, and yields its base URL."""


@pytest.fixture
def serve(anyio_backend: str) -> Serve:
    """Return a function that serves an application with hypercorn."""

    @asynccontextmanager
    async def serving(app: Any, *, lifespan: bool = True, **options: Any) -> AsyncGenerator[str]:
        config = Config()
        config.bind = ["127.0.0.1:0"]
        config.graceful_timeout = 0.5
        config.errorlog = logging.getLogger("tests.hypercorn")
        for name, value in options.items():
            setattr(config, name, value)
        sockets = config.create_sockets()
        every = sockets.insecure_sockets + sockets.secure_sockets
        config.create_sockets = lambda: sockets
        every[0].listen(1000)
        port = every[0].getsockname()[1]
        stop = anyio.Event()
        run = import_module(f"hypercorn.{anyio_backend}").serve

        async def application(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "lifespan" and not lifespan:
                raise NotImplementedError
            await app(scope, receive, send)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: run(application, config, shutdown_trigger=stop.wait, mode="asgi"))
            yield f"{'https' if sockets.secure_sockets else 'http'}://127.0.0.1:{port}"
            stop.set()
            with anyio.move_on_after(3):
                while tasks_left(tasks):
                    await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()

    return serving


@pytest.fixture
def serve_that_stops(anyio_backend: str, serve: Serve) -> Serve:
    """Return `serve` for tests in which the server stops while clients are connected."""
    if anyio_backend == "asyncio" and sys.version_info >= (3, 12):
        pytest.skip("there hypercorn does not stop before its clients have left")
    return serve


def tasks_left(tasks: Any) -> bool:
    """Return True if tasks of the group are running, on either event loop."""
    return bool(getattr(tasks, "_tasks", None) or getattr(getattr(tasks, "_nursery", None), "child_tasks", None))


@pytest.fixture
def agent() -> Agent:
    """Return an agent that says what it gets, counts, waits, and asks."""
    return speaking()


@pytest.fixture
async def raw(agent: Agent, serve: Serve) -> AsyncGenerator[httpx.AsyncClient]:
    """Return an HTTP client for the agent."""
    async with serve(agent.asgi()) as url, httpx.AsyncClient(base_url=f"{url}/acp", timeout=5) as client:
        yield client


@asynccontextmanager
async def listening(accept: Any) -> AsyncGenerator[str]:
    """Accept TCP connections in the block, and yield the origin."""
    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, accept)
        yield f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
        tasks.cancel_scope.cancel()
