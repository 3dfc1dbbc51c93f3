"""What an agent may tell its client about MCP servers: what the launcher can reach, in the form of the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, get_args, overload

from acp_bindings import decode
from mcp_launch.failures import UnusableInput
from mcp_launch.shapes import TransportName
from mcp_launch.terms import Transports

if TYPE_CHECKING:
    from acp_bindings import v1, v1_unstable, v2, v2_unstable

__all__ = ["capabilities"]

_TRANSPORTS: tuple[TransportName, ...] = get_args(TransportName)

T = TypeVar(
    "T", bound="v1.McpCapabilities | v1_unstable.McpCapabilities | v2.McpCapabilities | v2_unstable.McpCapabilities"
)


@overload
def capabilities(*, transports: Transports = ("stdio", "http")) -> frozenset[str]: ...
@overload
def capabilities(type_: type[T], *, transports: Transports = ("stdio", "http")) -> T: ...
def capabilities(type_: type[Any] | None = None, *, transports: Transports = ("stdio", "http")) -> Any:
    """The MCP part of what an agent advertises in its answer to `initialize`.

        AgentHandshake(capabilities={"session.load"} | capabilities(), …)
        v1.AgentCapabilities(mcp_capabilities=capabilities(v1.McpCapabilities))
        v2.SessionCapabilities(mcp=capabilities(v2.McpCapabilities))

    The forms do not have the same words: v1 takes stdio for granted, v2 has no SSE. A transport that a form has no word
    for goes unsaid. MCP servers that are reached through ACP itself, of the unstable schemas, cannot be launched and
    are not advertised.

    Args:
        type_: `McpCapabilities` of the protocol package that the agent speaks. Without it, they come as names, which
            `acp_bindings.setup.AgentHandshake` writes in the form of the version that it settles on.
        transports: those that the agent wants to use. SSE is not among them unless asked for: MCP has deprecated it.

    Raises:
        UnusableInput: there is no such transport.
    """
    wanted = frozenset[str]([transports] if isinstance(transports, str) else transports)
    if unknown := wanted.difference(_TRANSPORTS):
        raise UnusableInput(f'there is no transport "{min(unknown)}"; they are {", ".join(_TRANSPORTS)}')
    if type_ is None:
        return frozenset(f"mcp.{name}" for name in wanted)
    members = type_.model_fields.keys()
    said: dict[str, Any] = (
        {name: {} for name in wanted & members}
        if "stdio" in members
        else {name: name in wanted for name in ("http", "sse")}
    )
    return decode(type_, said)
