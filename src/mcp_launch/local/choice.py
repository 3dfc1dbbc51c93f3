"""Chooses the transport for a client's own server, by what the agent advertised."""

from __future__ import annotations

from typing import Literal, TypeAlias

from acp_bindings import v1, v1_unstable, v2, v2_unstable
from mcp_launch.failures import NoTransport, UnusableInput

__all__ = ["Agent", "LocalTransport", "choose"]

LocalTransport: TypeAlias = Literal["http", "stdio"]
"""The transports over which a server of this process can be offered."""

_BETTER_FIRST: tuple[LocalTransport, ...] = ("http", "stdio")
"""HTTP first, because stdio needs a process between the two."""

Agent: TypeAlias = (
    v1.InitializeResponse
    | v1.AgentCapabilities
    | v1_unstable.InitializeResponse
    | v1_unstable.AgentCapabilities
    | v2.InitializeResponse
    | v2.AgentCapabilities
    | v2_unstable.InitializeResponse
    | v2_unstable.AgentCapabilities
)
"""What an agent said of itself in `initialize`."""


def choose(agent: Agent | None, transport: LocalTransport | None) -> LocalTransport:
    """The transport that was asked for, or else the best one that the agent advertised.

    Every agent of v1 takes stdio; in v2 it is advertised like HTTP is.

    Raises:
        UnusableInput: neither is said, or there is no such transport.
        NoTransport: the agent advertised none of them.
    """
    if transport is not None:
        if transport not in _BETTER_FIRST:
            raise UnusableInput(f'a local server is offered over http or stdio, not over "{transport}"')
        return transport
    advertised = _advertised(agent)
    for name in _BETTER_FIRST:
        if name in advertised:
            return name
    raise NoTransport(advertised)


def _advertised(agent: Agent | None) -> list[str]:
    match agent:
        case v1.InitializeResponse() | v1_unstable.InitializeResponse():
            return _advertised(agent.agent_capabilities)
        case v2.InitializeResponse() | v2_unstable.InitializeResponse():
            return _advertised(agent.capabilities)
        case v1.AgentCapabilities() | v1_unstable.AgentCapabilities():
            return ["stdio", *(["http"] if agent.mcp_capabilities.http else [])]
        case v2.AgentCapabilities() | v2_unstable.AgentCapabilities():
            mcp = agent.session.mcp if agent.session else None
            return [name for name in type(mcp).model_fields if getattr(mcp, name) is not None] if mcp else []
        case _:
            raise UnusableInput(
                "agent= is what it answered to initialize, or the capabilities in that; "
                'without one say transport="http" or transport="stdio"'
            )
