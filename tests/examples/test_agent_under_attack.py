"""The example agent with hostile clients, careless users, signals and a damaged folder: it continues or exits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from typing import Any

import anyio
import pytest

from acp_bindings import v2
from acp_bindings.connection import Connection, Handlers, RequestFailed
from tests.examples.support import Place, talking

pytestmark = pytest.mark.anyio


async def test_only_one_of_two_simultaneous_loads_opens_the_session(place: Place, version: int) -> None:
    with anyio.fail_after(60):
        async with talking(place, version) as talk:
            session = await talk.new(place.project)
            await talk.prompt(session, "say hello")
            request = talk.wire.ResumeSessionRequest(
                session_id=session, cwd=str(place.project), mcp_servers=talk.servers((place.light(),))
            )
            async with anyio.create_task_group() as tasks:
                for _ in range(4):
                    tasks.start_soon(talk.ask, request)
            # The agent itself, and one server.
            assert len(place.running()) == 2
            assert await talk.prompt(session, "tools") == "end_turn"


async def test_litter_in_its_folder_hides_no_session(place: Place, version: int) -> None:
    place.sessions.mkdir()
    (place.sessions / "folder.jsonl").mkdir()
    (place.sessions / "nowhere.jsonl").symlink_to(place.sessions / "nothing")
    (place.sessions / "empty.jsonl").touch()
    (place.sessions / "binary.jsonl").write_bytes(bytes(range(256)))
    with anyio.fail_after(60):
        async with talking(place, version) as talk:
            session = await talk.new(place.project)
            await talk.prompt(session, "say hello")
            listed = await talk.ask(talk.wire.ListSessionsRequest())
            assert [each.session_id for each in listed.sessions] == [session]
            for cursor in ("9" * 5000, "²", "-1", ""):
                with pytest.raises(RequestFailed) as refused:
                    await talk.ask(talk.wire.ListSessionsRequest(cursor=cursor))
                assert refused.value.code == -32602


@pytest.mark.skipif(os.name == "nt", reason="there are no named pipes in its folders")
@pytest.mark.parametrize("command", ["read pipe", "write pipe x"])
async def test_only_regular_files_are_read_and_written(place: Place, command: str) -> None:
    async def allow(request: v2.RequestPermissionRequest, connection: Connection) -> v2.RequestPermissionResponse:
        return v2.RequestPermissionResponse(outcome=v2.SelectedPermissionOutcome(option_id="allow"))

    # A thread that waits for the other end of a pipe could not be cancelled.
    os.mkfifo(place.project / "pipe")
    with anyio.fail_after(60):
        async with talking(place, 2, handlers=Handlers({v2.RequestPermissionRequest: allow})) as talk:
            session = await talk.new(place.project)
            assert await talk.prompt(session, command) == "end_turn"
    ends = [text for how, text in talk.seen.said() if how == "failed"]
    assert ["not a file" in text for text in ends] == [True]


async def test_a_client_that_does_not_read_and_hangs_up_leaves_nothing_behind(place: Place) -> None:
    lines = {"type": "text", "text": "say it again\n" * 20000}
    answer: Any = None
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
        {"id": 2, "method": "session/new", "params": {"cwd": str(place.project), "mcpServers": [place.light()]}},
    ]
    pipe = subprocess.PIPE
    with subprocess.Popen(place.command, stdin=pipe, stdout=pipe, env=os.environ | place.env) as process:
        assert process.stdin
        assert process.stdout
        try:
            for message in messages:
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
                process.stdin.flush()
                answer = json.loads(process.stdout.readline())
            params: dict[str, Any] = {"sessionId": answer["result"]["sessionId"], "prompt": [lines]}
            prompt = {"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": params}
            process.stdin.write(json.dumps(prompt).encode() + b"\n")
            process.stdin.close()
            process.wait(timeout=30)
        finally:
            process.kill()
    await place.nothing_left()


async def test_a_prompt_of_a_megabyte_gets_a_short_title(place: Place, version: int) -> None:
    async with talking(place, version) as talk:
        session = await talk.new(place.project)

        assert await talk.prompt(session, "say " + "x" * 1_000_000) == "end_turn"

        listed = await talk.ask(talk.wire.ListSessionsRequest())
        assert [each.title for each in listed.sessions] == ["say " + "x" * 76]


async def test_an_argument_nested_too_deeply_is_taken_as_text(place: Place, version: int) -> None:
    async with talking(place, version) as talk:
        session = await talk.new(place.project)

        assert await talk.prompt(session, "call nobody__has x=" + "[" * 200_000 + "\nsay hello") == "end_turn"

        assert talk.seen.text().endswith("hello\n")


async def test_a_server_that_exits_between_prompts_is_reported_and_the_session_continues(
    place: Place, version: int
) -> None:
    async with talking(place, version) as talk:
        session = await talk.new(place.project, place.light())
        for each in set(place.running()) - {talk.connection.pid}:
            os.kill(each, signal.SIGKILL)

        # The launcher hears of it from the system, soon.
        with anyio.fail_after(30):
            while "light: was ended by SIGKILL" not in talk.seen.text():
                await talk.prompt(session, "servers")

        assert await talk.prompt(session, "call light__environment\nsay hello") == "end_turn"
        assert talk.seen.text().endswith("hello\n")


async def test_a_load_in_the_middle_of_a_prompt_ends_the_prompt_and_has_the_whole_history(
    place: Place, version: int
) -> None:
    reasons: list[str] = []
    async with talking(place, version) as talk:
        session = await talk.new(place.project)

        async def count() -> None:
            reasons.append(await talk.prompt(session, "slow 1000"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(count)
            await talk.seen.until(lambda: "2\n" in talk.seen.text())
            await talk.load(session, place.project)
        assert reasons == ["cancelled"]
        assert talk.seen.text(replay=True).startswith("1\n2\n")
        assert await talk.prompt(session, "say hello") == "end_turn"


async def test_a_link_out_of_the_project_is_not_followed(place: Place, version: int) -> None:
    (place.project / "out").symlink_to(place.project.parent)
    (place.project.parent / "secret").write_text("hunter2")
    async with talking(place, version) as talk:
        session = await talk.new(place.project)

        await talk.prompt(session, "read out/secret\nread ../secret\nwrite out/new text")

        assert [how for how, _ in talk.seen.said() if how in ("completed", "failed")] == ["failed"] * 3
        assert "hunter2" not in str(talk.seen.said())
        assert not (place.project.parent / "new").exists()
