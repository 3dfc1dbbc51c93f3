"""Lines that wait to be written: no more of them than there is room for, and none once nothing can be written."""

from __future__ import annotations

import anyio
import pytest

from acp_bindings.connection.outbox import Outbox

pytestmark = pytest.mark.anyio

LINE = b"x" * 10_000
FULL = 65536


class Broken:
    """A sink that takes nothing."""

    async def send(self, item: bytes) -> None:
        raise anyio.BrokenResourceError

    async def aclose(self) -> None:
        """Nothing is open."""


class Slow:
    """A sink that notes the most that it was given at once."""

    def __init__(self) -> None:
        self.most = 0

    async def send(self, item: bytes) -> None:
        self.most = max(self.most, len(item))
        await anyio.sleep(0.001)

    async def aclose(self) -> None:
        """Nothing is open."""


async def test_once_nothing_can_be_written_nobody_waits() -> None:
    outbox = Outbox(Broken())
    with anyio.fail_after(5):
        outbox.add(b"x")
        await outbox.run()
        for _ in range(100):
            await outbox.put(LINE)
        await outbox.flush()


async def test_many_that_wait_for_room_do_not_take_it_all_at_once() -> None:
    sink = Slow()
    outbox = Outbox(sink)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outbox.run)
            async with anyio.create_task_group() as senders:
                for _ in range(100):
                    senders.start_soon(outbox.put, LINE)
            await outbox.flush()
            tasks.cancel_scope.cancel()

    assert sink.most < FULL + len(LINE)
