"""What the versions call the parts of `initialize`: its messages, and the members of these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from acp_bindings.setup.capabilities import Side

if TYPE_CHECKING:
    from acp_bindings._models.base import Model
    from acp_bindings.jsonrpc import ProtocolPackage

WORDS: Mapping[Side, Mapping[int, tuple[str, str]]] = {
    "agent": {1: ("agentCapabilities", "agentInfo"), 2: ("capabilities", "info")},
    "client": {1: ("clientCapabilities", "clientInfo"), 2: ("capabilities", "info")},
}
"""By side and version the members that say what the side can do, and who it is."""


def message_type(protocol: ProtocolPackage, side: Side) -> type[Model]:
    """The class of what *side* says in `initialize`: the response of the agent, the request of the client."""
    package: Any = protocol
    type_: type[Model] = package.InitializeResponse if side == "agent" else package.InitializeRequest
    return type_
