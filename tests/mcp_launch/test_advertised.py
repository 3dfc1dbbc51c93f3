"""The MCP capabilities that an agent advertises, for each protocol version."""

from __future__ import annotations

from typing import Any

import pytest

from acp_bindings import encode, v1, v1_unstable, v2, v2_unstable
from acp_bindings.setup import AgentHandshake, ClientHandshake
from acp_bindings.setup.capabilities import AgentCapability
from mcp_launch import UnusableInput, capabilities


@pytest.mark.requirement("R36", "R37", "R72")
@pytest.mark.parametrize("protocol", [v1, v1_unstable])
def test_v1_advertises_http_and_sse_only_on_request(protocol: Any) -> None:
    assert capabilities(protocol.McpCapabilities) == protocol.McpCapabilities(http=True, sse=False)
    every = capabilities(protocol.McpCapabilities, transports={"stdio", "http", "sse"})
    assert every == protocol.McpCapabilities(http=True, sse=True)
    assert capabilities(protocol.McpCapabilities, transports=[]) == protocol.McpCapabilities(http=False, sse=False)


@pytest.mark.requirement("R70", "R72", "D15")
@pytest.mark.parametrize("protocol", [v2, v2_unstable])
def test_v2_advertises_stdio_and_http_but_not_sse(protocol: Any) -> None:
    both = protocol.McpCapabilities(stdio=protocol.McpStdioCapabilities(), http=protocol.McpHttpCapabilities())
    assert capabilities(protocol.McpCapabilities) == both
    assert capabilities(protocol.McpCapabilities, transports=("sse", "stdio", "http")) == both
    only = capabilities(protocol.McpCapabilities, transports={"stdio", "sse"})
    assert only == protocol.McpCapabilities(stdio=protocol.McpStdioCapabilities())


def test_capabilities_fit_into_the_response_to_initialize() -> None:
    old = v1.InitializeResponse(
        protocol_version=1, agent_capabilities=v1.AgentCapabilities(mcp_capabilities=capabilities(v1.McpCapabilities))
    )
    session = v2.SessionCapabilities(mcp=capabilities(v2.McpCapabilities))
    new = v2.InitializeResponse(
        protocol_version=2,
        info=v2.Implementation(name="agent", version="1"),
        capabilities=v2.AgentCapabilities(session=session),
    )

    assert encode(old) == b'{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true,"sse":false}}}'
    assert b'"capabilities":{"session":{"mcp":{"stdio":{},"http":{}}}}' in encode(new)


@pytest.mark.requirement("R36", "R37", "R70", "R72")
@pytest.mark.parametrize("protocol", [v1, v1_unstable, v2, v2_unstable])
def test_capability_names_work_in_the_handshake_of_any_version(protocol: Any) -> None:
    info = v1.Implementation(name="agent", version="1")
    sessions: set[AgentCapability] = {"session.close", "session.list", "session.load", "session.resume"}
    handshake = AgentHandshake(info=info, protocols=[protocol], capabilities=sessions | capabilities())
    request = ClientHandshake(info=info, protocols=[protocol]).request()

    agent = handshake.answer(encode(request)).agent

    assert {name for name in agent.names() if name.startswith("mcp.")} == {"mcp.stdio", "mcp.http"}
    assert capabilities(transports={"sse", "stdio"}) == {"mcp.sse", "mcp.stdio"}


@pytest.mark.parametrize(("transports", "named"), [(["http", "acp"], "acp"), ("stdioo", "stdioo"), ({"HTTP"}, "HTTP")])
def test_an_unknown_transport_is_refused(transports: Any, named: str) -> None:
    with pytest.raises(UnusableInput, match=f'unknown transport "{named}"; the transports are stdio, http, sse'):
        capabilities(v1.McpCapabilities, transports=transports)


def test_a_string_counts_as_one_transport() -> None:
    text: Any = "stdio"

    assert capabilities(v2.McpCapabilities, transports=text) == v2.McpCapabilities(stdio=v2.McpStdioCapabilities())
