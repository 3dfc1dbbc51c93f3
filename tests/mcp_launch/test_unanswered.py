"""Which requests wait for an answer."""

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
    """Requests by those ids, and a notification, which waits for nothing."""
    unanswered = Unanswered()
    for number in ids:
        unanswered.sent(message(id=number, method="tools/list"))
    unanswered.sent(message(method="notifications/initialized"))
    return unanswered


def test_each_that_waits_is_refused_once_in_the_order_of_the_requests() -> None:
    unanswered = asked(0, "a", 2)

    assert list(unanswered.refused(ENDED)) == [Unsaid(jsonrpc="2.0", id=number, error=ENDED) for number in (0, "a", 2)]
    assert (bool(unanswered), list(unanswered.refused(ENDED))) == (False, [])


def test_an_answer_ends_the_wait_also_when_its_id_comes_back_as_text() -> None:
    unanswered = asked(0, 1, 2)

    assert unanswered.received(message(id="0", result={}))
    assert unanswered.received(message(id=1, error={"code": 1, "message": "no"}))
    assert [reply.id for reply in unanswered.refused(ENDED)] == [2]


def test_what_answers_nothing_ends_no_wait() -> None:
    unanswered = asked(1)

    others = [message(id=1, method="ping"), message(method="notifications/message"), message(id=7, result={})]
    assert [unanswered.received(each) for each in others] == [False, False, False]
    assert unanswered


def test_at_a_timeout_answers_that_nobody_asked_for_are_told_beside_what_was_asked() -> None:
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
    )


@pytest.mark.parametrize("code", ["exited", "unauthorized"])
def test_what_else_went_wrong_is_not_laid_to_answers_that_nobody_asked_for(code: Code) -> None:
    unanswered = asked(1)
    unanswered.received(message(id=7, result={}))

    assert unanswered.explain(Diagnosis(code, "it ended"), waited=2.0) == Diagnosis(code, "it ended")


def test_answers_that_came_late_or_twice_were_asked_for() -> None:
    unanswered = asked(0, 1, 2)
    unanswered.sent(message(method="notifications/cancelled", params={"requestId": 0}))
    for number in (1, 1, "0"):
        unanswered.received(message(id=number, result={}))

    assert unanswered.explain(SLOW, waited=2.0) == SLOW


def test_answers_from_before_the_requests_that_wait_say_nothing_of_these() -> None:
    unanswered = asked(0)
    for number in (7, 0):
        unanswered.received(message(id=number, result={}))
    unanswered.sent(message(id=1, method="tools/list"))

    assert unanswered.explain(SLOW, waited=2.0) == SLOW


def test_of_many_answers_that_nobody_asked_for_some_are_told() -> None:
    unanswered = asked(0)
    for number in range(1, 100):
        unanswered.received(message(id=number, result={}))

    found = unanswered.explain(SLOW, waited=2.0)

    assert found is not None
    assert "(1, 2, 3; the request" in found.message


def test_a_request_that_is_cancelled_waits_no_longer() -> None:
    unanswered = asked(1, 2)

    unanswered.sent(message(method="notifications/cancelled", params={"requestId": "2"}))
    unanswered.sent(message(method="notifications/cancelled", params={"reason": "no id"}))
    assert [reply.id for reply in unanswered.refused(ENDED)] == [1]


def test_an_error_that_names_no_request_is_that_of_the_one_which_opens_the_session() -> None:
    nameless = message(id=None, error={"code": -32600, "message": "no"})
    unanswered = Unanswered()
    assert unanswered.named(nameless) == nameless

    unanswered.sent(message(id=0, method="initialize"))
    assert unanswered.named(nameless) == message(id=0, error={"code": -32600, "message": "no"})

    unanswered.sent(message(method="notifications/initialized"))
    assert unanswered.named(nameless) == nameless


def test_where_two_wait_an_error_that_names_none_may_be_of_either() -> None:
    nameless = message(id=None, error={"code": -32600, "message": "no"})
    unanswered = Unanswered()
    unanswered.sent(message(id=0, method="server/discover"))
    unanswered.sent(message(id=1, method="initialize"))

    assert unanswered.named(nameless) == nameless
