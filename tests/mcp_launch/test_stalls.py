"""Servers that stop reading, never accept messages, or flood us only affect their own calls."""

from __future__ import annotations

import gc
import re
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.shared.message import SessionMessage
from mcp_types import REQUEST_TIMEOUT, JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from typing_extensions import TypeIs

import mcp_launch
from acp_bindings.connection import _outbox as outbox
from mcp_launch import Budgets, Options
from mcp_launch._spec import StdioServer
from mcp_launch._transports import TransportTerms, http_reading, posts, sse_client
from mcp_launch._transports import http as http_client
from mcp_launch._transports import streams as server_requests
from mcp_launch._transports.streams import Guard, WriteStream
from tests.mcp_launch.servers.raw import Answer, Request, event, head, raw_server
from tests.mcp_launch.servers.stalls import Web, handler
from tests.mcp_launch.servers.web import misbehaving_web
from tests.mcp_launch.support import SERVERS, Marked, ask, http

pytestmark = [
    pytest.mark.anyio,
    # The SDK and httpx2 leave generators unfinished where an answer breaks off, at which trio complains.
    pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*async_generator object:pytest.PytestUnraisableExceptionWarning"),
]
KINDS = pytest.mark.parametrize("kind", ["stdio", "http", "sse"])
WEB = pytest.mark.parametrize("kind", ["http", "sse"])
BIG = {"text": "x" * 1_000_000}
"""Arguments too large for the buffer of a pipe."""


@pytest.fixture
def few_connections(monkeypatch: pytest.MonkeyPatch) -> int:
    """The number of connections to a server, lowered for a test."""
    for client in (http_client, sse_client):
        monkeypatch.setattr(client, "MOST_CONNECTIONS", 5)
    return 5


@asynccontextmanager
async def stalling(kind: str, mode: str, marked: Marked, tmp_path: Path) -> AsyncGenerator[dict[str, Any]]:
    """Run a server of `servers/stalls.py`, and yield its raw JSON."""
    if kind == "stdio":
        gate = {"GATE": str(tmp_path / "gate")}
        yield marked.stdio("stalls", sys.executable, str(SERVERS / "stalls.py"), mode, env=gate)
        return
    with raw_server(handler(kind, Web(mode))) as raw:
        yield http(f"{raw.origin}/mcp", kind=kind, name="stalls")


@asynccontextmanager
async def opened(server: object, **options: Any) -> AsyncGenerator[Client]:
    """Open a session and list its tools, which the SDK would otherwise do after the first call."""
    async with mcp_launch.open_session(server, **options) as session:
        await session.list_tools()
        yield session


@asynccontextmanager
async def session_with(answer: Answer, *, tmp_path: Path, kind: str = "http") -> AsyncGenerator[Client]:
    """Open a session with a server of `raw_server`."""
    with raw_server(answer) as raw:
        budgets = Budgets(connect=0.5)
        async with opened(http(f"{raw.origin}/mcp", kind=kind), cwd=tmp_path, budgets=budgets) as session:
            yield session


async def timed_out(
    session: Client, tool: str = "echo", arguments: dict[str, Any] | None = None, *, seconds: float = 0.2
) -> None:
    """Call a tool and check that it times out."""
    with pytest.raises(MCPError) as raised:
        await session.call_tool(tool, arguments, seconds)
    assert raised.value.error.code == REQUEST_TIMEOUT


async def test_a_call_times_out_though_the_server_stopped_reading(marked: Marked, tmp_path: Path) -> None:
    async with stalling("stdio", "stops_reading", marked, tmp_path) as server:
        with anyio.fail_after(20):
            async with opened(server, cwd=tmp_path, budgets=Budgets(call=0.2, close=0.5)) as session:
                await session.call_tool("echo", {}, 10)

                await timed_out(session, "echo", BIG)
                await timed_out(session)
                with pytest.raises(MCPError, match=r"did not respond within 0\.2 s"):
                    await session.call_tool("echo", {})
                async with anyio.create_task_group() as calls:
                    calls.start_soon(session.call_tool, "echo", BIG, 60)
                    await anyio.wait_all_tasks_blocked()
                    await timed_out(session)
                    calls.cancel_scope.cancel()


async def test_messages_of_a_server_that_stopped_reading_are_still_read(marked: Marked, tmp_path: Path) -> None:
    told = anyio.Event()

    async def tell(params: object) -> None:
        told.set()

    async with stalling("stdio", "stops_reading", marked, tmp_path) as server:
        with anyio.fail_after(20):
            options = Options(logging=tell)
            async with (
                opened(server, cwd=tmp_path, options=options, budgets=Budgets(close=0.5)) as session,
                anyio.create_task_group() as calls,
            ):
                await session.call_tool("echo", {})
                calls.start_soon(session.call_tool, "echo", BIG)
                await anyio.wait_all_tasks_blocked()
                told = anyio.Event()
                await told.wait()
                calls.cancel_scope.cancel()


async def test_a_server_that_reads_again_gets_whole_lines_without_cancelled_requests(
    marked: Marked, tmp_path: Path
) -> None:
    async with stalling("stdio", "stops_reading", marked, tmp_path) as server:
        with anyio.fail_after(20):
            async with opened(server, cwd=tmp_path) as session:
                await session.call_tool("echo", {})
                # The first of these is being written when it times out.
                await timed_out(session, "echo", BIG)
                await timed_out(session, "withdrawn", BIG)
                await timed_out(session, "withdrawn")
                (tmp_path / "gate").touch()
                seen = await ask(session, "seen")

    call, cancelled, pong = "tools/call", ["notifications/cancelled", None], [None, None]
    assert [each for each in seen if each != pong][-4:] == [
        [call, "echo"],
        [call, "echo"],
        cancelled,
        [call, "seen"],
    ]


@WEB
@pytest.mark.usefixtures("few_connections")
async def test_a_pong_that_the_server_never_accepts_delays_nothing(
    kind: str, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posts, "_AT_ONCE", 3)
    async with stalling(kind, "stops_reading", marked, tmp_path) as server:
        with anyio.fail_after(20):
            async with opened(server, cwd=tmp_path) as session:
                for _ in range(20):
                    assert await ask(session, "echo") == "done"


@WEB
async def test_calls_time_out_while_the_server_does_not_accept_initialized(
    kind: str, marked: Marked, tmp_path: Path
) -> None:
    accepted = threading.Event()
    web = Web("works")

    def answer(request: Request) -> Iterable[bytes]:
        if request.asks == "notifications/initialized":
            accepted.wait(20)
        return handler(kind, web)(request)

    with raw_server(answer) as raw, anyio.fail_after(20):
        async with mcp_launch.open_session(http(f"{raw.origin}/mcp", kind=kind), cwd=tmp_path) as session:
            await timed_out(session)
            accepted.set()
            assert await ask(session, "echo") == "done"

    methods = [each.asks for each in raw.seen]
    assert methods.count("tools/call") == 1
    assert methods.index("notifications/initialized") < methods.index("tools/call")


async def test_requests_do_not_wait_for_an_event_stream_that_is_refused(
    marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posts, "_STREAM", 30.0)

    async def refuse(context: object) -> Any:
        raise MCPError(1, "no")

    async with stalling("http", "works", marked, tmp_path) as server:
        with anyio.fail_after(10):
            async with opened(server, cwd=tmp_path, options=Options(roots=refuse)) as session:
                assert await ask(session, "echo") == "done"


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_more_calls_than_connections_wait_within_their_own_timeout(
    kind: str, marked: Marked, tmp_path: Path, few_connections: int
) -> None:
    released, web = threading.Event(), Web("works")

    def answer(request: Request) -> Iterable[bytes]:
        if request.asks == "tools/call":
            released.wait(20)
        return handler(kind, web)(request)

    with anyio.fail_after(30):
        async with session_with(answer, tmp_path=tmp_path, kind=kind) as session, anyio.create_task_group() as calls:
            for _ in range(few_connections + 5):
                calls.start_soon(ask, session, "echo")
            # Much longer than it may take to connect.
            await timed_out(session, seconds=1.5)
            released.set()


async def test_a_response_without_a_length_does_not_keep_its_connection(
    marked: Marked, tmp_path: Path, few_connections: int
) -> None:
    web = Web("works")

    def answer(request: Request) -> Iterable[bytes]:
        parts = handler("sse", web)(request)
        if request.method == "GET":
            return parts
        list(parts)
        return [head(202), b"Accepted"]

    with anyio.fail_after(30):
        async with session_with(answer, tmp_path=tmp_path, kind="sse") as session:
            for _ in range(few_connections + 1):
                assert await ask(session, "echo") == "done"


def never_answers(request: Request, *, starts: bool) -> Iterator[bytes]:
    """Respond like a server whose tool "hang" never ends."""
    if b'"hang"' not in request.body:
        yield from Web("works").http(request)
        return
    if starts:
        yield head(content_type="text/event-stream") + event({}, name="ping").replace(b"event", b"id: 1\nevent")
    request.released.wait()


@pytest.mark.parametrize("starts", [False, True], ids=["no response", "event stream"])
async def test_the_post_of_a_call_that_timed_out_is_closed(
    *, starts: bool, marked: Marked, tmp_path: Path, few_connections: int
) -> None:
    with anyio.fail_after(20):
        async with session_with(lambda request: never_answers(request, starts=starts), tmp_path=tmp_path) as session:
            async with anyio.create_task_group() as calls:
                for _ in range(few_connections):
                    calls.start_soon(timed_out, session, "hang")
            assert await ask(session, "echo") == "done"


async def test_a_session_is_closed_at_the_server_though_its_calls_hold_all_connections(
    marked: Marked, tmp_path: Path, few_connections: int
) -> None:
    async def fails(session: Client) -> None:
        with pytest.raises(MCPError):
            await ask(session, "hang")

    with raw_server(lambda request: never_answers(request, starts=True)) as raw, anyio.fail_after(20):
        async with anyio.create_task_group() as calls, opened(http(f"{raw.origin}/mcp"), cwd=tmp_path) as session:
            for _ in range(few_connections):
                calls.start_soon(fails, session)
            while sum(b'"hang"' in each.body for each in raw.seen) < few_connections:
                await anyio.sleep(0.01)
    assert raw.seen[-1].method == "DELETE"


async def test_calls_with_event_streams_do_not_need_new_connections(marked: Marked, tmp_path: Path) -> None:
    with misbehaving_web() as server:
        async with opened(http(f"{server.origin}/streams"), cwd=tmp_path) as session:
            for _ in range(20):
                await session.list_tools()

    # The next call may come before the end of the last stream.
    assert server.connections < 10


async def test_an_event_stream_that_does_not_end_is_closed_after_the_response(
    marked: Marked, tmp_path: Path, few_connections: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_reading, "_END", 0.01)

    with anyio.fail_after(20), misbehaving_web() as server:
        async with opened(http(f"{server.origin}/streams/open"), cwd=tmp_path) as session:
            for _ in range(few_connections + 5):
                await session.list_tools()
        # Trio finishes in tasks of its own what generators the libraries left.
        gc.collect()
        await anyio.wait_all_tasks_blocked()


@pytest.mark.parametrize("id_", [rb"\1", rb'"\1"'], ids=["number", "string"])
async def test_posts_that_an_sse_server_never_accepts_are_closed_after_the_response(
    id_: bytes, marked: Marked, tmp_path: Path, few_connections: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posts, "_PATIENCE", 0.05)
    web = Web("works")

    def late(request: Request) -> Iterator[bytes]:
        """Act, and never respond."""
        parts = web.sse(request)
        if request.method == "GET":
            yield from (re.sub(rb'(?<="id": )(\d+)(?=, "result")', id_, part) for part in parts)
        for _ in parts:
            pass
        request.released.wait()

    with anyio.fail_after(20):
        async with session_with(late, tmp_path=tmp_path, kind="sse") as session:
            for _ in range(few_connections + 5):
                assert await ask(session, "echo") == "done"


@KINDS
async def test_requests_beyond_the_limit_get_an_error(
    kind: str, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_requests, "MOST_REQUESTS", 3)

    async def never(context: object) -> Any:
        await anyio.sleep_forever()

    async with stalling(kind, "asks", marked, tmp_path) as server:
        with anyio.fail_after(20):
            async with mcp_launch.launch([server], cwd=tmp_path, options=Options(roots=never)) as fleet:
                told = await ask(fleet["stalls"].session, "echo")

    assert [error["code"] for error in told] == [-32603, -32603]
    assert "sent more than 3 requests at a time; the rest got an error" in fleet["stalls"].warnings


@KINDS
async def test_a_flood_from_a_server_that_accepts_no_pongs_is_dropped_and_times_out(
    kind: str, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posts, "_MOST", 5)
    monkeypatch.setattr(outbox, "_MOST_OWED", 10_000)

    async with stalling(kind, "floods_unread", marked, tmp_path) as server:
        with anyio.fail_after(20):
            async with mcp_launch.launch([server], cwd=tmp_path, budgets=Budgets(handshake=0.5)) as fleet:
                pass
            # Trio finishes in tasks of its own what generators the libraries left.
            await anyio.wait_all_tasks_blocked()

    assert [failure.code for failure in fleet.failures] == ["timeout"]
    assert any("faster than it accepts" in warning for warning in fleet["stalls"].warnings)


class Ends:
    """Both ends of a stream in memory: the server's output and its input."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.got: list[Any] = []

    async def receive(self) -> SessionMessage:
        if not self.sent:
            raise anyio.EndOfStream
        return SessionMessage(self.sent.pop(0))

    async def send(self, item: SessionMessage, /) -> None:
        self.got.append(item.message)

    async def aclose(self) -> None:
        """Do nothing."""


def with_id(message: object) -> TypeIs[JSONRPCRequest | JSONRPCResponse]:
    """Return True for a message that has an id."""
    return isinstance(message, JSONRPCRequest | JSONRPCResponse)


def request(number: int | str) -> JSONRPCRequest:
    """A request of the server."""
    return JSONRPCRequest(jsonrpc="2.0", id=number, method="ping")


SPEC = StdioServer(name="server", command="/server")


def terms(warn: Callable[[str], None]) -> TransportTerms:
    """The terms of a transport whose owner only gets warnings."""
    ended = anyio.Event().set
    return TransportTerms(options=Options(), budgets=Budgets(), on_lost=ended, give_up=ended, warn=warn)


async def test_a_request_is_in_progress_until_its_response_or_cancellation() -> None:
    ends, warnings, behind = Ends(), list[str](), False
    read, write = Guard(ends, ends, SPEC, terms(warnings.append), is_behind=lambda: behind).streams
    cancel = JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params={"requestId": "1"})

    async def taken() -> list[Any]:
        return [item.message.id async for item in read if isinstance(item, SessionMessage) and with_id(item.message)]

    ends.sent = [request(number) for number in range(103)]
    assert await taken() == list(range(100))
    assert [(type(each), each.id) for each in ends.got] == [(JSONRPCError, number) for number in (100, 101, 102)]

    await write.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=0, result={})))
    ends.sent = [cancel, request(5), request("103"), request(104), request(105)]
    assert await taken() == ["103", 104]

    behind = True
    del ends.got[:]
    await write.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=2, result={})))
    ends.sent = [request(106), cancel, JSONRPCResponse(jsonrpc="2.0", id=7, result={})]
    assert await taken() == [7]
    assert len(ends.got) == 1
    assert [warning.partition(" ")[0] for warning in dict.fromkeys(warnings)] == ["sent", "sent", "sends"]


async def test_other_tasks_run_while_requests_are_dropped() -> None:
    ends, left = Ends(), list[int]()
    read, _ = Guard(ends, ends, SPEC, terms(lambda _: None), is_behind=lambda: True).streams
    ends.sent = [request(number) for number in range(100)]

    async def other() -> None:
        left.append(len(ends.sent))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        with pytest.raises(anyio.EndOfStream):
            await read.receive()

    assert left[0] > 0


async def test_a_request_is_in_progress_while_its_response_waits_to_be_sent() -> None:
    ends, accepts = Ends(), anyio.Event()

    async def send(item: SessionMessage) -> None:
        await accepts.wait()
        await ends.send(item)

    read, write = Guard(ends, WriteStream(ends, send), SPEC, terms(lambda _: None), is_behind=lambda: False).streams
    ends.sent = [request(0)]
    await read.receive()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write.send, SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=0, result={})))
        await anyio.wait_all_tasks_blocked()
        ends.sent = [request(0)]
        with pytest.raises(anyio.EndOfStream):
            await read.receive()
        accepts.set()

    ends.sent = [request(0)]
    await read.receive()
