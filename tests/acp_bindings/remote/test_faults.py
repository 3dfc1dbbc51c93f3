"""What goes wrong between a client and a remote agent. Nothing hangs, and nothing is left behind."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import gzip
import json
import queue
import sys
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import anyio
import anyio.lowlevel
import httpx
import pytest
from anyio.abc import Process, SocketStream, TaskStatus
from anyio.streams.text import TextReceiveStream
from websockets.protocol import CLIENT, OPEN, Protocol
from websockets.utils import accept_key, generate_key

from acp_bindings import v1
from acp_bindings.agent import Agent, Turn
from acp_bindings.client import Client, Reconnect
from acp_bindings.connection import Connection, ConnectionClosed
from acp_bindings.remote import Limits, Unreachable, asgi, connect_url
from acp_bindings.remote._asgi import _Exchange, _Socket
from acp_bindings.remote._hosted import HostedConnection
from acp_bindings.remote._http_client import HttpLink
from acp_bindings.remote._wire import outline
from acp_bindings.setup import OPENING as NEGOTIATED
from acp_bindings.setup import RequestError
from tests.acp_bindings.remote.conftest import Serve, listening
from tests.acp_bindings.remote.speaking import speaking
from tests.acp_bindings.remote.test_reconnecting import Relay, said, through
from tests.acp_bindings.remote.test_rules import INITIALIZE, NEW, initialize, new_session, prompt
from tests.acp_bindings.remote.test_unreachable import free_port
from tests.mcp_launch.servers.raw import Answer, Request, raw_server, reply
from tests.mcp_launch.servers.tls import certificates

pytestmark = pytest.mark.anyio

BOTH = pytest.mark.parametrize("profile", ["http", "ws"])


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten what the client waits for a silent peer, and before it reopens a stream."""
    monkeypatch.setattr("acp_bindings.remote._http_client._RETRY", (0.0, 0.01, 0.02))


def to(origin: str, profile: str) -> str:
    return f"{origin.replace('http', profile, 1)}/acp"


# -- the network


@asynccontextmanager
async def uvicorn_server() -> AsyncGenerator[tuple[str, Process, TextReceiveStream]]:
    """Serve with `AcpApp.run` in a process; yield its origin, the process, and the rest of its log."""
    command = [sys.executable, "-m", "tests.acp_bindings.remote.speaking", str(free_port())]
    async with await anyio.open_process(command, stdin=None, stdout=None) as server:
        with anyio.fail_after(60):
            assert server.stderr is not None
            log, stderr = "", TextReceiveStream(server.stderr)
            async for text in stderr:
                log += text
                if "running on " in log and " (Press" in log:
                    break
            yield log.partition("running on ")[2].partition(" ")[0], server, stderr


@BOTH
async def test_the_server_is_killed(profile: str) -> None:
    async with uvicorn_server() as (origin, server, _):
        client = Client("test", version="1.0")
        async with client.connect(to(origin, profile), reconnect=Reconnect(attempts=1, wait=0.01)) as connected:
            session = await connected.session(cwd="/tmp")
            with pytest.raises(ConnectionClosed):  # noqa: PT012 - the turn must have begun
                async for _ in session.prompt("wait"):
                    server.kill()
            with pytest.raises(Unreachable) as caught:
                await session.prompt("hello")
    assert caught.value.code == "refused"


@BOTH
async def test_a_turn_is_not_cancelled_by_a_server_that_ends(
    profile: str, agent: Agent, serve_that_stops: Serve
) -> None:
    stop = anyio.Event()

    async def run(*, task_status: TaskStatus[str]) -> None:
        async with serve_that_stops(agent.asgi(), graceful_timeout=0.1) as origin:
            task_status.started(origin)
            await stop.wait()

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            origin = await tasks.start(run)
            async with Client("test", version="1.0").connect(to(origin, profile), reconnect=None) as connected:
                session = await connected.session(cwd="/tmp")
                with pytest.raises(ConnectionClosed):  # noqa: PT012 - the turn must have begun
                    async for _ in session.prompt("wait"):
                        stop.set()


async def test_a_refused_websocket_is_not_logged_as_an_error() -> None:
    async with uvicorn_server() as (origin, server, stderr):
        with pytest.raises(Unreachable, match="does not serve ACP at this path"):
            async with connect_url(f"{to(origin, 'ws')}/other", protocol=NEGOTIATED):
                pass
        server.terminate()
        log = "".join([text async for text in stderr])
    assert "404" in log
    assert "ERROR" not in log


def test_a_server_without_websockets_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def nothing(_: object) -> None: ...

    monkeypatch.setattr("uvicorn.Server.run", nothing)
    monkeypatch.setattr("acp_bindings.remote._asgi.find_spec", nothing)

    asgi({}).run()

    assert "pip install 'acp-bindings[remote]'" in caplog.text


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize(("soft", "hard", "raised"), [(1024, 4096, 4096), (1024, 2**30, 65536), (2**20, 2**20, 2**20)])
def test_run_raises_the_limit_of_open_files(monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, raised: int) -> None:
    set_limit = Mock()
    monkeypatch.setattr("uvicorn.Server.run", Mock())
    monkeypatch.setattr("resource.getrlimit", Mock(return_value=(soft, hard)))
    monkeypatch.setattr("resource.setrlimit", set_limit)

    asgi({}).run()

    assert set_limit.call_args.args[1] == (raised, hard)


@BOTH
async def test_a_peer_that_stops_answering_is_noticed(
    profile: str, agent: Agent, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_bindings.remote._http_client.SILENCE", 0.3)
    monkeypatch.setattr("acp_bindings.remote._websocket_client.PING", 0.15)
    relay, client = Relay(), Client("test", version="1.0")
    with anyio.fail_after(20):
        async with through(serve, agent, relay, profile) as url, client.connect(url, reconnect=None) as connected:
            session = await connected.session(cwd="/tmp")
            with pytest.raises(Unreachable) as caught:  # noqa: PT012 - the turn must have begun
                async for _ in session.prompt("wait"):
                    relay.freeze()
            relay.cut()
    assert caught.value.code == "timeout"
    assert "sent nothing for 0.3 s; is the agent overloaded, or the network down?" in str(caught.value)


@BOTH
async def test_packets_arrive_late_and_in_pieces(profile: str, agent: Agent, serve: Serve) -> None:
    relay, client = Relay(piece=7), Client("test", version="1.0", permission=lambda _: True)
    with anyio.fail_after(60):
        async with through(serve, agent, relay, profile) as url, client.connect(url) as connected:
            session = await connected.session(cwd="/tmp")
            assert await session.prompt("count 20") == "end_turn"
            assert await session.prompt("ask") == "end_turn"
            assert said(session) == ["".join(f"{each} " for each in range(20)), "yes"]


async def test_a_stray_line_is_quoted_without_the_values_of_headers(serve: Serve) -> None:
    async def echo(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        token = dict(scope["headers"])[b"authorization"].decode()
        await send({"type": "websocket.send", "text": f"logged in with {token}"})
        await send({"type": "websocket.close"})

    headers = {"Authorization": "Bearer tok-12345"}
    with anyio.fail_after(20):
        async with serve(echo) as url, connect_url(to(url, "WS"), protocol=v1, headers=headers) as connection:
            end = await connection.wait_ended()
    assert isinstance(end, Unreachable)
    assert end.stray is not None
    assert end.stray.last == "logged in with [redacted]"
    assert "tok-12345" not in str(end)


@BOTH
async def test_a_server_with_another_certificate_is_not_trusted(
    profile: str, agent: Agent, serve: Serve, tmp_path: Path
) -> None:
    authority = ""
    relay, client = Relay(), Client("test", version="1.0")
    options: list[dict[str, str]] = []
    for name in ("first", "second"):
        (folder := tmp_path / name).mkdir()
        ours = certificates(folder, password="secret")
        authority = authority or ours.authority
        options.append({"certfile": ours.server, "keyfile": ours.server})
    with anyio.fail_after(30):
        async with (
            serve(agent.asgi(), **options[0]) as first,
            serve(speaking().asgi(), **options[1]) as second,
            relay.before(first) as url,
            client.connect(to(url, profile), verify=authority, reconnect=Reconnect(attempts=1, wait=0.01)) as connected,
        ):
            session = await connected.session(cwd="/tmp")
            await session.prompt("hello")
            relay.target = int(second.rpartition(":")[2])
            relay.cut()
            with suppress(Unreachable):  # the loss may not be noticed before
                await connected.session(cwd="/tmp")
            with pytest.raises(Unreachable) as caught:
                await connected.session(cwd="/tmp")
    assert caught.value.code == "tls"


# -- too much, and too slow


def chatty(size: int) -> tuple[Agent, anyio.Event, anyio.Event, list[int]]:
    """Return an agent that talks without end; events for when it has to wait and has ended; and what it has said."""
    agent, waits, ended, total = Agent("chatty", version="1.0"), anyio.Event(), anyio.Event(), [0]

    @agent.prompt
    async def talk(turn: Turn) -> None:
        try:
            while True:
                total[0] += size
                with anyio.move_on_after(0.5) as patience:
                    await turn.say("x" * size)
                if patience.cancelled_caught:
                    waits.set()
                    await anyio.sleep_forever()
        finally:
            ended.set()

    return agent, waits, ended, total


@BOTH
async def test_a_flood_makes_the_agent_wait_for_the_client(profile: str, serve: Serve) -> None:
    agent, waits, ended, total = chatty(100_000)
    reads = anyio.Event()

    async def slow(_: Any, __: Any) -> None:
        await reads.wait()

    with anyio.fail_after(60):
        async with serve(agent.asgi(limits=Limits(buffer=100_000))) as origin:
            handlers = {v1.SessionNotification: slow}
            async with connect_url(to(origin, profile), protocol=v1, handlers=handlers) as connection:
                await connection.request(v1.InitializeRequest(protocol_version=1))
                session = await connection.request(v1.NewSessionRequest(cwd="/tmp", mcp_servers=[]))
                async with anyio.create_task_group() as tasks:
                    content: list[v1.ContentBlock] = [v1.TextContent(text="go")]
                    request = v1.PromptRequest(session_id=session.session_id, prompt=content)
                    tasks.start_soon(connection.request, request)
                    await waits.wait()
                    tasks.cancel_scope.cancel()
                reads.set()
            await ended.wait()
    assert total[0] < 40_000_000


@pytest.mark.full
@pytest.mark.parametrize("attached", [False, True], ids=["no stream is open", "the stream is not read"])
async def test_a_client_that_does_not_read_its_streams_is_disconnected(attached: bool, serve: Serve) -> None:
    agent, _, ended, _ = chatty(200_000)
    app = agent.asgi(limits=Limits(buffer=100_000, stall=0.3))
    with anyio.fail_after(30):
        async with serve(app) as origin, httpx.AsyncClient(base_url=f"{origin}/acp") as raw:
            connection = await initialize(raw)
            id_ = await new_session(raw, connection)
            session = connection | {"acp-session-id": id_}
            stream = raw.stream("GET", "", headers=session | {"accept": "text/event-stream"})
            if attached:
                await stream.__aenter__()
            await raw.post("", json=prompt(id_, "go"), headers=session)
            await ended.wait()
            while (await raw.post("", json=prompt(id_, "go", 3), headers=session)).status_code != 404:
                await anyio.sleep(0.01)
            if attached:
                await stream.__aexit__(None, None, None)


async def test_each_message_on_a_websocket_has_the_whole_time_limit() -> None:
    deadlines: list[float] = []

    class Exchange:
        async def send(self, _: object) -> None:
            await anyio.lowlevel.checkpoint()
            deadlines.append(anyio.current_effective_deadline())

    exchange: Any = Exchange()
    await _Socket(exchange, Limits(stall=60)).send(b"1\n2\n3\n")
    assert deadlines[0] < deadlines[1] < deadlines[2]
    await _Socket(exchange, Limits(stall=60)).send(b"x" * 20_000_000)
    assert deadlines[3] > deadlines[2] + 1000


async def test_each_part_of_a_body_adds_to_its_time_limit() -> None:
    deadlines: list[float] = []

    async def receive() -> Any:
        await anyio.lowlevel.checkpoint()
        deadlines.append(anyio.current_effective_deadline())
        return {"type": "http.request", "body": b"x" * 16384, "more_body": len(deadlines) < 3}

    scope: Any = {"type": "http", "headers": []}
    unused: Any = None
    await _Exchange(scope, receive, unused).body(Limits())
    assert deadlines == [deadlines[0], deadlines[0] + 1, deadlines[0] + 2]


async def test_a_long_event_on_a_slow_line_is_not_taken_for_a_client_that_does_not_read(serve: Serve) -> None:
    agent = Agent("long", version="1.0")

    @agent.prompt
    async def talk(turn: Turn) -> None:
        for size in (1_200_000, 2000, 2000):
            await turn.say("x" * size)

    app = agent.asgi(limits=Limits(buffer=1000, stall=0.4))

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        async def slowly(message: Any) -> None:
            await anyio.sleep(len(message.get("body", b"")) / 1_000_000)
            await send(message)

        await app(scope, receive, slowly)

    with anyio.fail_after(20):
        async with (
            serve(slow) as url,
            Client("test", version="1.0").connect(to(url, "http"), reconnect=None) as connected,
        ):
            session = await connected.session(cwd="/tmp")
            assert await session.prompt("go") == "end_turn"


@pytest.mark.full
async def test_a_client_that_does_not_read_its_websocket_is_disconnected(anyio_backend: str, serve: Serve) -> None:
    if anyio_backend == "trio":
        pytest.skip("hypercorn cannot be interrupted while it sends on Trio")
    agent, _, ended, _ = chatty(200_000)
    socket = Protocol(CLIENT, state=OPEN)
    with anyio.fail_after(30):
        async with (
            serve(agent.asgi(limits=Limits(stall=0.3))) as origin,
            await anyio.connect_tcp("127.0.0.1", int(origin.rpartition(":")[2])) as connection,
        ):
            head = ("GET /acp HTTP/1.1", "Host: localhost", "Upgrade: websocket", "Connection: Upgrade")
            key = ("Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {generate_key()}", "", "")
            await connection.send("\r\n".join(head + key).encode())
            assert b" 101 " in await connection.receive()
            for message in (INITIALIZE, NEW):
                socket.send_text(json.dumps(message).encode())
            await connection.send(b"".join(socket.data_to_send()))
            received = b""
            while b'"sessionId":"' not in received:
                received += await connection.receive()
            id_ = received.partition(b'"sessionId":"')[2].partition(b'"')[0].decode()
            socket.send_text(json.dumps(prompt(id_, "go")).encode())
            await connection.send(b"".join(socket.data_to_send()))
            await ended.wait()


async def test_a_server_that_stops_reading_is_noticed() -> None:
    """A message is larger than the buffers of the network, and the server never reads it."""
    taken: list[SocketStream] = []

    async def accept(stream: SocketStream) -> None:
        received = b""
        while b"\r\n\r\n" not in received:
            received += await stream.receive()
        key = received.partition(b"sec-websocket-key: ")[2].partition(b"\r\n")[0].decode()
        accepted = f"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {accept_key(key)}\r\n\r\n"
        await stream.send(f"HTTP/1.1 101 Switching Protocols\r\n{accepted}".encode())
        taken.append(stream)
        await anyio.sleep_forever()

    async with listening(accept) as origin:
        with anyio.fail_after(20), pytest.raises(Unreachable) as caught:
            async with connect_url(to(origin, "ws"), protocol=v1, timeout=0.5) as connection:
                await connection.request(v1.InitializeRequest(protocol_version=1, meta={"x": "x" * 20_000_000}))
        for each in taken:
            await each.aclose()
    assert (caught.value.code, "read nothing for 0.5 s" in str(caught.value)) == ("timeout", True)


@BOTH
@pytest.mark.parametrize("part", ["head", "body"])
async def test_a_response_that_comes_byte_by_byte_is_not_waited_for(profile: str, part: str) -> None:
    def slowly(request: Request) -> Iterator[bytes]:
        yield b"HTTP/1.1 401 No\r\nContent-Type: text/plain\r\nX-Slow: "
        if part == "body":
            yield b"no\r\n\r\n"
        while not request.released.wait(0.05):
            yield b"x"

    with raw_server(slowly) as server, anyio.fail_after(20), pytest.raises(Unreachable) as caught:
        async with Client("test", version="1.0").connect(
            connect_url(to(server.origin, profile), protocol=NEGOTIATED, timeout=0.5)
        ):
            pass
    # The status says enough, even if the body never ends.
    assert caught.value.code == ("unauthorized" if part == "body" else "timeout")


async def test_a_message_that_is_too_large_fails_alone(agent: Agent, serve: Serve) -> None:
    client = Client("test", version="1.0")
    with anyio.fail_after(20):
        async with (
            serve(agent.asgi(limits=Limits(body=2000))) as origin,
            client.connect(to(origin, "http"), reconnect=None) as connected,
        ):
            session = await connected.session(cwd="/tmp")
            with pytest.raises(RequestError) as caught:
                await session.prompt("x" * 5000)
            assert await session.prompt("hello") == "end_turn"
    assert "413" in str(caught.value)
    assert caught.value.data == {"status": 413}


async def test_a_message_that_is_too_large_closes_a_websocket(agent: Agent, serve: Serve) -> None:
    client = Client("test", version="1.0")
    with anyio.fail_after(20):
        async with (
            serve(agent.asgi(), websocket_max_message_size=2000) as origin,
            client.connect(to(origin, "ws")) as connected,
        ):
            session = await connected.session(cwd="/tmp")
            await session.prompt("hello")
            with pytest.raises(Unreachable) as caught:
                await session.prompt("x" * 5000)
            assert await session.prompt("hello") == "end_turn"
    assert "the agent closed the WebSocket (1009: message too big)" in str(caught.value)


async def test_a_request_is_repeated_when_the_server_asks_for_it(agent: Agent, serve: Serve) -> None:
    app, posts = agent.asgi(), list[str]()

    async def busy(scope: Any, receive: Any, send: Any) -> None:
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        if is_post and len(posts) % 3 < 2:
            posts.append("refused")
            headers = [(b"retry-after", b"0")]
            await send({"type": "http.response.start", "status": 429, "headers": headers})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            posts.extend(["accepted"] if is_post else [])
            await app(scope, receive, send)

    with anyio.fail_after(20):
        async with serve(busy) as origin, Client("test", version="1.0").connect(to(origin, "http")) as connected:
            session = await connected.session(cwd="/tmp")
            assert await session.prompt("hello") == "end_turn"
    assert posts == ["refused", "refused", "accepted"] * 3  # initialize, session/new, session/prompt


# -- responses against the rules


class Scripted:
    """A server of the HTTP profile with one stream, whose events a test chooses."""

    def __init__(self, *, connection_id: str = "c1", session_id: str = "s1") -> None:
        self.connection_id, self.session_id = connection_id, session_id
        self.requests: list[Request] = []
        self._events: queue.Queue[bytes] = queue.Queue()

    def __call__(self, request: Request) -> Iterator[bytes]:
        self.requests.append(request)
        yield from self.respond(request)

    def respond(self, request: Request) -> Iterator[bytes]:
        match request.method, request.message.get("method"):
            case "POST", "initialize":
                result: dict[str, Any] = {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []}
                yield reply(200, answer_to(request, result), Acp_Connection_Id=self.connection_id)
            case "POST", method:
                result = {"sessionId": self.session_id} if method == "session/new" else {"stopReason": "end_turn"}
                self._events.put(b"data: " + answer_to(request, result) + b"\n\n")
                yield reply(202)
            case "GET", _ if "acp-session-id" in request.headers:
                yield reply(404)
            case "GET", _:
                yield from self.stream(request)
            case _:
                yield reply(202)

    def stream(self, request: Request) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        while not request.released.is_set():
            try:
                yield self._events.get(timeout=0.05)
            except queue.Empty:
                yield b": \n\n"


def answer_to(request: Request, result: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request.message["id"], "result": result}).encode()


async def ended_by(server: Answer) -> Unreachable:
    """Return why a connection without reconnection ends."""
    with raw_server(server) as raw, anyio.fail_after(20):
        async with Client("test", version="1.0").connect(to(raw.origin, "http"), reconnect=None) as connected:
            with pytest.raises(Unreachable) as caught:
                await connected.session(cwd="/tmp")
    return caught.value


async def test_a_stream_that_is_lost_often_is_reopened_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_bindings.remote._http_client._RETRY", (0.0, 0.0, 0.0))

    class Short(Scripted):
        opened = 0

        def stream(self, request: Request) -> Iterator[bytes]:
            self.opened += 1
            if self.opened > 6:
                yield from super().stream(request)
            else:
                yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                yield b'id: %d\ndata: {"jsonrpc":"2.0","method":"_acme/did"}\n\n' % self.opened

    server = Short()
    with raw_server(server) as raw, anyio.fail_after(20):
        async with Client("test", version="1.0").connect(to(raw.origin, "http"), reconnect=None) as connected:
            await connected.session(cwd="/tmp")
    assert server.opened == 7


async def test_the_response_to_a_request_of_a_session_names_the_session() -> None:
    class Asks(Scripted):
        def respond(self, request: Request) -> Iterator[bytes]:
            if request.method == "GET" and "acp-session-id" in request.headers:
                yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                yield b'data: {"jsonrpc":"2.0","id":7,"method":"_acme/ask","params":{"sessionId":"s1"}}\n\n'
                request.released.wait()
            else:
                yield from super().respond(request)

    server, responses = Asks(), list[Request]()
    with raw_server(server) as raw, anyio.fail_after(20):
        async with Client("test", version="1.0").connect(to(raw.origin, "http")) as connected:
            await connected.session(cwd="/tmp")
            while not responses:
                await anyio.sleep(0.01)
                responses = [each for each in server.requests if "error" in each.message]
    assert [each.headers.get("acp-session-id") for each in responses] == ["s1"]


@pytest.mark.parametrize("id_", ["s\r\nX-Evil: 1", "s\x00", " s", "sé"])
async def test_ids_that_cannot_be_headers_are_not_sent_as_headers(id_: str) -> None:
    server = Scripted(session_id=id_)
    with raw_server(server) as raw, anyio.fail_after(20):
        async with Client("test", version="1.0").connect(to(raw.origin, "http")) as connected:
            session = await connected.session(cwd="/tmp")
            assert await session.prompt("hello") == "end_turn"
    assert [each for each in server.requests if {"acp-session-id", "x-evil"} & each.headers.keys()] == []


async def test_a_connection_id_that_cannot_be_a_header_is_refused() -> None:
    with raw_server(Scripted(connection_id="sé")) as raw, anyio.fail_after(20), pytest.raises(Unreachable) as caught:
        async with Client("test", version="1.0").connect(to(raw.origin, "http")):
            pass
    assert "responded without a usable Acp-Connection-Id" in str(caught.value)


async def test_a_stream_that_another_worker_may_have_is_tried_again_only_after_the_session_was_opened() -> None:
    server = Scripted()
    with raw_server(server) as raw, anyio.fail_after(20):
        async with Client("test", version="1.0").connect(to(raw.origin, "http")) as connected:
            session = await connected.session(cwd="/tmp")
            for _ in range(3):
                assert await session.prompt("hello") == "end_turn"
    assert sum(each.method == "GET" and "acp-session-id" in each.headers for each in server.requests) <= 2


async def test_a_response_of_a_post_closes_the_session_too() -> None:
    closed = threading.Event()

    class Direct(Scripted):
        def respond(self, request: Request) -> Iterator[bytes]:
            if request.message.get("method") == "session/close":
                yield reply(200, answer_to(request, {}))
            elif request.method == "GET" and "acp-session-id" in request.headers:
                try:
                    yield from self.stream(request)
                finally:
                    closed.set()
            else:
                yield from super().respond(request)

    with raw_server(Direct()) as raw, anyio.fail_after(20):
        async with Client("test", version="1.0").connect(to(raw.origin, "http")) as connected:
            session = await connected.session(cwd="/tmp")
            await connected.connection.request(v1.CloseSessionRequest(session_id=session.id))
            assert await anyio.to_thread.run_sync(closed.wait, 5)


@pytest.mark.parametrize("id_", ["s1", "sé"])
async def test_a_session_that_the_server_does_not_know_is_reported(id_: str) -> None:
    class Unknown(Scripted):
        def respond(self, request: Request) -> Iterator[bytes]:
            if request.message.get("method") == "session/load":
                yield reply(404, b"unknown session")
            else:
                yield from super().respond(request)

    with raw_server(Unknown()) as raw, anyio.fail_after(20):
        async with Client("test", version="1.0").connect(to(raw.origin, "http"), reconnect=None) as connected:
            with pytest.raises(RequestError, match=r"does not know the session \(404\)") as caught:
                await connected.load(id_, cwd="/tmp", assume={"session.load"})
    assert caught.value.data == {"status": 404}


async def test_all_requests_that_wait_for_room_on_a_connection_continue() -> None:
    line = b'{"jsonrpc":"2.0","method":"_acme/did"}\n'
    about = outline(line)
    assert about is not None
    hosted = HostedConnection(identity=None, limits=Limits(buffer=1))
    received = b""
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(hosted.deliver, line, about, None)
            while received != line * 4:
                received += await hosted.receive()


@pytest.mark.parametrize("method", ["session/load", "session/prompt"])
async def test_messages_of_requests_in_progress_stay_on_their_stream_when_that_of_the_session_is_opened(
    method: str,
) -> None:
    request = b'{"jsonrpc":"2.0","id":%d,"method":"%b","params":{"sessionId":"%b"}}'
    update = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{}}}\n'
    hosted = HostedConnection(identity=None, limits=Limits())
    await hosted.send(b'{"jsonrpc":"2.0","id":0,"result":{}}\n')
    for number, session_id in ((1, "s"), (2, "another")):
        line = request % (number, method.encode(), session_id.encode())
        about = outline(line)
        assert about is not None
        await hosted.deliver(line, about, session_id)
    await hosted.send(update)
    own, common = hosted.stream("s"), hosted.stream(None)
    assert own is not None
    assert common is not None
    await hosted.send(update)
    await hosted.send(b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
    assert (common.last, own.last) == (3, 0)
    await hosted.send(update)
    assert (common.last, own.last) == (3, 1)


async def test_whatever_waits_for_a_hosted_connection_ends_with_it() -> None:
    line = b'{"jsonrpc":"2.0","method":"_acme/did"}\n'
    about = outline(line)
    assert about is not None
    full, empty = (HostedConnection(identity=None, limits=Limits(buffer=1)) for _ in range(2))
    stream = empty.stream(None)
    assert stream is not None

    async def receive() -> None:
        with pytest.raises(anyio.EndOfStream):
            await empty.receive()

    with anyio.fail_after(5):
        await full.deliver(line, about, None)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(full.deliver, line, about, None)
            tasks.start_soon(receive)
            tasks.start_soon(stream.take, stream.attach(None))
            await anyio.wait_all_tasks_blocked()
            full.end()
            empty.end()


async def test_a_stream_wakes_its_last_reader_when_another_continues_and_its_sender_when_it_is_read() -> None:
    hosted = HostedConnection(identity=None, limits=Limits(buffer=1))
    stream, token = hosted.stream(None), object()
    assert stream is not None
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stream.take, stream.attach(None))
            await anyio.wait_all_tasks_blocked()
            token = stream.attach(0)
        async with anyio.create_task_group() as tasks:
            stream.add(b"{}\n")
            tasks.start_soon(hosted.send, b'{"jsonrpc":"2.0","method":"_acme/did"}\n')
            await anyio.wait_all_tasks_blocked()
            assert stream.last == 1
            await stream.take(token)
    assert stream.last == 2


@pytest.mark.parametrize("ends", [False, True])
async def test_all_event_streams_that_wait_for_room_continue(ends: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_bindings.remote._http_client._BUFFER", 1)
    link = HttpLink(Mock(), Mock(), limit=1)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(link._feed, b"{}\n")
            await anyio.wait_all_tasks_blocked()
            if ends:
                link._fail(Mock())
            else:
                assert await link.receive() == b"{}\n" * 3


async def test_a_response_does_not_wait_for_the_history_of_a_closed_session() -> None:
    link = HttpLink(Mock(), Mock(), limit=1)
    link._open("s")
    close = outline(b'{"jsonrpc":"2.0","id":1,"method":"session/close","params":{"sessionId":"s"}}')
    assert close is not None
    link._requests[close.key] = close
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(link._wait_for_history, bytearray(b": after 1 s\n"))
            await anyio.wait_all_tasks_blocked()
            await link._take(b'{"jsonrpc":"2.0","id":1,"result":{}}\n', None)


async def test_a_closed_connection_is_among_the_reasons_why_the_server_does_not_know_it(serve: Serve) -> None:
    def leave(params: Any, connection: Connection) -> None:
        connection.close()

    def answer(params: Any, connection: Connection) -> Any:
        return {"protocolVersion": 1}

    app = asgi({"initialize": answer, "_acme/do": answer, "_acme/leave": leave})
    with anyio.fail_after(20):
        async with serve(app) as origin, connect_url(to(origin, "http"), protocol=NEGOTIATED) as connection:
            await connection.request({"protocolVersion": 1}, method="initialize")
            await connection.request(method="_acme/do")
            await connection.notify(method="_acme/leave")
            end = await connection.wait_ended()
    assert "no longer knows the connection (404); has it closed the connection or restarted, or do " in str(end)


async def test_an_error_response_to_initialize_needs_no_connection_id() -> None:
    class Refusing(Scripted):
        def respond(self, request: Request) -> Iterator[bytes]:
            error = {"code": -32000, "message": "client version 1.0 is too old"}
            yield reply(200, json.dumps({"jsonrpc": "2.0", "id": request.message["id"], "error": error}).encode())

    with raw_server(Refusing()) as raw, anyio.fail_after(20), pytest.raises(RequestError) as caught:
        async with Client("test", version="1.0").connect(to(raw.origin, "http")):
            pass
    assert (caught.value.code, caught.value.message) == (-32000, "client version 1.0 is too old")


async def test_an_event_id_that_cannot_be_a_header_is_not_sent_back() -> None:
    class Ids(Scripted):
        def stream(self, request: Request) -> Iterator[bytes]:
            assert "last-event-id" not in request.headers
            yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
            yield b'id: \xff\x00\ndata: {"jsonrpc":"2.0","method":"_note"}\n\n'

    assert (await ended_by(Ids())).code == "disconnected"


async def test_a_compressed_event_stream_is_refused() -> None:
    class Bomb(Scripted):
        def stream(self, request: Request) -> Iterator[bytes]:
            yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n"
            yield gzip.compress(b": \n\n" * 10_000_000)

    error = await ended_by(Bomb())
    assert (error.code, "sent a compressed response" in str(error)) == ("not_acp", True)


async def test_a_web_page_in_place_of_an_event_stream_ends_the_connection() -> None:
    class Page(Scripted):
        def stream(self, request: Request) -> Iterator[bytes]:
            yield reply(200, b"<title>Maintenance</title>", content_type="text/html")

    error = await ended_by(Page())
    assert (error.code, 'a page titled "Maintenance"' in str(error)) == ("not_acp", True)


@pytest.mark.parametrize(
    ("response", "said"),
    [
        (reply(200, b"<title>Maintenance</title>", content_type="text/html"), "Maintenance"),
        (reply(200, b'{"message": "accepted"}'), 'instead of ACP: "accepted"'),
        (reply(200, gzip.compress(b"{}"), Content_Encoding="gzip"), "sent a compressed response"),
    ],
    ids=["page", "json", "compressed"],
)
async def test_a_response_to_a_message_that_is_none_ends_the_request(response: bytes, said: str) -> None:
    class Odd(Scripted):
        def respond(self, request: Request) -> Iterator[bytes]:
            if request.method == "POST" and request.message.get("method") != "initialize":
                yield response
            else:
                yield from super().respond(request)

    server = Odd()
    with raw_server(server) as raw, anyio.fail_after(20):
        async with Client("test", version="1.0").connect(to(raw.origin, "http")) as connected:
            with pytest.raises(RequestError, match=said):
                await connected.session(cwd="/tmp")
    assert [each.method for each in server.requests].count("POST") == 2


@pytest.mark.parametrize("is_page", [False, True])
async def test_json_in_response_to_a_notification_is_accepted_and_a_page_is_not(is_page: bool) -> None:
    class Odd(Scripted):
        def respond(self, request: Request) -> Iterator[bytes]:
            if request.message.get("method") == "_note":
                page = reply(200, b"<title>Sign in</title>", content_type="text/html")
                yield page if is_page else reply(200, b'{"message": "accepted"}')
            else:
                yield from super().respond(request)

    with raw_server(Odd()) as raw, anyio.fail_after(20):
        async with Client("test", version="1.0").connect(to(raw.origin, "http"), reconnect=None) as connected:
            await connected.connection.notify({}, method="_note")
            with pytest.raises(Unreachable, match="Sign in") if is_page else nullcontext():
                async with connected.session(cwd="/tmp") as session:
                    assert session.id == "s1"


@pytest.mark.parametrize(("status", "code"), [(500, "http_error"), (410, "disconnected")])
async def test_a_stream_that_cannot_be_continued_ends_the_connection(status: int, code: str) -> None:
    class Fails(Scripted):
        def stream(self, request: Request) -> Iterator[bytes]:
            if "last-event-id" in request.headers:
                yield reply(status)
            else:
                yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                yield b'id: 1\ndata: {"jsonrpc":"2.0","method":"_note"}\n\n'

    error = await ended_by(Fails())
    assert (error.code, error.status) == (code, status)
