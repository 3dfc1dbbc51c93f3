"""The bookkeeping of pending requests."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types import ErrorData, JSONRPCMessage, jsonrpc_message_adapter

from mcp_launch._diagnosis import Diagnosis
from mcp_launch._transports.streams import Unanswered, Unsaid
from mcp_launch.failures import Code

ENDED = ErrorData(code=-32000, message="it ended")
SLOW = Diagnosis("timeout", "did not answer")


def message(**members: Any) -> JSONRPCMessage:
    return jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **members})


def asked(*ids: int | str) -> Unanswered:
    """Return requests with these ids, and a notification, which has no response."""
    unanswered = Unanswered()
    for number in ids:
        unanswered.sent(message(id=number, method="tools/list"))
    unanswered.sent(message(method="notifications/initialized"))
    return unanswered


def test_pending_requests_are_refused_once_in_order() -> None:
    unanswered = asked(0, "a", 2)

    assert list(unanswered.refused(ENDED)) == [Unsaid(jsonrpc="2.0", id=number, error=ENDED) for number in (0, "a", 2)]
    assert (bool(unanswered), list(unanswered.refused(ENDED))) == (False, [])


def test_a_response_may_return_the_id_as_a_string() -> None:
    unanswered = asked(0, 1, 2)

    assert unanswered.received(message(id="0", result={}))
    assert unanswered.received(message(id=1, error={"code": 1, "message": "no"}))
    assert [reply.id for reply in unanswered.refused(ENDED)] == [2]


def test_unrelated_messages_do_not_finish_a_request() -> None:
    unanswered = asked(1)

    others = [message(id=1, method="ping"), message(method="notifications/message"), message(id=7, result={})]
    assert [unanswered.received(each) for each in others] == [False, False, False]
    assert unanswered


def test_a_timeout_mentions_unknown_ids_of_responses() -> None:
    unanswered = asked(0, 1)
    for number in (0, "1f-a", 7, 7):
        unanswered.received(message(id=number, result={}))
    unanswered.sent(message(method="notifications/cancelled", params={"requestId": 1}))

    found = unanswered.explain(Diagnosis("timeout", "did not answer", {"stderr": []}), waited=2.0)

    assert found == Diagnosis(
        "timeout",
        'did not answer within 2.0 s, but sent responses with unknown ids ("1f-a", 7; the request had '
        "the id 1); is there a newer release of the server?",
        {"stderr": []},
        advice="is there a newer release of the server?",
    )


@pytest.mark.parametrize("code", ["exited", "unauthorized"])
def test_other_failures_do_not_mention_unknown_ids(code: Code) -> None:
    unanswered = asked(1)
    unanswered.received(message(id=7, result={}))

    assert unanswered.explain(Diagnosis(code, "it ended"), waited=2.0) == Diagnosis(code, "it ended")


def test_late_and_duplicate_responses_are_not_unknown() -> None:
    unanswered = asked(0, 1, 2)
    unanswered.sent(message(method="notifications/cancelled", params={"requestId": 0}))
    for number in (1, 1, "0"):
        unanswered.received(message(id=number, result={}))

    assert unanswered.explain(SLOW, waited=2.0) == SLOW


def test_earlier_unknown_responses_are_not_mentioned() -> None:
    unanswered = asked(0)
    for number in (7, 0):
        unanswered.received(message(id=number, result={}))
    unanswered.sent(message(id=1, method="tools/list"))

    assert unanswered.explain(SLOW, waited=2.0) == SLOW


def test_only_some_of_many_unknown_ids_are_mentioned() -> None:
    unanswered = asked(0)
    for number in range(1, 100):
        unanswered.received(message(id=number, result={}))

    found = unanswered.explain(SLOW, waited=2.0)

    assert found is not None
    assert "(1, 2, 3; the request" in found.message


def test_a_cancelled_request_is_not_pending() -> None:
    unanswered = asked(1, 2)

    unanswered.sent(message(method="notifications/cancelled", params={"requestId": "2"}))
    unanswered.sent(message(method="notifications/cancelled", params={"reason": "no id"}))
    assert [reply.id for reply in unanswered.refused(ENDED)] == [1]


def test_an_error_without_id_belongs_to_the_opening_request() -> None:
    nameless = message(id=None, error={"code": -32600, "message": "no"})
    unanswered = Unanswered()
    assert unanswered.named(nameless) == nameless

    unanswered.sent(message(id=0, method="initialize"))
    assert unanswered.named(nameless) == message(id=0, error={"code": -32600, "message": "no"})

    unanswered.sent(message(method="notifications/initialized"))
    assert unanswered.named(nameless) == nameless


def test_an_error_without_id_is_ambiguous_with_two_requests() -> None:
    nameless = message(id=None, error={"code": -32600, "message": "no"})
    unanswered = Unanswered()
    unanswered.sent(message(id=0, method="server/discover"))
    unanswered.sent(message(id=1, method="initialize"))

    assert unanswered.named(nameless) == nameless
