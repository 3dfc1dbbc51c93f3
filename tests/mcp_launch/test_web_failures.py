"""Failures of servers with a URL, over Streamable HTTP and SSE."""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp_types import ErrorData, InitializedNotification

import mcp_launch
from mcp_launch import Budgets, Limits, Options
from mcp_launch._spec import HttpServer
from mcp_launch._transports import http as http_client
from mcp_launch._transports.http import WebClient
from mcp_launch._transports.network import network
from mcp_launch._transports.sse_client import EventClient
from tests.mcp_launch import support
from tests.mcp_launch.servers.raw import Request, event, head, raw_server, reply, result, works
from tests.mcp_launch.servers.web import Web, misbehaving_web
from tests.mcp_launch.support import SECRET, Marked, ask, http, later_failure

pytestmark = pytest.mark.anyio

IGNORE_UNRAISABLE = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
SHORT = Budgets(connect=1.0, handshake=1.0, list=1.0, close=0.5)
failure_of = partial(support.failure_of, budgets=SHORT)


KINDS = pytest.mark.parametrize("kind", ["http", "sse"])


@KINDS
async def test_a_location_that_is_not_a_url_is_left_out(kind: str, web: Web, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(http(f"{web.origin}/403/Location=http://[", kind=kind), cwd=tmp_path)

    assert (failure.code, "location" in failure.facts) == ("forbidden", False)


@KINDS
@pytest.mark.parametrize(
    ("status", "number", "says"),
    [
        (404, 3200, "the tunnel of ngrok is offline"),
        (502, 8012, "the tunnel cannot connect to the server"),
        (200, 6024, 'a header "ngrok-skip-browser-warning"'),
        (403, 727, "the tunnel sent ERR_NGROK_727"),
    ],
)
async def test_an_error_of_ngrok_is_explained(
    *, kind: str, status: int, number: int, says: str, web: Web, marked: Marked, tmp_path: Path
) -> None:
    server = http(f"{web.origin}/{status}/ngrok-error-code=ERR_NGROK_{number}", kind=kind)

    failure = await failure_of(server, cwd=tmp_path)

    assert says in failure.message
    assert says[1:] in failure.advice
    assert failure.facts["ngrok_error_code"] == f"ERR_NGROK_{number}"


@pytest.mark.requirement("R82", "R85")
@pytest.mark.parametrize("kind", [WebClient, EventClient])
async def test_headers_do_not_leave_the_origin(
    kind: type[WebClient] | type[EventClient], web: Web, marked: Marked
) -> None:
    spec = HttpServer(name="web", url=f"{web.origin}/works", headers=(("X-Key", SECRET),))
    with misbehaving_web() as other:
        async with kind(spec, network(spec, Options()), connect=1.0) as client:
            await client.get(f"{web.origin}/307/Location={other.origin}/405", follow_redirects=True)
            await client.get(f"{other.origin}/405")

        assert ["X-Key" in headers for _, _, headers in web.seen + other.seen] == [True, False, False]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("expires", "401 Unauthorized"),
        # httpx2 leaves the generator that it was reading from unfinished, at which trio complains.
        pytest.param("squeezes", "does not match its Content-Encoding", marks=IGNORE_UNRAISABLE),
        ("mumbles", "application/json instead of an MCP message"),
    ],
)
async def test_a_later_failed_call_is_reported_and_the_session_continues(
    path: str, says: str, web: Web, marked: Marked, tmp_path: Path
) -> None:
    server = http(f"{web.origin}/{path}?key={SECRET}", headers={"X-Key": SECRET})
    async with mcp_launch.open_session(server, cwd=tmp_path) as session:
        with pytest.raises(MCPError, match=says) as raised:
            await session.list_tools()
        assert SECRET not in str(raised.value)
        with pytest.raises(MCPError, match="Method not found"):
            await session.list_prompts()


@pytest.mark.parametrize(("kind", "path"), [("http", "expires"), ("sse", "tells")])
async def test_a_failed_call_has_the_facts_of_a_failure_and_no_secret(
    kind: str, path: str, web: Web, marked: Marked, tmp_path: Path
) -> None:
    server = http(f"{web.origin}/{path}", kind=kind, headers={"X-Key": SECRET})
    async with mcp_launch.launch([server], cwd=tmp_path, lists=()) as fleet:
        with pytest.raises(MCPError, match=r"401 Unauthorized \(it asks for ") as raised:
            await fleet["web"].session.list_tools()
        assert (fleet["web"].state, fleet.report["ok"]) == ("ready", True)

    told = raised.value.error.data
    assert (told["code"], told["status"], "www_authenticate" in told) == ("unauthorized", 401, True)
    assert SECRET not in f"{raised.value}{told}"


async def test_the_cause_of_a_failure_is_not_in_the_groups_of_our_tasks(tmp_path: Path) -> None:
    failure = await failure_of(http("http://127.0.0.1:9/mcp"), cwd=tmp_path)

    assert (failure.code, type(failure.__cause__)) == ("refused", httpx2.ConnectError)


async def test_a_gone_url_has_its_code_in_the_error_of_the_call(marked: Marked, tmp_path: Path) -> None:
    with misbehaving_web() as gone:
        async with mcp_launch.open_session(http(f"{gone.origin}/works"), cwd=tmp_path) as session:
            gone.stop()
            says = f"127.0.0.1:{gone.port} (does not accept|dropped)"
            with pytest.raises(MCPError, match=says):
                await session.list_tools()
            with pytest.raises(MCPError, match=says) as raised:
                await session.list_tools()

    assert (raised.value.error.data["code"], raised.value.error.data["port"]) == ("refused", gone.port)


@pytest.mark.parametrize("event", [b": nothing", b"id: 1\nretry: 1\ndata:"], ids=["once", "after reconnecting"])
async def test_a_stream_that_ends_during_a_call_is_a_disconnection(
    event: bytes, marked: Marked, tmp_path: Path
) -> None:
    def breaks_off(request: Request) -> Iterator[bytes]:
        if request.asks == "tools/call":
            yield head(content_type="text/event-stream") + event + b"\n\n"
        else:
            yield works(request)

    with raw_server(breaks_off) as raw:
        async with mcp_launch.open_session(http(f"{raw.origin}/mcp"), cwd=tmp_path) as session:
            with pytest.raises(MCPError, match="its event stream ended without a response; its log") as raised:
                await session.call_tool("any", {})

    assert (raised.value.error.data["code"], raised.value.error.data["method"]) == ("disconnected", "POST")


MESSAGE = '{"jsonrpc": "2.0", "id": 2, "result": {}}'
FORM = 'a response must be an event of the type "message", ended by an empty line'


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (f"event: error\ndata: no licence for {SECRET}\n\n", '"event: error data: no licence for [redacted]"; its log'),
        (f"data: {'x' * 150}{SECRET}", f'{"x" * 150}[red"; its log'),
        (f"event: response\ndata: {MESSAGE}\n\n", f'"event: response data: {MESSAGE}"; {FORM}'),
        (f"data: {MESSAGE}\n", f'"data: {MESSAGE}"; {FORM}'),
        (MESSAGE, f'"{MESSAGE}"; {FORM}'),
        (": nothing\n\nretry: 1\ndata:\n\n", "its event stream ended without a response; its log"),
    ],
)
async def test_what_an_event_stream_sent_instead_of_a_response_is_quoted(
    sent: str, says: str, marked: Marked, tmp_path: Path
) -> None:
    def answer(request: Request) -> list[bytes]:
        return [head(content_type="text/event-stream") + sent.encode() if request.method == "POST" else reply(405)]

    with raw_server(answer) as raw:
        failure = await failure_of(http(f"{raw.origin}/mcp", headers={"X-Key": SECRET}), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("handshake", "not_mcp")
    assert says in failure.message


async def test_a_transport_that_breaks_down_is_the_failure_of_its_server(
    web: Web, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def break_down(*_: object) -> None:
        raise ZeroDivisionError

    async with mcp_launch.launch([http(f"{web.origin}/works")], cwd=tmp_path) as fleet:
        session = fleet["web"].session
        monkeypatch.setattr(WebClient, "send", break_down)
        # What goes wrong with a notification, the SDK only logs.
        await session.session.send_notification(InitializedNotification())
        failure = await later_failure(fleet["web"])

    assert (failure.stage, fleet["web"].state) == ("call", "failed")


@KINDS
async def test_logs_of_any_level_do_not_contain_secrets(
    kind: str, marked: Marked, echo_urls: dict[str, str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    url = echo_urls[kind].replace("http://", f"http://user:{SECRET}@") + f"?key={SECRET}"

    async with mcp_launch.open_session(http(url, kind=kind, headers={"X-Key": SECRET}), cwd=tmp_path) as session:
        assert SECRET in str(await ask(session, "headers"))

    assert "HTTP Request: POST" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize("form", ["lf", "bom", "cr"])
async def test_an_event_stream_may_be_written_in_any_way_that_its_standard_allows(
    form: str, web: Web, marked: Marked, tmp_path: Path
) -> None:
    async with mcp_launch.open_session(http(f"{web.origin}/events/{form}", kind="sse"), cwd=tmp_path) as session:
        assert await ask(session, "big", size=3) == "éxxx"


async def test_an_event_of_20_megabytes_is_read_in_linear_time(web: Web, marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.open_session(http(f"{web.origin}/events", kind="sse"), cwd=tmp_path) as session:
        began = time.perf_counter()
        answer = await ask(session, "big", size=20_000_000)
        assert len(answer) == 20_000_001
        assert time.perf_counter() - began < 5


async def test_an_endless_event_is_a_failure(web: Web, marked: Marked, tmp_path: Path) -> None:
    server, options = http(f"{web.origin}/events", kind="sse"), Options(limits=Limits(bytes=1 << 20))
    async with mcp_launch.launch([server], cwd=tmp_path, options=options) as fleet:
        for _ in range(20):
            assert len(await ask(fleet["web"].session, "big", size=100_000)) == 100_001
        with pytest.raises(MCPError, match="sent an event that exceeds a limit: it is longer than 1 MB"):
            await ask(fleet["web"].session, "big", size=2_000_000)
        failure = await later_failure(fleet["web"])

    assert (failure.stage, failure.code, failure.facts["limit"]) == ("call", "invalid_response", "bytes")
    advice = "in Python, Options(limits=Limits(bytes=…)) allows more"
    assert failure.message == f"sent an event that exceeds a limit: it is longer than 1 MB; {advice}"


async def test_an_event_stream_that_ends_during_a_call_is_the_end_of_the_session(
    web: Web, marked: Marked, tmp_path: Path
) -> None:
    async with mcp_launch.launch([http(f"{web.origin}/events", kind="sse")], cwd=tmp_path) as fleet:
        with pytest.raises(MCPError, match="its event stream ended") as raised:
            await ask(fleet["web"].session, "hang_up")
        failure = await later_failure(fleet["web"])

    assert (failure.stage, failure.code) == ("call", "disconnected")
    assert failure.message == "its event stream ended"
    assert (failure.facts["method"], failure.facts["status"]) == ("GET", 200)
    assert raised.value.error.data == {"code": "disconnected", **failure.facts}


async def held_calls(session: Client, seen: list[Any], then: Callable[[], Awaitable[None]]) -> list[ErrorData]:
    """Call a tool that never returns five times at once, do something then, and return the errors of the calls."""
    told: list[ErrorData] = []

    async def call() -> None:
        with pytest.raises(MCPError) as raised:
            await session.call_tool("hold")
        told.append(raised.value.error)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as calls:
            before = len(seen)
            for _ in range(5):
                calls.start_soon(call)
            while len(seen) < before + 5:
                await anyio.sleep(0.01)
            await then()
    return told


@pytest.mark.parametrize("round_", range(3))
async def test_pending_requests_of_a_killed_sse_server_fail_with_the_reason(
    round_: int, marked: Marked, tmp_path: Path
) -> None:
    async def kill() -> None:
        killed.stop()

    with misbehaving_web() as killed:
        server = http(f"{killed.origin}/events", kind="sse")
        async with mcp_launch.open_session(server, cwd=tmp_path) as session:
            told = [each.message for each in await held_calls(session, killed.seen, kill)]

    assert len(told) == 5
    assert [why for why in told if "event stream" not in why and "dropped the connection" not in why] == []


@pytest.mark.parametrize(("path", "kind"), [("works", "http"), ("events", "sse")])
async def test_pending_requests_of_a_lost_session_fail_with_the_reason(
    path: str, kind: str, web: Web, marked: Marked, tmp_path: Path
) -> None:
    async with mcp_launch.launch([http(f"{web.origin}/{path}", kind=kind)], cwd=tmp_path) as fleet:
        session = fleet["web"].session

        async def forget() -> None:
            with pytest.raises(MCPError) as raised:
                await session.call_tool("forget")
            assert raised.value.error.data["code"] == "session_lost"

        told = await held_calls(session, web.seen, forget)
        failure = await later_failure(fleet["web"])

    assert [each.data["code"] for each in told] == ["session_lost"] * 5
    assert (failure.stage, failure.code) == ("call", "session_lost")


EVENTS = head(content_type="text/event-stream", Transfer_Encoding="chunked")


def chunk(text: bytes) -> bytes:
    """Return a part of a body, of which the last one is missing if the connection ends."""
    return b"%x\r\n%b\r\n" % (len(text), text)


@pytest.mark.parametrize("about", ["", "id: 1\n"])
async def test_the_event_stream_is_open_again_after_any_number_of_cuts(
    about: str, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "_PAUSE", 0.01)
    arrived = anyio.Event()
    cut = EVENTS + chunk(f"retry: 1\n{about}data:\n\n".encode())
    answers = [cut, cut, *[reply(409)] * 2, cut, *[reply(429)] * 2, cut, b"", reply(503), b"", cut]

    def cuts(request: Request) -> Iterator[bytes]:
        if request.method != "GET":
            yield works(request)
        elif answers:
            yield answers.pop(0)
        else:
            yield EVENTS + chunk(event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
            request.released.wait()

    async def note(message: object) -> None:
        arrived.set()

    with raw_server(cuts) as raw, anyio.fail_after(20):
        server, options = http(f"{raw.origin}/mcp"), Options(message=note)
        async with mcp_launch.open_session(server, cwd=tmp_path, options=options):
            await arrived.wait()


# The SDK leaves the generator of a resumed response unfinished, at which trio complains.
@IGNORE_UNRAISABLE
async def test_a_response_arrives_after_any_number_of_cuts(marked: Marked, tmp_path: Path) -> None:
    cut = EVENTS + chunk(b"retry: 1\nid: 1\ndata:\n\n")
    left = [cut] * 5
    asked: list[Request] = []

    def cuts(request: Request) -> Iterator[bytes]:
        if request.asks == "tools/list" or "last-event-id" in request.headers:
            asked.append(request)
            yield left.pop() if left else EVENTS + chunk(event(result(asked[0].message)))
        else:
            yield works(request)

    with raw_server(cuts) as raw, anyio.fail_after(20):
        async with mcp_launch.open_session(http(f"{raw.origin}/mcp"), cwd=tmp_path) as session:
            assert (await session.list_tools()).tools == []

    assert len(asked) == 6


async def test_only_an_event_stream_that_was_open_is_tried_again(
    marked: Marked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "_PAUSE", 0.01)
    answers = [b"", reply(503), reply(404), EVENTS, reply(503), reply(405), reply(400), reply(503)]
    statuses: list[int] = []
    responses: list[httpx2.Response] = []

    async def keep(response: httpx2.Response) -> None:
        responses.append(response)

    async def get(**headers: str) -> None:
        async with client.stream("GET", spec.url, headers={"mcp-session-id": "s1", **headers}) as response:
            statuses.append(response.status_code)

    with raw_server(lambda _: [answers.pop(0)]) as raw, anyio.fail_after(20):
        spec = HttpServer(name="web", url=raw.origin)
        async with (
            WebClient(spec, network(spec, Options()), connect=1.0) as client,
            anyio.create_task_group() as tasks,
        ):
            client.event_hooks["response"].append(keep)
            with pytest.raises(httpx2.RemoteProtocolError):
                await get()
            for _ in range(5):
                await get()
            # In another task, it resumes the response to a POST.
            tasks.start_soon(partial(get, **{"last-event-id": "1"}))

    assert statuses == [503, 404, 200, 405, 400, 503]
    assert [each.is_closed for each in responses] == [True] * 7


@pytest.mark.parametrize(
    "lost",
    [
        reply(404, b'{"jsonrpc": "2.0", "id": "", "error": {"code": -32600, "message": "gone"}}'),
        reply(400, b"Invalid or missing session ID", content_type="text/plain"),
    ],
)
async def test_a_session_that_the_listening_get_finds_lost_fails_with_its_pending_requests(
    lost: bytes, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "_PAUSE", 0.01)
    lines: list[str] = []
    forgotten = threading.Event()

    def traffic(_: str, __: str, line: str) -> None:
        lines.append(line)

    def forgets(request: Request) -> Iterator[bytes]:
        if request.method == "GET" and not forgotten.is_set():
            yield EVENTS + chunk(b"retry: 1\ndata:\n\n")
            forgotten.wait(20)
        elif request.method == "GET":
            yield lost
        elif request.asks == "tools/call":
            request.released.wait()
        else:
            yield works(request)

    async def forget() -> None:
        forgotten.set()

    options = Options(traffic=traffic)
    with raw_server(forgets) as raw, anyio.fail_after(20):
        async with mcp_launch.launch([http(f"{raw.origin}/mcp")], cwd=tmp_path, options=options) as fleet:
            told = await held_calls(fleet["web"].session, raw.seen, forget)
            failure = await later_failure(fleet["web"])

    assert [each.data["code"] for each in told] == ["session_lost"] * 5
    assert (failure.stage, failure.code, failure.facts["method"]) == ("call", "session_lost", "GET")
    # What wakes the reader is not from the server.
    assert [line for line in lines if '"code":0' in line] == []


async def test_a_server_that_ends_each_event_stream_at_once_is_not_flooded(
    marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "_PAUSE", 1000.0)
    ended = EVENTS + chunk(b"retry: 0\ndata:\n\n") + b"0\r\n\r\n"

    with raw_server(lambda request: [ended if request.method == "GET" else works(request)]) as raw:
        # The session does not wait for the next attempt when it is closed.
        with anyio.fail_after(20):
            async with mcp_launch.open_session(http(f"{raw.origin}/mcp"), cwd=tmp_path) as session:
                while "GET" not in [request.method for request in raw.seen]:
                    await anyio.sleep(0.01)
                for _ in range(20):
                    await session.list_tools()

    assert [request.method for request in raw.seen].count("GET") == 1


async def test_an_event_stream_that_ends_without_an_endpoint_is_disconnected(
    web: Web, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(http(f"{web.origin}/ends", kind="sse"), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "disconnected")


@pytest.mark.parametrize("where", ["host:port", "[::1"])
async def test_an_endpoint_that_is_not_a_url_is_not_mcp(where: str, web: Web, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(http(f"{web.origin}/nowhere/{where}", kind="sse"), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "not_mcp")


async def test_an_ipv6_address_is_in_brackets(marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(http("http://[::1]:9/mcp"), cwd=tmp_path)

    assert failure.message.startswith("[::1]:9 does not accept connections")
