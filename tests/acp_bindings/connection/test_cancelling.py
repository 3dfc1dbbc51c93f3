"""Requests that time out or are cancelled, by the calling task or by the peer."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_bindings import v1
from acp_bindings.connection import Connection, TimedOut
from acp_bindings.jsonrpc import REQUEST_CANCELLED
from tests.acp_bindings.connection.support import NEW, against, both, doing, forever, into, one, until

pytestmark = pytest.mark.anyio


async def test_a_request_that_times_out_is_cancelled_and_its_response_dropped() -> None:
    async with against(role="client") as (client, peer):
        with pytest.raises(TimedOut, match=r"^session/new: no response within 0\.05 s$") as caught:
            await client.request(NEW, timeout=0.05)
        assert (caught.value.method, caught.value.seconds) == ("session/new", 0.05)
        asked = await peer.hear()
        assert await peer.hear() == {"method": "$/cancel_request", "params": {"requestId": asked["id"]}}
        await peer.say({"id": asked["id"], "result": {"sessionId": "late"}})

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.request, NEW)
            again = await peer.hear()
            assert again["id"] != asked["id"]
            await peer.say({"id": again["id"], "result": {"sessionId": "s"}})
        assert not client._calls
        assert not client._codec.pending


async def test_a_late_result_is_passed_on_once(caplog: pytest.LogCaptureFixture) -> None:
    def late(response: v1.NewSessionResponse) -> None:
        heard.append(response.session_id)
        raise ValueError("no")

    heard: list[str] = []
    async with against(role="client") as (client, peer):
        for _ in range(2):
            with pytest.raises(TimedOut, match=r"^session/new: no response within 0\.05 s$"):
                await client.request(NEW, timeout=0.05, late=late)
        one, _, two, _ = [(await peer.hear()).get("id") for _ in range(4)]
        await peer.say({"id": one, "error": {"code": REQUEST_CANCELLED, "message": "Request cancelled"}})
        answer = {"id": two, "result": {"sessionId": "late"}}
        await peer.say(answer, answer)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(client.request, NEW, late=late))
            await peer.say({"id": (await peer.hear())["id"], "result": {"sessionId": "in time"}})
        assert not client._calls
        assert not client._codec.pending
    assert heard == ["late"]
    assert caplog.messages == ["late failed"]


async def test_a_result_that_waits_for_a_handler_is_passed_on_if_the_caller_gives_up() -> None:
    async def tell_first(_: Any, connection: Connection) -> v1.NewSessionResponse:
        await connection.notify(method="_acme/told")
        return v1.NewSessionResponse(session_id="s")

    heard: list[v1.NewSessionResponse] = []
    async with both(agent={"session/new": tell_first}, client={"_acme/told": forever}) as (_, client):
        with pytest.raises(TimedOut, match="the response has arrived"):
            await client.request(NEW, timeout=0.2, late=heard.append)
    assert [each.session_id for each in heard] == ["s"]


async def test_a_task_that_is_cancelled_has_its_request_cancelled() -> None:
    ended = anyio.Event()

    async def work(*_: Any) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    async with both(agent={"_acme/do": work}) as (agent, client), anyio.create_task_group() as tasks:
        tasks.start_soon(partial(client.request, method="_acme/do"))
        while not agent._serving._unanswered:
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True), anyio.fail_after(5):
            await ended.wait()
    assert not client._codec.pending


async def test_a_request_cancelled_by_the_peer_gets_the_cancel_error() -> None:
    async with against({"_acme/do": forever}) as (agent, peer):
        await peer.say(doing(1), doing("two"))
        await peer.say({"method": "$/cancel_request", "params": {"requestId": "two"}})
        error = {"code": REQUEST_CANCELLED, "message": "Request cancelled"}
        assert await peer.hear() == {"id": "two", "error": error}
        await peer.say({"method": "$/cancel_request", "params": {"requestId": 1}})
        assert await peer.hear() == {"id": 1, "error": error}
        assert not agent._serving._unanswered


async def test_a_request_that_is_cancelled_before_its_turn_is_not_begun() -> None:
    begun: list[Any] = []
    release = anyio.Event()

    async with against({"_acme/did": until(release), "_acme/do": into(begun)}) as (agent, peer):
        await peer.say(
            {"method": "_acme/did"},
            doing(1, [1]),
            doing(2, [2]),
            {"method": "$/cancel_request", "params": {"requestId": 1}},
        )
        while not agent._serving._unanswered:
            await anyio.lowlevel.checkpoint()
        await anyio.wait_all_tasks_blocked()
        release.set()
        answers = [await peer.hear(), await peer.hear()]
    assert begun == [[2]]
    assert {answer["id"]: "error" in answer for answer in answers} == {1: True, 2: False}


async def test_a_cancelled_handler_may_still_finish() -> None:
    async def stubborn(*_: Any) -> str:
        with suppress(anyio.get_cancelled_exc_class()):
            await anyio.sleep_forever()
        return "done"

    async with against({"_acme/do": stubborn}) as (_, peer):
        await peer.say(doing(1), {"method": "$/cancel_request", "params": {"requestId": 1}})
        answer = await peer.hear()
    assert answer["id"] == 1


async def test_cancelling_an_unknown_request_has_no_effect() -> None:
    async with against({"_acme/do": one}) as (_, peer):
        await peer.say({"method": "$/cancel_request", "params": {"requestId": 7}}, doing(1))
        assert await peer.hear() == {"id": 1, "result": 1}
