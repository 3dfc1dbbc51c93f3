"""A child process as the peer: it is started, used and closed, and its output is read to the end."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

import acp_bindings.connection._child as command_module
from acp_bindings import v1
from acp_bindings._processes.posix import ProcessTree
from acp_bindings._processes.process import ChildProcess, Tail, how_it_ended
from acp_bindings.connection import (
    CannotStart,
    Connection,
    ConnectionClosed,
    ProcessConnection,
    RequestFailed,
    connect_process,
)
from tests.acp_bindings.connection.support import NEW, SECRET, fails
from tests.leftovers import marked_processes

pytestmark = pytest.mark.anyio

AGENT = [sys.executable, str(Path(__file__).with_name("agent.py"))]


@asynccontextmanager
async def agent(backend: str = "asyncio", **options: Any) -> AsyncGenerator[ProcessConnection]:
    env = {"BACKEND": backend, "PYTHONUNBUFFERED": "", **options.pop("env", {})}
    async with connect_process(AGENT, protocol=v1, env=env, **options) as connection:
        yield connection


@asynccontextmanager
async def script(code: str, **options: Any) -> AsyncGenerator[ProcessConnection]:
    async with connect_process([sys.executable, "-S", "-c", code], protocol=v1, **options) as connection:
        yield connection


async def child_of(code: str) -> ChildProcess:
    return await ChildProcess.start([sys.executable, "-S", "-c", code], cwd="/", env=dict(os.environ))


async def up(connection: ProcessConnection, line: str = "up") -> None:
    """Wait until the process has written this line to standard error."""
    while connection.stderr != [line]:
        await anyio.sleep(0.01)


async def test_an_agent_is_started_called_and_ended(anyio_backend_name: str) -> None:
    async with agent(anyio_backend_name) as connection:
        assert (await connection.request(NEW, timeout=20)).session_id == "s"
        assert connection.exit_status is None
    assert connection.exit_status == 0


async def test_the_directory_and_environment_are_passed_to_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "kept")
    async with agent(cwd=tmp_path, env={"THEIRS": "given"}) as connection:
        where, env = await connection.request(["OURS", "THEIRS"], method="_test/where", timeout=20)
    assert (where, env) == (str(tmp_path), {"OURS": "kept", "THEIRS": "given"})


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
async def test_printing_by_the_agent_does_not_corrupt_its_messages(backend: str) -> None:
    told: list[str] = []
    async with agent(backend, stderr=told.append) as connection:
        for _ in range(3):
            assert await connection.request(method="_test/print", timeout=20) is None
        assert await connection.request(method="_test/read", timeout=20) == ""
    # What Python has in its buffer comes when it is full, or in the end.
    assert told.count("from C") == told.count("from a child") == told.count("from print") == 3
    assert told.count("before the connection") == 1


async def test_the_end_of_a_process_fails_pending_requests_with_its_status() -> None:
    async with agent(env={"TOKEN": SECRET}) as connection:
        with pytest.raises(ConnectionClosed) as caught:
            await connection.request([3, f"bad token {SECRET}"], method="_test/exit", timeout=20)
        await fails(connection, r"^session/new: the process exited with status 3", NEW)
        end = await connection.wait_ended()
    error = caught.value
    expected = "_test/exit: the process exited with status 3; it wrote to stderr: bad token [redacted]"
    assert (str(error), error.method, error.exit_status) == (expected, "_test/exit", 3)
    assert error.stderr[-1] == "bad token [redacted]"
    assert (end.method, end.reason, end.exit_status, end.stderr) == (None, error.reason, 3, error.stderr)


async def test_the_reason_says_that_the_process_rejected_a_message() -> None:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": f"too long:\n{SECRET}"}}
    async with script(f"print({json.dumps(error)!r})", env={"TOKEN": SECRET}) as connection:
        end = await connection.wait_ended()
    told = r"the peer rejected a message of this side: too long:\n[redacted]"
    assert end.reason == f"the process exited with status 0; it wrote nothing to stderr; {told}"


async def test_values_of_its_environment_are_redacted_in_every_encoding() -> None:
    code = (
        "import base64, json, os; key = os.environ['KEY']\n"
        "for said in (json.dumps(key), repr(key), base64.b64encode(key.encode()).decode(), key.split()[1]):\n"
        "    os.write(2, f'<{said}>\\n'.encode())\n"
    )
    async with script(code, env={"KEY": 'Bearer p"ss-wörd-42'}) as connection:
        with anyio.fail_after(10):
            await connection.wait_ended()
    assert connection.stderr == ['<"[redacted]">', "<'[redacted]'>", "<[redacted]>", "<[redacted]>"]


async def test_a_child_that_holds_the_output_of_a_dead_process_delays_nothing() -> None:
    code = "import os, sys; sys.stdin.readline(); os.spawnvp(os.P_NOWAIT, 'sleep', ['sleep', '60']); os._exit(3)"
    async with script(code) as connection:
        with anyio.fail_after(10):
            await fails(connection, "exited with status 3", NEW)


async def test_the_last_messages_of_a_process_are_not_lost_while_a_handler_is_slow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # More than may wait for a handler. The others fit into the pipe.
    number, numbers, goes_on = 1300, list[int](), anyio.Event()
    monkeypatch.setattr(command_module, "_LAST_WORDS", 0.02)
    line = """'{"jsonrpc":"2.0","method":"_acme/note","params":{"number":%d,"text":"' % each + "x" * 100 + '"}}'"""

    async def note(params: Any, _: Connection) -> None:
        await goes_on.wait()
        numbers.append(params["number"])

    async with script(f"for each in range({number}): print({line})", handlers={"_acme/note": note}) as connection:
        with anyio.fail_after(20):
            while connection.exit_status is None:
                await anyio.sleep(0.01)
            # Longer than it would be read if no messages came.
            await anyio.sleep(0.3)
            goes_on.set()
            await connection.wait_ended()
    assert numbers == list(range(number))


async def test_a_child_may_go_on_as_the_agent_when_its_parent_leaves_in_peace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_module, "_LAST_WORDS", 0)
    monkeypatch.setattr("acp_bindings._processes.process._HEARD", 0.001)
    child = (
        "import sys\nfor id, _ in enumerate(sys.stdin):\n"
        '    print(f\'{{"jsonrpc":"2.0","id":{id},"result":{{"sessionId":"s"}}}}\', flush=True)'
    )
    code = f"import os, sys; os.spawnl(os.P_NOWAIT, sys.executable, 'agent', '-S', '-c', {child!r})"
    async with script(code) as connection:
        with anyio.fail_after(10):
            while connection.exit_status is None:
                await anyio.sleep(0.01)
            for _ in range(50):
                assert (await connection.request(NEW)).session_id == "s"
                await anyio.wait_all_tasks_blocked()
    assert connection.exit_status == 0


async def test_a_child_that_only_holds_the_output_is_not_the_agent() -> None:
    code = "import os; os.spawnvp(os.P_NOWAIT, 'sh', ['sh', '-c', 'exec sleep 60 </dev/null'])"
    async with script(code) as connection:
        with anyio.fail_after(10):
            end = await connection.wait_ended()
    assert end.exit_status == 0


@pytest.mark.parametrize(("leader", "status"), [("sys.stdin.read(); os._exit(0)", 0), ("time.sleep(60)", 7)])
async def test_a_process_and_its_children_get_sigterm_before_sigkill(
    leader: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_bindings._processes.process._TREE_GRACE", 1.5)
    code = (
        "import os, signal, sys, time\n"
        "def leave(*_): time.sleep(0.1); open('asked', 'w').close(); os._exit(7)\n"
        "signal.signal(signal.SIGTERM, leave)\n"
        f"if os.fork(): {leader}\n"
        "os.write(2, b'up\\n'); time.sleep(60)"
    )
    with anyio.fail_after(20):
        async with script(code, patience=4, cwd=tmp_path) as connection:
            await up(connection)
    assert connection.exit_status == status
    assert (tmp_path / "asked").exists()


async def test_a_process_that_closes_its_input_is_abandoned() -> None:
    code = "import os, time; os.close(0); os.write(2, b'deaf\\n'); time.sleep(60)"
    async with script(code, patience=0.2) as connection:
        with anyio.fail_after(10):
            await up(connection, "deaf")
            await fails(connection, "it wrote to stderr: deaf", NEW)


@pytest.mark.parametrize(
    ("leader", "status"), [("sys.stdin.read(); os._exit(0)", 0), ("time.sleep(60)", -signal.SIGKILL)]
)
async def test_children_that_ignore_sigterm_are_ended_with_their_process(leader: str, status: int) -> None:
    code = (
        "import os, signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"if os.fork(): {leader}\n"
        "os.write(2, b'up\\n'); time.sleep(60)"
    )
    with anyio.fail_after(10):
        async with script(code, patience=1, env={"FAMILY": str(os.getpid())}) as connection:
            await up(connection)
            assert len(marked_processes("FAMILY", str(os.getpid()))) == 2
    assert connection.exit_status == status
    assert marked_processes("FAMILY", str(os.getpid())) == []


async def test_a_process_with_much_output_may_finish_before_it_exits() -> None:
    code = "import os, sys; sys.stdin.read(); os.write(1, b'x' * 1_000_000); os._exit(7)"
    with anyio.fail_after(20):
        async with script(code, patience=10) as connection:
            pass
    assert connection.exit_status == 7


@pytest.mark.parametrize(("code", "by_itself"), [("input()", True), ("import time; time.sleep(60)", False)])
async def test_stop_returns_true_if_the_process_exited_by_itself(code: str, by_itself: bool) -> None:
    child = await child_of(code)

    with anyio.fail_after(20):
        assert await child.stop(patience=10 if by_itself else 0.2) is by_itself


@pytest.mark.parametrize("end", ["", "\n"])
async def test_the_last_line_of_a_process_may_lack_a_newline(end: str) -> None:
    child = await child_of(f"print('one'); print('two', end={end!r})")

    with anyio.fail_after(20):
        assert [await child.receive_line(longest=100) for _ in range(4)] == [b"one", b"two", None, None]
        await child.stop(patience=10)


async def test_a_killed_process_without_children_is_not_waited_for_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_bindings._processes.process._TREE_GRACE", 60)
    child = await child_of("from signal import *; signal(SIGTERM, SIG_IGN); print(flush=True); pause()")

    with anyio.fail_after(20):
        await child.receive_line(longest=10)
        await child.stop(patience=0)


async def test_a_group_that_has_ended_is_not_signalled(monkeypatch: pytest.MonkeyPatch) -> None:
    child = await child_of("input()")
    await child.stop(patience=10)

    def refuse(group: int, number: int) -> None:
        raise AssertionError("another process may have its number by now")

    monkeypatch.setattr(os, "killpg", refuse)
    assert await child.stop(patience=0) is True


@pytest.mark.parametrize(("patience", "reads"), [("5", True), (10, False)])
async def test_the_process_tree_is_ended_even_if_stop_fails(
    patience: Any, reads: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf = "import os, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.write(1, b'up\\n'); signal.pause()"
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-S', '-c', {deaf!r}])"
    value = f"{tmp_path}"
    child = await ChildProcess.start([sys.executable, "-S", "-c", code], cwd=value, env=os.environ | {"FAMILY": value})

    async def broken(*args: object) -> None:
        raise ArithmeticError

    with anyio.fail_after(20):
        assert await child.receive_line(longest=10) == b"up"
        await child.wait()
        if not reads:
            monkeypatch.setattr("acp_bindings._processes.process._drain", broken)
        with pytest.raises(ExceptionGroup):
            await child.stop(patience=patience)
    assert marked_processes("FAMILY", value) == []


async def test_the_last_lines_of_standard_error_are_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_module, "_LAST_WORDS", 10)
    code = (
        "import os, time\n"
        "if os.fork(): os._exit(3)\n"
        "os.close(0); os.close(1); time.sleep(0.2); os.write(2, b'Error: last words\\n\\nNode.js v20\\n')"
    )
    with anyio.fail_after(20):
        async with script(code) as connection:
            end = await connection.wait_ended()
    assert end.reason == "the process exited with status 3; it wrote to stderr: Error: last words"


async def test_a_process_that_exits_during_a_write_is_reported_with_its_status() -> None:
    code = "import os, sys; sys.stdin.buffer.read(100_000); os._exit(9)"
    async with script(code) as connection:
        await fails(connection, "exited with status 9", ["x" * 20_000_000], method="_test/long", timeout=10)


async def test_a_response_truncated_by_the_end_is_reported() -> None:
    code = """import os, sys; sys.stdin.readline(); os.write(1, b'{"jsonrpc":"2.0","id":0,"res'); os._exit(3)"""
    async with script(code) as connection:
        with pytest.raises(ConnectionClosed, match="the process exited with status 3") as caught:
            await connection.request(NEW, timeout=10)
    assert caught.value.stray is not None
    assert (caught.value.stray.count, caught.value.stray.last) == (1, '{"jsonrpc":"2.0","id":0,"res')


async def test_a_program_that_echoes_its_input_is_not_an_agent() -> None:
    async with connect_process(["cat"], protocol=v1) as connection:
        with pytest.raises(RequestFailed, match="session/new is handled by the agent, not by the client"):
            await connection.request(NEW, timeout=10)


async def test_a_command_that_cannot_be_started_is_reported_with_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("text")
    script = tmp_path / "agent.script"
    script.write_text("#!/gone/bin/python\n")
    script.chmod(0o755)
    no_interpreter = "the interpreter in its first line does not exist, or it was built for another system"
    cases: list[tuple[Any, Any, str]] = [
        ("no-such-agent", None, 'cannot start "no-such-agent": command not found; check the path'),
        (sys.executable, tmp_path / "gone", "the working directory does not exist; check the path"),
        (file, None, f'cannot start "{file}": Permission denied'),
        (script, None, f'cannot start "{script}": {no_interpreter}'),
        ("agent.script", tmp_path, f'command not found on PATH; write "{os.path.join(".", "agent.script")}"'),
        (" ", None, "command not found; check the path"),
        (f"{sys.executable} agent.py", None, "pass the program and its arguments separately, not in one text"),
        ("./agent.script", tmp_path, f'cannot start "./agent.script": {no_interpreter}'),
    ]
    for command, cwd, says in cases:
        with pytest.raises(CannotStart) as caught:
            async with connect_process([command, "--secret"], protocol=v1, cwd=cwd):
                pass
        assert says in str(caught.value)
        assert "--secret" not in str(caught.value)


async def test_standard_error_during_shutdown_is_forwarded_after_a_cancellation() -> None:
    code = "import os, sys; os.write(2, b'up\\n'); sys.stdin.read(); os.write(2, b'farewell\\n')"
    told: list[str] = []
    with anyio.fail_after(20), anyio.CancelScope() as scope:
        async with script(code, stderr=told.append) as connection:
            await up(connection)
            scope.cancel()
    assert told == ["up", "farewell"]


async def test_a_failing_listener_is_logged_and_not_called_again(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[str] = []

    def listen(line: str) -> None:
        calls.append(line)
        raise ZeroDivisionError

    async with script("import os; os.write(2, b'one\\ntwo\\n')", stderr=listen) as connection:
        with anyio.fail_after(10):
            await connection.wait_ended()
    assert calls == ["one"]
    (record,) = caplog.records
    assert record.getMessage() == "the stderr callback failed and is not called again"
    assert record.exc_info
    assert record.exc_info[0] is ZeroDivisionError


async def test_much_output_to_a_hanging_listener_delays_neither_the_connection_nor_its_end() -> None:
    release = threading.Event()

    def listen(_line: str) -> None:
        release.wait(20)

    code = (
        "import os, sys; sys.stdin.readline(); os.write(2, b'line\\n' * 600_000);"
        'print(\'{"jsonrpc":"2.0","id":0,"result":{"sessionId":"s"}}\', flush=True); sys.stdin.read()'
    )
    try:
        with anyio.fail_after(10):
            async with script(code, stderr=listen) as connection:
                assert (await connection.request(NEW)).session_id == "s"
    finally:
        release.set()


async def test_an_exception_of_the_block_is_raised_unchanged() -> None:
    with pytest.raises(KeyError, match="mine"):
        async with agent():
            raise KeyError("mine")


@pytest.mark.parametrize(("status", "words"), [(-15, "was ended by SIGTERM"), (-99, "was ended by signal 99")])
def test_an_exit_status_is_described_in_words(status: int, words: str) -> None:
    assert how_it_ended(status) == words


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ([b"one\nsec", b"ret\ntwo\n", b"three\n"], ["two", "three"]),
        ([b"half a "] * 4, ["[a line of more than 12 bytes]"]),
    ],
)
def test_the_tail_of_a_stream_has_only_whole_lines(chunks: list[bytes], lines: list[str]) -> None:
    tail = Tail(limit=12)
    for chunk in chunks:
        tail.add(chunk)

    assert tail.lines() == lines


def test_a_group_that_cannot_be_signalled_counts_as_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(group: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "killpg", refuse)
    tree = ProcessTree(1)

    assert (tree.lives(), tree.ask(), tree.kill()) == (False, False, False)


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "Too many open files"), AttributeError("macOS")], ids=repr)
async def test_a_process_is_waited_for_without_pidfd_too(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int) -> int:
        raise error

    monkeypatch.setattr(os, "pidfd_open", refuse, raising=False)
    child = await child_of("input()")
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(child.send, b"\n")
            assert await child.wait() == 0
    await child.stop(patience=5)
