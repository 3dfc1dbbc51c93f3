"""How servers with a URL fail, over Streamable HTTP and SSE; nothing is sent where it should not go."""

from __future__ import annotations

import socket
import time
import traceback
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp_types import InitializedNotification

import mcp_launch
from mcp_launch import Budgets, LaunchedServer, LaunchFailure
from mcp_launch.specs import HttpServer
from mcp_launch.transports import sse
from mcp_launch.transports.http import WebClient
from mcp_launch.transports.sse import EventClient
from tests.mcp_launch.servers.web import Web, misbehaving_web, tls_server
from tests.mcp_launch.support import SECRET, Marked, ask, http

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:.*SSE transport is deprecated:DeprecationWarning"),
]

IGNORE_UNRAISABLE = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
SHORT = Budgets(connect=1.0, handshake=1.0, list=1.0, close=0.5)


@pytest.fixture
def web(marked: Marked) -> Generator[Web]:
    """A web server that misbehaves as the path says; gone before `marked` looks for what is left."""
    with misbehaving_web() as server:
        yield server


async def failure_of(server: dict[str, Any], *, cwd: Path, budgets: Budgets = SHORT) -> LaunchFailure:
    """Why a server cannot be used; the whole report must be free of secrets."""
    async with mcp_launch.launch([server], cwd=cwd, budgets=budgets) as fleet:
        [failure] = fleet.failures
    assert SECRET not in str(fleet.report) + repr(failure) + "".join(traceback.format_exception(failure))
    return failure


async def later_failure(server: LaunchedServer) -> LaunchFailure:
    """Why a server that was ready cannot be used any longer."""
    with anyio.fail_after(3):
        while server.failure is None:
            await anyio.sleep(0.01)
    return server.failure


KINDS = pytest.mark.parametrize("kind", ["http", "sse"])


@KINDS
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("401", "unauthorized"),
        ("403", "forbidden"),
        ("404", "not_found"),
        ("405", "method_not_allowed"),
        ("406", "http_error"),
        ("429", "rate_limited"),
        ("500", "http_error"),
        ("502", "http_error"),
    ],
)
async def test_a_status_has_its_code_and_the_start_of_the_body(
    *, kind: str, path: str, code: str, web: Web, marked: Marked, tmp_path: Path
) -> None:
    server = http(f"{web.origin}/{path}?key={SECRET}", kind=kind, headers={"X-Key": SECRET})

    failure = await failure_of(server, cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", code)
    assert failure.facts["status"] == int(path)
    assert failure.facts["body"] == "no entry with [redacted]"
    assert failure.facts["url"] == f"{web.origin}/{path}"


async def test_a_401_tells_what_is_asked_for_and_whether_anything_was_sent(
    web: Web, marked: Marked, tmp_path: Path
) -> None:
    url = f"{web.origin}/401/WWW-Authenticate=Bearer"

    without = await failure_of(http(url), cwd=tmp_path)
    refused = await failure_of(http(url, headers={"Authorization": f"Bearer {SECRET}"}), cwd=tmp_path)

    assert "(it asks for Bearer); does it want an Authorization header?" in without.message
    assert "is its Authorization header still valid?" in refused.message
    assert (without.facts["authorization_sent"], refused.facts["authorization_sent"]) == (False, True)


async def test_a_rate_limit_tells_how_long(web: Web, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(http(f"{web.origin}/429/Retry-After=17"), cwd=tmp_path)

    assert (failure.code, failure.facts["retry_after"]) == ("rate_limited", "17")


@KINDS
@pytest.mark.parametrize("path", ["html", "empty", "notjson", "deep", "notrpc", "202", "204"])
async def test_what_is_not_mcp_is_called_so(kind: str, path: str, web: Web, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(http(f"{web.origin}/{path}", kind=kind), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "not_mcp")


async def test_an_event_stream_that_ends_is_not_mcp(web: Web, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(http(f"{web.origin}/ends"), cwd=tmp_path)

    assert failure.code == "not_mcp"


@KINDS
async def test_a_location_that_is_no_url_is_left_out(kind: str, web: Web, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(http(f"{web.origin}/403/Location=http://[", kind=kind), cwd=tmp_path)

    assert (failure.code, "location" in failure.facts) == ("forbidden", False)


async def test_a_redirect_within_the_origin_is_followed(web: Web, marked: Marked, tmp_path: Path) -> None:
    async with mcp_launch.open_session(http(f"{web.origin}/moved"), cwd=tmp_path) as session:
        assert session.protocol_version == "2025-06-18"


@pytest.mark.parametrize("kind", [WebClient, EventClient])
async def test_headers_do_not_leave_the_origin(
    kind: type[WebClient] | type[EventClient], web: Web, marked: Marked
) -> None:
    spec = HttpServer(name="web", url=f"{web.origin}/works", headers=(("X-Key", SECRET),))
    with misbehaving_web() as other:
        async with kind(spec, connect=1.0) as client:
            await client.get(f"{web.origin}/307/Location={other.origin}/405", follow_redirects=True)
            await client.get(f"{other.origin}/405")

        assert ["X-Key" in headers for _, _, headers in web.seen + other.seen] == [True, False, False]


@KINDS
async def test_another_redirect_is_reported_without_its_query(
    kind: str, web: Web, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(http(f"{web.origin}/away", kind=kind), cwd=tmp_path)

    assert (failure.code, failure.facts["location"]) == ("redirected", "http://elsewhere.invalid/mcp")


async def test_what_sse_says_of_a_refused_message_holds_no_secret(web: Web, marked: Marked, tmp_path: Path) -> None:
    server = http(f"{web.origin}/tells", kind="sse", headers={"X-Key": SECRET})
    async with mcp_launch.open_session(server, cwd=tmp_path) as session:
        with pytest.raises(MCPError, match=r"401 Unauthorized \(it asks for \[redacted\]\)"):
            await session.list_tools()


@KINDS
async def test_a_refused_connection_names_host_and_port(kind: str, marked: Marked, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    failure = await failure_of(http(f"http://127.0.0.1:{port}/mcp", kind=kind), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "refused")
    assert (failure.facts["host"], failure.facts["port"]) == ("127.0.0.1", port)


@KINDS
async def test_an_unknown_host_is_a_dns_failure(kind: str, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(http("http://no-such-host.invalid/mcp", kind=kind), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "dns")


@KINDS
async def test_a_dropped_connection_is_reported(kind: str, web: Web, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(http(f"{web.origin}/drop", kind=kind), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "disconnected")


@KINDS
async def test_tls_to_a_plain_port_is_a_tls_failure(kind: str, web: Web, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(http(f"https://127.0.0.1:{web.port}/mcp", kind=kind), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "tls")


@KINDS
@pytest.mark.parametrize("path", ["never", "silent"])
async def test_silence_ends_at_the_budget(kind: str, path: str, web: Web, marked: Marked, tmp_path: Path) -> None:
    began = time.perf_counter()
    failure = await failure_of(
        http(f"{web.origin}/{path}", kind=kind), cwd=tmp_path, budgets=Budgets(connect=0.3, handshake=0.3)
    )

    assert failure.code == "timeout"
    assert "within 0.3 s" in failure.message
    assert time.perf_counter() - began < 3


@pytest.mark.parametrize(("path", "code"), [("expires", "unauthorized"), ("forgets", "session_lost")])
async def test_what_is_lost_later_is_told_apart(path: str, code: str, web: Web, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(http(f"{web.origin}/{path}"), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("list", code)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("expires", "401 Unauthorized"),
        ("forgets", "open a new one"),
        # httpx2 leaves the generator that it was reading from unfinished, at which trio complains.
        pytest.param("squeezes", "not compressed in the way that it says", marks=IGNORE_UNRAISABLE),
        ("mumbles", "application/json, which is no MCP message"),
    ],
)
async def test_a_call_that_fails_later_says_why_and_the_session_goes_on(
    path: str, says: str, web: Web, marked: Marked, tmp_path: Path
) -> None:
    server = http(f"{web.origin}/{path}?key={SECRET}", headers={"X-Key": SECRET})
    async with mcp_launch.open_session(server, cwd=tmp_path) as session:
        with pytest.raises(MCPError, match=says) as raised:
            await session.list_tools()
        assert SECRET not in str(raised.value)
        with pytest.raises(MCPError, match="Method not found"):
            await session.list_prompts()


async def test_a_server_that_goes_away_fails_the_call_and_not_the_session(marked: Marked, tmp_path: Path) -> None:
    with misbehaving_web() as gone:
        async with mcp_launch.open_session(http(f"{gone.origin}/works"), cwd=tmp_path) as session:
            gone.stop()
            with pytest.raises(MCPError, match=f"127.0.0.1:{gone.port} (does not accept|dropped)"):
                await session.list_tools()


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


async def test_an_error_of_mcp_with_an_http_status_is_the_servers_own_word(
    web: Web, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(http(f"{web.origin}/refuses"), cwd=tmp_path)

    assert (failure.code, failure.facts) == ("rejected", {"jsonrpc_error": {"code": -32600, "message": "no"}})


async def test_a_certificate_that_is_not_trusted_is_a_tls_failure(marked: Marked, tmp_path: Path) -> None:
    with tls_server(tmp_path) as port:
        failure = await failure_of(http(f"https://localhost:{port}/mcp"), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "tls")
    assert "self-signed certificate" in failure.message


async def test_plain_http_to_a_tls_port_is_a_tls_failure(marked: Marked, tmp_path: Path) -> None:
    with tls_server(tmp_path) as port:
        failure = await failure_of(http(f"http://localhost:{port}/mcp"), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "tls")
    assert "use https://" in failure.message


async def test_a_farewell_that_is_never_answered_does_not_hold_up_the_end(
    web: Web, marked: Marked, tmp_path: Path
) -> None:
    async with mcp_launch.launch([http(f"{web.origin}/clingy")], cwd=tmp_path, budgets=SHORT) as fleet:
        assert fleet["web"].state == "ready"
        began = time.perf_counter()

    assert time.perf_counter() - began < SHORT.close + 0.5
    assert "DELETE" in [method for method, _, _ in web.seen]
    assert (fleet["web"].failure, fleet["web"].warnings) == (None, ["did not end its session within 0.5 s"])


@KINDS
async def test_no_log_of_any_level_holds_a_secret(
    kind: str, marked: Marked, echo_urls: dict[str, str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    url = echo_urls[kind].replace("http://", f"http://user:{SECRET}@") + f"?key={SECRET}"

    async with mcp_launch.open_session(http(url, kind=kind, headers={"X-Key": SECRET}), cwd=tmp_path) as session:
        assert SECRET in str(await ask(session, "headers"))

    assert "HTTP Request: POST" in caplog.text
    assert SECRET not in caplog.text


async def test_an_sse_url_given_as_http_is_recognised(web: Web, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(http(f"{web.origin}/sse"), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "wrong_transport")
    assert 'set "type" to "sse"' in failure.message


async def test_a_streamable_http_url_given_as_sse_is_recognised(web: Web, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(http(f"{web.origin}/works", kind="sse"), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "wrong_transport")
    assert 'set "type" to "http"' in failure.message


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


async def test_an_event_without_end_is_given_up(
    web: Web, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "LONGEST", 1 << 20)
    async with mcp_launch.launch([http(f"{web.origin}/events", kind="sse")], cwd=tmp_path) as fleet:
        for _ in range(20):
            assert len(await ask(fleet["web"].session, "big", size=100_000)) == 100_001
        with pytest.raises(MCPError, match="Connection closed"):
            await ask(fleet["web"].session, "big", size=2_000_000)
        failure = await later_failure(fleet["web"])

    assert (failure.stage, failure.code) == ("call", "disconnected")
    assert failure.message == "sent an event of more than 1 MB, and was given up"


async def test_an_event_stream_that_ends_during_a_call_is_the_end_of_the_session(
    web: Web, marked: Marked, tmp_path: Path
) -> None:
    async with mcp_launch.launch([http(f"{web.origin}/events", kind="sse")], cwd=tmp_path) as fleet:
        with pytest.raises(MCPError, match="Connection closed"):
            await ask(fleet["web"].session, "hang_up")
        failure = await later_failure(fleet["web"])

    assert (failure.stage, failure.code) == ("call", "disconnected")
    assert failure.message == "its event stream ended"


async def test_an_event_stream_that_ends_without_an_endpoint_is_disconnected(
    web: Web, marked: Marked, tmp_path: Path
) -> None:
    failure = await failure_of(http(f"{web.origin}/ends", kind="sse"), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "disconnected")


@pytest.mark.parametrize("where", ["host:port", "[::1"])
async def test_an_endpoint_that_is_no_url_is_not_mcp(where: str, web: Web, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(http(f"{web.origin}/nowhere/{where}", kind="sse"), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "not_mcp")


async def test_an_endpoint_on_another_origin_gets_nothing(web: Web, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(http(f"{web.origin}/elsewhere", kind="sse"), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "cross_origin_endpoint")
    assert failure.facts == {"origin": web.origin, "endpoint_origin": "http://elsewhere.invalid"}


async def test_a_message_that_sse_refuses_fails_the_handshake(web: Web, marked: Marked, tmp_path: Path) -> None:
    failure = await failure_of(http(f"{web.origin}/sse", kind="sse"), cwd=tmp_path)

    assert (failure.stage, failure.code, failure.facts["status"]) == ("handshake", "http_error", 500)
