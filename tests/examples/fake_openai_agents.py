"""`examples/openai_agents_agent.py` with a model that calls a tool and repeats its result."""

# The examples are on the path of the process that runs this.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import openai_agents_agent as example
from agents import set_tracing_disabled
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call


def begin(call: ModelCall) -> Any:
    given: Any = call.input
    messages: list[Any] = given if isinstance(given, list) else [given]
    prompts = sum(each.get("role") == "user" for each in messages)
    return [assistant_message(f"Prompt {prompts}. Let me look."), function_call("tools__where", {}, call_id="call_1")]


def end(call: ModelCall) -> Any:
    given: Any = call.input
    last = given[-1]
    return [assistant_message(f"It is {last['output']}")]


if __name__ == "__main__":
    set_tracing_disabled(disabled=True)
    example.model.model = ScriptedModel([ModelStep.respond(begin), ModelStep.respond(end)] * 2)
    example.agent.run()
