"""MCP servers reached through ACP itself, which the unstable packages define and this package does not run."""

from typing import Any

import pytest

from acp_bindings import DecodeError, decode, v1, v1_unstable, v2, v2_unstable
from acp_bindings.jsonrpc import Codec, ErrorResponse, Request
from acp_bindings.setup import CapabilityNotAdvertised, McpServersRefused, gate_mcp_servers, new_session
from acp_bindings.setup._gates import check_method
from tests.acp_bindings.setup.peers import agent

UNSTABLE: list[Any] = [v1_unstable, v2_unstable]
ACP = {"type": "acp", "name": "inner", "serverId": "s1"}
ADVERTISED: dict[Any, Any] = {
    v1_unstable: {"mcpCapabilities": {"acp": True}},
    v2_unstable: {"session": {"mcp": {"acp": {}}}},
}


@pytest.mark.requirement("X13")
@pytest.mark.parametrize("protocol", UNSTABLE)
def test_an_acp_server_has_an_id_used_in_its_messages(protocol: Any) -> None:
    assert decode(protocol.McpServer, ACP) == protocol.McpServerAcp(name="inner", server_id="s1")
    for type_, raw in (
        (protocol.McpServer, {"type": "acp", "name": "inner"}),
        (protocol.MessageMcpRequest, {"requestId": "r1", "method": "tools/list"}),
        (protocol.MessageMcpNotification, {"requestId": "r1", "method": "notifications/progress"}),
    ):
        with pytest.raises(DecodeError) as raised:
            decode(type_, raw)
        assert [each.path for each in raised.value.issues] == [("serverId",)]


@pytest.mark.requirement("X13")
@pytest.mark.parametrize("protocol", UNSTABLE)
def test_mcp_message_is_the_only_method_for_acp_servers(protocol: Any) -> None:
    assert [name for name in protocol.METHODS if name.startswith("mcp/")] == ["mcp/message"]
    assert protocol.METHODS["mcp/message"].request.params is protocol.MessageMcpRequest
    assert not any(name.startswith("mcp/") for stable in (v1, v2) for name in stable.METHODS)


@pytest.mark.requirement("X13")
@pytest.mark.parametrize("code", [-32602, -32800, -33000, -33001, -33002])
@pytest.mark.parametrize("protocol", UNSTABLE)
def test_an_error_of_the_acp_transport_is_returned_unchanged(protocol: Any, code: int) -> None:
    asks, answers = Codec(protocol, role="agent"), Codec(protocol, role="client")
    sent = asks.request(protocol.MessageMcpRequest(server_id="s1", request_id="r1", method="tools/list"))
    request = answers.read(sent.line)
    assert isinstance(request, Request)
    failed = asks.read(answers.fail(request, code, "no", data={"serverId": "s1"}))
    assert isinstance(failed, ErrorResponse)
    error: Any = failed.error
    assert (failed.method, error.code, error.data) == ("mcp/message", code, {"serverId": "s1"})


@pytest.mark.requirement("X13")
@pytest.mark.parametrize("protocol", UNSTABLE)
def test_acp_servers_require_the_capability(protocol: Any) -> None:
    servers = [decode(protocol.McpServer, ACP)]
    able = agent(protocol, ADVERTISED[protocol])
    assert gate_mcp_servers(able, servers).accepted == servers
    assert new_session(able, cwd="/", mcp_servers=servers).mcp_servers == servers
    check_method(able, "mcp/message")
    with pytest.raises(McpServersRefused) as raised:
        gate_mcp_servers(agent(protocol), servers)
    assert [each.capability for each in raised.value.refused] == ["mcp.acp"]
    with pytest.raises(CapabilityNotAdvertised):
        check_method(agent(protocol), "mcp/message")
