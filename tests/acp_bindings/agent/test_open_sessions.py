"""Sessions: opened once, taken over, closed, deleted, listed, and stored."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_bindings import v1
from acp_bindings._from_v1 import from_v1
from acp_bindings.agent import (
    Agent,
    MemorySessions,
    Session,
    SessionInUse,
    SessionPage,
    StoredSession,
    StoreFailed,
    Turn,
)
from acp_bindings.agent._session import chunk_of, updates_in
from acp_bindings.connection import RequestFailed
from acp_bindings.encoding import encode
from acp_bindings.setup import InvalidParams, SessionNotFound
from tests.acp_bindings.agent.clients import CWD, Client, served, talking

pytestmark = pytest.mark.anyio

SERVER: dict[str, Any] = {"type": "stdio", "name": "a", "command": "/bin/true", "args": [], "env": []}


class Provider:
    """Counts the sets of servers that are open, and fails on request."""

    capabilities = ("mcp.stdio",)
    errors: tuple[type[Exception], ...] = ()

    def __init__(self) -> None:
        self.opened = 0
        self.open_now = 0
        self.fails: Exception | None = None
        self.crash = anyio.Event()
        self.report = ""
        self.sessions: list[Session] = []

    @asynccontextmanager
    async def open(self, servers: Sequence[Any], session: Session) -> AsyncGenerator[str]:
        if self.fails:
            raise self.fails
        self.opened += 1
        self.open_now += 1
        self.sessions.append(session)
        if self.report:
            await session.report(self.report)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._crash)
                yield "servers"
                tasks.cancel_scope.cancel()
        finally:
            self.open_now -= 1

    async def _crash(self) -> None:
        await self.crash.wait()
        raise OSError("crashed")

    def tool_call_update(self, tool_call_id: str, result: Any) -> None:
        return None


def talker(provider: Provider | None = None, **options: Any) -> Agent[Any]:
    agent: Agent[Any] = Agent("talker", version="1.0", mcp=provider, **options)

    @agent.prompt
    async def answer(turn: Turn) -> None:
        await turn.say(turn.text)
        if turn.text == "wait":
            await anyio.sleep_forever()

    return agent


async def test_a_loaded_session_has_its_history(version: int) -> None:
    async with served(talker()) as server:
        async with server.client(version) as client:
            session = await client.new()
            await client.prompt(session, "one")
            await client.prompt(session, "two")
        async with server.client(version) as client:
            await client.load(session)
            assert client.text(session) == "onetwo"
            chunks = client.of(session, "user_message_chunk")
            assert [each.content.text for each in chunks] == ["one", "two"]
            assert await client.prompt(session, "three") == "end_turn"


async def test_a_session_stored_with_v1_loads_in_v2_and_the_reverse() -> None:
    agent = Agent("both", version="1.0")

    @agent.prompt
    async def work(turn: Turn) -> None:
        await turn.plan(["first"])
        async with turn.tool_call("Edit", kind="edit", locations=["/a"]) as call:
            call.result([v1.Diff(path="/a", old_text="x\n", new_text="y\n"), "done"])
        await turn.say("said")

    for first, second in ((1, 2), (2, 1)):
        async with served(agent) as server:
            async with server.client(first) as client:
                session = await client.new()
                await client.prompt(session, "go")
            async with server.client(second) as client:
                await client.load(session)
                assert client.text(session) == "said"
                assert client.of(session, "plan", "plan_update")
                end = client.of(session, "tool_call", "tool_call_update")[-1]
                assert [each.type for each in end.content] == ["diff", "content"]
                assert await client.prompt(session, "go") == "end_turn"


async def test_loading_an_open_session_does_not_start_its_servers_again(version: int) -> None:
    provider = Provider()
    async with talking(talker(provider), version) as client:
        session = await client.new(SERVER)
        await client.prompt(session, "hello")
        for _ in range(3):
            await client.load(session, SERVER)
        assert (provider.opened, provider.open_now) == (1, 1)
        # Another list of servers replaces those that are running.
        await client.load(session)
        assert (provider.opened, provider.open_now) == (2, 1)
    assert provider.open_now == 0


async def test_simultaneous_loads_open_one_session(version: int) -> None:
    provider = Provider()
    async with served(talker(provider)) as server, server.client(version) as one, server.client(version) as other:
        session = await one.new()
        await one.prompt(session, "hello")
        await one.ask("session/close", sessionId=session)
        async with anyio.create_task_group() as tasks:
            for client in (one, other) * 5:
                tasks.start_soon(client.load, session)
        assert provider.open_now == 1
        answers: list[object] = []
        for client in (one, other):
            try:
                answers.append(await client.prompt(session, "again"))
            except RequestFailed as error:
                answers.append(error.code)
        assert sorted(map(str, answers)) == ["-32002", "end_turn"]


async def test_a_load_from_another_connection_takes_the_session_over(version: int) -> None:
    reasons: list[str] = []
    async with served(talker()) as server, server.client(version) as other:
        async with server.client(version) as one:
            session = await one.new()
            async with anyio.create_task_group() as tasks:

                async def prompt() -> None:
                    reasons.append(await one.prompt(session, "wait"))

                tasks.start_soon(prompt)
                await one.until(lambda: one.text(session))
                await other.load(session)
            assert reasons == ["cancelled"]
            assert other.text(session) == "wait"
            with pytest.raises(RequestFailed) as gone:
                await one.prompt(session, "mine")
            assert gone.value.code == -32002
            await one.cancel(session)
            await one.ask("session/close", sessionId=session)
        # That the first client leaves does not close it either.
        assert await other.prompt(session, "ours") == "end_turn"


async def test_a_session_that_fails_to_open_returns_an_error_and_is_removed(version: int) -> None:
    provider = Provider()
    async with talking(talker(provider), version) as client:
        provider.fails = InvalidParams("mcpServers: not today")
        with pytest.raises(RequestFailed, match="not today"):
            await client.new()
        provider.fails = OSError("hunter2")
        with pytest.raises(RequestFailed, match="Internal error") as failed:
            await client.new()
        assert "hunter2" not in str(failed.value)
        provider.fails = None
        session = await client.new()
        await client.prompt(session, "hello")
        await client.ask("session/close", sessionId=session)
        provider.fails = InvalidParams("mcpServers: not today")
        with pytest.raises(RequestFailed, match="not today"):
            await client.load(session)
        provider.fails = None
        await client.load(session)
        assert client.text(session) == "hellohello"
    assert provider.open_now == 0


async def test_on_open_may_refuse_a_session(version: int) -> None:
    provider = Provider()
    agent = talker(provider)

    @agent.on_open
    async def refuse(session: Session) -> None:
        raise InvalidParams("cwd: no project there")

    async with talking(agent, version) as client:
        with pytest.raises(RequestFailed, match="no project"):
            await client.new()
        assert provider.open_now == 0


async def test_a_session_has_the_meta_of_the_last_request_that_opened_it(version: int) -> None:
    agent, opened, prompted = talker(), list[object](), list[object]()

    @agent.on_open
    async def open_(session: Session) -> None:
        opened.append(session.meta)

    @agent.command("meta", "Show it.")
    async def show(turn: Turn) -> None:
        prompted.append(turn.session.meta)

    async with talking(agent, version) as client:
        new = await client.ask("session/new", cwd=CWD, mcpServers=[], _meta={"example.com": 1})
        await client.prompt(new.session_id, "/meta")
        await client.ask("session/resume", sessionId=new.session_id, cwd=CWD, mcpServers=[], _meta={"example.com": 2})
        await client.prompt(new.session_id, "/meta")
        await client.ask("session/close", sessionId=new.session_id)
        await client.load(new.session_id)
    assert opened == [{"example.com": 1}, None]
    assert prompted == [{"example.com": 1}, {"example.com": 2}]


async def test_updates_from_on_open_arrive_after_the_response(version: int) -> None:
    agent = talker()

    @agent.on_open
    async def open_(session: Session) -> None:
        await session.set_title("Title")
        await session.report("A problem")

    async with talking(agent, version) as client:
        known: list[str] = []
        unknown: list[str] = []
        ids: set[str] = set()
        client.on_update = lambda id_: (known if id_ in ids else unknown).append(id_)
        request = client.wire.NewSessionRequest(cwd=CWD, mcp_servers=[])
        await client.connection.request(request, method="session/new", then=lambda result: ids.add(result.session_id))
        await client.until(lambda: len(client.updates) >= 2)
        assert (unknown, len(known)) == ([], 2)


async def test_a_crash_of_the_servers_closes_only_their_session(version: int, caplog: pytest.LogCaptureFixture) -> None:
    provider = Provider()
    async with talking(talker(provider), version) as client:
        broken = await client.new()
        provider.crash, crash = anyio.Event(), provider.crash
        other = await client.new()
        crash.set()
        with anyio.fail_after(5):
            while provider.open_now > 1:
                await anyio.sleep(0.01)
        with pytest.raises(RequestFailed) as gone:
            await client.prompt(broken, "hello")
        assert gone.value.code == -32002
        assert await client.prompt(other, "hello") == "end_turn"
    assert [each.levelno for each in caplog.records] == [logging.ERROR]


async def test_close_during_a_turn_cancels_it_and_closes_the_servers(version: int) -> None:
    provider = Provider()
    async with talking(talker(provider), version) as client:
        session = await client.new()
        reasons: list[str] = []

        async def prompt() -> None:
            reasons.append(await client.prompt(session, "wait"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt)
            await client.until(lambda: client.text(session))
            await client.ask("session/close", sessionId=session)
            assert provider.open_now == 0
        assert reasons == ["cancelled"]
        # Closing it again is not an error.
        await client.ask("session/close", sessionId=session)
        with pytest.raises(RequestFailed) as gone:
            await client.prompt(session, "hello")
        assert gone.value.code == -32002
        # The message is stored.
        since = len(client.updates)
        await client.load(session)
        assert client.text(session, since=since) == "wait"


async def test_disconnecting_during_a_turn_ends_it_and_closes_the_session(version: int) -> None:
    provider = Provider()
    async with served(talker(provider)) as server:
        async with server.leaving(version, "wait") as (_, session):
            pass
        assert provider.open_now == 0
        turn = provider.sessions[0].turn
        assert turn is None
        async with server.client(version) as client:
            await client.load(session)
            assert client.text(session) == "wait"


async def test_delete_closes_and_removes_a_session(version: int) -> None:
    provider = Provider()
    async with talking(talker(provider), version) as client:
        session = await client.new()
        await client.prompt(session, "hello")
        await client.ask("session/delete", sessionId=session)
        assert provider.open_now == 0
        assert (await client.ask("session/list")).sessions == []
        with pytest.raises(RequestFailed) as gone:
            await client.load(session)
        assert gone.value.code == -32002
        await client.ask("session/delete", sessionId=session)


async def test_sessions_are_listed_with_their_titles_in_pages(version: int) -> None:
    async with talking(talker(), version) as client:
        for number in range(60):
            await client.prompt(await client.new(), f"title {number}\n more")
        await client.new()
        first = await client.ask("session/list")
        assert [each.title for each in first.sessions[:2]] == ["title 59 more", "title 58 more"]
        assert all(each.updated_at for each in first.sessions)
        second = await client.ask("session/list", cursor=first.next_cursor)
        assert len(first.sessions) + len(second.sessions) == 60
        assert (await client.ask("session/list", cwd="/elsewhere")).sessions == []


@pytest.mark.parametrize("method", ["prompt", "load", "set_config_option"])
async def test_unknown_sessions_are_refused(version: int, method: str) -> None:
    agent = talker()
    agent.option("verbose", "Verbose", default=False)
    async with talking(agent, version, capabilities={"config_options.boolean"} if version == 1 else ()) as client:
        params = {"configId": "verbose", "type": "boolean", "value": True}
        send = {
            "prompt": lambda: client.prompt("unknown", "hello"),
            "load": lambda: client.load("unknown"),
            "set_config_option": lambda: client.ask("session/set_config_option", sessionId="unknown", **params),
        }
        with pytest.raises(RequestFailed) as unknown:
            await send[method]()
        assert unknown.value.code == -32002


async def test_a_session_is_only_loaded_in_its_own_directory(version: int) -> None:
    async with talking(talker(), version) as client:
        session = await client.new()
        await client.prompt(session, "hello")
        with pytest.raises(RequestFailed, match="another directory"):
            await client.load(session, cwd="/tmp")
        assert await client.prompt(session, "hello") == "end_turn"


async def test_data_of_the_author_is_stored_with_the_session(version: int) -> None:
    agent = Agent("counter", version="1.0")

    @agent.prompt
    async def count(turn: Turn) -> None:
        turn.session.data["count"] = turn.session.data.get("count", 0) + 1
        history = await turn.session.history()
        await turn.say(f"{turn.session.data['count']}/{len(history)} ")

    async with served(agent) as server:
        async with server.client(version) as client:
            session = await client.new()
            await client.prompt(session, "go")
        async with server.client(version) as client:
            await client.load(session)
            await client.prompt(session, "go")
            assert client.text(session) == "1/1 2/3 "


async def test_data_is_stored_also_if_the_turn_fails(version: int) -> None:
    store = MemorySessions()
    agent = Agent("counter", version="1.0", sessions=store)

    @agent.prompt
    async def count(turn: Turn) -> None:
        turn.session.data["count"] = 1
        raise RuntimeError

    async with served(agent) as server, server.client(version) as client:
        session = await client.new()
        with suppress(RequestFailed):
            await client.prompt(session, "go")
        [stored] = (await store.list()).sessions
        assert stored.data["data"] == {"count": 1}


async def test_a_title_that_the_agent_sets_is_listed(version: int) -> None:
    agent = Agent("titles", version="1.0")

    @agent.prompt
    async def title(turn: Turn) -> None:
        await turn.session.set_title("My title")

    async with talking(agent, version) as client:
        session = await client.new()
        await client.prompt(session, "go")
        assert client.of(session, "session_info_update")[0].title == "My title"
        assert [each.title for each in (await client.ask("session/list")).sessions] == ["My title"]


@pytest.mark.parametrize("history", [True, False], ids=["with history", "without"])
async def test_a_client_gets_the_title_of_a_session_that_it_opens_again(version: int, history: bool) -> None:
    async with served(talker()) as server:
        async with server.client(version) as client:
            session = await client.new()
            await client.prompt(session, "Plan a garden")
        async with server.client(version) as client:
            if history:
                await client.load(session)
            else:
                await client.ask("session/resume", sessionId=session, cwd=CWD, mcpServers=[])
            first, *others = client.updates
    assert first[1].title == "Plan a garden"
    assert len(others) == (2 if history else 0) + (version - 1)


async def test_a_problem_is_reported_once_and_again_to_the_next_client(version: int) -> None:
    provider = Provider()
    provider.report = "MCP server a: cannot start"
    async with served(talker(provider)) as server, server.client(version) as one, server.client(version) as other:
        session = await one.new()
        await one.until(lambda: one.updates)
        await provider.sessions[0].report(provider.report)
        await one.prompt(session, "hello")
        kind = "agent_message_chunk" if version == 1 else "notice"
        told = [each for each in one.of(session, kind) if "cannot start" in str(each)]
        assert len(told) == 1
        await other.load(session)
        # This task was not started by a request of the second client.
        await provider.sessions[0].report("MCP server b: has crashed")
        await other.until(lambda: "cannot start" in str(other.updates) and "has crashed" in str(other.updates))


async def test_notices_are_used_if_a_v1_client_supports_them() -> None:
    provider = Provider()
    provider.report = "MCP server a: cannot start"
    from acp_bindings import v1_unstable

    async with talking(talker(provider, protocols=[v1_unstable]), v1_unstable, capabilities={"notices"}) as client:
        session = await client.new()
        await client.until(lambda: client.updates)
        assert client.of(session)[0].session_update == "notice"


async def test_an_agent_without_mcp_reports_servers_of_the_session() -> None:
    async with talking(talker()) as client:
        session = await client.new(SERVER)
        await client.until(lambda: "does not support MCP servers" in client.text(session))


class Failing(MemorySessions):
    """A store that cannot be written at times."""

    def __init__(self) -> None:
        super().__init__()
        self.error: Exception | None = None

    async def append(self, session: StoredSession, updates: Sequence[bytes] = ()) -> None:
        if self.error:
            raise self.error
        await super().append(session, updates)

    async def list(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        return await super().list(cwd=cwd, cursor=cursor)


@pytest.mark.parametrize("error", [StoreFailed("the disk is full"), OSError("hunter2")], ids=["expected", "mistake"])
@pytest.mark.parametrize("converts", [False, True], ids=["handler", "converting handler"])
async def test_a_store_that_fails_ends_the_turn_and_recovers(version: int, error: Exception, converts: bool) -> None:
    store = Failing()
    agent = Agent("writer", version="1.0", sessions=store)

    @agent.prompt
    async def write(turn: Turn) -> None:
        await turn.say("before ")
        await turn.session.flush()
        if turn.text == "fail":
            store.error = error
        await turn.say("after ")
        if turn.text == "fail":
            try:
                await anyio.sleep_forever()
            finally:
                if converts:
                    raise RuntimeError("aborted")

    async with talking(agent, version) as client:
        session = await client.new()
        if version == 1:
            with pytest.raises(RequestFailed, match="store failed") as failed:
                await client.prompt(session, "fail")
            told = str(failed.value)
        else:
            assert await client.prompt(session, "fail") == "error"
            told = str(client.ends(session))
        assert "hunter2" not in told
        store.error = None
        assert await client.prompt(session, "go on") == "end_turn"
        since = len(client.updates)
        await client.load(session)
        assert client.text(session, since=since) == "before after before after "


async def test_data_that_is_not_json_is_named_in_the_log_and_keeps_the_last_that_is(
    version: int, caplog: pytest.LogCaptureFixture
) -> None:
    agent, counts = Agent("counter", version="1.0"), list[Any]()

    @agent.prompt
    async def answer(turn: Turn) -> None:
        data = turn.session.data
        counts.append([*data.setdefault("counts", []), data.get("count")])
        data["count"] = object() if turn.text == "bad" else turn.text
        data["counts"].append(turn.text)
        await turn.say(turn.text)

    async with served(agent) as server:
        async with server.client(version) as client:
            session = await client.new()
            assert await client.prompt(session, "1") == "end_turn"
            if version == 1:
                with pytest.raises(RequestFailed, match="Internal error"):
                    await client.prompt(session, "bad")
            else:
                assert await client.prompt(session, "bad") == "error"
        assert "session.data.count: An object of object" in caplog.text
        async with server.client(version) as client:
            await client.load(session)
            assert client.text(session) == "1bad"
            assert await client.prompt(session, "2") == "end_turn"
    assert counts[2] == ["1", "1"]


async def test_a_session_goes_on_after_data_that_is_not_json(version: int) -> None:
    agent = Agent("counter", version="1.0")

    @agent.prompt
    async def answer(turn: Turn) -> None:
        turn.session.data["count"] = float("nan") if turn.text == "bad" else 1

    async with talking(agent, version) as client:
        session = await client.new()
        with suppress(RequestFailed):
            await client.prompt(session, "bad")
        assert await client.prompt(session, "good") == "end_turn"


async def test_a_cancelled_turn_whose_data_is_not_json_is_cancelled(version: int) -> None:
    agent = Agent("counter", version="1.0")

    @agent.prompt
    async def answer(turn: Turn) -> None:
        turn.session.data["count"] = float("nan")
        turn.cancel()

    async with talking(agent, version) as client:
        assert await client.prompt(await client.new(), "go") == "cancelled"


async def test_a_prompt_that_cannot_be_stored_is_refused_and_not_in_the_history(version: int) -> None:
    store = Failing()
    async with talking(talker(sessions=store), version) as client:
        session = await client.new()
        store.error = StoreFailed("the disk is full")
        for _ in range(2):
            with pytest.raises(RequestFailed, match="the disk is full"):
                await client.prompt(session, "lost")
        store.error = None
        assert await client.prompt(session, "again") == "end_turn"
        await client.load(session)
        assert client.text(session) == "againagain"
        assert "lost" not in str(client.of(session, "user_message_chunk"))


async def test_a_session_that_was_deleted_elsewhere_does_not_come_back(version: int) -> None:
    store = Failing()
    async with served(talker(sessions=store)) as server:
        async with server.client(version) as client:
            session = await client.new()
            assert await client.prompt(session, "first") == "end_turn"
            await store.delete(session)
            store.error = SessionNotFound(session)
            for _ in range(2):
                with pytest.raises(RequestFailed, match="not found"):
                    await client.prompt(session, "lost")
                # A store no longer knows a session that it could not append to.
                store.error = None
            with pytest.raises(RequestFailed, match="not found"):
                await client.load(session)
        assert (await store.list()).sessions == []


async def test_a_session_that_was_taken_over_elsewhere_can_be_loaded_back(version: int) -> None:
    store = Failing()
    async with talking(talker(sessions=store), version) as client:
        session = await client.new()
        assert await client.prompt(session, "first") == "end_turn"
        store.error = SessionInUse(session, "another process has taken it over")
        for _ in range(2):
            with pytest.raises(RequestFailed, match="another process has taken it over"):
                await client.prompt(session, "lost")
            store.error = None
        await store.append(
            StoredSession(session_id=session, cwd=CWD), [chunk_of("agent_message_chunk", "m", "elsewhere")]
        )
        since = len(client.updates)
        await client.load(session)
        assert client.text(session, since=since) == "firstelsewhere"
        assert await client.prompt(session, "again") == "end_turn"


@pytest.mark.parametrize("history", [True, False], ids=["load", "resume"])
@pytest.mark.parametrize("changes_client", [True, False])
async def test_an_open_session_that_another_process_has_changed_is_read_again(
    version: int, history: bool, changes_client: bool
) -> None:
    store, provider, seen = MemorySessions(), Provider(), list[object]()
    agent: Agent[Any] = Agent("replica", version="1.0", sessions=store, mcp=provider)
    agent.mode("ask", "Ask")
    agent.mode("code", "Code")

    @agent.prompt
    async def remember(turn: Turn) -> None:
        turn.session.data.setdefault("texts", []).append(turn.text)
        seen[:] = turn.session.mode, turn.session.title, [*turn.session.data["texts"]]

    async def load(client: Client, session: str) -> None:
        if history:
            await client.load(session, SERVER)
        else:
            await client.ask("session/resume", sessionId=session, cwd=CWD, mcpServers=[SERVER])

    async with served(agent) as server, server.client(version) as one, server.client(version) as other:
        session = await one.new(SERVER)
        await load(other, session)  # before it is in the store
        await load(one, session)
        await one.prompt(session, "A")
        elsewhere: dict[str, Any] = {"mode": "code", "data": {"texts": ["A", "elsewhere"]}}
        # The same store, but past the agent.
        await store.append(StoredSession(session_id=session, cwd=CWD, title="New", data=elsewhere))
        client = other if changes_client else one
        await load(client, session)
        await client.prompt(session, "B")
        assert seen == ["code", "New", ["A", "elsewhere", "B"]]
        assert (provider.opened, provider.open_now) == (2, 1)
        await load(one, session)
        assert provider.opened == 2
        stored, _ = await store.load(session)
        await store.append(replace(stored, title="Newer"))
        await load(one, session)
        assert provider.opened == 3
        await store.delete(session)
        with pytest.raises(RequestFailed, match="not found"):
            await load(one, session)
        assert provider.open_now == 0


class GatedSessions(MemorySessions):
    """Calls a function at the next call of `load`, and `append` waits for a gate if there is one."""

    def __init__(self) -> None:
        super().__init__()
        self.on_load: Callable[[], Awaitable[object]] | None = None
        self.gate: anyio.Event | None = None

    async def load(self, session_id: str) -> tuple[StoredSession, Sequence[bytes]]:
        if on_load := self.on_load:
            self.on_load = None
            await on_load()
        return await super().load(session_id)

    async def append(self, session: StoredSession, updates: Sequence[bytes] = ()) -> None:
        if self.gate:
            await self.gate.wait()
        await super().append(session, updates)


async def test_a_prompt_that_comes_while_a_session_is_claimed_ends_before_it_is_loaded(version: int) -> None:
    store = GatedSessions()
    async with (
        served(talker(sessions=store)) as server,
        server.client(version) as one,
        server.client(version) as other,
        anyio.create_task_group() as tasks,
    ):
        session = await one.new()
        await one.prompt(session, "A")

        async def prompt() -> None:
            tasks.start_soon(one.prompt, session, "wait")
            await one.until(lambda: one.text(session).endswith("wait"))

        store.on_load = prompt
        await other.load(session)
        assert await other.prompt(session, "B") == "end_turn"


async def test_a_change_that_is_being_stored_is_not_taken_for_that_of_another_process(version: int) -> None:
    store, provider = GatedSessions(), Provider()
    agent = talker(provider, sessions=store)
    agent.mode("ask", "Ask")
    agent.mode("code", "Code")
    async with served(agent) as server, server.client(version) as client, anyio.create_task_group() as tasks:
        session = await client.new(SERVER)
        await client.prompt(session, "A")
        store.gate = anyio.Event()
        await provider.sessions[0].set_mode("code")
        tasks.start_soon(client.load, session, SERVER)
        await anyio.wait_all_tasks_blocked()
        store.gate.set()
    assert (provider.opened, provider.sessions[0].mode) == (1, "code")


async def test_data_that_changes_between_turns_is_not_taken_for_that_of_another_process(version: int) -> None:
    provider = Provider()
    agent = talker(provider)

    async def count(session: Session, value: object) -> None:
        session.data["changes"] = session.data.get("changes", 0) + 1

    agent.option("model", "Model", {"a": "A", "b": "B"}, default="a", on_set=count)
    async with served(agent) as server, server.client(version) as one, server.client(version) as other:
        session = await one.new(SERVER)
        await one.prompt(session, "hello")
        await provider.sessions[0].set_option("model", "b")
        await other.load(session, SERVER)
    assert (provider.opened, provider.sessions[0].data) == (1, {"changes": 1})


@pytest.mark.parametrize("data", [{}, {"mode": "gone", "options": {"model": "gone"}}])
async def test_settings_that_are_no_longer_valid_are_not_taken_for_a_change_of_another_process(
    version: int, data: dict[str, Any]
) -> None:
    store, provider = MemorySessions(), Provider()
    await store.append(StoredSession(session_id="imported", cwd=CWD, data=data))
    agent = talker(provider, sessions=store)
    agent.mode("ask", "Ask")
    agent.option("model", "Model", {"a": "A"}, default="a")
    async with served(agent) as server, server.client(version) as one, server.client(version) as other:
        for client in (one, other):
            await client.load("imported", SERVER)
    assert (provider.opened, provider.sessions[0].options) == (1, {"model": "a"})


async def test_two_hundred_sessions_work_at_once(version: int) -> None:
    provider = Provider()
    ids: list[str] = []
    async with served(talker(provider)) as server:
        async with server.client(version) as client:

            async def use(number: int) -> None:
                session = await client.new()
                ids.append(session)
                assert await client.prompt(session, f"{number}") == "end_turn"
                assert client.text(session) == f"{number}"

            async with anyio.create_task_group() as tasks:
                for number in range(200):
                    tasks.start_soon(use, number)
        assert len(set(ids)) == 200
        assert provider.open_now == 0
        async with server.client(version) as client:
            first = await client.ask("session/list")
            assert len(first.sessions) == 50


class Slow(Provider):
    """Servers that never become ready, and count what was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.starting = 0

    @asynccontextmanager
    async def open(self, servers: Sequence[Any], session: Session) -> AsyncGenerator[str]:
        self.starting += 1
        try:
            await anyio.sleep_forever()
            yield "never"
        finally:
            self.starting -= 1


async def test_a_cancelled_session_new_stops_the_servers_that_start(version: int) -> None:
    provider = Slow()
    async with talking(talker(provider), version) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.new)
            while not provider.starting:
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
        while provider.starting:
            await anyio.sleep(0.01)


async def test_a_client_that_leaves_while_servers_start_leaves_nothing(version: int) -> None:
    provider = Slow()
    async with served(talker(provider)) as server:
        with anyio.CancelScope() as scope:
            async with server.client(version) as client, anyio.create_task_group() as tasks:
                for _ in range(5):
                    tasks.start_soon(client.new)
                while provider.starting < 5:
                    await anyio.sleep(0.01)
                scope.cancel()
        assert provider.starting == 0


async def test_an_agent_that_stops_while_servers_start_stops_them(version: int) -> None:
    provider = Slow()
    with anyio.CancelScope() as scope:
        async with talking(talker(provider), version) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(client.new)
            while not provider.starting:
                await anyio.sleep(0.01)
            scope.cancel()
    assert provider.starting == 0


async def test_a_handler_of_on_open_that_hangs_ends_with_its_client(version: int) -> None:
    provider, opened = Provider(), list[str]()
    agent = talker(provider)

    @agent.on_open
    async def hang(session: Session) -> None:
        opened.append(session.id)
        await anyio.sleep_forever()

    async with served(agent) as server:
        with anyio.CancelScope() as scope:
            async with server.client(version) as client, anyio.create_task_group() as tasks:
                tasks.start_soon(client.new)
                while not opened:
                    await anyio.sleep(0.01)
                scope.cancel()
        assert provider.open_now == 0


async def test_loads_by_a_closing_and_a_new_client_leave_one_session(version: int) -> None:
    provider = Provider()
    async with served(talker(provider)) as server, server.client(version) as stays:
        session = await stays.new()
        await stays.prompt(session, "hello")
        for _ in range(10):
            with anyio.CancelScope() as scope:
                async with server.client(version) as leaves, anyio.create_task_group() as tasks:
                    tasks.start_soon(leaves.load, session)
                    tasks.start_soon(stays.load, session)
                    await anyio.sleep(0.005)
                    scope.cancel()
            await stays.load(session)
            assert provider.open_now == 1
            assert await stays.prompt(session, "again") == "end_turn"
    assert provider.open_now == 0


async def test_a_tool_call_of_a_killed_process_is_replayed_as_failed(version: int) -> None:
    store = MemorySessions()
    stored = StoredSession(session_id="s", cwd=CWD)
    ended = v1.ToolCall(tool_call_id="e", title="Ended", status="completed")
    begun = v1.ToolCall(tool_call_id="c", title="Call", status="in_progress")
    await store.append(stored, [encode(ended), encode(begun)])
    await store.release("s")
    async with talking(talker(sessions=store), version) as client:
        await client.load("s")
        calls = client.of("s", "tool_call", "tool_call_update")
    assert {each.tool_call_id: each.status for each in calls} == {"e": "completed", "c": "failed"}


async def test_the_chunks_of_a_message_are_merged_before_they_are_converted(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, converted = MemorySessions(), list[Any]()
    await store.append(StoredSession(session_id="s", cwd=CWD), [chunk_of("agent_message_chunk", "m", "a")] * 50)
    await store.release("s")

    def note(protocol: Any, update: Any) -> Any:
        converted.append(update)
        return from_v1(protocol, update)

    monkeypatch.setattr("acp_bindings.agent._session.from_v1", note)
    async with talking(talker(sessions=store), version) as client:
        await client.load("s")
        assert client.text("s") == "a" * 50
    assert [each.session_update for each in converted].count("agent_message_chunk") == 1


async def test_other_tasks_run_while_a_long_history_is_read_and_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, converted_at = 0, set[int]()

    async def count() -> None:
        nonlocal steps
        while True:
            await anyio.lowlevel.checkpoint()
            steps += 1

    def note(protocol: Any, update: Any) -> Any:
        converted_at.add(steps)
        return from_v1(protocol, update)

    monkeypatch.setattr("acp_bindings.agent._session.from_v1", note)
    lines, store = [chunk_of("agent_message_chunk", str(number), "a") for number in range(10_000)], MemorySessions()
    await store.append(StoredSession(session_id="s", cwd=CWD), lines)
    await store.release("s")
    async with talking(talker(sessions=store), 1) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(count)
        await updates_in(lines, "s")
        assert steps > 10
        await client.load("s")
        tasks.cancel_scope.cancel()
    assert len(converted_at) > 10


async def test_messages_that_are_stored_without_ids_are_replayed(version: int) -> None:
    store = MemorySessions()
    agent: Agent[Any] = Agent("importing", version="1.0", sessions=store)
    texts = [(v1.UserMessageChunk, "hel"), (v1.UserMessageChunk, "lo"), (v1.AgentMessageChunk, "yes")]
    lines = [encode(kind(content=v1.TextContent(text=text))) for kind, text in texts]
    await store.append(StoredSession(session_id="s", cwd=CWD), lines)
    await store.release("s")

    @agent.prompt
    async def answer(turn: Turn) -> None: ...

    async with talking(agent, version) as client:
        await client.load("s")
        chunks = client.of("s", "user_message_chunk", "agent_message_chunk")
    assert [each.content.text for each in chunks] == ["hel", "lo", "yes"]
    assert chunks[0].message_id == chunks[1].message_id != chunks[2].message_id


AT_THE_END = """
import asyncio
from acp_bindings.agent import Agent, MemorySessions
from tests.acp_bindings.agent.clients import talking

async def main():
    releasing = asyncio.Event()

    class Slow(MemorySessions):
        async def release(self, session_id):
            releasing.set()
            await asyncio.sleep(1)

    async def close_a_session():
        agent = Agent("test", version="1.0", sessions=Slow())
        agent.prompt(lambda turn: None)
        async with talking(agent) as client:
            await client.ask("session/close", sessionId=await client.new())

    task = asyncio.create_task(close_a_session())
    await releasing.wait()

asyncio.run(main())
"""


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
def test_the_end_of_the_event_loop_while_a_session_is_closed_does_not_hang() -> None:
    subprocess.run([sys.executable, "-c", AT_THE_END], check=True, timeout=60)
