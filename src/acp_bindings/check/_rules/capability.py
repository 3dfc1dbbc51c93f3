"""What the other side has not said that it can do, or said so that nobody reads it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from acp_bindings.check._conversation import Said
from acp_bindings.check._rules.rule import Look, of_initialize, remark, rule, rules, under, whole
from acp_bindings.errors import AcpError
from acp_bindings.jsonrpc import METHOD_NOT_FOUND
from acp_bindings.setup._auth import login_remarks
from acp_bindings.setup._gates import check_message, check_method
from acp_bindings.setup._peer import AgentPeer, Peer
from acp_bindings.setup.capabilities import METHODS, OFFERED_IN_SESSIONS, TABLES
from acp_bindings.setup.errors import CapabilityNotAdvertised, McpServersRefused, Remark


def id_of(capability: str) -> str:
    """The id of the rule that a capability is not used unless it is advertised: `capability.load`."""
    table = {*TABLES["agent"], *TABLES["client"]}
    name = capability.removeprefix("session.") if capability in table else capability.partition(".")[0] + "-other"
    return "capability." + name.replace(".", "-").replace("_", "-")


_NOT_ADVERTISED = {
    id_of(each): f"`{each}` is used, which the {side} has not advertised."
    for side in ("agent", "client")
    for each in TABLES[side]
    if side == "agent" or each.startswith("elicitation") or each in METHODS["client"].values()
} | {
    "capability.mcp-other": "An MCP server has a transport that the agent cannot have advertised.",
    "capability.prompt-other": "A prompt has content of a kind that the agent cannot have advertised.",
}


@rules({"error": dict(sorted(_NOT_ADVERTISED.items()))})
def not_advertised(said: Said) -> Iterator[Remark]:
    """What is sent although the other side has not advertised what it needs."""
    peer = _receiver(said)
    if peer is None or said.method is None or said.kind not in ("request", "notification", "unreadable"):
        return
    assumed: set[str] = set()
    while (error := _refusal(peer, said, said.method, assumed)) and error.capability not in assumed:
        assumed.add(error.capability)
        if isinstance(error, McpServersRefused):
            for each in error.refused:
                if each.capability is not None:
                    assumed.add(each.capability)
                    yield remark(said, id_of(each.capability), each.reason, "mcpServers", each.index)
        elif error.field is None:
            told = f"{error.method}: {error.reason}; it must not be sent"
            yield whole(said, id_of(error.capability), told)
        else:
            yield remark(said, id_of(error.capability), error.reason, *_steps(error.field))


@rule("capability.refused", "error")
def refused(said: Said) -> Iterator[Remark]:
    """A method is answered with "method not found", which every agent has or which was advertised."""
    if said.kind != "error" or said.error_code != METHOD_NOT_FOUND or said.asked is None or said.before is None:
        return
    peer = said.before.agent if said.sender == "agent" else said.before.client
    if peer is None or said.asked.method not in METHODS[peer.side] or said.asked.method not in said.protocol.METHODS:
        return
    if said.asked.method in OFFERED_IN_SESSIONS:
        return
    needed = METHODS[peer.side][said.asked.method]
    if needed is None or peer.lacks(needed) is None:
        why = "which it has advertised" if needed and needed != "session" else f"which every {peer.side} has"
        told = f"the {peer.side} does not know {said.asked.method}, {why}"
        yield whole(said, "capability.refused", told, "error")


@rule("capability.unknown", "warning")
def unknown(said: Said) -> Iterator[Remark]:
    """A capability is misspelt, such as `mcp` for `mcpCapabilities`, so that nobody reads it."""
    yield from of_initialize(said, "unknown-capability", "capability.unknown")


@rule("capability.other-version", "warning")
def other_version(said: Said) -> Iterator[Remark]:
    """A member of `initialize` is one of another version, so that nobody reads it."""
    yield from of_initialize(said, "other-version", "capability.other-version")


@rule("capability.login", "error")
def login(said: Said) -> Iterator[Remark]:
    """The client logs in by a method that the agent has not advertised, or that is for a terminal."""
    peer = _receiver(said)
    if said.type_name not in ("AuthenticateRequest", "LoginAuthRequest") or said.typed is None:
        return
    if isinstance(peer, AgentPeer) and (reason := peer.login_refusal(said.typed.method_id)):
        yield remark(said, "capability.login", reason, "methodId")


@rule("capability.auth-terminal", "error")
def terminal_login(said: Said) -> Iterator[Remark]:
    """The agent offers to log in in a terminal, and the client has not said that it has one for that."""
    client = said.before.client_asking if said.before and said.type_name == "InitializeResponse" else None
    if client is not None and said.typed is not None:
        for each in login_remarks(AgentPeer.of(said.protocol, said.typed), client):
            yield under(said, each, "capability.auth-terminal")


@rule("capability.sse-deprecated", "warning")
def sse_deprecated(said: Said) -> Iterator[Remark]:
    """An MCP server is one of SSE, which MCP has deprecated and v2 does not have."""
    for each in said.servers_remarks:
        if each.rule == "sse-deprecated":
            yield replace(each, rule="capability.sse-deprecated")


def _receiver(said: Said) -> Peer | None:
    if said.before is None or said.sender is None:
        return None
    return said.before.agent if said.sender == "client" else said.before.client


def _refusal(peer: Peer, said: Said, method: str, assumed: set[str]) -> CapabilityNotAdvertised | None:
    """Why what is said must not be, *assumed* capabilities aside."""
    try:
        if said.typed is None:
            check_method(peer, method, assume=assumed)
        else:
            check_message(peer, said.typed, method=method, assume=assumed)
    except CapabilityNotAdvertised as error:
        return error
    except (AcpError, ValueError):  # no method that there is, which another rule says
        return None
    return None


def _steps(field: str) -> Iterator[str | int]:
    """The steps in `prompt[2]` or `systemPrompt.mode`."""
    for step in field.replace("[", ".").replace("]", "").split("."):
        yield int(step) if step.isdigit() else step


LOOKS: tuple[Look, ...] = (
    not_advertised,
    refused,
    unknown,
    other_version,
    login,
    terminal_login,
    sse_deprecated,
)
