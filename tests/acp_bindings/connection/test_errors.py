"""Errors in handlers, in responses and in outgoing messages: who receives them, and what is logged."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import copy
import logging
import pickle
from typing import Any

import anyio
import pytest

from acp_bindings import AcpError, v1
from acp_bindings.connection import BadAnswer, CannotStart, Connection, ConnectionClosed, RequestFailed, TimedOut
from acp_bindings.errors import Issue
from acp_bindings.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND, PARSE_ERROR
from acp_bindings.setup import RequestError
from tests.acp_bindings.connection.support import NEW, SECRET, against, both, doing, nothing, one

pytestmark = pytest.mark.anyio


async def test_a_request_without_a_handler_gets_method_not_found() -> None:
    calls: list[tuple[Any, str | None]] = [(NEW, None), (None, "_acme/do")]
    async with both() as (_, client):
        for params, method in calls:
            with pytest.raises(RequestFailed) as caught:
                await client.request(params, method=method)
            assert caught.value.code == METHOD_NOT_FOUND


async def test_an_error_that_is_meant_for_the_peer_is_sent_as_it_is() -> None:
    async def refuse(*_: Any) -> None:
        async with anyio.create_task_group():
            raise RequestError(-32000, "Log in first", data={"hint": ["x"]})

    async with both(agent={v1.NewSessionRequest: refuse}) as (_, client):
        with pytest.raises(RequestFailed) as caught:
            await client.request(NEW)
    assert str(caught.value) == "session/new: Log in first (-32000)"
    assert (caught.value.method, caught.value.code, caught.value.message) == ("session/new", -32000, "Log in first")
    assert caught.value.data == {"hint": ["x"]}


@pytest.mark.parametrize("waits", [True, False])
async def test_the_peer_does_not_see_the_exception_of_a_handler(waits: bool, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: Any) -> None:
        raise ValueError(SECRET)

    async def fail_later(*_: Any) -> None:
        fail()

    async with against({"_acme/do": fail_later if waits else fail}) as (_, peer):
        await peer.say(doing(1))
        assert await peer.hear() == {"id": 1, "error": {"code": INTERNAL_ERROR, "message": "Internal error"}}
    assert [record.getMessage() for record in caplog.records] == ["the handler of _acme/do failed"]
    assert caplog.records[0].exc_info


@pytest.mark.parametrize(
    "wrong",
    [v1.PromptResponse(stop_reason="end_turn"), None, {"sessionId": "s"}, RequestError(1, "x", data=object())],
)
async def test_a_handler_that_returns_an_invalid_result_fails(wrong: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def handle(*_: Any) -> Any:
        if isinstance(wrong, Exception):
            raise wrong
        return wrong

    async with both(agent={v1.NewSessionRequest: handle}) as (_, client):
        with pytest.raises(RequestFailed) as caught:
            await client.request(NEW)
    assert caught.value.code == INTERNAL_ERROR
    assert len(caplog.records) == 1


async def test_an_invalid_response_is_reported_with_the_field() -> None:
    async with against(role="client") as (client, peer), anyio.create_task_group() as tasks:

        async def answer() -> None:
            asked = await peer.hear()
            await peer.say({"id": asked["id"], "result": {"sessionId": 5}})

        tasks.start_soon(answer)
        with pytest.raises(BadAnswer, match=r"session/new: invalid response: .*sessionId: Input") as caught:
            await client.request(NEW)
        assert [issue.path for issue in caught.value.issues] == [("sessionId",)]


def test_only_the_first_errors_of_a_response_are_shown() -> None:
    error = BadAnswer("m", "its result is no R", [Issue((name,), "missing", "Field required") for name in "abcde"])
    assert str(error) == (
        "m: invalid response: its result is no R; a: Field required; b: Field required; c: Field required; 2 more"
    )
    assert len(error.issues) == 5
    assert str(BadAnswer("m", "bad")) == "m: invalid response: bad"


async def test_a_failing_notification_handler_affects_only_that_message(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[Any] = []

    async def hear(params: Any, connection: Connection) -> None:
        heard.append(params)
        raise ValueError

    def hear_at_once(params: Any, connection: Connection) -> None:
        heard.append(params)
        raise ValueError

    handlers: dict[Any, Any] = {"_acme/did": hear, "_acme/done": hear_at_once, "_acme/do": nothing}
    async with against(handlers) as (_, peer):
        await peer.say(*({"method": name, "params": 1} for name in ("_acme/done", "_acme/did", "_acme/done")), doing(1))
        assert await peer.hear() == {"id": 1, "result": None}
    assert heard == [1, 1, 1]
    assert len(caplog.records) == 3


async def test_requests_and_notifications_that_cannot_be_sent_raise() -> None:
    async with both() as (agent, client):
        with pytest.raises(ValueError, match="the agent does not send it"):
            await agent.request(NEW)
        with pytest.raises(TypeError, match="no notification takes"):
            await client.notify(NEW)  # pyright: ignore[reportArgumentType]
        assert not client._calls
        assert not agent._calls


def test_errors_can_be_copied_and_pickled() -> None:
    errors = [
        CannotStart("agent", "no such program"),
        ConnectionClosed("gone", method="m", exit_status=3, stderr=["x"]),
        TimedOut("m", 2),
        RequestFailed("m", -1, "x", data={"y": 1}),
        BadAnswer("m", "bad", [Issue(("a",), "missing", "Field required")]),
    ]
    for error in errors:
        assert isinstance(error, AcpError)
        for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
            assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize("code", [PARSE_ERROR, METHOD_NOT_FOUND])
async def test_an_error_about_a_line_of_ours_is_logged(caplog: pytest.LogCaptureFixture, code: int) -> None:
    async with against({"_acme/do": one}) as (_, peer):
        await peer.say({"id": None, "error": {"code": code, "message": "Bad line"}}, doing(1))
        await peer.hear()
    [record] = caplog.records
    assert (record.levelno, record.getMessage()) == (
        logging.WARNING,
        "the peer rejected a message of this side: Bad line",
    )


async def test_a_peer_without_the_cancellation_of_requests_is_not_blamed_for_that(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with against(role="client") as (client, peer):
        with pytest.raises(TimedOut):
            await client.request(NEW, timeout=0.01)
        await peer.say({"id": None, "error": {"code": METHOD_NOT_FOUND, "message": "Method not found"}})
        await peer.stream.aclose()
        end = await client.wait_ended()
    assert "rejected" not in end.reason
    assert not caplog.records
