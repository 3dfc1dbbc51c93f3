"""The example agent against hostile clients, careless users, signals and a littered disk: it goes on, or is gone."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import anyio
import pytest

from acp_bindings import v2
from acp_bindings.connection import Connection, Handlers, RequestFailed
from tests.examples.support import Place, talking

pytestmark = pytest.mark.anyio


async def test_of_two_loads_at_once_one_has_the_session_and_its_servers(place: Place, version: int) -> None:
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
async def test_what_is_no_file_is_neither_read_nor_written(place: Place, command: str) -> None:
    async def allow(request: v2.RequestPermissionRequest, connection: Connection) -> v2.RequestPermissionResponse:
        return v2.RequestPermissionResponse(outcome=v2.SelectedPermissionOutcome(option_id="yes"))

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
