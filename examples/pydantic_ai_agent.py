"""An agent whose turns are run by Pydantic AI, with the tools of the session's MCP servers.

ACP_MODEL names the model, such as `anthropic:claude-sonnet-4-5`; its key comes from the environment.
"""

import os
from functools import partial
from typing import Any

from pydantic_ai import Agent as Model
from pydantic_ai import (
    AgentRunResultEvent,
    FunctionToolset,
    ModelMessage,
    ModelRequest,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    Tool,
)
from pydantic_ai.messages import ModelMessagesTypeAdapter

import mcp_launch
from acp_bindings.agent import Agent, FolderSessions
from acp_bindings.agent import Turn as AnyTurn

Turn = AnyTurn[mcp_launch.Fleet]

agent = Agent("pydantic-ai", version="1.0", mcp=mcp_launch.for_sessions(), sessions=FolderSessions("~/.pydantic-ai"))
model = Model(os.environ.get("ACP_MODEL"), instructions="You are a helpful coding agent.", defer_model_check=True)


@agent.prompt
async def answer(turn: Turn) -> None:
    history = ModelMessagesTypeAdapter.validate_python(turn.session.data.get("messages", []))
    remember(turn, [*history, ModelRequest.user_text_prompt(turn.text)])  # also if this turn does not end
    tools = [
        Tool.from_schema(partial(call, turn, entry.name), entry.name, entry.tool.description, entry.tool.input_schema)
        for entry in turn.session.mcp.catalogue
    ]
    async with model.run_stream_events(turn.text, message_history=history, toolsets=[FunctionToolset(tools)]) as events:
        async for event in events:
            match event:
                case (
                    PartStartEvent(part=TextPart(content=text))
                    | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
                ):
                    await turn.say(text)
                case AgentRunResultEvent(result=result):
                    remember(turn, result.all_messages())
                case _:
                    pass


def remember(turn: Turn, messages: list[ModelMessage]) -> None:
    turn.session.data["messages"] = ModelMessagesTypeAdapter.dump_python(messages, mode="json")


async def call(turn: Turn, tool: str, /, **arguments: Any) -> str:
    async with turn.tool_call(tool, name=tool, arguments=arguments) as tool_call:
        if await turn.ask(f"Call {tool}?", call=tool_call):
            tool_call.result(await turn.session.mcp.call_tool(tool, arguments))
        else:
            tool_call.fail("The user does not allow this call.")
    return tool_call.output


if __name__ == "__main__":
    agent.run()
