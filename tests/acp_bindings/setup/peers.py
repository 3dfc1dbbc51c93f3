"""Agents and clients as described by their part of `initialize`."""

from collections.abc import Mapping
from typing import Any

import pytest

from acp_bindings import DecodeError, v1, v1_unstable, v2, v2_unstable
from acp_bindings.decoding import decode
from acp_bindings.setup import AgentPeer, ClientPeer

PACKAGES: dict[str, Any] = {"v1": v1, "v1_unstable": v1_unstable, "v2": v2, "v2_unstable": v2_unstable}
FIRST: list[Any] = [v1, v1_unstable]
SECOND: list[Any] = [v2, v2_unstable]
INFO = {"name": "it", "version": "1"}


def agent(package: Any = v1, capabilities: Mapping[str, Any] | None = None, auth_methods: Any = ()) -> AgentPeer:
    """Return an agent that advertised *capabilities*, as JSON."""
    first = package in (v1, v1_unstable)
    said = {"agentCapabilities" if first else "capabilities": capabilities or {}, "authMethods": list(auth_methods)}
    named = {"agentInfo" if first else "info": INFO}
    return AgentPeer.read({"protocolVersion": 1 if first else 2, **said, **named}, [package])


def client(package: Any = v1, capabilities: Mapping[str, Any] | None = None) -> ClientPeer:
    """Return a client that advertised *capabilities*, as JSON."""
    first = package in (v1, v1_unstable)
    said = {"clientCapabilities" if first else "capabilities": capabilities or {}}
    named = {"clientInfo" if first else "info": INFO}
    request = {"protocolVersion": 1 if first else 2, **said, **named}
    return ClientPeer.of(package, decode(package.InitializeRequest, request))


def issues(type_: Any, raw: Any) -> set[tuple[Any, ...]]:
    """Return the paths of the errors in *raw*."""
    with pytest.raises(DecodeError) as raised:
        decode(type_, raw)
    return {each.path for each in raised.value.issues}
