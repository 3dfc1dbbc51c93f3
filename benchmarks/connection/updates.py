"""The updates that an agent streams: the turns of `benchmarks.bindings`, numbered, so that their order is visible."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from benchmarks.bindings.messages import TURN

T = TypeVar("T")

SHORT, LONG = 20 * len(TURN), 100 * len(TURN)
"""Updates of a stream."""


def stream(read: Callable[[bytes], T]) -> list[T]:
    """The updates of a long turn."""
    updates, call = list[T](), 0
    for number in range(LONG):
        update = TURN[number % len(TURN)]
        if update["sessionUpdate"] == "tool_call":
            call = number
        updates.append(read(json.dumps(_numbered(update, number, call)).encode()))
    return updates


def _numbered(update: dict[str, Any], number: int, call: int) -> dict[str, Any]:
    """The update with its number in it, in the place that its kind has for a text, or the number of its tool call."""
    match update["sessionUpdate"]:
        case "agent_message_chunk" | "agent_thought_chunk":
            return update | {"content": update["content"] | {"text": f"{number}: {update['content']['text']}"}}
        case "tool_call" | "tool_call_update":
            return update | {"toolCallId": f"call-{call}"}
        case "plan":
            first, *others = update["entries"]
            return update | {"entries": [first | {"content": f"{number}: {first['content']}"}, *others]}
        case "available_commands_update":
            first, *others = update["availableCommands"]
            return update | {"availableCommands": [first | {"name": f"web-{number}"}, *others]}
        case kind:
            assert kind == "current_mode_update"
            return update | {"currentModeId": f"ask-{number}"}
