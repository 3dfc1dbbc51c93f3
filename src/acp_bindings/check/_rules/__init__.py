"""The rules: small functions that look at one message each, in six families."""

from __future__ import annotations

from acp_bindings.check._rules import capability, lifecycle, path, schema, secret
from acp_bindings.check._rules.rule import Look, Rule

LOOKS: tuple[Look, ...] = (
    *lifecycle.LOOKS,
    *capability.LOOKS,
    *path.LOOKS,
    *secret.LOOKS,
    *schema.LENIENCY,
    *schema.LOOKS,
)
"""What looks at each message, in the order in which it is told."""

END = Rule("lifecycle.unanswered", "info", "A request has no answer in the recording.")
"""What only the end of a conversation shows."""

RULES: tuple[Rule, ...] = tuple(sorted((END, *(rule for look in LOOKS for rule in look.rules)), key=lambda it: it.id))
"""All of them, by their ids."""
