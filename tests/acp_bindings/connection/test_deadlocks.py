"""Two sides that wait for one another when both are flooded."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_bindings.connection import Connection, RequestFailed
from acp_bindings.jsonrpc import METHOD_NOT_FOUND
from tests.acp_bindings.connection.support import both

pytestmark = pytest.mark.anyio


def much(params: Any, connection: Connection) -> str:
    return "x" * 1000


async def much_later(params: Any, connection: Connection) -> str:
    await anyio.lowlevel.checkpoint()
    return "x" * 1000


class TestFloodsOfBothSides:
    @pytest.mark.parametrize("handler", [much, much_later])
    async def test_answers_that_fill_both_pipes_are_read(self, handler: Any) -> None:
        async def ask(side: Connection) -> None:
            answers.append(await side.request(method="_acme/much"))

        answers: list[str] = []
        handlers = {"_acme/much": handler}
        with anyio.fail_after(30):
            async with (
                both(agent=handlers, client=handlers, most_requests=100) as sides,
                anyio.create_task_group() as tasks,
            ):
                for side in sides:
                    for _ in range(500):
                        tasks.start_soon(ask, side)
        assert answers == ["x" * 1000] * 1000

    async def test_refusals_that_fill_both_pipes_are_read(self) -> None:
        async def ask(side: Connection) -> None:
            try:
                await side.request(method="_acme/nothing")
            except RequestFailed as error:
                refused.append(error.code)

        refused: list[int] = []
        with anyio.fail_after(30):
            async with both() as sides, anyio.create_task_group() as tasks:
                for side in sides:
                    for _ in range(5000):
                        tasks.start_soon(ask, side)
        assert refused == [METHOD_NOT_FOUND] * 10_000

    async def test_handlers_that_tell_something_back_are_done(self) -> None:
        async def echo(params: Any, connection: Connection) -> None:
            await connection.notify(params, method="_acme/echo")

        async def talk(side: Connection) -> None:
            for number in range(3000):
                await side.notify([number, "x" * 1000], method="_acme/did")

        def hear(params: Any, connection: Connection) -> None:
            heard[connection.role].append(params[0])
            if all(len(each) == 3000 for each in heard.values()):
                done.set()

        heard: dict[str, list[int]] = {"agent": [], "client": []}
        done = anyio.Event()
        handlers = {"_acme/did": echo, "_acme/echo": hear}
        with anyio.fail_after(30):
            async with both(agent=handlers, client=handlers) as sides, anyio.create_task_group() as tasks:
                for side in sides:
                    tasks.start_soon(talk, side)
                await done.wait()
        assert heard == {"agent": [*range(3000)], "client": [*range(3000)]}
