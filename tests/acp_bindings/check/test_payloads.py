"""Payloads without their messages: detecting the type, and reporting what is invalid."""

import json
from typing import Any

import pytest

from acp_bindings import v2
from acp_bindings.check import Check, Found, Unusable
from tests.acp_bindings.check.conversations import CLEAN, HTTP, INFO, STDIO, as_lines, call, opening, where


def check(value: Any, **options: Any) -> list[Found]:
    return list(Check([json.dumps(value).encode()], **options))


def read_as(value: Any, **options: Any) -> list[str]:
    inspected = Check([json.dumps(value).encode()], **options)
    list(inspected)
    return inspected.read_as


@pytest.mark.parametrize(
    ("payload", "type_"),
    [
        ({"cwd": "/x", "mcpServers": []}, "v1.NewSessionRequest"),
        ({"cwd": "/x", "mcpServers": [], "sessionId": "s"}, "v1.LoadSessionRequest"),
        ({"cwd": "/x"}, "v1.ListSessionsRequest"),
        ({"mcpServers": {}}, "v1.NewSessionRequest"),
        ({"sessionId": "s", "prompt": []}, "v1.PromptRequest"),
        ({"protocolVersion": 1, "clientInfo": INFO}, "v1.InitializeRequest"),
        ({"protocolVersion": 1, "agentInfo": INFO}, "v1.InitializeResponse"),
        ({"sessionId": "s", "update": {"sessionUpdate": "plan", "entries": []}}, "v1.SessionNotification"),
        ({"stopReason": "end_turn"}, "v1.PromptResponse"),
        ({"sessionId": "s", "command": "ls"}, "v1.CreateTerminalRequest"),
        ({"requestId": 1, "message": "?", "mode": "url", "url": "https://x"}, "v1.CreateElicitationRequest"),
        ({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}}, "v1.SessionUpdate"),
        (STDIO, "v1.McpServer"),
        ([STDIO, HTTP], "v1.McpServers"),
        ([], "v1.McpServers"),
    ],
)
def test_the_fields_of_a_payload_determine_its_type(payload: Any, type_: str) -> None:
    (found,) = read_as(payload)
    assert found.split(" or ")[0] == type_


def test_all_matching_types_of_a_payload_are_reported() -> None:
    (found,) = read_as({"sessionId": "s"})
    assert found.count(" or ") == 3


@pytest.mark.parametrize("payload", [{}, {"a": 1}, 5, "text", None, True, [5]])
def test_a_payload_of_an_unrecognizable_type_is_unusable(payload: Any) -> None:
    with pytest.raises(Unusable, match="--type"):
        check(payload)


@pytest.mark.parametrize("file", [{"mcpServers": {"a": STDIO}}, {"servers": {"a": HTTP}, "inputs": []}])
def test_the_file_of_a_client_cannot_be_used(file: Any) -> None:
    with pytest.raises(Unusable, match=r"^this is a map of MCP servers, .* mcp-launch check reads the map$"):
        check(file)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("v1.NewSesionRequest", "did you mean NewSessionRequest"),
        ("v7.NewSessionRequest", "v2_unstable"),
        ("v1.METHODS", "no type"),
        ("", "no type"),
    ],
)
def test_an_unknown_type_name_is_an_error(name: str, told: str) -> None:
    with pytest.raises(Unusable, match=told):
        check({}, type=name)


def test_the_package_of_a_type_defaults_to_the_protocol() -> None:
    assert read_as({"cwd": "/x"}, type="NewSessionRequest", protocol=v2) == ["v2.NewSessionRequest"]


def test_an_update_with_a_command_is_not_taken_for_a_server() -> None:
    update = {"sessionUpdate": "terminal_update", "terminalId": "t", "command": "ls"}
    assert read_as(update, protocol=v2) == ["v2.SessionUpdate"]


def test_a_single_message_cannot_come_too_early() -> None:
    inspected = Check(as_lines([call("session/new", {"cwd": "/x", "mcpServers": []}, id=1)]))
    assert list(inspected) == []
    assert (inspected.kind, inspected.messages, inspected.read_as) == ("messages", 1, ["v1"])
    (found,) = check(call("session/new", {"cwd": ".", "mcpServers": []}, id=1))
    assert (found.rule, where(found)) == ("path.cwd", "1 params.cwd")


SECOND = STDIO | {"name": "b", "command": "npx"}
ERROR: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}}


CASES: list[tuple[Any, str | None, list[str]]] = [
    (call("_acme/new", {"cwd": ".", "mcpServers": []}, id=1), "v1.NewSessionRequest", ["path.cwd 1 params.cwd"]),
    (
        {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": 5}},
        "v1.NewSessionResponse",
        ["schema.payload 1 result.sessionId"],
    ),
    (ERROR, None, []),
    (ERROR | {"error": {"code": -1}}, None, ["schema.payload 1 error.message"]),
    ({"id": 1, "result": {"stopReason": "end_turn"}}, None, ["schema.message 1"]),
    ({"id": 1, "method": "session/list"}, None, ["schema.message 1"]),
    (call("session/prompt", {"sessionId": "s", "prompt": []}, id=1), None, []),
    ([STDIO, SECOND | {"env": dict[str, str]()}], None, ["schema.server-map 1 [1].env", "path.command 1 [1].command"]),
    (SECOND, None, ["path.command 1 command"]),
    (
        {"sessionId": "s", "cwd": "/x", "mcpServers": [SECOND]},
        "v1_unstable.ForkSessionRequest",
        ["path.command 1 mcpServers[0].command"],
    ),
    ([{"cwd": "/x", "mcpServers": []}, {"cwd": ".", "mcpServers": []}], None, ["path.cwd 1 [1].cwd"]),
    ({"cwd": "/x", "mcpServers": []}, None, []),
    ({"cwd": "/x", "sessionId": "s"}, "LoadSessionRequest", ["schema.servers-missing 1 mcpServers"]),
    ({"cwd": "/x"}, "v1.LoadSessionRequest", ["schema.servers-missing 1 mcpServers", "schema.payload 1 sessionId"]),
]


@pytest.mark.requirement("R63", "R64")
@pytest.mark.parametrize(("value", "type_", "findings"), CASES)
def test_payloads_and_single_messages_are_checked_without_a_conversation(
    value: Any, type_: str | None, findings: list[str]
) -> None:
    assert [f"{each.rule} {where(each)}" for each in check(value, type=type_)] == findings


def test_a_list_that_begins_with_initialize_is_a_conversation() -> None:
    inspected = Check([json.dumps(CLEAN).encode()])
    assert list(inspected) == []
    assert inspected.kind == "conversation"
    talk = [*opening(agent={}), call("session/list", {}, id=1)]
    assert [(each.rule, each.path) for each in check(talk)] == [
        ("capability.list", (2,)),
        ("lifecycle.unanswered", (2,)),
    ]
    assert "in the message after it" in check([*talk, call("session/list", {}, id=2)])[-2].message


def test_findings_in_a_document_have_line_numbers() -> None:
    document = json.dumps({"cwd": ".", "mcpServers": [STDIO | {"name": "my files", "command": "npx"}]}, indent=1)
    lines = document.splitlines(keepends=True)
    found = list(Check(each.encode() for each in lines))
    assert [lines[(each.line or 0) - 1].strip() for each in found] == [
        '"cwd": ".",',
        '"name": "my files",',
        '"command": "npx",',
    ]


def test_payloads_on_separate_lines_are_checked_as_the_named_type() -> None:
    lines = [b'{"cwd": "/x", "mcpServers": []}\n', b'{"cwd": ".", "mcpServers": []}\n']
    found = list(Check([*lines, b"no json\n"], type="v1.NewSessionRequest"))
    assert [(each.rule, where(each)) for each in found] == [("path.cwd", "2 cwd"), ("schema.json", "3")]
