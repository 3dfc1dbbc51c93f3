"""The rules of `acp-bindings check`. Each is a small function that checks one message."""

from __future__ import annotations

from acp_bindings.check._rules import capability, lifecycle, path, schema, secret
from acp_bindings.check._rules.rule import Look, Rule

LOOKS = [
    look
    for module in (lifecycle, capability, path, secret, schema)
    for look in vars(module).values()
    if isinstance(look, Look)
]
"""The functions that check each message, in the order of their findings."""

END = Rule("lifecycle.unanswered", "info", "A request has no response in the recording.")
"""The rule that is checked at the end of a conversation."""

RULES: tuple[Rule, ...] = tuple(sorted((END, *(rule for look in LOOKS for rule in look.rules)), key=lambda it: it.id))
"""All rules, sorted by id."""
