"""Agents as described by their response to `initialize`: with all capabilities, and with none."""

from typing import Any

from acp_bindings import v1, v1_unstable, v2, v2_unstable
from acp_bindings.setup._peer import AgentPeer

V1_SESSION: dict[str, Any] = {
    name: {} for name in ("list", "resume", "close", "delete", "fork", "additionalDirectories")
}
V1_ALL: dict[str, Any] = {
    "loadSession": True,
    "mcpCapabilities": {"http": True, "sse": True, "acp": True},
    "sessionCapabilities": V1_SESSION,
}
V2_ALL: dict[str, Any] = {
    "session": {
        "mcp": {"stdio": {}, "http": {}, "acp": {}},
        "delete": {},
        "fork": {},
        "additionalDirectories": {},
    }
}


def agent(protocol: Any, capabilities: dict[str, Any]) -> AgentPeer:
    first = protocol in (v1, v1_unstable)
    info = {"name": "agent", "version": "1"}
    answer: dict[str, Any] = (
        {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": capabilities}
        if first
        else {"protocolVersion": 2, "info": info, "capabilities": capabilities}
    )
    return AgentPeer.read(answer, [protocol])


ABLE = {each.__name__.rpartition(".")[2]: agent(each, V1_ALL) for each in (v1, v1_unstable)} | {
    each.__name__.rpartition(".")[2]: agent(each, V2_ALL) for each in (v2, v2_unstable)
}
"""An agent of each package with all capabilities that the package defines."""

BARE = {each.__name__.rpartition(".")[2]: agent(each, {}) for each in (v1, v1_unstable)} | {
    each.__name__.rpartition(".")[2]: agent(each, {"session": {"mcp": {"stdio": {}}}}) for each in (v2, v2_unstable)
}
"""An agent of each package with only the capabilities that every agent has."""
