"""The checks, one module for each family."""

from __future__ import annotations

from acp_bindings.probe._check import Check
from acp_bindings.probe._checks import (
    auth,
    capabilities,
    client_methods,
    conversation,
    ending,
    messages,
    negotiation,
    permission,
    prompts,
    servers,
    sessions,
)

_MODULES = (
    negotiation,
    messages,
    auth,
    sessions,
    capabilities,
    servers,
    prompts,
    permission,
    client_methods,
    ending,
    conversation,
)

CHECKS: tuple[Check, ...] = (
    *(each for module in _MODULES for each in vars(module).values() if isinstance(each, Check)),
    *conversation.FAMILIES,
)
"""All checks, in the order in which they run."""
