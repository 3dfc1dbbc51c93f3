"""What the receiver of a message must have advertised: the sender checks it before sending, the receiver once it came.

The sender checks against the capabilities of its *peer*, and gets `CapabilityNotAdvertised`. The receiver checks
against its *own*, as it advertised them, and gets the error to answer with.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from acp_bindings._models.base import Model, known_member
from acp_bindings.setup._history import asks_for_history
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
    from acp_bindings.setup.unions import McpServer, McpServerLike


OnRefusal: TypeAlias = Literal["raise", "drop"]
"""Whether MCP servers that an agent cannot be given are an error, or are left out."""


class GatedServers(NamedTuple):
    """MCP servers, sorted into those that an agent can be given and those that it cannot."""

    accepted: list[McpServer]
    """In their order, and in the version that the agent speaks."""
    refused: tuple[RefusedServer, ...]
    """Each with its reason."""


def check_capability(peer: Peer, capability: str, *, method: str | None = None, assume: Collection[str] = ()) -> None:
    """Refuse what needs a capability that *peer* has not advertised.

    Args:
        peer: the other side.
        capability: a name as `Peer.supports` takes it.
        method: what is to be sent, for the error.
        assume: capabilities that are taken for advertised: for peers that are known to have forgotten to say so.

    Raises:
        CapabilityNotAdvertised: it has not, and *assume* does not name it.
        UnknownCapability: there is none of this name, also in *assume*.
        TypeError: *peer* is no `Peer`, but the connection, say.
    """
    _check_peer(peer)
    _check_names(peer, assume)
    if (reason := _missing(peer, capability, assume)) is not None:
        raise CapabilityNotAdvertised(capability, method, reason)


def check_method(peer: Peer, method: str, *, assume: Collection[str] = ()) -> None:
    """Refuse *method* where *peer* has not advertised what it needs. Extensions (`_…`) need nothing.

    Raises:
        CapabilityNotAdvertised: it has not, and *assume* does not name it.
        ValueError: a peer of this side and version has no such method.
        UnknownCapability: *assume* names what is no capability.
        TypeError: *peer* is no `Peer`, but the connection, say.
    """
    _check_peer(peer)
    if method.startswith("_"):
        return
    needed = METHODS[peer.side].get(method)
    if method not in METHODS[peer.side] or method not in peer.protocol.METHODS:
        raise ValueError(f"{method} is no method that an ACP v{peer.version} {peer.side} has")
    if needed is not None:
        check_capability(peer, needed, method=method, assume=assume)


def check_message(peer: Peer, params: Any, *, method: str | None = None, assume: Collection[str] = ()) -> None:
    """Refuse *params* where *peer* has not advertised what their method, or a member of them, needs.

    The members are `additionalDirectories`, `mcpServers`, `prompt`, `systemPrompt`, `archived`, and the mode of an
    elicitation.

    Args:
        peer: the other side.
        params: an object of the package that both sides speak.
        method: its method, where the class of *params* does not tell.
        assume: capabilities that are taken for advertised.

    Raises:
        CapabilityNotAdvertised: it has not, and *assume* does not name it; `McpServersRefused` for MCP servers.
        UnknownCapability: *assume* names what is no capability.
    """
    name = method or _method_of(peer, params)
    check_method(peer, name, assume=assume)
    servers: Sequence[Any] = known_member(params, "mcp_servers") or ()
    if refused := tuple(_refused_servers(peer, servers, assume)):
        raise McpServersRefused(refused, name)
    for need in _needs(params):
        if (reason := _missing(peer, need.capability, assume)) is not None:
            raise CapabilityNotAdvertised(need.capability, name, reason, field=need.field)


def gate_mcp_servers(
    agent: AgentPeer,
    servers: Iterable[McpServerLike],
    *,
    on_refusal: OnRefusal = "raise",
    assume: Collection[str] = (),
    method: str | None = None,
) -> GatedServers:
    """Sort *servers* into those that *agent* can be given and those that it cannot, each with its reason.

    In v1 stdio is always there; in v2 it is a capability like the others, and names are unique.

    Args:
        agent: who is to have them.
        servers: models of any version, or JSON.
        on_refusal: raise an error, or leave those out and report them.
        assume: capabilities that are taken for advertised, such as `mcp.http`; also `mcp.` and a type that the schema
            does not know.
        method: what is to be sent, for the error.

    Raises:
        McpServersRefused: there are some that it cannot be given, and *on_refusal* is `raise`.
        DecodeError: one is no server, or cannot be said in the version of the agent (`servers_for`).
        UnknownCapability: *assume* names what is no capability.
    """
    _check_names(agent, assume)
    listed = servers_for(agent.protocol, servers)
    refused = tuple(_refused_servers(agent, listed, assume))
    if refused and on_refusal == "raise":
        raise McpServersRefused(refused, method)
    without = {each.index for each in refused}
    return GatedServers([each for index, each in enumerate(listed) if index not in without], refused)


def refuse_unadvertised(own: Peer, params: Any, *, method: str | None = None) -> None:
    """Refuse a request that came although *own* has not advertised what it needs: for agents and clients alike.

    Call it first in a handler, or before all of them. *Own* is `Settled.agent` of an agent, and what
    `ClientHandshake.own` gives of a client.

    Args:
        own: this side, as the other side knows it.
        params: an object of the package that both sides speak.
        method: its method, where the class of *params* does not tell.

    Raises:
        MethodNotAdvertised: the method needs a capability that was not advertised: -32601.
        InvalidParams: a member does: -32602. Of an MCP server whose transport was not advertised the data is `{type}`,
            of one whose name another has (v2) `{name}`; a `replayFrom` that is not `start` is refused, never replaced.
            So is a way to log in that was not advertised, or that is for a terminal.
    """
    name = method or _method_of(own, params)
    needed = METHODS[own.side].get(name)
    if needed is not None and own.lacks(needed) is not None:
        raise MethodNotAdvertised(name, needed)
    _refuse_servers(own, known_member(params, "mcp_servers") or ())
    for need in _needs(params):
        if _missing(own, need.capability, ()) is not None:
            raise InvalidParams(f"{need.field} needs {need.capability}, which was not advertised", data=need.data)
    asks_for_history(params)  # or else refuses
    if name in ("authenticate", "auth/login") and (reason := cast("AgentPeer", own).login_refusal(params.method_id)):
        raise InvalidParams(f"methodId: {reason}", data={"methodId": params.method_id})


def _refuse_servers(own: Peer, servers: Sequence[Any]) -> None:
    for refused in _refused_servers(own, servers, ()):
        if refused.capability is None:
            raise InvalidParams("Two MCP servers have one name", data={"name": refused.name})
        raise InvalidParams("Unsupported MCP server transport", data={"type": refused.transport})


@dataclass(frozen=True)
class _Need:
    """A member of params that needs a capability."""

    capability: str
    field: str
    data: dict[str, Any]
    """The `data` of the error that refuses it."""


def _needs(params: Any) -> Iterator[_Need]:
    """What the members of *params* need, MCP servers aside."""
    for field, needs in FIELDS.items():
        if (value := known_member(params, field)) is not None:
            yield from needs(value)


def _directories(value: Sequence[str]) -> Iterator[_Need]:
    if value:
        yield _Need("session.additional_directories", "additionalDirectories", {"field": "additionalDirectories"})


def _system_prompt(value: Any) -> Iterator[_Need]:
    yield _Need("session.system_prompt", "systemPrompt", {"field": "systemPrompt"})
    if value.mode == "override":
        yield _Need("session.system_prompt.override", "systemPrompt.mode", {"field": "systemPrompt.mode"})


def _archived(_: object) -> Iterator[_Need]:
    yield _Need("session.archive", "archived", {"field": "archived"})


def _prompt(blocks: Sequence[Any]) -> Iterator[_Need]:
    for index, block in enumerate(blocks):
        # A kind that the schema does not know needs a capability that nobody can have advertised.
        needed = CONTENT.get(block.type, f"prompt.{block.type}")
        if needed is not None:
            yield _Need(needed, f"prompt[{index}]", {"type": block.type})


def _mode(value: str) -> Iterator[_Need]:
    if value in ("form", "url"):
        yield _Need(f"elicitation.{value}", "mode", {"mode": value})


FIELDS: Mapping[str, Callable[[Any], Iterator[_Need]]] = {
    "additional_directories": _directories,
    "archived": _archived,
    "mode": _mode,
    "prompt": _prompt,
    "system_prompt": _system_prompt,
}
"""The members of requests that need a capability, MCP servers aside."""


def _refused_servers(peer: Peer, servers: Sequence[Any], assume: Collection[str]) -> Iterator[RefusedServer]:
    names: set[str] = set()
    for index, server in enumerate(servers):
        transport = transport_of(server)
        name = _name_of(server)
        capability = f"mcp.{transport}"
        if (reason := _missing(peer, capability, assume)) is not None:
            yield RefusedServer(index, name, transport, capability, reason)
        elif name in names and peer.version > 1:
            yield RefusedServer(index, name, transport, None, "another server of the request has this name")
        if name is not None:
            names.add(name)


def transport_of(server: Any) -> str:
    """`stdio`, `http`, `sse`, `acp`, or what an MCP server has for a `type` that the schema does not know."""
    # In v1 stdio is known by its form: it has no type, or one that means nothing.
    return "stdio" if type(server).__name__ == "McpServerStdio" else server.type


def _name_of(server: Model) -> str | None:
    name: object = getattr(server, "name", None)
    return name if isinstance(name, str) else None


def _missing(peer: Peer, capability: str, assume: Collection[str]) -> str | None:
    """Why *peer* must not be sent what needs a capability; None when it may."""
    if capability in assume:
        return None
    if capability not in TABLES[peer.side]:
        return f"no capability stands for it in ACP v{peer.version}"
    return peer.lacks(capability)


def _check_peer(peer: object) -> None:
    if not isinstance(peer, Peer):
        told = "give what `initialize` made known of the other side, as connection.initialize or a handshake returns it"
        raise TypeError(f"{type(peer).__name__} is no peer; {told}")


def _check_names(peer: Peer, assume: Collection[str]) -> None:
    """Refuse names in *assume* that are no capabilities, such as misspelt ones: they would have no effect."""
    if isinstance(assume, str):
        raise TypeError(f"assume is a set of names: {{{assume!r}}}")
    for name in assume:
        if not name.startswith(("mcp.", "prompt.")):
            known(peer.side, name)


def _method_of(peer: Peer, params: Any) -> str:
    methods = peer.protocol.METHODS
    type_ = methods.request_with(params) or methods.notification_with(params)
    if type_ is None:
        raise TypeError(f"{type(params).__name__} belongs to no method of {name_of(peer.protocol)}; name it by method=")
    return type_.method
