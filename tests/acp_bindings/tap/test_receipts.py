"""Receipts: what is recorded of an agent that opens its MCP servers and reports nothing."""

import json
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from anyio.abc import SocketAttribute
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp_types import PROTOCOL_VERSION_META_KEY, SERVER_INFO_META_KEY

from acp_bindings import decode, v1
from acp_bindings._tap.forwarding import framed
from mcp_launch._receipts import http_relay, session_requests
from mcp_launch._receipts.observer import Observer
from mcp_launch._receipts.servers import Process, Relayed
from mcp_launch._spec import StdioServer, parse_server
from tests.acp_bindings.tap.quiet_agent import use
from tests.acp_bindings.tap.support import TAP, lines_of, run, running
from tests.mcp_launch.failures.catalogue import CASES, Case
from tests.mcp_launch.failures.scene import Scene
from tests.mcp_launch.failures.secrets import Planted
from tests.mcp_launch.servers.raw import Request, head, raw_server, reply, works
from tests.mcp_launch.servers.web import misbehaving_web
from tests.mcp_launch.support import Marked, http, web_server

AGENT = (sys.executable, str(Path(__file__).with_name("quiet_agent.py")))
FAILING = [case for case in CASES if isinstance(case, Case) and ": " in case.must]


def receipts_of(servers: Sequence[dict[str, Any]], tmp_path: Path) -> list[dict[str, Any]]:
    """Give each server to the agent in a session of its own, and return the receipts."""
    requests: list[tuple[str, dict[str, Any]]] = [("initialize", {"protocolVersion": 1})]
    requests += [("session/new", {"cwd": str(tmp_path), "mcpServers": [each]}) for each in servers]
    sent = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(requests)
    ]
    command = [*TAP, "-o", str(tmp_path / "talk"), "--receipts", "--", *AGENT]
    done = run(command, b"".join(json.dumps(each).encode() + b"\n" for each in sent))
    assert done.returncode == 0
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [each["id"] for each in sent]
    lines = lines_of(tmp_path / "talk")
    assert "end" in lines[-1]
    # What the client has sent is recorded, not what the agent got.
    received = [line["message"]["params"] for line in lines if line.get("from") == "client"]
    assert [len(each.get("mcpServers", ())) for each in received] == [0, *(1 for _ in servers)]
    return [line["receipt"] for line in lines if "receipt" in line]


def receipts_here(servers: Sequence[dict[str, Any]], tmp_path: Path) -> list[dict[str, Any]]:
    """Use each server as the agent does, with its relay in this process, and return the receipts."""

    async def use_one(relays: session_requests.Receipts, server: dict[str, Any]) -> None:
        request = {"id": 1, "method": "session/new", "params": {"cwd": str(tmp_path), "mcpServers": [server]}}
        async with limiter:
            [entry] = json.loads(await relays.replaced(json.dumps(request).encode()))["params"]["mcpServers"]
            await use(entry)

    async def receipts() -> None:
        tell = session_requests.receipts(lambda about: told.append({**about}), ignore)
        async with tell as relays, anyio.create_task_group() as tasks:
            for server in servers:
                tasks.start_soon(use_one, relays, server)

    told: list[dict[str, Any]] = []
    limiter = anyio.CapacityLimiter(4)
    anyio.run(receipts)
    return told


def ignore(*_: object, **__: object) -> None: ...


def events_of(receipts: list[dict[str, Any]], server: str) -> list[str]:
    return [each["event"] for each in receipts if each["server"] == server]


def test_the_use_of_a_process_is_recorded(tmp_path: Path) -> None:
    [started, listed, called, ended] = receipts_of([Marked().plain(name="files")], tmp_path)
    assert started.pop("seconds") >= 0
    assert called.pop("seconds") >= 0
    assert [started, listed, called, ended] == [
        {
            "server": "files",
            "event": "started",
            "protocolVersion": "2025-06-18",
            "serverInfo": {"name": "plain", "version": "1"},
        },
        {"server": "files", "event": "listed", "tools": ["environment"]},
        {"server": "files", "event": "called", "tool": "environment", "isError": False},
        {"server": "files", "event": "ended", "exitStatus": 0},
    ]


@pytest.mark.parametrize("kind", ["http", "sse"])
def test_the_use_of_a_server_with_a_url_is_recorded(tmp_path: Path, kind: str) -> None:
    with web_server(kind) as url:
        receipts = receipts_here([http(url, name="web", kind=kind, headers={"X-Key": "swordfish-42"})], tmp_path)
    assert events_of(receipts, "web") == ["started", "listed", "called"], receipts
    assert receipts[1]["tools"] == ["environment", "directory", "headers"]


def test_a_server_with_a_url_gets_its_headers_and_query(tmp_path: Path) -> None:
    with misbehaving_web() as web:
        receipts = receipts_of([http(f"{web.origin}/works?key=swordfish-42", headers={"X-Key": "herring"})], tmp_path)
        seen = [(path, headers["X-Key"], headers["Host"]) for _, path, headers in web.seen]
    assert events_of(receipts, "web") == ["started", "listed", "called"], receipts
    assert set(seen) == {("/works?key=swordfish-42", "herring", f"127.0.0.1:{web.port}")}


def test_a_relay_keeps_the_headers_of_the_protocol(tmp_path: Path) -> None:
    def picky(request: Request) -> list[bytes]:
        is_good = request.method != "POST" or "text/event-stream" in request.headers["accept"]
        return [works(request) if is_good else reply(406)]

    with raw_server(picky) as raw:
        server = http(f"{raw.origin}/mcp", name="picky", headers={"Accept": "application/json"})
        assert events_of(receipts_here([server], tmp_path), "picky")[0] == "started"


@pytest.mark.anyio
async def test_a_relay_has_any_number_of_open_streams() -> None:
    async def stream(client: anyio.abc.SocketStream) -> None:
        async with client:
            await client.receive()
            await client.send(head(content_type="text/event-stream"))
            await anyio.sleep_forever()

    async def read(url: str) -> None:
        nonlocal opened
        async with client.stream("GET", url):
            opened += 1
            if opened == 120:
                tasks.cancel_scope.cancel()
            await anyio.sleep_forever()

    opened = 0
    async with (
        http_relay.Client() as client,
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, stream)
        port = listener.extra(SocketAttribute.local_port)
        with anyio.fail_after(20):
            for _ in range(120):
                tasks.start_soon(read, f"http://127.0.0.1:{port}/")
            await anyio.sleep_forever()
    assert opened == 120


@pytest.mark.anyio
async def test_an_endpoint_with_the_default_port_is_at_its_server() -> None:
    spec: Any = parse_server({"type": "sse", "name": "x", "url": "https://h.example/sse", "headers": []})
    async with anyio.create_task_group() as tasks:
        site = http_relay._Site(  # pyright: ignore[reportPrivateUsage]
            Relayed(spec, {}, cwd="/", tasks=tasks, tell=ignore), spec, "token"
        )
        assert site.at_relay("https://h.example:443/messages?s=1") == "/token/messages?s=1"
        assert site.at_relay("/messages") == "/token/messages"


@pytest.mark.anyio
async def test_an_agent_that_is_told_to_end_has_not_given_up_on_a_server() -> None:
    told: list[Any] = []
    frames = b"".join((framed(b"c", INITIALIZE + b"\n"), framed(b"c", b""), framed(b"x", b"0")))

    class Stream:
        async def receive(self, max_bytes: int = 65536) -> bytes:
            nonlocal frames
            if not frames:
                raise anyio.EndOfStream
            given, frames = frames, b""
            return given

    async with anyio.create_task_group() as tasks:
        spec = StdioServer(name="files", command=sys.executable)
        relayed = Relayed(spec, {}, cwd="/", tasks=tasks, tell=told.append)
        await Process(relayed, spec).follow(BufferedByteReceiveStream(cast("Any", Stream())))
    assert told == [{"server": "files", "event": "ended", "exitStatus": 0}]


@pytest.mark.anyio
async def test_a_relay_uses_neither_a_proxy_for_loopback_nor_cookies_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with raw_server(lambda _: [reply(Set_Cookie="session=1")]) as raw:
        async with http_relay.Client() as client:
            for _ in range(2):
                response = await client.get(raw.origin)
                assert response.headers["set-cookie"] == "session=1"
        assert ["cookie" in request.headers for request in raw.seen] == [False, False]


@pytest.mark.anyio
async def test_a_response_that_the_server_cuts_off_is_not_followed_by_another_one() -> None:
    requests: list[Any] = [{"type": "http.request", "body": b""}]
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        if requests:
            return requests.pop()
        return await anyio.sleep_forever()

    scope: Any = {"raw_path": b"/token/mcp", "method": "GET", "query_string": b"", "headers": []}
    with raw_server(lambda _: [head(Content_Length=9), b"cut"]) as raw:
        async with anyio.create_task_group() as tasks:
            server = http(f"{raw.origin}/mcp")
            relayed = Relayed(parse_server(server), server, cwd="/", tasks=tasks, tell=ignore)
            async with http_relay.forwarding({"token": relayed}) as app:
                await app(scope, receive, send)
    assert [(each["type"], each.get("body")) for each in sent] == [
        ("http.response.start", None),
        ("http.response.body", b"cut"),
        ("http.response.body", b""),
    ]


def test_a_refused_stream_that_the_agent_closes_is_not_a_failure_of_a_slow_list(tmp_path: Path) -> None:
    def answer(request: Request) -> Iterator[bytes]:
        if request.method == "GET":
            try:
                yield head(405, Content_Length=1 << 30)
                while True:
                    yield b"-" * 1000
            finally:
                # The agent has closed the connection on the status.
                closed.set()
        if request.asks == "tools/list":
            assert closed.wait(10)
        yield works(request)

    closed = threading.Event()
    with raw_server(answer) as raw:
        receipts = receipts_here([http(f"{raw.origin}/mcp", name="web")], tmp_path)
    assert events_of(receipts, "web") == ["started", "listed", "called"], receipts


def test_invalid_entries_and_servers_that_are_not_opened_are_recorded(tmp_path: Path) -> None:
    works = Marked().plain(name="twice")
    never = {**Marked().plain(name="never"), "type": "stdio"}
    own = {"type": "acp", "name": "of the client", "serverId": "1"}
    servers = [works, works, {"name": "no command"}, {"type": "carrier pigeon", "name": "bird"}, never, own]
    deaf = 'import sys\nfor line in sys.stdin: print(\'{"jsonrpc":"2.0","id":1,"result":{}}\', flush=True)'
    request = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": servers}}
    command = [*TAP, "-o", str(tmp_path / "talk"), "--receipts", "--", sys.executable, "-c", deaf]
    done = run(command, json.dumps(request).encode() + b"\n")
    receipts = [line["receipt"] for line in lines_of(tmp_path / "talk") if "receipt" in line]
    assert sorted((each["server"], each.get("code", each["event"])) for each in receipts) == [
        ("bird", "unsupported_transport"),
        ("never", "unopened"),
        ("no command", "invalid_spec"),
        ("twice", "duplicate_name"),
        ("twice", "unopened"),
        ("twice", "unopened"),
    ]
    assert b"acp-bindings tap: bird: failed (unsupported_transport): /type: " in done.stderr


def test_the_agent_gets_no_secrets_of_the_servers(tmp_path: Path) -> None:
    shows = "import sys; sys.stdout.write(sys.stdin.read())"
    servers = [
        Marked().plain(env={"API_KEY": "swordfish-42"}),
        http("https://user:swordfish-42@example.com/mcp?key=swordfish-42", headers={"X-Key": "swordfish-42"}),
    ]
    request = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": servers}}
    command = [*TAP, "-o", str(tmp_path / "talk"), "--receipts", "--", sys.executable, "-c", shows]
    done = run(command, json.dumps(request).encode())
    got = json.loads(done.stdout)["params"]["mcpServers"]
    assert [each["name"] for each in got] == ["plain", "web"]
    assert b"swordfish" not in done.stdout
    assert b"swordfish" not in (tmp_path / "talk").read_bytes()


def test_the_reason_of_an_exit_may_be_many_lines_before_it(tmp_path: Path) -> None:
    script = "echo 'Error: no licence' >&2; seq -f '    at step (a.js:%g)' 99 >&2; printf '}' >&2; exit 1"

    [failed] = receipts_here([Marked().stdio("licensed", "/bin/sh", "-c", script)], tmp_path)

    assert failed["message"] == "exited with status 1; it wrote on stderr: Error: no licence"


def test_a_line_without_an_end_is_quoted(tmp_path: Path) -> None:
    [failed] = receipts_here([Marked().stdio("licensed", "/bin/sh", "-c", "printf 'no licence'; exit 1")], tmp_path)

    assert failed["message"].startswith('exited with status 1; it wrote "no licence" on stdout without a newline')


def test_a_line_beyond_the_limit_is_not_kept(tmp_path: Path) -> None:
    script = "head -c 42000000 /dev/zero | tr '\\0' x; exit 1"
    [failed] = receipts_here([Marked().stdio("endless", "/bin/sh", "-c", script)], tmp_path)

    assert failed["message"].startswith("wrote a line of more than 40 MB")


def test_failures_have_the_codes_of_the_launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A busy machine may need seconds to get as far as the stage in which a server stays silent.
    monkeypatch.setattr(http_relay, "HASTE", 5)
    monkeypatch.setattr(session_requests, "_LAST", 20)
    with Scene.of(Planted("tap"), tmp_path) as scene:
        servers = [{**case.server(scene), "name": str(case)} for case in FAILING]
        receipts = receipts_here(servers, tmp_path)
    failures = {each["server"]: f"{each['stage']}: {each['code']}" for each in receipts if each["event"] == "failed"}
    different = {str(case): (failures.get(str(case)), case.must) for case in FAILING}
    assert {case: codes for case, codes in different.items() if codes[0] != codes[1]} == {}


@pytest.mark.parametrize("shows", [True, False])
def test_a_client_that_shows_notices_is_told_which_servers_failed(tmp_path: Path, shows: bool) -> None:
    capabilities: dict[str, Any] = {"session": {"notices": {}}} if shows else {}
    servers = [Marked().plain("exits_with_message", name="broken"), {"name": "no command"}]
    requests: list[tuple[str, dict[str, Any]]] = [
        ("initialize", {"protocolVersion": 1, "clientCapabilities": capabilities}),
        ("session/new", {"cwd": str(tmp_path), "mcpServers": servers}),
    ]
    with running([*TAP, "-o", str(tmp_path / "talk"), "--receipts", "--", *AGENT]) as process:
        assert process.stdin
        assert process.stdout
        for number, (method, params) in enumerate(requests):
            line = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(line).encode() + b"\n")
        process.stdin.flush()
        received = [json.loads(process.stdout.readline()) for _ in range(4 if shows else 2)]
        rest, _ = process.communicate(timeout=30)
    assert [each.get("id") for each in received] == [0, 1, None, None][: len(received)]
    assert rest == b""
    notices = [decode(v1.SessionNotification, each["params"]) for each in received[2:]]
    told = {(each.session_id, each.update.title) for each in notices if isinstance(each.update, v1.Notice)}
    failed = ("MCP server broken failed: exited", "MCP server no command failed: invalid_spec")
    assert told == ({("session 1", each) for each in failed} if shows else set())


@pytest.mark.anyio
async def test_the_relays_listen_on_loopback_only() -> None:
    servers = [Marked().plain(name="files"), http("http://example.invalid", name="web")]
    opened = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": servers}}
    async with session_requests.receipts(ignore, ignore) as relays:
        [process, web] = json.loads(await relays.replaced(json.dumps(opened).encode()))["params"]["mcpServers"]
        for port in (int(process["args"][-1]), urlsplit(str(web["url"])).port or 0):
            await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
            # All of 127.0.0.0/8 is this machine, and a server on all addresses would accept it.
            with pytest.raises(OSError):  # noqa: PT011 - of several kinds, by system
                await anyio.connect_tcp("127.0.0.2", port)


def test_a_response_ends_the_wait_of_its_own_request_only() -> None:
    observer = Observer(ignore, refused=ignore)
    ids = [
        observer.sent(each)
        for each in (b'{"method": "notifications/initialized"}', b'{"id": 1, "method": "tools/list"}')
    ]
    assert ids == [[], [1]]
    assert [observer.waits_for(each) for each in ids] == [False, True]
    observer.received(b'{"id": 1, "result": {"tools": []}}')
    assert not observer.waits_for([1])


DISCOVER, INITIALIZE = b'{"id": 1, "method": "server/discover"}', b'{"id": 2, "method": "initialize"}'
DISCOVERED = b'{"id": 1, "result": {"capabilities": {}}}'
REFUSED = b'{"id": 2, "error": {"code": -32600, "message": "already open"}}'


@pytest.mark.parametrize(
    ("messages", "refusals"),
    [
        ([DISCOVER, INITIALIZE, DISCOVERED, REFUSED], 0),
        ([DISCOVER, DISCOVERED, INITIALIZE, REFUSED], 1),
        ([INITIALIZE, REFUSED], 1),
    ],
    ids=["needless", "after another handshake", "alone"],
)
def test_a_refused_handshake_is_a_failure_unless_another_one_succeeds_meanwhile(
    messages: list[bytes], refusals: int
) -> None:
    refused: list[bool] = []
    observer = Observer(ignore, refused=lambda: refused.append(True))
    for each in messages:
        (observer.sent if b"method" in each else observer.received)(each)
        if each == DISCOVERED:
            assert not observer.waits_for()
    assert len(refused) == refusals


def test_a_server_without_a_handshake_has_started_with_its_version_and_name() -> None:
    info = {"name": "files", "version": "1"}
    result = {"supportedVersions": ["2026-07-28"], "capabilities": {}, "_meta": {SERVER_INFO_META_KEY: info}}
    params = {"_meta": {PROTOCOL_VERSION_META_KEY: "2026-07-28"}}
    told: list[dict[str, Any]] = []

    def tell(event: str, **facts: Any) -> None:
        told.append({"event": event, **facts})

    observer = Observer(tell, refused=ignore)
    observer.sent(DISCOVER)
    observer.received(json.dumps({"id": 1, "result": result}).encode())
    observer.sent(json.dumps({"id": 2, "method": "tools/list", "params": params}).encode())
    assert told[0].pop("seconds") >= 0
    assert told == [{"event": "started", "protocolVersion": "2026-07-28", "serverInfo": info}]


@pytest.mark.parametrize(("capabilities", "refusals"), [(b'{"tools": {}}', 1), (b"{}", 0)])
def test_an_error_of_the_list_of_tools_is_a_failure(capabilities: bytes, refusals: int) -> None:
    refused: list[bool] = []
    observer = Observer(ignore, refused=lambda: refused.append(True))
    observer.sent(DISCOVER)
    observer.received(DISCOVERED.replace(b"{}", capabilities))
    observer.sent(b'{"id": 3, "method": "tools/list"}')
    observer.received(b'{"id": 3, "error": {"code": -32603, "message": "the database is locked"}}')
    assert len(refused) == refusals


@pytest.mark.anyio
async def test_a_server_that_starts_for_the_agent_after_a_refused_handshake_has_not_failed() -> None:
    told: list[Any] = []
    spec = StdioServer(name="files", command=sys.executable)
    async with anyio.create_task_group() as tasks:
        relayed = Relayed(spec, Marked().plain(name="files"), cwd="/", tasks=tasks, tell=told.append)
        observer = relayed.observer()
        for each in (DISCOVER, INITIALIZE):
            observer.sent(each)
        for each in (REFUSED, DISCOVERED):
            observer.received(each)
        observer.sent(b'{"id": 3, "method": "tools/list"}')
    assert [each["event"] for each in told] == ["started"]


def test_only_the_endpoint_of_a_stream_is_replaced() -> None:
    site: Any = SimpleNamespace(at_relay="/token{}".format)
    response = httpx2.Response(200, headers={"content-type": "text/event-stream"})
    reader = http_relay._Reader(response, site)  # pyright: ignore[reportPrivateUsage]
    chunks = [b"event: endpoint\r\ndata: /messages\r\n\r\n", b"id: 1\ndata: {}\n", b"\n"]

    found = [(list(reader.feed(chunk)), reader.forwarded) for chunk in chunks]

    assert found == [
        ([b"/messages"], b"event: endpoint\ndata: /token/messages\n\n"),
        ([], b""),
        ([b"{}"], b"id: 1\ndata: {}\n\n"),
    ]
