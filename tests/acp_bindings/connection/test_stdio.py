"""Connections over our own standard streams, which may be pipes or files, and their state afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_bindings._processes.threaded import ThreadedSource

AGENT = [sys.executable, str(Path(__file__).with_name("agent.py"))]
ASK = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}})
ANSWER = {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}}
PRINT = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "_test/print"})


@pytest.fixture(autouse=True)
def nothing_left() -> None:
    """Replace the fixture of conftest.py, because these tests use separate processes and no event loop."""


@pytest.fixture(params=["asyncio", "trio"])
def environment(request: pytest.FixtureRequest) -> dict[str, str]:
    # Whose printing is not buffered has printed before there was a connection.
    return {**os.environ, "BACKEND": request.param, "PYTHONUNBUFFERED": ""}


def answers(text: str) -> dict[int, Any]:
    return {answer["id"]: answer for answer in map(json.loads, text.splitlines())}


@pytest.mark.parametrize("closed", ["", "2>&-"])
def test_piped_requests_are_answered_after_the_end_of_the_input(closed: str, environment: dict[str, str]) -> None:
    command = ["sh", "-c", f'exec "$0" "$@" {closed}', *AGENT]
    done = subprocess.run(
        command, input=f"{ASK}\n{PRINT}", capture_output=True, text=True, env=environment, timeout=30, check=True
    )
    assert answers(done.stdout) == {1: ANSWER, 2: {"jsonrpc": "2.0", "id": 2, "result": None}}
    assert ("before the connection" in done.stderr) == (not closed)


def test_files_work_like_pipes(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "in").write_text(f"{ASK}\n")
    with (tmp_path / "in").open() as source, (tmp_path / "out").open("w") as sink:
        subprocess.run(AGENT, stdin=source, stdout=sink, env=environment, timeout=30, check=True)
    assert answers((tmp_path / "out").read_text()) == {1: ANSWER}


LEAVES = """
import os
import sys

import anyio

from acp_bindings._processes.threaded import ThreadedSink, ThreadedSource


async def main():
    source, sink = ThreadedSource(0), ThreadedSink(1)
    await sink.send(b"begun\\n")
    for wait in (source.receive(), sink.send(bytes(10_000_000))):
        with anyio.move_on_after(0.1):
            await wait
            raise AssertionError("somebody wrote, or read")
    for stream in (source, sink):
        await stream.aclose()


anyio.run(main, backend=sys.argv[1])
"""


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_leaving_does_not_wait_for_a_silent_peer(backend: str) -> None:
    # Pipes are read in threads only on Windows, so the test requests it.
    with subprocess.Popen([sys.executable, "-c", LEAVES, backend], stdin=-1, stdout=-1) as process:
        assert process.stdout
        assert process.stdout.readline() == b"begun\n"
        try:
            assert process.wait(20) == 0
        finally:
            process.kill()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("cancelled", [False, True])
def test_a_reading_thread_ends_when_its_source_is_closed(tmp_path: Path, backend: str, *, cancelled: bool) -> None:
    (tmp_path / "in").write_bytes(b"abc")
    descriptor = os.open(tmp_path / "in", os.O_RDONLY)
    before = {*threading.enumerate()}

    async def read() -> bytes:
        source = ThreadedSource(descriptor)
        read = await source.receive(2) + await source.receive()
        with pytest.raises(anyio.EndOfStream):
            await source.receive()
        with anyio.CancelScope() as scope:
            if cancelled:
                scope.cancel()
            await source.aclose()
        if not cancelled:
            with pytest.raises(OSError, match="Bad file descriptor"):
                os.fstat(descriptor)
        return read

    assert anyio.run(read, backend=backend) == b"abc"
    for thread in {*threading.enumerate()} - before:
        thread.join(10)
        assert not thread.is_alive()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_an_empty_input_ends_the_connection(environment: dict[str, str]) -> None:
    done = subprocess.run(AGENT, stdin=subprocess.DEVNULL, capture_output=True, env=environment, timeout=30, check=True)
    assert done.stdout == b""


def test_standard_streams_are_restored_afterwards(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [*AGENT, "--farewell"], input=ASK, capture_output=True, text=True, env=environment, timeout=30, check=True
    )
    answer, farewell = done.stdout.splitlines()
    assert (json.loads(answer), farewell) == (ANSWER, "after the connection")


def test_the_output_is_blocking_again_afterwards(environment: dict[str, str]) -> None:
    reader, writer = os.pipe()
    try:
        subprocess.run(AGENT, input=ASK.encode(), stdout=writer, env=environment, timeout=30, check=True)
        assert os.get_blocking(writer)
        assert json.loads(os.read(reader, 1000)) == ANSWER
    finally:
        os.close(reader)
        os.close(writer)


@pytest.mark.skipif(os.name == "nt", reason="needs a shell that can close descriptors")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_end_the_connection_and_are_not_reused(
    closed: str, environment: dict[str, str]
) -> None:
    # The event loop has the lowest that are free.
    command = ["sh", "-c", f'exec "$0" "$@" {closed}', *AGENT]
    subprocess.run(command, input=ASK, capture_output=True, text=True, env=environment, timeout=30, check=True)
