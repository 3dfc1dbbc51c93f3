"""Files and commands: through the client if it has them, otherwise on this machine inside the roots."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from errno import EACCES
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_bindings.agent import Agent, CommandResult, Turn, TurnEnded
from acp_bindings.connection import Connection, RequestFailed
from acp_bindings.decoding import decode
from acp_bindings.jsonrpc import INTERNAL_ERROR
from acp_bindings.setup import InvalidParams, OutsideRoots, RequestError
from tests.acp_bindings.agent.clients import Client, talking
from tests.acp_bindings.links import late_link
from tests.leftovers import marked_processes

pytestmark = pytest.mark.anyio


def doing(work: Callable[[Turn], Awaitable[object]]) -> Agent:
    agent = Agent("worker", version="1.0")

    @agent.prompt
    async def run(turn: Turn) -> None:
        await work(turn)

    return agent


async def test_files_are_read_and_written_on_disk_inside_the_roots(tmp_path: Path, version: int) -> None:
    (tmp_path / "in.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "link").symlink_to("/etc")
    refused: list[str] = []

    async def work(turn: Turn) -> None:
        await turn.write_file("out.txt", await turn.read_file("in.txt", line=2, limit=1))
        await turn.write_file("out.txt", await turn.read_file("out.txt") + "more")
        for path in ("../x", "/etc/passwd", "link/passwd", "~/x"):
            with pytest.raises(OutsideRoots):
                await turn.read_file(path)
            with pytest.raises(OutsideRoots):
                await turn.write_file(path, "x")
            refused.append(path)

    async with talking(doing(work), version) as client:
        assert await client.prompt(await client.new(cwd=str(tmp_path)), "go") == "end_turn"
    assert (tmp_path / "out.txt").read_text() == "two\nmore"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in.txt", "link", "out.txt"]
    assert len(refused) == 4


async def test_a_directory_is_named_when_it_is_read_and_does_not_stay_open(tmp_path: Path) -> None:
    failed: list[OSError] = []

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Read", kind="read") as call:
            call.result(await turn.read_file("."))
        assert isinstance(call.error, OSError)
        failed.append(call.error)

    async with talking(doing(work), 1) as client:
        assert await client.prompt(await client.new(cwd=str(tmp_path)), "go") == "end_turn"
    assert [each.filename for each in failed] == [str(tmp_path)]
    if sys.platform == "linux":
        held = [os.path.realpath(each) for each in Path("/proc/self/fd").iterdir()]
        assert str(tmp_path) not in held


async def test_files_on_disk_keep_their_line_ends_and_have_the_lines_of_an_editor(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes(b"one\x0cstill one\r\ntwo\r\nthree")
    read: list[str] = []

    async def work(turn: Turn) -> None:
        read.append(await turn.read_file("in.txt", line=2, limit=1))
        await turn.write_file("new/out.txt", await turn.read_file("in.txt"))

    async with talking(doing(work)) as client:
        assert await client.prompt(await client.new(cwd=str(tmp_path)), "go") == "end_turn"
    assert read == ["two\r\n"]
    assert (tmp_path / "new" / "out.txt").read_bytes() == (tmp_path / "in.txt").read_bytes()


async def test_a_file_that_cannot_be_replaced_is_named_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")

    def refuse(source: str, target: str) -> None:
        raise PermissionError(EACCES, "Permission denied", source, None, target)

    monkeypatch.setattr(os, "replace", refuse)
    errors: list[OSError] = []

    async def work(turn: Turn) -> None:
        try:
            await turn.write_file("a.txt", "new")
        except OSError as error:
            errors.append(error)

    async with talking(doing(work)) as client:
        assert await client.prompt(await client.new(cwd=str(tmp_path)), "go") == "end_turn"
    (error,) = errors
    assert (error.filename, error.filename2) == (str(file), None)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["old"]


async def test_a_link_that_appears_after_the_check_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, outside = late_link(tmp_path, monkeypatch)
    async with talking(doing(lambda turn: turn.write_file("a", "new"))) as client:
        assert await client.prompt(await client.new(cwd=str(project)), "go") == "end_turn"
    assert ((project / "a").read_text(), outside.read_text()) == ("new", "keep")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"details": "EROFS: read-only", "at": "a.js:3"}, "Internal error: EROFS: read-only"),
        ({"path": "use insert_cell", "line": 3, "hint": "x" * 2000}, f"Internal error: use insert_cell; {'x' * 1000}"),
        ({"details": 5}, "Internal error"),
        ("EROFS", "Internal error: EROFS"),
        (None, "Internal error"),
    ],
)
async def test_a_failed_call_has_the_reason_that_the_client_gives(tmp_path: Path, data: Any, says: str) -> None:
    outputs: list[str] = []

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Write") as call:
            await turn.write_file("a.ipynb", "new")
        outputs.append(call.output)

    def prepare(client: Client) -> None:
        def refuse(request: Any, connection: Connection) -> None:
            raise RequestError(INTERNAL_ERROR, "Internal error", data=data)

        client.handlers.on("fs/write_text_file")(refuse)

    async with talking(doing(work), capabilities={"fs.write_text_file"}, prepare=prepare) as client:
        session = await client.new(cwd=str(tmp_path))
        await client.prompt(session, "go")
        shown = client.of(session, "tool_call_update")[-1].content[0].content.text
    assert (shown, outputs) == (says, [says])


async def test_files_go_through_a_client_that_has_them(tmp_path: Path) -> None:
    seen: list[Any] = []

    async def work(turn: Turn) -> None:
        text = await turn.read_file("a.txt", line=3)
        await turn.write_file("b.txt", text)

    def prepare(client: Client) -> None:
        def read(request: Any, connection: Connection) -> Any:
            seen.append((request.path, request.line))
            return decode(client.wire.ReadTextFileResponse, {"content": "unsaved"})

        def write(request: Any, connection: Connection) -> None:
            seen.append((request.path, request.content))

        client.handlers.on("fs/read_text_file")(read)
        client.handlers.on("fs/write_text_file")(write)

    async with talking(
        doing(work), capabilities={"fs.read_text_file", "fs.write_text_file"}, prepare=prepare
    ) as client:
        assert await client.prompt(await client.new(cwd=str(tmp_path)), "go") == "end_turn"
    assert seen == [(str(tmp_path / "a.txt"), 3), (str(tmp_path / "b.txt"), "unsaved")]


WRONG: dict[str, Callable[[Any], Awaitable[object]]] = {
    "line: ": lambda turn: turn.read_file("a.txt", line="2"),
    "limit: ": lambda turn: turn.read_file("a.txt", limit=-1),
    "content: ": lambda turn: turn.write_file("a.txt", {"a": 1}),
    "command must be a list": lambda turn: turn.run_command("ls -la"),
    "command must be": lambda turn: turn.run_command([]),
    "args.0: ": lambda turn: turn.run_command(["echo", 5]),
    "value: ": lambda turn: turn.run_command(["echo"], env={"A": 5}),
    "path: expected str": lambda turn: turn.read_file(5),
    "command must": lambda turn: turn.run_command(5),
    "env must be an object": lambda turn: turn.run_command(["echo"], env=["A=5"]),
    "'soon'": lambda turn: turn.run_command(["echo"], timeout="soon"),
    "seconds, not [1]": lambda turn: turn.run_command(["echo"], timeout=[1]),
}


@pytest.mark.parametrize("here", [True, False])
@pytest.mark.parametrize("wrong", WRONG)
async def test_a_wrong_argument_of_a_model_fails_only_the_call(tmp_path: Path, wrong: str, here: bool) -> None:
    outputs: list[str] = []

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Work") as call:
            await WRONG[wrong](turn)
        outputs.append(call.output)

    (tmp_path / "a.txt").write_text("as it was")
    able = set[str]() if here else {"fs.read_text_file", "fs.write_text_file", "terminal"}
    async with talking(doing(work), capabilities=able) as client:
        assert await client.prompt(await client.new(cwd=str(tmp_path)), "go") == "end_turn"
    assert len(outputs) == 1
    assert wrong.removesuffix(": ") in outputs[0]
    assert (tmp_path / "a.txt").read_text() == "as it was"


async def ran(tmp_path: Path, program: str, **options: Any) -> CommandResult:
    results: list[CommandResult] = []

    async def work(turn: Turn) -> None:
        results.append(await turn.run_command([sys.executable, "-c", program], **options))

    async with talking(doing(work)) as client:
        assert await client.prompt(await client.new(cwd=str(tmp_path)), "go") == "end_turn"
    return results[0]


async def test_a_command_runs_here_if_the_client_has_no_terminal(tmp_path: Path) -> None:
    program = "import os, sys; print(os.getcwd(), os.environ['A'], flush=True); sys.stderr.write('error'); sys.exit(3)"
    (tmp_path / "sub").mkdir()
    result = await ran(tmp_path, program, env={"A": "a"}, cwd="sub")
    assert result == CommandResult(output=f"{tmp_path / 'sub'} a\nerror", is_truncated=False, exit_code=3)
    assert str(result).endswith("a\nerror\n[exit code 3]")


@pytest.mark.parametrize("terminals", [False, True])
@pytest.mark.parametrize("fails", [False, True])
async def test_a_call_has_the_output_of_its_command_unless_it_gets_a_result(
    tmp_path: Path, terminals: bool, fails: bool
) -> None:
    outputs = list[str]()

    async def work(turn: Turn) -> None:
        command = ["make", "all"] if terminals else [sys.executable, "-c", "print('done', end='')"]
        async with turn.tool_call("Make", kind="execute") as call:
            await turn.run_command(command, call=call)
            if fails:
                call.fail()
        outputs.append(call.output)

    capabilities = {"terminal"} if terminals else set[str]()
    prepare = Terminals(ends=True).prepare
    async with talking(doing(work), capabilities=capabilities, prepare=prepare) as client:
        session = await client.new(cwd=str(tmp_path))
        await client.prompt(session, "go")
        end = client.of(session, "tool_call_update")[-1]
        since = len(client.updates)
        await client.load(session, cwd=str(tmp_path))
        loaded = [each for each in client.of(session, "tool_call_update", since=since) if each.content]
    assert outputs == ["done"]
    assert end.status == ("failed" if fails else "completed")
    # A client with terminals goes on showing its terminal.
    assert [each.content.text for each in end.content or ()] == ([] if terminals else ["done"])
    assert [each.content[0].content.text for each in loaded] == ["done"]


async def test_the_output_of_a_command_is_limited_to_its_end(tmp_path: Path) -> None:
    result = await ran(tmp_path, "print('x' * 1000000 + 'ää')", limit=4)
    # Half of the first character is left out.
    assert (result.output, result.is_truncated) == ("ä\n", True)
    assert str(result) == "[the beginning is left out]\nä\n[exit code 0]"


@pytest.mark.parametrize("timeout", [1, "1"])
async def test_a_command_that_takes_too_long_is_stopped_with_its_children(tmp_path: Path, timeout: Any) -> None:
    program = "import subprocess; subprocess.run(['sleep', '1000'])"
    result = await ran(tmp_path, program, timeout=timeout)
    assert (result.timed_out, result.exit_code, result.signal) == (True, None, None)
    assert "timed out" in str(result)


async def test_a_command_that_leaves_a_child_behind_has_exited(tmp_path: Path) -> None:
    mark = f"{tmp_path.name}-{os.getpid()}"
    program = "import subprocess; subprocess.Popen(['sleep', '1000']); print('done')"
    with anyio.fail_after(20):
        result = await ran(tmp_path, program, env={"COMMAND_TEST": mark})
    assert result == CommandResult(output="done\n", is_truncated=False, exit_code=0)
    assert not marked_processes("COMMAND_TEST", mark)


async def test_the_signal_that_ended_a_command_is_named(tmp_path: Path) -> None:
    result = await ran(tmp_path, "import os; os.kill(os.getpid(), 11)")
    assert (result.exit_code, result.signal) == (None, "SIGSEGV")
    assert str(result) == "[ended by SIGSEGV]"


async def test_a_cancelled_turn_ends_its_command_with_its_children(tmp_path: Path) -> None:
    program = "import os, subprocess; print(os.getpid(), file=open('pid', 'w')); subprocess.run(['sleep', '1000'])"

    async def work(turn: Turn) -> None:
        await turn.run_command([sys.executable, "-c", program])

    pid = tmp_path / "pid"
    async with talking(doing(work)) as client, anyio.create_task_group() as tasks:
        session = await client.new(cwd=str(tmp_path))
        tasks.start_soon(client.prompt, session, "go")
        while not (pid.exists() and pid.read_text().strip()):
            await anyio.sleep(0.01)
        await client.cancel(session)
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("terminals", [False, True], ids=["here", "by client"])
async def test_a_cancelled_turn_ends_the_commands_in_tasks_of_asyncio(tmp_path: Path, *, terminals: bool) -> None:
    here = [sys.executable, "-c", "import time; open('begun', 'w').close(); time.sleep(1000)"]
    client_side = Terminals(ends=False)
    running: list[asyncio.Task[object]] = []

    async def work(turn: Turn) -> None:
        running.append(asyncio.create_task(turn.run_command(["make", "all"] if terminals else here)))
        await asyncio.shield(running[0])

    async with (
        talking(doing(work), capabilities={"terminal"} if terminals else (), prepare=client_side.prepare) as client,
        anyio.create_task_group() as tasks,
    ):
        session = await client.new(cwd=str(tmp_path))
        tasks.start_soon(client.prompt, session, "go")
        while not ((tmp_path / "begun").exists() or "wait_for_exit" in client_side.seen):
            await anyio.sleep(0.01)
        await client.cancel(session)
        await asyncio.wait(running, timeout=5)
    assert running[0].cancelled()
    assert client_side.seen == (["create", "wait_for_exit", "release"] if terminals else [])


async def test_a_command_that_cannot_start_or_is_outside_fails(tmp_path: Path) -> None:
    errors: list[object] = []

    async def work(turn: Turn) -> None:
        for command, cwd in ((["/nowhere/x"], None), ([sys.executable], "..")):
            async with turn.tool_call("Run") as call:
                await turn.run_command(command, cwd=cwd)
            errors.append(type(call.error))

    async with talking(doing(work)) as client:
        await client.prompt(await client.new(cwd=str(tmp_path)), "go")
    assert errors == [FileNotFoundError, OutsideRoots]


class Terminals:
    """A client with one terminal, in which every command works until it is killed."""

    def __init__(self, *, ends: bool) -> None:
        self.seen: list[str] = []
        self.may_create = anyio.Event()
        self.may_create.set()
        self.releases = True
        self.output = "done"
        self.ended = anyio.Event()
        if ends:
            self.ended.set()

    async def asked(self, method: str) -> None:
        while method not in self.seen:
            await anyio.sleep(0.01)

    def prepare(self, client: Client) -> None:
        async def handle(request: Any, connection: Connection, *, method: str) -> Any:
            self.seen.append(method)
            if method == "wait_for_exit":
                await self.ended.wait()
                return decode(client.wire.WaitForTerminalExitResponse, {"exitCode": 0})
            if method == "create":
                if request.args != ["all"]:
                    raise InvalidParams("command: not found")
                assert (request.command, request.output_byte_limit) == ("make", 100_000)
                # Like many editors, it does not heed `$/cancel_request`.
                with anyio.CancelScope(shield=True):
                    await self.may_create.wait()
                return decode(client.wire.CreateTerminalResponse, {"terminalId": "t"})
            if method == "output":
                output = {"output": self.output, "truncated": False, "exitStatus": {"exitCode": 0}}
                return decode(client.wire.TerminalOutputResponse, output)
            if method == "release" and not self.releases:
                raise InvalidParams("the terminal is unknown")
            return None

        for method in ("create", "wait_for_exit", "output", "kill", "release"):

            async def one(request: Any, connection: Connection, method: str = method) -> Any:
                return await handle(request, connection, method=method)

            client.handlers.on(f"terminal/{method}")(one)


@pytest.mark.parametrize("ends", [True, False])
async def test_a_command_runs_in_the_clients_terminal_and_releases_it(tmp_path: Path, ends: bool) -> None:
    terminals, results = Terminals(ends=ends), list[CommandResult]()

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Make", kind="execute") as call:
            results.append(await turn.run_command(["make", "all"], timeout=10 if ends else 0.1, call=call))

    async with talking(doing(work), capabilities={"terminal"}, prepare=terminals.prepare) as client:
        session = await client.new(cwd=str(tmp_path))
        assert await client.prompt(session, "go") == "end_turn"
        progress = client.of(session, "tool_call_update")[0]
        assert (progress.content[0].type, progress.content[0].terminal_id) == ("terminal", "t")
    assert terminals.seen == ["create", "wait_for_exit", *([] if ends else ["kill"]), "output", "release"]
    assert (results[0].output, results[0].exit_code, results[0].timed_out) == ("done", 0 if ends else None, not ends)


async def test_the_output_of_a_pseudo_terminal_is_plain_text(tmp_path: Path) -> None:
    terminals, outputs = Terminals(ends=True), list[str]()
    link = "\x1b]8;;file:///a\x1b\\a.py\x1b]8;;\x07"
    terminals.output = f"\x1b]0;make\x07\x1b[1;31mFAILED\x1b[0m {link}\x1b[?25h\x1b[K\r\n\tline 2\r\n"

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Make") as call:
            outputs.append((await turn.run_command(["make", "all"], call=call)).output)
        outputs.append(call.output)

    async with talking(doing(work), capabilities={"terminal"}, prepare=terminals.prepare) as client:
        session = await client.new(cwd=str(tmp_path))
        await client.prompt(session, "go")
        since = len(client.updates)
        await client.load(session, cwd=str(tmp_path))
        loaded = [each for each in client.of(session, "tool_call_update", since=since) if each.content]
    assert [*outputs, loaded[0].content[0].content.text] == ["FAILED a.py\n\tline 2\n"] * 3


async def test_a_cancelled_turn_releases_the_clients_terminal(tmp_path: Path) -> None:
    terminals = Terminals(ends=False)

    async def work(turn: Turn) -> None:
        await turn.run_command(["make", "all"])

    async with (
        talking(doing(work), capabilities={"terminal"}, prepare=terminals.prepare) as client,
        anyio.create_task_group() as tasks,
    ):
        session = await client.new(cwd=str(tmp_path))
        tasks.start_soon(client.prompt, session, "go")
        await terminals.asked("wait_for_exit")
        await client.cancel(session)
        await terminals.asked("release")


async def test_a_terminal_that_is_created_while_the_turn_is_cancelled_is_released(tmp_path: Path) -> None:
    terminals = Terminals(ends=False)
    terminals.may_create = anyio.Event()

    async def work(turn: Turn) -> None:
        await turn.run_command(["make", "all"])

    async with (
        talking(doing(work), capabilities={"terminal"}, prepare=terminals.prepare) as client,
        anyio.create_task_group() as tasks,
    ):
        session = await client.new(cwd=str(tmp_path))
        tasks.start_soon(client.prompt, session, "go")
        await terminals.asked("create")
        await client.cancel(session)
        terminals.may_create.set()
    # Trio may only deliver the cancellation after the next request was sent.
    assert [each for each in terminals.seen if each != "wait_for_exit"] == ["create", "release"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_terminal_that_is_created_while_asyncio_cancels_the_task_is_released(tmp_path: Path) -> None:
    terminals = Terminals(ends=False)
    terminals.may_create = anyio.Event()
    running: list[asyncio.Task[object]] = []

    async def work(turn: Turn) -> None:
        running.append(asyncio.create_task(turn.run_command(["make", "all"])))
        await asyncio.wait(running)

    async with talking(doing(work), capabilities={"terminal"}, prepare=terminals.prepare) as client:
        session = await client.new(cwd=str(tmp_path))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.prompt, session, "go")
            await terminals.asked("create")
            await client.cancel(session)
            terminals.may_create.set()
        await asyncio.wait(running)
    assert running[0].cancelled()
    assert terminals.seen == ["create", "release"]


async def test_a_terminal_that_is_created_after_the_turn_is_released_and_not_shown(tmp_path: Path) -> None:
    terminals = Terminals(ends=True)
    terminals.may_create = anyio.Event()

    async def run(turn: Turn) -> None:
        with pytest.raises(TurnEnded):
            async with turn.tool_call("Make") as call:
                await turn.run_command(["make", "all"], call=call)

    async def work(turn: Turn) -> None:
        background.start_soon(run, turn)
        await terminals.asked("create")

    async with talking(doing(work), capabilities={"terminal"}, prepare=terminals.prepare) as client:
        session = await client.new(cwd=str(tmp_path))
        async with anyio.create_task_group() as background:
            assert await client.prompt(session, "go") == "end_turn"
            terminals.may_create.set()
        assert [each.status for each in client.of(session, "tool_call_update")] == ["failed"]
    assert terminals.seen == ["create", "release"]


async def test_a_terminal_that_is_created_long_after_a_cancellation_is_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_bindings.agent._session.CANCELLING", 0.1)
    terminals = Terminals(ends=False)
    terminals.may_create = anyio.Event()

    async def work(turn: Turn) -> None:
        await turn.run_command(["make", "all"])

    async with talking(doing(work), capabilities={"terminal"}, prepare=terminals.prepare) as client:
        session = await client.new(cwd=str(tmp_path))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.prompt, session, "go")
            await terminals.asked("create")
            await client.cancel(session)
        terminals.may_create.set()
        await terminals.asked("release")
    assert terminals.seen == ["create", "release"]


async def test_a_terminal_that_cannot_be_created_or_released_fails_only_before_the_command(tmp_path: Path) -> None:
    terminals = Terminals(ends=True)
    terminals.releases = False
    ends: list[object] = []

    async def work(turn: Turn) -> None:
        for command in (["make", "all"], ["make", "wrong"]):
            async with turn.tool_call("Make") as call:
                call.result((await turn.run_command(command)).output)
            ends.append(call.error or call.output)

    async with talking(doing(work), capabilities={"terminal"}, prepare=terminals.prepare) as client:
        assert await client.prompt(await client.new(cwd=str(tmp_path)), "go") == "end_turn"
    assert ends[0] == "done"
    assert isinstance(ends[1], RequestFailed)


@pytest.mark.parametrize("shown_after", ["nothing", "update", "result"])
async def test_a_loaded_session_has_the_output_of_a_terminal_that_is_gone(tmp_path: Path, shown_after: str) -> None:
    terminals = Terminals(ends=True)

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Make") as call:
            await turn.run_command(["make", "all"], call=call)
            if shown_after == "update":
                await call.update(content="built")
            if shown_after == "result":
                call.result("built")

    async with talking(doing(work), capabilities={"terminal"}, prepare=terminals.prepare) as client:
        session = await client.new(cwd=str(tmp_path))
        await client.prompt(session, "go")
        assert client.of(session, "tool_call_update")[0].content[0].type == "terminal"
        since = len(client.updates)
        await client.load(session, cwd=str(tmp_path))
        contents = [each.content for each in client.of(session, "tool_call_update", since=since) if each.content]
    assert [each.content.text for (each,) in contents] == ["done" if shown_after == "nothing" else "built"]
