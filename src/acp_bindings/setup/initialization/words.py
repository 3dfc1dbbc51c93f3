"""What the versions call the parts of `initialize`: its messages, and the members of these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from acp_bindings._json.shapes import members_of
from acp_bindings.setup.capabilities import Side

if TYPE_CHECKING:
    from acp_bindings._models.base import Model
    from acp_bindings.jsonrpc import ProtocolPackage

WORDS: Mapping[Side, Mapping[int, tuple[str, str]]] = {
    "agent": {1: ("agentCapabilities", "agentInfo"), 2: ("capabilities", "info")},
    "client": {1: ("clientCapabilities", "clientInfo"), 2: ("capabilities", "info")},
}
"""By side and version the members that say what the side can do, and who it is."""


def repeated_version(answer: object, version: int) -> str | None:
    """Why the *answer* of an agent is none of the *version* in it, where it is in the words of another; else None.

    Agents of v1 say so that give back whatever version they are asked for: fast-agent 0.10.48, deepagents-acp 0.0.13.
    """
    members = members_of(answer).keys()
    spoken = [each for each, words in WORDS["agent"].items() if not members.isdisjoint(words)]
    if not spoken or version in spoken:
        return None
    return f"the agent says {version}, and what it says beside that is of version {spoken[0]}; offer {spoken[0]} alone"


def message_type(protocol: ProtocolPackage, side: Side) -> type[Model]:
    """The class of what *side* says in `initialize`: the response of the agent, the request of the client."""
    package: Any = protocol
    type_: type[Model] = package.InitializeResponse if side == "agent" else package.InitializeRequest
    return type_
