"""Two sides that wait for each other: both flooded, or with handlers that send requests over the other's connection."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_bindings.connection import Connection, Handlers, RequestFailed, TimedOut
from acp_bindings.jsonrpc import METHOD_NOT_FOUND
from tests.acp_bindings.connection.support import (
    against,
    ask_back,
    ask_into,
    both,
    fill,
    forever,
    much,
    nothing,
    same,
    setting,
    until,
    until_crowded,
)

pytestmark = pytest.mark.anyio


async def much_later(params: Any, connection: Connection) -> str:
    await anyio.lowlevel.checkpoint()
    return "x" * 1000


class TestFloodsOfBothSides:
    @pytest.mark.parametrize(("handler", "count"), [(much, 500), (much_later, 500), (None, 5000)])
    async def test_responses_that_fill_both_pipes_are_read(self, handler: Any, count: int) -> None:
        async def ask(side: Connection) -> None:
            try:
                answers.append(await side.request(method="_acme/do"))
            except RequestFailed as error:
                answers.append(error.code)

        answers: list[Any] = []
        handlers = {"_acme/do": handler} if handler else None
        with anyio.fail_after(30):
            async with (
                both(agent=handlers, client=handlers, most_requests=100) as sides,
                anyio.create_task_group() as tasks,
            ):
                for side in sides:
                    for _ in range(count):
                        tasks.start_soon(ask, side)
        assert answers == ["x" * 1000 if handler else METHOD_NOT_FOUND] * 2 * count

    async def test_a_peer_that_writes_everything_before_it_reads_does_not_deadlock(self) -> None:
        async def echo(params: Any, connection: Connection) -> None:
            await connection.notify([*params, "x" * 1000], method="_acme/echo")

        with anyio.fail_after(30):
            async with against({"_acme/did": echo}) as (_, peer):
                for number in range(3000):
                    await peer.say({"method": "_acme/did", "params": [number]})
                echoes = [(await peer.hear())["params"][0] for _ in range(3000)]
        assert echoes == list(range(3000))


class TestBounds:
    @pytest.mark.usefixtures("hasty")
    async def test_a_peer_that_does_not_read_is_read_after_its_request(self) -> None:
        answers: list[Any] = []
        release = anyio.Event()
        with anyio.fail_after(5):
            async with (
                against({"_acme/stay": until(release)}, most_requests=1) as (agent, peer),
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(ask_into, answers, agent)
                asked = await peer.hear()
                await peer.say({"id": 1, "method": "_acme/stay"})
                await until_crowded(agent)
                await anyio.wait_all_tasks_blocked()
                await fill(agent)
                await peer.say({"id": asked["id"], "result": "read"})
                release.set()
        assert answers == ["read"]

    @pytest.mark.usefixtures("hasty")
    async def test_a_peer_that_does_not_read_is_read_during_a_request(self) -> None:
        was_read = anyio.Event()
        with anyio.fail_after(5):
            async with (
                against({"_acme/stay": forever, "_acme/read": setting(was_read)}, most_requests=1) as (agent, peer),
                anyio.create_task_group() as tasks,
            ):
                await peer.say({"id": 1, "method": "_acme/stay"})
                await until_crowded(agent)
                await fill(agent)
                await peer.say({"method": "_acme/read"})
                tasks.start_soon(partial(agent.request, method="_acme/back"))
                await was_read.wait()
                tasks.cancel_scope.cancel()

    @pytest.mark.usefixtures("hasty")
    async def test_a_peer_that_does_not_read_is_read_after_an_exclusive_handler(self) -> None:
        was_read = anyio.Event()
        handlers = Handlers({"_acme/read": setting(was_read)})
        handlers.on("_acme/begin", exclusive=True)(nothing)
        with anyio.fail_after(5):
            async with against(handlers) as (agent, peer):
                await fill(agent)
                await peer.say({"id": 1, "method": "_acme/begin"}, {"method": "_acme/read"})
                await was_read.wait()

    @pytest.mark.usefixtures("hasty")
    @pytest.mark.parametrize("asks", [True, False])
    async def test_a_crowded_side_reads_again_when_a_handler_waits_for_the_peer(self, *, asks: bool) -> None:
        was_read, may_send = anyio.Event(), anyio.Event()

        async def send(params: Any, connection: Connection) -> None:
            await may_send.wait()
            if asks:
                await connection.request(method="_acme/back")
            else:
                await fill(connection)
                await connection.notify(method="_acme/told")

        with anyio.fail_after(5):
            async with against({"_acme/do": send, "_acme/read": setting(was_read)}, most_requests=1) as (agent, peer):
                await peer.say({"id": 1, "method": "_acme/do"})
                await until_crowded(agent)
                await peer.say({"method": "_acme/read"})
                await anyio.wait_all_tasks_blocked()
                assert not was_read.is_set()
                may_send.set()
                await was_read.wait()

    @pytest.mark.usefixtures("hasty")
    async def test_a_request_that_may_not_begin_yet_does_not_delay_the_end_after_the_grace(self) -> None:
        with anyio.fail_after(5):
            async with (
                against({"_acme/stay": forever}, most_requests=1, grace=0.1) as (agent, peer),
                anyio.create_task_group() as tasks,
            ):
                await fill(agent)
                tasks.start_soon(partial(agent.notify, method="_acme/told"))
                await peer.say(*({"id": number, "method": "_acme/stay"} for number in (1, 2)))
                while not agent._serving._begun:
                    await anyio.lowlevel.checkpoint()
                await anyio.wait_all_tasks_blocked()
                await peer.stream.send_eof()
                await agent.wait_ended()
                tasks.cancel_scope.cancel()

    async def test_the_limits_apply_while_a_request_waits_and_the_peer_reads(self) -> None:
        with anyio.fail_after(5):
            async with (
                against({"_acme/stay": forever}, role="client", most_requests=1) as (client, peer),
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(partial(client.request, method="_acme/back"))
                await peer.hear()
                await peer.say({"id": 1, "method": "_acme/stay"})
                await until_crowded(client)
                tasks.cancel_scope.cancel()


class Proxy:
    """Forwards requests and notifications between a client and an agent, and returns their responses."""

    def __init__(self) -> None:
        self.client: Connection
        """The client's end of its connection to the proxy."""
        self.agent: Connection
        """The agent's end."""
        self.to_client: Connection
        self.to_agent: Connection

    async def ask_agent(self, params: Any) -> Any:
        """Return the agent's response."""
        return await self.to_agent.request(params, method="_acme/same")

    async def ask_client(self, params: Any) -> Any:
        """Return the client's response."""
        return await self.to_client.request(params, method="_acme/same")


@asynccontextmanager
async def proxied(
    *, of_client: Any, of_agent: Any, answer: Any = same, most_requests: int = 1000
) -> AsyncGenerator[Proxy]:
    """Connect a client and an agent through a proxy with these handlers for the messages of each."""
    proxy, ends = Proxy(), {"_acme/same": answer}
    with anyio.fail_after(30):
        async with (
            both(agent=of_client, client=ends, most_requests=most_requests) as (proxy.to_client, proxy.client),
            both(agent=ends, client=of_agent, most_requests=most_requests) as (proxy.agent, proxy.to_agent),
        ):
            yield proxy


class TestProxies:
    @pytest.mark.parametrize("first", ["client", "agent"])
    async def test_update_handlers_may_send_requests_through_each_others_connections(self, first: str) -> None:
        async def hear_client(params: Any, connection: Connection) -> None:
            if first == "agent":
                await asked.wait()
            answers.append(await proxy.ask_agent("told by the client"))

        async def hear_agent(params: Any, connection: Connection) -> None:
            if first == "client":
                await asked.wait()
            answers.append(await proxy.ask_client("told by the agent"))

        def answer(params: Any, connection: Connection) -> Any:
            asked.set()
            return params

        answers: list[str] = []
        asked = anyio.Event()
        of_client, of_agent = {"_acme/told": hear_client}, {"_acme/told": hear_agent}
        async with proxied(of_client=of_client, of_agent=of_agent, answer=answer) as proxy:
            one, other = (proxy.client, proxy.agent) if first == "client" else (proxy.agent, proxy.client)
            await other.notify(method="_acme/told")
            await one.notify(method="_acme/told")
            while len(answers) < 2:
                await anyio.lowlevel.checkpoint()
        assert sorted(answers) == ["told by the agent", "told by the client"]

    async def test_a_response_is_delivered_in_order_without_a_cycle_of_waiting_handlers(self) -> None:
        async def hear_client(params: Any, connection: Connection) -> None:
            order.append(await proxy.ask_agent("the answer"))
            done.set()

        async def hear_agent(params: Any, connection: Connection) -> None:
            await anyio.wait_all_tasks_blocked()
            order.append(params)

        async def tell_first(params: Any, connection: Connection) -> Any:
            await connection.notify("what came before", method="_acme/told")
            return params

        order: list[str] = []
        done = anyio.Event()
        of_client, of_agent = {"_acme/told": hear_client}, {"_acme/told": hear_agent}
        async with proxied(of_client=of_client, of_agent=of_agent, answer=tell_first) as proxy:
            await proxy.client.notify(method="_acme/told")
            await done.wait()
        assert order == ["what came before", "the answer"]

    async def test_a_finished_wait_for_another_connection_no_longer_counts(self) -> None:
        async def hear_client(params: Any, connection: Connection) -> None:
            if params == "first":
                await proxy.ask_agent(params)
                answered.set()
                await asked.wait()
                await anyio.wait_all_tasks_blocked()
            order.append(params)

        async def hear_agent(params: Any, connection: Connection) -> None:
            order.append(await proxy.ask_client("the answer"))
            done.set()

        def answer(params: Any, connection: Connection) -> Any:
            if params == "the answer":
                asked.set()
            return params

        order: list[str] = []
        answered, asked, done = anyio.Event(), anyio.Event(), anyio.Event()
        of_client, of_agent = {"_acme/told": hear_client}, {"_acme/told": hear_agent}
        async with proxied(of_client=of_client, of_agent=of_agent, answer=answer) as proxy:
            await proxy.client.notify("first", method="_acme/told")
            await proxy.client.notify("second", method="_acme/told")
            await answered.wait()
            await proxy.agent.notify(method="_acme/told")
            await done.wait()
        assert order == ["first", "second", "the answer"]

    async def test_an_exclusive_handler_may_send_a_request_through_another_connection(self) -> None:
        of_client = Handlers()

        @of_client.on("_acme/begin", exclusive=True)
        async def begin(params: Any, connection: Connection) -> Any:
            return await proxy.ask_agent(params)

        async def tell_first(params: Any, connection: Connection) -> Any:
            await connection.notify(method="_acme/told")
            return params

        async def hear_agent(params: Any, connection: Connection) -> None:
            answers.append(await proxy.ask_client("told by the agent"))
            done.set()

        answers: list[str] = []
        done = anyio.Event()
        async with proxied(of_client=of_client, of_agent={"_acme/told": hear_agent}, answer=tell_first) as proxy:
            assert await proxy.client.request("begun", method="_acme/begin") == "begun"
            await done.wait()
        assert answers == ["told by the agent"]

    async def test_the_maximum_number_of_requests_can_be_forwarded_in_both_directions(self) -> None:
        async def to_agent(params: Any, connection: Connection) -> Any:
            return await proxy.ask_agent(params)

        async def to_client(params: Any, connection: Connection) -> Any:
            return await proxy.ask_client(params)

        answers: list[int] = []
        of_client, of_agent = {"_acme/do": to_agent}, {"_acme/do": to_client}
        async with (
            proxied(of_client=of_client, of_agent=of_agent, most_requests=10) as proxy,
            anyio.create_task_group() as tasks,
        ):
            for number in range(200):
                tasks.start_soon(ask_into, answers, proxy.client, number)
                tasks.start_soon(ask_into, answers, proxy.agent, number)
        assert sorted(answers) == sorted([*range(200), *range(200)])


class TestWhatIsTold:
    async def test_a_handler_that_blocks_everything_for_long_is_logged(
        self, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def hear(params: Any, connection: Connection) -> None:
            await connection.request(method="_acme/do")

        monkeypatch.setattr("acp_bindings.connection._serving._LONG", 0.1)
        caplog.set_level(logging.WARNING, "acp_bindings.connection")
        with anyio.fail_after(5):
            async with both(agent={"_acme/do": ask_back}, client={"_acme/told": hear, "_acme/back": same}) as (
                agent,
                _,
            ):
                await agent.notify(method="_acme/told")
                while not caplog.messages:
                    await anyio.sleep(0.01)
        assert caplog.messages[0] == (
            "the handler of _acme/told has waited for a response for 0.1 s, and later messages wait for the "
            "handler: 1. If one of them is needed for the answer, that never comes: ask in a task of its own"
        )

    async def test_a_timeout_names_the_handler_that_delays_the_response(self) -> None:
        async def tell_first(params: Any, connection: Connection) -> None:
            await connection.notify(method="_acme/told")

        async with both(agent={"_acme/do": tell_first}, client={"_acme/told": forever}) as (_, client):
            with anyio.fail_after(5), pytest.raises(TimedOut) as late:
                await client.request(method="_acme/do", timeout=0.2)
        assert late.value.behind == "_acme/told"
        assert str(late.value) == (
            "_acme/do: no response within 0.2 s; the response has arrived, but waits for the handler of _acme/told, "
            "which is still running"
        )

    async def test_a_timeout_without_a_response_does_not_blame_a_running_handler(self) -> None:
        async def hear(params: Any, connection: Connection) -> None:
            hearing.set()
            await anyio.sleep_forever()

        hearing = anyio.Event()
        async with against({"_acme/told": hear}, role="client") as (client, peer):
            await peer.say({"method": "_acme/told"})
            with anyio.fail_after(5):
                await hearing.wait()
                with pytest.raises(TimedOut, match=r"^_acme/do: no response within 0.1 s$") as late:
                    await client.request(method="_acme/do", timeout=0.1)
        assert late.value.behind is None

    async def test_a_long_pause_of_reading_is_logged_with_the_cause(
        self, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("acp_bindings.connection._serving._LONG", 0.05)
        release = anyio.Event()
        handlers = {"_acme/did": until(release), "_acme/do": until(release), "_acme/echo": same}
        caplog.set_level(logging.WARNING, "acp_bindings.connection")
        with anyio.fail_after(5):
            async with against(handlers, most_requests=1) as (_, peer):
                await peer.say({"id": 1, "method": "_acme/do"}, {"method": "_acme/did"}, {"method": "_acme/did"})
                await anyio.wait_all_tasks_blocked()
                await peer.say({"id": 2, "method": "_acme/echo", "params": [2]})
                while not caplog.messages:
                    await anyio.sleep(0.01)
                release.set()
                assert {(await peer.hear())["id"] for _ in range(2)} == {1, 2}
        (told,) = caplog.messages
        assert told == (
            "nothing was read from the peer for 0.05 s: 1 of its requests have no response yet, "
            "1 messages wait for the handler of _acme/did"
        )
