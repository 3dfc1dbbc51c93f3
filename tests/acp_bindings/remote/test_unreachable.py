"""Why a remote agent cannot be reached: the table of docs/remote.md, over HTTP and WebSocket."""

from __future__ import annotations

import base64
import gzip
import logging
import re
import socket
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import anyio
import httpx
import pytest
from anyio.abc import SocketStream
from mcp.server import MCPServer

from acp_bindings.client import Client
from acp_bindings.remote import Unreachable, connect_url
from acp_bindings.remote.errors import Reason
from acp_bindings.setup import OPENING
from tests.acp_bindings.remote.conftest import Serve, listening
from tests.mcp_launch.servers.raw import Answer, Request, raw_server, reply
from tests.mcp_launch.servers.tls import certificates

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("profile", ["http", "ws"])]

TOKEN = "s3cret-token-of-ada"
PROXY_PASSWORD = "s3cret-of-the-proxy"


async def unreachable(origin: str, profile: str, **options: Any) -> Unreachable:
    """Return the error of connecting, after checking that it says nothing of the token."""
    url = f"{origin.replace('http', profile, 1)}/acp?key={TOKEN}"
    options = {"headers": {"Authorization": f"Bearer {TOKEN}"}, "trust_env": False, **options}
    with anyio.fail_after(20), pytest.raises(Unreachable) as caught:
        async with Client("test", version="1.0").connect(connect_url(url, protocol=OPENING, **options)):
            pass
    error = caught.value
    assert error.url == url.partition("?")[0]
    shown = "".join(traceback.format_exception(error))
    assert not any(secret in f"{shown}{vars(error)}" for secret in (TOKEN, PROXY_PASSWORD))
    return error


@pytest.fixture(autouse=True)
def no_secret_is_logged(caplog: pytest.LogCaptureFixture) -> Any:
    """Check what all libraries log."""
    caplog.set_level(logging.DEBUG)
    yield
    assert TOKEN not in caplog.text
    assert PROXY_PASSWORD not in caplog.text


def always(answer: bytes) -> Answer:
    return lambda _: [answer]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


RESPONSES: dict[str, tuple[Answer, str, str]] = {
    "a login is required": (
        always(reply(401, WWW_Authenticate='Bearer realm="acp", error="invalid_token"')),
        "unauthorized",
        "requires a login (401) (it asks for Bearer; invalid_token); is the login still valid?",
    ),
    "the user is not allowed": (
        always(reply(403, b"not for you", content_type="text/plain")),
        "forbidden",
        'refuses access (403): "not for you"; is',
    ),
    "another path": (
        always(reply(404, b"<h1>Not Found</h1>", content_type="text/html")),
        "not_found",
        "does not serve ACP at this path (404); it is often /acp",
    ),
    "another method": (always(reply(405)), "not_found", "does not serve ACP at this path (405); it is often /acp"),
    "a web page": (
        always(reply(200, b"<title>Welcome</title>", content_type="text/html; charset=utf-8")),
        "not_acp",
        'responded with a page titled "Welcome" instead of ACP; is this the URL of the agent?',
    ),
    "a page for signing in": (
        always(reply(200, b"<title>Sign in</title>", content_type="text/html")),
        "not_acp",
        'responded with a page titled "Sign in" instead of ACP; it requires credentials',
    ),
    "a redirect": (
        always(reply(307, Location=f"https://other.example/acp?key={TOKEN}")),
        "redirected",
        "redirects to https://other.example/acp (307); if that is the agent, use its URL; if it is a login page",
    ),
    "too many connections": (
        always(reply(429, Retry_After="120")),
        "rate_limited",
        "has too many connections or requests (429); try again after 120 s",
    ),
    "a gateway without an agent": (
        always(reply(502)),
        "http_error",
        "responded with 502; the gateway in front of it got no valid response; is the server behind it running?",
    ),
    "too large": (
        always(reply(413)),
        "http_error",
        "responded with 413; the message is too large for the server or a proxy in front of it",
    ),
    "a compressed response": (
        always(reply(200, gzip.compress(bytes(10_000_000)), Content_Encoding="gzip")),
        "not_acp",
        "sent a compressed response, which is not accepted; does a proxy compress it?",
    ),
    "the token comes back": (
        lambda request: [reply(500, request.headers["authorization"].encode(), content_type="text/plain")],
        "http_error",
        'responded with 500: "[redacted]"; it had an internal error; its log may say why',
    ),
    "not HTTP": (always(b"SSH-2.0-OpenSSH_9.9\r\n\r\n"), "not_acp", "is the port right?"),
    "no response": (always(b""), "disconnected", "the connection was lost"),
}


def test_each_code_is_in_the_table(profile: str) -> None:
    page = Path("docs/remote.md").read_text(encoding="utf-8")
    table = page.partition("### Why an agent cannot be reached")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \| [a-zA-Z0-9]", table, re.MULTILINE)) - {"code"} == set(get_args(Reason))


@pytest.mark.parametrize("row", RESPONSES)
async def test_a_response_that_is_not_acp_is_explained(profile: str, row: str) -> None:
    answer, code, reason = RESPONSES[row]
    with raw_server(answer) as server:
        error = await unreachable(server.origin, profile)
    assert error.code == code
    assert reason in str(error)
    assert f"{error.url}: " in str(error)


async def test_an_mcp_server_is_recognized(profile: str, serve: Serve) -> None:
    app = MCPServer("library", version="1.0").streamable_http_app(streamable_http_path="/acp")
    async with serve(app) as origin:
        error = await unreachable(origin, profile)
    if profile == "ws":
        # The server closes it before it is open, as for every WebSocket without a route.
        assert error.code == "forbidden"
        assert "refuses access (403); is the path right, and is this user allowed to use it?" in str(error)
    else:
        assert error.code == "not_acp"
        assert 'looks like an MCP server (406): "Not Acceptable: ' in str(error)
        assert str(error).endswith("; pass it to a session instead")


@pytest.mark.parametrize(
    ("certificate", "reason"),
    [
        ("server", "unable to get local issuer certificate; to trust its issuer, set SSL_CERT_FILE or pass verify="),
        ("expired", "certificate has expired; it must be renewed"),
        ("elsewhere", "IP address mismatch, certificate is not valid for '127.0.0.1'; is the host right?"),
    ],
)
async def test_a_certificate_that_is_not_trusted_is_explained(
    profile: str, certificate: str, reason: str, tmp_path: Path
) -> None:
    ours = certificates(tmp_path, password="secret")
    options = {} if certificate == "server" else {"verify": ours.authority}
    with raw_server(always(reply(404)), tls=ours.serving(getattr(ours, certificate))) as server:
        error = await unreachable(server.origin, profile, **options)
    assert error.code == "tls"
    assert f"TLS with 127.0.0.1:{server.port} failed: {reason}" in str(error)


async def test_https_for_a_server_without_tls_is_explained(profile: str) -> None:
    async def refuse(connection: SocketStream) -> None:
        async with connection:
            await connection.receive()
            await connection.send(reply(400))

    async with listening(refuse) as origin:
        error = await unreachable(origin.replace("http", "https"), profile)
        assert (error.code, f"should the URL start with {profile}://?" in str(error)) == ("tls", True)


async def test_a_closed_port_is_explained(profile: str) -> None:
    port = free_port()
    error = await unreachable(f"http://127.0.0.1:{port}", profile)
    assert error.code == "refused"
    assert f"127.0.0.1:{port} does not accept connections; is the agent running?" in str(error)


async def test_an_ipv6_address_is_in_brackets(profile: str) -> None:
    assert "[::1]:9 does not accept connections" in str(await unreachable("http://[::1]:9", profile))


async def test_an_unknown_host_is_explained(profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    error = await unreachable("http://agent.invalid", profile)
    assert error.code == "dns"
    assert 'cannot resolve the host name "agent.invalid"; is it spelled correctly?' in str(error)


async def test_a_server_that_does_not_respond_is_explained(profile: str) -> None:
    def silent(request: Request) -> Iterator[bytes]:
        request.released.wait()
        yield b""

    with raw_server(silent) as server:
        error = await unreachable(server.origin, profile, timeout=0.3)
    assert error.code == "timeout"
    assert "sent nothing for 0.3 s; is the agent overloaded, or the network down?" in str(error)


async def test_a_proxy_that_is_not_there_is_explained(profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = f"http://127.0.0.1:{free_port()}"
    monkeypatch.setenv("HTTP_PROXY", proxy.replace("//", f"//ada:{PROXY_PASSWORD}@"))
    error = await unreachable("http://agent.invalid", profile, trust_env=True)
    assert error.code == "proxy"
    assert f"the proxy {proxy} (HTTP_PROXY) does not accept connections" in str(error)


async def test_an_agent_on_loopback_is_reached_without_the_proxy_of_the_environment(
    profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    with raw_server(always(reply(404))) as server:
        await unreachable(server.origin, profile, trust_env=True)
    assert server.seen


async def test_a_socks_proxy_without_its_package_is_explained(profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1080")
    error = await unreachable("http://agent.invalid", profile, trust_env=True)
    assert error.code == "proxy"
    assert "a SOCKS proxy requires another package: pip install 'httpx[socks]'" in str(error)


async def test_a_header_with_a_line_break_is_refused(profile: str) -> None:
    with pytest.raises(ValueError, match="the header 'Authorization' contains a line break") as caught:
        await unreachable("http://127.0.0.1:1", profile, headers={"Authorization": "Bearer s3cret\n"})
    assert "s3cret" not in str(caught.value)


async def test_a_proxy_that_refuses_is_explained(profile: str) -> None:
    with raw_server(always(reply(407))) as proxy:
        url = proxy.origin.replace("//", f"//ada:{PROXY_PASSWORD}@")
        tunnel = await unreachable("https://agent.invalid", profile, proxy=url)
        plain = await unreachable("http://agent.invalid", profile, proxy=url)
    assert (tunnel.code, plain.code) == ("proxy", "http_error")
    assert f"the proxy {proxy.origin} did not connect to agent.invalid:443: 407" in str(tunnel)
    assert str(tunnel).endswith("; the proxy requires a login; add it to the proxy's URL")
    assert f"through the proxy {proxy.origin}; the proxy requires a login" in str(plain)


TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Key(httpx.Auth):
    """A login with a header of its own, and the trace of an instrumentation."""

    def auth_flow(self, request: httpx.Request) -> Iterator[httpx.Request]:  # type: ignore[override]
        request.headers["X-Api-Key"] = PROXY_PASSWORD
        request.headers["traceparent"] = TRACE
        yield request


@pytest.mark.parametrize("kind", ["variable", "url", "object", "headers", "key"])
async def test_secrets_of_proxies_and_logins_are_redacted_if_they_come_back(
    profile: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def repeat(request: Request) -> list[bytes]:
        return [reply(403, "\n".join(request.headers.values()).encode(), content_type="text/plain")]

    with raw_server(repeat) as proxy:
        url = proxy.origin.replace("//", f"//ada:{PROXY_PASSWORD}@")
        options: dict[str, dict[str, Any]] = {
            "variable": {"trust_env": True},
            "url": {"proxy": url},
            "object": {"proxy": httpx.Proxy(url)},
            "headers": {"proxy": httpx.Proxy(proxy.origin, headers={"Proxy-Authorization": PROXY_PASSWORD})},
            "key": {"proxy": proxy.origin, "headers": {}, "auth": Key()},
        }
        if kind == "variable":
            monkeypatch.setenv("HTTP_PROXY", url)
        error = await unreachable("http://agent.example", profile, **options[kind])
    assert "[redacted]" in error.body
    assert "agent.example" in error.body
    assert (TRACE in error.body) is (kind == "key")
    assert base64.b64encode(f"ada:{PROXY_PASSWORD}".encode()).decode() not in error.body


async def test_a_redirect_gets_no_credentials(profile: str) -> None:
    with raw_server(always(reply(404))) as other:
        location = f"{other.origin}/acp"
        with raw_server(always(reply(307, Location=location))) as server:
            error = await unreachable(server.origin, profile, auth=("ada", TOKEN))
    assert error.code == "redirected"
    assert other.seen == []
