"""Messages as other programs write them: each is read without loss and without findings."""

from typing import Any

import pytest

from acp_bindings import Finding, decode, encode, v1
from acp_bindings.jsonrpc import Codec, Request, Response
from acp_bindings.setup import AgentPeer

SERVER: dict[str, Any] = {"name": "files", "command": "/bin/files", "args": [], "env": []}
WRITTEN: dict[str, tuple[Any, dict[str, Any]]] = {
    # joshgarnett/agent-client-protocol-go: no member is ever left out
    "go-sdk-load": (v1.LoadSessionRequest, {"cwd": "/p", "mcpServers": [], "sessionId": "sess_1"}),
    # @agentclientprotocol/sdk 0.14.1: what its user passes, as it is
    "typescript-sdk-load": (v1.LoadSessionRequest, {"sessionId": "sess_1", "cwd": "/p", "mcpServers": [SERVER]}),
    # The Rust SDK, as Zed uses it: what is false is written too, and custom capabilities are in `_meta`
    "rust-sdk-initialize": (
        v1.InitializeRequest,
        {
            "protocolVersion": 1,
            "clientCapabilities": {
                "fs": {"readTextFile": True, "writeTextFile": True},
                "terminal": True,
                "_meta": {"terminal_output": True, "terminal-auth": True},
            },
            "clientInfo": {"name": "zed", "title": "Zed", "version": "0.220.0"},
        },
    ),
    # claude-code-acp 0.16.0: capabilities that a schema of its time had no word for, models beside the modes
    "claude-code-acp-initialize": (
        v1.InitializeResponse,
        {
            "protocolVersion": 1,
            "agentCapabilities": {
                "promptCapabilities": {"image": True, "embeddedContext": True},
                "mcpCapabilities": {"http": True, "sse": True},
                "loadSession": True,
                "sessionCapabilities": {"fork": {}, "list": {}, "resume": {}},
            },
            "agentInfo": {"name": "@zed-industries/claude-code-acp", "title": "Claude Code", "version": "0.16.0"},
            "authMethods": [
                {"description": "Run `claude /login` in the terminal", "name": "Log in", "id": "claude-login"}
            ],
        },
    ),
    "claude-code-acp-new": (
        v1.NewSessionResponse,
        {
            "sessionId": "019a5c1e-8f1f-7e4b-9a39-0a9a52e6a1f0",
            "models": {"availableModels": [{"modelId": "default", "name": "Default"}], "currentModelId": "default"},
            "modes": {"currentModeId": "default", "availableModes": [{"id": "default", "name": "Always Ask"}]},
        },
    ),
    # The Claude Agent SDK behind it reports its actions as tool calls with additional fields.
    "claude-agent-sdk-tool": (
        v1.SessionNotification,
        {
            "sessionId": "s",
            "update": {
                "sessionUpdate": "tool_call",
                "toolCallId": "toolu_01",
                "title": "Read a.txt",
                "kind": "read",
                "status": "pending",
                "rawInput": {"file_path": "/p/a.txt"},
                "content": [],
                "locations": [{"path": "/p/a.txt", "line": 0}],
                "_meta": {"claudeCode": {"toolName": "Read"}},
            },
        },
    ),
}


@pytest.mark.requirement("R106")
@pytest.mark.parametrize("name", WRITTEN)
def test_messages_of_other_programs_are_preserved(name: str) -> None:
    type_, raw = WRITTEN[name]
    found: list[Finding] = []
    read = decode(type_, raw, findings=found)
    assert found == []
    assert decode(dict[str, Any], encode(read)) == raw


@pytest.mark.requirement("R67", "R106")
def test_a_load_is_written_as_the_go_sdk_writes_it() -> None:
    _, raw = WRITTEN["go-sdk-load"]
    built = v1.LoadSessionRequest(cwd="/p", mcp_servers=[], session_id="sess_1")
    assert decode(dict[str, Any], encode(built)) == raw


@pytest.mark.requirement("R92", "R106")
def test_claude_code_acp_advertises_session_load() -> None:
    peer = AgentPeer.read(WRITTEN["claude-code-acp-initialize"][1], [v1])
    assert peer.names() >= {"session.load", "session.resume", "mcp.http", "mcp.sse", "prompt.image"}
    assert str(peer) == "Claude Code 0.16.0 (ACP v1)"
    assert peer.findings == ()


@pytest.mark.requirement("R106")
def test_the_missing_field_in_a_load_of_liminal_builder_is_named() -> None:
    agent = Codec(v1, role="agent")
    line = b'{"jsonrpc":"2.0","id":3,"method":"session/load","params":{"sessionId":"s","cwd":"/p"}}'
    bad: Any = agent.read(line)
    assert [(each.path, each.rule) for each in bad.issues] == [(("mcpServers",), "missing")]
    assert isinstance(agent.read(line.replace(b'"/p"', b'"/p","mcpServers":[]')), Request)


@pytest.mark.requirement("R106")
def test_a_null_response_of_claude_code_acp_to_a_load_is_accepted() -> None:
    client = Codec(v1, role="client")
    sent = client.request(v1.LoadSessionRequest(session_id="s", cwd="/p", mcp_servers=[]))
    answer = client.read(b'{"jsonrpc":"2.0","id":%d,"result":null}' % sent.id)
    assert answer == Response(sent.id, "session/load", v1.LoadSessionResponse())
