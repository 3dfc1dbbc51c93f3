"""The official Python SDK's client talks to an agent at a URL: `client_official.py URL 1 SIZE` prints facts as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from typing import Any

import acp
import acp.schema as s
from acp.http.client import create_http_stream
from acp.ws.client import create_websocket_stream

URL, _, SIZE = sys.argv[1:]


class Client:
    """The handlers of the SDK."""

    def __init__(self) -> None:
        self.said: dict[str, str] = defaultdict(str)
        self.waiting = asyncio.Event()

    def on_connect(self, conn: Any) -> None:
        pass

    async def request_permission(self, options: Any, **_: Any) -> s.RequestPermissionResponse:
        outcome = s.AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        return s.RequestPermissionResponse(outcome=outcome)

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        if isinstance(update, s.AgentMessageChunk):
            self.said[session_id] += update.content.text
            if update.content.text == "waiting":
                self.waiting.set()


async def main() -> dict[str, Any]:
    facts: dict[str, Any] = {}
    client, agent = await connect()
    facts["version"] = (await agent.initialize(protocol_version=1)).protocol_version
    session, other = [(await agent.new_session(cwd="/tmp", mcp_servers=[])).session_id for _ in range(2)]
    cancelled = asyncio.create_task(ask(agent, other, "wait"))
    await client.waiting.wait()
    facts["prompt"] = await ask(agent, session, "count 300")
    await agent.cancel(session_id=other)
    facts["cancelled"] = await cancelled
    facts["permission"] = await ask(agent, session, "ask")
    facts["large"] = await ask(agent, session, int(SIZE) * "x")
    facts["said"] = client.said[session]
    try:
        await ask(agent, "unknown", "hello")
    except acp.RequestError as error:
        facts["unknown"] = error.code
    await agent.close()

    client, agent = await connect()
    await agent.initialize(protocol_version=1)
    await agent.load_session(session_id=session, cwd="/tmp", mcp_servers=[])
    facts["again"] = await ask(agent, session, "hello")
    facts["loaded"] = client.said[session]
    await agent.close()
    return facts


async def connect() -> tuple[Any, Any]:
    client: Any = Client()
    stream = await create_websocket_stream(URL) if URL.startswith("ws") else create_http_stream(URL)
    return client, acp.connect_to_agent(client, stream)


async def ask(agent: Any, session_id: str, text: str) -> str:
    response = await agent.prompt(session_id=session_id, prompt=[acp.text_block(text)])
    return response.stop_reason


print(json.dumps(asyncio.run(main())))
