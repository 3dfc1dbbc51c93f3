"""Network options on both transports: certificates, proxies and logins."""

from __future__ import annotations

import gzip
import json
import re
import socket
import ssl
import sys
import traceback
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import httpx
import httpx2
import pytest
from mcp import MCPError
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.server import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

import mcp_launch
from acp_bindings import v1
from acp_bindings._http import CERTIFICATES, is_loopback, shared_context
from acp_bindings._responses import tls_reason
from mcp_launch import Budgets, LaunchFailure, Options
from mcp_launch._spec import HttpServer
from mcp_launch._transports import web
from mcp_launch._transports.http import WebClient
from mcp_launch._transports.network import network
from mcp_launch.failures import OF_ACP
from tests.mcp_launch.servers.raw import Answer, Request, Sse, raw_server, reply, works
from tests.mcp_launch.servers.tls import Certificates, certificates
from tests.mcp_launch.support import SECRET, Bearer, Marked, http

pytestmark = pytest.mark.anyio
KINDS = pytest.mark.parametrize("kind", ["http", "sse"])
SHORT = Budgets(connect=2.0, handshake=2.0, list=2.0, close=0.5)


Gate: TypeAlias = Callable[[Request], bytes | None]
"""Responds to requests in place of the server, or returns None."""


def server_of(kind: str, gate: Gate = lambda _: None) -> Answer:
    """Return a working server of that transport."""
    return Sse(gate=gate) if kind == "sse" else lambda request: [gate(request) or works(request)]


async def outcome(server: dict[str, Any], options: Options, *, cwd: Path) -> LaunchFailure | list[str]:
    """Return the failure, or the warnings if there is none; both must be free of secrets."""
    async with mcp_launch.launch([server], cwd=cwd, budgets=SHORT, options=options) as fleet:
        [launched] = fleet
        failure = launched.failure
        if failure is None:
            await launched.session.list_tools()
    shown = [repr(options), repr(fleet), str(fleet.report), *launched.warnings]
    if failure is not None:
        shown += [repr(failure), *traceback.format_exception(failure)]
    assert SECRET not in "".join(shown)
    return failure or [warning for warning in launched.warnings if "deprecated" not in warning]


async def failure_of(server: dict[str, Any], options: Options, *, cwd: Path) -> LaunchFailure:
    """Return the failure."""
    failure = await outcome(server, options, cwd=cwd)
    assert isinstance(failure, LaunchFailure)
    return failure


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates of an untrusted authority. The client's key is encrypted with the secret."""
    return certificates(tmp_path_factory.mktemp("tls"), password=SECRET)


@pytest.mark.parametrize("url", ["http://user:pass@host.example:8080/mcp?a=ä", "https://[::1]/mcp"])
def test_messages_have_the_headers_of_the_http_library(url: str, marked: Marked) -> None:
    """They are assembled here, because that is faster."""
    spec = HttpServer(name="web", url=url)
    client = WebClient(spec, network(spec, Options()), connect=1)
    client.cookies.set("node", "7")
    of_sdk = {"accept": "application/json, text/event-stream", "content-type": "application/json", "mcp-name": "e"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "é"}}
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()

    ours = client.build_request("POST", url, json=message, headers=of_sdk)
    theirs = httpx2.AsyncClient.build_request(client, "POST", url, json=message, headers=of_sdk)
    assert (str(ours.url), ours.read()) == (str(theirs.url), theirs.read()) == (str(theirs.url), body)
    assert sorted(ours.headers.raw) == sorted(theirs.headers.raw)
    assert ours.extensions["timeout"] == theirs.extensions["timeout"]


@KINDS
async def test_a_private_authority_is_trusted_by_file_or_context(
    kind: str, certified: Certificates, marked: Marked, tmp_path: Path
) -> None:
    with raw_server(server_of(kind), tls=certified.serving()) as raw:
        server = http(f"{raw.origin}/mcp", kind=kind)
        without = await failure_of(server, Options(), cwd=tmp_path)
        by_file = await outcome(server, Options(verify=Path(certified.authority)), cwd=tmp_path)
        context = ssl.create_default_context(cafile=certified.authority)
        by_context = await outcome(server, Options(verify=context), cwd=tmp_path)

    assert (without.stage, without.code, by_file, by_context) == ("connect", "tls", [], [])
    assert "to trust its issuer, set SSL_CERT_FILE" in without.message


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the system has its own store")
@KINDS
async def test_an_authority_of_the_system_is_trusted(
    kind: str, certified: Certificates, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in CERTIFICATES:
        monkeypatch.delenv(name, raising=False)
    paths = ssl.get_default_verify_paths()._replace(openssl_cafile=str(certified.authority), openssl_capath="")
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)
    shared_context.cache_clear()
    try:
        with raw_server(server_of(kind), tls=certified.serving()) as raw:
            assert await outcome(http(f"{raw.origin}/mcp", kind=kind), Options(), cwd=tmp_path) == []
    finally:
        shared_context.cache_clear()


async def test_other_faults_of_a_trusted_certificate_are_named(
    certified: Certificates, marked: Marked, tmp_path: Path
) -> None:
    # As Python has it by itself from 3.13 on.
    strict = ssl.create_default_context(cafile=certified.authority)
    strict.verify_flags |= ssl.VERIFY_X509_STRICT
    messages: list[str] = []
    for certificate in (certified.expired, certified.loose, certified.elsewhere):
        with raw_server(server_of("http"), tls=certified.serving(certificate)) as raw:
            failure = await failure_of(http(f"{raw.origin}/mcp"), Options(verify=strict), cwd=tmp_path)
            messages.append(failure.message.partition("failed: ")[2])

    assert messages == [
        "certificate has expired; it must be renewed, unless the clock of this machine is wrong",
        "Missing Authority Key Identifier; it must be reissued with the extensions that Python 3.13 and newer require",
        "IP address mismatch, certificate is not valid for '127.0.0.1'; is the host right?",
    ]


@pytest.mark.parametrize("code", [23, 26, 66, 68, 79])
def test_trust_is_not_advised_for_a_certificate_that_is_wrong_in_itself(code: int) -> None:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.reason, error.verify_code, error.verify_message = "CERTIFICATE_VERIFY_FAILED", code, "key too weak"

    assert tls_reason(error) == ("key too weak", "it must be reissued")


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (-67843, "to trust its issuer, set SSL_CERT_FILE"),
        (-67818, "it must be renewed, unless the clock of this machine is wrong"),
        (-67819, "is the clock of this machine wrong?"),
        (0x800B0109, "to trust its issuer, set SSL_CERT_FILE"),
        (0x800B010F, "is the host right?"),
        (-67820, "it must be reissued"),
    ],
)
def test_a_certificate_that_macos_or_windows_refuses_has_its_advice(code: int, advice: str) -> None:
    # As truststore makes it. Python does not set any attribute then.
    error = ssl.SSLCertVerificationError("certificate is not trusted")
    error.verify_code, error.verify_message = code, "certificate is not trusted"

    assert tls_reason(error) == ("certificate is not trusted", advice)


async def test_a_tls_handshake_without_an_end_is_a_timeout(marked: Marked, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/mcp"
        async with mcp_launch.launch([http(url)], cwd=tmp_path, budgets=Budgets(connect=0.5)) as fleet:
            [failure] = fleet.failures

    assert failure.code == "timeout"


@KINDS
@pytest.mark.parametrize(
    ("url", "proxy", "says"),
    [
        ("http://127.0.0.1:{silent}/mcp", None, "accepted the connection, but did not answer within "),
        ("http://127.0.0.1:{full}/mcp", None, "could not connect to 127.0.0.1:{full} within "),
        (
            "http://a.invalid/mcp",
            "http://127.0.0.1:{silent}",
            "the proxy http://127.0.0.1:{silent} accepted the connection, but did not answer within ",
        ),
        (
            "https://a.invalid/mcp",
            "http://127.0.0.1:{silent}",
            "could not connect to a.invalid:443 through the proxy http://127.0.0.1:{silent} within ",
        ),
        (
            "https://a.invalid/mcp",
            "http://127.0.0.1:{open}",
            "could not connect to a.invalid:443 through the proxy http://127.0.0.1:{open} within ",
        ),
    ],
    ids=["answer", "connection", "plain proxy", "proxy", "tunnel"],
)
async def test_a_server_that_was_not_connected_is_distinguished_from_a_silent_one(
    *, kind: str, url: str, proxy: str | None, says: str, marked: Marked, tmp_path: Path
) -> None:
    def opens(request: Request) -> Iterator[bytes]:
        yield reply()
        request.released.wait()

    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        raw_server(opens) as proxied,
        # The system drops further connections, as a firewall does.
        socket.create_server(("127.0.0.1", 0), backlog=0) as full,
        socket.create_connection(full.getsockname()),
    ):
        ports = {"silent": silent.getsockname()[1], "full": full.getsockname()[1], "open": proxied.port}
        server = http(url.format(**ports), kind=kind)
        # The requests of a login replace those that are followed.
        options = Options(proxy=proxy.format(**ports), auth=httpx2.Auth()) if proxy else Options()
        # Less than the time that the HTTP library has for connecting.
        async with mcp_launch.launch([server], cwd=tmp_path, timeout=1, options=options) as fleet:
            [failure] = fleet.failures

    assert (failure.stage, failure.code) == ("connect", "timeout")
    assert re.match(rf"{re.escape(says.format(**ports))}[01](\.\d)? s\b", failure.message)
    assert proxy is None or failure.facts["proxy"] in failure.advice


@KINDS
async def test_disabled_verification_causes_a_warning(
    kind: str, certified: Certificates, marked: Marked, tmp_path: Path
) -> None:
    with raw_server(server_of(kind), tls=certified.serving()) as raw:
        url = f"{raw.origin}/mcp".replace("https", "HTTPS")
        warnings = await outcome(http(url, kind=kind), Options(verify=False), cwd=tmp_path)

    assert warnings == ["its TLS certificate is not verified, so others could read and change the connection"]


@KINDS
async def test_a_client_certificate_is_shown(
    kind: str, certified: Certificates, marked: Marked, tmp_path: Path
) -> None:
    with raw_server(server_of(kind), tls=certified.serving(asks_client=True)) as raw:
        server = http(f"{raw.origin}/mcp", kind=kind)
        without = await failure_of(server, Options(verify=certified.authority), cwd=tmp_path)
        shown = Options(verify=certified.authority, cert=(certified.client, certified.client_key, SECRET))
        with_it = await outcome(server, shown, cwd=tmp_path)

    assert (without.code, with_it) == ("tls", [])
    assert without.message.endswith("does it require a client certificate?")


async def test_certificates_of_the_environment_count_unless_it_is_not_trusted(
    certified: Certificates, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", certified.authority)
    with raw_server(server_of("http"), tls=certified.serving()) as raw:
        server = http(f"{raw.origin}/mcp")
        trusting = await outcome(server, Options(), cwd=tmp_path)
        not_trusting = await failure_of(server, Options(trust_env=False), cwd=tmp_path)

    assert (trusting, not_trusting.code) == ([], "tls")


@KINDS
@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("verify", "/no/such/file", "No such file or directory: '/no/such/file'"),
        ("cert", "/no/such/file", "No such file or directory: '/no/such/file'"),
        ("cert", "encrypted", "its key is encrypted: give (certificate, key, password)"),
        ("proxy", "ftp://127.0.0.1:9", "Unknown scheme"),
        ("proxy", f"socks9://user:{SECRET}@127.0.0.1:9", "Unknown scheme"),
        ("proxy", f"user:{SECRET}@127.0.0.1:9", "Unknown scheme"),
        (
            "auth",
            httpx.BasicAuth("user", SECRET),
            "(user, password), a function, an httpx2.Auth or mcp_launch.StoredLogins, not httpx.BasicAuth",
        ),
        ("auth", "Bearer x", "not str"),
    ],
    ids=["verify", "cert", "encrypted", "scheme", "unknown scheme", "no scheme", "auth of httpx", "text"],
)
async def test_an_option_that_cannot_work_is_refused_before_anything_is_sent(
    *, kind: str, option: str, value: Any, told: str, certified: Certificates, marked: Marked, tmp_path: Path
) -> None:
    if value == "encrypted":
        value = (certified.client, certified.client_key)
    with raw_server(server_of(kind)) as raw:
        failure = await failure_of(http(f"{raw.origin}/mcp", kind=kind), Options(**{option: value}), cwd=tmp_path)

    assert (failure.stage, failure.code, failure.facts) == ("spec", "invalid_options", {"option": option})
    assert told in failure.message
    assert raw.seen == []


@KINDS
@pytest.mark.parametrize("where", ["option", "environment"])
async def test_requests_go_through_the_proxy_with_its_login(
    kind: str, where: str, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with raw_server(server_of(kind)) as proxy:
        url = f"http://user:{SECRET}@127.0.0.1:{proxy.port}"
        if where == "environment":
            monkeypatch.setenv("HTTP_PROXY", url)
            monkeypatch.delenv("NO_PROXY", raising=False)
        options = Options(proxy=url) if where == "option" else Options()
        warnings = await outcome(http("http://server.invalid/mcp", kind=kind), options, cwd=tmp_path)

    assert warnings == []
    assert all(request.target.startswith("http://server.invalid/m") for request in proxy.seen)
    assert all(request.headers["proxy-authorization"].startswith("Basic ") for request in proxy.seen)


async def test_proxies_of_the_environment_do_not_count_where_it_is_not_trusted(
    marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    server = http("http://server.invalid/mcp")
    trusting = await failure_of(server, Options(), cwd=tmp_path)
    not_trusting = await failure_of(server, Options(trust_env=False), cwd=tmp_path)

    assert (trusting.code, not_trusting.code) == ("refused", "dns")
    assert "the proxy http://127.0.0.1:9 (HTTP_PROXY) does not accept connections" in trusting.message
    assert trusting.facts["proxy"] == "http://127.0.0.1:9"


@KINDS
@pytest.mark.parametrize(
    "exempt", ["*.corp.invalid", ".corp.invalid", "corp.invalid", "server.corp.invalid:80", "orp.invalid"]
)
async def test_a_proxy_is_only_mentioned_if_the_request_went_through_it(
    *, kind: str, exempt: str, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with raw_server(lambda _: [reply(403)]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.origin)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.setenv(name, exempt)
        failure = await failure_of(http("http://server.corp.invalid/mcp", kind=kind), Options(), cwd=tmp_path)

    assert ("proxy" in failure.message) == ("proxy" in failure.facts) == bool(proxy.seen)


@KINDS
async def test_a_refusal_of_the_proxy_is_distinguished_from_the_server(
    kind: str, marked: Marked, tmp_path: Path
) -> None:
    with raw_server(lambda request: [reply(407, request.headers["proxy-authorization"].encode())]) as proxy:
        url = f"http://user:{SECRET}@127.0.0.1:{proxy.port}"
        tunnel = await failure_of(http("https://server.invalid/mcp", kind=kind), Options(proxy=url), cwd=tmp_path)
        plain = await failure_of(http("http://server.invalid/mcp", kind=kind), Options(proxy=url), cwd=tmp_path)

    assert (tunnel.code, plain.code) == ("refused", "http_error")
    assert f"the proxy http://127.0.0.1:{proxy.port} did not connect to server.invalid:443: 407" in tunnel.message
    for failure in (tunnel, plain):
        assert failure.message.endswith("; the proxy requires a login; add it to the proxy's URL")


@KINDS
@pytest.mark.parametrize("where", ["object", "environment"])
async def test_the_login_of_a_proxy_is_redacted_if_it_comes_back(
    kind: str, where: str, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def repeat(request: Request) -> list[bytes]:
        return [reply(403, request.headers["proxy-authorization"].encode(), content_type="text/plain")]

    with raw_server(repeat) as proxy:
        url = f"http://user:{SECRET}@127.0.0.1:{proxy.port}"
        options = Options(proxy=httpx2.Proxy(url, headers={"X-Client": "me"}))
        if where == "environment":
            options = Options()
            monkeypatch.setenv("HTTP_PROXY", url)
            monkeypatch.delenv("NO_PROXY", raising=False)
        failure = await failure_of(http("http://server.invalid/mcp", kind=kind), options, cwd=tmp_path)

    assert '[redacted]"' in failure.message
    assert {request.headers.get("x-client") for request in proxy.seen} == {"me" if where == "object" else None}


@KINDS
async def test_a_response_that_may_come_from_the_proxy_names_it(
    kind: str, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with raw_server(lambda _: [reply(403)]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://user:{SECRET}@127.0.0.1:{proxy.port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        failure = await failure_of(http("http://a:1/mcp", kind=kind), Options(), cwd=tmp_path)

    assert (failure.code, failure.facts["proxy"]) == ("forbidden", f"http://127.0.0.1:{proxy.port}")
    told = f"http://a:1/mcp through the proxy http://127.0.0.1:{proxy.port} (HTTP_PROXY) returned 403 "
    assert told in failure.message


@KINDS
async def test_a_proxy_of_the_environment_that_cannot_be_used_is_only_needed_beyond_loopback(
    kind: str, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", f"gopher://user:{SECRET}@127.0.0.1:9")
    failure = await failure_of(http("http://server.invalid/mcp", kind=kind), Options(), cwd=tmp_path)
    with raw_server(server_of(kind)) as raw:
        assert await outcome(http(f"{raw.origin}/mcp", kind=kind), Options(), cwd=tmp_path) == []

    facts = {"option": "trust_env", "variable": "ALL_PROXY"}
    assert (failure.stage, failure.code, failure.facts) == ("spec", "invalid_options", facts)
    assert failure.message.startswith("the proxy of ALL_PROXY cannot be used: Unknown scheme")
    assert failure.message.endswith("; correct or unset ALL_PROXY")
    assert SECRET not in failure.message


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Request]]:
    """The requests that arrive at the proxy from the environment."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with raw_server(lambda _: [reply(502)]) as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        yield proxy.seen


LOOPBACK = [
    *("localhost", "LOCALHOST", "localhost.", "mcp.localhost", "127.0.0.1", "127.0.0.1.", "127.255.3.4", "127.1"),
    *("0x7f000001", "0177.0.0.1", "2130706433", "0.0.0.0"),
    *("::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "::1%lo", "::"),
]
ELSEWHERE = ["notlocalhost", "localhost.example", "127.example", "128.0.0.1", "10.0.0.1", "::2", "::ffff:10.0.0.1", ""]


@pytest.mark.parametrize("host", [*LOOPBACK, *ELSEWHERE])
def test_every_spelling_of_loopback_is_recognised(host: str) -> None:
    assert is_loopback(host) is (host in LOOPBACK)


@KINDS
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1", "0x7f000001", "[::ffff:127.0.0.1]"])
async def test_loopback_urls_are_never_sent_to_the_proxy_of_the_environment(
    *, kind: str, host: str, marked: Marked, tmp_path: Path, proxied: list[Request]
) -> None:
    with raw_server(server_of(kind)) as raw:
        server = http(f"http://{host}:{raw.port}/mcp", kind=kind, headers={"Authorization": f"Bearer {SECRET}"})
        warnings = await outcome(server, Options(), cwd=tmp_path)

    assert (warnings, proxied) == ([], [])
    assert {request.headers["authorization"] for request in raw.seen} == {f"Bearer {SECRET}"}


@pytest.mark.parametrize(("kind", "served"), [("http", "sse"), ("sse", "http")])
async def test_trials_of_the_other_transport_go_to_loopback_without_a_proxy(
    kind: str, served: str, marked: Marked, tmp_path: Path, proxied: list[Request]
) -> None:
    def answered(request: Request) -> bytes | None:
        return reply(405) if request.method == ("POST" if served == "sse" else "GET") else None

    with raw_server(server_of(served, answered)) as raw:
        server = http(f"{raw.origin}/mcp", kind=kind, headers={"Authorization": f"Bearer {SECRET}"})
        failure = await failure_of(server, Options(), cwd=tmp_path)

    assert (failure.code, proxied) == ("wrong_transport", [])


@KINDS
async def test_a_login_on_loopback_is_never_sent_to_the_proxy_of_the_environment(
    kind: str, marked: Marked, tmp_path: Path, proxied: list[Request]
) -> None:
    class Login(httpx2.Auth):
        requires_response_body = True

        def __init__(self, origin: str) -> None:
            self.origin = origin

        def auth_flow(self, request: httpx2.Request) -> Iterator[httpx2.Request]:  # pyright: ignore[reportIncompatibleMethodOverride]
            yield httpx2.Request("POST", f"{self.origin}/token", content=SECRET)
            yield request

    with raw_server(lambda _: [reply(200)]) as logins:
        for origin in (f"http://127.1:{logins.port}", f"http://localhost:{logins.port}"):
            await outcome(http("http://server.invalid/mcp", kind=kind), Options(auth=Login(origin)), cwd=tmp_path)

    assert {request.target for request in logins.seen} == {"/token"}
    assert proxied
    assert all(request.target.startswith("http://server.invalid/") for request in proxied)


@KINDS
async def test_a_proxy_in_the_options_applies_to_loopback(kind: str, marked: Marked, tmp_path: Path) -> None:
    with raw_server(server_of(kind)) as proxy:
        options = Options(proxy=f"http://127.0.0.1:{proxy.port}")
        warnings = await outcome(http("http://localhost:1/mcp", kind=kind), options, cwd=tmp_path)

    assert warnings == []
    assert all(request.target.startswith("http://localhost:1/m") for request in proxy.seen)


async def test_the_token_of_a_local_server_is_never_sent_to_the_proxy_of_the_environment(
    marked: Marked, tmp_path: Path, proxied: list[Request]
) -> None:
    async with mcp_launch.serve_local(MCPServer("own"), transport="http") as local:
        spec = local.spec(v1.McpServer)
        async with mcp_launch.open_session(spec, cwd=tmp_path) as session:
            await session.list_tools()

    assert proxied == []


def with_key(request: httpx2.Request) -> httpx2.Request:
    """Logs in in a custom way."""
    request.headers["X-Key"] = SECRET
    return request


def gate(request: Request) -> bytes | None:
    """Refuse requests without a login, and repeat their content."""
    said = request.headers.get("x-key") or request.headers.get("authorization", "")
    known = ("Bearer " + SECRET, SECRET, "Basic dXNlcjpzay1odW50ZXIyLW5ldmVyLXNob3du")
    return None if said in known else reply(401, said.encode(), WWW_Authenticate="Bearer")


@KINDS
@pytest.mark.parametrize("auth", [("user", SECRET), Bearer(), with_key], ids=["pair", "object", "function"])
async def test_auth_takes_precedence_over_the_header_of_the_entry(
    kind: str, auth: Any, marked: Marked, tmp_path: Path
) -> None:
    with raw_server(server_of(kind, gate)) as raw:
        server = http(f"{raw.origin}/mcp", kind=kind, headers={"Authorization": "Bearer outdated"})
        without = await failure_of(server, Options(), cwd=tmp_path)
        warnings = await outcome(server, Options(auth=auth), cwd=tmp_path)

    assert without.code == "unauthorized"
    assert warnings == ['its header "Authorization" was not sent because the option "auth" is used instead']


@KINDS
@pytest.mark.parametrize("auth", [("user", SECRET), Bearer(), with_key], ids=["pair", "object", "function"])
async def test_credentials_of_auth_are_redacted(
    kind: str, auth: Any, marked: Marked, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)

    def repeats(request: Request) -> bytes:
        said = request.headers.get("x-key") or request.headers["authorization"]
        return reply(403, f"no {said}".encode(), content_type="text/plain", WWW_Authenticate=said, X_Said=said)

    with raw_server(server_of(kind, repeats)) as raw:
        failure = await failure_of(http(f"{raw.origin}/mcp", kind=kind), Options(auth=auth), cwd=tmp_path)

    assert failure.code == "forbidden"
    assert "dXNlcjpzay1odW50ZXIyLW5ldmVyLXNob3du" not in str(failure.to_json()) + caplog.text
    assert "[redacted]" in failure.facts["body"]
    assert SECRET not in caplog.text


class Store:
    """The storage in which the SDK keeps its tokens."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def authorization_server(request: Request, *, token: str) -> bytes | None:
    """Respond like a server that issues tokens, in addition to the responses that MCP requires."""
    if request.target.startswith("/.well-known/oauth-authorization-server"):
        origin = f"http://{request.headers['host']}"
        metadata = {
            "issuer": f"{origin}/",
            "authorization_endpoint": f"{origin}/authorize",
            "token_endpoint": f"{origin}/token",
        }
        return reply(200, json.dumps(metadata).encode())
    if request.target == "/token":
        return reply(200, gzip.compress(token.encode()), Content_Encoding="gzip")
    if request.target.startswith("/.well-known"):
        return reply(404)
    return None


@KINDS
async def test_the_oauth_of_the_sdk_logs_in(
    kind: str, marked: Marked, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    token = json.dumps({"access_token": f"{SECRET}-token", "token_type": "Bearer", "refresh_token": f"{SECRET}-more"})

    def oauth(request: Request) -> bytes | None:
        if (answer := authorization_server(request, token=token)) is not None:
            return answer
        return None if request.headers.get("authorization") == f"Bearer {SECRET}-token" else reply(401)

    with raw_server(server_of(kind, oauth)) as raw:
        auth = ClientCredentialsOAuthProvider(f"{raw.origin}/mcp", Store(), "me", SECRET, issuer=f"{raw.origin}/")
        warnings = await outcome(http(f"{raw.origin}/mcp", kind=kind), Options(auth=auth), cwd=tmp_path)

    assert warnings == []
    assert SECRET not in caplog.text


@KINDS
async def test_a_login_that_fails_is_the_failure_of_its_server(
    kind: str, marked: Marked, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    broken = json.dumps({"access_token": [SECRET], "token_type": SECRET, "refresh_token": SECRET})

    with raw_server(server_of(kind, lambda request: authorization_server(request, token=broken) or reply(401))) as raw:
        auth = ClientCredentialsOAuthProvider(
            f"{raw.origin}/mcp", Store(), "me", f"{SECRET}-mine", issuer=f"{raw.origin}/"
        )
        failure = await failure_of(http(f"{raw.origin}/mcp", kind=kind), Options(auth=auth), cwd=tmp_path)

    assert (failure.stage, failure.code) == ("connect", "unauthorized")
    assert f"the login for 127.0.0.1:{raw.port} failed: OAuthTokenError: Invalid token response" in failure.message
    assert SECRET not in caplog.text


async def test_the_secrets_in_the_form_of_a_login_and_in_its_response_are_redacted(
    marked: Marked, tmp_path: Path
) -> None:
    class Posting(httpx2.Auth):
        async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
            form = {"client_secret": f"{SECRET}-form", "scope": "read-all"}
            response = yield httpx2.Request("POST", f"{raw.origin}/token", data=form)
            raise ValueError(f"{form} had the response {response.text}")

    # Neither of these is valid in JSON.
    body = f'{{"access_token": "{SECRET}-token", "half": "\\ud83d", "byte": "'.encode() + b'\xff"}'
    with raw_server(lambda _: [reply(200, body)]) as raw:
        failure = await failure_of(http(f"{raw.origin}/mcp"), Options(auth=Posting()), cwd=tmp_path)

    assert "read-all" in failure.message
    assert "access_token" in failure.message
    assert SECRET not in failure.message


# httpx2 leaves generators unfinished where an answer breaks off, at which trio complains.
@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
@pytest.mark.filterwarnings("ignore:.*async_generator object:pytest.PytestUnraisableExceptionWarning")
@KINDS
@pytest.mark.parametrize("squeezed", [False, True])
@pytest.mark.parametrize("where", ["/mcp", "/.well-known"])
async def test_responses_read_during_a_login_are_limited(
    *, kind: str, squeezed: bool, where: str, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "LONGEST", 1 << 20)
    body = gzip.compress(bytes(8 << 20)) if squeezed else bytes(2 << 20)
    compressed = {"Content_Encoding": "gzip"} if squeezed else {}

    def long(request: Request) -> bytes | None:
        if request.target.startswith(where):
            return reply(401 if where == "/mcp" else 200, body, **compressed)
        return reply(401)

    with raw_server(server_of(kind, long)) as raw:
        auth = ClientCredentialsOAuthProvider(f"{raw.origin}/mcp", Store(), "me", SECRET, issuer=f"{raw.origin}/")
        failure = await failure_of(http(f"{raw.origin}/mcp", kind=kind), Options(auth=auth), cwd=tmp_path)
        # Trio finishes in tasks of its own what generators the libraries left.
        await anyio.wait_all_tasks_blocked()

    # The own answer is read by httpx2, between two requests of the login.
    expected = "not_mcp" if (kind, where) == ("http", "/mcp") else "unauthorized"
    assert (failure.stage, failure.code) == ("connect", expected)
    assert (
        "a compressed response of more than 1 KB" if squeezed else "a response of more than 1 MB"
    ) in failure.message
    assert "TooLong" not in failure.message


@KINDS
async def test_an_unfinished_login_is_distinguished_from_a_silent_server(
    kind: str, marked: Marked, tmp_path: Path
) -> None:
    class Browser(httpx2.Auth):
        async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
            yield request
            await anyio.sleep_forever()

    budgets = Budgets(connect=0.5, handshake=0.5, close=0.5)
    with raw_server(lambda _: [reply(401)]) as raw:
        server, options = http("http://a.invalid/mcp", kind=kind), Options(auth=Browser(), proxy=raw.origin)
        async with mcp_launch.launch([server], cwd=tmp_path, budgets=budgets, options=options) as fleet:
            [failure] = fleet.failures

    assert (failure.stage, failure.code) == ("connect", "timeout")
    assert failure.message == "the login was not finished within 0.5 s; does it need more time?"


class Moody(httpx2.Auth):
    """Logs in until that fails."""

    fails = False

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        if self.fails:
            raise ZeroDivisionError(SECRET)
        request.headers["Authorization"] = f"Bearer {SECRET}"
        yield request


@KINDS
async def test_a_login_that_fails_later_fails_its_call_and_not_the_session(
    kind: str, marked: Marked, tmp_path: Path
) -> None:
    auth = Moody()
    with raw_server(server_of(kind, gate)) as raw:
        server = http(f"{raw.origin}/mcp", kind=kind)
        async with mcp_launch.open_session(server, cwd=tmp_path, budgets=SHORT, options=Options(auth=auth)) as session:
            auth.fails = True
            with anyio.fail_after(3), pytest.raises(MCPError, match="failed: ZeroDivisionError") as raised:
                await session.list_tools()
            auth.fails = False
            assert (await session.list_tools()).tools == []

    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "is_sent"),
    [
        ("http://a.example/other", True),
        ("https://a.example/mcp", True),
        ("http://b.example/mcp", False),
        ("http://a.example:81/mcp", False),
    ],
)
async def test_the_headers_of_an_entry_are_sent_to_its_origin_only(url: str, *, is_sent: bool) -> None:
    spec = HttpServer(name="web", url="http://a.example/mcp", headers=(("X-Key", SECRET),))
    [apply] = web.HeaderRule(spec, phrases=OF_ACP, logs_in=False).hooks
    # As the libraries copy headers when they follow a redirect.
    request = httpx2.Request("POST", url, headers={"X-Key": SECRET})

    await apply(request)

    assert ("X-Key" in request.headers) is is_sent
