"""Exclusive handlers, `initialize` and `then` finish before the next line is read, because they affect its reading."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_bindings import v1, v2
from acp_bindings.connection import Connection, Handlers, RequestFailed
from tests.acp_bindings.connection.support import (
    against,
    an_x,
    both,
    doing,
    into,
    nothing,
    same,
)

pytestmark = pytest.mark.anyio


async def test_messages_after_initialize_are_read_in_the_negotiated_version() -> None:
    handlers = Handlers()

    @handlers.on(v1.InitializeRequest)
    async def initialize(request: v1.InitializeRequest, connection: Connection) -> v1.InitializeResponse:
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        connection.protocol = v2
        return v1.InitializeResponse(protocol_version=1)

    @handlers.on(v2.NewSessionRequest)
    async def new(request: v2.NewSessionRequest, connection: Connection) -> v2.NewSessionResponse:
        return v2.NewSessionResponse(session_id="two")

    @handlers.on(v1.NewSessionRequest)
    async def old(request: v1.NewSessionRequest, connection: Connection) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id="one")

    async with against(handlers) as (agent, peer):
        await peer.say(
            {"id": 0, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}},
            {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
            {"id": 2, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}},
        )
        answers = [await peer.hear() for _ in range(3)]
        assert agent.protocol is v2
    by_id = {answer["id"]: answer["result"] for answer in answers}
    assert (by_id[0], by_id[2]) == ({"sessionId": "one"}, {"sessionId": "two"})


async def test_then_is_called_before_the_next_line_is_read() -> None:
    heard: list[Any] = []

    def settle(answer: v1.InitializeResponse) -> int:
        client.protocol = v2
        return answer.protocol_version

    content = {"type": "text", "text": "x"}
    update = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": content}
    handlers: dict[Any, Any] = {each: into(heard) for each in (v1.SessionNotification, v2.UpdateSessionNotification)}
    async with against(handlers, role="client") as (client, peer), anyio.create_task_group() as tasks:

        async def answer() -> None:
            asked = await peer.hear()
            await peer.say(
                {"id": asked["id"], "result": {"protocolVersion": 1}},
                {"method": "session/update", "params": {"sessionId": "s", "update": update}},
            )

        tasks.start_soon(answer)
        version = await client.request(v1.InitializeRequest(protocol_version=1), then=settle, timeout=5)
        await anyio.wait_all_tasks_blocked()
        assert version == 1
    assert [type(each) for each in heard] == [v2.UpdateSessionNotification]


async def test_an_exception_of_then_is_raised_by_the_request() -> None:
    def settle(answer: Any) -> None:
        raise KeyError(answer)

    async with both(agent={"_acme/do": an_x}) as (_, client):
        with pytest.raises(KeyError, match="x"):
            await client.request(method="_acme/do", then=settle)
        assert await client.request(method="_acme/do") == "x"


@pytest.mark.parametrize("asks", [True, False])
async def test_reading_pauses_until_an_exclusive_handler_ends(asks: bool) -> None:
    async def settle(params: Any, connection: Connection) -> None:
        await anyio.wait_all_tasks_blocked()
        seen.append(b"done")

    def trace(who: str, line: bytes) -> None:
        if who == "peer":
            seen.append(line)

    seen: list[bytes] = []
    handlers = Handlers({"_acme/do": nothing})
    handlers.on("_acme/settle", exclusive=True)(settle)
    async with against(handlers, trace=trace) as (_, peer):
        await peer.say({"method": "_acme/settle", **({"id": 1} if asks else {})}, doing(2))
        while (await peer.hear())["id"] != 2:
            pass
    assert [b"settle" in each or each == b"done" for each in seen] == [True, True, False]


@pytest.mark.parametrize("asks", [True, False])
async def test_an_exclusive_handler_cannot_wait_for_the_peer(asks: bool, caplog: pytest.LogCaptureFixture) -> None:
    handlers = Handlers({"_acme/next": nothing})

    @handlers.on("_acme/do", exclusive=True)
    async def do(params: Any, connection: Connection) -> Any:
        return await connection.request(method="_acme/do")

    async with both(agent=handlers) as (_, client):
        if asks:
            with pytest.raises(RequestFailed, match="Internal error"):
                await client.request(method="_acme/do", timeout=5)
        else:
            await client.notify(method="_acme/do")
        await client.request(method="_acme/next", timeout=5)
    assert "an exclusive handler cannot send requests" in caplog.text


async def test_a_task_of_an_exclusive_handler_may_send_requests_after_it_ends() -> None:
    go_on = anyio.Event()
    answers: list[Any] = []

    async with anyio.create_task_group() as tasks:

        async def ask(connection: Connection) -> None:
            await go_on.wait()
            answers.append(await connection.request([1], method="_acme/do", timeout=5))

        async def initialize(params: Any, connection: Connection) -> v1.InitializeResponse:
            tasks.start_soon(ask, connection)
            return v1.InitializeResponse(protocol_version=1)

        async with both(agent={v1.InitializeRequest: initialize}, client={"_acme/do": same}) as (_, client):
            await client.request(v1.InitializeRequest(protocol_version=1))
            go_on.set()
            with anyio.fail_after(5):
                while not answers:
                    await anyio.lowlevel.checkpoint()
    assert answers == [[1]]
