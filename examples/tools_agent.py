"""An ACP agent with MCP tools, in 60 lines: a prompt names a tool, and it is called. `docs/tutorial.md` builds it."""

from collections.abc import AsyncIterator
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp import MCPError

import mcp_launch
from acp_bindings import v1
from acp_bindings.connection import AgentHandlers, Connection, connect_stdio
from acp_bindings.setup import OPENING, AgentHandshake

HANDSHAKE = AgentHandshake(info=v1.Implementation(name="tools", version="1.0"), capabilities=mcp_launch.capabilities())


class Agent:
    def __init__(self, tasks: TaskGroup) -> None:
        self.tasks = tasks
        self.fleets: dict[str, mcp_launch.Fleet] = {}
        self.handlers = AgentHandlers(HANDSHAKE, flavour="posix")
        self.handlers.on(v1.NewSessionRequest)(self.new_session)
        self.handlers.on(v1.PromptRequest)(self.prompt)

    async def new_session(self, request: v1.NewSessionRequest, _: Connection) -> v1.NewSessionResponse:
        self.fleets[session_id := uuid4().hex] = await self.tasks.start(self.keep, request)
        return v1.NewSessionResponse(session_id=session_id)

    async def keep(self, request: v1.NewSessionRequest, *, task_status: TaskStatus[mcp_launch.Fleet]) -> None:
        async with mcp_launch.launch(request.mcp_servers, cwd=request.cwd) as fleet:
            task_status.started(fleet)
            await anyio.sleep_forever()

    async def prompt(self, request: v1.PromptRequest, connection: Connection) -> v1.PromptResponse:
        text = " ".join(block.text for block in request.prompt if isinstance(block, v1.TextContent))
        async for update in answer(self.fleets[request.session_id], text):
            await connection.notify(v1.SessionNotification(session_id=request.session_id, update=update))
        return v1.PromptResponse(stop_reason="end_turn")


async def answer(fleet: mcp_launch.Fleet, text: str) -> AsyncIterator[v1.SessionUpdate]:
    call, (name, *words) = uuid4().hex, text.split()
    yield v1.ToolCall(tool_call_id=call, title=text, kind="other", status="in_progress")
    try:
        result = await fleet.call_tool(name, dict(word.split("=", 1) for word in words))
        yield mcp_launch.tool_call_update(v1.SessionToolCallUpdate, call, result)
    except (mcp_launch.LaunchError, MCPError, ValueError) as error:
        said = v1.Content(content=v1.TextContent(text=str(error)))
        yield v1.SessionToolCallUpdate(tool_call_id=call, status="failed", content=[said])


async def main() -> None:
    async with anyio.create_task_group() as tasks:
        async with connect_stdio(protocol=OPENING, handlers=Agent(tasks).handlers) as connection:
            await connection.wait_ended()
        tasks.cancel_scope.cancel()


anyio.run(main)
