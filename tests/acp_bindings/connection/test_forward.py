"""Lines for a listener: complete, redacted, and never delaying the connection."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import threading
from collections.abc import Callable

import anyio
import pytest

from acp_bindings._processes.forward import LineForwarder
from acp_bindings._redact import Redactor

pytestmark = pytest.mark.anyio

SECRET = "sk-hunter2-never-shown"


async def told(*chunks: bytes) -> list[str]:
    """Return the lines that a listener receives for these chunks."""
    lines: list[str] = []
    await forward(lines.append, *chunks)
    return lines


async def forward(listener: Callable[[str], object], *chunks: bytes) -> LineForwarder:
    forwarder = LineForwarder(listener, hide=Redactor([SECRET]))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(forwarder.run)
            for chunk in chunks:
                forwarder.feed(chunk)
            await forwarder.finish()
            tasks.cancel_scope.cancel()
    return forwarder


async def test_lines_are_forwarded_whole_however_they_arrive() -> None:
    assert await told(b"one\ntw", b"o\r\n", b"", b"\nlast") == ["one", "two", "", "last"]


async def test_lines_and_the_end_are_noticed_while_there_are_none() -> None:
    lines: list[str] = []
    forwarder = LineForwarder(lines.append, hide=Redactor())
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(forwarder.run)
            await anyio.wait_all_tasks_blocked()
            forwarder.feed(b"one\n")
            while not lines:
                await anyio.sleep(0.01)
            await anyio.wait_all_tasks_blocked()
            await forwarder.finish()
            assert forwarder._told.is_set()


async def test_a_secret_in_two_chunks_is_redacted() -> None:
    assert await told(f"key {SECRET[:7]}".encode(), f"{SECRET[7:]} is old\n".encode()) == ["key [redacted] is old"]


async def test_an_overlong_line_is_not_forwarded_because_secrets_may_be_cut() -> None:
    long = b"x" * 10_000

    assert await told(long, long, SECRET.encode(), b"\nnext\n") == ["[a line of more than 16384 bytes]", "next"]
    assert await told(long, long) == ["[a line of more than 16384 bytes]"]


async def test_a_line_is_forwarded_up_to_the_maximum_length() -> None:
    longest = b"x" * 16384

    assert await told(longest + b"\n" + longest + b"x\n") == [longest.decode(), "[a line of more than 16384 bytes]"]
    assert await told(longest) == [longest.decode()]
    assert await told(longest, b"\n") == [longest.decode()]


async def test_a_line_without_an_end_is_not_stored() -> None:
    forwarder = LineForwarder(print, hide=Redactor())
    for _ in range(100):
        forwarder.feed(b"x" * 10_000)
        assert len(forwarder._rest) <= 16384


async def test_a_slow_listener_learns_the_number_of_missed_lines() -> None:
    lines: list[str] = []
    began = threading.Event()
    go_on = threading.Event()

    def listen(line: str) -> None:
        lines.append(line)
        began.set()
        go_on.wait(5)

    forwarder = LineForwarder(listen, hide=Redactor())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(forwarder.run)
        forwarder.feed(b"first\n")
        with anyio.fail_after(5):
            while not began.is_set():
                await anyio.sleep(0.01)
        forwarder.feed(b"line\n" * 5000)
        go_on.set()
        with anyio.fail_after(5):
            while len(lines) < 1001:
                await anyio.sleep(0.01)
        forwarder.feed(b"last\n")
        await forwarder.finish()

    assert lines == ["first", "[4000 lines left out]", *["line"] * 1000, "last"]
