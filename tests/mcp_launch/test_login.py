"""Logging in by OAuth, and the stored logins, with an authorization server made of Authlib."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import json
import os
import re
import socket
import stat
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Generator
from contextlib import ExitStack, aclosing
from dataclasses import replace
from functools import partial
from pathlib import Path
from subprocess import PIPE
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from mcp import MCPError

from mcp_launch import LaunchFailure, Options, StoredLogins, UnusableInput, launch, logins, open_session
from mcp_launch._command import authorization
from mcp_launch._command import login as command
from mcp_launch._command.authorization import LoginFailed, Wanted
from mcp_launch._command.authorization import log_in as log_in_to
from mcp_launch._spec import HttpServer, SseServer
from mcp_launch._transports.network import _refresh, network
from mcp_launch._transports.oauth import StoredAuth
from tests.mcp_launch.fix.web import small_web
from tests.mcp_launch.here import run_here
from tests.mcp_launch.servers import oauth
from tests.mcp_launch.servers.oauth import TOKEN, Client, Login, oauth_servers, visit
from tests.mcp_launch.servers.raw import Request, raw_server, reply, works
from tests.mcp_launch.servers.tls import certificates
from tests.mcp_launch.support import SOURCE, Marked, http, run_python

ROOT = Path(__file__).parents[2]
KINDS = pytest.mark.parametrize("kind", ["http", "sse"])
# httpx2 leaves a generator unfinished when it is cancelled while it reads, at which trio complains.
UNFINISHED = pytest.mark.filterwarnings("ignore:.*async_generator object:pytest.PytestUnraisableExceptionWarning")
STORED = Options(auth=StoredLogins())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """The folder of the logins, and a browser whose user agrees. There is no keyring."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setenv("BROWSER", f"{sys.executable} -m tests.mcp_launch.servers.oauth %s")
    monkeypatch.setattr(webbrowser, "open", visit)
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())
    yield tmp_path / "data" / "mcp-launch" / "logins"
    keyring.set_keyring(before)


def run(*args: str, stdin: str = "", apart: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the command, in a separate process if *apart*; it must not show a token."""
    way = partial(run_python, "-m", "mcp_launch", PYTHONPATH=f"{SOURCE}{os.pathsep}{ROOT}") if apart else run_here
    done = way(*args, stdin=stdin)
    assert TOKEN not in done.stdout + done.stderr
    return done


async def log_in(login: Login, wanted: Wanted | None = None, *, kind: str = "http") -> logins.Login:
    spec = (SseServer if kind == "sse" else HttpServer)(name="web", url=login.url)
    with anyio.fail_after(20):
        return await log_in_to(spec, wanted or Wanted())


async def refusal(login: Login, wanted: Wanted | None = None) -> str:
    """Return why a login fails; nothing must be stored or listen afterwards."""
    with pytest.raises(LoginFailed) as raised:
        await log_in(login, wanted)
    assert (logins.stored(), TOKEN in str(raised.value), raised.value.__cause__) == ([], False, None)
    for request in login.authorization.seen:
        if sent := parse_qs(urlsplit(request.target).query).get("redirect_uri"):
            assert not is_listening(sent[0])
    return str(raised.value)


def logged(caplog: pytest.LogCaptureFixture) -> str:
    """Return what was logged, except by the authorization server, which runs in this process."""
    records = [record for record in caplog.records if not record.name.startswith("authlib")]
    return "\n".join(caplog.handler.format(record) for record in records)


def is_listening(url: str, host: str = "127.0.0.1") -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((host, urlsplit(url).port or 0)) == 0


async def outcome(login: Login, options: Options = STORED, *, kind: str = "http", cwd: Path) -> str | None:
    """Return why a server cannot be used, or None; the report must not contain a token."""
    async with launch([http(login.url, kind=kind)], cwd=cwd, options=options) as fleet:
        (failure,) = fleet.failures or [None]
        assert TOKEN not in json.dumps(fleet.report) + repr(failure)
    return failure and f"{failure.code}: {failure.message}"


# Logging in ----------------------------------------------------------------------------------------------------------


@KINDS
async def test_a_login_is_stored_for_this_user_alone_and_used(
    kind: str, marked: Marked, folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    folder.mkdir(parents=True, mode=0o755)
    with oauth_servers(kind) as login:
        assert "mcp-launch login" in str(await outcome(login, kind=kind, cwd=tmp_path))
        stored = await log_in(login, kind=kind)
        assert await outcome(login, kind=kind, cwd=tmp_path) is None

    (file,) = folder.iterdir()
    assert [stat.S_IMODE(each.stat().st_mode) for each in (file, folder)] == [0o600, 0o700]
    assert (stored.server, stored.issuer, stored.scope) == (login.url, login.issuer, "read")
    assert not is_listening(stored.redirect_uri)
    assert TOKEN not in logged(caplog) + repr(stored)


async def test_a_login_listens_on_loopback_only(marked: Marked, monkeypatch: pytest.MonkeyPatch) -> None:
    listens: list[bool] = []

    def browse(url: str) -> str:
        [redirect] = parse_qs(urlsplit(url).query)["redirect_uri"]
        # All of 127.0.0.0/8 is this machine, and a server on all addresses would accept it.
        listens.extend(is_listening(redirect, host) for host in ("127.0.0.1", "127.0.0.2"))
        return visit(url)

    monkeypatch.setattr(webbrowser, "open", browse)
    with oauth_servers() as login:
        await log_in(login)
    assert listens == [True, False]


@pytest.mark.anyio
@pytest.mark.parametrize("hangs", [False, True])
async def test_a_login_is_stored_even_if_the_server_cannot_end_a_session(
    hangs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: Request) -> bytes:
        if request.method != "DELETE":
            return works(request)
        if hangs:
            request.released.wait()
        return b""

    monkeypatch.setattr(oauth, "works", answer)
    monkeypatch.setattr(authorization, "_PARTING", 0.2)
    with oauth_servers() as login:
        assert await log_in(login) == logins.stored()[0]
        assert [each.method for each in login.mcp.seen].count("DELETE") == 1


OTHER = "http://127.0.0.1:9/mcp"
REFUSALS: list[tuple[str, dict[str, Any], str]] = [
    (
        "resource of another origin",
        {"resource": {"resource": OTHER}},
        '/.well-known/oauth-protected-resource are for the resource "http://127.0.0.1:9/mcp", not for this server',
    ),
    (
        "issuer",
        {"metadata": {"issuer": "http://127.0.0.1:9"}},
        '{issuer}/.well-known/oauth-authorization-server have the issuer "http://127.0.0.1:9" instead of "{issuer}"',
    ),
    (
        "plain PKCE",
        {"metadata": {"code_challenge_methods_supported": ["plain"]}},
        '"code_challenge_methods_supported" only lists plain at {issuer}/.well-known/oauth-authorization-server',
    ),
    ("no PKCE", {"metadata": {"code_challenge_methods_supported": None}}, '_supported" is missing at {issuer}/'),
    (
        "no registration",
        {"metadata": {"registration_endpoint": None}},
        '"registration_endpoint" is missing at {issuer}/.well-known/oauth-authorization-server; register a client',
    ),
    (
        "registration refused",
        {"registers": False},
        "does not register this client: POST {issuer}/register returned 400 (access_denied: ",
    ),
    (
        "invalid metadata",
        {"metadata": {"token_endpoint": "nowhere"}},
        "{issuer}/.well-known/oauth-authorization-server is not valid metadata (token_endpoint: ",
    ),
    ("denied", {"denies": True}, "the login was refused: access_denied: The resource owner or authorization server"),
    ("another state", {"callback": {"state": "x"}}, "the redirect has the state of another login"),
    ("no state", {"callback": {"state": ""}}, "the redirect has no state, which OAuth requires"),
    ("another issuer", {"callback": {"iss": "http://127.0.0.1:9"}}, "iss mismatch: http://127.0.0.1:9 != {issuer}"),
    (
        "wrong audience",
        {"audience": OTHER},
        "the server rejects the token that {issuer} has issued: POST {url} returned 401 (invalid_token)",
    ),
]


@pytest.mark.parametrize(("how", "says"), [row[1:] for row in REFUSALS], ids=[row[0] for row in REFUSALS])
async def test_a_refused_login_says_what_is_wrong_and_where(
    how: dict[str, Any], says: str, marked: Marked, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    with oauth_servers(**how) as login:
        message = await refusal(login)
    assert says.format(issuer=login.issuer, url=login.url) in message
    assert "(WWW-Authenticate)" not in message
    assert TOKEN not in logged(caplog)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/.well-known/oauth-authorization-server", "no authorization server was found"),
        ("/register", "does not register this client"),
        ("/token", "did not issue a token"),
    ],
)
async def test_a_redirect_to_another_host_is_not_followed(path: str, says: str, marked: Marked) -> None:
    with raw_server(lambda _: [reply(404)]) as other, oauth_servers(redirects={path: f"{other.origin}/x"}) as login:
        message = await refusal(login)

    assert says in message
    assert f"{path} returned 307 with a redirect to {other.origin}/x, which is not followed" in message
    assert other.seen == []


async def test_the_first_request_of_a_login_is_not_redirected_to_another_host(marked: Marked) -> None:
    with raw_server(lambda _: [reply(404)]) as other:
        with raw_server(lambda _: [reply(307, Location=f"{other.origin}/mcp")]) as moved:
            message = await refusal(Login(url=f"{moved.origin}/mcp", authorization=moved))
        assert message.startswith("no authorization server was found")
        assert other.seen == []


async def test_a_stored_login_does_not_follow_its_server_to_another_host(marked: Marked, tmp_path: Path) -> None:
    with oauth_servers() as login, raw_server(lambda request: [works(request)]) as other:
        stored = await log_in(login)
        with raw_server(lambda _: [reply(307, Location=f"{other.origin}/mcp")]) as moved:
            moved_url = f"{moved.origin}/mcp"
            logins.store(replace(stored, key=logins.key_of(moved_url)), logins.tokens_of(stored))
            async with launch([http(moved_url)], cwd=tmp_path, options=STORED) as fleet:
                assert [failure.code for failure in fleet.failures] == ["redirected"]

    assert moved.seen[0].headers["authorization"].startswith(f"Bearer {TOKEN}")
    assert other.seen == []


async def test_a_server_without_oauth_says_where_metadata_were_looked_for(marked: Marked) -> None:
    with raw_server(lambda request: [works(request) if request.method == "POST" else reply(404)]) as raw:
        message = await refusal(Login(url=f"{raw.origin}/mcp", authorization=raw))

    assert message.startswith("no authorization server was found, so a login is not possible: GET ")
    assert f"{raw.origin}/.well-known/oauth-protected-resource/mcp returned 404" in message


async def test_an_invalid_token_response_is_explained_without_the_text_of_pydantic(
    marked: Marked, monkeypatch: pytest.MonkeyPatch
) -> None:
    def issue(*_: object) -> bytes:
        return reply(200, json.dumps({"access_token": TOKEN, "token_type": "Bearer", "scope": ["read"]}).encode())

    monkeypatch.setattr(oauth._Server, "create_token_response", issue)
    with oauth_servers() as login:
        assert await refusal(login) == "Invalid token response: scope: input should be a valid string"


async def test_metadata_that_are_not_json_are_reported_once(marked: Marked) -> None:
    def page(request: Request) -> list[bytes]:
        place = f"http://{request.headers['host']}/.well-known/oauth-protected-resource/mcp"
        challenge = f'Bearer resource_metadata="{place}"'
        return [reply(401, WWW_Authenticate=challenge) if request.method == "POST" else reply(200, b"<html>")]

    with raw_server(page) as raw:
        message = await refusal(Login(url=f"{raw.origin}/mcp", authorization=raw))

    told = f"{raw.origin}/.well-known/oauth-protected-resource/mcp is not valid metadata (invalid JSON: "
    assert message.count(told) == 1


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("http://internal.invalid/metadata", 'cannot resolve the host name "internal.invalid"'),
        ("/metadata", "the URL must start with http:// or https://"),
    ],
)
async def test_metadata_at_a_wrong_place_are_blamed_on_the_server(place: str, says: str, marked: Marked) -> None:
    with raw_server(lambda _: [reply(401, WWW_Authenticate=f'Bearer resource_metadata="{place}"')]) as raw:
        message = await refusal(Login(url=f"{raw.origin}/mcp", authorization=raw))

    assert says in message
    assert message.endswith("(WWW-Authenticate); does it know its public address behind a proxy?")


async def test_a_login_that_the_user_does_not_finish_ends(marked: Marked, monkeypatch: pytest.MonkeyPatch) -> None:
    def opens_nothing(_: str) -> bool:
        return False

    monkeypatch.setattr(webbrowser, "open", opens_nothing)
    with oauth_servers() as login:
        assert "did not come back within 0.2 s" in await refusal(login, Wanted(timeout=0.2))


@pytest.mark.parametrize(("method", "path"), [("client_secret_basic", "/back"), ("client_secret_post", "")])
async def test_a_client_of_the_user_is_used_for_later_logins_too(
    method: str, path: str, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_LAUNCH_CLIENT_SECRET", "key-of-mine")
    metadata = {"registration_endpoint": None, "token_endpoint_auth_methods_supported": [method]}
    with oauth_servers(metadata=metadata) as login, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        redirect = f"http://localhost:{free.getsockname()[1]}{path}"
        free.close()
        login.clients["mine"] = Client(
            "mine", "key-of-mine", {"redirect_uris": [redirect], "token_endpoint_auth_method": method}
        )
        wrong = Wanted(client_id="mine", client_secret="not-the-key", redirect_uri=redirect)
        assert "/token returned 401 (invalid_client" in await refusal(login, wrong)
        await log_in(login, replace(wrong, client_secret=command.ask_secret(asked=True)))
        again = await log_in(login, Wanted(redirect_uri=redirect))
        login.expire()
        assert await outcome(login, cwd=tmp_path) is None

        # Another authorization server must not get the secret.
        with oauth_servers() as other:
            login.resource = {"authorization_servers": [other.issuer]}
            with pytest.raises(LoginFailed, match="its authorization server is now"):
                await log_in(login, Wanted(redirect_uri=redirect))
            assert [request.method for request in other.authorization.seen] == ["GET"]

    assert (again.client_id, again.client_given) == ("mine", True)


# Stored logins -------------------------------------------------------------------------------------------------------


@KINDS
async def test_an_expired_token_is_refreshed_once_for_all_sessions(kind: str, marked: Marked, tmp_path: Path) -> None:
    learnt: list[str] = []
    with oauth_servers(kind, lifetime=1) as login:
        first = logins.tokens_of(await log_in(login, kind=kind))
        login.lifetime = 3600
        # The SSE server has one session at a time.
        names = ("one", "two", "three") if kind == "http" else ("one",)
        servers = [http(login.url, name=name, kind=kind) for name in names]
        async with launch(servers, cwd=tmp_path, options=Options(auth=StoredLogins(learn=learnt.append))) as fleet:
            assert fleet.failures == []
        asked = [request for request in login.authorization.seen if request.target == "/token"]

    stored = logins.find(login.url)
    assert stored is not None
    second = logins.tokens_of(stored)
    assert (len(asked), second.access_token in login.tokens, stored.has_expired) == (2, True, False)
    assert {first.access_token, first.refresh_token, second.access_token, second.refresh_token} <= {*learnt}


@KINDS
async def test_a_refresh_token_is_redacted_before_it_is_used(kind: str, marked: Marked, tmp_path: Path) -> None:
    with oauth_servers(kind) as login:
        tokens = logins.tokens_of(await log_in(login, kind=kind))
        async with launch([http(login.url, kind=kind)], cwd=tmp_path, options=STORED) as fleet:
            (server,) = fleet.servers
            assert server.redact([tokens.access_token, tokens.refresh_token]) == ["[redacted]"] * 2


@KINDS
async def test_a_rejected_token_is_refreshed_or_the_failure_says_to_log_in_again(
    kind: str, marked: Marked, tmp_path: Path
) -> None:
    with oauth_servers(kind) as login:
        await log_in(login, kind=kind)
        login.expire()
        assert await outcome(login, kind=kind, cwd=tmp_path) is None
        login.expire()
        login.refreshed.clear()
        failure = str(await outcome(login, kind=kind, cwd=tmp_path))

    assert f"could not be refreshed (POST {login.issuer}/token returned 400 invalid_grant)" in failure
    assert f'run "mcp-launch login {"--sse " if kind == "sse" else ""}{login.url}" again' in failure


@pytest.mark.parametrize("refreshes", [True, False])
async def test_a_running_session_uses_a_new_login(*, refreshes: bool, marked: Marked, tmp_path: Path) -> None:
    async def log_in_again() -> None:
        stored = await log_in(login)
        if not refreshes:
            logins.store(stored, replace(logins.tokens_of(stored), refresh_token=None))

    with oauth_servers() as login:
        await log_in_again()
        async with open_session(http(login.url), cwd=tmp_path, options=STORED) as session:
            for _ in range(2):
                login.expire()
                login.refreshed.clear()
                says = "could not be refreshed" if refreshes else "its stored login was rejected"
                with pytest.raises(MCPError, match=says):
                    await session.list_tools()
                await log_in_again()
                await session.list_tools()


async def test_the_reason_of_a_rejection_is_that_of_the_last_login(marked: Marked) -> None:
    request = httpx2.Request("POST", "https://a.example/mcp")
    rejected = httpx2.Response(401, request=request)

    with oauth_servers() as login:
        auth = StoredAuth(await log_in(login), learn=len)
        async with aclosing(auth.async_auth_flow(request)) as one, aclosing(auth.async_auth_flow(request)) as other:
            await anext(one)
            await anext(other)
            refreshing = await one.asend(rejected)
            await one.asend(httpx2.Response(400, request=refreshing))
            await other.asend(rejected)
        reasons = [auth.rejection]
        again = await log_in(login)
        for _ in range(2):
            async with aclosing(auth.async_auth_flow(request)) as flow:
                await anext(flow)
                await flow.asend(rejected)
                with pytest.raises(StopAsyncIteration):
                    await flow.asend(rejected)
            reasons.append(auth.rejection)
            logins.forget(again)

    assert reasons == [
        f"its stored login could not be refreshed (POST {login.issuer}/token returned 400)",
        "its stored login was rejected",
        "its stored login was deleted",
    ]


@pytest.mark.parametrize(("status", "says"), [(500, "500, which may be temporary"), (200, "200 with text/html")])
async def test_a_token_endpoint_that_sends_a_page_is_explained(
    status: int, says: str, marked: Marked, tmp_path: Path
) -> None:
    page = reply(status, b"<html>", content_type="text/html")
    with oauth_servers() as login, raw_server(lambda _: [page]) as other:
        stored = await log_in(login)
        logins.store(replace(stored, token_endpoint=f"{other.origin}/token"), logins.tokens_of(stored))
        login.expire()

        failure = await outcome(login, cwd=tmp_path)

    assert f"could not be refreshed (POST {other.origin}/token returned {says})" in str(failure)


async def test_a_login_whose_token_endpoint_sends_a_page_is_explained(marked: Marked) -> None:
    page = reply(200, b"<html>", content_type="text/html")
    with (
        raw_server(lambda _: [page]) as other,
        oauth_servers(metadata={"token_endpoint": f"{other.origin}/token"}) as login,
    ):
        message = await refusal(login)

    assert message.endswith(f"did not issue a token: POST {other.origin}/token returned 200 with text/html")


@UNFINISHED
@KINDS
async def test_a_cancelled_call_does_not_cost_the_login_that_it_refreshes(
    kind: str, marked: Marked, tmp_path: Path
) -> None:
    with oauth_servers(kind) as login:
        await log_in(login, kind=kind)
        async with open_session(http(login.url, kind=kind), cwd=tmp_path, options=STORED) as session:
            # So that no other request refreshes it.
            await session.list_tools()
            login.expire()
            login.answers.clear()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(session.call_tool, "leak")
                while not login.tokens:
                    await anyio.sleep(0.01)
                tasks.cancel_scope.cancel()
            await anyio.wait_all_tasks_blocked()
            login.answers.set()
            await session.list_tools()

    stored = logins.find(login.url)
    assert stored is not None
    assert logins.tokens_of(stored).refresh_token in login.refreshed


@UNFINISHED
@KINDS
async def test_a_closed_session_does_not_cost_the_login_that_it_refreshes(
    kind: str, marked: Marked, tmp_path: Path
) -> None:
    with oauth_servers(kind) as login:
        await log_in(login, kind=kind)
        login.expire()
        login.answers.clear()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(outcome, login, kind=kind, cwd=tmp_path))
            while not login.tokens:
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
            login.answers.set()
        assert await outcome(login, kind=kind, cwd=tmp_path) is None


@KINDS
async def test_a_refresh_without_a_response_is_a_failure(
    kind: str, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_launch._transports.network._PATIENCE", 0.3)
    with oauth_servers(kind) as login:
        await log_in(login, kind=kind)
        login.expire()
        login.answers.clear()
        failure = str(await outcome(login, kind=kind, cwd=tmp_path))
        login.answers.set()

    assert failure.startswith("unauthorized: the login for ")
    assert f"POST {login.issuer}/token did not respond within 0.3 s" in failure


@pytest.mark.anyio
async def test_a_refresh_is_sent_as_the_requests_to_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with raw_server(lambda request: [reply(200, b"{}")]) as raw:
        for origin, options in (
            (raw.origin, Options(auth=httpx2.BasicAuth("user", "password"))),
            ("http://mcp.example", Options(proxy=raw.origin)),
        ):
            spec = HttpServer(name="x", url=f"{origin}/mcp", headers=(("X-Gateway", "key"),))
            await _refresh(spec, network(spec, options), httpx2.Request("POST", f"{origin}/token"))

    assert [each.target for each in raw.seen] == ["/token", "http://mcp.example/token"]
    assert {each.headers["x-gateway"] for each in raw.seen} == {"key"}


async def test_an_entry_with_a_header_keeps_it(marked: Marked, tmp_path: Path) -> None:
    with oauth_servers() as login:
        await log_in(login)
        own = http(login.url, headers={"Authorization": "Bearer of-the-entry"})
        with pytest.raises(LaunchFailure, match="is its Authorization header still valid"):
            async with open_session(own, cwd=tmp_path, options=STORED):
                pass


@pytest.mark.parametrize("url", ["{0}/", "{0}?key=1", "http://localhost:{1}/mcp", "http://127.0.0.1:{1}/other"])
def test_a_login_belongs_to_its_origin_and_path(url: str) -> None:
    mine = "http://127.0.0.1:81/mcp"

    assert (logins.key_of(url.format(mine, 81)) == logins.key_of(mine)) is url.startswith("{0}")
    assert logins.key_of("https://Example.com:443/mcp") == logins.key_of("https://example.com/mcp")


async def test_a_401_without_a_hint_is_looked_up_in_the_metadata(marked: Marked, tmp_path: Path) -> None:
    with oauth_servers(hides_metadata=True) as login:
        assert "it requires an OAuth login" in str(await outcome(login, Options(), cwd=tmp_path))
    with raw_server(lambda _: [reply(401)]) as raw:
        failure = await outcome(Login(url=f"{raw.origin}/mcp"), Options(), cwd=tmp_path)
    assert "does it require an Authorization header?" in str(failure)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("oauth-protected-resource/mcp", "authorization_servers"),
        ("oauth-protected-resource", "authorization_servers"),
        ("oauth-authorization-server", "authorization_endpoint"),
    ],
)
async def test_metadata_are_found_at_each_place_where_clients_look(
    place: str, name: str, marked: Marked, tmp_path: Path
) -> None:
    def answer(request: Request) -> list[bytes]:
        is_there = request.target == f"/.well-known/{place}"
        return [reply(200, json.dumps({name: []}).encode()) if is_there else reply(401)]

    with raw_server(answer) as raw:
        failure = await outcome(Login(url=f"{raw.origin}/mcp/"), Options(), cwd=tmp_path)
    assert "it requires an OAuth login" in str(failure)


class Dictionary(KeyringBackend):
    """A keyring in memory."""

    priority = 5  # pyright: ignore[reportAssignmentType]
    longest = 5000

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.found.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if len(password) > self.longest:
            raise OSError("the stub received bad data")
        self.found[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.found[service, username]


async def test_a_keyring_has_the_tokens_if_there_is_one(marked: Marked, folder: Path, tmp_path: Path) -> None:
    keyring.set_keyring(backend := Dictionary())
    with oauth_servers() as login:
        stored = await log_in(login)
        assert await outcome(login, cwd=tmp_path) is None
        assert (stored.place, TOKEN in str(backend.found)) == ("keyring", True)
        assert TOKEN not in "".join(file.read_text() for file in folder.iterdir())

        keyring.set_keyring(NoKeyring())
        assert "cannot be read from the keyring of the system" in str(await outcome(login, cwd=tmp_path))

        # As on Windows, where an entry has at most 2,560 bytes.
        keyring.set_keyring(backend)
        backend.longest = 10
        assert (await log_in(login)).place == "file"
        assert await outcome(login, cwd=tmp_path) is None

    logins.forget(stored)
    assert (backend.found, logins.stored()) == ({}, [])


class Locked(Dictionary):
    """A keyring that waits until its user has unlocked it."""

    def __init__(self) -> None:
        super().__init__()
        self.unlocked = threading.Event()
        self.read: list[str] = []

    def get_password(self, service: str, username: str) -> str | None:
        self.unlocked.wait(10)
        self.read.append(username)
        return super().get_password(service, username)


async def test_a_launch_does_not_wait_for_a_locked_keyring(marked: Marked, tmp_path: Path) -> None:
    keyring.set_keyring(backend := Locked())
    with oauth_servers() as login:
        await log_in(login)
        async with launch([http(login.url)], cwd=tmp_path, options=STORED, timeout=1) as fleet:
            messages, read = [failure.message for failure in fleet.failures], [*backend.read]
        backend.unlocked.set()

    assert (len(messages), read) == (1, [])
    assert messages[0].startswith("the login was not finished within ")


def test_a_file_that_is_not_a_login_is_named(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / f"{logins.key_of(OTHER)}.json").write_text("{}")

    with pytest.raises(UnusableInput, match="is not a stored login; delete it and log in again"):
        logins.find(OTHER)


# The commands --------------------------------------------------------------------------------------------------------


def test_the_commands_log_in_and_use_show_and_delete_the_login(tmp_path: Path) -> None:
    with oauth_servers() as login:
        file = tmp_path / "servers.json"
        file.write_text(json.dumps({"mcpServers": {"web": {"type": "http", "url": login.url}}}))
        done = run("login", str(file), "web", apart=True)
        assert (done.returncode, done.stdout[: len(login.url) + 11]) == (0, f"logged in: {login.url}")

        shown = json.loads(run("whoami", "--json", login.url, apart=True).stdout)["logins"]
        assert [(each["server"], each["scope"], each["place"]) for each in shown] == [(login.url, "read", "file")]
        assert run("whoami").stdout == done.stdout.removeprefix("logged in: ")
        for used in ("check", "tools", "shell"):
            ran = run(used, str(file))
            assert (ran.returncode, TOKEN in ran.stdout) == (0, False)
        assert "you sent Bearer [redacted]" in run("call", login.url, "leak").stdout

        assert run("logout", login.url, apart=True).stdout == f"logged out: {login.url}\n"
        assert [run(each, login.url).returncode for each in ("whoami", "logout", "check")] == [1, 1, 1]


def test_login_of_other_commands_logs_in_only_where_it_is_required() -> None:
    with oauth_servers() as login, raw_server(lambda request: [works(request)]) as free:
        # Two entries with the same URL share a login.
        assert run("check", "--login", login.url, f"{login.url}#again", f"{free.origin}/mcp").returncode == 0
        again = run("call", "--login", login.url, "missing")

    assert (again.returncode, "Log in" in again.stderr) == (2, False)
    assert len([request for request in login.authorization.seen if "/authorize" in request.target]) == 1


def test_all_servers_are_asked_at_once_whether_they_require_a_login() -> None:
    asked = threading.Event()
    in_time: list[bool] = []

    def after_the_other(request: Request) -> list[bytes]:
        in_time.append(asked.wait(10))
        return [works(request)]

    def at_once(request: Request) -> list[bytes]:
        asked.set()
        return [works(request)]

    with raw_server(after_the_other) as first, raw_server(at_once) as second:
        done = run("check", "--login", first.origin, second.origin)

    assert (done.returncode, done.stderr, all(in_time)) == (0, "", True)


def test_login_of_other_commands_leaves_a_server_that_does_not_respond_to_them() -> None:
    began = time.monotonic()
    with raw_server(lambda request: [b"" * request.released.wait()]) as silent:
        done = run("check", "--login", "--timeout", "0.5", silent.origin, OTHER)

    assert (done.returncode, done.stderr) == (1, "")
    assert time.monotonic() - began < authorization._PATIENCE


@pytest.mark.parametrize("only_code", [False, True])
def test_without_a_browser_the_redirect_or_its_code_is_pasted(only_code: bool) -> None:
    with oauth_servers() as login, ExitStack() as stack:
        words = [sys.executable, "-m", "mcp_launch", "login", "--headless", login.url]
        start = partial(subprocess.Popen[str], stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True)
        process = stack.enter_context(start(words, env={**os.environ, "PYTHONPATH": str(SOURCE)}))
        assert process.stderr is not None
        (url,) = [line for line in (process.stderr.readline(), process.stderr.readline()) if line.startswith("http")]
        location = visit(url.strip(), follow=False)
        assert not is_listening(location)
        pasted = parse_qs(urlsplit(location).query)["code"][0] if only_code else location
        out, err = process.communicate(f"{pasted}\n", timeout=30)

    assert (process.returncode, out.startswith("logged in: ")) == (0, True)
    assert TOKEN not in out + err


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["login", "-"], "is started by a command; only servers with a URL have logins"),
        (["login", "-H", "Authorization: Bearer x", OTHER], "has an Authorization header or a password"),
        (["login", "--redirect-uri", "https://example.com/", OTHER], "--redirect-uri must be on http://127.0.0.1"),
        (["login", "--redirect-uri", "http://localhost:80800/cb", OTHER], "--redirect-uri must be a URL such as"),
        (["login", "--redirect-uri", "http://localhost:abc", OTHER], "--redirect-uri must be a URL such as"),
        (["login", "--redirect-uri", "foo", "--headless", OTHER], "--redirect-uri must be a URL such as"),
        (["logout"], "pass a URL, a FILE with a SERVER, or --all"),
    ],
)
def test_a_login_that_cannot_work_is_refused(args: list[str], says: str) -> None:
    done = run(*args, stdin='{"mcpServers": {"local": {"command": "/bin/true"}}}')

    assert (done.returncode, says in done.stderr) == (2, True)


def test_a_login_at_a_port_that_speaks_tls_has_the_diagnosis_of_check(tmp_path: Path) -> None:
    with small_web(tls=certificates(tmp_path, password=TOKEN).serving()) as origin:
        done = run("login", f"{origin}/mcp")

    assert done.returncode == 1
    # The server in this process may write an error after it.
    assert f"POST {origin}/mcp: {origin.removeprefix('http://')} speaks TLS; use https://\n" in done.stderr


@pytest.mark.full
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_tests_of_pytest_use_the_login(marked: Marked, tmp_path: Path) -> None:
    test = "def test_it(mcp_server): assert len(mcp_server('web').list_tools().tools) == 1"
    (tmp_path / "test_it.py").write_text(test)
    with oauth_servers() as login:
        (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"web": {"type": "http", "url": login.url}}}))
        await log_in(login)
        args = ["-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
        done = await anyio.to_thread.run_sync(partial(run_python, *args, "--mcp-config", str(tmp_path / "mcp.json")))

    assert re.search(r"2 passed", done.stdout), done.stdout
