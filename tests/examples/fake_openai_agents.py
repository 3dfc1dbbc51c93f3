"""`examples/openai_agents_agent.py` with a model that makes the call in the prompt and repeats its result."""

# The examples are on the path of the process that runs this.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import openai_agents_agent as example
from agents import set_tracing_disabled
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call


def reply(call: ModelCall) -> Any:
    given: Any = call.input
    messages: list[Any] = given if isinstance(given, list) else [given]
    if "output" in messages[-1]:
        return [assistant_message(f"It is {messages[-1]['output']}")]
    prompts = [each["content"] for each in messages if each.get("role") == "user"]
    tool, _, arguments = prompts[-1].partition(" ")
    return [assistant_message(f"Prompt {len(prompts)}. Let me look."), function_call(tool, arguments, call_id="call_1")]


if __name__ == "__main__":
    set_tracing_disabled(disabled=True)
    example.model.model = ScriptedModel([ModelStep.respond(reply)] * 8)
    example.agent.run()
