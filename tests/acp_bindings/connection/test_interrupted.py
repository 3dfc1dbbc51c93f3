"""Cancelling a connection before any step of its tasks leaves nothing behind. Each test tries several steps in turn."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_bindings import v1
from acp_bindings.connection import Connection, connect_process
from tests.acp_bindings.connection.support import HELLO, NEW, PROMPT, both, forever, into
from tests.leftovers import children, open_files
from tests.steps import steps_of

pytestmark = pytest.mark.anyio

AGENT = [sys.executable, str(Path(__file__).with_name("agent.py"))]


async def talk() -> None:
    """Use a connection in all ways: requests in both directions, updates, a deadline, a cancelled handler."""

    async def prompt(request: v1.PromptRequest, connection: Connection) -> v1.PromptResponse:
        for _ in range(3):
            await connection.notify(HELLO)
        await connection.request(v1.ReadTextFileRequest(session_id="s", path="/file"))
        return v1.PromptResponse(stop_reason="end_turn")

    async def read(request: v1.ReadTextFileRequest, connection: Connection) -> v1.ReadTextFileResponse:
        await anyio.lowlevel.checkpoint()
        return v1.ReadTextFileResponse(content="")

    client_handlers: dict[Any, Any] = {v1.SessionNotification: into([], waits=True), v1.ReadTextFileRequest: read}
    agent_handlers: dict[Any, Any] = {v1.PromptRequest: prompt, "_acme/stay": forever}
    async with both(agent=agent_handlers, client=client_handlers) as (_, client), anyio.create_task_group() as tasks:
        tasks.start_soon(client.request, PROMPT)
        await client.request(PROMPT)
        with anyio.move_on_after(0.01):
            await client.request(method="_acme/stay")


async def run_an_agent() -> None:
    async with connect_process(AGENT, protocol=v1, patience=1) as connection:
        await connection.request(NEW)


@pytest.mark.parametrize(("work", "stride"), [(talk, 3), (run_an_agent, 6)])
async def test_a_connection_that_is_cancelled_anywhere_leaves_nothing(work: Any, stride: int) -> None:
    with anyio.fail_after(120):
        steps = await steps_of(work, within=20)
        assert steps > 10
        for place in range(1, steps + 1, stride):
            tasks, files, before = len(anyio.get_running_tasks()), len(open_files()), children()
            await steps_of(work, within=20, cancel_at=place)
            assert children() <= before, place
            assert len(open_files()) <= files, place
            assert len(anyio.get_running_tasks()) <= tasks, place


STUBBORN = (
    "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.write(2, b'up\\n'); time.sleep(60)"
)


async def stay_with_a_stubborn_agent(up: anyio.Event) -> None:
    def hear(line: str) -> None:
        loop.call_soon_threadsafe(up.set)

    loop = asyncio.get_running_loop()
    async with connect_process([sys.executable, "-S", "-c", STUBBORN], protocol=v1, stderr=hear, patience=0.2):
        await anyio.sleep_forever()


async def stay(up: anyio.Event) -> None:
    async with both():
        up.set()
        await anyio.sleep_forever()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("work", [stay, stay_with_a_stubborn_agent])
@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5, 8])
async def test_a_task_that_asyncio_cancels_again_and_again_leaves_nothing(
    work: Callable[[anyio.Event], Awaitable[None]], steps: int
) -> None:
    # Unlike cancellation by anyio, it ignores shields.
    files, before, up = open_files(), children(), anyio.Event()
    task = asyncio.ensure_future(work(up))
    with anyio.fail_after(10):
        await up.wait()
        for _ in range(5):
            task.cancel()
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
        await asyncio.wait([task])
    assert task.cancelled()
    assert children() <= before
    assert open_files() == files


def run_on_a_plain_event_loop(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    loop = asyncio.new_event_loop()
    task = loop.create_task(work())
    try:
        loop.run_until_complete(task)
    finally:
        task.cancel()
        loop.run_until_complete(asyncio.wait([task]))
        loop.close()


RUN: dict[str, Callable[[Callable[[], Coroutine[Any, Any, None]]], None]] = {
    "a plain event loop": run_on_a_plain_event_loop,
    "asyncio": partial(anyio.run, backend="asyncio"),
    "trio": partial(anyio.run, backend="trio"),
}


def press_ctrl_c_during_a_start(backend: str) -> None:
    """Start an agent in the main thread of a new interpreter, and raise SIGINT as soon as its process runs."""
    started: list[subprocess.Popen[bytes]] = []

    def start_and_press_ctrl_c(*args: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*args, **options))
        signal.raise_signal(signal.SIGINT)
        return started[0]

    before = children()
    popen: type[subprocess.Popen[bytes]] = subprocess.Popen
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(subprocess, "Popen", start_and_press_ctrl_c)
        with pytest.raises(KeyboardInterrupt):
            RUN[backend](run_an_agent)
    assert len(started) == 1
    assert children() <= before


@pytest.mark.skipif(sys.platform == "win32", reason="a console event on Windows")
@pytest.mark.parametrize("backend", RUN)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
def test_ctrl_c_during_a_process_start_leaves_no_process(backend: str) -> None:
    code = f"from {__name__} import press_ctrl_c_during_a_start; press_ctrl_c_during_a_start({backend!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
