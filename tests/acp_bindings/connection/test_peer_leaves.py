"""A peer that exits or closes its output: earlier messages are handled and answered, and waiting requests fail."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import logging
from contextlib import nullcontext
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_bindings import v1
from acp_bindings.connection import Connection, ConnectionClosed
from acp_bindings.jsonrpc import REQUEST_CANCELLED
from tests.acp_bindings.connection.support import HELLO, NEW, against, doing, fails, forever, into, until_full

pytestmark = pytest.mark.anyio


async def test_the_last_line_may_lack_a_newline() -> None:
    heard: list[Any] = []
    async with against({"_acme/did": into(heard)}) as (agent, peer):
        await peer.stream.send(b'{"jsonrpc": "2.0", "method": "_acme/did", "params": [1]}')
        await peer.stream.send_eof()
        with anyio.fail_after(5):
            await agent.wait_ended()
    assert heard == [[1]]


async def test_pending_requests_fail_after_earlier_messages_were_handled() -> None:
    heard: list[Any] = []
    handlers = {"_acme/did": into(heard, waits=True)}
    async with against(handlers, role="client") as (client, peer), anyio.create_task_group() as tasks:

        async def ask() -> None:
            await fails(client, r"^session/new: the peer closed the connection$", NEW)
            assert heard == [[0], [1], [2]]

        tasks.start_soon(ask)
        await peer.hear()
        await peer.say(*({"method": "_acme/did", "params": [n]} for n in range(3)))
        await peer.stream.aclose()
    with anyio.fail_after(5):
        await fails(client, "session/new", NEW)


async def test_a_handler_that_sends_a_request_at_the_end_gets_connection_closed() -> None:
    failed: list[Exception] = []

    async def hear(params: Any, connection: Connection) -> None:
        try:
            await connection.request(method="_acme/do")
        except ConnectionClosed as error:
            failed.append(error)

    async with against({"_acme/did": hear}) as (agent, peer):
        await peer.say({"method": "_acme/did"})
        await peer.hear()
        await peer.stream.aclose()
        with anyio.fail_after(5):
            await agent.wait_ended()
    assert len(failed) == 1


async def test_requests_received_before_the_end_are_answered() -> None:
    async def work(params: Any, connection: Connection) -> Any:
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        return params

    async with against({"_acme/do": work}) as (agent, peer):
        await peer.say(*(doing(n, [n]) for n in range(5)))
        await peer.stream.send_eof()
        answers = [await peer.hear() for _ in range(5)]
        with anyio.fail_after(5):
            await agent.wait_ended()
    assert {answer["id"]: answer["result"] for answer in answers} == {n: [n] for n in range(5)}


@pytest.mark.parametrize("how", ["lets itself be cancelled", "returns what it has", "does not stop"])
async def test_a_request_still_running_after_grace_gets_a_response(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def stay(params: Any, connection: Connection) -> str:
        if how == "does not stop":
            with anyio.CancelScope(shield=True):
                await release.wait()
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            if how == "lets itself be cancelled":
                raise
        return "what it has"

    monkeypatch.setattr("acp_bindings.connection._serving._MOMENT", 0.05)
    release = anyio.Event()
    said: list[str] = []

    def trace(who: str, line: bytes) -> None:
        said.append(who)

    async with against({"_acme/do": stay}, grace=0.05, trace=trace) as (agent, peer):
        await peer.say(doing(1), doing("two"))
        await peer.stream.send_eof()
        answers = [await peer.hear(), await peer.hear()]
        release.set()
        with anyio.fail_after(4):
            assert (await agent.wait_ended()).reason == "the peer closed the connection"
    cancelled = {"code": REQUEST_CANCELLED, "message": "Request cancelled"}
    expected = {"result": "what it has"} if how == "returns what it has" else {"error": cancelled}
    assert sorted(answers, key=str) == [{"id": "two"} | expected, {"id": 1} | expected]
    assert said.count("us") == 2


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.usefixtures("hasty")
async def test_unread_responses_are_limited_after_the_end_and_do_not_hold_it_up(*, reads: bool) -> None:
    begun = 0

    async def make(params: Any, connection: Connection) -> str:
        nonlocal begun
        begun += 1
        return "x" * 1_000_000

    async with against({"_acme/do": make}, grace=20 if reads else 0.05) as (agent, peer):
        await peer.say(*(doing(number) for number in range(30)))
        await peer.stream.send_eof()
        await until_full(agent)
        with anyio.fail_after(15):
            if reads:
                assert {len((await peer.hear())["result"]) for _ in range(30)} == {1_000_000}
            await agent.wait_ended()
    assert begun == 30 if reads else begun < 15


async def test_all_handlers_are_cancelled_when_one_finds_the_peer_gone() -> None:
    async def talk(params: Any, connection: Connection) -> None:
        while True:
            await connection.notify(HELLO)
            await anyio.sleep(0.001)

    async with against({"_acme/do": talk, "_acme/stay": forever}, grace=60) as (agent, peer):
        await peer.say({"id": 0, "method": "_acme/stay"}, doing(1))
        await peer.hear()
        await peer.stream.aclose()
        with anyio.fail_after(10):
            await agent.wait_ended()
        with pytest.raises(ConnectionClosed):
            await agent.notify(HELLO)


async def test_only_connection_closed_of_its_own_peer_is_not_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    going = anyio.Event()

    async def of_another(params: Any, connection: Connection) -> None:
        raise ConnectionClosed("another has gone")

    async def talk(params: Any, connection: Connection) -> None:
        going.set()
        await connection.request(method="_acme/back")

    async with against({"_acme/other": of_another, "_acme/talk": talk}) as (agent, peer):
        await peer.say({"id": 0, "method": "_acme/other"})
        await peer.hear()
        assert [record.levelno for record in caplog.records] == [logging.ERROR]
        caplog.clear()
        await peer.say({"id": 1, "method": "_acme/talk"})
        with anyio.fail_after(5):
            await going.wait()
            await peer.hear()
            await peer.stream.aclose()
            await agent.wait_ended()
    assert [record for record in caplog.records if record.levelno > logging.DEBUG] == []


@pytest.mark.parametrize("how", ["notifying", "asking", "in a task group"])
async def test_a_handler_of_notifications_that_finds_its_peer_gone_has_not_failed(
    how: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def talk(params: Any, connection: Connection) -> None:
        async with anyio.create_task_group() if how == "in a task group" else nullcontext():
            while True:
                if how == "asking":
                    await connection.request(method="_acme/back")
                await connection.notify(HELLO)
                await anyio.sleep(0.001)

    caplog.set_level(logging.DEBUG, "acp_bindings.connection")
    async with against({"_acme/did": talk}) as (agent, peer):
        await peer.say({"method": "_acme/did"})
        await peer.hear()
        await peer.stream.aclose()
        with anyio.fail_after(5):
            await agent.wait_ended()
    told = [(record.levelname, record.message) for record in caplog.records if "failed" in record.message]
    assert told == [("DEBUG", "the handler of _acme/did failed")]


async def test_other_exceptions_are_failures_even_after_the_peer_has_gone(caplog: pytest.LogCaptureFixture) -> None:
    going = anyio.Event()

    async def fail(params: Any, connection: Connection) -> None:
        await going.wait()
        raise ValueError

    async with against({"_acme/do": fail}) as (agent, peer):
        await peer.say(doing(1))
        await peer.stream.send_eof()
        with anyio.fail_after(5):
            await agent._serving._ended.wait()
            going.set()
            await agent.wait_ended()
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


async def test_streams_closed_from_outside_end_the_connection() -> None:
    async with against(role="client") as (client, _), anyio.create_task_group() as tasks:
        tasks.start_soon(fails, client, "session/new", NEW)
        await anyio.wait_all_tasks_blocked()
        await client._sink.aclose()
        await client.notify(v1.CancelNotification(session_id="s"))
        with anyio.fail_after(5):
            await client.wait_ended()
            with pytest.raises(ConnectionClosed):
                await client.notify(v1.CancelNotification(session_id="s"))
