"""Rules for capabilities that are used but not advertised, and for those that are misspelled."""

from __future__ import annotations

from collections.abc import Iterator

from acp_bindings.check._observed import ObservedMessage
from acp_bindings.check._rules.rule import remark, rule, rules, whole
from acp_bindings.errors import AcpError
from acp_bindings.jsonrpc import METHOD_NOT_FOUND
from acp_bindings.setup._gates import check_message, check_method
from acp_bindings.setup._peer import AgentPeer, Peer
from acp_bindings.setup.capabilities import METHODS, OFFERED_IN_SESSIONS, TABLES
from acp_bindings.setup.errors import CapabilityNotAdvertised, McpServersRefused, Remark


def id_of(capability: str) -> str:
    """Return the id of the rule for using *capability* although it is not advertised: `capability.load`."""
    table = {*TABLES["agent"], *TABLES["client"]}
    name = capability.removeprefix("session.") if capability in table else capability.partition(".")[0] + "-other"
    return "capability." + name.replace(".", "-").replace("_", "-")


_NOT_ADVERTISED = {
    id_of(each): f"`{each}` is used, but the {side} has not advertised it."
    for side in ("agent", "client")
    for each in TABLES[side]
    if side == "agent" or each.startswith("elicitation") or each in METHODS["client"].values()
} | {
    "capability.mcp-other": "An MCP server has a transport that no capability covers.",
    "capability.prompt-other": "A prompt has a kind of content that no capability covers.",
}


@rules({"error": dict(sorted(_NOT_ADVERTISED.items()))})
def not_advertised(observed: ObservedMessage) -> Iterator[Remark]:
    """Yield what is sent although the receiver has not advertised the required capability."""
    peer = _receiver(observed)
    if peer is None or observed.method is None or observed.kind not in ("request", "notification", "unreadable"):
        return
    assumed: set[str] = set()
    while (error := _refusal(peer, observed, observed.method, assumed)) and error.capability not in assumed:
        assumed.add(error.capability)
        if isinstance(error, McpServersRefused):
            for each in error.refused:
                if each.capability is not None:
                    assumed.add(each.capability)
                    yield remark(observed, id_of(each.capability), each.reason, "mcpServers", each.index)
        elif error.field is None:
            message = f"{error.method}: {error.reason}; it must not be sent"
            yield whole(observed, id_of(error.capability), message)
        else:
            yield remark(observed, id_of(error.capability), error.reason, *_steps(error.field))


@rule("capability.refused", "error")
def refused(observed: ObservedMessage) -> Iterator[Remark]:
    """The response is "method not found", but the method is mandatory or was advertised."""
    if observed.error_code != METHOD_NOT_FOUND or observed.request is None:
        return
    peer = observed.before.agent if observed.sender == "agent" else observed.before.client
    method = observed.request.method
    known = observed.protocol.METHODS.get(method)
    if peer is None or method in OFFERED_IN_SESSIONS or known is None or known.request is None:
        return
    if method not in METHODS[peer.side]:
        return
    needed = METHODS[peer.side][method]
    if needed is None or peer.lacks(needed) is None:
        why = "but it has advertised it" if needed and needed != "session" else f"but every {peer.side} must support it"
        message = f"the {peer.side} does not support {method}, {why}"
        yield whole(observed, "capability.refused", message, "error")


@rule("capability.login", "error")
def login(observed: ObservedMessage) -> Iterator[Remark]:
    """The client logs in with a method that the agent has not advertised, or that needs a terminal."""
    peer = _receiver(observed)
    if observed.type_name not in ("AuthenticateRequest", "LoginAuthRequest") or observed.typed is None:
        return
    if isinstance(peer, AgentPeer) and (reason := peer.login_refusal(observed.typed.method_id)):
        yield remark(observed, "capability.login", reason, "methodId")


def _receiver(observed: ObservedMessage) -> Peer | None:
    if observed.sender is None:
        return None
    return observed.before.agent if observed.sender == "client" else observed.before.client


def _refusal(peer: Peer, observed: ObservedMessage, method: str, assumed: set[str]) -> CapabilityNotAdvertised | None:
    """Return why a message must not be sent, even if the *assumed* capabilities were advertised."""
    try:
        if observed.typed is None:
            check_method(peer, method, assume=assumed)
        else:
            check_message(peer, observed.typed, method=method, assume=assumed)
    except CapabilityNotAdvertised as error:
        return error
    except (AcpError, ValueError):  # another rule reports unknown methods
        return None
    return None


def _steps(field: str) -> Iterator[str | int]:
    """Yield the steps of a path such as `prompt[2]` or `systemPrompt.mode`."""
    for step in field.replace("[", ".").replace("]", "").split("."):
        yield int(step) if step.isdigit() else step
