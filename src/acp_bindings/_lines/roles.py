"""Who we may be on a connection, and whose methods we then handle and send."""

from __future__ import annotations

from typing import Literal, TypeAlias

from acp_bindings.methods import NotificationType

Role: TypeAlias = Literal["agent", "client", "proxy", "conductor"]
"""Who we are on a connection. A conductor is what the proxies of a chain talk to."""

_PEERS: dict[Role, Role] = {"agent": "client", "client": "agent", "proxy": "conductor", "conductor": "proxy"}

_SIDES = {
    "agent": {"agent", "both", "protocol"},
    "client": {"client", "both", "protocol"},
    "proxy": {"agent", "proxy", "both", "protocol"},
    "conductor": {"client", "proxy", "both", "protocol"},
}
"""The sides (`x-side`) whose methods each role handles."""


def handles(role: Role, type_: NotificationType) -> bool:
    """Whether a method is for *role* to handle."""
    return type_.side in _SIDES[role]


def sends(role: Role, type_: NotificationType) -> bool:
    """Whether a method is for the peer of *role* to handle."""
    return type_.side in _SIDES[_PEERS[role]]
