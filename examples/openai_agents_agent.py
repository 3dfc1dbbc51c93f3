"""An agent whose turns are run by the OpenAI Agents SDK, with the tools of the session's MCP servers.

ACP_MODEL names the model; OPENAI_API_KEY has the key.
"""

import os
from functools import partial
from typing import Any

from agents import Agent as Model
from agents import FunctionTool, RunConfig, Runner
from openai.types.responses import ResponseTextDeltaEvent
from pydantic_core import from_json

import mcp_launch
from acp_bindings.agent import Agent, FolderSessions
from acp_bindings.agent import Turn as AnyTurn

Turn = AnyTurn[mcp_launch.Fleet]

agent = Agent(
    "openai-agents", version="1.0", mcp=mcp_launch.for_sessions(), sessions=FolderSessions("~/.openai-agents")
)
model = Model[None](name="assistant", instructions="You are a helpful coding agent.", model=os.environ.get("ACP_MODEL"))


@agent.prompt
async def answer(turn: Turn) -> None:
    tools = [
        FunctionTool(
            name=entry.name,
            description=entry.tool.description or "",
            params_json_schema=entry.tool.input_schema,
            on_invoke_tool=partial(call, turn, entry.name),
            strict_json_schema=False,
        )
        for entry in turn.session.mcp.catalogue
    ]
    messages: list[Any] = [*turn.session.data.get("messages", []), {"role": "user", "content": turn.text}]
    turn.session.data["messages"] = messages  # also if this turn does not end
    config = RunConfig(tool_not_found_behavior="return_error_to_model")
    run = Runner.run_streamed(model.clone(tools=tools), messages, run_config=config)
    async for event in run.stream_events():
        if event.type == "raw_response_event" and isinstance(event.data, ResponseTextDeltaEvent):
            await turn.say(event.data.delta)
    turn.session.data["messages"] = run.to_input_list()


async def call(turn: Turn, tool: str, _: Any, arguments: str) -> str:
    try:
        given = from_json(arguments or "{}", allow_inf_nan=False)
    except ValueError as error:
        return f"The arguments are not JSON: {error}"
    async with turn.tool_call(tool, name=tool, arguments=given) as tool_call:
        if await turn.ask(f"Call {tool}?", call=tool_call):
            tool_call.result(await turn.session.mcp.call_tool(tool, given))
        else:
            tool_call.fail("The user does not allow this call.")
    return tool_call.output


if __name__ == "__main__":
    agent.run()
