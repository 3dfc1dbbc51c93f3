"""Omitted fields read as their default: a new object each time, the same as in the constructor, and not written."""

from typing import Any

import pytest
from pydantic import BaseModel

from acp_bindings import decode, encode, v1

OMITTED: list[tuple[type[BaseModel], str, BaseModel]] = [
    (v1.InitializeResponse, '{"protocolVersion":1}', v1.InitializeResponse(protocol_version=1)),
    (v1.InitializeRequest, '{"protocolVersion":1}', v1.InitializeRequest(protocol_version=1)),
    (v1.NewSessionRequest, '{"cwd":"/","mcpServers":[]}', v1.NewSessionRequest(cwd="/", mcp_servers=[])),
    (v1.ToolCall, '{"toolCallId":"t","title":"T"}', v1.ToolCall(tool_call_id="t", title="T")),
    (v1.AuthMethodTerminal, '{"id":"a","name":"A"}', v1.AuthMethodTerminal(id="a", name="A")),
]


@pytest.mark.parametrize(("type_", "text", "made"), OMITTED)
def test_omitted_fields_read_as_the_constructor_leaves_them(type_: Any, text: str, made: BaseModel) -> None:
    read: BaseModel = decode(type_, text)
    assert vars(read) == vars(made)
    assert [type(value) for value in vars(read).values()] == [type(value) for value in vars(made).values()]
    assert encode(read) == text.encode()


@pytest.mark.parametrize("text", ['{"protocolVersion":1}', '{"protocolVersion":1,"agentCapabilities":5}'])
def test_default_objects_are_created_separately_at_every_level(text: str) -> None:
    one, other = decode(v1.InitializeResponse, text), decode(v1.InitializeResponse, text)
    one.agent_capabilities.mcp_capabilities.http = True
    assert not other.agent_capabilities.mcp_capabilities.http
    assert type(other.agent_capabilities.mcp_capabilities) is v1.McpCapabilities


@pytest.mark.parametrize("servers", ["[]", "null"], ids=["omitted default", "null as empty"])
def test_default_lists_are_created_separately(servers: str) -> None:
    text = f'{{"cwd":"/","mcpServers":{servers}}}'
    one, other = decode(v1.NewSessionRequest, text), decode(v1.NewSessionRequest, text)
    one.additional_directories.append("/more")
    one.mcp_servers.append(v1.McpServerStdio(name="s", command="/s", args=[], env=[]))
    assert (other.additional_directories, other.mcp_servers) == ([], [])


def test_a_json_schema_states_the_default_of_a_list_and_of_a_map() -> None:
    members = v1.AuthMethodTerminal.model_json_schema()["properties"]
    assert (members["args"]["default"], members["env"]["default"]) == ([], {})
