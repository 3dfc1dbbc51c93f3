"""`wait_for`: waiting for the effect of the peer's messages, or for the end of the connection."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import sys

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskStatus

from acp_bindings import v1
from acp_bindings.connection import Connection, ConnectionClosed, Handlers, connect_process
from tests.acp_bindings.connection.support import against, setting

pytestmark = pytest.mark.anyio

TOLD = {"method": "_acme/did"}


async def test_wait_for_returns_the_result_that_an_update_sets() -> None:
    event = anyio.Event()

    async def value() -> str:
        await event.wait()
        return "brought"

    async with (
        against({"_acme/did": setting(event)}, role="client") as (client, peer),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(peer.say, TOLD)
        with anyio.fail_after(5):
            assert await client.wait_for(value()) == "brought"
        assert not client._waiting._turns


@pytest.mark.parametrize("end", ["the peer closed the connection", "the connection was closed"])
async def test_wait_for_raises_when_either_side_closes_the_connection(end: str) -> None:
    async with against(role="client") as (client, peer), anyio.create_task_group() as tasks:

        async def wait() -> None:
            with pytest.raises(ConnectionClosed, match=end):
                await client.wait_for(anyio.sleep_forever())

        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(5):
            if end == "the connection was closed":
                client.close()
            else:
                await peer.stream.aclose()


async def test_each_call_after_the_end_raises_its_own_error() -> None:
    """The traceback of a shared one would grow with each call, and keep all frames alive."""
    async with against(role="client") as (client, _):
        client.close()
        errors: list[ConnectionClosed] = []
        for _ in range(2):
            with pytest.raises(ConnectionClosed) as caught:
                await client.notify(method="_acme/do")
            errors.append(caught.value)
            with pytest.raises(ConnectionClosed) as caught:
                await client.wait_for(anyio.sleep_forever())
            errors.append(caught.value)
        end = await client.wait_ended()
    assert len({end, *errors}) == 5
    assert {str(each) for each in errors} == {str(end)}


async def test_wait_for_raises_with_the_exit_status_of_a_process() -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no licence')"]
    with anyio.fail_after(10), pytest.raises(ConnectionClosed) as caught:
        async with connect_process(command, protocol=v1) as agent:
            await agent.wait_for(anyio.sleep_forever())
    assert caught.value.exit_status == 1
    assert "no licence" in str(caught.value)


@pytest.mark.parametrize("when", ["before the end", "after it", "after the last handler"])
async def test_wait_for_returns_a_result_that_the_last_message_sets_slowly(when: str) -> None:
    event = anyio.Event()

    async def hear(_params: object, _connection: Connection) -> None:
        await anyio.sleep(0.3)
        event.set()

    async with against({"_acme/did": hear}, role="client") as (client, peer):
        await peer.say(TOLD)
        await peer.stream.aclose()
        with anyio.fail_after(5):
            while when == "after it" and "closed" not in repr(client):
                await anyio.sleep(0.01)
            if when == "after the last handler":
                await client.wait_ended()
            await client.wait_for(event.wait())
            with pytest.raises(ConnectionClosed):
                await client.wait_for(anyio.sleep_forever())


async def test_wait_for_raises_exceptions_unchanged() -> None:
    async def fail() -> None:
        raise ExceptionGroup("of its own", [ValueError("a")])

    async with against(role="client") as (client, _):
        with pytest.raises(ExceptionGroup, match="of its own"):
            await client.wait_for(fail())
        with anyio.move_on_after(0.05) as scope:
            await client.wait_for(anyio.sleep_forever())
        assert scope.cancelled_caught


@pytest.mark.filterwarnings("error")
async def test_a_handler_that_blocks_all_messages_cannot_call_wait_for() -> None:
    refused: list[str] = []
    handlers = Handlers()

    async def wait(_params: object, connection: Connection) -> None:
        try:
            await connection.wait_for(anyio.sleep_forever())
        except RuntimeError as error:
            refused.append(str(error))

    async def wait_beside(params: object, connection: Connection) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait, params, connection)

    handlers.on("_acme/did")(wait)
    handlers.on("_acme/alone", exclusive=True)(wait)
    handlers.on("_acme/beside", exclusive=True)(wait_beside)
    async with against(handlers) as (_, peer):
        await peer.say(TOLD, {"id": 1, "method": "_acme/alone"}, {"id": 2, "method": "_acme/beside"})
        with anyio.fail_after(5):
            await peer.hear()
            await peer.hear()
    alone = "an exclusive handler cannot wait for the peer: no message is read before it ends"
    assert refused == ["no other message is handled before this handler ends; wait in a separate task", alone, alone]


async def test_a_request_handler_may_wait_because_others_run_concurrently() -> None:
    event = anyio.Event()

    async def work(_params: object, connection: Connection) -> str:
        await connection.wait_for(event.wait())
        return "done"

    async with against({"_acme/do": work, "_acme/did": setting(event)}, most_requests=1) as (_, peer):
        await peer.say({"id": 1, "method": "_acme/do"})
        await anyio.wait_all_tasks_blocked()
        # More requests than are handled at a time: reading goes on, as it waits for what is behind them.
        await peer.say({"id": 2, "method": "_acme/do"})
        await anyio.wait_all_tasks_blocked()
        await peer.say(TOLD)
        assert [(await peer.hear())["result"] for _ in range(2)] == ["done", "done"]


async def test_a_task_of_a_blocking_handler_gets_connection_closed_from_wait_for() -> None:
    told: list[ConnectionClosed] = []

    async def hear(_params: object, connection: Connection) -> None:
        async def wait() -> None:
            try:
                await connection.wait_for(anyio.sleep_forever())
            except ConnectionClosed as end:
                told.append(end)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)

    async with against({"_acme/did": hear}) as (agent, peer):
        await peer.say(TOLD)
        await anyio.wait_all_tasks_blocked()
        await peer.stream.aclose()
        with anyio.fail_after(5):
            await agent.wait_ended()
    assert len(told) == 1


async def test_a_task_that_outlives_its_handler_gets_results_of_earlier_messages() -> None:
    event = anyio.Event()
    told: list[object] = []

    async def hear(_params: object, _connection: Connection) -> None:
        await anyio.sleep(0.3)
        event.set()

    async with anyio.create_task_group() as tasks:

        async def wait(connection: Connection, *, task_status: TaskStatus[None]) -> None:
            task_status.started()
            told.append(await connection.wait_for(event.wait()))

        async def begin(_params: object, connection: Connection) -> None:
            await tasks.start(wait, connection)
            await anyio.lowlevel.checkpoint()

        async with against({"_acme/begin": begin, "_acme/did": hear}, role="client") as (client, peer):
            await peer.say({"method": "_acme/begin"}, TOLD)
            await anyio.wait_all_tasks_blocked()
            await peer.stream.aclose()
            with anyio.fail_after(5):
                await client.wait_ended()
    assert told == [None]
