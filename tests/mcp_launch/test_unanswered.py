"""The bookkeeping of pending requests."""

from __future__ import annotations

from typing import Any

from mcp_types import ErrorData, JSONRPCMessage, jsonrpc_message_adapter

from mcp_launch._transports.streams import Unanswered, Unsaid

ENDED = ErrorData(code=-32000, message="it ended")


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

    assert unanswered.received(message(id="0", result={})) == 0
    assert unanswered.received(message(id=1, error={"code": 1, "message": "no"})) == 1
    assert [reply.id for reply in unanswered.refused(ENDED)] == [2]


def test_unrelated_messages_do_not_finish_a_request() -> None:
    unanswered = asked(1)

    others = [message(id=1, method="ping"), message(method="notifications/message"), message(id=7, result={})]
    assert [unanswered.received(each) for each in others] == [None, None, None]
    assert unanswered


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
