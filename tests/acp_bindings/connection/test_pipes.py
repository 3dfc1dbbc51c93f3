"""Ends of pipes: reads lose nothing and do not block on missing input, and writes stay whole."""

# pyright: reportPrivateUsage=false

import asyncio
import fcntl
import os
import select
import struct
import termios
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial

import anyio
import anyio.lowlevel
import pytest

from acp_bindings._processes.pipes import Reader, Writer

pytestmark = pytest.mark.anyio

POLL = select.poll


@asynccontextmanager
async def piped() -> AsyncGenerator[tuple[Reader, int]]:
    """Yield a reader, and the other end of its pipe."""
    source, sink = os.pipe()
    reader = Reader(source)
    with anyio.fail_after(5):
        yield reader, sink
    with suppress(OSError):
        os.close(sink)
    await reader.aclose()


@pytest.mark.parametrize("steps", range(6))
async def test_a_reader_that_is_cancelled_while_something_arrives_loses_nothing(steps: int) -> None:
    heard = b""

    async def hear(scope: anyio.CancelScope) -> None:
        nonlocal heard
        with scope:
            heard += await reader.receive()

    async with piped() as (reader, sink):
        async with anyio.create_task_group() as tasks:
            scope = anyio.CancelScope()
            tasks.start_soon(hear, scope)
            await anyio.wait_all_tasks_blocked()
            os.write(sink, b"first")
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            scope.cancel()
        os.write(sink, b" second")
        while heard != b"first second":
            heard += await reader.receive()


async def test_a_reader_of_a_descriptor_that_blocks_waits_without_blocking() -> None:
    async with piped() as (reader, sink):
        for text in (b"one", b"two", b"three"):
            os.write(sink, text)
            assert await reader.receive() == text
            with anyio.move_on_after(0.01) as nothing:
                await reader.receive()
            assert nothing.cancelled_caught
        os.close(sink)
        with pytest.raises(anyio.EndOfStream):
            await reader.receive()


async def test_a_closed_reader_is_removed_from_the_event_loop() -> None:
    for _ in range(3):
        async with piped() as (reader, sink):
            os.write(sink, b"text")
            assert await reader.receive() == b"text"


async def test_a_second_task_cannot_receive_at_the_same_time() -> None:
    async def hear() -> None:
        assert await reader.receive() == b"text"

    async with piped() as (reader, sink), anyio.create_task_group() as tasks:
        tasks.start_soon(hear)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(anyio.BusyResourceError):
            await reader.receive()
        os.write(sink, b"text")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_event_loop_reports_unread_data_only_once() -> None:
    async with piped() as (reader, sink):
        with anyio.move_on_after(0.01):
            await reader.receive()
        os.write(sink, b"text")
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        assert not asyncio.get_running_loop().remove_reader(reader._end)
        assert await reader.receive() == b"text"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("steps", range(4))
async def test_a_reader_that_asyncio_cancels_while_something_arrives_loses_nothing(steps: int) -> None:
    async with piped() as (reader, sink):
        task = asyncio.create_task(reader.receive())
        await anyio.wait_all_tasks_blocked()
        os.write(sink, b"first")
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        [heard] = await asyncio.gather(task, return_exceptions=True)
        if isinstance(heard, BaseException):
            assert await reader.receive() == b"first"


@pytest.mark.parametrize("steps", range(4))
@pytest.mark.parametrize("what", ["a task waits", "something arrives", "no task waits any more"])
async def test_a_reader_can_be_closed_while_something_happens(what: str, steps: int) -> None:
    heard: list[bytes] = []

    async def hear(scope: anyio.CancelScope) -> None:
        with scope, suppress(anyio.ClosedResourceError):
            heard.append(await reader.receive())

    async with piped() as (reader, sink):
        async with anyio.create_task_group() as tasks:
            scope = anyio.CancelScope()
            tasks.start_soon(hear, scope)
            await anyio.wait_all_tasks_blocked()
            if what == "something arrives":
                os.write(sink, b"text")
            elif what == "no task waits any more":
                scope.cancel()
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            await reader.aclose()
        with pytest.raises(anyio.ClosedResourceError):
            await reader.receive()
    assert heard in ([], [b"text"])


async def test_a_spurious_wakeup_is_waited_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = 0
    read_now = os.read

    def read(descriptor: int, size: int) -> bytes:
        nonlocal refused
        if descriptor == reader._end and refused < 3:
            refused += 1
            raise BlockingIOError
        return read_now(descriptor, size)

    async with piped() as (reader, sink):
        monkeypatch.setattr(os, "read", read)
        os.write(sink, b"text")
        assert await reader.receive() == b"text"
    assert refused == 3


async def test_a_read_error_is_raised() -> None:
    source, terminal = os.openpty()
    reader = Reader(source)

    async def hear() -> None:
        with pytest.raises(OSError, match="Input/output error"):
            await reader.receive()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hear)
            await anyio.wait_all_tasks_blocked()
            os.close(terminal)
        await hear()
    await reader.aclose()


MORE_THAN_FITS = b"x" * 1_000_000


def pipe() -> tuple[int, Writer]:
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    return source, Writer(sink)


async def read(source: int, size: int) -> bytes:
    """Return this many bytes, or fewer at the end of the pipe."""
    reader, heard = Reader(source), b""
    with anyio.fail_after(5):
        while len(heard) < size:
            try:
                heard += await reader.receive()
            except anyio.EndOfStream:
                break
    await reader.aclose()
    return heard


async def test_the_rests_of_cancelled_writes_precede_later_writes() -> None:
    source, writer = pipe()
    for text in (b"first", b"second"):
        with anyio.move_on_after(0.05) as stuck:
            await writer.send(MORE_THAN_FITS + text)
        assert stuck.cancelled_caught
    assert os.read(source, 65536) == MORE_THAN_FITS[:65536]
    assert writer.send_at_once(b"too early") == 0

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(writer.send, b"third")
        expected = MORE_THAN_FITS[65536:] + b"first" + MORE_THAN_FITS + b"secondthird"
        assert await read(source, len(expected)) == expected
    await writer.aclose()


async def test_an_immediate_write_takes_as_much_as_fits() -> None:
    source, writer = pipe()
    assert writer.send_at_once(b"all of it") == 9
    written = 9 + writer.send_at_once(MORE_THAN_FITS)
    assert 9 < written < len(MORE_THAN_FITS)
    assert writer.send_at_once(b"more") == 0
    await writer.aclose()
    assert await read(source, len(MORE_THAN_FITS)) == b"all of it" + MORE_THAN_FITS[: written - 9]


async def test_an_immediate_write_does_not_interleave_with_another_write() -> None:
    source, writer = pipe()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(writer.send, MORE_THAN_FITS + b"end")
            await anyio.wait_all_tasks_blocked()
            os.read(source, 65536)
            assert writer.send_at_once(b"between") == 0
            assert (await read(source, len(MORE_THAN_FITS) + 3 - 65536))[-4:] == b"xend"
    await writer.aclose()


async def test_writing_without_a_reader_raises_broken_pipe() -> None:
    source, writer = pipe()
    os.close(source)
    assert writer.send_at_once(b"x") == 0
    with pytest.raises(BrokenPipeError):
        await writer.send(b"x")
    await writer.aclose()


async def test_closing_a_writer_raises_in_the_waiting_task_and_stops_writing() -> None:
    source, writer = pipe()

    async def talk() -> None:
        with pytest.raises(anyio.ClosedResourceError):
            await writer.send(MORE_THAN_FITS)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(talk)
            await anyio.wait_all_tasks_blocked()
            await writer.aclose()
        await writer.aclose()
        with pytest.raises(anyio.ClosedResourceError):
            await writer.send(b"x")
    os.close(source)


async def test_a_closed_writer_does_not_write_to_a_reused_descriptor() -> None:
    source, writer = pipe()
    os.close(source)
    await writer.aclose()
    # The lowest that are free.
    others = os.pipe()
    assert writer.send_at_once(b"x") == 0
    for descriptor in others:
        os.close(descriptor)


@pytest.mark.parametrize("is_like_macos", [False, True])
async def test_was_read_is_true_once_the_child_has_read_anything(
    is_like_macos: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    child_end, end = os.pipe()
    stdin = Writer(end)
    if is_like_macos:
        # A writing end has its unread bytes only as the size of the file.
        unread, stat = partial(fcntl.ioctl, child_end, termios.FIONREAD, bytes(4)), os.fstat

        def with_size(descriptor: int) -> os.stat_result:
            found = stat(descriptor)
            return (
                os.stat_result((*found[:6], *struct.unpack("i", unread()), *found[7:])) if descriptor == end else found
            )

        def nothing(*_: object) -> bytes:
            return bytes(4)

        monkeypatch.setattr(fcntl, "ioctl", nothing)
        monkeypatch.setattr(os, "fstat", with_size)
    assert not stdin.was_read()
    assert stdin.send_at_once(b"ab") == 2
    await stdin.send(b"c")
    assert not stdin.was_read()
    os.read(child_end, 1)
    assert stdin.was_read()
    await stdin.send(b"d")
    assert stdin.was_read()

    os.close(child_end)
    await stdin.aclose()
    assert not stdin.was_read()


class PollOfMacOS:
    """`select.poll` of macOS: it reports nothing without an event to wait for, and POLLHUP instead of POLLERR."""

    def __init__(self) -> None:
        self._poll = POLL()
        self._events = 0

    def register(self, descriptor: int, events: int) -> None:
        self._events = events
        self._poll.register(descriptor, events)

    def poll(self, timeout: int) -> list[tuple[int, int]]:
        found = self._poll.poll(timeout) if self._events else []
        return [(end, select.POLLHUP if events & select.POLLERR else events) for end, events in found]


@pytest.mark.parametrize("poll", [POLL, PollOfMacOS])
async def test_has_reader_is_false_once_the_child_has_closed_its_end(
    poll: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(select, "poll", poll)
    source, writer = pipe()
    assert writer.has_reader()
    writer.send_at_once(MORE_THAN_FITS)
    assert writer.has_reader()
    os.close(source)
    assert not writer.has_reader()
    await writer.aclose()
    assert not writer.has_reader()
