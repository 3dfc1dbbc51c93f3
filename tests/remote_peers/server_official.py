"""An agent by the official Python SDK, at a URL. It prints its port, and exits at the end of its input."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
from typing import Any

import acp
import acp.schema as s
import uvicorn
from acp.http.asgi import create_asgi_app

HISTORIES: dict[str, list[Any]] = {}
CANCELLED: dict[str, asyncio.Event] = {}


class Agent:
    """The handlers of the SDK, for one connection."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, **_: Any) -> s.InitializeResponse:
        return s.InitializeResponse(
            protocol_version=1,
            agent_info=s.Implementation(name="official", version="1.0"),
            agent_capabilities=s.AgentCapabilities(load_session=True),
        )

    async def new_session(self, **_: Any) -> s.NewSessionResponse:
        id_ = f"session-{len(HISTORIES)}"
        HISTORIES[id_], CANCELLED[id_] = [], asyncio.Event()
        return s.NewSessionResponse(session_id=id_)

    async def load_session(self, session_id: str, **_: Any) -> s.LoadSessionResponse:
        for update in HISTORIES[session_id]:
            await self.client.session_update(session_id=session_id, update=update)
        return s.LoadSessionResponse()

    async def cancel(self, session_id: str, **_: Any) -> None:
        CANCELLED[session_id].set()

    async def prompt(self, session_id: str, prompt: Any, **_: Any) -> s.PromptResponse:
        if session_id not in HISTORIES:
            raise acp.RequestError.resource_not_found(session_id)

        async def say(text: str) -> None:
            HISTORIES[session_id].append(update := acp.update_agent_message_text(text))
            await self.client.session_update(session_id=session_id, update=update)

        match prompt[0].text.split():
            case ["count", number]:
                for each in range(int(number)):
                    await say(f"{each} ")
            case ["wait"]:
                await say("waiting")
                await CANCELLED[session_id].wait()
                return s.PromptResponse(stop_reason="cancelled")
            case ["ask"]:
                asked = await self.client.request_permission(
                    session_id=session_id,
                    tool_call=s.ToolCallUpdate(tool_call_id="t"),
                    options=[s.PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
                )
                await say(asked.outcome.option_id)
            case _:
                text = prompt[0].text
                await say(f"{len(text)}: {text[:20]}")
        return s.PromptResponse(stop_reason="end_turn")


def exit_at_end_of_input() -> None:
    sys.stdin.read()
    os._exit(0)


threading.Thread(target=exit_at_end_of_input, daemon=True).start()
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
agent: Any = Agent
config = uvicorn.Config(create_asgi_app(agent), log_level="warning", ws_max_size=64 << 20)
uvicorn.Server(config).run(sockets=[listener])
