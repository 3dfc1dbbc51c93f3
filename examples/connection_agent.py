"""An agent over its standard streams that says hello, in two updates."""

import itertools

import anyio

from acp_bindings import v1
from acp_bindings.connection import Connection, Handlers, connect_stdio

handlers = Handlers()
numbers = itertools.count(1)


@handlers.on(v1.InitializeRequest)
async def initialize(request: v1.InitializeRequest, connection: Connection) -> v1.InitializeResponse:
    return v1.InitializeResponse(protocol_version=1)


@handlers.on(v1.NewSessionRequest)
async def new_session(request: v1.NewSessionRequest, connection: Connection) -> v1.NewSessionResponse:
    return v1.NewSessionResponse(session_id=f"sess_{next(numbers)}")


@handlers.on(v1.PromptRequest)
async def prompt(request: v1.PromptRequest, connection: Connection) -> v1.PromptResponse:
    for word in ("Hello", "there"):
        chunk = v1.AgentMessageChunk(content=v1.TextContent(text=word))
        await connection.notify(v1.SessionNotification(session_id=request.session_id, update=chunk))
    print("This goes to standard error.")
    return v1.PromptResponse(stop_reason="end_turn")


async def main() -> None:
    async with connect_stdio(protocol=v1, handlers=handlers) as connection:
        await connection.wait_ended()


if __name__ == "__main__":
    anyio.run(main)
