"""Many connections to one server, with one session each."""

from __future__ import annotations

import os
import time

import anyio

from acp_bindings import v1
from acp_bindings.remote import connect_url
from benchmarks.remote.clients import served

AT_ONCE = 50
UPDATES = 20


async def crowd(scheme: str, count: int) -> str:
    """Open so many connections, let all of them prompt, and return the figures as a line."""
    received = 0
    open_, prompted, done = anyio.Event(), anyio.Event(), anyio.Event()
    waiting, finished = 0, 0
    limiter = anyio.CapacityLimiter(AT_ONCE)

    async def take(_params: v1.SessionNotification, _connection: object) -> None:
        nonlocal received
        received += 1

    async def connect(url: str) -> None:
        nonlocal waiting, finished
        async with connect_url(url, protocol=v1, handlers={v1.SessionNotification: take}) as connection:
            async with limiter:
                await connection.request(v1.InitializeRequest(protocol_version=1))
                session = await connection.request(v1.NewSessionRequest(cwd="/project", mcp_servers=[]))
            waiting += 1
            if waiting == count:
                open_.set()
            await prompted.wait()
            text = v1.TextContent(text=str(UPDATES))
            await connection.request(v1.PromptRequest(session_id=session.session_id, prompt=[text]))
            finished += 1
            if finished == count:
                done.set()
            await done.wait()

    with served("ours") as (port, pid):
        before = memory_of(pid)
        began = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            for _ in range(count):
                tasks.start_soon(connect, f"{scheme}://127.0.0.1:{port}/acp")
            await open_.wait()
            opened, memory = time.perf_counter() - began, memory_of(pid) - before
            began = time.perf_counter()
            prompted.set()
            await done.wait()
            needed = time.perf_counter() - began
    return (
        f"{scheme:5}{count:>6,} connections: opened in {opened:.1f} s, {memory / count / 1024:.0f} KB of the server "
        f"each; {UPDATES} updates for all of them: {needed:.1f} s, {received / needed:,.0f} updates a second"
    )


def memory_of(pid: int) -> int:
    """Return the resident memory of a process in bytes."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
