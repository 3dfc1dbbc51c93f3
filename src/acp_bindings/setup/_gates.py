"""Checks that the receiver of a message has advertised the capabilities that the message needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from acp_bindings._models.base import known_member
from acp_bindings.setup._history import History
from acp_bindings.setup._peer import Peer
from acp_bindings.setup._servers import servers_for
from acp_bindings.setup._versions import name_of
from acp_bindings.setup.capabilities import CONTENT, METHODS, TABLES, known
from acp_bindings.setup.errors import (
    CapabilityNotAdvertised,
    InvalidParams,
    McpServersRefused,
    MethodNotAdvertised,
    RefusedServer,
)

if TYPE_CHECKING:
    from acp_bindings.setup._peer import AgentPeer
    from acp_bindings.setup.capabilities import Capability
    from acp_bindings.setup.unions import McpServer, McpServerLike


OnRefusal: TypeAlias = Literal["raise", "drop"]
"""The treatment of MCP servers that the agent does not support."""


class GatedServers(NamedTuple):
    """MCP servers, divided by whether the agent supports them."""

    accepted: list[McpServer]
    """The supported servers in their order, converted to the protocol version of the agent."""
    refused: tuple[RefusedServer, ...]
    """The others, each with the reason."""


def check_message(
    peer: Peer, params: Any = None, *, method: str | None = None, assume: Collection[str] = (), received: bool = False
) -> None:
    """Raise if a message needs a capability that its receiver has not advertised.

    The method is checked, and all fields that need a capability: `additionalDirectories`, `mcpServers`, `prompt`,
    `systemPrompt`, `archived`, and the mode of an elicitation. Extension methods (`_…`) need no capability.

    Args:
        peer: the receiver of the message: before you send one, the other side; with *received*, your own side as the
            other side knows it (`answer(…).agent` of an `AgentHandshake`, `ClientHandshake.own`).
        params: an object of the negotiated protocol package. Without it, only *method* is checked.
        method: the method, if the class of *params* does not determine it.
        assume: capabilities to take as advertised, for peers that are known to support them.
        received: check a request that has arrived, and raise the error to answer with.

    Raises:
        CapabilityNotAdvertised: the peer has not advertised the capability; `McpServersRefused` for MCP servers.
        MethodNotAdvertised: with *received*: the method needs a capability that was not advertised (-32601).
        InvalidParams: with *received*: a field needs one, or has a `replayFrom` other than `start`, or a login method
            that is not available (-32602). For an MCP server the data is `{type}` if its transport was not advertised,
            or `{name}` if another server has the same name (v2).
        ValueError: the peer's protocol version does not have this method.
        UnknownCapability: *assume* contains an unknown name.
        TypeError: both *params* and *method* are missing.
    """
    name = method or _method_of(peer, params)
    if received:
        _check_received(peer, params, name)
        return
    check_method(peer, name, assume=assume)
    if params is None:
        return
    servers: Sequence[Any] = known_member(params, "mcp_servers") or ()
    if refused := tuple(_refused_servers(peer, servers, assume)):
        raise McpServersRefused(refused, name)
    for need in _needs(params):
        if (reason := _missing(peer, need.capability, assume)) is not None:
            raise CapabilityNotAdvertised(need.capability, name, reason, field=need.field)


def check_method(peer: Peer, method: str, *, assume: Collection[str] = ()) -> None:
    """Raise if *peer* has not advertised what *method* needs; errors as for `check_message`."""
    if method.startswith("_"):
        return
    if method not in METHODS[peer.side] or method not in peer.protocol.METHODS:
        raise ValueError(f"{method} is not a method of an ACP v{peer.version} {peer.side}")
    needed = METHODS[peer.side].get(method)
    if needed is not None:
        check_capability(peer, needed, method=method, assume=assume)


def check_capability(peer: Peer, capability: str, *, method: str, assume: Collection[str] = ()) -> None:
    """Raise if *peer* has not advertised *capability*, which *method* needs; errors as for `check_message`."""
    _check_names(peer, assume)
    if (reason := _missing(peer, capability, assume)) is not None:
        raise CapabilityNotAdvertised(capability, method, reason)


def gate_mcp_servers(
    agent: AgentPeer,
    servers: Iterable[McpServerLike],
    *,
    on_refusal: OnRefusal = "raise",
    assume: Collection[str] = (),
    method: str | None = None,
) -> GatedServers:
    """Return the *servers* that *agent* supports, and the others with the reason.

    In v1 every agent supports stdio. In v2 stdio is a capability like the others, and names must be unique.

    Args:
        agent: the agent that gets the servers.
        servers: models of any protocol version, or JSON.
        on_refusal: raise an error, or leave out unsupported servers and report them.
        assume: capabilities to take as advertised, such as `mcp.http`. `mcp.` with a type that the schema does not
            know is allowed.
        method: the method to be sent, for the error.

    Raises:
        McpServersRefused: some servers are not supported, and *on_refusal* is `raise`.
        DecodeError: an entry is not a valid server, or the protocol version of the agent cannot express it.
        UnknownCapability: *assume* contains an unknown name.
    """
    _check_names(agent, assume)
    listed = servers_for(agent.protocol, servers)
    refused = tuple(_refused_servers(agent, listed, assume))
    if refused and on_refusal == "raise":
        raise McpServersRefused(refused, method)
    without = {each.index for each in refused}
    return GatedServers([each for index, each in enumerate(listed) if index not in without], refused)


def _check_received(own: Peer, params: Any, method: str) -> None:
    needed = METHODS[own.side].get(method)
    if needed is not None and own.lacks(needed) is not None:
        raise MethodNotAdvertised(method, needed)
    for refused in _refused_servers(own, known_member(params, "mcp_servers") or (), ()):
        if refused.capability is None:
            raise InvalidParams("Two MCP servers have one name", data={"name": refused.name})
        raise InvalidParams("Unsupported MCP server transport", data={"type": refused.transport})
    for need in _needs(params):
        if _missing(own, need.capability, ()) is not None:
            raise InvalidParams(f"{need.field} needs {need.capability}, which was not advertised", data=need.data)
    History.is_requested(params)  # raises for a `replayFrom` that is not supported
    if method in ("authenticate", "auth/login") and (reason := cast("AgentPeer", own).login_refusal(params.method_id)):
        raise InvalidParams(f"methodId: {reason}", data={"methodId": params.method_id})


class _Need(NamedTuple):
    """A capability that a field of the params needs."""

    capability: str
    field: str
    data: dict[str, Any]
    """The `data` of the error that refuses it."""


def _needs(params: Any) -> Iterator[_Need]:
    """Yield the capabilities that the fields of *params* need, except for MCP servers."""
    for field, (capability, name) in FIELDS.items():
        if known_member(params, field):
            yield _Need(capability, name, {"field": name})
    if getattr(known_member(params, "system_prompt"), "mode", None) == "override":
        yield _Need("session.system_prompt.override", "systemPrompt.mode", {"field": "systemPrompt.mode"})
    for index, block in enumerate(known_member(params, "prompt") or ()):
        # For a type that the schema does not know, there is no capability that a peer could have advertised.
        if needed := CONTENT.get(block.type, f"prompt.{block.type}"):
            yield _Need(needed, f"prompt[{index}]", {"type": block.type})
    if (mode := known_member(params, "mode")) in ("form", "url"):
        yield _Need(f"elicitation.{mode}", "mode", {"mode": mode})


FIELDS = {
    "additional_directories": ("session.additional_directories", "additionalDirectories"),
    "archived": ("session.archive", "archived"),
    "system_prompt": ("session.system_prompt", "systemPrompt"),
}
"""The fields of requests that need a capability whatever their value, and their wire names."""


def _refused_servers(peer: Peer, servers: Sequence[Any], assume: Collection[str]) -> Iterator[RefusedServer]:
    names: set[str] = set()
    for index, server in enumerate(servers):
        # In v1 a stdio server has no type, or one that is ignored.
        transport = "stdio" if type(server).__name__ == "McpServerStdio" else server.type
        given: object = getattr(server, "name", None)
        name = given if isinstance(given, str) else None
        capability = f"mcp.{transport}"
        if (reason := _missing(peer, capability, assume)) is not None:
            yield RefusedServer(index, name, transport, capability, reason)
        elif name in names and peer.version > 1:
            yield RefusedServer(index, name, transport, None, "another server in the request has this name")
        if name is not None:
            names.add(name)


def _missing(peer: Peer, capability: str, assume: Collection[str]) -> str | None:
    """Return the reason why *peer* does not support a capability; None if it does."""
    if capability in assume:
        return None
    if capability not in TABLES[peer.side]:
        return f"ACP v{peer.version} has no capability for it"
    return peer.lacks(cast("Capability", capability))


def _check_names(peer: Peer, assume: Collection[str]) -> None:
    """Raise for unknown names in *assume*, such as misspelled ones: they would have no effect."""
    if isinstance(assume, str):
        raise TypeError(f"assume must be a set of names: {{{assume!r}}}")
    for name in assume:
        if not name.startswith(("mcp.", "prompt.")):
            known(peer.side, name)


def _method_of(peer: Peer, params: Any) -> str:
    methods = peer.protocol.METHODS
    type_ = methods.request_with(params) or methods.notification_with(params)
    if type_ is None:
        raise TypeError(f"no method of {name_of(peer.protocol)} takes {type(params).__name__}; pass method=")
    return type_.method
