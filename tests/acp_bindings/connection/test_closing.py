"""Closing a connection: earlier messages arrive, waiting tasks are notified, and nothing is sent afterwards."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import json
import logging
from functools import partial
from typing import Any

import anyio
import pytest

from acp_bindings import v1
from acp_bindings.connection import Connection, ConnectionClosed, TimedOut
from tests.acp_bindings.connection.support import (
    against,
    an_answer,
    ask_back,
    both,
    fails,
    forever,
    into,
    nothing,
    streams,
    until_full,
)

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("count", [1, 100])
async def test_messages_sent_before_the_end_arrive(count: int) -> None:
    heard: list[Any] = []
    one, other = await streams()
    async with Connection(one, one, protocol=v1, role="agent", handlers={"_acme/did": into(heard)}) as agent:
        async with Connection(other, other, protocol=v1, role="client") as client:
            for number in range(count):
                await client.notify([number, "x" * 5000], method="_acme/did")
        with anyio.fail_after(5):
            await agent.wait_ended()
    assert [each[0] for each in heard] == list(range(count))


@pytest.mark.parametrize("end", ["the peer goes", "the connection is closed"])
@pytest.mark.usefixtures("hasty")
async def test_senders_waiting_for_room_get_connection_closed_at_the_end(end: str) -> None:
    failed: list[Exception] = []

    async def talk(connection: Connection) -> None:
        try:
            while True:
                await connection.notify(["x" * 10_000], method="_acme/did")
        except ConnectionClosed as error:
            failed.append(error)

    with anyio.fail_after(10):
        async with against(role="client") as (client, peer), anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(talk, client)
            await until_full(client)
            if end == "the peer goes":
                await peer.stream.aclose()
            else:
                client.close()
                with pytest.raises(ConnectionClosed, match="the connection was closed"):
                    await client.notify([1], method="_acme/did")
    assert len(failed) == 3
    assert not client._outbox._lines


@pytest.mark.parametrize("end", ["the peer says no more", "no task waits any more"])
async def test_a_request_that_ends_before_it_is_sent_is_never_sent(end: str) -> None:
    async def talk() -> None:
        for _ in range(100):
            await client.notify(["x" * 10_000], method="_acme/did")

    async def ask() -> None:
        if end == "the peer says no more":
            await fails(client, "_acme/do: the peer closed the connection", method="_acme/do")
        else:
            with pytest.raises(TimedOut):
                await client.request(method="_acme/do", timeout=0.01)
        told.set()
        await client.notify(method="_acme/last")

    told = anyio.Event()
    methods: set[str] = set()
    with anyio.fail_after(10):
        async with against(role="client") as (client, peer), anyio.create_task_group() as tasks:
            tasks.start_soon(talk)
            await until_full(client)
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            if end == "the peer says no more":
                await peer.stream.send_eof()
            await told.wait()
            while "_acme/last" not in methods:
                methods.add((await peer.hear())["method"])
            tasks.cancel_scope.cancel()
    assert methods == {"_acme/did", "_acme/last"}


async def test_closing_fails_pending_requests() -> None:
    async with both(agent={"_acme/do": forever}) as (_, client), anyio.create_task_group() as tasks:
        tasks.start_soon(partial(fails, client, "_acme/do: the connection was closed", method="_acme/do"))
        await anyio.wait_all_tasks_blocked()
        client.close()
        client.close()
        assert str(await client.wait_ended()) == "the connection was closed"
        assert repr(client) == "<Connection of client, closed: the connection was closed>"


async def test_requests_fail_while_a_cancelled_block_still_cleans_up() -> None:
    failed = anyio.Event()
    with anyio.CancelScope() as scope:
        async with both(agent={"_acme/stay": forever}) as (_, client):
            scope.cancel()
            with anyio.fail_after(5, shield=True):
                await fails(client, "the connection was closed", method="_acme/stay")
            failed.set()
    # Any exception in the block gives way to the cancellation.
    assert failed.is_set()


async def test_wait_ended_returns_while_a_cancelled_block_still_cleans_up() -> None:
    one, other = await streams()
    connection = Connection(one, one, protocol=v1, role="agent")
    told: list[str] = []
    heard = anyio.Event()

    async def wait() -> None:
        told.append((await connection.wait_ended()).reason)
        heard.set()

    with anyio.fail_after(5):
        async with other, anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            with anyio.CancelScope() as scope:
                async with connection:
                    scope.cancel()
                    with anyio.move_on_after(2, shield=True):
                        await heard.wait()
    assert told == ["the connection was closed"]


@pytest.mark.parametrize("fault", [None, KeyError("of the block")])
async def test_an_error_while_closing_a_stream_does_not_end_the_program(
    fault: Exception | None, caplog: pytest.LogCaptureFixture
) -> None:
    class Stream:
        """A stream that cannot be closed, as a WebSocket of Starlette after the client has gone."""

        async def receive(self, max_bytes: int = 65536, /) -> bytes:
            await anyio.sleep_forever()
            raise AssertionError

        async def send(self, item: bytes, /) -> None:
            """Drop it."""

        async def aclose(self) -> None:
            closed.append(self)
            raise LookupError("the client has gone")

    closed: list[Stream] = []
    source, sink = Stream(), Stream()
    caplog.set_level(logging.DEBUG)
    raised: BaseException | None = None
    try:
        async with Connection(source, sink, protocol=v1, role="agent"):
            if fault:
                raise fault
    except (KeyError, ExceptionGroup) as error:
        raised = error
    assert raised is fault
    assert closed == [source, sink]
    told = [each for each in caplog.records if each.name == "acp_bindings.connection"]
    assert [(each.levelname, each.message) for each in told] == [("DEBUG", "closing a stream failed")] * 2
    assert "LookupError: the client has gone" in caplog.text


@pytest.mark.parametrize("method", ["_acme/do", "_acme/wait", "initialize"])
async def test_messages_that_arrive_after_the_handlers_have_ended_are_dropped(method: str) -> None:
    class Late:
        """A stream whose message arrives after all handlers have ended."""

        async def receive(self, max_bytes: int = 65536, /) -> bytes:
            if arrived.is_set():
                await anyio.sleep_forever()
            with anyio.CancelScope(shield=True):
                await arrived.wait()
            return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}).encode() + b"\n"

        async def aclose(self) -> None:
            """Do nothing, because nothing is open."""

    arrived = anyio.Event()
    handlers = {"_acme/do": nothing, "_acme/wait": forever, "initialize": nothing}
    other, sink = await streams()
    with anyio.fail_after(5):
        async with other:
            with anyio.CancelScope() as scope:
                async with Connection(Late(), sink, protocol=v1, role="agent", handlers=handlers) as agent:
                    await anyio.wait_all_tasks_blocked()
                    scope.cancel()
                    # The block has still something to do.
                    with anyio.CancelScope(shield=True):
                        await agent.wait_ended()
                        arrived.set()
                        await anyio.wait_all_tasks_blocked()


async def test_a_handler_that_sends_after_closing_has_not_failed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with anyio.fail_after(5):
        async with against({"_acme/ask": ask_back}) as (agent, peer):
            await peer.say({"id": 1, "method": "_acme/ask"}, {"method": "_acme/ask"})
            await peer.hear()
            await peer.hear()
            agent.close()
    assert "failed" not in caplog.text


@pytest.mark.parametrize("asks", [True, False])
async def test_no_handler_starts_after_a_handler_has_closed_the_connection(asks: bool) -> None:
    def leave(params: Any, connection: Connection) -> None:
        begun.append(params)
        connection.close()

    begun: list[Any] = []
    with anyio.fail_after(5):
        async with against({"_acme/do": leave}) as (agent, peer):
            messages = [{"method": "_acme/do", "params": [number]} for number in range(3)]
            await peer.say(*({**each, "id": 1} if asks else each for each in messages))
            await agent.wait_ended()
    assert begun == [[0]]


@pytest.mark.parametrize("slow", [False, True])
async def test_no_handler_starts_after_a_response_led_to_closing_the_connection(*, slow: bool) -> None:
    async def ask() -> None:
        await client.request(method="_acme/do")
        client.close()

    heard: list[Any] = []
    handlers = {"_acme/did": into(heard, waits=slow)}
    with anyio.fail_after(5):
        async with against(handlers, role="client") as (client, peer), anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            id_ = (await peer.hear())["id"]
            await peer.say(an_answer(id_), {"method": "_acme/did", "params": [1]})
            await client.wait_ended()
    assert heard == []
