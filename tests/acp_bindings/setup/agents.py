"""Agents as described by their response to `initialize`: with all capabilities, and with none."""

from typing import Any

from tests.acp_bindings.setup.peers import PACKAGES, agent

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


ABLE = {name: agent(each, V1_ALL if name in ("v1", "v1_unstable") else V2_ALL) for name, each in PACKAGES.items()}
"""An agent of each package with all capabilities that the package defines."""

BARE = {
    name: agent(each, {} if name in ("v1", "v1_unstable") else {"session": {"mcp": {"stdio": {}}}})
    for name, each in PACKAGES.items()
}
"""An agent of each package with only the capabilities that every agent has."""
