"""An agent that sends a prompt back block by block, and handles extensions: the official SDK's `agent.py`."""

import logging
from typing import Any

from acp_bindings import v1
from acp_bindings.agent import Agent, Turn
from acp_bindings.connection import Connection

log = logging.getLogger(__name__)
agent = Agent("example-agent", title="Example Agent", version="0.1.0")


@agent.prompt
async def mirror(turn: Turn) -> None:
    log.info("Received prompt request for session %s", turn.session.id)
    await turn.say("Client sent:")
    for block in turn.prompt:
        await turn.send(v1.AgentMessageChunk(content=block))


@agent.on("_example/method")
async def extension(params: Any, connection: Connection) -> Any:
    return {"example": "response"}


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    agent.run()
