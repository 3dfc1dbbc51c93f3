"""Valid conversations have no findings."""

from typing import Any

import pytest

from acp_bindings import v1_unstable
from acp_bindings.check import Check
from tests.acp_bindings.check.conversations import (
    AGENT,
    CLEAN,
    HTTP,
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


@pytest.mark.parametrize("conversation", [CLEAN, opening(), [*opening(), *new(mcpServers=[STDIO, HTTP])]])
def test_a_valid_conversation_has_no_findings(conversation: list[object]) -> None:
    assert check(*conversation) == []


def test_a_finished_check_has_kind_messages_and_versions() -> None:
    inspected = Check(as_lines([*opening(), *new(cwd=".", mcpServers=[STDIO | {"command": "npx"}]), b"5"]))
    assert len(list(inspected)) == 3
    assert (inspected.kind, inspected.messages, inspected.read_as) == ("conversation", 5, ["v1"])
    assert (inspected.errors, inspected.warnings, inspected.unusable) == (2, 1, None)


def test_the_value_at_a_place_is_shown_on_request_and_truncated() -> None:
    talk = [*opening(), *new(cwd=".")]
    assert str(the("path.cwd", *talk, show_values=True)).endswith(' (it is ".")')
    assert "(it is" not in str(the("path.cwd", *talk))
    found = the("path.cwd", *opening(), *new(cwd="x" * 300), show_values=True)
    assert found.value == '"' + "x" * 199 + "…"


def test_a_valid_conversation_of_v2_has_no_errors() -> None:
    assert [each for each in check(*CLEAN_V2) if each.severity == "error"] == []


def test_responses_to_ids_used_by_both_sides_are_matched_by_result() -> None:
    talk = [
        *opening(),
        *new(),
        call("session/prompt", {"sessionId": "s1", "prompt": []}, id=7),
        call("fs/read_text_file", {"sessionId": "s1", "path": "/home/me/x"}, id=7),
        result(7, {"stopReason": "end_turn"}),
        result(7, {"content": "late"}),
    ]
    assert check(*talk) == []


def test_ambiguous_responses_are_matched_to_the_side_that_asked_last() -> None:
    talk = [
        *opening(),
        *new(),
        call("session/prompt", {"sessionId": "s1", "prompt": []}, id=7),
        call("fs/read_text_file", {"sessionId": "s1", "path": "/home/me/x"}, id=7),
    ]
    answer = result(7, {"stopReason": "end_turn"})
    assert check(*talk, error(7, -32000), answer) == []
    (found,) = check(*talk, result(7, {"text": "x"}), answer)
    assert (found.rule, found.sender, where(found)) == ("schema.result", "client", "7 result.content")


def test_a_wrapper_determines_the_sender() -> None:
    talk = [
        {"direction": "agent" if "result" in each else "client->agent", "message": each}
        for each in [*opening(), *new()]
    ]
    assert check(*talk) == []


def test_an_extension_method_of_either_side_matches_its_response() -> None:
    assert check(*opening(), call("_acme/do", id="x"), result("x", {"any": "thing"})) == []


def test_initialize_on_a_new_connection_resets_the_check() -> None:
    session = [*new(), *prompt(2)]
    again = load(1, update(USER, "hello"), update(AGENT, "hi"))
    assert check(*opening(), *session, *opening(), *again, *prompt(2)) == []
    assert rules(*opening(), *session, *opening(), *load(1)) == ["lifecycle.replay-incomplete"]


def test_a_recording_that_begins_late_is_read_by_the_protocol_that_is_named() -> None:
    assert check(*new(), *prompt(2), protocol=v1_unstable) == []


def test_mcp_messages_may_come_from_either_side() -> None:
    asked = call("mcp/message", {"serverId": "1", "requestId": "r", "method": "tools/list"}, id="m")
    told = call("mcp/message", {"serverId": "1", "requestId": "r", "method": "notifications/progress"})
    talk = [*opening(agent={"mcpCapabilities": {"acp": True}}), asked, told, result("m", {"result": {"tools": []}})]
    assert check(*talk, protocol=v1_unstable) == []


def test_initialize_may_be_repeated_after_a_failure() -> None:
    assert check(call("initialize", opening()[0]["params"], id=5), error(5, -32000), *opening(), *new()) == []


def test_an_error_without_an_id_responds_to_an_unreadable_message() -> None:
    assert check(*opening(), error(None, -32700)) == []


def test_sessions_opened_before_a_partial_recording_are_not_reported() -> None:
    assert check(*prompt(2), protocol=v1_unstable) == []


def test_a_session_that_is_closed_may_be_loaded_again() -> None:
    closed = [call("session/close", {"sessionId": "s1"}, id=5), result(5, {})]
    again = load(6, update(USER, "hello"), update(AGENT, "hi"))
    assert check(*opening(), *new(), *prompt(2), *closed, *again, *prompt(7)) == []


@pytest.mark.parametrize("message", [each for each in [*CLEAN, *CLEAN_V2] if "method" in each])
def test_a_single_message_is_not_checked_against_a_conversation(message: dict[str, Any]) -> None:
    assert [each for each in check(message) if each.rule.startswith(("lifecycle.un", "lifecycle.c", "cap"))] == []


@pytest.mark.parametrize("kind", ["agent_message", "user_message", "state_update"])
def test_updates_of_another_version_are_unknown_updates(kind: str) -> None:
    update = call("session/update", {"sessionId": "s1", "update": {"sessionUpdate": kind, "state": "running"}})
    assert check(*opening(), *new(), update, *prompt(2)) == []


def test_a_request_that_fails_leaves_nothing_behind() -> None:
    failed = [call("session/new", {"cwd": "/home/me", "mcpServers": []}, id=1), error(1, -32000)]
    assert check(*opening(), *failed, *new(1)) == []
