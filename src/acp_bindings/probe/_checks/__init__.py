"""The checks, one module for each family."""

from __future__ import annotations

from acp_bindings.probe._check import Check
from acp_bindings.probe._checks import (
    check_auth,
    check_capabilities,
    check_client_methods,
    check_conversation,
    check_ending,
    check_messages,
    check_negotiation,
    check_permission,
    check_prompts,
    check_servers,
    check_sessions,
)

_MODULES = (
    check_negotiation,
    check_messages,
    check_auth,
    check_sessions,
    check_capabilities,
    check_servers,
    check_prompts,
    check_permission,
    check_client_methods,
    check_ending,
    check_conversation,
)

CHECKS: tuple[Check, ...] = (
    *(each for module in _MODULES for each in vars(module).values() if isinstance(each, Check)),
    *check_conversation.FAMILIES,
)
"""All checks, in the order in which they run."""
