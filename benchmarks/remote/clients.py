"""The clients of the contestants; `python -m benchmarks.remote.clients NAME` runs tasks from stdin.

All servers are uvicorn. That of the TypeScript SDK and its client are in sdk.mjs.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, NamedTuple

import anyio
import anyio.from_thread
import anyio.to_thread

from benchmarks.connection.updates import SHORT, stream
from benchmarks.race import ROOT, answer_tasks

Prompt = Callable[[int], Awaitable[int]]
"""Asks for a stream of so many updates, and returns how many have come."""


@asynccontextmanager
async def ours(url: str) -> AsyncGenerator[tuple[Prompt, int]]:
    from acp_bindings import v1  # noqa: PLC0415
    from acp_bindings.connection import connect_process  # noqa: PLC0415
    from acp_bindings.remote import connect_url  # noqa: PLC0415

    updates: list[Any] = []

    async def take(params: v1.SessionNotification, _connection: object) -> None:
        updates.append(params.update)

    handlers = {v1.SessionNotification: take}
    command = [sys.executable, "-m", "benchmarks.connection.agents", "ours"]
    opening: Any = (
        connect_process(command, protocol=v1, handlers=handlers, cwd=ROOT)
        if url == "stdio"
        else connect_url(url, protocol=v1, handlers=handlers)
    )
    async with opening as connection:
        await connection.request(v1.InitializeRequest(protocol_version=1))
        session = await connection.request(v1.NewSessionRequest(cwd="/project", mcp_servers=[]))

        async def prompt(count: int) -> int:
            updates.clear()
            text = v1.TextContent(text=str(count))
            await connection.request(v1.PromptRequest(session_id=session.session_id, prompt=[text]))
            return len(updates)

        yield prompt, getattr(connection, "pid", 0)


@asynccontextmanager
async def official(url: str) -> AsyncGenerator[tuple[Prompt, int]]:
    import acp  # noqa: PLC0415
    from acp import schema  # noqa: PLC0415
    from acp.http.client import create_http_stream  # noqa: PLC0415
    from acp.ws.client import create_websocket_stream  # noqa: PLC0415

    count = 0

    class Handlers(acp.Client):
        async def session_update(self, **_: Any) -> None:
            nonlocal count
            count += 1

    transport = await create_websocket_stream(url) if url.startswith("ws") else create_http_stream(url)
    connection = acp.connect_to_agent(Handlers(), transport)
    await connection.initialize(protocol_version=1)
    session = await connection.new_session(cwd="/project", mcp_servers=[])

    async def prompt(number: int) -> int:
        nonlocal count
        count = 0
        text = schema.TextContentBlock(type="text", text=str(number))
        await connection.prompt(session_id=session.session_id, prompt=[text])
        # Its response may overtake its updates.
        while count < number:
            await anyio.sleep(0)
        return count

    yield prompt, 0
    await connection.close()


class Contestant(NamedTuple):
    """A client, the agent, and the scheme of its URL."""

    client: Callable[[str], Any] | None
    """None for the client of sdk.mjs."""
    agent: str
    scheme: str


CONTESTANTS = {
    "stdio": Contestant(ours, "", "stdio"),
    "http": Contestant(ours, "ours", "http"),
    "ws": Contestant(ours, "ours", "ws"),
    "official http": Contestant(official, "official", "http"),
    "official ws": Contestant(official, "official", "ws"),
    "TypeScript http": Contestant(None, "TypeScript", "http"),
    "TypeScript ws": Contestant(None, "TypeScript", "ws"),
}


@contextmanager
def served(agent: str) -> Generator[tuple[int, int]]:
    """Run a server in the block, and yield its port and its process id."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command = [sys.executable, "-m", "benchmarks.remote.agents", agent, str(port)]
    process = subprocess.Popen(sdk("server", str(port)) if agent == "TypeScript" else command, cwd=ROOT)
    try:
        wait_for(port)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(10)


def wait_for(port: int) -> None:
    """Wait until something accepts connections."""
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError(f"nothing accepts connections at port {port}")


def sdk(*args: str) -> list[str]:
    """Return the command of a program of the TypeScript SDK, which gets the updates as a file."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
        json.dump(stream(json.loads), file)
    return ["node", "benchmarks/remote/sdk.mjs", *args, file.name]


def cpu_of(pid: int) -> float:
    """Return the CPU seconds that a process has used."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def seconds(prompt: Prompt) -> float:
    """The time per update."""
    began = time.perf_counter()
    assert await prompt(SHORT) == SHORT
    return (time.perf_counter() - began) / SHORT


async def cpu(prompt: Prompt, pids: list[int]) -> float:
    """The CPU time per update, of client and agent."""
    used = sum(map(cpu_of, pids))
    for _ in range(10):
        assert await prompt(SHORT) == SHORT
    return (sum(map(cpu_of, pids)) - used) / SHORT / 10


async def compete(client: Any, agent: int | None) -> None:
    async with client as (prompt, child):
        # The client of the TypeScript SDK is a process of its own.
        pids = [os.getpid(), *filter(None, (agent, child))]
        work: dict[str, Callable[[], float]] = {
            "seconds": lambda: anyio.from_thread.run(seconds, prompt),
            "cpu": lambda: anyio.from_thread.run(partial(cpu, pids=pids), prompt),
        }
        await anyio.to_thread.run_sync(answer_tasks, work)


@asynccontextmanager
async def typescript(url: str) -> AsyncGenerator[tuple[Prompt, int]]:
    """The client of sdk.mjs, which answers each number of updates with a line."""
    process = await anyio.open_process(sdk("client", url), cwd=ROOT, stderr=None)
    assert process.stdin
    assert process.stdout
    writing, reading = process.stdin, process.stdout

    async def prompt(count: int) -> int:
        await writing.send(f"{count}\n".encode())
        return int(await reading.receive())

    assert await reading.receive() == b"ready\n"
    yield prompt, process.pid
    process.terminate()
    await process.wait()


def main() -> None:
    client, agent, scheme = CONTESTANTS[sys.argv[1]]
    if not agent:
        anyio.run(compete, ours("stdio"), None)
        return
    with served(agent) as (port, pid):
        url = f"{scheme}://127.0.0.1:{port}/acp"
        anyio.run(compete, (client or typescript)(url), pid)


if __name__ == "__main__":
    main()
