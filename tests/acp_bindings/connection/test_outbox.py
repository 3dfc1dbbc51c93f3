"""Lines that wait to be written: no more than there is room for, and none after writing has failed."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskGroup

from acp_bindings.connection._outbox import Outbox

pytestmark = pytest.mark.anyio

LINE = b"x" * 10_000
FULL = 65536
OWED = 8 * 1024 * 1024


class Broken:
    """A sink that accepts nothing."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def send(self, item: bytes) -> None:
        await anyio.lowlevel.checkpoint()
        raise self.error


class Slow:
    """A sink that records the writes."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    async def send(self, item: bytes) -> None:
        self.sent.append(item)
        await anyio.sleep(0.001)


class Held:
    """A slow sink, which accepts nothing at once and ends only as many writes as it may."""

    def __init__(self) -> None:
        self.may_end = anyio.Semaphore(0)
        self.tried: list[bytes] = []
        """The items that it should have accepted at once."""
        self.sent: list[bytes] = []

    def send_at_once(self, item: bytes) -> int:
        self.tried.append(item)
        return 0

    async def send(self, item: bytes) -> None:
        await self.may_end.acquire()
        self.sent.append(item)

    def end(self, writes: int) -> None:
        for _ in range(writes):
            self.may_end.release()


class Prompt:
    """A sink that accepts at once as much as there is room for."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.taken: list[bytes] = []
        """The bytes accepted at once."""
        self.sent: list[bytes] = []
        """The bytes accepted later."""

    def send_at_once(self, item: bytes) -> int:
        self.taken.append(item[: self.room])
        return len(self.taken[-1])

    async def send(self, item: bytes) -> None:
        self.sent.append(item)


@asynccontextmanager
async def running(outbox: Outbox) -> AsyncGenerator[TaskGroup]:
    """Write lines in the block, and all that wait at its end."""
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outbox.run)
            yield tasks
            await outbox.flush()
            tasks.cancel_scope.cancel()


async def test_lines_without_hurry_wait_until_enough_are_queued() -> None:
    sink = Prompt(FULL)
    outbox = Outbox(sink)

    outbox.add(b"x" * 16383)
    assert sink.taken == []
    outbox.add(b"y")
    assert sink.taken == [b"x" * 16383 + b"y"]
    outbox.add(b"z", hurry=True)
    await outbox.flush()

    assert (sink.taken[1:], sink.sent) == ([b"z"], [])


async def test_the_rest_of_a_partial_write_goes_out_before_later_lines() -> None:
    sink = Prompt(3)
    traced: list[bytes] = []
    outbox = Outbox(sink, trace=traced.append)

    outbox.add(b"first", hurry=True)
    outbox.add(b"second", hurry=True)
    async with running(outbox):
        await outbox.flush()
        await outbox.respond([b"two"], hurry=True)

    assert (sink.taken, sink.sent) == ([b"fir", b"two"], [b"stsecond"])
    assert traced == [b"first", b"second", b"two"]


async def test_lines_and_flush_wait_for_a_write_in_progress() -> None:
    sink = Held()
    outbox = Outbox(sink)
    outbox.add(b"first")

    async def flush() -> None:
        await outbox.flush()
        assert sink.sent == [b"first", b"second"]

    async with running(outbox), anyio.create_task_group() as waiting:
        await anyio.wait_all_tasks_blocked()
        outbox.add(b"second", hurry=True)
        waiting.start_soon(flush)
        for _ in range(2):
            sink.end(1)
            await anyio.wait_all_tasks_blocked()

    assert sink.tried == []


async def test_flush_returns_after_an_immediate_write() -> None:
    sink = Prompt(FULL)
    outbox = Outbox(sink)
    outbox.add(b"first")
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outbox.flush)
            await anyio.wait_all_tasks_blocked()
            outbox.add(b"second", hurry=True)

    assert sink.taken == [b"firstsecond"]


async def test_lines_written_immediately_do_not_count_towards_the_limits() -> None:
    outbox = Outbox(Prompt(OWED))
    for _ in range(3):
        outbox.owe(b"x" * OWED)
        assert (outbox.is_full, outbox.owes_much) == (False, False)


async def test_a_sink_is_sent_whole_lines() -> None:
    sink = Slow()
    outbox = Outbox(sink)
    lines = [b"%d" % number * size + b"\n" for number, size in enumerate([1, 10_000, 100_000, 3, 65_535] * 5)]
    async with running(outbox):
        for number, line in enumerate(lines):
            await outbox.respond([line], hurry=number % 2 == 0)
    assert b"".join(sink.sent) == b"".join(lines)
    assert [item[-1:] for item in sink.sent] == [b"\n"] * len(sink.sent)


async def test_the_limits_of_the_queue_apply_until_it_is_written() -> None:
    outbox = Outbox(Slow())

    outbox.add(b"x" * (FULL - 1))
    assert (outbox.is_full, outbox.owes_much) == (False, False)
    outbox.add(b"x")
    assert (outbox.is_full, outbox.owes_much) == (True, False)
    outbox.owe(b"x" * (OWED - 1))
    assert outbox.owes_much is False
    outbox.owe(b"x")
    assert outbox.owes_much is True
    async with running(outbox):
        await outbox.paid()
        assert (outbox.is_full, outbox.owes_much) == (False, False)


@pytest.mark.parametrize("error", [anyio.BrokenResourceError(), anyio.ClosedResourceError(), OSError()], ids=repr)
async def test_no_sender_waits_any_more_when_the_sink_breaks(error: Exception) -> None:
    outbox = Outbox(Broken(error))
    outbox.owe(b"x" * OWED)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            for wait in (outbox.line_up(LINE).wait, outbox.paid, outbox.flush, outbox.broken.wait):
                tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(outbox.run)
        for _ in range(100):
            await outbox.respond([LINE])
        outbox.owe(b"x" * OWED)
        await outbox.paid()
        await outbox.flush()

    assert (outbox.is_broken, outbox.is_full, outbox.owes_much) == (True, False, False)


async def test_senders_wait_at_the_limit_until_the_queue_is_being_written() -> None:
    outbox = Outbox(Held())
    outbox.owe(b"x" * OWED)
    ended: list[str] = []

    async def wait_for_room() -> None:
        await outbox.respond([b"y"])
        ended.append("sent")

    async def wait_until_paid() -> None:
        await outbox.paid()
        ended.append("paid")

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            async with anyio.create_task_group() as waiting:
                waiting.start_soon(wait_for_room)
                waiting.start_soon(wait_until_paid)
                await anyio.wait_all_tasks_blocked()
                assert ended == []
                tasks.start_soon(outbox.run)
            tasks.cancel_scope.cancel()


async def test_many_that_wait_for_room_do_not_take_it_all_at_once() -> None:
    sink = Slow()
    outbox = Outbox(sink)
    async with running(outbox), anyio.create_task_group() as senders:
        for _ in range(100):
            senders.start_soon(outbox.respond, [LINE])

    assert max(map(len, sink.sent)) < FULL + len(LINE)


async def test_a_cancelled_sender_sends_nothing_and_blocks_no_other() -> None:
    sink = Held()
    outbox = Outbox(sink)
    outbox.add(b"0" * FULL)
    places = [outbox.line_up(b"%d" % number) for number in range(1, 4)]
    taken: list[bool] = []

    async def wait(number: int) -> None:
        taken.append(await places[number].wait())

    async with anyio.create_task_group() as cancelled:
        cancelled.start_soon(wait, 1)
        await anyio.wait_all_tasks_blocked()
        cancelled.cancel_scope.cancel()
    async with running(outbox) as tasks:
        tasks.start_soon(wait, 0)
        tasks.start_soon(wait, 2)
        sink.end(2)
    assert b"".join(sink.sent)[FULL:] == b"13"
    assert taken == [True, True]


async def test_withdrawing_the_only_line_admits_waiting_senders() -> None:
    sink, line = Held(), b"1" * FULL
    outbox = Outbox(sink)
    outbox.add(b"first")
    async with running(outbox) as tasks:
        await anyio.wait_all_tasks_blocked()
        outbox.add(line)
        tasks.start_soon(outbox.respond, [b"waited"])
        await anyio.wait_all_tasks_blocked()
        assert outbox.withdraw(line)
        sink.end(2)
        await outbox.flush()

        assert sink.sent == [b"first", b"waited"]


async def test_flush_returns_when_the_last_line_is_withdrawn() -> None:
    line = b"line"
    outbox = Outbox(Held())
    outbox.add(line)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outbox.flush)
            await anyio.wait_all_tasks_blocked()
            assert outbox.withdraw(line)
