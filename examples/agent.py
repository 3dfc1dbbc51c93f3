"""An ACP agent with MCP servers, stored sessions, permission and files. A client runs it, in v1 or v2.

    python examples/client.py -- python examples/agent.py

A tiny command language takes the place of a model; the prompt `help` lists it. Sessions are stored in the folder or
the Redis server that ACP_SESSIONS names, or in ~/.example-agent. `--http HOST:PORT` serves clients at
http://HOST:PORT/acp instead, also under the names in ACP_HOSTS.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

import mcp_launch
from acp_bindings import v1
from acp_bindings.agent import Agent, FolderSessions, SessionStore
from acp_bindings.agent import Turn as AnyTurn

Turn = AnyTurn[mcp_launch.Fleet]

HELP = """\
say TEXT             I say it
slow NUMBER          I count to it, slowly
tools                the tools of the MCP servers
servers              the state of the MCP servers
call TOOL NAME=VALUE …
                     I call a tool
read PATH            I read a file of the project
write PATH TEXT      I write one, if you allow it
"""


def _store(place: str) -> SessionStore:
    if place.startswith(("redis:", "rediss:")):
        from acp_bindings.agent import RedisSessions  # noqa: PLC0415 - needs the extra redis

        return RedisSessions(place)
    return FolderSessions(place)


agent = Agent(
    "example-agent",
    title="The Example Agent",
    version="1.0",
    # A client at a URL must not start programs on this machine.
    mcp=mcp_launch.for_sessions(transports=("http", "sse") if "--http" in sys.argv else ("stdio", "http", "sse")),
    sessions=_store(os.environ.get("ACP_SESSIONS") or "~/.example-agent"),
)


@agent.prompt
async def obey(turn: Turn) -> None:
    """Carry out each line of the prompt."""
    for block in turn.prompt:
        if isinstance(block, v1.ResourceLink):
            await turn.say(f"you gave me {block.name}\n")
        if isinstance(block, v1.EmbeddedResource):
            await turn.say(f"you gave me {block.resource.uri}\n")
        for line in block.text.splitlines() if isinstance(block, v1.TextContent) else ():
            name, _, rest = line.strip().partition(" ")
            try:
                if name in COMMANDS:
                    await COMMANDS[name](turn, rest.strip())
                elif name:
                    await turn.say(f'I do not know "{name}"; try help\n')
            except ValueError as error:
                await turn.say(f"I do not understand that: {error}\n")


async def help_(turn: Turn, _: str) -> None:
    await turn.say(HELP)


async def say(turn: Turn, text: str) -> None:
    await turn.say(f"{text}\n")


async def slow(turn: Turn, last: str) -> None:
    for number in range(1, int(last) + 1):
        await turn.say(f"{number}\n")
        await anyio.sleep(0.5)


async def tools(turn: Turn, _: str) -> None:
    for entry in turn.session.mcp.catalogue:
        await turn.say(f"{entry.name}: {entry.tool.description}\n")


async def servers(turn: Turn, _: str) -> None:
    for server in turn.session.mcp:
        await turn.say(f"{server.failure or f'{server.name}: {server.state}'}\n")


async def call(turn: Turn, rest: str) -> None:
    tool, _, given = rest.partition(" ")
    arguments = {name: _value(value) for name, _, value in (each.partition("=") for each in shlex.split(given))}
    async with turn.tool_call(rest, name=tool, arguments=arguments) as tool_call:
        tool_call.result(await turn.session.mcp.call_tool(tool, arguments))


async def read(turn: Turn, path: str) -> None:
    async with turn.tool_call(f"read {path}", kind="read", arguments={"path": path}) as tool_call:
        tool_call.result(await turn.read_file(path))


async def write(turn: Turn, rest: str) -> None:
    path, _, text = rest.partition(" ")
    async with turn.tool_call(f"write {path}", kind="edit", arguments={"path": path}) as tool_call:
        turn.session.roots.resolve(path)  # no permission is requested for a path that is not allowed
        if await turn.ask(f"Write to {path}?", call=tool_call):
            await turn.write_file(path, text)
            tool_call.result(f"{len(text)} characters")
        else:
            tool_call.fail("not allowed")


COMMANDS: dict[str, Callable[[Turn, str], Awaitable[None]]] = {
    "call": call,
    "help": help_,
    "read": read,
    "say": say,
    "servers": servers,
    "slow": slow,
    "tools": tools,
    "write": write,
}


def _value(text: str) -> Any:
    """Return an argument as JSON if it is valid JSON, otherwise as text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


if __name__ == "__main__":
    if sys.argv[1:2] == ["--http"]:
        host, _, port = "".join(sys.argv[2:]).rpartition(":")
        if not port.isdecimal():
            sys.exit("usage: agent.py --http HOST:PORT")
        names = os.environ.get("ACP_HOSTS", "").replace(",", " ").split()
        agent.asgi(hosts=names).run(host.strip("[]") or "127.0.0.1", int(port), log_level="info", access_log=False)
    else:
        agent.run()
