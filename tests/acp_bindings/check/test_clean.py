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
def test_nothing_is_found_in_a_conversation_that_is_right(conversation: list[object]) -> None:
    assert check(*conversation) == []


def test_a_check_knows_what_there_was_when_it_is_through() -> None:
    inspected = Check(as_lines([*opening(), *new(cwd=".", mcpServers=[STDIO | {"command": "npx"}]), b"5"]))
    assert len(list(inspected)) == 3
    assert (inspected.kind, inspected.messages, inspected.read_as) == ("conversation", 5, ["v1"])
    assert (inspected.errors, inspected.warnings, inspected.unusable) == (2, 1, None)


def test_what_stands_at_a_place_is_shown_where_that_is_asked_for_and_cut_where_it_is_long() -> None:
    talk = [*opening(), *new(cwd=".")]
    assert str(the("path.cwd", *talk, show_values=True)).endswith(' (it is ".")')
    assert "(it is" not in str(the("path.cwd", *talk))
    found = the("path.cwd", *opening(), *new(cwd="x" * 300), show_values=True)
    assert found.value == '"' + "x" * 199 + "…"


def test_nothing_is_wrong_in_a_conversation_of_v2() -> None:
    assert [each for each in check(*CLEAN_V2) if each.severity == "error"] == []


def test_ids_that_both_sides_use_are_told_apart_by_the_result() -> None:
    talk = [
        *opening(),
        *new(),
        call("session/prompt", {"sessionId": "s1", "prompt": []}, id=7),
        call("fs/read_text_file", {"sessionId": "s1", "path": "/x"}, id=7),
        result(7, {"stopReason": "end_turn"}),
        result(7, {"content": "late"}),
    ]
    assert check(*talk) == []


def test_ids_that_both_sides_use_are_told_apart_by_who_asked_last_where_the_result_tells_nothing() -> None:
    talk = [
        *opening(),
        *new(),
        call("session/prompt", {"sessionId": "s1", "prompt": []}, id=7),
        call("fs/read_text_file", {"sessionId": "s1", "path": "/x"}, id=7),
    ]
    answer = result(7, {"stopReason": "end_turn"})
    assert check(*talk, error(7, -32000), answer) == []
    (found,) = check(*talk, result(7, {"text": "x"}), answer)
    assert (found.rule, found.sender, where(found)) == ("schema.result", "client", "7 result.content")


def test_who_says_what_is_told_by_a_wrapper() -> None:
    talk = [
        {"direction": "agent" if "result" in each else "client->agent", "message": each}
        for each in [*opening(), *new()]
    ]
    assert check(*talk) == []


def test_an_extension_that_either_side_may_call_has_its_answer() -> None:
    assert check(*opening(), call("_acme/do", id="x"), result("x", {"any": "thing"})) == []


def test_the_initialize_of_a_new_connection_begins_anew() -> None:
    session = [*new(), *prompt(2)]
    again = load(1, update(USER, "hello"), update(AGENT, "hi"))
    assert check(*opening(), *session, *opening(), *again, *prompt(2)) == []
    assert rules(*opening(), *session, *opening(), *load(1)) == ["lifecycle.replay-incomplete"]


def test_a_recording_that_begins_late_is_read_by_the_protocol_that_is_named() -> None:
    assert check(*new(), *prompt(2), protocol=v1_unstable) == []


def test_a_message_of_mcp_goes_both_ways() -> None:
    asked = call("mcp/message", {"serverId": "1", "requestId": "r", "method": "tools/list"}, id="m")
    told = call("mcp/message", {"serverId": "1", "requestId": "r", "method": "notifications/progress"})
    talk = [*opening(agent={"mcpCapabilities": {"acp": True}}), asked, told, result("m", {"result": {"tools": []}})]
    assert check(*talk, protocol=v1_unstable) == []


def test_an_initialize_that_failed_may_come_again() -> None:
    assert check(call("initialize", opening()[0]["params"], id=5), error(5, -32000), *opening(), *new()) == []


def test_an_error_without_an_id_answers_what_could_not_be_read() -> None:
    assert check(*opening(), error(None, -32700)) == []


def test_a_recording_that_begins_late_knows_no_sessions() -> None:
    assert check(*prompt(2), protocol=v1_unstable) == []


def test_a_session_that_is_closed_may_be_loaded_again() -> None:
    closed = [call("session/close", {"sessionId": "s1"}, id=5), result(5, {})]
    again = load(6, update(USER, "hello"), update(AGENT, "hi"))
    assert check(*opening(), *new(), *prompt(2), *closed, *again, *prompt(7)) == []


@pytest.mark.parametrize("message", [each for each in [*CLEAN, *CLEAN_V2] if "method" in each])
def test_a_message_alone_has_nobody_to_go_by(message: dict[str, Any]) -> None:
    assert [each for each in check(message) if each.rule.startswith(("lifecycle.un", "lifecycle.c", "cap"))] == []


def test_a_request_that_fails_leaves_nothing_behind() -> None:
    failed = [call("session/new", {"cwd": "/home/me", "mcpServers": []}, id=1), error(1, -32000)]
    assert check(*opening(), *failed, *new(1)) == []
