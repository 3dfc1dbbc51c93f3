"""A conversation that is checked while it happens, and recordings with events."""

import json
from typing import Any

import pytest

from acp_bindings import v1_unstable
from acp_bindings.check import Check, Found, LiveCheck, Unusable
from tests.acp_bindings.check.conversations import (
    CLEAN,
    as_lines,
    call,
    check,
    load,
    new,
    opening,
    prompt,
    result,
    where,
)
from tests.acp_bindings.check.orders import (
    ACCEPTED,
    ALLOW,
    ASKED,
    BEGUN,
    CANCEL,
    CANCELLED,
    ECHO,
    RUNNING,
    V2,
    question,
)
from tests.acp_bindings.check.test_rules import BROKEN

TIME = "2026-11-27T11:45:49.123456Z"
EVENTS: list[dict[str, Any]] = [
    {"time": TIME, "from": "agent", "stderr": json.dumps(opening()[0])},
    {"time": TIME, "receipt": {"server": "github", "event": "started"}},
    {"time": TIME, "finding": {"line": 1, "rule": "path.cwd", "severity": "error", "message": "m", "path": []}},
    {"time": TIME, "closed": {"from": "client"}},
    {"time": TIME, "dropped": {"from": "agent", "bytes": 70000000}},
    {"time": TIME, "end": {"exitStatus": 0}},
]


def live(*messages: Any, **options: Any) -> list[Found]:
    check = LiveCheck(**options)
    return [each for line in as_lines(messages) for each in check.feed(line)] + check.finish()


@pytest.mark.parametrize("rule", BROKEN)
def test_a_live_check_reports_what_a_check_reports(rule: str) -> None:
    lines = BROKEN[rule]
    if len(lines) > 1:
        assert live(*lines) == check(*lines)
        assert live(*lines, protocol=v1_unstable, show_values=True) == check(
            *lines, protocol=v1_unstable, show_values=True
        )


def test_a_live_check_reports_a_line_before_it_sees_the_next() -> None:
    check = LiveCheck()
    lines = as_lines([*opening(), *new(cwd=".")])
    assert [[each.rule for each in check.feed(line)] for line in lines] == [[], [], ["path.cwd"], []]
    assert check.finish() == []


def test_a_live_check_counts_empty_lines_and_may_have_no_line() -> None:
    assert live(b"", *opening(), b" ", *new(cwd="."))[0].line == 5
    assert LiveCheck().finish() == []


@pytest.mark.parametrize("event", EVENTS)
def test_events_of_a_recording_are_skipped_and_their_lines_counted(event: dict[str, Any]) -> None:
    talk = [{"time": TIME, "from": "agent" if "result" in each else "client", "message": each} for each in new(cwd=".")]
    lines = [event, *opening(), event, *talk, event]
    assert [(each.rule, where(each)) for each in check(*lines)] == [("path.cwd", "5 message.params.cwd")]
    assert live(*lines) == check(*lines)


def test_events_are_not_messages() -> None:
    inspected = Check(as_lines([*EVENTS * 10, *CLEAN, *EVENTS]))
    assert list(inspected) == []
    assert (inspected.kind, inspected.messages) == ("conversation", len(CLEAN))


@pytest.mark.parametrize("events", [EVENTS, EVENTS[-1:]])
def test_a_recording_without_messages_cannot_be_used(events: list[dict[str, Any]]) -> None:
    inspected = Check(as_lines(events))
    with pytest.raises(Unusable, match="it has no messages; acp-bindings view shows what else it has"):
        list(inspected)
    assert (inspected.kind, inspected.messages) == ("conversation", 0)


def test_what_follows_a_gap_is_not_an_error() -> None:
    gap = {"time": TIME, "dropped": {"from": "client", "bytes": 70000000}}
    said = call(
        "session/update", {"sessionId": "s1", "update": {"sessionUpdate": "tool_call_update", "toolCallId": "t"}}
    )
    closed = [call("session/close", {"sessionId": "s1"}, id=3), result(3, {})]
    after = [gap, said, result(2, {"stopReason": "cancelled"}), *prompt(4), *load(5, cwd="/home/you")]
    found = check(*opening(), *new(), *prompt(6), *closed, *after)
    assert [(each.rule, each.severity) for each in found] == [("lifecycle.unasked", "warning")]

    cancelled = [prompt(2)[0], BEGUN, question(ALLOW), CANCEL, gap, CANCELLED]
    found = check(*opening(), *new(), *cancelled)
    assert [(each.rule, each.severity) for each in found] == [("lifecycle.unanswered", "info")]


CLOSED = {"time": TIME, "closed": {"from": "client"}}
DROPPED = {"time": TIME, "dropped": {"from": "agent", "bytes": 70000000}}
STDERR = {"time": TIME, "from": "agent", "stderr": "Segmentation fault"}


def ended(status: Any) -> dict[str, Any]:
    return {"time": TIME, "end": {"exitStatus": status}}


@pytest.mark.parametrize(
    ("events", "severity", "message"),
    [
        ([STDERR, ended(3)], "warning", "the agent exited with status 3 before the response"),
        ([ended(0)], "info", "the agent exited with status 0 before the response"),
        ([CLOSED], "info", "the client closed the connection before the response"),
        ([CLOSED, ended(0)], "info", "the client closed the connection before the response"),
        (
            [CLOSED, ended(143)],
            "warning",
            "the client closed the connection and the agent exited with status 143 before the response",
        ),
        ([STDERR], "info", "it has no response in the line after it; was the recording cut off?"),
        ([STDERR, ended(None)], "info", "it has no response in the 2 lines after it; was the recording cut off?"),
        ([DROPPED, ended(3)], "info", "it has no response in the 2 lines after it; was the recording cut off?"),
        ([{"time": TIME, "end": 3}], "info", "it has no response in the line after it; was the recording cut off?"),
    ],
)
def test_a_missing_response_is_explained_by_the_end_of_the_recording(
    events: list[Any], severity: str, message: str
) -> None:
    lines = [*opening(), *new(), prompt(2)[0], *events]
    (found,) = check(*lines)
    assert (found.rule, found.severity, found.message) == ("lifecycle.unanswered", severity, message)
    assert live(*lines) == [found]


@pytest.mark.parametrize(
    ("events", "severity", "message"),
    [
        ([], "info", "the session is not idle at the end; was the recording cut off?"),
        ([ended(3)], "warning", "the agent exited with status 3 before the session was idle"),
        ([CLOSED, ended(0)], "info", "the client closed the connection before the session was idle"),
    ],
)
def test_a_turn_of_v2_that_never_ends_is_explained_by_the_end_of_the_recording(
    events: list[Any], severity: str, message: str
) -> None:
    (found,) = check(*V2, ASKED, ACCEPTED, ECHO, RUNNING, *events)
    assert (found.rule, found.severity, found.message) == ("turn.never-ends", severity, message)


def test_a_prompt_of_v2_without_a_response_is_not_also_said_to_never_run() -> None:
    (found,) = check(*V2, ASKED)
    assert found.rule == "lifecycle.unanswered"


def test_the_end_of_an_earlier_connection_explains_nothing_about_the_next() -> None:
    earlier = [*opening(), prompt(2)[0], CLOSED, ended(3)]
    found = check(*earlier, *opening(), call("session/list", {}, id=1))
    assert found[-1].message == "it has no response here; was the recording cut off?"
    found = check(*opening()[:1], CLOSED, ended(3), *opening(), call("session/list", {}, id=1))
    assert found[-1].message == "it has no response here; was the recording cut off?"


@pytest.mark.parametrize("end", [CLOSED, ended(0)])
def test_after_the_end_of_a_connection_initialize_begins_another(end: Any) -> None:
    (found,) = check(*opening()[:1], end, *opening())
    assert (found.rule, found.line, found.message) == (
        "lifecycle.unanswered",
        1,
        "it has no response on its connection",
    )


def test_a_message_with_a_time_is_not_an_event() -> None:
    late = {"time": TIME, "end": 1, "message": call("session/nwe", {}, id=9), "from": "client"}
    found = check(*opening(), *new(), *prompt(2), late)
    assert [each.rule for each in found] == ["schema.method", "lifecycle.unanswered"]
