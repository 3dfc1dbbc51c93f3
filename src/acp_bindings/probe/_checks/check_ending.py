"""The end of an agent's process: when its input is closed, and when it is killed."""

from __future__ import annotations

import os
import signal
import sys

import anyio

from acp_bindings._processes.process import ChildProcess
from acp_bindings.probe._bench import COUNT, Bench, first_turn
from acp_bindings.probe._check import Failed, Outcome, Skipped, Warned, check
from acp_bindings.probe._checks.check_servers import with_stdio
from acp_bindings.probe._probed_agent import Agent, Message

_SOURCE = "protocol, Transports: stdio"
_SECONDS = 5.0


@check(_SOURCE, "Exit when standard input ends.", over="stdio")
async def stdin(bench: Bench) -> None:
    """The agent exits with status 0 when its input is closed."""
    if status := await bench.once(_status):
        raise Warned(f"its exit status is {status}")


@check(_SOURCE, "Cancel the turn when standard input ends, and exit.", over="stdio")
async def in_turn(bench: Bench) -> None:
    """The agent exits when its input is closed during a turn."""
    await bench.once(first_turn)
    agent = await bench.fresh()
    session = await bench.new_session(agent)
    await session.begun(bench.text(COUNT))
    await _exits(bench, agent, "its input was closed in a turn")


@check(
    "lifecycle of MCP over stdio: shutdown", "End MCP servers, and every other child, before you exit.", over="stdio"
)
async def children(bench: Bench) -> None:
    """Nothing is left when the agent has exited: no MCP server, and no other process."""
    await bench.once(_status)
    agent = await bench.fresh()
    entry = await _with_server(bench, agent)
    await _exits(bench, agent, "its input was closed")
    await _nothing_left(bench, agent, entry)


@check(_SOURCE, "Do not ignore SIGTERM.", over="stdio")
async def sigterm(bench: Bench) -> None:
    """The agent ends after SIGTERM."""
    agent = await bench.fresh()
    _signal(agent, "SIGTERM")
    if not await _ended(bench, agent):
        # The protocol does not mention signals. Clients send this one if closing the input has not helped.
        raise Warned(f"it still runs {_seconds(bench):g} s after SIGTERM")


@check(_SOURCE, "Start child processes so that they notice when you exit, such as by a closed input.", over="stdio")
async def killed(bench: Bench) -> None:
    """Nothing is left when the agent is killed: no MCP server, and no other process."""
    agent = await bench.fresh()
    entry = await _with_server(bench, agent)
    _signal(agent, "SIGKILL")
    # A client that kills the agent closes its input too. What was killed may be a launcher, whose child reads it.
    await _exits(bench, agent, "SIGKILL")
    await _nothing_left(bench, agent, entry)


async def _status(bench: Bench) -> int | None:
    """Return the exit status of an agent whose input was closed."""
    return await _exits(bench, await bench.fresh(), "its input was closed")


async def _with_server(bench: Bench, agent: Agent) -> Message:
    """Open a session with an MCP server, which the agent may start."""
    entry = bench.servers.stdio()
    try:
        await bench.once(with_stdio)
    except Outcome:
        await bench.new_session(agent)
    else:
        await bench.new_session(agent, mcpServers=[entry])
        await bench.servers.wait(lambda: bench.servers.of(entry, "listed"), bench.patience)
    return entry


async def _exits(bench: Bench, agent: Agent, after: str) -> int | None:
    process = _process(agent)
    await agent.close_input(process)
    if not await _ended(bench, agent):
        raise Failed(f"it still runs {_seconds(bench):g} s after {after}", agent.lines[-2:])
    return process.returncode


async def _ended(bench: Bench, agent: Agent) -> bool:
    process = _process(agent)
    with anyio.move_on_after(_seconds(bench)):
        await process.wait()
    return process.returncode is not None


async def _nothing_left(bench: Bench, agent: Agent, entry: Message) -> None:
    process, servers = _process(agent), bench.servers
    if not await servers.wait(
        lambda: len(servers.of(entry, "ended")) == len(servers.of(entry, "started")), _seconds(bench)
    ):
        raise Failed("the MCP server that it has started is still running")
    with anyio.move_on_after(_seconds(bench)):
        while process.has_children:
            await anyio.sleep(0.02)  # the system does not report it
    if process.has_children:
        raise Failed("one of its child processes is still running")


def _signal(agent: Agent, name: str) -> None:
    if sys.platform == "win32":
        raise Skipped("Windows has no signals")
    os.kill(_process(agent).pid, getattr(signal, name))


def _process(agent: Agent) -> ChildProcess:
    if agent.process is None:
        raise Skipped("the agent is not a process")
    return agent.process


def _seconds(bench: Bench) -> float:
    return min(_SECONDS, bench.options.timeout)
