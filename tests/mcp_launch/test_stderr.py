"""Standard error is shown to whoever asks, line by line and without secrets, and nobody waits for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

import mcp_launch
from acp_bindings.secrets.redact import Redactor
from mcp_launch import Budgets, Options
from mcp_launch.processes.forward import LineForwarder
from tests.mcp_launch.support import SECRET, Marked, ask

pytestmark = pytest.mark.anyio

SHORT = Budgets(handshake=5, close=0.8)


async def told(*chunks: bytes) -> list[str]:
    """What a listener is told of these chunks."""
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


async def test_lines_are_told_whole_however_they_arrive() -> None:
    assert await told(b"one\ntw", b"o\r\n", b"", b"\nlast") == ["one", "two", "", "last"]


async def test_what_is_not_utf_8_is_told_all_the_same() -> None:
    assert await told(b"caf\xe9\n") == ["caf\ufffd"]


async def test_a_secret_is_not_told_even_if_it_arrives_in_two_pieces() -> None:
    assert await told(f"key {SECRET[:7]}".encode(), f"{SECRET[7:]} is old\n".encode()) == ["key [redacted] is old"]


async def test_of_a_line_that_is_too_long_nothing_is_told_since_a_secret_may_be_cut_in_it() -> None:
    long = b"x" * 10_000

    assert await told(long, long, SECRET.encode(), b"\nnext\n") == ["[a line of more than 16384 bytes]", "next"]
    assert await told(long, long) == ["[a line of more than 16384 bytes]"]


async def test_a_listener_that_is_too_slow_is_told_how_much_it_missed() -> None:
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


async def test_a_server_is_heard_with_its_name_from_the_first_line_to_the_last(marked: Marked, tmp_path: Path) -> None:
    lines: list[tuple[str, str]] = []
    options = Options(stderr=lambda server, line: lines.append((server, line)))
    servers = [marked.plain("exits_with_message", name="bad"), marked.plain("floods_stderr", name="loud")]

    async with mcp_launch.launch(servers, cwd=tmp_path, options=options, budgets=SHORT) as fleet:
        assert [server.state for server in fleet] == ["failed", "ready"]

    assert ("bad", "cannot start with key [redacted]") in lines
    assert [line for server, line in lines if server == "loud"][-1] == "the last line"
    assert SECRET not in str(lines)


async def test_a_listener_that_hangs_holds_up_neither_the_server_nor_its_end(marked: Marked, tmp_path: Path) -> None:
    release = threading.Event()
    options = Options(stderr=lambda _server, _line: release.wait(20))
    began = time.perf_counter()
    try:
        async with mcp_launch.open_session(
            marked.plain("floods_stderr"), cwd=tmp_path, options=options, budgets=SHORT
        ) as session:
            assert (await ask(session, "environment"))["cwd"] == str(tmp_path)
        assert time.perf_counter() - began < 10
    finally:
        release.set()


async def test_a_listener_that_raises_is_a_warning_and_not_called_again(marked: Marked, tmp_path: Path) -> None:
    calls: list[str] = []

    def listen(_server: str, line: str) -> None:
        calls.append(line)
        raise ZeroDivisionError

    server = marked.plain("floods_stderr")
    async with mcp_launch.launch([server], cwd=tmp_path, options=Options(stderr=listen), budgets=SHORT) as fleet:
        assert (await ask(fleet["plain"].session, "environment"))["cwd"] == str(tmp_path)

    assert len(calls) == 1
    assert fleet["plain"].warnings == [
        "the callback for its standard error raised ZeroDivisionError, and was told no more of it"
    ]
