"""The rules of `acp-bindings check`. Each is a small function that checks one message."""

from __future__ import annotations

from functools import lru_cache

from acp_bindings.check._rules import (
    capability,
    lifecycle,
    offer,
    path,
    permission,
    remarks,
    schema,
    secret,
    terminal,
    tool_call,
    turn,
)
from acp_bindings.check._rules.rule import Look, Rule

LOOKS = [
    look
    for module in (lifecycle, turn, tool_call, permission, terminal, offer, capability, path, secret, remarks, schema)
    for look in vars(module).values()
    if isinstance(look, Look)
]
"""The functions that check messages, in the order of their findings."""


@lru_cache(maxsize=1000)
def looks_on(method: str | None) -> tuple[Look, ...]:
    """Return the functions that check messages with this method."""
    return tuple(each for each in LOOKS if method is None or each.on is None or method in each.on)


END = Rule("lifecycle.unanswered", "info", "A request has no response in the recording; a warning if the agent failed.")
"""The rule for requests that is checked at the end of a conversation."""

UNFINISHED = {
    "run": (
        Rule("turn.never-runs", "warning", "An agent of v2 accepts a prompt, but the session never runs after it."),
        "the agent has accepted this prompt and never sends the state running, which clients wait for",
    ),
    "end": (
        Rule("turn.never-ends", "info", "A turn of v2 does not end in the recording; a warning if the agent failed."),
        "the session is not idle at the end",
    ),
    "message": (
        Rule("turn.no-message", "warning", "An agent of v2 accepts a prompt, but never sends its user message."),
        "the agent never sends the user message with this messageId",
    ),
    "release": (
        Rule("terminal.not-released", "warning", "A terminal of v1 is never released."),
        "the agent never releases this terminal, so the client cannot free it; send terminal/release",
    ),
}
"""The rules for sessions that are checked at the end, with their messages."""

RULES: tuple[Rule, ...] = tuple(
    sorted(
        (END, *(rule for rule, _ in UNFINISHED.values()), *(rule for look in LOOKS for rule in look.rules)),
        key=lambda it: it.id,
    )
)
"""All rules, sorted by id."""
