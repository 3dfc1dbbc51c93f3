"""The contestants that open MCP servers; `python -m benchmarks.launch.launchers NAME ORIGIN` runs tasks from stdin.

Each contestant is a context manager that connects to all given servers at once and lists their tools, in the fastest
way that is open to its users. The measuring code is the same for all.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
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
"""The number of sessions held open to measure the memory of one."""


class Server(NamedTuple):
    """An MCP server to open."""

    kind: Literal["stdio", "http", "sse"]
    args: tuple[str, ...] = ()
    url: str = ""
    command: str = sys.executable


Call: TypeAlias = Callable[[], Awaitable[object]]
Open: TypeAlias = Callable[[Sequence[Server]], AbstractAsyncContextManager[list[Call]]]
"""Opens servers and yields, for each, a function that calls one of its tools."""


def stdio(seconds: float = 0) -> Server:
    """A server that takes *seconds* to start."""
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
    """Processes and lines of JSON, without an SDK and without an event loop."""

    @asynccontextmanager
    async def opened(servers: Sequence[Server]) -> AsyncGenerator[list[Call]]:
        # Each step is sent to all servers before the responses are read.
        processes = [_start_process(server) for server in servers]
        try:
            for process in processes:
                _send(process, "initialize", BARE_PARAMS, id=0)
            for process in processes:
                _read_result(process)
                _send(process, "notifications/initialized", {})
                _send(process, "tools/list", {}, id=1)
            for process in processes:
                _read_result(process)
            yield [partial(_call_bare, process) for process in processes]
        finally:
            for process in processes:
                process.communicate(timeout=10)

    return opened


BARE_PARAMS = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bare", "version": "1"}}


def _start_process(server: Server) -> subprocess.Popen[bytes]:
    command = [server.command, *server.args]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)


def _send(process: subprocess.Popen[bytes], method: str, params: object, **message: Any) -> None:
    assert process.stdin
    line = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **message})
    process.stdin.write(line.encode() + b"\n")


def _read_result(process: subprocess.Popen[bytes]) -> object:
    assert process.stdout
    return json.loads(process.stdout.readline())["result"]


async def _call_bare(process: subprocess.Popen[bytes]) -> object:
    _send(process, "tools/call", {"name": "echo", "arguments": {}}, id=2)
    return _read_result(process)


class Contestant(NamedTuple):
    """A library to measure, and the kinds of servers that it supports."""

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
    """One server of each kind. Those over HTTP are running already."""
    return {
        "stdio": stdio(),
        "http": Server("http", url=f"{origin}/handshake"),
        "http, 2026-07-28": Server("http", url=f"{origin}/modern"),
        "sse": Server("sse", url=f"{origin}/sse"),
    }


def work_of(open_all: Open, servers: Mapping[str, Server]) -> dict[str, Callable[[], float]]:
    """The tasks by name. Each returns seconds or bytes."""
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
    """The time until all servers are connected and have listed their tools."""
    gc.collect()
    started = time.perf_counter()
    async with open_all(servers):
        return time.perf_counter() - started


async def seconds_to_close(open_all: Open, servers: Sequence[Server]) -> float:
    """The time from the end of the block until all servers are closed."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(open_all(servers))
        gc.collect()
        started = time.perf_counter()
    return time.perf_counter() - started


async def seconds_to_call(open_all: Open, server: Server) -> float:
    """The time of one tool call on an open session."""
    async with open_all([server]) as (call,):
        for _ in range(5):
            await call()
        gc.collect()
        started = time.perf_counter()
        for _ in range(CALLS):
            await call()
        return (time.perf_counter() - started) / CALLS


async def bytes_held(open_all: Open, server: Server) -> float:
    """The resident memory that each open session adds to this process."""
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
    """Open all servers at once, each in a task of its own, as anyio's cancel scopes require."""
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
    # One of the tasks opens a server of the deprecated transport.
    warnings.simplefilter("ignore", DeprecationWarning)
    contestant = CONTESTANTS[name]
    servers = {kind: server for kind, server in servers_at(origin).items() if kind in contestant.reaches}
    work = work_of(contestant.enter(), servers)
    # Imports and caches of the first use are not measured.
    for kind in servers:
        work[f"open {kind}"]()
    answer_tasks(work)


if __name__ == "__main__":
    main()
