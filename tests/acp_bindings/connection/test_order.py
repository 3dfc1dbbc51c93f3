"""Messages are handled in the order in which they arrive: updates, requests, and responses to waiting requests."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_bindings import v1
from acp_bindings.connection import Connection, Handlers
from acp_bindings.jsonrpc import INTERNAL_ERROR, REQUEST_CANCELLED
from acp_bindings.setup import RequestError
from tests.acp_bindings.connection.support import (
    PROMPT,
    against,
    an_answer,
    both,
    doing,
    into,
    nothing,
    until_full,
)

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("slow", [True, False])
async def test_updates_are_handled_in_order_and_before_the_response_after_them(slow: bool) -> None:
    heard: list[Any] = []

    async def prompt(request: v1.PromptRequest, connection: Connection) -> v1.PromptResponse:
        for number in range(300):
            await connection.notify([number], method="_acme/did")
        return v1.PromptResponse(stop_reason="end_turn")

    async with both(agent={v1.PromptRequest: prompt}, client={"_acme/did": into(heard, waits=slow)}) as (_, client):
        for _ in range(3):
            heard.clear()
            await client.request(PROMPT)
            assert heard == [[number] for number in range(300)]


async def test_handlers_of_both_kinds_keep_the_order() -> None:
    heard: list[Any] = []
    wait = into(heard, waits=True)

    def later(params: Any, connection: Connection) -> Any:
        return wait(params, connection)

    handlers: dict[Any, Any] = {"_a": wait, "_b": into(heard), "_c": later, "_acme/do": nothing}
    async with against(handlers) as (_, peer):
        names = ["_a", "_b", "_c", "_b", "_b", "_a", "_c", "_c", "_b"] * 20
        await peer.say(*({"method": name, "params": [n]} for n, name in enumerate(names)), doing(1))
        await peer.hear()
    assert heard == [[n] for n in range(len(names))]


async def test_a_request_handler_has_started_before_the_next_message_is_handled() -> None:
    prompting: set[str] = set()
    seen: list[bool] = []

    async def prompt(request: v1.PromptRequest, connection: Connection) -> None:
        prompting.add(request.session_id)

    def cancel(request: v1.CancelNotification, connection: Connection) -> None:
        seen.append(request.session_id in prompting)

    params: dict[str, Any] = {"sessionId": "s", "prompt": []}
    for _ in range(10):
        prompting.clear()
        async with against({v1.PromptRequest: prompt, v1.CancelNotification: cancel}) as (_, peer):
            await peer.say(
                {"id": 1, "method": "session/prompt", "params": params},
                {"method": "session/cancel", "params": {"sessionId": "s"}},
            )
            await peer.hear()
    assert seen == [True] * 10


@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize("slow", [False, True])
async def test_a_task_continues_between_the_messages_before_and_after_its_response(before: int, *, slow: bool) -> None:
    heard: list[Any] = []

    async def ask() -> None:
        await client.request(method="_acme/do", timeout=5)
        heard.append("answer")

    async def serve(params: Any, connection: Connection) -> None:
        heard.append(params)
        await anyio.lowlevel.checkpoint()

    handlers: dict[Any, Any] = {"_acme/did": into(heard, waits=slow), "_acme/do": serve}
    did = [{"method": "_acme/did", "params": [number]} for number in range(before + 3)]
    asked = [doing(number, f"asked {number}") for number in range(before + 1)]
    early, late = [*asked[:before], *did[:before]], [*did[before:], *asked[before:]]
    for _ in range(10):
        heard.clear()
        async with against(handlers, role="client") as (client, peer), anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            id_ = (await peer.hear())["id"]
            await peer.say(*early, an_answer(id_), *late)
            for _ in asked:
                await peer.hear()
        assert heard == [*(each["params"] for each in early), "answer", *(each["params"] for each in late)]


@pytest.mark.parametrize("asks", [True, False])
async def test_earlier_request_handlers_have_started_when_an_exclusive_handler_starts(*, asks: bool) -> None:
    async def serve(params: Any, connection: Connection) -> None:
        heard.append(params)
        await anyio.lowlevel.checkpoint()

    heard: list[Any] = []
    handlers = Handlers({"_acme/do": serve})
    handlers.on("_acme/settle", exclusive=True)(into(heard))
    for _ in range(10):
        heard.clear()
        async with against(handlers) as (_, peer):
            settling = {"method": "_acme/settle", "params": ["settled"], **({"id": 9} if asks else {})}
            await peer.say(*(doing(number, [number]) for number in range(3)), settling, doing(3, [3]))
            for _ in range(4 + asks):
                await peer.hear()
        assert heard == [[0], [1], [2], ["settled"], [3]]


async def test_nothing_waits_for_a_task_that_abandoned_its_request() -> None:
    heard: list[Any] = []
    begun, go_on = anyio.Event(), anyio.Event()

    async def hear(params: Any, connection: Connection) -> None:
        heard.append(params)
        begun.set()
        await go_on.wait()

    async with against({"_acme/did": hear, "_acme/do": nothing}, role="client") as (client, peer):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(client.request, method="_acme/do"))
            id_ = (await peer.hear())["id"]
            await peer.say({"method": "_acme/did", "params": [1]}, an_answer(id_))
            await begun.wait()
            tasks.cancel_scope.cancel()
        go_on.set()
        await peer.say({"method": "_acme/did", "params": [2]}, doing(1))
        assert (await peer.hear())["id"] == 1
    assert heard == [[1], [2]]


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.usefixtures("hasty")
async def test_after_response_notifications_directly_follow_the_response(*, full: bool, exclusive: bool) -> None:
    heard: list[Any] = []
    async with anyio.create_task_group() as tasks:

        async def send(connection: Connection, number: int) -> None:
            await connection.notify([number], method="_acme/after", after_response=True)

        async def send_all(connection: Connection) -> None:
            for number in range(10, 60):
                await send(connection, number)
                await anyio.lowlevel.checkpoint()

        async def begin(params: Any, connection: Connection) -> str:
            await send(connection, 0)
            tasks.start_soon(send_all, connection)
            for number in range(1, 10):
                await send(connection, number)
            await anyio.lowlevel.checkpoint()
            return "begun"

        async def chat(connection: Connection) -> None:
            while True:
                await connection.notify(["x" * 10_000], method="_acme/other")
                await anyio.lowlevel.checkpoint()

        handlers = Handlers()
        handlers.on("_acme/begin", exclusive=exclusive)(begin)
        async with against(handlers) as (agent, peer):
            if full:
                for _ in range(3):
                    tasks.start_soon(chat, agent)
                await until_full(agent)
            await peer.say({"id": 1, "method": "_acme/begin"})
            await anyio.wait_all_tasks_blocked()
            with anyio.fail_after(30):
                while not heard or heard[-1].get("params") != [59]:
                    heard.append(await peer.hear())
            tasks.cancel_scope.cancel()
    (place,) = [place for place, message in enumerate(heard) if "result" in message]
    after = [message["params"][0] for message in heard if message.get("method") == "_acme/after"]
    assert after == list(range(60))
    assert heard[place] == {"id": 1, "result": "begun"}
    # What was sent before the handler returned, which are ten at least.
    assert [message.get("params") for message in heard[place + 1 : place + 11]] == [[number] for number in range(10)]


@pytest.mark.parametrize("end", ["an error", "an exception", "a cancellation"])
async def test_after_response_notifications_are_dropped_if_the_response_is_an_error(end: str) -> None:
    begun = anyio.Event()

    async def begin(params: Any, connection: Connection) -> None:
        await connection.notify([1], method="_acme/after", after_response=True)
        begun.set()
        if end == "a cancellation":
            await anyio.sleep_forever()
        raise RequestError(-7, "refused") if end == "an error" else ValueError

    async with against({"_acme/do": begin, "_acme/next": nothing}) as (_, peer):
        await peer.say(doing(1))
        with anyio.fail_after(5):
            await begun.wait()
        await peer.say({"method": "$/cancel_request", "params": {"requestId": 1}})
        answers = [await peer.hear()]
        await peer.say({"id": 2, "method": "_acme/next"})
        answers.append(await peer.hear())
    codes = {"an error": -7, "an exception": INTERNAL_ERROR, "a cancellation": REQUEST_CANCELLED}
    assert answers[0]["error"]["code"] == codes[end]
    assert answers[1] == {"id": 2, "result": None}


async def test_after_response_sends_at_once_if_the_response_was_sent() -> None:
    go_on = anyio.Event()

    async def send(connection: Connection) -> None:
        await go_on.wait()
        await connection.notify([1], method="_acme/after", after_response=True)

    async with anyio.create_task_group() as tasks:

        async def begin(params: Any, connection: Connection) -> None:
            tasks.start_soon(send, connection)

        async with against({"_acme/do": begin}) as (_, peer):
            await peer.say(doing(1))
            assert await peer.hear() == {"id": 1, "result": None}
            go_on.set()
            assert await peer.hear() == {"method": "_acme/after", "params": [1]}


async def test_after_response_outside_of_a_request_handler_is_refused() -> None:
    refused: list[str] = []

    async def send(connection: Connection) -> None:
        with pytest.raises(RuntimeError, match="after_response") as error:
            await connection.notify([1], method="_acme/after", after_response=True)
        refused.append(str(error.value))

    async def hear(params: Any, connection: Connection) -> None:
        await send(connection)

    async def through_another(params: Any, connection: Connection) -> None:
        await send(other)

    async with against() as (other, _), against({"_acme/did": hear, "_acme/do": through_another}) as (agent, peer):
        await send(agent)
        await peer.say({"method": "_acme/did"}, doing(1))
        assert await peer.hear() == {"id": 1, "result": None}
    assert len(refused) == 3
