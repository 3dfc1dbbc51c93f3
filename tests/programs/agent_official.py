"""An agent built with the official Python SDK, for our client. ACP_SESSIONS is the folder of its sessions.

A line `call SERVER__TOOL NAME=VALUE …` calls a tool of one of the session's MCP servers; other lines are echoed.
"""

from __future__ import annotations

import asyncio
import json
import os
import uuid
import warnings
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import acp
import acp.schema as s
import httpx2
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

FOLDER = Path(os.environ["ACP_SESSIONS"])


class Session:
    """One session. A separate task opens and closes its MCP servers, as anyio requires."""

    def __init__(self, cwd: str, history: list[dict[str, Any]]) -> None:
        self.cwd = cwd
        self.history = history
        self.tools: dict[str, Client] = {}
        self.prompt: asyncio.Task[Any] | None = None
        self._opened = asyncio.Event()
        self._done = asyncio.Event()

    async def start(self, servers: list[Any]) -> None:
        self._task = asyncio.create_task(self._serve(servers))
        opened = asyncio.create_task(self._opened.wait())
        await asyncio.wait([self._task, opened], return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            opened.cancel()
            await self._task

    async def stop(self) -> None:
        if self.prompt:
            self.prompt.cancel()
        self._done.set()
        await self._task

    async def _serve(self, servers: list[Any]) -> None:
        async with AsyncExitStack() as stack:
            for server in servers:
                client = Client(await transport(server, self.cwd, stack), mode="legacy")
                self.tools[server.name] = await stack.enter_async_context(client)
            self._opened.set()
            await self._done.wait()


async def transport(server: Any, cwd: str, stack: AsyncExitStack) -> Any:
    if isinstance(server, s.McpServerStdio):
        env = {each.name: each.value for each in server.env}
        return stdio_client(StdioServerParameters(command=server.command, args=server.args, env=env, cwd=cwd))
    headers = {each.name: each.value for each in server.headers}
    if isinstance(server, s.SseMcpServer):
        return sse_client(server.url, headers=headers)
    http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers))
    return streamable_http_client(server.url, http_client=http)


class Agent:
    """The handlers of the SDK."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> s.InitializeResponse:
        return s.InitializeResponse(
            protocol_version=min(protocol_version, acp.PROTOCOL_VERSION),
            agent_info=s.Implementation(name="official", version="1.0"),
            agent_capabilities=s.AgentCapabilities(
                load_session=True,
                mcp_capabilities=s.McpCapabilities(http=True, sse=True),
                session_capabilities=s.SessionCapabilities(
                    list=s.SessionListCapabilities(),
                    resume=s.SessionResumeCapabilities(),
                    close=s.SessionCloseCapabilities(),
                ),
            ),
        )

    async def new_session(self, cwd: str, mcp_servers: Any = None, **_: Any) -> s.NewSessionResponse:
        session_id = uuid.uuid4().hex
        await self._start(session_id, cwd, mcp_servers, [])
        return s.NewSessionResponse(session_id=session_id)

    async def load_session(self, cwd: str, session_id: str, mcp_servers: Any = None, **_: Any) -> s.LoadSessionResponse:
        session = await self._start(session_id, cwd, mcp_servers, stored(session_id)["history"])
        for update in session.history:
            message = s.SessionNotification.model_validate({"sessionId": session_id, "update": update})
            await self.client.session_update(session_id, message.update)
        return s.LoadSessionResponse()

    async def resume_session(self, cwd: str, session_id: str, mcp_servers: Any = None, **_: Any) -> Any:
        await self._start(session_id, cwd, mcp_servers, stored(session_id)["history"])
        return s.ResumeSessionResponse()

    async def list_sessions(self, **_: Any) -> s.ListSessionsResponse:
        ids = [path.stem for path in FOLDER.glob("*.json")]
        return s.ListSessionsResponse(sessions=[s.SessionInfo(session_id=id_, cwd=stored(id_)["cwd"]) for id_ in ids])

    async def close_session(self, session_id: str, **_: Any) -> s.CloseSessionResponse:
        self._active(session_id)
        await self.sessions.pop(session_id).stop()
        return s.CloseSessionResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> s.PromptResponse:
        session = self._active(session_id)
        session.history += [
            {"sessionUpdate": "user_message_chunk", "content": block.model_dump(mode="json", exclude_none=True)}
            for block in prompt
        ]
        session.prompt = asyncio.create_task(self._answer(session_id, session, "".join(each.text for each in prompt)))
        try:
            await session.prompt
        except asyncio.CancelledError:
            return s.PromptResponse(stop_reason="cancelled")
        finally:
            (FOLDER / f"{session_id}.json").write_text(json.dumps({"cwd": session.cwd, "history": session.history}))
        return s.PromptResponse(stop_reason="end_turn")

    async def cancel(self, session_id: str, **_: Any) -> None:
        session = self.sessions.get(session_id)
        if session and session.prompt:
            session.prompt.cancel()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise acp.RequestError.method_not_found(f"_{method}")

    async def stop(self) -> None:
        await asyncio.gather(*(session.stop() for session in self.sessions.values()))

    async def _answer(self, session_id: str, session: Session, said: str) -> None:
        async def tell(update: Any) -> None:
            session.history.append(update.model_dump(mode="json", by_alias=True, exclude_none=True))
            await self.client.session_update(session_id, update)

        for line in said.splitlines():
            command, tool, *given = [*line.split(" "), ""]
            server, _, name = tool.partition("__")
            if command != "call" or server not in session.tools:
                await tell(acp.update_agent_message_text(line))
                continue
            id_ = uuid.uuid4().hex
            await tell(acp.start_tool_call(id_, tool, status="in_progress"))
            arguments = dict(each.split("=") for each in given if each)
            result = await session.tools[server].call_tool(name, arguments)
            content = [acp.tool_content(acp.text_block(getattr(block, "text", ""))) for block in result.content]
            await tell(acp.update_tool_call(id_, status="completed", content=content))

    async def _start(self, session_id: str, cwd: str, servers: Any, history: list[dict[str, Any]]) -> Session:
        session = self.sessions[session_id] = Session(cwd, history)
        await session.start(servers or [])
        return session

    def _active(self, session_id: str) -> Session:
        if session_id not in self.sessions:
            raise acp.RequestError.resource_not_found(session_id)
        return self.sessions[session_id]


def stored(session_id: str) -> dict[str, Any]:
    try:
        return json.loads((FOLDER / f"{session_id}.json").read_text())
    except OSError:
        raise acp.RequestError.resource_not_found(session_id) from None


async def main() -> None:
    agent: Any = Agent()
    try:
        # Closing and resuming count as unstable there.
        await acp.run_agent(agent, use_unstable_protocol=True)
    finally:
        await agent.stop()


if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)
    asyncio.run(main())
