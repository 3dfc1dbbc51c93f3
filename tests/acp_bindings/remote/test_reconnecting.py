"""Connections to a URL that are lost and made again."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream, TaskGroup

from acp_bindings import v1, v2
from acp_bindings.agent import Agent, Turn
from acp_bindings.client import Client, ConnectedAgent, Reconnect, Reconnected, Session, Terminals
from acp_bindings.connection import ConnectionClosed
from acp_bindings.remote import Unreachable, asgi
from tests.acp_bindings.remote.conftest import Serve
from tests.leftovers import children

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("profile", ["http", "ws"])]

SOON = Reconnect(wait=0.05)


class Relay:
    """A TCP relay whose connections can be cut or frozen, and which can refuse new ones."""

    def __init__(self, *, piece: int = 65536) -> None:
        self.refuses = 0
        """The number of connections to refuse."""
        self.target = 0
        """The port that it relays to."""
        self._piece = piece
        """Bytes that are passed on at once. Before each piece, all other tasks run."""
        self._frozen = False
        self._connections: set[anyio.CancelScope] = set()

    @asynccontextmanager
    async def before(self, url: str) -> AsyncGenerator[str]:
        """Relay to the port of *url* in the block, and yield the URL of the relay."""
        address, _, port = url.rpartition(":")
        self.target = int(port)
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, self._relay)
            yield f"{address}:{listener.extra(SocketAttribute.local_port)}"
            tasks.cancel_scope.cancel()

    def cut(self) -> None:
        """Cut all connections, with what is frozen in them."""
        self._frozen = False
        for each in self._connections:
            each.cancel()

    def freeze(self) -> None:
        """Pass nothing on any more, but leave all connections open."""
        self._frozen = True

    async def _relay(self, client: SocketStream) -> None:
        async with client:
            if self.refuses:
                self.refuses -= 1
                return
            async with await anyio.connect_tcp("127.0.0.1", self.target) as server, anyio.create_task_group() as tasks:
                self._connections.add(tasks.cancel_scope)
                tasks.start_soon(self._pump, client, server, tasks)
                await self._pump(server, client, tasks)
            self._connections.discard(tasks.cancel_scope)

    async def _pump(self, source: SocketStream, sink: SocketStream, tasks: TaskGroup) -> None:
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                piece = await source.receive(self._piece)
                await anyio.sleep(0)
                if self._frozen:
                    await anyio.sleep_forever()
                await sink.send(piece)
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def through(serve: Serve, agent: Agent, relay: Relay, profile: str) -> AsyncGenerator[str]:
    """Serve the agent behind the relay, and yield the URL."""
    async with serve(agent.asgi()) as url, relay.before(url) as relayed:
        yield f"{relayed.replace('http', profile, 1)}/acp"


def said(session: Session) -> list[str]:
    return [each.text for each in session.state.messages if each.role == "agent"]


@pytest.mark.parametrize("package", [v1, v2], ids=["v1", "v2"])
async def test_sessions_are_loaded_again_and_an_interrupted_turn_is_reported(
    profile: str, package: Any, agent: Agent, serve: Serve
) -> None:
    relay, reports = Relay(), list[Reconnected]()
    again = anyio.Event()

    def note(report: Reconnected) -> None:
        reports.append(report)
        again.set()

    client = Client("test", version="1.0", protocols=[package], on_reconnect=note)
    with anyio.fail_after(20):
        async with through(serve, agent, relay, profile) as url, client.connect(url, reconnect=SOON) as connected:
            quiet, busy = await connected.session(cwd="/tmp"), await connected.session(cwd="/tmp")
            await quiet.prompt("hello")
            with pytest.raises(ConnectionClosed):  # noqa: PT012 - the turn must have begun
                async for _ in busy.prompt("wait"):
                    # Without this, HTTP continues its streams, and nothing is lost.
                    connected.connection.close() if profile == "http" else relay.cut()
            await again.wait()
            assert said(quiet) == ["5: hello"]
            assert await quiet.prompt("count 2") == "end_turn"
            assert await busy.prompt("hello") == "end_turn"
            assert said(quiet) == ["5: hello", "0 1 "]
    (report,) = reports
    assert list(report.sessions) == [quiet, busy]
    assert list(report.interrupted) == [busy]
    assert report.lost == {}


async def test_a_connection_that_is_lost_while_sessions_are_loaded_again_is_reported_once(
    profile: str, agent: Agent, serve: Serve
) -> None:
    relay, reports, loads = Relay(), list[Reconnected](), list[bytes]()
    again = anyio.Event()

    def note(report: Reconnected) -> None:
        reports.append(report)
        again.set()

    def lose() -> None:
        connected.connection.close() if profile == "http" else relay.cut()

    def watch(sender: str, line: bytes) -> None:
        if sender == "us" and b"session/load" in line:
            loads.append(line)
            if len(loads) == 3:
                lose()

    client = Client("test", version="1.0", protocols=[v1], on_reconnect=note)
    with anyio.fail_after(20):
        async with (
            through(serve, agent, relay, profile) as url,
            client.connect(url, reconnect=SOON, trace=watch) as connected,
        ):
            gone, busy, quiet = [await connected.session(cwd="/tmp") for _ in range(3)]
            await quiet.prompt("hello")
            await busy.prompt("hello")
            with pytest.raises(ConnectionClosed):  # noqa: PT012 - the turn must have begun
                async for _ in busy.prompt("wait"):
                    lose()
            await again.wait()
    (report,) = reports
    assert list(report.sessions) == [busy, quiet]
    assert list(report.interrupted) == [busy]
    assert list(report.lost) == [gone.id]


async def test_only_the_session_with_a_message_that_is_too_long_is_lost(
    profile: str, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_bindings.remote._connect.LONGEST_MESSAGE", 5000)
    agent, reports, again = Agent("test", version="1.0"), list[Reconnected](), anyio.Event()

    @agent.prompt
    async def repeat(turn: Turn) -> None:
        await turn.say("x" * int(turn.text))

    def note(report: Reconnected) -> None:
        reports.append(report)
        again.set()

    client = Client("test", version="1.0", on_reconnect=note)
    with anyio.fail_after(20):
        async with serve(agent.asgi()) as url, client.connect(f"{url.replace('http', profile, 1)}/acp") as connected:
            long, short = await connected.session(cwd="/tmp"), await connected.session(cwd="/tmp")
            await short.prompt("1")
            with pytest.raises(Unreachable, match="sent a message that is too long"):
                await long.prompt("9000")
            await again.wait()
            assert await short.prompt("2") == "end_turn"
            assert said(short) == ["x", "xx"]
    (report,) = reports
    assert list(report.sessions) == [short]
    assert list(report.lost) == [long.id]
    assert "sent a message that is too long" in str(report.lost[long.id])


async def test_http_streams_that_are_cut_lose_nothing(profile: str, agent: Agent, serve: Serve) -> None:
    relay, reports = Relay(), list[Reconnected]()
    client = Client("test", version="1.0", on_reconnect=reports.append)
    if profile == "ws":
        pytest.skip("a WebSocket that is cut is a lost connection")
    with anyio.fail_after(20):
        async with through(serve, agent, relay, profile) as url, client.connect(url, reconnect=None) as connected:
            session = await connected.session(cwd="/tmp")
            count = 0
            async for _ in session.prompt("slowly 60"):
                count += 1
                if count % 20 == 0:
                    relay.cut()
            assert session.state.stop_reason == "end_turn"
            assert said(session) == ["".join(f"{each} " for each in range(60))]
    assert reports == []


@pytest.mark.parametrize("sizes", [[1000] * 1500, [5_000_000, 1000]], ids=["many messages", "a long one"])
async def test_an_http_stream_that_is_cut_loses_nothing_under_way(profile: str, sizes: list[int], serve: Serve) -> None:
    if profile == "ws":
        pytest.skip("a WebSocket that is cut is a lost connection")
    relay, agent, client = Relay(), Agent("test", version="1.0"), Client("test", version="1.0", protocols=[v1])

    @agent.prompt
    async def answer(turn: Turn) -> None:
        await turn.say("begin")
        await anyio.sleep(0.1)
        relay.freeze()
        for each in sizes:
            await turn.say("x" * each)
        await anyio.sleep(0.3)
        relay.cut()

    with anyio.fail_after(20):
        async with through(serve, agent, relay, profile) as url, client.connect(url, reconnect=None) as connected:
            session = await connected.session(cwd="/tmp")
            assert await session.prompt("hello") == "end_turn"
            assert sum(map(len, said(session))) == len("begin") + sum(sizes)


async def test_an_http_stream_that_is_cut_before_its_first_event_continues(
    profile: str, agent: Agent, serve: Serve
) -> None:
    if profile == "ws":
        pytest.skip("a WebSocket that is cut is a lost connection")
    relay, client = Relay(), Client("test", version="1.0")
    with anyio.fail_after(20):
        async with through(serve, agent, relay, profile) as url, client.connect(url, reconnect=None) as connected:
            session = await connected.session(cwd="/tmp")
            link: Any = connected.connection
            await link._link._streams[session.id].opened.wait()
            relay.cut()
            # Until the client has noticed it everywhere: a message is not sent again.
            await anyio.sleep(0.3)
            assert await session.prompt("hello") == "end_turn"
            assert said(session) == ["5: hello"]


async def test_the_first_event_of_a_stream_is_not_lost_if_the_stream_is_cut(profile: str, serve: Serve) -> None:
    if profile == "ws":
        pytest.skip("a WebSocket that is cut is a lost connection")
    # In v2, the prompt and the state come before.
    relay, agent, client = Relay(), Agent("test", version="1.0"), Client("test", version="1.0", protocols=[v1])

    @agent.prompt
    async def answer(turn: Turn) -> None:
        # The request for this prompt has its response by then.
        await anyio.sleep(0.3)
        relay.freeze()
        await turn.say("heard")
        await anyio.sleep(0.1)
        relay.cut()

    with anyio.fail_after(20):
        async with through(serve, agent, relay, profile) as url, client.connect(url, reconnect=None) as connected:
            session = await connected.session(cwd="/tmp")
            assert await session.prompt("hello") == "end_turn"
            assert said(session) == ["heard"]


async def test_a_connection_that_cannot_be_made_again_is_given_up(profile: str, agent: Agent, serve: Serve) -> None:
    relay = Relay()
    client = Client("test", version="1.0")
    few = Reconnect(attempts=2, wait=0.01)
    with anyio.fail_after(20):
        async with through(serve, agent, relay, profile) as url, client.connect(url, reconnect=few) as connected:
            session = await connected.session(cwd="/tmp")
            relay.refuses = 1000
            relay.cut()
            with pytest.raises(ConnectionClosed):
                await session.prompt("hello")
            with pytest.raises(Unreachable, match=f"^gave up after attempt 2: {profile}://"):
                await connected.session(cwd="/tmp")


async def test_only_failed_attempts_in_a_row_count(profile: str, agent: Agent, serve: Serve) -> None:
    send, receive = anyio.create_memory_object_stream[Reconnected](1)
    relay, client = Relay(), Client("test", version="1.0", on_reconnect=send.send_nowait)
    few = Reconnect(attempts=2, wait=0.01)
    with anyio.fail_after(20), send, receive:
        async with through(serve, agent, relay, profile) as url, client.connect(url, reconnect=few) as connected:
            for refused in (0, 0, 1, 1):
                relay.refuses = refused
                connected.connection.close()
                await receive.receive()


async def go_offline(connected: ConnectedAgent, relay: Relay) -> None:
    """Lose the connection, and let new ones be refused."""
    relay.refuses = 1000
    relay.cut()
    connected.connection.close()
    with pytest.raises(ConnectionClosed):
        await connected.list()


async def test_a_session_is_left_at_once_while_the_agent_is_gone(
    profile: str, agent: Agent, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    relay, client = Relay(), Client("test", version="1.0", patience=0.5)
    with anyio.fail_after(20):
        async with through(serve, agent, relay, profile) as url, client.connect(url, reconnect=SOON) as connected:
            async with connected.session(cwd="/tmp"):
                await go_offline(connected, relay)
            assert connected.sessions == {}
    assert "session/close" not in caplog.text


async def test_a_prompt_that_waits_for_the_next_connection_is_cancelled_at_once(
    profile: str, agent: Agent, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    relay, client = Relay(), Client("test", version="1.0", patience=0.5)
    with anyio.fail_after(20):
        async with through(serve, agent, relay, profile) as url, client.connect(url, reconnect=SOON) as connected:
            session = await connected.session(cwd="/tmp")
            await go_offline(connected, relay)
            async with session.prompt("hello") as turn:
                await anyio.sleep(0.01)
            assert turn.stop_reason == "cancelled"
    assert "cancelled turn" not in caplog.text


async def test_a_load_while_the_agent_is_gone_waits_and_loads_once(profile: str, agent: Agent, serve: Serve) -> None:
    relay, loaded = Relay(), list[Session]()
    with anyio.fail_after(20):
        async with (
            through(serve, agent, relay, profile) as url,
            Client("test", version="1.0").connect(url, reconnect=SOON) as connected,
        ):
            async with connected.session(cwd="/tmp") as session:
                await session.prompt("hello")

            async def load() -> None:
                loaded.append(await connected.load(session.record))

            await go_offline(connected, relay)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(load)
                await anyio.sleep(0.01)
                relay.refuses = 0
            assert said(loaded[0]) == ["5: hello"]


async def test_the_commands_of_a_lost_connection_are_ended(profile: str, serve: Serve) -> None:
    relay, agent, again = Relay(), Agent("test", version="1.0"), anyio.Event()

    @agent.prompt
    async def run(turn: Turn) -> None:
        async with turn.tool_call("Wait") as call:
            await turn.run_command(["sleep", "60"], call=call)

    client = Client("test", version="1.0", protocols=[v1], terminals=Terminals(), on_reconnect=lambda _: again.set())
    before = children()
    with anyio.fail_after(20):
        async with through(serve, agent, relay, profile) as url, client.connect(url, reconnect=SOON) as connected:
            session = await connected.session(cwd="/tmp")
            with pytest.raises(ConnectionClosed):  # noqa: PT012 - the command must have begun
                async for _ in session.prompt("go"):
                    if not children() <= before:
                        connected.connection.close() if profile == "http" else relay.cut()
            await again.wait()
            assert children() <= before


async def test_a_session_is_loaded_again_with_its_meta_and_what_was_assumed(profile: str, serve: Serve) -> None:
    again, loads = anyio.Event(), list[v1.LoadSessionRequest]()

    def answer(request: Any, _: object) -> Any:
        match request:
            case v1.InitializeRequest():
                return v1.InitializeResponse(protocol_version=1)
            case v1.NewSessionRequest():
                return v1.NewSessionResponse(session_id="s1")
            case _:
                loads.append(request)
                return v1.LoadSessionResponse()

    app = asgi(dict.fromkeys((v1.InitializeRequest, v1.NewSessionRequest, v1.LoadSessionRequest), answer), protocol=v1)
    client = Client("test", version="1.0", on_reconnect=lambda _: again.set())
    with anyio.fail_after(20):
        async with serve(app) as url, client.connect(f"{url.replace('http', profile, 1)}/acp") as connected:
            await connected.session(
                cwd="/tmp",
                additional_directories=["/opt"],
                assume={"session.load", "session.additional_directories"},
                meta={"model": "m"},
            )
            connected.connection.close()
            await again.wait()
            assert list(connected.sessions) == ["s1"]
    assert [(each.additional_directories, each.meta) for each in loads] == [(["/opt"], {"model": "m"})]
