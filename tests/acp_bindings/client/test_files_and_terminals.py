"""The file system and the terminals of a client, as an agent of v1 uses them."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_bindings import v1
from acp_bindings._processes.process import ChildProcess
from acp_bindings.client import Files, Terminals
from acp_bindings.connection import RequestFailed
from tests.acp_bindings.client.support import Agent, Turn, connected
from tests.acp_bindings.links import late_link
from tests.leftovers import marked_processes

pytestmark = pytest.mark.anyio
Work = Callable[[Turn], Awaitable[None]]


async def during(work: Work, directory: Path, **client: Any) -> None:
    """Do *work* in an agent, during a turn of a session in *directory*."""
    failed: list[BaseException] = []

    async def prompt(turn: Turn) -> str:
        try:
            await work(turn)
        except Exception as error:  # noqa: BLE001
            failed.append(error)
        return "end_turn"

    async with connected(Agent(1, prompt), **client) as agent, agent.session(cwd=directory) as session:
        await session.prompt("Work")
    for each in failed:
        raise each


async def refused(turn: Turn, request: Any) -> RequestFailed:
    with pytest.raises(RequestFailed) as caught:
        await turn.request(request, timeout=5)
    return caught.value


def reading(turn: Turn, path: object, **more: Any) -> v1.ReadTextFileRequest:
    return v1.ReadTextFileRequest(session_id=turn.session_id, path=str(path), **more)


def writing(turn: Turn, path: object, content: str) -> v1.WriteTextFileRequest:
    return v1.WriteTextFileRequest(session_id=turn.session_id, path=str(path), content=content)


async def test_a_file_is_written_and_read(tmp_path: Path) -> None:
    async def work(turn: Turn) -> None:
        path = tmp_path / "new" / "notes.txt"
        await turn.request(writing(turn, path, "one\r\ntwo\nthrée\x0cstill three"))
        assert path.read_bytes() == "one\r\ntwo\nthrée\x0cstill three".encode()
        read = [
            (await turn.request(reading(turn, path, **more))).content
            for more in ({}, {"line": 2}, {"limit": 1}, {"line": 3, "limit": 5}, {"line": 9}, {"limit": 0}, {"line": 0})
        ]
        whole = "one\r\ntwo\nthrée\x0cstill three"
        assert read == [whole, "two\nthrée\x0cstill three", "one\r\n", "thrée\x0cstill three", "", "", whole]

    await during(work, tmp_path, files=Files())


async def test_writing_a_file_keeps_its_permissions_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("old")
    script.chmod(0o750)

    async def work(turn: Turn) -> None:
        await turn.request(writing(turn, script, "new"))

    await during(work, tmp_path, files=Files())
    assert (script.read_text(), script.stat().st_mode & 0o777) == ("new", 0o750)
    assert os.listdir(tmp_path) == ["run.sh"]


async def test_a_link_that_appears_after_the_check_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, outside = late_link(tmp_path, monkeypatch)

    async def work(turn: Turn) -> None:
        await turn.request(writing(turn, project / "a", "new"))

    await during(work, project, files=Files())
    assert ((project / "a").read_text(), outside.read_text()) == ("new", "keep")


async def test_a_link_in_place_of_a_checked_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2")
    (tmp_path / "link").symlink_to(tmp_path / "secret")

    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        await Files().read(tmp_path / "link")


async def test_a_huge_file_is_refused_by_default_before_all_of_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "huge").touch()
    os.truncate(tmp_path / "huge", 1 << 40)

    with pytest.raises(ValueError, match="the file has more than 16777216 bytes"):
        await Files().read(tmp_path / "huge")


async def test_paths_outside_of_the_session_are_refused(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret").write_text("hunter2")
    (project / "escape").symlink_to(tmp_path)
    (project / "link").symlink_to(tmp_path / "secret")

    async def work(turn: Turn) -> None:
        for path in (tmp_path / "secret", project / "escape" / "secret", project / "link", project / ".." / "secret"):
            for request in (reading(turn, path), writing(turn, path, "x")):
                error = await refused(turn, request)
                assert (error.code, "outside" in error.message) == (-32602, True)
        assert "not an absolute path" in (await refused(turn, reading(turn, "notes.txt"))).message
        unknown = v1.ReadTextFileRequest(session_id="other", path=str(project / "a"))
        assert "not open" in (await refused(turn, unknown)).message

    await during(work, project, files=Files())
    assert (tmp_path / "secret").read_text() == "hunter2"


async def test_roots_of_the_client_replace_those_of_the_session(tmp_path: Path) -> None:
    allowed, project = tmp_path / "allowed", tmp_path / "project"
    for each in (allowed, project):
        each.mkdir()
        (each / "a.txt").write_text(each.name)

    async def work(turn: Turn) -> None:
        assert (await turn.request(reading(turn, allowed / "a.txt"))).content == "allowed"
        await refused(turn, reading(turn, project / "a.txt"))

    await during(work, project, files=Files(allowed))


async def test_anything_but_a_text_file_is_refused_immediately(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "large").write_text("x" * 101)
    (tmp_path / "folder").mkdir()
    (tmp_path / "fixed").write_text("x")
    (tmp_path / "fixed").chmod(0o444)

    async def work(turn: Turn) -> None:
        errors = {
            name: await refused(turn, reading(turn, tmp_path / name))
            for name in ("pipe", "binary", "large", "folder", "none", "fixed/x", "x" * 300)
        }
        assert {name: error.message for name, error in errors.items()} == {
            "pipe": "path: it is not a regular file",
            "binary": "path: the file is not UTF-8 text",
            "large": "path: the file has more than 100 bytes",
            "folder": errors["folder"].message,
            "none": "the file does not exist",
            "fixed/x": f"path: {os.strerror(errno.ENOTDIR)}",
            "x" * 300: f"path: {os.strerror(errno.ENAMETOOLONG)}",
        }
        assert errors["none"].code == -32002
        for name in ("pipe", "folder"):
            assert (
                await refused(turn, writing(turn, tmp_path / name, "x"))
            ).message == "path: it is not a regular file"
        if os.geteuid():
            assert "denied" in (await refused(turn, writing(turn, tmp_path / "fixed", "y"))).message

    await during(work, tmp_path, files=Files(most_bytes=100))


async def test_read_only_files_are_not_advertised_as_writable(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")

    async def work(turn: Turn) -> None:
        assert (await turn.request(reading(turn, tmp_path / "a"))).content == "x"
        assert (await refused(turn, writing(turn, tmp_path / "a", "y"))).code == -32601

    await during(work, tmp_path, files=Files(read_only=True))
    assert (tmp_path / "a").read_text() == "x"


async def test_an_editor_may_serve_unsaved_text(tmp_path: Path) -> None:
    class Buffers(Files):
        async def read(self, path: Path) -> str:
            return "unsaved\ntext" if path.name == "open.txt" else await super().read(path)

    async def work(turn: Turn) -> None:
        assert (await turn.request(reading(turn, tmp_path / "open.txt", line=2))).content == "text"

    await during(work, tmp_path, files=Buffers())


async def test_the_options_of_a_client_determine_its_capabilities() -> None:
    from acp_bindings.client import Client

    def advertised(**options: Any) -> set[str]:
        return set(Client("editor", version="1.0", **options).handshake.own(v1).names())

    base = advertised()
    assert "fs.read_text_file" not in base
    assert advertised(files=Files()) - base == {"fs.read_text_file", "fs.write_text_file"}
    assert advertised(files=Files(read_only=True)) - base == {"fs.read_text_file"}
    assert advertised(terminals=Terminals()) - base == {"terminal"}
    assert {"elicitation", "elicitation.form"} == advertised(elicitation=print) - base


# Terminals


@asynccontextmanager
async def running(turn: Turn, *command: str, **more: Any) -> AsyncGenerator[str]:
    """Create a terminal, and release it at the end."""
    request = v1.CreateTerminalRequest(session_id=turn.session_id, command=command[0], args=list(command[1:]), **more)
    id_ = (await turn.request(request, timeout=10)).terminal_id
    yield id_
    await turn.request(v1.ReleaseTerminalRequest(session_id=turn.session_id, terminal_id=id_), timeout=10)


async def exit_of(turn: Turn, id_: str) -> v1.WaitForTerminalExitResponse:
    request = v1.WaitForTerminalExitRequest(session_id=turn.session_id, terminal_id=id_)
    response: v1.WaitForTerminalExitResponse = await turn.request(request, timeout=10)
    return response


async def output_of(turn: Turn, id_: str) -> v1.TerminalOutputResponse:
    request = v1.TerminalOutputRequest(session_id=turn.session_id, terminal_id=id_)
    response: v1.TerminalOutputResponse = await turn.request(request, timeout=10)
    return response


async def test_a_command_has_output_and_an_exit_status(tmp_path: Path) -> None:
    code = (
        "import os, sys; print(os.getcwd(), os.environ['GREETING'], sys.stdin.read(), flush=True); "
        "print('bad', file=sys.stderr); sys.exit(3)"
    )

    async def work(turn: Turn) -> None:
        env = [v1.EnvVariable(name="GREETING", value="hello")]
        async with running(turn, sys.executable, "-c", code, env=env) as id_:
            assert await exit_of(turn, id_) == v1.WaitForTerminalExitResponse(exit_code=3)
            assert await output_of(turn, id_) == v1.TerminalOutputResponse(
                output=f"{tmp_path} hello \nbad\n", truncated=False, exit_status=v1.TerminalExitStatus(exit_code=3)
            )

    await during(work, tmp_path, terminals=Terminals())


async def test_a_client_shows_what_a_command_prints(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    shown: list[tuple[str, bytes]] = []

    class Shown(Terminals):
        def on_output(self, terminal_id: str, output: bytes) -> None:
            shown.append((terminal_id, output))
            raise LookupError

    async def work(turn: Turn) -> None:
        async with running(turn, sys.executable, "-c", "print('€' * 10)") as id_:
            await exit_of(turn, id_)
            assert {each for each, _ in shown} == {id_}
            assert (await output_of(turn, id_)).output == "€€€\n"

    await during(work, tmp_path, terminals=Shown(most_output=10))
    assert b"".join(each for _, each in shown).decode() == f"{'€' * 10}\n"
    assert "on_output failed" in caplog.text


@pytest.mark.parametrize("limit", [0, 1, 5, 10, 11, 100])
async def test_output_is_truncated_at_the_beginning_of_a_character(tmp_path: Path, limit: int) -> None:
    text = "äöü€x\n"  # 2 + 2 + 2 + 3 + 1 + 1 bytes

    async def work(turn: Turn) -> None:
        async with running(turn, "printf", text, output_byte_limit=limit) as id_:
            await exit_of(turn, id_)
            found = await output_of(turn, id_)
            assert found.truncated is (limit < 11)
            assert text.endswith(found.output)
            assert limit - 3 < len(found.output.encode()) <= limit or found.output == text

    await during(work, tmp_path, terminals=Terminals())


async def test_output_that_is_not_text_is_bounded_too(tmp_path: Path) -> None:
    async def work(turn: Turn) -> None:
        code = r"import sys; sys.stdout.buffer.write(b'\x80' * 90)"
        async with running(turn, sys.executable, "-c", code, output_byte_limit=100) as id_:
            await exit_of(turn, id_)
            for _ in range(2):
                found = await output_of(turn, id_)
                assert (found.output, found.truncated) == ("\N{REPLACEMENT CHARACTER}" * 33, True)

    await during(work, tmp_path, terminals=Terminals())


async def test_output_is_bounded_by_the_client(tmp_path: Path) -> None:
    async def work(turn: Turn) -> None:
        code = "for n in range(100000): print(n)"
        async with running(turn, sys.executable, "-c", code, output_byte_limit=10**9) as id_:
            await exit_of(turn, id_)
            found = await output_of(turn, id_)
            assert (len(found.output), found.truncated) == (1000, True)
            assert found.output.endswith("99999\n")

    await during(work, tmp_path, terminals=Terminals(most_output=1000))


async def test_a_killed_command_keeps_its_output_and_its_children_end(tmp_path: Path) -> None:
    mark = f"{tmp_path.name}-{os.getpid()}"

    async def work(turn: Turn) -> None:
        env = [v1.EnvVariable(name="TERMINAL_TEST", value=mark)]
        async with running(turn, "sh", "-c", "echo begun; sleep 60 & sleep 60", env=env) as id_:
            while (await output_of(turn, id_)).output != "begun\n":
                await anyio.sleep(0.01)
            assert (await output_of(turn, id_)).exit_status is None
            await turn.request(v1.KillTerminalRequest(session_id=turn.session_id, terminal_id=id_), timeout=10)
            assert (await exit_of(turn, id_)).signal in ("SIGTERM", "SIGKILL")
            assert (await output_of(turn, id_)).output == "begun\n"
            assert not marked_processes("TERMINAL_TEST", mark)

    await during(work, tmp_path, terminals=Terminals())


@pytest.mark.parametrize("by", ["session", "connection"])
async def test_commands_end_with_their_session_and_with_the_connection(tmp_path: Path, by: str) -> None:
    mark = f"{tmp_path.name}-{os.getpid()}"

    async def prompt(turn: Turn) -> str:
        env = [v1.EnvVariable(name="TERMINAL_TEST", value=mark)]
        await turn.request(
            v1.CreateTerminalRequest(
                session_id=turn.session_id, command="sh", args=["-c", "sleep 60 & sleep 60"], env=env
            )
        )
        return "end_turn"

    async with connected(Agent(1, prompt), terminals=Terminals()) as agent:
        session = await agent.session(cwd=tmp_path)
        await session.prompt("Work")
        while not marked_processes("TERMINAL_TEST", mark):  # the processes have not begun yet
            await anyio.sleep(0.01)
        if by == "session":
            await session.close()
            assert not marked_processes("TERMINAL_TEST", mark)
    assert not marked_processes("TERMINAL_TEST", mark)


async def test_requests_at_the_same_time_do_not_exceed_the_number_of_terminals(tmp_path: Path) -> None:
    created: list[object] = []
    refused: list[str] = []

    async def work(turn: Turn) -> None:
        async def create() -> None:
            try:
                created.append(await turn.request(v1.CreateTerminalRequest(session_id=turn.session_id, command="cat")))
            except RequestFailed as error:
                refused.append(error.message)

        async with anyio.create_task_group() as tasks:
            for _ in range(6):
                tasks.start_soon(create)

    await during(work, tmp_path, terminals=Terminals(most=2))
    assert len(created) == 2
    assert refused == ["2 terminals are open; release some with terminal/release"] * 4


async def test_a_command_that_starts_while_the_connection_is_closed_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, starting, start = f"{tmp_path.name}-{os.getpid()}", anyio.Event(), ChildProcess.start

    async def slow_start(*args: Any, **options: Any) -> ChildProcess:
        starting.set()
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.2)
        return await start(*args, **options)

    async def prompt(turn: Turn) -> str:
        env = [v1.EnvVariable(name="TERMINAL_TEST", value=mark)]
        request = v1.CreateTerminalRequest(session_id=turn.session_id, command="sleep", args=["60"], env=env)
        await turn.request(request)
        return "end_turn"

    monkeypatch.setattr(ChildProcess, "start", slow_start)
    async with connected(Agent(1, prompt), terminals=Terminals(), patience=0.1) as agent:
        session = await agent.session(cwd=tmp_path)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.prompt("Work").__aenter__)
            await starting.wait()
            tasks.cancel_scope.cancel()
    await anyio.sleep(0.3)
    assert not marked_processes("TERMINAL_TEST", mark)


async def test_a_command_that_leaves_a_child_behind_has_exited(tmp_path: Path) -> None:
    async def work(turn: Turn) -> None:
        async with running(turn, "sh", "-c", "sleep 60 & echo done") as id_:
            assert (await exit_of(turn, id_)).exit_code == 0
            assert (await output_of(turn, id_)).output == "done\n"

    await during(work, tmp_path, terminals=Terminals())


async def test_commands_that_cannot_be_run_are_refused(tmp_path: Path) -> None:
    async def work(turn: Turn) -> None:
        def creating(command: str, **more: Any) -> v1.CreateTerminalRequest:
            return v1.CreateTerminalRequest(session_id=turn.session_id, command=command, **more)

        assert "not found" in (await refused(turn, creating("no-such-command"))).message
        assert "pass its arguments in args" in (await refused(turn, creating("echo hello"))).message
        assert "outside" in (await refused(turn, creating("echo", cwd="/"))).message
        assert "not a directory" in (await refused(turn, creating("echo", cwd=str(tmp_path / "none")))).message
        assert "too long" in (await refused(turn, creating("echo", cwd=str(tmp_path / ("x" * 300))))).message
        async with running(turn, "echo") as id_:
            other = v1.TerminalOutputRequest(session_id=turn.session_id, terminal_id="none")
            assert (await refused(turn, other)).code == -32002
            assert "1 terminals are open" in (await refused(turn, creating("echo"))).message
        released = v1.TerminalOutputRequest(session_id=turn.session_id, terminal_id=id_)
        assert (await refused(turn, released)).code == -32002

    await during(work, tmp_path, terminals=Terminals(most=1))
