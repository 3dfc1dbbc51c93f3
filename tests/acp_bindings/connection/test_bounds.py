"""Memory is bounded however much a peer sends and however little it reads, and paused work continues."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import logging
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import UNIXSocketStream

from acp_bindings import v1
from acp_bindings.connection import Connection
from acp_bindings.jsonrpc import INTERNAL_ERROR, PARSE_ERROR
from tests.acp_bindings.connection.support import (
    AtOnce,
    Bare,
    against,
    an_answer,
    an_x,
    ask_back,
    ask_into,
    both,
    doing,
    fails,
    fill,
    forever,
    line_of,
    much,
    nothing,
    same,
    setting,
    streams,
    until_crowded,
    until_full,
)

pytestmark = pytest.mark.anyio

SILENCE = 0.3
"""Seconds without any reading, after which the reader is considered to have stopped."""


async def flood(stream: UNIXSocketStream, chunk: bytes) -> int:
    """Send until the other end stops reading; return the number of bytes read."""
    sent = 0
    with anyio.move_on_after(SILENCE) as scope:
        while True:
            await stream.send(chunk)
            sent += len(chunk)
            scope.deadline = anyio.current_time() + SILENCE
            if sent > 50_000_000:
                break
    return sent


async def ask_without_end(peer: Bare) -> None:
    """Send requests until the other end stops reading."""
    while True:
        await peer.say(*[doing(1)] * 100)


async def test_an_overlong_line_gets_an_error_and_ends_the_connection() -> None:
    async with against(limit=1000) as (agent, peer), anyio.create_task_group() as tasks:
        tasks.start_soon(partial(fails, agent, "a line is longer than 1000 bytes", method="_acme/do"))
        await peer.hear()
        await peer.say(b"x" * 1001)
        assert (await peer.hear())["error"]["code"] == PARSE_ERROR
        with anyio.fail_after(5):
            end = await agent.wait_ended()
        assert end.reason == "reading stopped: a line is longer than 1000 bytes"


@pytest.mark.usefixtures("hasty")
async def test_a_peer_that_does_not_read_blocks_the_sender_but_not_the_end() -> None:
    sent = 0

    async def talk(connection: Connection) -> None:
        nonlocal sent
        while True:
            await connection.notify(["x" * 1000], method="_acme/did")
            sent += 1

    with anyio.fail_after(10):
        async with against() as (agent, _):
            with anyio.move_on_after(0.5):
                await talk(agent)
            held = sum(map(len, agent._outbox._lines))
    # What the kernel takes, what is being written and what waits; not what could be sent in that time.
    assert sent * 1000 < 2_000_000
    assert held < 100_000


@pytest.mark.parametrize("message", [doing(1), b"garbage"])
@pytest.mark.usefixtures("hasty")
async def test_messages_of_a_peer_that_does_not_read_are_bounded(message: dict[str, Any] | bytes) -> None:
    async with against({"_acme/do": much}, most_requests=100) as (agent, peer):
        line = line_of(message)
        assert await flood(peer.stream, line * 100) < 3_000_000
        assert agent._serving._requests <= 100 + 65536 // len(line) + 1


@pytest.mark.usefixtures("hasty")
async def test_a_pending_request_does_not_raise_the_limit_of_running_handlers() -> None:
    begun = 0

    async def stay(params: Any, connection: Connection) -> None:
        nonlocal begun
        begun += 1
        await anyio.sleep_forever()

    async with against({"_acme/do": stay}, most_requests=100) as (agent, peer), anyio.create_task_group() as tasks:
        tasks.start_soon(partial(agent.request, method="_acme/back"))
        await peer.hear()
        await fill(agent)
        tasks.start_soon(ask_without_end, peer)
        with anyio.fail_after(30):
            await until_crowded(agent)
            await anyio.wait_all_tasks_blocked()
        assert begun == 100
        assert 10_000 <= agent._serving._requests <= 10_000 + 250
        tasks.cancel_scope.cancel()


@pytest.mark.usefixtures("hasty")
async def test_unread_responses_are_limited_in_bytes() -> None:
    size = 100_000
    made = 0

    async def make(params: Any, connection: Connection) -> str:
        nonlocal made
        made += 1
        return "x" * size

    async with against({"_acme/do": make}) as (agent, peer), anyio.create_task_group() as tasks:
        tasks.start_soon(partial(agent.request, method="_acme/back"))
        await peer.hear()
        tasks.start_soon(ask_without_end, peer)
        with anyio.fail_after(30):
            await until_crowded(agent)
            await anyio.wait_all_tasks_blocked()
        # And what the socket has taken.
        assert made * size < 8 * 1024 * 1024 + 2_000_000
        tasks.cancel_scope.cancel()


async def test_a_request_beyond_most_bytes_is_refused(
    caplog: pytest.LogCaptureFixture,
) -> None:
    release = anyio.Event()

    async def stay(params: Any, connection: Connection) -> int:
        await release.wait()
        return len(params)

    def let_go(params: Any, connection: Connection) -> None:
        release.set()

    async with against({"_acme/do": stay, "_acme/did": let_go}, most_bytes=10_000) as (_, peer):
        await peer.say(doing(1, "x" * 20_000), doing(2, "x"))
        refused = await peer.hear()
        assert refused["id"] == 2
        assert refused["error"] == {
            "code": INTERNAL_ERROR,
            "message": "Too much at a time: the requests in progress and this one have more than 10000 bytes",
        }
        await peer.say({"method": "_acme/did"})
        assert await peer.hear() == {"id": 1, "result": 20_000}
        release = anyio.Event()
        await peer.say(*(doing(number, "x" * 3000) for number in range(3, 7)), {"method": "_acme/did"})
        answers = {(answer := await peer.hear())["id"]: answer for _ in range(4)}
    assert ["error" in answers[number] for number in range(3, 7)] == [False, False, False, True]
    warned = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert warned == [
        "_acme/do was refused: the requests in progress and this one have more than 10000 bytes",
    ]


@pytest.mark.parametrize("asks", [True, False])
async def test_limits_are_checked_within_a_large_chunk(*, asks: bool) -> None:
    source = AtOnce(line_of({"method": "_acme/did", **({"id": 1} if asks else {})}) * 20_000)
    sink, other = await streams()
    async with other, Connection(source, sink, protocol=v1, role="agent", handlers={"_acme/did": forever}) as agent:
        await anyio.wait_all_tasks_blocked()
        waiting = agent._serving._requests if asks else len(agent._serving._backlog)
        assert 1000 <= waiting <= 1000 + 250


@pytest.mark.parametrize("waits", [True, False])
async def test_a_stream_to_a_slow_reader_does_not_delay_other_responses(*, waits: bool) -> None:
    line = "x" * 10_000

    async def stream(params: Any, connection: Connection) -> None:
        for number in range(2000):
            await connection.notify([number, line], method="_acme/did")

    async def pong(params: Any, connection: Connection) -> str:
        if waits:
            await anyio.lowlevel.checkpoint()
        return "pong"

    async with against({"_acme/stream": stream, "_acme/ping": pong}) as (agent, peer):
        await peer.say({"id": 1, "method": "_acme/stream"})
        await until_full(agent)
        await peer.say({"id": 2, "method": "_acme/ping"})
        await anyio.wait_all_tasks_blocked()
        before: list[Any] = []
        while (message := await peer.hear()) != {"id": 2, "result": "pong"}:
            before.append(message["params"])
        # Those that were on their way: in the socket, being written, and queued.
        assert before == [[number, line] for number in range(len(before))]
        assert len(before) < 150
        while (await peer.hear()).get("id") != 1:
            pass


@pytest.mark.parametrize(("size", "most"), [(100, 3_000_000), (1_000_000, 13_000_000)])
async def test_a_flood_is_bounded_in_messages_and_in_bytes(size: int, most: int) -> None:
    async with against({"_acme/did": forever}) as (agent, peer):
        line = line_of({"method": "_acme/did", "params": "x" * size})
        assert await flood(peer.stream, line * max(1, 10_000 // size)) < most
        assert len(agent._serving._backlog) < 1000 + 65536 // len(line) + 1


@pytest.mark.parametrize("most_requests", [1, 100])
async def test_requests_whose_handlers_send_requests_do_not_block_each_other(most_requests: int) -> None:
    answers: list[Any] = []

    async def call(client: Connection, number: int) -> None:
        answers.extend(await client.request([number], method="_acme/do"))

    with anyio.fail_after(20):
        async with (
            both(agent={"_acme/do": ask_back}, client={"_acme/back": same}, most_requests=most_requests) as (_, client),
            anyio.create_task_group() as tasks,
        ):
            for number in range(300):
                tasks.start_soon(call, client, number)
    assert sorted(answers) == list(range(300))


async def test_an_update_handler_gets_its_response_behind_many_updates() -> None:
    answers: list[Any] = []

    async def hear(params: Any, connection: Connection) -> None:
        answers.append(await connection.request(params, method="_acme/back"))

    async def talk(params: Any, connection: Connection) -> None:
        for number in range(3000):
            await connection.notify([number, "x" * 3000], method="_acme/did")

    agent: dict[Any, Any] = {"_acme/do": talk, "_acme/back": an_x}
    with anyio.fail_after(30):
        async with both(agent=agent, client={"_acme/did": hear}) as (_, client):
            await client.request(method="_acme/do")
    assert answers == ["x"] * 3000


@pytest.mark.parametrize("size", [100, 1_000_000])
async def test_a_flood_is_bounded_while_a_handler_waits_for_a_response(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with against({"_acme/did": ask_back}) as (agent, peer):
        line = line_of({"method": "_acme/did", "params": "x" * size})
        with monkeypatch.context() as smaller:
            smaller.setattr("acp_bindings.connection._serving._WHILE_ASKING", 2)
            await peer.say({"method": "_acme/did"})
            await peer.hear()
            assert await flood(peer.stream, line * max(1, 10_000 // size)) < 25_000_000
            assert 1000 < len(agent._serving._backlog) < 2000 + 65536 // len(line) + 1 or size > 100


async def test_the_limits_apply_again_after_the_response() -> None:
    async def ask(params: Any, connection: Connection) -> None:
        await connection.request(method="_acme/back")
        await anyio.sleep_forever()

    async with against({"_acme/do": ask}, most_requests=1) as (agent, peer):
        await peer.say(doing(1))
        asked = await peer.hear()
        assert not agent._serving.is_crowded
        await peer.say(an_answer(asked["id"]))
        with anyio.fail_after(5):
            await until_crowded(agent)


async def test_delayed_messages_are_handled_later_and_no_longer_count() -> None:
    release = anyio.Event()
    heard: list[Any] = []

    async def hear(params: Any, connection: Connection) -> None:
        await release.wait()
        heard.append(params[0])

    handlers: dict[Any, Any] = {"_acme/did": hear, "_acme/do": nothing}
    async with both(agent=handlers) as (agent, client), anyio.create_task_group() as tasks:

        async def talk() -> None:
            for number in range(20_000):
                await client.notify([number, "x" * 1000], method="_acme/did")
            await client.request(method="_acme/do", timeout=30)

        tasks.start_soon(talk)
        await until_crowded(agent)
        release.set()
    assert heard == list(range(20_000))


async def test_a_task_that_got_its_response_does_not_block_others() -> None:
    async def talk() -> None:
        while True:
            await client.notify(["x" * 10_000], method="_acme/did")

    answers: list[Any] = []
    heard = anyio.Event()
    with anyio.fail_after(5):
        async with (
            against({"_acme/did": setting(heard)}, role="client") as (client, peer),
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(talk)
            await until_full(client)
            tasks.start_soon(ask_into, answers, client)
            await anyio.wait_all_tasks_blocked()
            [id_] = client._calls._open
            await peer.say({"id": id_, "result": {}}, {"method": "_acme/did"})
            await heard.wait()
            await anyio.wait_all_tasks_blocked()
            assert answers == [{}]
            tasks.cancel_scope.cancel()
            await peer.stream.aclose()
