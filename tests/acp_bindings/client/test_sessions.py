"""Sessions: created, loaded, resumed, listed, closed, deleted; MCP servers, modes, options; history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from acp_bindings import decode, v1, v1_unstable
from acp_bindings.client import Client, ConnectedAgent, Message, SessionOpening
from acp_bindings.connection import TimedOut
from acp_bindings.setup import (
    AuthMethodRefused,
    AuthRequired,
    CapabilityNotAdvertised,
    McpServersRefused,
    NotAbsolute,
    RequestError,
    SessionNotFound,
    SessionRecord,
)
from acp_bindings.setup.errors import SessionIdReused
from tests.acp_bindings.client.support import BOTH, Agent, Turn, chunk, connected, hello, said

pytestmark = pytest.mark.anyio
both = pytest.mark.parametrize("version", [1, 2])

SSE = {"type": "sse", "name": "old", "url": "https://example.com/sse"}
STDIO = {"name": "files", "command": "/usr/bin/files-mcp"}
HISTORY = [
    chunk("user_message", "Hello", "u0"),
    chunk("agent_message", "Hi, ", "m0"),
    chunk("agent_message", "you", "m0"),
]
TALK = (
    Message("user", (v1.TextContent(text="Hello"),), "u0"),
    Message("agent", (v1.TextContent(text="Hi, you"),), "m0"),
)


@both
async def test_the_peer_and_its_capabilities_are_known(version: int) -> None:
    async with connected(Agent(version, hello)) as agent:
        assert str(agent.peer) == f"agent 1.0 (ACP v{version})"
        assert agent.peer.supports("session.load")


@both
async def test_a_session_has_the_directories_and_servers_of_its_request(version: int) -> None:
    raw = Agent(version, hello, capabilities=BOTH | {"mcp.stdio", "session.additional_directories"})
    async with connected(raw) as agent:
        async with agent.session(cwd="/project", mcp_servers=[STDIO], additional_directories=["/data"]) as session:
            assert agent.sessions == {"s1": session}
            assert repr(session) == "<Session s1>"
            assert session.record.server_names == ("files",)
            assert not session.record.prompted
            await session.prompt("Hi")
            assert session.record.prompted
        assert not agent.sessions
    (request,) = raw.of("NewSessionRequest")
    assert (request.cwd, request.additional_directories, request.mcp_servers[0].name) == (
        "/project",
        ["/data"],
        "files",
    )
    assert len(raw.of("CloseSessionRequest")) == 1


@both
async def test_servers_that_the_agent_does_not_support_are_refused_or_dropped(version: int) -> None:
    http = {"type": "http", "name": "search", "url": "https://example.com/mcp"}
    raw = Agent(version, hello, capabilities=BOTH | {"mcp.stdio"})
    async with connected(raw) as agent:
        with pytest.raises(McpServersRefused) as caught:
            await agent.session(cwd="/project", mcp_servers=[STDIO, http])
        assert [each.name for each in caught.value.refused] == ["search"]
        assert not raw.received
        async with agent.session(cwd="/project", mcp_servers=[STDIO, http], on_refusal="drop") as session:
            assert [each.name for each in session.refused] == ["search"]
            assert session.record.server_names == ("files",)


async def test_a_relative_directory_is_refused_before_it_is_sent() -> None:
    raw = Agent(1, hello)
    async with connected(raw) as agent:
        with pytest.raises(NotAbsolute):
            await agent.session(cwd="project")
    assert not raw.received


@both
async def test_a_loaded_session_has_the_same_state_as_the_original(version: int) -> None:
    async def talk(turn: Turn) -> str:
        for each in HISTORY:
            await turn.send(each)
        return "end_turn"

    events: list[tuple[str, bool]] = []

    def notice(_: object, update: Any, replay: bool) -> None:
        events.append((update.session_update, replay))

    raw = Agent(version, talk, history=HISTORY)
    async with connected(raw, on_update=notice) as agent:
        async with agent.session(cwd="/project") as live:
            await live.prompt("Hello")
        events.clear()
        async with agent.load("old", cwd="/project") as loaded:
            assert loaded.state.messages == TALK
            assert events[:3] == [
                ("user_message_chunk", True),
                ("agent_message_chunk", True),
                ("agent_message_chunk", True),
            ]
            if version == 1:
                assert live.state.entries == loaded.state.entries
            raw.prompt = hello
            assert [said(update) async for update in loaded.prompt("More")] == ["Hel", "lo"]
            assert [each.text for each in loaded.state.messages] == ["Hello", "Hi, you", "More", "Hello"]
    assert not agent.remarks


@both
async def test_history_after_the_response_is_recognized(version: int) -> None:
    raw = Agent(version, hello, history=HISTORY, late=True)
    events: list[tuple[str, bool]] = []

    def notice(_: object, update: Any, replay: bool) -> None:
        events.append((update.session_update, replay))

    async with connected(raw, on_update=notice) as agent, agent.load("old", cwd="/project") as session:
        assert [said(update) async for update in session.prompt("More")] == ["Hel", "lo"]
        assert [each.text for each in session.state.messages] == ["Hello", "Hi, you", "More", "Hello"]
        assert [kind for kind, replay in events if replay] == [each["sessionUpdate"] for each in HISTORY]
        assert [getattr(each, "rule", None) for each in agent.remarks] == ["replay-after-answer"]


async def test_a_state_of_v2_from_an_agent_of_v1_is_an_unknown_update() -> None:
    raw = Agent(1, hello, history=[{"sessionUpdate": "state_update", "state": "running"}, *HISTORY])
    async with connected(raw) as agent, agent.load("old", cwd="/project") as session:
        assert session.state.messages == TALK
        assert session.state.activity == "idle"


@both
async def test_a_session_is_loaded_from_its_stored_record(version: int) -> None:
    raw = Agent(version, hello, capabilities=BOTH | {"mcp.stdio"})
    async with connected(raw) as agent:
        async with agent.session(cwd="/project", mcp_servers=[STDIO]) as session:
            stored = session.record.to_json()
        record = SessionRecord.from_json(stored)
        async with agent.load(record, mcp_servers=[STDIO]) as again:
            assert again.id == session.id
            assert again.record.server_names == ("files",)


@both
async def test_an_open_session_is_not_loaded_again(version: int) -> None:
    async with connected(Agent(version, hello)) as agent, agent.session(cwd="/project") as session:
        with pytest.raises(ValueError, match='session "s1" is already open'):
            await agent.load(session)


@both
async def test_a_session_that_is_not_found_leaves_nothing(version: int) -> None:
    def refuse(params: Any, _: object) -> Any:
        raise SessionNotFound(params.session_id)

    raw = Agent(version, hello, handlers={"session/load": refuse, "session/resume": refuse})
    async with connected(raw) as agent:
        with pytest.raises(SessionNotFound):
            await agent.load("gone", cwd="/project")
        assert not agent.sessions


@both
async def test_a_resumed_session_has_no_history(version: int) -> None:
    async with (
        connected(Agent(version, hello, history=HISTORY)) as agent,
        agent.resume("old", cwd="/project") as session,
    ):
        assert not session.state.entries
        assert await session.prompt("Hi") == "end_turn"


async def test_a_fork_requires_an_unstable_package() -> None:
    async with connected(Agent(1, hello)) as agent, agent.session(cwd="/project") as session:
        with pytest.raises(CapabilityNotAdvertised, match=r"session\.fork"):
            await agent.fork(session)


async def test_a_session_is_forked() -> None:
    def fork(params: Any, _: object) -> Any:
        return v1_unstable.ForkSessionResponse(session_id=f"fork of {params.session_id}")

    raw = Agent(1, hello, wire=v1_unstable, capabilities={"session.fork"}, handlers={"session/fork": fork})
    async with (
        connected(raw, protocols=[v1_unstable]) as agent,
        agent.session(cwd="/project") as session,
        agent.fork(session) as forked,
    ):
        assert forked.id == "fork of s1"
        assert forked.record.cwd == "/project"
        heard = [update async for update in session.prompt("Hi")]
        assert [type(each) for each in heard] == [v1.AgentMessageChunk, v1.AgentMessageChunk]


@both
async def test_all_pages_of_the_sessions_are_listed(version: int) -> None:
    async with connected(Agent(version, hello)) as agent:
        found = await agent.list(cwd="/project")
        assert found == tuple(v1.SessionInfo(session_id=id_, cwd="/project", title="One") for id_ in ("s1", "s2"))
        async with agent.load(found[1]) as session:
            assert (session.id, session.record.cwd) == ("s2", "/project")


@both
async def test_deleting_an_open_session_closes_it(version: int) -> None:
    raw = Agent(version, hello, capabilities=BOTH | {"session.delete"})
    async with connected(raw) as agent:
        session = await agent.session(cwd="/project")
        await agent.delete(session)
        assert not agent.sessions
    assert [type(each).__name__ for each in raw.received][1:] == ["CloseSessionRequest", "DeleteSessionRequest"]


@both
async def test_all_open_sessions_are_closed_in_a_loop(version: int) -> None:
    async with connected(Agent(version)) as agent:
        for directory in ("/a", "/b"):
            await agent.session(cwd=directory)
        for session in agent.sessions.values():
            await session.close()
        assert not agent.sessions


@pytest.mark.parametrize(
    ("capability", "rules"), [("session.close", ["update-after-close"]), ("session.list", list[str]())]
)
async def test_only_an_agent_that_has_closed_a_session_is_blamed_for_its_updates(
    capability: str, rules: list[str]
) -> None:
    raw = Agent(1, capabilities={capability})
    heard: list[object] = []

    def notice(_: object, update: object, __: bool) -> None:
        heard.append(update)

    async with connected(raw, on_update=notice) as agent:
        async with agent.session(cwd="/project") as session:
            pass
        await raw.update(session.id, {"sessionUpdate": "session_info_update", "title": "Title"})
        async with agent.session(cwd="/project"):  # the update arrives before its response
            assert [getattr(each, "rule", None) for each in agent.remarks] == rules
    assert not heard


@both
async def test_a_session_of_another_client_is_closed_by_its_id(version: int) -> None:
    raw = Agent(version, hello)
    async with connected(raw) as agent:
        await agent.close("other")
        assert [each.session_id for each in raw.of("CloseSessionRequest")] == ["other"]


async def test_unsupported_requests_are_refused_before_they_are_sent() -> None:
    raw = Agent(1, hello, capabilities=set())
    async with connected(raw) as agent, agent.session(cwd="/project"):
        for attempt in (agent.load("s", cwd="/"), agent.resume("s", cwd="/"), agent.list(), agent.delete("s")):
            with pytest.raises(CapabilityNotAdvertised):
                await attempt
    # An agent without `session/close` is not asked to close.
    assert [type(each).__name__ for each in raw.received] == ["NewSessionRequest"]


async def test_requests_are_sent_if_the_capability_is_assumed() -> None:
    async with connected(Agent(1, hello, capabilities=set())) as agent:
        for attempt in (
            agent.list(assume={"session.list"}),
            agent.close("s", assume={"session.close"}),
            agent.delete("s", assume={"session.delete"}),
            agent.logout(assume={"auth.logout"}),
        ):
            with pytest.raises(RequestError, match=r"\(-32601\)"):  # the response of the agent
                await attempt


@both
async def test_closing_a_session_that_is_busy_cancels_its_turn(version: int) -> None:
    ended = anyio.Event()

    async def work(turn: Turn) -> str:
        await turn.say("begun")
        await turn.cancelled.wait()
        ended.set()
        return "cancelled"

    async with connected(Agent(version, work)) as agent, agent.session(cwd="/project") as session:
        updates = aiter(session.prompt("Work"))
        await anext(updates)
        await session.close()
        assert ended.is_set()
        with pytest.raises(StopAsyncIteration):
            await anext(updates)


@both
async def test_a_failing_close_is_logged_at_the_end_of_the_block(
    version: int, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(params: Any, _: object) -> Any:
        raise RequestError(-32050, "Not now")

    raw = Agent(version, hello, handlers={"session/close": refuse})
    async with connected(raw) as agent:
        async with agent.session(cwd="/project"):
            pass
        assert "session/close failed: Not now (-32050)" in caplog.text
        session = await agent.session(cwd="/project")
        with pytest.raises(RequestError, match="Not now"):
            await session.close()


class Slow(Agent):
    """An agent that opens sessions when it is released, also those that the client no longer waits for."""

    def __init__(self, version: int, capabilities: set[str] = BOTH, *, obeys: bool = False, wire: Any = None) -> None:
        names = ["new", "load", "resume", *(["fork"] if wire else [])]
        handlers: dict[Any, Any] = {f"session/{name}": self.open_late for name in names}
        handlers["session/close"] = self.close
        super().__init__(version, hello, capabilities=capabilities, wire=wire, handlers=handlers)
        self.obeys = obeys
        self.asked, self.released, self.woken = anyio.Event(), anyio.Event(), anyio.Event()
        self.closed: list[str] = []

    async def open_late(self, params: Any, connection: Any) -> Any:
        self.asked.set()
        try:
            # Also when a test fails, this has to end.
            with anyio.fail_after(5, shield=not self.obeys):
                await self.released.wait()
        finally:
            self.woken.set()
        kind = type(params).__name__
        if kind == "ForkSessionRequest":
            return self.wire.ForkSessionResponse(session_id=f"fork of {params.session_id}")
        opens = {"NewSessionRequest": self.new_session, "LoadSessionRequest": self._load}
        return await opens.get(kind, self._resume)(params, connection)

    async def close(self, params: Any, _: object) -> None:
        """Close a session, without ever responding."""
        self.closed.append(params.session_id)
        await anyio.sleep_forever()


OPENINGS: dict[str, Callable[[ConnectedAgent], SessionOpening]] = {
    "s1": lambda agent: agent.session(cwd="/project"),
    "loaded": lambda agent: agent.load("loaded", cwd="/project"),
    "resumed": lambda agent: agent.resume("resumed", cwd="/project"),
}


async def abandon(raw: Slow, opening: SessionOpening) -> None:
    """Begin to open a session, and give up when the agent has the request."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(opening.__aenter__)
        await raw.asked.wait()
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("id_", OPENINGS)
@both
async def test_an_abandoned_session_is_closed_when_the_agent_has_opened_it(version: int, id_: str) -> None:
    raw = Slow(version)
    async with connected(raw) as agent:
        await abandon(raw, OPENINGS[id_](agent))
        with pytest.raises(TimedOut):
            await agent.session(cwd="/project", timeout=0.05)
        raw.released.set()
        while len(raw.closed) < 2:
            await anyio.sleep(0.001)
        assert sorted(raw.closed) == sorted([id_, "s2" if id_ == "s1" else "s1"])
        assert not agent.sessions


async def test_an_abandoned_fork_is_closed_when_the_agent_has_opened_it() -> None:
    raw = Slow(1, {"session.close", "session.fork"}, wire=v1_unstable)
    async with connected(raw, protocols=[v1_unstable]) as agent:
        await abandon(raw, agent.fork("s", cwd="/project"))
        raw.released.set()
        while not raw.closed:
            await anyio.sleep(0.001)
        assert raw.closed == ["fork of s"]


@both
async def test_an_abandoned_session_that_the_agent_does_not_open_is_not_closed(version: int) -> None:
    raw = Slow(version, obeys=True)
    async with connected(raw) as agent:
        await abandon(raw, agent.session(cwd="/project"))
        await raw.woken.wait()
        raw.released.set()
        assert (await agent.session(cwd="/project")).id == "s1"
        assert not raw.closed


@both
async def test_an_abandoned_load_is_not_closed_if_the_session_was_loaded_again(version: int) -> None:
    raw = Slow(version)
    async with connected(raw) as agent:
        await abandon(raw, agent.load("s", cwd="/project"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.load("s", cwd="/project").__aenter__)
            await anyio.wait_all_tasks_blocked()
            raw.released.set()
        assert [*agent.sessions] == ["s"]
        assert await agent.sessions["s"].prompt("Hi") == "end_turn"
        assert not raw.closed


@both
async def test_a_failing_close_of_an_abandoned_session_is_logged(
    version: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: Any) -> None:
        raise RequestError(-32050, "Not now")

    monkeypatch.setattr(Slow, "close", refuse)
    raw = Slow(version)
    async with connected(raw) as agent:
        await abandon(raw, agent.session(cwd="/project"))
        raw.released.set()
        while not caplog.messages:
            await anyio.sleep(0.001)
        assert caplog.messages == ["session/close of an abandoned session failed: Not now (-32050)"]
        assert (await agent.session(cwd="/project")).id == "s2"


async def test_an_abandoned_session_stays_if_the_agent_cannot_close_sessions(caplog: pytest.LogCaptureFixture) -> None:
    raw = Slow(1, set())
    async with connected(raw) as agent:
        await abandon(raw, agent.session(cwd="/project"))
        raw.released.set()
        assert (await agent.session(cwd="/project")).id == "s2"
        assert not raw.closed
    assert not caplog.messages


@both
async def test_a_connection_ends_while_an_abandoned_session_is_opened(
    version: int, caplog: pytest.LogCaptureFixture
) -> None:
    raw = Slow(version)
    async with connected(raw) as agent:
        await abandon(raw, agent.session(cwd="/project"))
        await raw.stream.aclose()
        await agent.connection.wait_ended()
        raw.released.set()
    assert not caplog.messages


@both
async def test_closing_a_session_that_the_agent_has_forgotten_succeeds_in_v2(version: int) -> None:
    def gone(params: Any, _: object) -> Any:
        raise SessionNotFound(params.session_id)

    async with connected(Agent(version, hello, handlers={"session/close": gone})) as agent:
        session = await agent.session(cwd="/project")
        if version == 2:
            await session.close()
        else:
            with pytest.raises(SessionNotFound):
                await session.close()
        await session.close()  # again has no effect


@both
async def test_the_id_of_another_session_is_refused(version: int) -> None:
    raw = Agent(version, hello)
    async with connected(raw) as agent, agent.session(cwd="/project") as session:
        raw.sessions = 0
        with pytest.raises(SessionIdReused):
            await agent.session(cwd="/project")
        assert await session.prompt("Hi") == "end_turn"


@both
async def test_updates_before_the_response_and_of_unknown_sessions_do_no_harm(version: int) -> None:
    async def early(params: Any, connection: Any) -> Any:
        raw.connection = connection
        await raw.update("s1", {"sessionUpdate": "session_info_update", "title": "Early"})
        await raw.update("nobody", chunk("agent_message", "lost", "m1"))
        return await raw.new_session(params, connection)

    raw = Agent(version, hello, handlers={"session/new": early})
    async with connected(raw) as agent, agent.session(cwd="/project") as session:
        assert session.state.title == "Early"
        assert await session.prompt("Hi") == "end_turn"
        assert [each.text for each in session.state.messages] == ["Hi", "Hello"]


@pytest.mark.parametrize("wire", [v1, v1_unstable])
async def test_a_mode_of_v1_is_set(wire: Any) -> None:
    modes = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}

    raw = Agent(1, hello, opening={"modes": modes}, wire=wire)
    async with connected(raw, protocols=[wire]) as agent, agent.session(cwd="/project") as session:
        assert (session.state.mode, [each.name for each in session.state.modes]) == ("ask", ["Ask", "Code"])
        await session.set_mode("code")
        assert session.state.mode == "code"
        with pytest.raises(ValueError, match='the mode "other"; available: ask, code'):
            await session.set_mode("other")
    assert raw.of("SetSessionModeRequest") == [wire.SetSessionModeRequest(session_id="s1", mode_id="code")]


@both
@pytest.mark.parametrize("has_modes", [False, True])
async def test_an_option_is_set_and_a_mode_may_be_an_option(version: int, has_modes: bool) -> None:
    id_ = "id" if version == 1 else "configId"

    def options(value: str) -> dict[str, Any]:
        values = [{"value": each, "name": each.title()} for each in ("ask", "code")]
        return {
            "configOptions": [
                {
                    "type": "select",
                    id_: "mode",
                    "name": "Mode",
                    "category": "mode",
                    "currentValue": value,
                    "options": values,
                },
                {"type": "boolean", id_: "web", "name": "Web", "currentValue": True},
            ]
        }

    received: list[Any] = []

    def set_option(params: Any, _: object) -> Any:
        received.append(params)
        return decode(raw.wire.SetSessionConfigOptionResponse, options("code"))

    # Agents of v1 have both for a while, and a client that has options ignores the modes.
    modes = {"modes": {"currentModeId": "old", "availableModes": [{"id": "old", "name": "Old"}]}} if has_modes else {}
    handlers = {"session/set_config_option": set_option}
    raw = Agent(version, hello, opening={**modes, **options("ask")}, handlers=handlers)
    async with connected(raw) as agent, agent.session(cwd="/project") as session:
        assert (session.state.mode, [each.name for each in session.state.modes]) == ("ask", ["Ask", "Code"])
        assert [each.id for each in session.state.config_options] == ["mode", "web"]
        await session.set_mode("code")
        assert session.state.mode == "code"
        await session.set_option("web", False)
    assert [(each.config_id, each.value) for each in received] == [("mode", "code"), ("web", False)]


@both
async def test_login_uses_the_only_method_and_auth_required_names_the_methods(version: int) -> None:
    logins: list[Any] = []

    def log_in(params: Any, _: object) -> None:
        logins.append(params.method_id)

    def refuse(params: Any, _: object) -> Any:
        if not logins:
            raise AuthRequired
        return raw.wire.NewSessionResponse(session_id="s1")

    method = "authenticate" if version == 1 else "auth/login"
    raw = Agent(
        version,
        hello,
        capabilities=BOTH | {"auth.login"},
        auth_methods=[v1.AuthMethodAgent(id="browser", name="Browser")],
        handlers={"session/new": refuse, method: log_in},
    )
    async with connected(raw) as agent:
        with pytest.raises(AuthRequired) as caught:
            await agent.session(cwd="/project")
        assert [each.name for each in caught.value.methods] == ["Browser"]
        with pytest.raises(AuthMethodRefused):
            await agent.login("other")
        await agent.login()
        assert logins == ["browser"]
        await agent.session(cwd="/project")


def test_a_client_refuses_an_async_listener_and_unknown_capabilities() -> None:
    async def listener(*_: object) -> None: ...

    with pytest.raises(TypeError, match="plain function"):
        Client("editor", version="1.0", on_update=listener)
    with pytest.raises(ValueError, match="unknown capability"):
        Client("editor", version="1.0", capabilities={"fs"})  # pyright: ignore[reportArgumentType]


async def test_modes_of_an_agent_of_v2_are_ignored() -> None:
    opening = {"modes": {"currentModeId": "ask", "availableModes": list[Any]()}}
    async with connected(Agent(2, hello, opening=opening)) as agent, agent.session(cwd="/project") as session:
        assert session.state.modes == ()
