"""Clients and agents of this package over HTTP/1.1, HTTP/2 and WebSocket."""

from __future__ import annotations

from contextvars import ContextVar
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_bindings import v1, v2
from acp_bindings.agent import Agent, Turn
from acp_bindings.client import Client
from acp_bindings.remote import Limits, _http_client
from acp_bindings.setup import SessionRecord
from tests.acp_bindings.remote.conftest import Serve
from tests.mcp_launch.servers.tls import certificates

pytestmark = pytest.mark.anyio

PROFILES = ("http", "ws")


@pytest.fixture(params=[v1, v2], ids=["v1", "v2"])
def client(request: pytest.FixtureRequest) -> Client:
    """Return a client of one version, which allows everything."""
    return Client("test", version="1.0", protocols=[request.param], permission=lambda _: True)


@pytest.mark.parametrize("profile", PROFILES)
async def test_prompts_permission_and_load_work_remotely(
    profile: str, client: Client, agent: Agent, serve: Serve
) -> None:
    with anyio.fail_after(20):
        async with serve(agent.asgi()) as url:
            target = f"{url.replace('http', profile, 1)}/acp"
            async with client.connect(target) as connected:
                session = await connected.session(cwd="/tmp")
                assert await session.prompt("count 300") == "end_turn"
                assert await session.prompt("ask") == "end_turn"
                said = [each.text for each in session.state.messages if each.role == "agent"]
                record = session.record
            async with client.connect(target) as connected, connected.load(record) as session:
                again = [each.text for each in session.state.messages if each.role == "agent"]
                assert not connected.remarks
    assert said == again == ["".join(f"{each} " for each in range(300)), "yes"]


@pytest.mark.parametrize("profile", PROFILES)
async def test_a_turn_is_cancelled_while_another_session_goes_on(
    profile: str, client: Client, agent: Agent, serve: Serve
) -> None:
    ends: dict[str, Any] = {}
    with anyio.fail_after(20):
        async with serve(agent.asgi()) as url, client.connect(f"{url.replace('http', profile, 1)}/acp") as connected:
            waiting, other = await connected.session(cwd="/tmp"), await connected.session(cwd="/tmp")

            async def wait() -> None:
                ends["waiting"] = await waiting.prompt("wait")

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                ends["other"] = await other.prompt("hello")
                await waiting.cancel()
    assert ends == {"waiting": "cancelled", "other": "end_turn"}


async def test_closed_and_deleted_sessions_do_not_count_as_streams(agent: Agent, serve: Serve) -> None:
    lost: list[Any] = []
    client = Client("test", version="1.0", on_reconnect=lost.append)
    with anyio.fail_after(20):
        async with serve(agent.asgi(limits=Limits(streams=3))) as url, client.connect(f"{url}/acp") as connected:
            kept = await connected.session(cwd="/tmp")
            records: list[SessionRecord] = []
            for _ in range(6):
                async with connected.session(cwd="/tmp") as session:
                    assert await session.prompt("hello") == "end_turn"
                records.append(session.record)
            async with connected.load(records[0]) as session:
                assert await session.prompt("hello") == "end_turn"
            for record in records:
                await connected.delete(record)
            assert await kept.prompt("hello") == "end_turn"
    assert not lost


async def test_sessions_beyond_the_limit_of_streams_use_that_of_the_connection(
    client: Client, agent: Agent, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_http_client, "_RETRY", (0.0, 0.01))
    with anyio.fail_after(20):
        async with serve(agent.asgi(limits=Limits(streams=2))) as url, client.connect(f"{url}/acp") as connected:
            sessions = [await connected.session(cwd="/tmp") for _ in range(5)]
            for _ in range(2):
                for session in sessions:
                    assert await session.prompt("count 300") == "end_turn"
            records = [session.record for session in sessions]
            said = [[each.text for each in session.state.messages] for session in sessions]
        async with serve(agent.asgi(limits=Limits(streams=2))) as url, client.connect(f"{url}/acp") as connected:
            again = [await connected.load(record) for record in records]
            assert [[each.text for each in session.state.messages] for session in again] == said


@pytest.mark.parametrize("profile", PROFILES)
async def test_a_message_of_20_megabytes_arrives(profile: str, client: Client, agent: Agent, serve: Serve) -> None:
    size = 20_000_000
    options = {"websocket_max_message_size": 64 << 20}
    with anyio.fail_after(60):
        async with (
            serve(agent.asgi(), **options) as url,
            client.connect(f"{url.replace('http', profile, 1)}/acp") as connected,
        ):
            session = await connected.session(cwd="/tmp")
            await session.prompt("x" * size)
            assert session.state.messages[-1].text == f"{size}: {'x' * 20}"


async def test_load_waits_for_a_history_that_arrives_slowly(
    client: Client, agent: Agent, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_http_client, "SILENCE", 0.5)
    app, slow = agent.asgi(), set[bytes]()

    async def slowly(scope: Any, receive: Any, send: Any) -> None:
        async def in_pieces(message: Any) -> None:
            body: bytes = message.get("body", b"")
            if len(body) > 1000:
                for start in range(0, len(body), size := len(body) // 10 + 1):
                    await anyio.sleep(0.1)
                    await send({**message, "body": body[start : start + size]})
            else:
                await send(message)

        is_slow = dict(scope.get("headers", [])).get(b"acp-session-id") in slow
        await app(scope, receive, in_pieces if is_slow else send)

    with anyio.fail_after(20):
        async with serve(slowly) as url:
            async with client.connect(f"{url}/acp") as connected, connected.session(cwd="/tmp") as session:
                for text in ("one", "x" * 10_000, "two"):
                    await session.prompt(text)
                said = [each.text for each in session.state.messages]
            slow.add(session.id.encode())
            async with client.connect(f"{url}/acp") as connected, connected.load(session.record) as session:
                assert [each.text for each in session.state.messages] == said
                assert not connected.remarks


async def test_turns_over_http_do_not_run_in_the_context_of_initialize(client: Client, serve: Serve) -> None:
    method: ContextVar[str | None] = ContextVar("method", default=None)
    agent, seen = Agent("test", version="1.0"), list[str | None]()

    @agent.prompt
    async def look(_: Turn) -> None:
        seen.append(method.get())

    app = agent.asgi()

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        method.set(scope.get("method"))
        await app(scope, receive, send)

    with anyio.fail_after(20):
        async with serve(noting) as url, client.connect(f"{url}/acp") as connected:
            await (await connected.session(cwd="/tmp")).prompt("hello")
    assert seen == [None]


async def test_an_application_runs_without_the_lifespan_of_the_server(agent: Agent, serve: Serve) -> None:
    app: Any = agent.asgi()
    with anyio.fail_after(20):
        async with (
            serve(app, lifespan=False) as url,
            Client("test", version="1.0").connect(f"{url}/acp") as connected,
        ):
            session = await connected.session(cwd="/tmp")
            assert await session.prompt("hello") == "end_turn"
        await app._running.stop()  # it would end with the event loop


async def test_http_2_is_used_where_the_server_has_it(agent: Agent, serve: Serve, tmp_path: Path) -> None:
    ours = certificates(tmp_path, password="secret")
    versions: set[str] = set()
    app = agent.asgi()

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        versions.add(scope.get("http_version", ""))
        await app(scope, receive, send)

    options = {"certfile": ours.server, "keyfile": ours.server}
    with anyio.fail_after(60):
        async with (
            serve(noting, **options) as url,
            Client("test", version="1.0").connect(f"{url}/acp", verify=ours.authority) as connected,
        ):
            sessions = [await connected.session(cwd="/tmp") for _ in range(3)]
            assert [await each.prompt("hello") for each in sessions] == ["end_turn"] * 3
    assert versions == {"", "2"}  # that of the lifespan is empty
