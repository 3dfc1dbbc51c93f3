"""The clients of the contestants; `python -m benchmarks.connection.clients NAME` runs tasks from stdin.

A contestant is a client of one library, which starts an agent of one. What is measured is the same code for all.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from statistics import median, quantiles
from typing import Any, NamedTuple, TypeAlias

import anyio
import anyio.from_thread
import anyio.to_thread
from pydantic_core import from_json, to_json

from benchmarks.connection.updates import LONG, SHORT, stream
from benchmarks.race import ROOT, answer_tasks

TRIPS = 500
IN_FLIGHT = 50


class Client(NamedTuple):
    """A client that is connected to an agent."""

    prompt: Callable[[int], Awaitable[object]]
    """Asks for a stream of so many updates, until its end."""
    ask: Callable[[], Awaitable[object]]
    """Asks for a new session."""
    updates: list[Any]
    """The received updates, as the handler got them."""
    read: Callable[[bytes], Any]
    """Reads the JSON of an update, as the library does."""
    pid: int
    """The process of the agent."""


Connect: TypeAlias = Callable[[list[str]], AbstractAsyncContextManager[Client]]


@asynccontextmanager
async def ours(command: list[str], *, waits: bool = True) -> AsyncGenerator[Client]:
    from acp_bindings import decode, v1  # noqa: PLC0415
    from acp_bindings.connection import connect_process  # noqa: PLC0415

    updates: list[Any] = []

    async def take(params: v1.SessionNotification, _connection: object) -> None:
        updates.append(params.update)

    def take_at_once(params: v1.SessionNotification, _connection: object) -> None:
        updates.append(params.update)

    handlers = {v1.SessionNotification: take if waits else take_at_once}
    async with connect_process(command, protocol=v1, handlers=handlers, cwd=ROOT) as connection:

        async def prompt(count: int) -> object:
            text = v1.TextContent(text=str(count))
            return await connection.request(v1.PromptRequest(session_id=session.session_id, prompt=[text]))

        async def ask() -> v1.NewSessionResponse:
            return await connection.request(v1.NewSessionRequest(cwd="/project", mcp_servers=[]))

        await connection.request(v1.InitializeRequest(protocol_version=1))
        session = await ask()
        yield Client(prompt, ask, updates, lambda update: decode(v1.SessionUpdate, update), connection.pid)


@asynccontextmanager
async def client_layer(command: list[str]) -> AsyncGenerator[Client]:
    """A session of `acp_bindings.client`, which also folds the updates into its state."""
    from acp_bindings import client as layer  # noqa: PLC0415
    from acp_bindings import decode, v1  # noqa: PLC0415

    updates: list[Any] = []
    async with layer.Client("bench", version="1.0", protocols=[v1]).connect(command, cwd=ROOT) as agent:
        session = await agent.session(cwd="/project")

        async def prompt(count: int) -> None:
            async for update in session.prompt(str(count)):
                updates.append(update)  # noqa: PERF401 - what a loop costs is measured

        async def ask() -> object:
            return await agent.ask(v1.NewSessionRequest(cwd="/project", mcp_servers=[]))

        pid: int = agent.connection.pid  # type: ignore[attr-defined]
        yield Client(prompt, ask, updates, lambda update: decode(v1.SessionUpdate, update), pid)


@asynccontextmanager
async def official(command: list[str]) -> AsyncGenerator[Client]:
    import acp  # noqa: PLC0415
    from acp import schema  # noqa: PLC0415

    updates: list[Any] = []

    class Handlers(acp.Client):
        async def session_update(self, update: Any, **_: Any) -> None:
            updates.append(update)

    async with acp.spawn_agent_process(Handlers(), *command, cwd=ROOT) as (connection, process):

        async def prompt(count: int) -> object:
            text = schema.TextContentBlock(type="text", text=str(count))
            return await connection.prompt(session_id="session-1", prompt=[text])

        async def ask() -> object:
            return await connection.new_session(cwd="/project", mcp_servers=[])

        def read(update: bytes) -> object:
            return schema.SessionNotification.model_validate({"sessionId": "", "update": from_json(update)}).update

        await connection.initialize(protocol_version=1)
        yield Client(prompt, ask, updates, read, process.pid)


@asynccontextmanager
async def bare(command: list[str]) -> AsyncGenerator[Client]:
    """Lines and JSON, without types and without an event loop."""
    updates: list[Any] = []
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        writing, reading = process.stdin, process.stdout

        async def request(method: str, params: object) -> object:
            writing.write(to_json({"jsonrpc": "2.0", "id": 0, "method": method, "params": params}) + b"\n")
            writing.flush()
            while "method" in (message := from_json(reading.readline())):
                updates.append(message["params"]["update"])
            return message["result"]

        async def prompt(count: int) -> object:
            text = {"type": "text", "text": str(count)}
            return await request("session/prompt", {"sessionId": "session-1", "prompt": [text]})

        new_session = {"cwd": "/project", "mcpServers": []}
        yield Client(prompt, partial(request, "session/new", new_session), updates, from_json, process.pid)


class Contestant(NamedTuple):
    """A client and an agent."""

    connect: Connect
    agent: str
    backend: str = "asyncio"
    many: bool = True
    """True if it supports concurrent requests."""
    adds_ids: bool = False
    """True if the agent gives ids to messages."""


CONTESTANTS = {
    "ours": Contestant(ours, "ours"),
    "official": Contestant(official, "official"),
    "our client": Contestant(ours, "official"),
    "our agent": Contestant(official, "ours"),
    "layers": Contestant(client_layer, "layer", adds_ids=True),
    "agent layer": Contestant(ours, "layer", adds_ids=True),
    "client layer": Contestant(client_layer, "ours"),
    "ours, trio": Contestant(ours, "ours", "trio"),
    "ours, def": Contestant(partial(ours, waits=False), "ours"),
    "bare": Contestant(bare, "bare", many=False),
}


async def seconds_of_an_update(
    client: Client, *, count: int, clock: Callable[[], float] = time.perf_counter, adds_ids: bool
) -> float:
    """The time per update of a stream, from the prompt to its response."""
    client.updates.clear()
    # What the last round has left is not part of this one.
    gc.collect()
    began = clock()
    await client.prompt(count)
    needed = clock() - began
    got = [_without_id(each) for each in client.updates] if adds_ids else client.updates
    # Not earlier, because a client has only the updates that it has received.
    assert got == stream(client.read)[:count], "an update is missing, in the wrong place or not what was sent"
    return needed / count


def _without_id(update: Any) -> Any:
    from acp_bindings import decode, encode, v1  # noqa: PLC0415

    fields = from_json(encode(update))
    fields.pop("messageId", None)
    return decode(v1.SessionUpdate, to_json(fields))


def processor_time(pid: int) -> float:
    """Return the processor time of this process and another one. Linux only."""
    # The id of the clock of another process, as `clock_getcpuclockid` returns it.
    return time.process_time() + time.clock_gettime(~pid << 3 | 2)


async def seconds_of_trips(client: Client) -> list[float]:
    """The time per request, one after the other."""
    seconds: list[float] = []
    for _ in range(TRIPS):
        began = time.perf_counter()
        await client.ask()
        seconds.append(time.perf_counter() - began)
    return seconds


async def seconds_of_one_in_flight(client: Client) -> float:
    """The time per request of many concurrent ones."""

    async def ask() -> None:
        for _ in range(TRIPS // IN_FLIGHT):
            await client.ask()

    began = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for _ in range(IN_FLIGHT):
            tasks.start_soon(ask)
    return (time.perf_counter() - began) / TRIPS


async def compete(contestant: Contestant) -> None:
    command = [sys.executable, "-m", "benchmarks.connection.agents", contestant.agent]
    if contestant.agent in ("ours", "layer"):
        command.append(contestant.backend)
    async with contestant.connect(command) as client:

        def do(measure: Callable[[Client], Any], figure: Callable[[Any], float] = float) -> Callable[[], float]:
            return lambda: figure(anyio.from_thread.run(measure, client))

        stream_of = partial(seconds_of_an_update, adds_ids=contestant.adds_ids)
        work = {
            "stream": do(partial(stream_of, count=SHORT)),
            "long stream": do(partial(stream_of, count=LONG)),
            "median": do(seconds_of_trips, median),
            "p99": do(seconds_of_trips, lambda seconds: quantiles(seconds, n=100)[-1]),
        }
        if sys.platform == "linux":
            work["cpu"] = do(partial(stream_of, count=LONG, clock=partial(processor_time, client.pid)))
        if contestant.many:
            work["in flight"] = do(seconds_of_one_in_flight)
        await anyio.to_thread.run_sync(answer_tasks, work)


if __name__ == "__main__":
    chosen = CONTESTANTS[sys.argv[1]]
    anyio.run(compete, chosen, backend=chosen.backend)
