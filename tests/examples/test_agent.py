"""The example agent, with a client that checks every response and update, in v1 and in v2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_bindings import v1, v2
from acp_bindings.connection import Connection, Handlers, RequestFailed
from acp_bindings.setup import SessionListing, SessionNotFound, SessionRecord, error_from, resume_session
from tests.examples.support import Place, Talk, talking

pytestmark = pytest.mark.anyio

TYPO: dict[str, Any] = {"name": "typo", "command": "/usr/bin/no-such-server", "args": [], "env": []}
HELLO = [("user", "say Hello"), ("agent", "Hello\n")]


async def refusal(talk: Talk, request: Any, *, method: str | None = None) -> RequestFailed:
    """Return the error of a request."""
    with pytest.raises(RequestFailed) as caught:
        await talk.ask(request, method=method)
    return caught.value


@pytest.mark.requirement("R10", "R32", "R92")
async def test_the_agent_responds_with_its_version_and_capabilities(place: Place, version: int) -> None:
    async with talking(place, version) as talk:
        assert talk.agent.version == version
        assert talk.agent.info is not None
        assert talk.agent.info.name == "example-agent"
        others = ["prompt.embedded_context", "mcp.stdio", "mcp.http", *(["mcp.sse"] if version == 1 else [])]
        sessions = {"additional_directories", "close", "delete", "list", "load", "resume"}
        assert talk.agent.names() == {"session", *(f"session.{each}" for each in sessions), *others}


@pytest.mark.requirement("R38", "R34")
async def test_a_prompt_of_text_and_links_is_answered_with_updates(place: Place, version: int) -> None:
    async with talking(place, version) as talk:
        session = await talk.new(place.project)
        wire = talk.wire
        link = wire.ResourceLink(name="notes.txt", uri="file:///notes.txt")
        file = wire.EmbeddedResource(resource=wire.TextResourceContents(uri="file:///a.txt", text="say no"))
        request = wire.PromptRequest(session_id=session, prompt=[wire.TextContent(text="say Hello"), link, file])
        await talk.ask(request)
        said = "Hello\nyou gave me notes.txt\nyou gave me file:///a.txt\n"
        await talk.seen.until(lambda: talk.seen.text() == said)


async def test_a_tool_of_a_stdio_server_is_called_and_its_call_is_shown(place: Place, version: int) -> None:
    async with talking(place, version) as talk:
        session = await talk.new(place.project, place.tools())
        assert await talk.prompt(session, "call tools__where") == "end_turn"
        calls = [each for each in talk.seen.said() if each[0] not in ("user", "agent")]
        assert calls == [("in_progress", "tools__where"), ("completed", str(place.project))]


async def test_a_tool_call_refused_by_the_server_fails_and_the_turn_continues(place: Place, version: int) -> None:
    async with talking(place, version) as talk:
        session = await talk.new(place.project, place.tools())
        assert await talk.prompt(session, "call tools__refuse\nsay on") == "end_turn"
        assert talk.seen.said()[-2:] == [("failed", "out of order"), ("agent", "on\n")]


@pytest.mark.requirement("R51")
async def test_servers_run_in_the_directory_of_the_session_wherever_the_agent_was_started(
    place: Place, version: int, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with talking(place, version) as talk:
        for folder in (place.project, other):
            session = await talk.new(folder, place.tools())
            await talk.prompt(session, "call tools__where")
            assert talk.seen.said()[-1] == ("completed", str(folder))


@pytest.mark.requirement("R44", "R47")
async def test_sessions_have_their_own_ids_servers_and_histories(place: Place, version: int) -> None:
    async with talking(place, version) as talk:
        one, other = await talk.new(place.project, place.tools()), await talk.new(place.project, place.tools())
        for session in (one, other):
            await talk.prompt(session, "call tools__pid")
        pids = [text for who, text in talk.seen.said() if who == "completed"]
        assert one != other
        assert len(set(pids)) == 2

        await talk.load(one, place.project)
        assert [text for who, text in talk.seen.said(replay=True) if who == "completed"] == pids[:1]


@pytest.mark.requirement("R89")
async def test_failed_servers_are_reported_and_the_others_work(place: Place, version: int) -> None:
    async with talking(place, version) as talk:
        request = talk.wire.NewSessionRequest(
            cwd=str(place.project), mcp_servers=talk.servers((TYPO, place.tools(), TYPO | {"name": "other"}))
        )
        response = await talk.ask(request)
        talk.seen.show(talk.seen.updates.created(response.session_id))

        await talk.seen.until(lambda: len(talk.seen.all) >= 2)
        notices = talk.seen.said()
        assert [who for who, _ in notices] == ["notice", "notice"]
        assert sorted(text.partition(": command not found")[0] for _, text in notices) == [
            "MCP server other",
            "MCP server typo",
        ]
        assert await talk.prompt(response.session_id, "call tools__where") == "end_turn"
        assert talk.seen.said()[-1] == ("completed", str(place.project))


async def test_a_prompt_is_cancelled_even_while_a_tool_runs(place: Place, version: int, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    async with talking(place, version) as talk, anyio.create_task_group() as tasks:
        session = await talk.new(place.project, place.tools())

        async def cancel() -> None:
            with anyio.fail_after(30):
                while not begun.exists():
                    await anyio.sleep(0.01)
            await talk.cancel(session)

        tasks.start_soon(cancel)
        assert await talk.prompt(session, f"call tools__stay path={begun}\nsay never") == "cancelled"
        assert talk.seen.said()[-1][0] == ("failed" if version == 1 else "cancelled")
        assert talk.seen.text() == ""
        assert await talk.prompt(session, "say again") == "end_turn"


@pytest.mark.requirement("R53", "R57", "R58", "R59", "R60", "R62", "R96")
async def test_a_session_is_loaded_by_another_agent_with_all_of_its_history_in_order(
    place: Place, version: int
) -> None:
    async with talking(place, version) as talk:
        session = await talk.new(place.project, place.tools())
        await talk.prompt(session, "say Hello")
        await talk.prompt(session, "call tools__where\nslow 2")
    place.nothing_left()

    async with talking(place, version) as talk:
        await talk.load(session, place.project, place.tools())
        first = "tool_call" if version == 1 else "tool_call_update"
        kinds = [each.notification.update.session_update for each in talk.seen.all if each.replay]
        assert talk.seen.said(replay=True) == [
            *HELLO,
            ("user", "call tools__where\nslow 2"),
            ("in_progress", "tools__where"),
            ("completed", str(place.project)),
            # What was streamed in pieces comes as one.
            ("agent", "1\n2\n"),
        ]
        assert kinds[4:6] == [first, "tool_call_update"]
        assert kinds[-1] == ("agent_message_chunk" if version == 1 else "state_update")
        assert talk.seen.updates.remarks == []

        # And then as if it had never been interrupted.
        assert await talk.prompt(session, "call tools__where") == "end_turn"
        assert talk.seen.said()[-1] == ("completed", str(place.project))


@pytest.mark.requirement("X1")
async def test_a_session_is_resumed_without_its_history(place: Place, version: int) -> None:
    async with talking(place, version) as talk:
        session = await talk.new(place.project)
        await talk.prompt(session, "say Hello")
    async with talking(place, version) as talk:
        request = resume_session(talk.agent, SessionRecord(session_id=session, cwd=str(place.project)))
        await talk.reopen(request)
        assert talk.seen.said() == []
        # The title; v2 requires the state of the session before the response.
        assert len(talk.seen.all) == version
        assert await talk.prompt(session, "say again") == "end_turn"
        assert talk.seen.updates.remarks == []


@pytest.mark.requirement("R98")
async def test_load_and_resume_return_objects(place: Place, version: int) -> None:
    type_ = v1.LoadSessionResponse if version == 1 else v2.ResumeSessionResponse
    async with talking(place, version) as talk:
        session = await talk.new(place.project)
        await talk.prompt(session, "say Hello")
        assert await talk.load(session, place.project) == type_()
        assert await talk.load(session, place.project, TYPO) == type_()
        resume = resume_session(talk.agent, SessionRecord(session_id=session, cwd=str(place.project)))
        assert await talk.reopen(resume) == talk.wire.ResumeSessionResponse()


@pytest.mark.requirement("R102")
async def test_a_session_is_stored_from_its_first_prompt_on(place: Place, version: int) -> None:
    async with talking(place, version) as talk:
        session = await talk.new(place.project)
        assert not list(place.sessions.glob("*"))
        await talk.load(session, place.project)
        await talk.ask(talk.wire.CloseSessionRequest(session_id=session))
        with pytest.raises(RequestFailed) as caught:
            await talk.load(session, place.project)
        lost = error_from(caught.value, session_id=session)
        assert isinstance(lost, SessionNotFound)
        assert (lost.code, lost.session_id) == (-32002, session)

        session = await talk.new(place.project)
        await talk.prompt(session, "say Hello")
        assert [each.name for each in place.sessions.iterdir()] == [f"{session}.jsonl"]
        await talk.load(session, place.project)
        assert talk.seen.said(replay=True) == HELLO


@pytest.mark.requirement("R95")
@pytest.mark.parametrize("wrong", ["nobody", "../../etc/passwd", "", "0B0E7D9C-1111-4222-8333-444455556666"])
async def test_an_unknown_session_is_not_found(place: Place, wrong: str) -> None:
    async with talking(place, 1) as talk:
        with pytest.raises(RequestFailed) as caught:
            await talk.load(wrong, place.project)
        assert isinstance(error_from(caught.value, session_id=wrong), SessionNotFound)
        error = await refusal(talk, v1.PromptRequest(session_id=wrong, prompt=[v1.TextContent(text="say no")]))
        assert error.code == -32002


@pytest.mark.requirement("R97")
async def test_a_history_loads_without_its_incomplete_last_line(place: Place, version: int) -> None:
    async with talking(place, version) as talk:
        session = await talk.new(place.project)
        await talk.prompt(session, "say Hello")
    with (place.sessions / f"{session}.jsonl").open("ab") as file:
        file.write(b'{"sessionUpdate": "agent_mess')
    async with talking(place, version) as talk:
        await talk.load(session, place.project)
        assert talk.seen.said(replay=True) == HELLO


@pytest.mark.requirement("X2")
async def test_close_cancels_the_work_and_frees_the_servers(place: Place, version: int, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    reasons: list[str] = []
    async with talking(place, version) as talk, anyio.create_task_group() as tasks:
        session = await talk.new(place.project, place.tools())

        async def prompt() -> None:
            reasons.append(await talk.prompt(session, f"call tools__stay path={begun}"))

        tasks.start_soon(prompt)
        with anyio.fail_after(30):
            while not begun.exists():
                await anyio.sleep(0.01)
        await talk.ask(talk.wire.CloseSessionRequest(session_id=session))
        with anyio.fail_after(30):
            while place.running():
                await anyio.sleep(0.01)
        error = await refusal(
            talk, talk.wire.PromptRequest(session_id=session, prompt=[talk.wire.TextContent(text="say no")])
        )
        assert error.code == -32002
        # Closing what is not open is as good.
        await talk.ask(talk.wire.CloseSessionRequest(session_id=session))
        await talk.ask(talk.wire.CloseSessionRequest(session_id="nobody"))
    assert reasons == ["cancelled"]


@pytest.mark.requirement("X4")
async def test_delete_removes_a_session_and_may_be_repeated(place: Place, version: int) -> None:
    async with talking(place, version) as talk:
        session = await talk.new(place.project)
        await talk.prompt(session, "say Hello")
        for each in (session, session, "nobody"):
            await talk.ask(talk.wire.DeleteSessionRequest(session_id=each))
        assert list(place.sessions.iterdir()) == []
        with pytest.raises(RequestFailed):
            await talk.load(session, place.project)


@pytest.mark.requirement("X3")
async def test_sessions_are_listed_in_pages_the_latest_first(place: Place, version: int, tmp_path: Path) -> None:
    async with talking(place, version) as talk:
        made: list[str] = []
        for number in range(105):
            folder = place.project if number else tmp_path
            session = await talk.new(folder)
            await talk.prompt(session, f"say {number}")
            made.append(session)

        listing, pages = SessionListing(talk.agent), list[list[Any]]()
        while listing.request is not None:
            pages.append(listing.take(await talk.ask(listing.request)))
        assert [len(each) for each in pages] == [50, 50, 5]
        listed = [each for page in pages for each in page]
        assert [each.session_id for each in listed] == made[::-1]
        assert (listed[0].title, listed[0].cwd) == ("say 104", str(place.project))

        other = await talk.ask(talk.wire.ListSessionsRequest(cwd=str(tmp_path)))
        assert [each.session_id for each in other.sessions] == made[:1]
        assert (await refusal(talk, talk.wire.ListSessionsRequest(cursor="odd"))).code == -32602


async def test_files_are_accessed_through_the_client_and_only_within_the_roots(place: Place, version: int) -> None:
    (place.project / "notes.txt").write_text("remember")
    read: list[str] = []
    handlers = Handlers()

    @handlers.on(v1.ReadTextFileRequest)
    def read_file(request: v1.ReadTextFileRequest, _: Connection) -> v1.ReadTextFileResponse:
        read.append(request.path)
        return v1.ReadTextFileResponse(content="as it is in the editor")

    async with talking(place, version, handlers=handlers) as talk:
        session = await talk.new(place.project)
        await talk.prompt(session, "read notes.txt\nread ../secret\nread none.txt")
        ends = [text for who, text in talk.seen.said() if who in ("completed", "failed")]
        if version == 1:
            assert ends[0] == "as it is in the editor"
            assert read == [str(place.project / "notes.txt"), str(place.project / "none.txt")]
        else:
            assert ends[0] == "remember"
            assert read == []
        assert ends[1] == '"../secret" is outside the directories of the session'


@pytest.mark.parametrize("answer", ["allow", "reject", None])
async def test_nothing_is_written_without_permission(place: Place, version: int, answer: str | None) -> None:
    handlers = Handlers()

    @handlers.on("session/request_permission")
    def permission(request: Any, _: Connection) -> Any:
        wire: Any = v1 if version == 1 else v2
        if answer is None:
            cancelled = v1.RequestPermissionOutcomeCancelled if version == 1 else v2.CancelledPermissionOutcome
            return wire.RequestPermissionResponse(outcome=cancelled())
        return wire.RequestPermissionResponse(outcome=wire.SelectedPermissionOutcome(option_id=answer))

    @handlers.on(v1.WriteTextFileRequest)
    def write(request: v1.WriteTextFileRequest, _: Connection) -> None:
        Path(request.path).write_text(request.content)

    async with talking(place, version, handlers=handlers) as talk:
        session = await talk.new(place.project)
        await talk.prompt(session, "write notes.txt remember this")
        written = place.project / "notes.txt"
        assert written.exists() == (answer == "allow")
        assert talk.seen.said()[-1][0] == ("completed" if answer == "allow" else "failed")
