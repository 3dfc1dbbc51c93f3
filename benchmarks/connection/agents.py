"""An agent on its standard streams, by each library: `python -m benchmarks.connection.agents NAME [BACKEND]`.

A prompt is the number of updates that it is to stream; a new session costs it nothing.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from pydantic_core import from_json, to_json

from benchmarks.connection.updates import stream


def ours(backend: str = "asyncio") -> None:
    from acp_bindings import decode, v1  # noqa: PLC0415
    from acp_bindings.connection import Connection, Handlers, connect_stdio  # noqa: PLC0415

    updates = stream(lambda text: decode(v1.SessionUpdate, text))
    handlers = Handlers()

    @handlers.on(v1.InitializeRequest)
    async def initialize(_request: v1.InitializeRequest, _connection: Connection) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1)

    @handlers.on(v1.NewSessionRequest)
    async def new_session(_request: v1.NewSessionRequest, _connection: Connection) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id="session-1")

    @handlers.on(v1.PromptRequest)
    async def prompt(request: v1.PromptRequest, connection: Connection) -> v1.PromptResponse:
        for update in updates[: int(request.prompt[0].text)]:
            await connection.notify(v1.SessionNotification(session_id=request.session_id, update=update))
        return v1.PromptResponse(stop_reason="end_turn")

    async def serve() -> None:
        async with connect_stdio(protocol=v1, handlers=handlers) as connection:
            await connection.wait_ended()

    anyio.run(serve, backend=backend)


def layer(backend: str = "asyncio") -> None:
    """An `acp_bindings.agent`, which also stores the updates in memory."""
    from acp_bindings import decode, v1  # noqa: PLC0415
    from acp_bindings.agent import Agent, Turn  # noqa: PLC0415

    def step(text: bytes) -> tuple[Callable[[Turn, Any], Awaitable[None]], Any]:
        """The method of a turn that sends the update in *text*, and its argument, as a program would call it."""
        match update := decode(v1.SessionUpdate, text):
            case v1.AgentMessageChunk(content=v1.TextContent(text=said)):
                return Turn.say, said
            case v1.AgentThoughtChunk(content=v1.TextContent(text=thought)):
                return Turn.think, thought
            case _:
                return Turn.send, update

    steps = stream(step)
    agent = Agent("bench", version="1", protocols=[v1])

    @agent.prompt
    async def prompt(turn: Turn) -> None:
        for send, what in steps[: int(turn.text)]:
            await send(turn, what)

    agent.run(backend="trio" if backend == "trio" else "asyncio")


def official() -> None:
    import acp  # noqa: PLC0415
    from acp import schema  # noqa: PLC0415

    updates = stream(
        lambda text: schema.SessionNotification.model_validate({"sessionId": "", "update": from_json(text)}).update
    )

    class Agent(acp.Agent):
        def on_connect(self, conn: Any) -> None:
            self.connection = conn

        async def initialize(self, **_: Any) -> schema.InitializeResponse:
            return schema.InitializeResponse(protocol_version=1)

        async def new_session(self, **_: Any) -> schema.NewSessionResponse:
            return schema.NewSessionResponse(session_id="session-1")

        async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> schema.PromptResponse:
            for update in updates[: int(prompt[0].text)]:
                await self.connection.session_update(session_id, update)
            return schema.PromptResponse(stop_reason="end_turn")

    asyncio.run(acp.run_agent(Agent()))


def bare() -> None:
    lines = stream(
        lambda text: (
            b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session-1","update":%b}}\n' % text
        )
    )
    results = {
        "initialize": {"protocolVersion": 1},
        "session/new": {"sessionId": "session-1"},
        "session/prompt": {"stopReason": "end_turn"},
    }
    for line in sys.stdin.buffer:
        request = from_json(line)
        if request["method"] == "session/prompt":
            sys.stdout.buffer.writelines(lines[: int(request["params"]["prompt"][0]["text"])])
        response = {"jsonrpc": "2.0", "id": request["id"], "result": results[request["method"]]}
        sys.stdout.buffer.write(to_json(response) + b"\n")
        sys.stdout.buffer.flush()


AGENTS = {"ours": ours, "layer": layer, "official": official, "bare": bare}

if __name__ == "__main__":
    AGENTS[sys.argv[1]](*sys.argv[2:])
