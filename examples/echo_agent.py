"""An agent that repeats each text, with `_meta`: the official SDK's `echo_agent.py`."""

from acp_bindings import v1
from acp_bindings.agent import Agent, Turn

agent = Agent("echo", version="1.0")


@agent.prompt
async def echo(turn: Turn) -> None:
    for block in turn.prompt:
        if isinstance(block, v1.TextContent):
            content = v1.TextContent(text=block.text, meta={"echo": True})
            await turn.send(v1.AgentMessageChunk(content=content, meta={"echo": True}))


if __name__ == "__main__":
    agent.run()
