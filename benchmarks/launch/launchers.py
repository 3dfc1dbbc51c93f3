"""How each contestant opens MCP servers; `python -m benchmarks.launch.launchers NAME ORIGIN` answers tasks on stdin.

A contestant is one context manager: it connects to all servers that it is given and lists their tools, at once, in the
fastest way that its users have. What is measured is the same code for all.
"""

from __future__ import annotations

import gc
import os
import sys
import time
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import anyio

from benchmarks.race import ROOT, answer_tasks

SERVER = Path(__file__).parent / "server.py"
CALLS = 60
SESSIONS = 25
"""Sessions that are held open to see what one takes."""


class Server(NamedTuple):
    """What is to be opened."""

    kind: Literal["stdio", "http", "sse"]
    args: tuple[str, ...] = ()
    url: str = ""
    command: str = sys.executable


Call: TypeAlias = Callable[[], Awaitable[object]]
Open: TypeAlias = Callable[[Sequence[Server]], AbstractAsyncContextManager[list[Call]]]
"""Opens servers; gives for each what calls a tool of it."""


def stdio(seconds: float = 0) -> Server:
    """A server that needs no time to start, or that many seconds."""
    return Server("stdio", ("-S", "-I", str(SERVER), "stdio", str(seconds)))


def ours() -> Open:
    from mcp_launch import launch  # noqa: PLC0415

    def entry(number: int, server: Server) -> dict[str, Any]:
        name = f"server-{number}"
        if server.kind == "stdio":
            return {"name": name, "command": server.command, "args": list(server.args), "env": []}
        return {"type": server.kind, "name": name, "url": server.url, "headers": []}

    @asynccontextmanager
    async def opened(servers: Sequence[Server]) -> AsyncGenerator[list[Call]]:
        async with launch([entry(*each) for each in enumerate(servers)], cwd=ROOT) as fleet:
            yield [partial(server.session.call_tool, "echo", {}) for server in fleet]

    return opened


def raw_session(*, both_eras: bool = True) -> Open:
    from mcp import ClientSession, MCPError  # noqa: PLC0415

    streams = _sdk_streams()

    @asynccontextmanager
    async def opened(server: Server) -> AsyncGenerator[Call]:
        async with streams(server) as (read, write), ClientSession(read, write) as session:
            if not both_eras:
                await session.initialize()
            else:
                try:
                    await session.discover()
                except MCPError:
                    await session.initialize()
            await session.list_tools()
            yield partial(session.call_tool, "echo", {})

    return partial(_each_in_a_task, opened)


def sdk_client() -> Open:
    from mcp import Client  # noqa: PLC0415

    streams = _sdk_streams()

    @asynccontextmanager
    async def opened(server: Server) -> AsyncGenerator[Call]:
        async with Client(streams(server)) as client:
            await client.list_tools()
            yield partial(client.call_tool, "echo", {})

    return partial(_each_in_a_task, opened)


def fastmcp() -> Open:
    from fastmcp import Client  # noqa: PLC0415
    from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport  # noqa: PLC0415

    def transport(server: Server) -> Any:
        if server.kind == "stdio":
            return StdioTransport(server.command, list(server.args), cwd=str(ROOT), keep_alive=False)
        return (SSETransport if server.kind == "sse" else StreamableHttpTransport)(server.url)

    @asynccontextmanager
    async def opened(server: Server) -> AsyncGenerator[Call]:
        async with Client(transport(server)) as client:
            await client.list_tools()
            yield partial(client.call_tool, "echo", {})

    return partial(_each_in_a_task, opened)


def openai_agents() -> Open:
    os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
    from agents.mcp import MCPServerManager, MCPServerSse, MCPServerStdio, MCPServerStreamableHttp  # noqa: PLC0415

    def made(server: Server) -> Any:
        if server.kind == "stdio":
            params: Any = {"command": server.command, "args": list(server.args), "cwd": str(ROOT)}
            return MCPServerStdio(params, client_session_timeout_seconds=60)
        kind = MCPServerSse if server.kind == "sse" else MCPServerStreamableHttp
        return kind({"url": server.url}, client_session_timeout_seconds=60)

    async def listed(all_of_them: Sequence[Any]) -> list[Call]:
        async with anyio.create_task_group() as tasks:
            for each in all_of_them:
                tasks.start_soon(each.list_tools)
        return [partial(each.call_tool, "echo", {}) for each in all_of_them]

    @asynccontextmanager
    async def opened(servers: Sequence[Server]) -> AsyncGenerator[list[Call]]:
        all_of_them = [made(server) for server in servers]
        if len(all_of_them) == 1:
            async with all_of_them[0]:
                yield await listed(all_of_them)
        else:
            at_once: Any = {"connect_in_parallel": True, "connect_timeout_seconds": 60, "strict": True}
            async with MCPServerManager(all_of_them, **at_once):
                yield await listed(all_of_them)

    return opened


def bare_script() -> Open:
    from benchmarks.launch.bare import opened  # noqa: PLC0415

    return opened


class Contestant(NamedTuple):
    """Who takes part, and which servers it reaches."""

    enter: Callable[[], Open]
    reaches: Sequence[str] = ("stdio", "http", "http, 2026-07-28", "sse")


CONTESTANTS = {
    "ours": Contestant(ours),
    "raw session": Contestant(raw_session),
    "raw, one era": Contestant(partial(raw_session, both_eras=False), ("stdio", "http", "sse")),
    "mcp.Client": Contestant(sdk_client),
    "fastmcp": Contestant(fastmcp),
    "openai-agents": Contestant(openai_agents),
    "bare script": Contestant(bare_script, ("stdio",)),
}


def servers_at(origin: str) -> dict[str, Server]:
    """One of each kind; those of the web are there already."""
    return {
        "stdio": stdio(),
        "http": Server("http", url=f"{origin}/handshake"),
        "http, 2026-07-28": Server("http", url=f"{origin}/modern"),
        "sse": Server("sse", url=f"{origin}/sse"),
    }


def work_of(open_all: Open, servers: Mapping[str, Server]) -> dict[str, Callable[[], float]]:
    """Every task: what it takes in seconds, or in bytes."""
    work: dict[str, Callable[[], float]] = {
        "ten": partial(anyio.run, seconds_to_open, open_all, [stdio(1.0)] * 10),
        "hundred": partial(anyio.run, seconds_to_open, open_all, [stdio()] * 100),
        "close": partial(anyio.run, seconds_to_close, open_all, [stdio()] * 10),
    }
    for name, server in servers.items():
        work[f"open {name}"] = partial(anyio.run, seconds_to_open, open_all, [server])
        work[f"call {name}"] = partial(anyio.run, seconds_to_call, open_all, server)
        work[f"hold {name}"] = partial(anyio.run, bytes_held, open_all, server)
    return work


async def seconds_to_open(open_all: Open, servers: Sequence[Server]) -> float:
    """Until all are connected and have listed their tools."""
    gc.collect()
    started = time.perf_counter()
    async with open_all(servers):
        return time.perf_counter() - started


async def seconds_to_close(open_all: Open, servers: Sequence[Server]) -> float:
    """From the end of the block until everything is gone."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(open_all(servers))
        gc.collect()
        started = time.perf_counter()
    return time.perf_counter() - started


async def seconds_to_call(open_all: Open, server: Server) -> float:
    """For one call of a tool on an open session."""
    async with open_all([server]) as (call,):
        for _ in range(5):
            await call()
        gc.collect()
        started = time.perf_counter()
        for _ in range(CALLS):
            await call()
        return (time.perf_counter() - started) / CALLS


async def bytes_held(open_all: Open, server: Server) -> float:
    """What one more open session adds to the resident memory of this process."""
    gc.collect()
    before = _resident()
    async with AsyncExitStack() as stack:
        for _ in range(SESSIONS):
            await stack.enter_async_context(open_all([server]))
        gc.collect()
        return (_resident() - before) / SESSIONS


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@asynccontextmanager
async def _each_in_a_task(
    opened: Callable[[Server], AbstractAsyncContextManager[Call]], servers: Sequence[Server]
) -> AsyncGenerator[list[Call]]:
    """All of them at once: each is left in the task that entered it, as anyio's cancel scopes want."""
    if len(servers) == 1:
        async with opened(servers[0]) as call:
            yield [call]
        return
    calls: list[Call] = []
    ready, over = anyio.Event(), anyio.Event()

    async def own(server: Server) -> None:
        async with opened(server) as call:
            calls.append(call)
            if len(calls) == len(servers):
                ready.set()
            await over.wait()

    async with anyio.create_task_group() as tasks:
        for server in servers:
            tasks.start_soon(own, server)
        await ready.wait()
        yield calls
        over.set()


def _sdk_streams() -> Callable[[Server], Any]:
    from mcp import StdioServerParameters, stdio_client  # noqa: PLC0415
    from mcp.client.sse import sse_client  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    def streams(server: Server) -> Any:
        match server.kind:
            case "stdio":
                parameters = StdioServerParameters(command=server.command, args=list(server.args), cwd=ROOT)
                return stdio_client(parameters)
            case "http":
                return streamable_http_client(server.url)
            case "sse":
                return sse_client(server.url)

    return streams


def main() -> None:
    name, origin = sys.argv[1:]
    # One of our tasks is to open a server of the deprecated transport, which we do know.
    warnings.simplefilter("ignore", DeprecationWarning)
    contestant = CONTESTANTS[name]
    servers = {kind: server for kind, server in servers_at(origin).items() if kind in contestant.reaches}
    work = work_of(contestant.enter(), servers)
    # What is loaded or made at the first use is no part of the figures.
    for kind in servers:
        work[f"open {kind}"]()
    answer_tasks(work)


if __name__ == "__main__":
    main()
