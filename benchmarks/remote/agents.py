"""An agent at a URL, by each library: `python -m benchmarks.remote.agents NAME PORT`."""

from __future__ import annotations

import sys
from typing import Any

import uvicorn
from pydantic_core import from_json

from benchmarks.connection.updates import stream


def ours() -> Any:
    from acp_bindings import decode, v1  # noqa: PLC0415
    from acp_bindings.connection import Connection  # noqa: PLC0415
    from acp_bindings.remote import Limits, asgi  # noqa: PLC0415

    updates = stream(lambda text: decode(v1.SessionUpdate, text))
    count = 0

    async def initialize(_request: v1.InitializeRequest, _connection: Connection) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1)

    async def new_session(_request: v1.NewSessionRequest, _connection: Connection) -> v1.NewSessionResponse:
        nonlocal count
        count += 1
        return v1.NewSessionResponse(session_id=f"session-{count}")

    async def prompt(request: v1.PromptRequest, connection: Connection) -> v1.PromptResponse:
        for update in updates[: int(request.prompt[0].text)]:
            await connection.notify(v1.SessionNotification(session_id=request.session_id, update=update))
        return v1.PromptResponse(stop_reason="end_turn")

    handlers = {v1.InitializeRequest: initialize, v1.NewSessionRequest: new_session, v1.PromptRequest: prompt}
    return asgi(handlers, protocol=v1, limits=Limits(connections=100_000))


def official() -> Any:
    import acp  # noqa: PLC0415
    from acp import schema  # noqa: PLC0415
    from acp.http.asgi import create_asgi_app  # noqa: PLC0415

    updates = stream(
        lambda text: schema.SessionNotification.model_validate({"sessionId": "", "update": from_json(text)}).update
    )

    class Agent(acp.Agent):
        count = 0

        def __init__(self, connection: Any) -> None:
            self.connection = connection

        def on_connect(self, conn: Any) -> None:
            self.connection = conn

        async def initialize(self, **_: Any) -> schema.InitializeResponse:
            return schema.InitializeResponse(protocol_version=1)

        async def new_session(self, **_: Any) -> schema.NewSessionResponse:
            Agent.count += 1
            return schema.NewSessionResponse(session_id=f"session-{Agent.count}")

        async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> schema.PromptResponse:
            for update in updates[: int(prompt[0].text)]:
                await self.connection.session_update(session_id, update)
            return schema.PromptResponse(stop_reason="end_turn")

    return create_asgi_app(Agent)


AGENTS = {"ours": ours, "official": official}


def main() -> None:
    name, port = sys.argv[1:3]
    app = AGENTS[name]()
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="error", timeout_graceful_shutdown=1, backlog=8192)


if __name__ == "__main__":
    main()
