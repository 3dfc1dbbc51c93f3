"""Invalid and hostile HTTP responses, byte by byte: none hangs, and each is explained."""

from __future__ import annotations

import gzip
import json
import threading
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import MCPError
from mcp.client.context import ClientRequestContext
from mcp_types import ListRootsResult

import mcp_launch
from mcp_launch import Budgets, LaunchFailure, Limits, Options
from mcp_launch._spec import HttpServer
from mcp_launch._transports import http as http_client
from mcp_launch._transports.network import network
from mcp_launch._transports.sse_client import EventClient
from mcp_launch._transports.web import ENOUGH, follows, start_of
from tests.mcp_launch.servers.raw import Answer, Request, Sse, event, head, raw_server, reply, result, works
from tests.mcp_launch.support import SECRET, Marked, http

pytestmark = [
    pytest.mark.anyio,
    # The SDK and httpx2 leave generators unfinished where an answer breaks off, at which trio complains.
    pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*async_generator object:pytest.PytestUnraisableExceptionWarning"),
]
SHORT = Budgets(connect=1.0, handshake=1.0, list=1.0, close=0.5)
KINDS = pytest.mark.parametrize("kind", ["http", "sse"])


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the waits for the body of an error and for a response over TLS, which never arrive."""
    for module in ("web", "memory"):
        monkeypatch.setattr(f"mcp_launch._transports.{module}._PATIENCE", 0.3)


async def failure_of(
    answer: Answer,
    *,
    cwd: Path,
    kind: str = "http",
    path: str = "mcp",
    budgets: Budgets = SHORT,
    limits: Limits | None = None,
    headers: dict[str, str] | None = None,
) -> LaunchFailure:
    """Return the failure of a server with this response, which must not take long."""
    options = Options(limits=limits or Limits())
    with raw_server(answer) as raw, anyio.fail_after(8):
        server = http(f"{raw.origin}/{path}", kind=kind, headers=headers)
        async with mcp_launch.launch([server], cwd=cwd, budgets=budgets, options=options) as fleet:
            [failure] = fleet.failures
        # Trio finishes in tasks of its own what generators the libraries left.
        await anyio.wait_all_tasks_blocked()
    return failure


async def requests_of(answer: Answer, *, cwd: Path, kind: str = "http", path: str = "mcp") -> list[Request]:
    """Open a session with a server with this response, list its tools, and return the requests."""
    with raw_server(answer) as raw:
        async with mcp_launch.launch([http(f"{raw.origin}/{path}", kind=kind)], cwd=cwd, budgets=SHORT) as fleet:
            assert (await fleet["web"].session.list_tools()).tools == []
    assert [warning for warning in fleet["web"].warnings if "deprecated" not in warning] == []
    assert fleet.failures == []
    return raw.seen


def once(answer: bytes) -> Answer:
    """Return the same response to every request."""
    return lambda _: [answer]


def at_list(answer: Callable[[Request], bytes]) -> Answer:
    """Respond like a working server until the tools are listed."""
    return lambda request: [answer(request) if request.asks == "tools/list" else works(request)]


def stream(data: bytes) -> bytes:
    """Return an event stream that ends after this."""
    return head(content_type="text/event-stream") + data


def rpc_error(code: int, message: str) -> bytes:
    """Return the body of an error without a request id, as servers send it to unauthorized clients."""
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}).encode()


def bomb(size: int, *, start: bytes = b"") -> bytes:
    """Return compressed spaces."""
    squeeze = zlib.compressobj(wbits=31)
    spaces = (squeeze.compress(b" " * (1 << 20)) for _ in range(size >> 20))
    return b"".join((squeeze.compress(start), *spaces, squeeze.flush()))


@KINDS
@pytest.mark.parametrize(
    ("answer", "code", "says"),
    [
        (b"", "disconnected", "dropped the connection without a response"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "not_mcp", "did not respond with HTTP"),
        (reply(200, X=200_000 * "y"), "http_error", "sent headers that are too long"),
        (reply(500, b"no gzip", Content_Encoding="gzip"), "http_error", "its log may say why"),
        (reply(201, Location="/other"), "not_mcp", "is the path right?"),
        (reply(304), "not_mcp", "304"),
    ],
    ids=["nothing", "ssh", "large header", "bad gzip", "201", "304"],
)
async def test_responses_that_are_not_http_or_mcp_are_explained(
    *, kind: str, answer: bytes, code: str, says: str, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(once(answer), kind=kind, cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", code)
    assert says in failure.message


NOTHING_ELSE = "the response must be one JSON-RPC 2.0 message and nothing else"


@pytest.mark.parametrize(
    ("given", "body", "says"),
    [
        ("text/plain; charset=utf-8", b'{"jsonrpc"', 'must be "application/json", not "text/plain"'),
        ("", b' {"jsonrpc"', 'must be "application/json", which is missing'),
        ("text/plain", b'event: message\ndata: {"jsonrpc"', 'must be "text/event-stream", not "text/plain"'),
        ("text/plain", b': hi\n\nretry: 1\nid: 1\ndata: {"jsonrpc"', 'must be "text/event-stream", not "text/plain"'),
        ("application/json", b"\x0b\xa5\x80\xfe\xff", "200 Said with bytes that are not text; correct the compression"),
        ("text/html", b"<html>", "with text/html instead of an MCP message; is the path right?"),
        ("text/plain", b'[{"jsonrpc": "2.0"}]', 'must be "application/json", not "text/plain"'),
        ("text/plain", b"event: endpoint\ndata: /messages", 'must be "text/event-stream", not "text/plain"'),
        ("text/html", b'<html>{"jsonrpc"', "with text/html instead of an MCP message; is the path right?"),
        ("application/json", b'[{"jsonrpc": "2.0"}]', NOTHING_ELSE),
        ("application/json", b'[{"jsonrpc": "2.0"}' + 20_000 * b",{}" + b"]", NOTHING_ELSE),
        ("application/json", b'<b>Deprecated</b>: x() {"jsonrpc": "2.0"}', NOTHING_ELSE),
        ("application/json", b'\xef\xbb\xbf{"jsonrpc": "2.0", "id": 1, "result": {}}', NOTHING_ELSE),
        ("application/json", rb'{"body": "{\"jsonrpc\": \"2.0\"}"}', NOTHING_ELSE),
        ("application/json", b'{"id": 1, "result": {"protocolVersion": "2025-06-18"}}', NOTHING_ELSE),
        ("application/json", b"[" * 100_000, "instead of an MCP message"),
        ("", b"", "with no content type instead of an MCP message"),
    ],
)
async def test_what_is_wrong_around_a_message_is_explained(
    *, given: str, body: bytes, says: str, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(once(reply(200, body, content_type=given)), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "not_mcp")
    assert says in failure.message


@pytest.mark.parametrize(
    ("answer", "code", "says"),
    [
        (head(Content_Length=1000) + b'{"json', "disconnected", "in the middle of a response"),
        (head(Transfer_Encoding="chunked") + b"2\r\n{}\r\nZZ garbage\r\n", "not_mcp", "did not respond with HTTP"),
        (reply(200, b"no gzip", Content_Encoding="gzip"), "http_error", "does not match its Content-Encoding"),
        (reply(200, bomb(4 << 20), Content_Encoding="gzip"), "not_mcp", "more than 1 MB"),
        (reply(200, b" " * (2 << 20)), "not_mcp", "more than 1 MB"),
        (reply(200, b"[]"), "not_mcp", "instead of an MCP message"),
        (
            reply(200, b'{"jsonrpc": "2.0", "id": null, "result": {}}'),
            "invalid_response",
            'its "id" is missing or null',
        ),
        (reply(200, b'{"jsonrpc": "2.0", "result": {}}'), "invalid_response", 'its "id" is missing or null'),
    ],
    ids=["cut", "bad chunk", "bad gzip", "bomb", "long", "batch", "null id", "no id"],
)
async def test_an_unreadable_message_is_explained(
    *, answer: bytes, code: str, says: str, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(once(answer), cwd=tmp_path, limits=Limits(bytes=1 << 20))

    assert (failure.stage, failure.code) == ("connect", code)
    assert says in failure.message


@KINDS
@pytest.mark.parametrize("status", [200, 307, 401, 500])
@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream", "text/html"])
async def test_a_response_compressed_twice_is_not_decompressed(
    *, kind: str, status: int, content_type: str, marked: Marked, tmp_path: Path
) -> None:
    body = gzip.compress(bomb(4 << 20))
    answer = reply(status, body, content_type=content_type, Content_Encoding="gzip, GZIP", Location="/other")
    failure = await failure_of(once(answer), kind=kind, cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "http_error")
    assert failure.message.endswith(" sent a response that is compressed more than once")


@KINDS
@pytest.mark.parametrize("coding", ["gzip", "identity, gzip", "gzip,"])
async def test_an_event_stream_may_be_compressed(kind: str, coding: str, marked: Marked, tmp_path: Path) -> None:
    def squeezed(request: Request) -> Iterator[bytes]:
        squeeze = zlib.compressobj(wbits=31)
        parts = answer(request)
        for part in parts:
            start, between, body = part.rpartition(b"\r\n\r\n")
            if b"text/event-stream" in start:
                start += b"\r\nContent-Encoding: " + coding.encode()
            elif start:
                yield part
                continue
            yield start + between + squeeze.compress(body) + squeeze.flush(zlib.Z_SYNC_FLUSH)

    def streams(request: Request) -> Iterator[bytes]:
        yield stream(event(result(request.message))) if "id" in request.message else works(request)

    answer: Answer = Sse() if kind == "sse" else streams
    await requests_of(squeezed, kind=kind, cwd=tmp_path)


async def test_the_limit_of_an_event_counts_decompressed_bytes(marked: Marked, tmp_path: Path) -> None:
    answer = reply(200, bomb(4 << 20, start=b"data: "), content_type="text/event-stream", Content_Encoding="gzip")
    failure = await failure_of(once(answer), kind="sse", cwd=tmp_path, limits=Limits(bytes=1 << 20))

    assert "sent an event that exceeds a limit: it is longer than 1 MB" in failure.message


@pytest.mark.parametrize("client_of", [http_client.WebClient, EventClient])
async def test_a_compressed_response_is_decompressed_in_pieces(client_of: Any, marked: Marked) -> None:
    events = (b"event: other\ndata: " + bytes(32768 - 21) + b"\n\n") * 1024
    answer = reply(200, gzip.compress(events), content_type="text/event-stream", Content_Encoding="gzip")
    turns, sizes = 0, list[int]()

    async def count() -> None:
        nonlocal turns
        while True:
            await anyio.lowlevel.checkpoint()
            turns += 1

    with raw_server(once(answer)) as raw:
        spec = HttpServer(name="web", url=f"{raw.origin}/x")
        async with client_of(spec, network(spec, Options()), connect=1) as client:
            response = await client.send(client.build_request("GET", spec.url), stream=True)
            async with anyio.create_task_group() as others:
                others.start_soon(count)
                async for piece in response.aiter_bytes():
                    sizes.append(len(piece))
                others.cancel_scope.cancel()

    assert (sum(sizes), max(sizes) <= 2 << 20) == (32 << 20, True)
    assert turns >= 16


async def test_decompressed_data_beyond_the_limit_is_not_kept() -> None:
    async def unpacked() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield bytes(ENOUGH)

    assert len(await start_of(httpx2.Response(200, content=unpacked()))) == 2 * ENOUGH


@KINDS
@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\nContent-Ty", b"HTTP/1.1 100 Continue\r\n\r\n"])
async def test_a_stalled_response_ends_at_the_budget(kind: str, start: bytes, marked: Marked, tmp_path: Path) -> None:
    def stops(request: Request) -> Any:
        yield start
        request.released.wait(20)

    failure = await failure_of(stops, kind=kind, cwd=tmp_path)

    assert failure.code == "timeout"


@KINDS
async def test_a_missing_body_does_not_hide_the_status(kind: str, marked: Marked, tmp_path: Path) -> None:
    def stops(request: Request) -> Any:
        yield head(503, Content_Length=1000, Retry_After=17) + b"wai"
        request.released.wait(20)

    failure = await failure_of(stops, kind=kind, cwd=tmp_path)

    assert (failure.code, failure.facts["status"]) == ("http_error", 503)
    assert "try again after 17 s" in failure.message


@KINDS
async def test_early_hints_and_slow_bytes_are_accepted(kind: str, marked: Marked, tmp_path: Path) -> None:
    def dribbles(request: Request) -> Any:
        yield b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
        answer = works(request)
        yield from (answer[place : place + 7] for place in range(0, len(answer), 7))

    if kind == "sse":
        assert (await failure_of(dribbles, kind=kind, cwd=tmp_path)).code == "wrong_transport"
    else:
        await requests_of(dribbles, cwd=tmp_path)


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (400, "does it need another header or query parameter?"),
        (402, "it requires a payment"),
        (406, "is this the URL of an MCP server? These accept JSON and event streams"),
        (413, "too large"),
        (415, "is this the URL of an MCP server? These accept JSON"),
        (418, "is this the URL of an MCP server?"),
        (421, "does not serve this host name"),
        (451, "for legal reasons"),
        (500, "its log may say why"),
        (501, "is this the URL of an MCP server?"),
        (502, "is the server behind it running?"),
        (503, "try again later"),
        (504, "is the server behind it running?"),
        (511, "shows a page first;"),
        (521, "is the server behind it running?"),
        (524, "timed out; is the server behind it running?"),
        (526, "is its certificate valid?"),
        (599, ' returned 599 Said: "not today"; it had an internal error; its log may say why'),
    ],
)
async def test_an_http_error_is_reported_with_advice_and_the_servers_message(
    status: int, says: str, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(once(reply(status, b'{"error": {"message": "not today"}}')), cwd=tmp_path)

    assert failure.code == "http_error"
    assert f' {status} Said: "not today"; ' in failure.message
    assert says in failure.message


@pytest.mark.parametrize(
    "body",
    [
        "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>",
        "Client sent an HTTP request to an HTTPS server.\n",
        "<title>400 Bad Request</title>You're speaking plain HTTP to an SSL-enabled server port.",
    ],
    ids=["nginx", "Go", "Apache"],
)
async def test_plain_http_on_a_port_for_tls_is_recognized(body: str, marked: Marked, tmp_path: Path) -> None:
    content_type = "text/html" if body.startswith("<") else "text/plain"

    failure = await failure_of(once(reply(400, body.encode(), content_type=content_type)), cwd=tmp_path)

    assert failure.code == "http_error"
    assert failure.message.endswith("; does the URL have to begin with https://?")


PROBLEM = "application/problem+json"


@pytest.mark.parametrize(
    ("content_type", "body", "said"),
    [
        (PROBLEM, b'{"error": "invalid_token", "error_description": "The token expired"}', "The token expired"),
        (PROBLEM, b'{"status": 404, "error": "Not Found", "message": "No such team"}', "No such team"),
        (PROBLEM, b'{"title": "Forbidden", "detail": "Ask your team"}', "Ask your team"),
        (PROBLEM, b'{"detail": {"message": "Ask your team"}}', "Ask your team"),
        (PROBLEM, b'{"error": "Forbidden", "path": "/mcp"}', "Forbidden"),
        (PROBLEM, b'"Ask your team"', "Ask your team"),
        (PROBLEM, b'{"title": "Forbidden"}', "Forbidden"),
        (PROBLEM, b'{"code": 5,\n "at": 7}', '{"code": 5, "at": 7}'),
        (PROBLEM, b'["Ask"]', '["Ask"]'),
        (PROBLEM, b"[" * 3000, "[" * 160),
        ("text/plain", b" \n", None),
        ("text/html", b"<html>", None),
        ("", b" <html>", None),
        ("", b"Only for members", "Only for members"),
    ],
)
async def test_text_and_the_plainest_message_of_a_json_error_are_quoted_and_html_is_not(
    *, content_type: str, body: bytes, said: str | None, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(once(reply(403, body, content_type=content_type)), cwd=tmp_path)

    assert failure.code == "forbidden"
    quoted = f': "{said}"' if said else ""
    assert failure.message.endswith(f" returned 403 Said{quoted}; does it require an Authorization header?")


@pytest.mark.parametrize("said", ["Access is only allowed at localhost:9806", "Invalid Host: 127.0.0.1:9806"])
async def test_the_host_of_the_url_is_suspected_if_the_server_mentions_it(
    said: str, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(once(reply(403, said.encode(), content_type="text/plain")), cwd=tmp_path)

    assert failure.message.endswith(f': "{said}"; does the URL have the host that the server allows?')
    assert failure.advice == "Does the URL have the host that the server allows?"


@pytest.mark.parametrize(
    ("kind", "path", "other"),
    [
        ("http", "mcp", "Servers that only support SSE often use /sse"),
        ("http", "mcp/", "Servers that only support SSE often use /sse"),
        ("sse", "sse", "Streamable HTTP servers often use /mcp"),
    ],
)
async def test_the_usual_path_is_not_suggested_if_it_is_used(
    kind: str, path: str, other: str, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(once(reply(404)), kind=kind, path=path, cwd=tmp_path)

    assert failure.message.endswith(f"/{path} returned 404 Said; is the path right? {other}")


@pytest.mark.parametrize("status", [404, 405, 429])
async def test_what_the_server_says_is_quoted_unless_it_repeats_the_status(
    status: int, marked: Marked, tmp_path: Path
) -> None:
    more = await failure_of(once(reply(status, b'{"message": "Use /v2"}')), cwd=tmp_path)
    same = await failure_of(once(reply(status, b'{"detail": "said"}')), cwd=tmp_path)
    title = f"<title>{status} Said</title>".encode()
    page = await failure_of(once(reply(status, title, content_type="text/html")), cwd=tmp_path)

    assert f'returned {status} Said: "Use /v2"; ' in more.message
    assert f"returned {status} Said; " in same.message
    assert same.message.partition("returned")[2] == page.message.partition("returned")[2]


def in_pieces(request: Request) -> bytes:
    """Return the start of an event stream in which each byte is a chunk."""
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in event(result(request.message)))
    return head(content_type="text/event-stream", Transfer_Encoding="chunked") + chunks


def one_event(request: Request) -> bytes:
    return stream(event(result(request.message)))


def always(answer: bytes) -> Callable[[Request], bytes]:
    """Return the same response to every request."""
    return lambda _: answer


HELLO = event({"hello": 1})
ENDPOINT = event("/messages", name="endpoint")


@pytest.mark.parametrize(
    ("kind", "start", "answer", "code"),
    [
        ("http", ENDPOINT + HELLO, always(reply(404)), "wrong_transport"),
        ("http", ENDPOINT, always(reply(400)), "wrong_transport"),
        ("http", ENDPOINT, always(reply(200, b"ok")), "wrong_transport"),
        ("sse", b"", works, "wrong_transport"),
        ("sse", b"", one_event, "wrong_transport"),
        ("sse", b"", in_pieces, "wrong_transport"),
        ("sse", HELLO, always(stream(HELLO)), "timeout"),
    ],
    ids=["endpoint", "endpoint, 400", "endpoint, text", "json", "event", "pieces", "something else"],
)
async def test_the_other_transport_is_recognized_by_what_it_sends_first(
    *, kind: str, start: bytes, answer: Callable[[Request], bytes], code: str, marked: Marked, tmp_path: Path
) -> None:
    def streams(request: Request) -> Iterator[bytes]:
        yield answer(request) if request.method == "POST" else stream(start)
        request.released.wait(20)

    failure = await failure_of(streams, kind=kind, cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", code)


@KINDS
async def test_a_failure_of_every_transport_is_not_blamed_on_the_transport(
    kind: str, marked: Marked, tmp_path: Path
) -> None:
    first, other = ("GET", works) if kind == "sse" else ("POST", always(stream(ENDPOINT)))

    failure = await failure_of(
        lambda request: [reply(429) if request.method == first else other(request)], kind=kind, cwd=tmp_path
    )

    assert failure.code == "rate_limited"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (reply(429), "Said; try again later"),
        (reply(429, Retry_After="Wed, 21 Oct 2037 07:28:00 GMT"), "try again after Wed, 21 Oct 2037 07:28:00 GMT"),
        (reply(503, Retry_After=17), "it is unavailable now; try again after 17 s"),
        (reply(502, Retry_After=17), "is the server behind it running?"),
    ],
    ids=["429", "429 date", "503", "502"],
)
async def test_retry_after_is_quoted(answer: bytes, says: str, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(once(answer), cwd=tmp_path)

    assert failure.message.endswith(says)


@KINDS
@pytest.mark.parametrize("words", ["Token expired", ""])
async def test_the_reason_phrase_of_the_server_is_quoted(
    *, kind: str, words: str, marked: Marked, tmp_path: Path
) -> None:
    answer = reply(403, b"no").replace(b"Said", words.encode())
    failure = await failure_of(once(answer), kind=kind, cwd=tmp_path)

    told = f"403 {words}" if words else "403"
    assert f'/mcp returned {told}: "no"; does it require' in failure.message


CLOUDFLARE = [
    ("text/html", "<title>Just a moment...</title>"),
    ("text/html", "<title>Attention Required! | Cloudflare</title>"),
    ("text/plain", "error code: 1010"),
]


@pytest.mark.parametrize(("content_type", "body"), CLOUDFLARE)
async def test_the_firewall_of_cloudflare_is_recognized(
    content_type: str, body: str, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(once(reply(403, body.encode(), content_type=content_type)), cwd=tmp_path)

    assert failure.message.endswith(
        "a firewall in front of it blocks programs or this address; its operator must allow them at this path"
    )


@KINDS
@pytest.mark.parametrize(
    ("challenge", "advice"),
    [
        ('Bearer error="insufficient_scope", scope="read write"', 'does its token have the scope "read write"?'),
        ('Bearer error="insufficient_scope"', "is this user allowed to use it?"),
    ],
)
async def test_the_scope_that_a_403_demands_is_named(
    *, kind: str, challenge: str, advice: str, marked: Marked, tmp_path: Path
) -> None:
    refuses = once(reply(403, WWW_Authenticate=challenge))
    failure = await failure_of(refuses, kind=kind, headers={"Authorization": "Bearer t"}, cwd=tmp_path)

    assert failure.message.endswith(f"returned 403 Said (it asks for Bearer; insufficient_scope); {advice}")


SCHEMES = (
    'Basic realm="a, b"\r\nWWW-Authenticate: Negotiate, Bearer resource_metadata="http://h/x", error="invalid_token"'
)


@KINDS
@pytest.mark.parametrize(
    ("challenge", "told"),
    [
        ('Bearer error="invalid_token", error_description="expired, log in"', "Bearer; invalid_token; expired, log in"),
        ("Bearer error = invalid_token, realm=x", "Bearer; invalid_token"),
        ('Bearer error="", realm="an error=1"', "Bearer"),
        ("Negotiate dG9rZW4=", "Negotiate"),
        ('error="invalid_token"', None),
        (SCHEMES, "Basic, Negotiate, Bearer; invalid_token"),
    ],
)
async def test_the_schemes_and_the_error_of_a_challenge_are_quoted(
    *, kind: str, challenge: str, told: str | None, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(once(reply(401, WWW_Authenticate=challenge)), kind=kind, cwd=tmp_path)

    asks = f" (it asks for {told})" if told else ""
    needs = "it requires an OAuth login" if challenge is SCHEMES else "does it require an Authorization header?"
    assert f" returned 401 Said{asks}; {needs}" in failure.message


async def test_a_header_that_the_body_of_a_401_names_is_suspected(marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(once(reply(401, b'{"error": "Missing X-API-Key header"}')), cwd=tmp_path)

    assert failure.message.endswith(' 401 Said: "Missing X-API-Key header"; is its X-API-Key header sent, and valid?')
    assert failure.advice == "Is its X-API-Key header sent, and valid?"


async def test_a_header_that_the_challenge_of_a_401_names_is_suspected(marked: Marked, tmp_path: Path) -> None:
    challenge = 'AzureApiManagementKey realm="https://a.azure-api.net", name="Ocp-Apim-Subscription-Key", type="header"'
    failure = await failure_of(once(reply(401, WWW_Authenticate=challenge)), cwd=tmp_path)

    assert failure.advice == "Is its Ocp-Apim-Subscription-Key header sent, and valid?"


async def test_a_header_for_keys_is_not_suspected_where_authorization_is_possible_too(
    marked: Marked, tmp_path: Path
) -> None:
    body = b'{"error": "Missing Authorization or X-API-Key header"}'
    failure = await failure_of(once(reply(401, body)), cwd=tmp_path)

    assert failure.message.endswith("; does it require an Authorization header?")


async def test_a_json_error_of_another_api_is_quoted(marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(once(reply(200, b'{"error": {"message": "no key"}}')), cwd=tmp_path)

    assert failure.code == "not_mcp"
    assert failure.message.endswith(' with application/json instead of an MCP message: "no key"; is the path right?')


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        (SECRET, 'does its Authorization header need "Bearer " before the token?'),
        ("Bearer ", "its Authorization header has no token; is a variable empty?"),
        (f"Bearer Bearer {SECRET}", "its Authorization header names its scheme twice"),
        (f'Bearer "{SECRET}"', "is its token in quotes or brackets that do not belong to it?"),
        (f"Bearer <{SECRET}>", "is its token in quotes or brackets that do not belong to it?"),
        (
            "Bearer ${TOKEN}",
            "its Authorization header contains a variable that was not expanded (TOKEN); write the value",
        ),
        ("Bearer YOUR_API_KEY", "its Authorization header contains a placeholder; replace it"),
        ("<your-token>", "its Authorization header contains a placeholder; replace it"),
        (f"Bearer {SECRET}", "is its Authorization header still valid?"),
    ],
)
async def test_a_mistake_in_an_authorization_header_is_recognized(
    given: str, advice: str, marked: Marked, tmp_path: Path
) -> None:
    with raw_server(once(reply(401, WWW_Authenticate="Bearer"))) as raw:
        server = http(f"{raw.origin}/mcp", headers={"Authorization": given})
        async with mcp_launch.launch([server], cwd=tmp_path, budgets=SHORT) as fleet:
            [failure] = fleet.failures

    assert failure.code == "unauthorized"
    assert failure.message.endswith(f"; {advice}")
    assert SECRET not in f"{failure}{fleet.report}"


@pytest.mark.parametrize(
    ("location", "says"),
    [
        ("/mcp", "that is the same URL"),
        ("http://127.0.0.1:9/mcp", "to http://127.0.0.1:9/mcp (307 Said); if that is the server, use its URL"),
        ("http://user:pw@{host}/other", "/other (307 Said); if that is the server"),
        ("https://127.0.0.1/mcp", "https://127.0.0.1/mcp (307 Said); if that is the server"),
    ],
    ids=["circle", "port", "user-info", "https"],
)
@KINDS
async def test_a_redirect_that_is_not_followed_is_explained(
    kind: str, location: str, says: str, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(
        lambda request: [reply(307, Location=location.format(host=request.headers["host"]))], kind=kind, cwd=tmp_path
    )

    assert failure.code == "redirected"
    assert says in failure.message


@pytest.mark.parametrize(
    ("method", "status"), [("POST", 307), ("GET", 307), ("DELETE", 307), ("DELETE", 200), ("GET", 500)]
)
async def test_only_the_start_of_an_unused_body_is_read(method: str, status: int, marked: Marked) -> None:
    def endless(_: Request) -> Iterator[bytes]:
        yield head(status, Location="/other")
        while True:
            yield bytes(1 << 16)

    with raw_server(endless) as raw, anyio.fail_after(8):
        spec = HttpServer(name="web", url=f"{raw.origin}/x")
        async with http_client.WebClient(spec, network(spec, Options()), connect=1) as client:
            response = await client.send(client.build_request(method, spec.url, json={}), stream=True)
            assert ENOUGH < len(await response.aread()) < 3 * ENOUGH

    assert (response.next_request is not None) == (status == 307)


async def test_a_session_is_not_closed_before_the_server_has_accepted_it(marked: Marked, tmp_path: Path) -> None:
    closed, early = threading.Event(), list[bool]()

    def slow(request: Request) -> list[bytes]:
        if request.asks == "notifications/initialized":
            early.append(closed.wait(0.3))
        elif request.method == "DELETE":
            closed.set()
        return [works(request)]

    with raw_server(slow) as raw:
        async with mcp_launch.open_session(http(f"{raw.origin}/mcp"), cwd=tmp_path):
            pass

    assert (early, closed.is_set()) == ([False], True)


async def test_closing_a_session_that_the_server_has_ended_logs_nothing(
    marked: Marked, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    closings: list[str] = []

    def forgets(request: Request) -> list[bytes]:
        if request.method != "DELETE":
            return [works(request)]
        closings.append(request.headers["mcp-session-id"])
        return [reply(404)]

    with raw_server(forgets) as raw:
        async with mcp_launch.open_session(http(f"{raw.origin}/mcp"), cwd=tmp_path):
            pass

    assert (closings, caplog.text) == (["s1"], "")


@pytest.mark.parametrize(
    ("kind", "silent_at", "stage"),
    [("sse", "GET", "connect"), ("http", "initialize", "handshake"), ("http", "tools/list", "list")],
)
async def test_a_server_that_is_silent_after_a_redirect_is_late(
    kind: str, silent_at: str, stage: str, marked: Marked, tmp_path: Path
) -> None:
    def silent(request: Request) -> Iterator[bytes]:
        if request.target == "/mcp":
            yield reply(307, Location="/other")
        elif request.asks == silent_at:
            request.released.wait(20)
        else:
            yield works(request)

    failure = await failure_of(silent, kind=kind, cwd=tmp_path)

    assert (failure.stage, failure.code) == (stage, "timeout")
    assert "did not answer within " in failure.message


async def test_five_redirects_to_an_event_stream_are_followed(marked: Marked, tmp_path: Path) -> None:
    def redirects(request: Request) -> bytes | None:
        left = request.target.strip("/")
        return reply(307, Location=f"/{int(left) - 1}") if left.isdigit() and left != "0" else None

    seen = await requests_of(Sse(gate=redirects), kind="sse", path="5", cwd=tmp_path)
    failure = await failure_of(Sse(gate=redirects), kind="sse", path="6", cwd=tmp_path)

    assert [request.target for request in seen if request.method == "GET"] == ["/5", "/4", "/3", "/2", "/1", "/0"]
    assert failure.code == "redirected"


@pytest.mark.parametrize(
    ("ours", "theirs", "followed"),
    [
        ("http://h/a", "http://h/b", True),
        ("http://h/a", "http://H:80/b", True),
        ("http://h/a", "https://h/a", True),
        ("http://h:8000/a", "https://h:8000/a", False),
        ("https://h/a", "http://h/a", False),
        ("http://h/a", "http://h.evil/a", False),
        ("http://h/a", "http://u:p@h/a", False),
        ("http://u:p@h/a", "http://u:p@h/b", True),
    ],
)
async def test_a_redirect_is_followed_within_the_origin_and_to_its_https(
    ours: str, theirs: str, *, followed: bool
) -> None:
    assert follows(httpx2.Request("POST", ours), httpx2.Request("POST", theirs)) is followed
    assert not follows(httpx2.Request("POST", ours), httpx2.Request("GET", theirs))


@pytest.mark.parametrize(
    ("status", "body", "code", "says"),
    [
        (400, b"Bad Request: Unsupported MCP-Protocol-Version: 2025-11-25", "unsupported_version", "a newer"),
        (400, rpc_error(-32602, "Unsupported protocol version"), "unsupported_version", "a newer release"),
        (406, rpc_error(-32000, "Not Acceptable: Client must accept both"), "rejected", "change the header Accept?"),
    ],
)
async def test_a_refused_version_or_type_is_explained(
    *, status: int, body: bytes, code: str, says: str, marked: Marked, tmp_path: Path
) -> None:
    media = "application/json" if body.startswith(b"{") else "text/plain"
    failure = await failure_of(lambda _: [reply(status, body, content_type=media)], cwd=tmp_path)

    assert failure.code == code
    assert says in failure.message
    assert (says in failure.advice) == (code != "unsupported_version")


NEEDS_SESSION = (
    rpc_error(-32600, "Bad Request: Missing session ID"),
    b"Bad Request: Mcp-Session-Id header is required",
    b"Missing Mcp-Session-Id header",
)


@pytest.mark.parametrize(
    ("session", "body"),
    [
        *product(({}, {"Mcp_Session_Id": "s1"}), NEEDS_SESSION),
        ({}, b"Bad Request: No valid session ID provided"),
        ({}, b"Session not found"),
    ],
)
async def test_a_session_id_that_a_proxy_removes_is_named(
    session: dict[str, str], body: bytes, marked: Marked, tmp_path: Path
) -> None:
    def behind_proxy(request: Request) -> Iterator[bytes]:
        media = "application/json" if body.startswith(b"{") else "text/plain"
        if request.asks == "initialize":
            yield reply(200, json.dumps(result(request.message)).encode(), **session)
        elif request.asks == "server/discover":
            # A response before the handshake does not show that the server works without a session.
            unknown = {"jsonrpc": "2.0", "id": request.message["id"], "error": {"code": -32601, "message": "unknown"}}
            yield reply(200, json.dumps(unknown).encode())
        else:
            yield reply(400, body, content_type=media)

    failure = await failure_of(behind_proxy, cwd=tmp_path)

    assert (failure.stage, failure.code) == ("list", "session_lost")
    assert failure.message.endswith(f"remove Mcp-Session-Id from {'requests' if session else 'responses'}?")
    assert failure.advice.startswith("It got no session ID;")


@pytest.mark.parametrize("status", [400, 404])
async def test_a_session_of_its_own_that_a_server_misses_does_not_end_that_of_mcp(
    status: int, marked: Marked, tmp_path: Path
) -> None:
    def drives(request: Request) -> Iterator[bytes]:
        if request.asks == "tools/call":
            yield reply(status, rpc_error(-32000, "Session not found: browser-1"))
        elif "id" in request.message:
            yield reply(200, json.dumps(result(request.message)).encode())
        else:
            yield reply(202)

    with raw_server(drives) as raw:
        async with mcp_launch.launch([http(f"{raw.origin}/mcp")], cwd=tmp_path) as fleet:
            with pytest.raises(MCPError, match=r"^Session not found: browser-1$"):
                await fleet["web"].session.call_tool("any", {})
            await fleet["web"].session.list_tools()

            assert fleet.failures == []


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (b"", "disconnected"),
        (stream(b'data: {"jsonrpc": "2.0", "id'), "disconnected"),
        (stream(event({"nope": 1})), "invalid_response"),
        (reply(404, rpc_error(-32001, "Session not found")), "session_lost"),
        (reply(404, rpc_error(-32601, "Method not found")), "rejected"),
        (reply(400, b"Bad Request: No valid session ID provided"), "session_lost"),
        (reply(400, rpc_error(-32000, "Bad Request: Server not initialized")), "session_lost"),
        (reply(400, b"Invalid or missing session ID"), "session_lost"),
        (reply(400, b"Bad Request: too many sessions"), "http_error"),
        (reply(404, b"offline", Ngrok_Error_Code="ERR_NGROK_3200"), "http_error"),
        (reply(200, b"{}"), "not_mcp"),
        (reply(200, b'{"it": "%s"}' % (b"x" * 100_000)), "not_mcp"),
        (reply(200, b'{"jsonrpc": "2.0", "it": "%s"' % (b"x" * 100_000)), "invalid_response"),
    ],
    ids=[
        "drop",
        "cut",
        "event",
        "404",
        "404 method",
        "400",
        "400 other instance",
        "400 unclear",
        "400 busy",
        "tunnel",
        "no answer",
        "long",
        "long and cut",
    ],
)
async def test_errors_after_the_handshake_are_explained(
    answer: bytes, code: str, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(at_list(lambda _: answer), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("list", code)
    assert "Mcp-Session-Id" not in failure.message


def refuses_without_an_id(kind: str, status: int) -> Answer:
    """Return a server that refuses every request with an error without an id."""
    refusal = rpc_error(-32600, "no licence")
    if kind == "http":
        return once(reply(status, refusal))
    answer = Sse()
    answer.answers = lambda message: json.loads(refusal)
    return answer


@pytest.mark.parametrize(("kind", "status"), [("http", 200), ("http", 400), ("sse", 202)])
async def test_an_error_without_an_id_refuses_the_opening_request(
    kind: str, status: int, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(refuses_without_an_id(kind, status), kind=kind, cwd=tmp_path)

    assert (failure.stage, failure.code) == ("handshake", "rejected")
    assert failure.facts["jsonrpc_error"]["message"] == "no licence"


@pytest.mark.parametrize("as_event", [False, True], ids=["json", "event"])
@pytest.mark.parametrize(
    ("code", "message"), [(-32000, "Not Acceptable: must accept text/event-stream"), (-32001, "Unauthorized")]
)
async def test_an_error_of_the_server_is_not_taken_for_an_sdk_error(
    *, code: int, message: str, as_event: bool, marked: Marked, tmp_path: Path
) -> None:
    def refuses(request: Request) -> bytes:
        told = {"jsonrpc": "2.0", "id": request.message["id"], "error": {"code": code, "message": message}}
        return stream(event(told)) if as_event else reply(406, json.dumps(told).encode())

    failure = await failure_of(at_list(refuses), cwd=tmp_path)

    assert (failure.code, failure.facts) == ("rejected", {"jsonrpc_error": {"code": code, "message": message}})


@pytest.mark.parametrize("taken", [reply(202, content_type=""), reply(202)], ids=["no type", "json"])
async def test_a_response_accepted_without_content_is_not_a_failure(
    taken: bytes, marked: Marked, tmp_path: Path
) -> None:
    answered = threading.Event()

    def asks(request: Request) -> Iterator[bytes]:
        if request.asks == "tools/list":
            yield head(content_type="text/event-stream") + event({"jsonrpc": "2.0", "id": "r1", "method": "ping"})
            answered.wait(5)
            yield event({"jsonrpc": "2.0", "id": request.message["id"], "error": {"code": -32000, "message": "busy"}})
        elif "result" in request.message:
            yield taken
            answered.set()
        else:
            yield works(request)

    failure = await failure_of(asks, cwd=tmp_path)

    assert answered.is_set()
    assert (failure.stage, failure.code) == ("list", "rejected")


async def test_the_error_for_an_invalid_event_does_not_quote_it(marked: Marked, tmp_path: Path) -> None:
    with raw_server(at_list(lambda _: stream(event({"key": SECRET})))) as raw:
        async with mcp_launch.open_session(http(f"{raw.origin}/mcp"), cwd=tmp_path, budgets=SHORT) as session:
            with pytest.raises(MCPError) as raised:
                await session.list_tools()

    wrong = 'it lacks "jsonrpc": "2.0"'
    assert raised.value.message == (
        f"sent a response that is not valid JSON-RPC: {wrong}; is there a newer release of the server?"
    )


@pytest.mark.parametrize("answer", [reply(405), reply(404), reply(200, b"<html>"), b""])
async def test_errors_of_the_listening_get_and_delete_are_not_failures(
    answer: bytes, marked: Marked, tmp_path: Path
) -> None:
    await requests_of(lambda request: [works(request) if request.method == "POST" else answer], cwd=tmp_path)


@pytest.mark.parametrize(
    ("asked", "said", "code"),
    [
        ("tools/list", {"error": {"code": -32000, "message": "database is down"}}, "rejected"),
        ("initialize", {"result": {"protocolVersion": "2025-06-18"}}, "invalid_response"),
    ],
)
async def test_a_closing_delete_without_a_response_neither_hides_nor_delays_the_failure(
    asked: str, said: dict[str, Any], code: str, marked: Marked, tmp_path: Path
) -> None:
    def hangs(request: Request) -> Iterator[bytes]:
        if request.method == "DELETE":
            request.released.wait()
        elif request.asks == asked:
            body = {"jsonrpc": "2.0", "id": request.message["id"], **said}
            yield reply(200, json.dumps(body).encode(), Mcp_Session_Id="s1")
        else:
            yield works(request)

    assert (await failure_of(hangs, cwd=tmp_path, budgets=replace(SHORT, close=30.0))).code == code


@KINDS
async def test_a_cookie_that_is_not_ascii_is_ignored(kind: str, marked: Marked, tmp_path: Path) -> None:
    answer: Answer = Sse() if kind == "sse" else lambda request: [works(request)]
    seen = await requests_of(
        lambda request: with_cookie(with_cookie(answer(request)), "käse=é"), kind=kind, cwd=tmp_path
    )

    assert seen[-1].headers["cookie"] == "node=7"


@pytest.mark.parametrize("answers", [True, False])
async def test_the_event_stream_is_open_before_the_server_may_send_requests_or_else_after_the_session(
    *, answers: bool, marked: Marked, tmp_path: Path
) -> None:
    first, then = ("GET", "tools/list") if answers else ("notifications/initialized", "GET")
    order: list[str] = []

    def answer(request: Request) -> Iterator[bytes]:
        if request.asks == first:
            # Long after the next request, if that does not wait.
            time.sleep(0.3)
        order.append(request.asks)
        yield with_header(works(request), "Mcp-Session-Id: 1") if request.method == "POST" else reply(405)

    async def roots(context: ClientRequestContext) -> ListRootsResult:
        return ListRootsResult(roots=[])

    options = Options(roots=roots if answers else None)
    with raw_server(answer) as raw:
        async with mcp_launch.launch([http(f"{raw.origin}/mcp")], cwd=tmp_path, options=options) as fleet:
            assert fleet.failures == []
    assert order.index(first) < order.index(then)


@pytest.mark.parametrize("status", [200, 500])
async def test_a_header_that_is_not_ascii_does_not_change_the_failure(
    status: int, marked: Marked, tmp_path: Path
) -> None:
    plain, odd = [
        await failure_of(once(reply(status, b"a page", content_type="text/html", X_By=by)), cwd=tmp_path)
        for by in ("Jose", "José")
    ]

    assert odd.code == plain.code
    assert odd.message.partition(" returned ")[2] == plain.message.partition(" returned ")[2] != ""


def with_cookie(parts: Iterable[bytes], cookie: str = "node=7") -> Iterator[bytes]:
    """Yield the response with a cookie in its head."""
    for number, part in enumerate(parts):
        yield part if number else with_header(part, f"Set-Cookie: {cookie}")


def with_header(answer: bytes, header: str) -> bytes:
    """Return the response with one more header."""
    return answer.replace(b"\r\n", f"\r\n{header}\r\n".encode(), 1)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_user_info_and_fragment_of_a_url_are_handled(host: str, marked: Marked, tmp_path: Path) -> None:
    with raw_server(lambda request: [works(request)], host=host) as raw:
        url = raw.origin.replace("://", "://us%40er:pa%3Ass@") + "/mcp?a=b#part"
        async with mcp_launch.open_session(http(url), cwd=tmp_path, budgets=SHORT) as session:
            await session.list_tools()

    assert {request.target for request in raw.seen} == {"/mcp?a=b"}
    assert {request.headers["authorization"] for request in raw.seen} == {"Basic dXNAZXI6cGE6c3M="}


@KINDS
@pytest.mark.parametrize(
    ("host", "code"), [("☃.example", "invalid_spec"), ("a..b", "dns"), (f"{'a' * 70}.example", "dns")]
)
async def test_an_impossible_host_is_refused(kind: str, host: str, code: str, marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.launch([http(f"http://{host}/mcp", kind=kind)], cwd=tmp_path, budgets=SHORT) as fleet:
        [failure] = fleet.failures

    assert failure.code == code


@pytest.mark.parametrize(
    ("endpoint", "target"),
    [
        ("/messages?session=1", "/messages?session=1"),
        ("messages", "/v1/messages"),
        ("?session=1", "/v1/sse?session=1"),
        ("http://{host}/m", "/m"),
        ("http://user:pw@{host}/m", "/m"),
    ],
)
async def test_an_endpoint_may_be_named_in_any_way_of_a_url(
    endpoint: str, target: str, marked: Marked, tmp_path: Path
) -> None:
    start = b": a comment\r\nretry: 10\r\n\r\nevent: other\ndata: x\n\ndata\n\n"
    seen = await requests_of(Sse(endpoint, start=start), kind="sse", path="v1/sse", cwd=tmp_path)

    posts = [request for request in seen if request.method == "POST"]
    assert {request.target for request in posts} == {target}
    assert not any("authorization" in request.headers for request in posts)


@pytest.mark.parametrize(
    "start",
    [event({"jsonrpc": "2.0", "id": "none", "result": 5}) * 2, b"data: \xff\n\n"],
    ids=["no request", "not UTF-8"],
)
async def test_an_event_that_is_not_understood_is_dropped_with_a_warning(
    start: bytes, marked: Marked, tmp_path: Path
) -> None:
    with raw_server(Sse(start=start)) as raw:
        async with mcp_launch.launch([http(f"{raw.origin}/sse", kind="sse")], cwd=tmp_path, budgets=SHORT) as fleet:
            warnings = [each for each in fleet["web"].warnings if "deprecated" not in each]

    assert warnings == ["sent an event that is not a JSON-RPC message"]


async def test_only_the_first_endpoint_of_a_stream_counts(marked: Marked, tmp_path: Path) -> None:
    seen = await requests_of(Sse("/second", start=event("/first", name="endpoint")), kind="sse", cwd=tmp_path)

    assert {request.target for request in seen if request.method == "POST"} == {"/first"}
    # A compressed event may be held back until there is more to compress.
    assert [each.headers["accept-encoding"] for each in seen if each.method == "GET"] == ["identity"]


async def test_a_stream_without_an_endpoint_is_not_the_sse_transport(marked: Marked, tmp_path: Path) -> None:
    other = head(content_type="text/event-stream") + event({}, name="ping")

    failure = await failure_of(lambda request: [other if request.method == "GET" else reply(404)], cwd=tmp_path)

    assert failure.code == "not_found"


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_an_error_may_be_an_event_stream(kind: str, marked: Marked, tmp_path: Path) -> None:
    error = reply(404, event("no such stream"), content_type="text/event-stream")

    failure = await failure_of(lambda _: [error], kind=kind, cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "not_found")


@pytest.mark.parametrize(("status", "code"), [(404, "not_found"), (405, "method_not_allowed")])
async def test_a_missing_sse_endpoint_is_not_blamed_on_the_url(
    status: int, code: str, marked: Marked, tmp_path: Path
) -> None:
    answer = Sse(gate=lambda request: reply(status) if request.method == "POST" else None)

    failure = await failure_of(answer, kind="sse", cwd=tmp_path)

    assert (failure.stage, failure.code) == ("handshake", code)
    assert failure.message.endswith(
        "; the server itself named this endpoint; does a proxy in front of it change paths?"
    )


@pytest.mark.parametrize(
    ("method", "stage", "says"),
    [("initialize", "handshake", "Could not find session"), ("tools/list", "list", "Missing sessionId parameter")],
)
async def test_a_session_that_the_sse_endpoint_does_not_know_is_lost(
    method: str, stage: str, says: str, marked: Marked, tmp_path: Path
) -> None:
    unknown = reply(404, says.encode(), content_type="text/plain")
    answer = Sse(gate=lambda request: unknown if request.asks == method else None)

    failure = await failure_of(answer, kind="sse", cwd=tmp_path)

    assert (failure.stage, failure.code) == (stage, "session_lost")
    assert failure.message.endswith(
        f' returned 404 Said: "{says}"; the server no longer has this session; '
        "did it restart, or are several instances behind its address?"
    )


async def test_a_good_response_does_not_hide_the_loss_of_the_session(marked: Marked, tmp_path: Path) -> None:
    def spread(request: Request) -> list[bytes]:
        return [reply(404) if request.asks == "notifications/initialized" else works(request)]

    with raw_server(spread) as raw, anyio.fail_after(8):
        async with mcp_launch.launch([http(f"{raw.origin}/mcp")], cwd=tmp_path, budgets=SHORT) as fleet:
            while (failure := fleet["web"].failure) is None:
                await anyio.sleep(0.01)

    assert failure.code == "session_lost"


async def test_outcomes_of_messages_are_not_mixed_up(marked: Marked) -> None:
    refused = threading.Event()

    def answer(request: Request) -> Iterator[bytes]:
        if request.target == "/refused":
            yield reply(500)
            return
        yield head(202, Content_Length=2)
        refused.wait(5)
        yield b"ok"

    with raw_server(answer) as raw, anyio.fail_after(8):
        spec = HttpServer(name="web", url=f"{raw.origin}/sse")
        async with EventClient(spec, network(spec, Options()), connect=1) as client, anyio.create_task_group() as tasks:

            async def refuse() -> None:
                while client.memory.answer is None:
                    await anyio.sleep(0.01)
                await client.send(client.build_request("POST", f"{raw.origin}/refused"))
                assert client.memory.found is not None
                refused.set()

            tasks.start_soon(refuse)
            await client.send(client.build_request("POST", f"{raw.origin}/taken"))
            assert client.memory.found is None
