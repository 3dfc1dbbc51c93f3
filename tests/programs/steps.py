"""The steps that every pair of programs goes through, and the expected outcome of each.

Every client gets a plan and returns facts: the outcome of each step as plain JSON. `code` and `afterwards` are error
codes, or 0 if there is no error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

FOLDER = Path(__file__).parent
TRANSPORTS = ("stdio", "http", "sse")

PROMPTS = {
    "stdio": "call stdio__environment name=WORD",
    "http": "call http__headers",
    "sse": "call sse__headers",
    "wait": "call stdio__wait",
}
"""The prompts for which an agent calls a tool of the server of each transport, and one that waits for cancellation."""

Facts: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Instructions for a client, and the agent to use."""

    agent: list[str]
    """The command of the agent."""
    env: dict[str, str]
    """Additional variables for its environment."""
    version: int
    """The negotiated protocol version."""
    latest: int
    """The latest version that the agent supports."""
    cwd: str
    """The working directory of the sessions."""
    servers: list[dict[str, Any]]
    """Their MCP servers in the format of the version, each with its transport as its name."""
    prompts: dict[str, str] = field(default_factory=lambda: dict(PROMPTS))
    between: tuple[str, ...] = (sys.executable, "-S", str(FOLDER / "between.py"))
    """The command that is prepended to the agent's, with a mode, for messages that neither program sends."""
    patience: int = 10_000
    """Milliseconds within which an agent must exit after its input is closed."""


def word(transport: str) -> str:
    """Return the result of a tool over a transport, if the server has its environment or headers."""
    return f"a-word-over-{transport}"


@dataclass(frozen=True)
class Step:
    """One step: its name, and a check of its outcome."""

    name: str
    is_right: Callable[[Facts, Plan], bool]


def _exactly(**wanted: Any) -> Callable[[Facts, Plan], bool]:
    return lambda facts, _: facts == wanted


def _called(facts: Facts, transport: str = "stdio") -> bool:
    """Return True if a prompt ended well and the result of the tool arrived."""
    heard = any(word(transport) in text for _, text in facts.get("said", ()))
    return heard and facts.get("stop") == "end_turn"


def _over(transport: str) -> Callable[[Facts, Plan], bool]:
    return lambda facts, _: _called(facts, transport)


def _replayed(facts: Facts, plan: Plan) -> bool:
    """Return True if each prompt arrived once, in order, followed by its tool result, and the session works again."""
    replay = facts.get("replay", ())
    prompts = [text for kind, text in replay if kind.startswith("user_message")]
    transports = [server["name"] for server in plan.servers]
    asked = [plan.prompts[transport] for transport in transports]
    story = iter(text for _, text in replay)
    told = all(
        any(plan.prompts[transport] == text for text in story) and any(word(transport) in text for text in story)
        for transport in transports
    )
    # The prompt that was cancelled may be there or not.
    collected = facts.get("collected", True)
    return told and collected and prompts[: len(asked)] == asked and _called(facts.get("again", {}))


STEPS = [
    Step("initialize", lambda facts, plan: facts == {"version": plan.version}),
    Step("initialize, v2 offered", lambda facts, plan: facts == {"version": plan.latest}),
    Step("a version that is a date", _exactly(code=-32602)),
    Step("an agent of an unknown version", _exactly(refused=True)),
    Step("session/new before initialize", _exactly(code=-32600)),
    Step("session/new", _exactly(session="string")),
    Step("session/new without cwd", _exactly(code=-32602)),
    Step("an unknown session", _exactly(code=-32002)),
    Step("an unknown method", _exactly(code=-32601, extension=-32601)),
    *(Step(f"a tool over {transport}", _over(transport)) for transport in TRANSPORTS),
    Step("session/cancel", _exactly(stop="cancelled")),
    Step("session/list", lambda facts, plan: facts == {"cwd": plan.cwd}),
    Step("session/close", _exactly(afterwards=-32002)),
    Step("session/load", _replayed),
    Step("session/resume", lambda facts, _: facts.get("replay") == [] and _called(facts.get("again", {}))),
    Step("session/delete", _exactly(listed=False, afterwards=-32002)),
    Step("an unknown update", lambda facts, _: facts.get("kept") is True and _called(facts)),
    Step("an unknown request of the agent", _exactly(code=-32601)),
    Step("the agent dies in a prompt", _exactly(failed=True)),
]
"""The steps in the order of the table."""

NOT_OFFERED = {"offered": False}
"""The facts of a step that requires a capability which the agent did not advertise."""
