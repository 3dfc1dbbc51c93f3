"""Valid conversations have no findings."""

from typing import Any

import pytest

from acp_bindings import v1_unstable
from acp_bindings.check import Check
from tests.acp_bindings.check.conversations import (
    AGENT,
    CLEAN,
    STDIO,
    USER,
    as_lines,
    call,
    check,
    error,
    load,
    new,
    opening,
    opening_v2,
    prompt,
    result,
    rules,
    the,
    update,
    where,
)

STDIO_V2 = {"type": "stdio", "name": "files", "command": "/usr/bin/files-mcp"}
CLEAN_V2 = [
    *opening_v2(session={"mcp": {"stdio": {}}}),
    call("session/new", {"cwd": "/home/me", "mcpServers": [STDIO_V2]}, id=1),
    result(1, {"sessionId": "s1", "configOptions": [], "availableCommands": []}),
    call("session/resume", {"sessionId": "s1", "cwd": "/home/me", "replayFrom": {"type": "start"}}, id=2),
    call("session/update", {"sessionId": "s1", "update": {"sessionUpdate": "state_update", "state": "idle"}}),
    result(2, {}),
]


BOTH_ASK = [
    *opening(),
    *new(),
    call("session/prompt", {"sessionId": "s1", "prompt": []}, id=7),
    call("fs/read_text_file", {"sessionId": "s1", "path": "/home/me/x"}, id=7),
]
PROMPT_ENDED = result(7, {"stopReason": "end_turn"})
CLOSED = [call("session/close", {"sessionId": "s1"}, id=5), result(5, {})]
AGAIN = load(6, update(USER, "hello"), update(AGENT, "hi"))
ASKED_OF_MCP = call("mcp/message", {"serverId": "1", "requestId": "r", "method": "tools/list"}, id="m")
TOLD_TO_MCP = call("mcp/message", {"serverId": "1", "requestId": "r", "method": "notifications/progress"})

VALID: dict[str, list[Any]] = {
    "a whole conversation": CLEAN,
    "ids of both sides, with responses that show by their results which they answer": [
        *BOTH_ASK,
        PROMPT_ENDED,
        result(7, {"content": "late"}),
    ],
    "ids of both sides, with the response to the latest first": [*BOTH_ASK, error(7, -32000), PROMPT_ENDED],
    "an extension method": [*opening(), call("_acme/do", id="x"), result("x", {"any": "thing"})],
    "another connection": [*opening(), *new(), *prompt(2), *opening(), *AGAIN, *prompt(2)],
    "initialize again after a failure": [
        call("initialize", opening()[0]["params"], id=5),
        error(5, -32000),
        *opening(),
        *new(),
    ],
    "an error without an id, which responds to an unreadable message": [*opening(), error(None, -32700)],
    "a request of v1 with the id null": [*opening(), *({**each, "id": None} for each in new()), *prompt(2)],
    "a closed session that is loaded again": [*opening(), *new(), *prompt(2), *CLOSED, *AGAIN, *prompt(7)],
    "a failed request whose id is used again": [*opening(), new()[0], error(1, -32000), *new()],
}

VALID_IN_UNSTABLE: dict[str, list[Any]] = {
    "no initialize, because the recording begins late": [*new(), *prompt(2)],
    "a session that was opened before the recording": prompt(2),
    "messages of MCP from either side": [
        *opening(agent={"mcpCapabilities": {"acp": True}}),
        ASKED_OF_MCP,
        TOLD_TO_MCP,
        result("m", {"result": {"tools": []}}),
    ],
}


@pytest.mark.parametrize("conversation", VALID.values(), ids=VALID)
def test_a_valid_conversation_has_no_findings(conversation: list[Any]) -> None:
    assert check(*conversation) == []


@pytest.mark.parametrize("conversation", VALID_IN_UNSTABLE.values(), ids=VALID_IN_UNSTABLE)
def test_a_conversation_that_is_valid_in_the_named_protocol_has_no_findings(conversation: list[Any]) -> None:
    assert check(*conversation, protocol=v1_unstable) == []


def test_a_finished_check_has_kind_messages_and_versions() -> None:
    inspected = Check(as_lines([*opening(), *new(cwd=".", mcpServers=[STDIO | {"command": "npx"}]), b"5"]))
    assert len(list(inspected)) == 3
    assert (inspected.kind, inspected.messages, inspected.read_as) == ("conversation", 5, ["v1"])
    assert (inspected.errors, inspected.warnings) == (2, 1)


def test_the_value_at_a_place_is_shown_on_request_and_truncated() -> None:
    talk = [*opening(), *new(cwd=".")]
    assert str(the("path.cwd", *talk, show_values=True)).endswith(' (it is ".")')
    assert "(it is" not in str(the("path.cwd", *talk))
    found = the("path.cwd", *opening(), *new(cwd="x" * 300), show_values=True)
    assert found.value == '"' + "x" * 199 + "…"


def test_a_valid_conversation_of_v2_has_no_errors() -> None:
    assert [each for each in check(*CLEAN_V2) if each.severity == "error"] == []


def test_an_invalid_response_to_ids_of_both_sides_is_matched_to_the_latest_request() -> None:
    (found,) = check(*BOTH_ASK, result(7, {"text": "x"}), PROMPT_ENDED)
    assert (found.rule, found.sender, where(found)) == ("schema.result", "client", "7 result.content")


def test_another_connection_knows_the_sessions_of_the_first() -> None:
    assert rules(*opening(), *new(), *prompt(2), *opening(), *load(1)) == ["lifecycle.replay-incomplete"]


@pytest.mark.parametrize("message", [each for each in [*CLEAN, *CLEAN_V2] if "method" in each])
def test_a_single_message_is_not_checked_against_a_conversation(message: dict[str, Any]) -> None:
    assert [each for each in check(message) if each.rule.startswith(("lifecycle.un", "lifecycle.c", "cap"))] == []
