"""`examples/pydantic_ai_agent.py` with a model that makes the call in the prompt and repeats its result."""

# The examples are on the path of the process that runs this.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import AsyncIterator

import pydantic_ai_agent as example
from pydantic_ai import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel


async def reply(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
    last = messages[-1].parts[-1]
    if last.part_kind == "user-prompt":
        prompts = sum(part.part_kind == "user-prompt" for each in messages for part in each.parts)
        yield f"Prompt {prompts}. Let me look."
        tool, _, arguments = str(last.content).partition(" ")
        yield {1: DeltaToolCall(name=tool, json_args=arguments, tool_call_id="call_1")}
    else:
        yield f"It is {last.content}" if last.part_kind == "tool-return" else "What?"


if __name__ == "__main__":
    with example.model.override(model=FunctionModel(stream_function=reply)):
        example.agent.run()
