"""One login by OAuth, with the flow of the SDK: in the browser, or with a redirect that the user pastes."""

from __future__ import annotations

import math
import re
import socket
import threading
import webbrowser
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Literal
from urllib.parse import SplitResult, parse_qsl, urlsplit

import anyio
import anyio.to_thread
import httpx2
from anyio.abc import SocketAttribute, SocketStream
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.auth.utils import (
    extract_field_from_www_auth,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
    issuers_match,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthMetadata, OAuthToken
from mcp.shared.auth import ProtectedResourceMetadata as ResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed
from pydantic import AnyUrl, TypeAdapter, UrlConstraints, ValidationError

from acp_bindings._json import parsed_members
from acp_bindings._logs import kept_out_of_logs
from acp_bindings._redact import shown_url
from acp_bindings._standard_streams import printable
from mcp_launch import logins
from mcp_launch._command.explore.terminal import piped_lines
from mcp_launch._command.show.text import remark
from mcp_launch._diagnosis.protocol import invalid_field
from mcp_launch._diagnosis.responses import UNMAPPED, trouble
from mcp_launch._http_types import EVENT_STREAM, FORM, JSON, media_type
from mcp_launch._spec import HttpServer, SseServer
from mcp_launch._transports.http import INITIALIZE, WebClient
from mcp_launch._transports.memory import unless_tls
from mcp_launch._transports.network import AuthFailed, WatchedAuth, network
from mcp_launch._transports.oauth import expiry
from mcp_launch._transports.web import Httpx2Body, bound, follows
from mcp_launch.failures import UnusableInput
from mcp_launch.logins import Login, Tokens
from mcp_launch.options import Options

_PATIENCE = 30.0
"""Seconds for one request."""
_PARTING = 1.0
"""Seconds for the request that ends a session."""
_REDIRECTS = 5
_METHODS: tuple[Literal["client_secret_basic"], Literal["client_secret_post"]] = (
    "client_secret_basic",
    "client_secret_post",
)
_EXACT_URL = TypeAdapter(Annotated[AnyUrl, UrlConstraints(preserve_empty_path=True)])
"""Reads a URL without adding a slash, because authorization servers compare redirect URIs as strings."""
_PAGE = (
    b'<!doctype html><meta charset="utf-8"><title>mcp-launch</title>'
    b"<p>You can close this page. The terminal shows whether the login succeeded.</p>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The way the user logs in."""

    headless: bool = False
    """True to show the URL and to read the redirect from standard input."""
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    redirect_uri: str = "http://127.0.0.1:0/callback"
    """A URL of this machine; port 0 is any free port."""
    scope: str | None = None
    timeout: float = 300.0
    """Seconds for the user."""


class LoginFailed(Exception):  # noqa: N818 - says what happened
    """The login failed; the message says why, without secrets."""


async def log_in(spec: HttpServer, wanted: Wanted) -> Login:
    """Log in, store the tokens, and return what was stored.

    Raises:
        LoginFailed: the user or the server refused, or the server's metadata are wrong.
        UnusableInput: the redirect URI cannot be used.
    """
    hide = spec.redactor
    try:
        with kept_out_of_logs(hide):
            async with client_for(spec) as client, (_pasting if wanted.headless else _listening)(wanted) as receiver:
                return await _Flow(spec, wanted, client, receiver).run()
    except LoginFailed as error:
        raise LoginFailed(hide(str(error))) from None


class _Client(WebClient):
    """The client of a session, for responses that are not MCP."""

    async def fetch(self, request: httpx2.Request, *, auth: httpx2.Auth | None = None) -> httpx2.Response:
        """Send a request as httpx2 does, and read the response unless it is an event stream.

        Raises:
            LoginFailed: there was no response.
        """
        where = shown_url(str(request.url))
        try:
            with anyio.fail_after(_PATIENCE):
                response = await httpx2.AsyncClient.send(self, request, auth=auth, stream=True)
                if media_type(response.headers) == EVENT_STREAM:
                    await response.aclose()
                else:
                    bound(Httpx2Body, response)
                    await response.aread()
                return response
        except TimeoutError:
            raise LoginFailed(f"{where} did not respond within {_PATIENCE:g} s") from None
        except (httpx2.RequestError, *UNMAPPED) as error:
            via = self._network.via(self, request.url)
            found = await unless_tls(trouble(error, request.url, connect=_PATIENCE, via=via), request.url, via=via)
            raise LoginFailed(f"{request.method} {where}: {found.message}") from None


def client_for(spec: HttpServer) -> _Client:
    return _Client(spec, network(spec, Options()), connect=_PATIENCE)


async def first_response(
    client: _Client, spec: HttpServer, *, token: str | None = None, auth: httpx2.Auth | None = None
) -> httpx2.Response:
    """Return the response to the first request of a session."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    if isinstance(spec, SseServer):
        request = client.build_request("GET", spec.url, headers={**headers, "accept": EVENT_STREAM})
    else:
        headers |= {"content-type": JSON, "accept": f"{JSON}, {EVENT_STREAM}"}
        request = client.build_request("POST", spec.url, headers=headers, json=INITIALIZE)
    response = await client.fetch(request, auth=auth)
    for _ in range(_REDIRECTS):
        if response.next_request is None or not follows(request, response.next_request):
            break
        request = response.next_request
        response = await client.fetch(request, auth=auth)
    if response.is_success and (session := response.headers.get("mcp-session-id")):
        # Otherwise the server would keep the session until it expires. The response says nothing about the login.
        end = client.build_request("DELETE", request.url, headers={**headers, "mcp-session-id": session})
        with anyio.move_on_after(_PARTING), suppress(LoginFailed):
            await client.fetch(end, auth=auth)
    return response


class _Flow(httpx2.Auth):
    """One login: the SDK's flow, with errors that say what is wrong with the metadata of the server, and where.

    It is also the storage of the SDK's flow, because nothing is stored before the server has accepted the token.
    """

    def __init__(self, spec: HttpServer, wanted: Wanted, client: _Client, receiver: _Receiver) -> None:
        self._spec = spec
        self._wanted = wanted
        self._client = client
        self._receiver = receiver
        self._server = shown_url(spec.url)
        self._given = self._client_given()
        self._tried: list[str] = []
        """The places without valid metadata."""
        self._issuer: str | None = None
        """The authorization server that the resource metadata name."""
        self._authorization_url = ""
        """The URL at which the user logs in."""
        self._metadata = OAuthClientMetadata(
            redirect_uris=[_EXACT_URL.validate_python(receiver.redirect_uri)],
            client_name="mcp-launch",
            token_endpoint_auth_method="none",  # noqa: S106 - the name of a method
        )
        self._provider = OAuthClientProvider(self._server, self._metadata, self, self._redirect, self._callback)

    async def run(self) -> Login:
        """Log in and store the tokens."""
        refused = await first_response(self._client, self._spec)
        outgoing = request = httpx2.Request("POST", self._server)
        response = httpx2.Response(HTTPStatus.UNAUTHORIZED, headers=self._challenge(refused), request=request)
        flow = WatchedAuth(self, hide=self._spec.redactor).async_auth_flow(request)
        async with aclosing(flow):
            try:
                # The SDK's flow begins and ends with the request itself, which is not sent.
                await anext(flow)
                while (outgoing := await flow.asend(response)) is not request:
                    response = await self._client.fetch(outgoing)
            except LoginFailed as error:
                if str(outgoing.url) != extract_resource_metadata_from_www_auth(refused):
                    raise
                raise LoginFailed(f"{error}; {_NAMED}") from None
            except AuthFailed as error:
                cause = error.__cause__ or error
                if isinstance(wrong := cause.__context__, ValidationError):
                    # The text of the cause has all that pydantic says.
                    raise LoginFailed(f"{str(cause).partition(':')[0]}: {_fault(wrong)}") from None
                raise LoginFailed(str(cause)) from None
        return await self._stored()

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Pass on the requests of the SDK's flow, and check the responses first."""
        async with aclosing(self._provider.async_auth_flow(request)) as flow:
            outgoing = await anext(flow)
            while True:
                if outgoing.method == "POST" and outgoing is not request:
                    self._need_authorization_server()
                response = yield outgoing
                if outgoing is not request:
                    self._check(response)
                try:
                    outgoing = await flow.asend(response)
                except StopAsyncIteration:
                    return

    # The storage of the SDK's flow -----------------------------------------------------------------------------------

    async def get_tokens(self) -> OAuthToken | None:
        """Return None: earlier tokens do not matter."""
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Do nothing yet."""

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the client that the user has registered, if there is one."""
        return self._given

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Do nothing yet."""

    # The user --------------------------------------------------------------------------------------------------------

    async def _redirect(self, url: str) -> None:
        self._need_authorization_server()
        self._authorization_url = url

    async def _callback(self) -> AuthorizationCodeResult:
        state = dict(parse_qsl(urlsplit(self._authorization_url).query))["state"]
        given = await self._receiver.receive(self._authorization_url)
        if not re.search(r"(?:code|error|state)=", given):
            # The user has pasted only the code, so there is no state to compare.
            return AuthorizationCodeResult(code=given, state=state, iss=self._issuer)
        found = dict(parse_qsl(given))
        if found.get("state") != state:
            wrong = "the state of another login; try again" if "state" in found else "no state, which OAuth requires"
            raise LoginFailed(f"the redirect has {wrong}")
        if "error" in found:
            reason = ": ".join(found[each] for each in ("error", "error_description") if each in found)
            raise LoginFailed(f"the login was refused: {reason}")
        if not found.get("code"):
            raise LoginFailed("the redirect contains no code")
        return AuthorizationCodeResult(code=found["code"], state=state, iss=found.get("iss"))

    # The server ------------------------------------------------------------------------------------------------------

    def _client_given(self) -> OAuthClientInformationFull | None:
        """Return the client of the options, or else the one that the user has given for an earlier login."""
        client_id, secret, method = self._wanted.client_id, self._wanted.client_secret, None
        earlier = logins.find(self._spec.url)
        if client_id is None and earlier and earlier.client_given:
            client_id, method = earlier.client_id, earlier.auth_method
            secret = secret or logins.tokens_of(earlier).client_secret
        if client_id is None:
            return None
        if secret:
            self._spec.redactor.add([secret])
        return OAuthClientInformationFull(
            client_id=client_id,
            client_secret=secret,
            token_endpoint_auth_method=(method or _METHODS[0]) if secret else "none",
            issuer=earlier.issuer if earlier and self._wanted.client_id is None else None,
        )

    def _challenge(self, refused: httpx2.Response) -> dict[str, str]:
        """Return the header of a 401 with the place of the metadata and the scopes."""
        known = {
            "resource_metadata": extract_resource_metadata_from_www_auth(refused),
            "scope": self._wanted.scope or extract_scope_from_www_auth(refused),
        }
        return {
            "www-authenticate": "Bearer " + ", ".join(f'{name}="{value}"' for name, value in known.items() if value)
        }

    def _need_authorization_server(self) -> None:
        if self._provider.context.oauth_metadata is None:
            tried = "; ".join(dict.fromkeys(self._tried))
            raise LoginFailed(f"no authorization server was found, so a login is not possible: {tried}")

    def _check(self, response: httpx2.Response) -> None:
        request = response.request
        said = f"{request.method} {shown_url(str(request.url))} returned {response.status_code}{_reason(response)}"
        if request.method == "GET":
            self._check_metadata(response, said)
        elif media_type(request.headers) != FORM:
            if response.status_code not in (HTTPStatus.OK, HTTPStatus.CREATED):
                raise LoginFailed(f"its authorization server does not register this client: {said}; {_REGISTER}")
        elif response.status_code != HTTPStatus.OK or not isinstance(
            parsed_members(response.content).get("access_token"), str
        ):
            raise LoginFailed(f"its authorization server did not issue a token: {said}")

    def _check_metadata(self, response: httpx2.Response, said: str) -> None:
        place = shown_url(str(response.request.url))
        if response.status_code != HTTPStatus.OK:
            self._tried.append(said)
            return
        kind = OAuthMetadata if _OF_AUTHORIZATION_SERVER.search(place) else ResourceMetadata
        try:
            found = kind.model_validate_json(response.content)
        except ValidationError as error:
            self._tried.append(f"{place} is not valid metadata ({_fault(error)})")
            return
        if isinstance(found, OAuthMetadata):
            self._check_authorization_server(found, place)
        else:
            self._check_resource(found, place)

    def _check_resource(self, found: ResourceMetadata, place: str) -> None:
        if not check_resource_allowed(requested_resource=self._server, configured_resource=str(found.resource)):
            raise LoginFailed(
                f'the metadata at {place} are for the resource "{found.resource}", not for this server; '
                f'"resource" must be {self._server} or the start of it'
            )
        self._issuer = str(found.authorization_servers[0])

    def _check_authorization_server(self, found: OAuthMetadata, place: str) -> None:
        expected, issuer = self._issuer or _origin(self._server), str(found.issuer)
        if issuer != expected and (self._issuer or not issuers_match(issuer, expected)):
            raise LoginFailed(f'the metadata at {place} have the issuer "{issuer}" instead of "{expected}"')
        if "S256" not in (methods := found.code_challenge_methods_supported or []):
            listed = f"only lists {', '.join(methods)}" if methods else "is missing"
            raise LoginFailed(
                "its authorization server does not support PKCE with S256, which MCP requires: "
                f'"code_challenge_methods_supported" {listed} at {place}'
            )
        if self._given and self._given.issuer not in (None, issuer):
            # Otherwise another server would get the secret.
            raise LoginFailed(
                f"its authorization server is now {issuer}; the client {self._given.client_id} is known to "
                f"{self._given.issuer}; {_REGISTER}"
            )
        usable = found.token_endpoint_auth_methods_supported
        if self._given is None and found.registration_endpoint is None:
            raise LoginFailed(
                f'its authorization server does not register clients: "registration_endpoint" is missing at {place}; '
                f"{_REGISTER}"
            )
        if usable and self._given is None and "none" not in usable:
            self._metadata.token_endpoint_auth_method = next((each for each in _METHODS if each in usable), None)
        elif usable and self._given and self._given.client_secret and _METHODS[0] not in usable:
            self._given.token_endpoint_auth_method = _METHODS[1]

    async def _stored(self) -> Login:
        """Store the tokens, if the server accepts them."""
        context = self._provider.context
        tokens, client, metadata = context.current_tokens, context.client_info, context.oauth_metadata
        if tokens is None or client is None or metadata is None:
            raise LoginFailed("the login ended without a token")
        response = await first_response(self._client, self._spec, token=tokens.access_token)
        if response.status_code == HTTPStatus.UNAUTHORIZED:
            raise LoginFailed(
                f"the server rejects the token that {metadata.issuer} has issued: {response.request.method} "
                f"{self._server} returned 401{_reason(response)}; is the token for another resource?"
            )
        login = Login(
            key=logins.key_of(self._spec.url),
            server=self._spec.target,
            issuer=str(metadata.issuer),
            client_id=client.client_id,
            client_given=self._given is not None,
            auth_method=client.token_endpoint_auth_method,
            redirect_uri=self._receiver.redirect_uri,
            token_endpoint=str(metadata.token_endpoint),
            resource=context.get_resource_url() if context.should_include_resource_param() else None,
            scope=tokens.scope,
            expires_at=expiry(tokens.expires_in),
            refreshes=tokens.refresh_token is not None,
        )
        secrets = Tokens(
            access_token=tokens.access_token, refresh_token=tokens.refresh_token, client_secret=client.client_secret
        )
        try:
            return await anyio.to_thread.run_sync(logins.store, login, secrets)
        except OSError as error:
            raise LoginFailed(f"the login cannot be stored: {error.filename}: {error.strerror}") from None


_OF_AUTHORIZATION_SERVER = re.compile(r"/\.well-known/(?:oauth-authorization-server|openid-configuration)")
_NAMED = "the server itself named this URL (WWW-Authenticate); does it know its public address behind a proxy?"
_REGISTER = "register a client there and pass --client-id"


def _fault(error: ValidationError) -> str:
    """Return the first thing that is wrong, and where."""
    return ": ".join(filter(None, invalid_field(error)))


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _reason(response: httpx2.Response) -> str:
    """Return the end of a sentence with the reason that a response gives: its target, its type, or an OAuth error."""
    if response.next_request:
        return f" with a redirect to {shown_url(str(response.next_request.url))}, which is not followed"
    members = parsed_members(response.content)
    if response.is_success and not members:
        return f" with {media_type(response.headers) or 'no content type'}"
    named = ("error", "error_description")
    said = [members.get(each) or extract_field_from_www_auth(response, each) for each in named]
    reason = ": ".join(each for each in said if isinstance(each, str))
    return f" ({reason})" if reason else ""


# Receiving the redirect ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Receiver:
    """Sends the user to a URL, and receives the redirect."""

    redirect_uri: str
    receive: Callable[[str], Awaitable[str]]
    """Takes the URL, and returns the query of the redirect, or only its code."""


def _redirect_of(wanted: Wanted) -> SplitResult:
    try:
        _EXACT_URL.validate_python(wanted.redirect_uri)
    except ValidationError:
        raise UnusableInput("--redirect-uri must be a URL such as http://127.0.0.1:8765/callback") from None
    return urlsplit(wanted.redirect_uri)


@asynccontextmanager
async def _listening(wanted: Wanted) -> AsyncGenerator[_Receiver]:
    """Listen on 127.0.0.1 for the redirect of a browser, until the block ends."""
    from mcp_launch._local.listener import Receive, Scope, Send, serve_http  # noqa: PLC0415 - slow to import

    parts = _redirect_of(wanted)
    if parts.scheme != "http" or parts.hostname not in ("127.0.0.1", "localhost"):
        raise UnusableInput("--redirect-uri must be on http://127.0.0.1 or http://localhost, except with --headless")
    try:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=parts.port or 0)
    except OSError as error:
        raise UnusableInput(f"--redirect-uri: port {parts.port} cannot be used: {error.strerror or error}") from None
    send, queries = anyio.create_memory_object_stream[str](math.inf)

    async def respond(scope: Scope, _: Receive, reply: Send) -> None:
        is_redirect = scope["path"] == (parts.path or "/")
        headers = [(b"content-type", b"text/html"), (b"cache-control", b"no-store"), (b"connection", b"close")]
        await reply({"type": "http.response.start", "status": 200 if is_redirect else 404, "headers": headers})
        await reply({"type": "http.response.body", "body": _PAGE if is_redirect else b""})
        if is_redirect:
            send.send_nowait(scope["query_string"].decode("latin-1"))

    async def serve(stream: SocketStream) -> None:
        async with stream:
            await serve_http(stream, respond)

    async def receive(url: str) -> str:
        query: str | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, serve)
            remark("Log in with the browser. If it does not open, visit:")
            remark(printable(url))
            # Not waited for: some programs stay until the user closes them.
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
            with anyio.move_on_after(wanted.timeout):
                query = await queries.receive()
            tasks.cancel_scope.cancel()
        if query is None:
            raise LoginFailed(
                f"the browser did not come back within {wanted.timeout:g} s; pass --headless if it runs elsewhere"
            )
        return query

    async with listener, send, queries:
        port = listener.extra(SocketAttribute.local_port)  # noqa: S610 - nothing of Django
        yield _Receiver(redirect_uri=parts._replace(netloc=f"{parts.hostname}:{port}").geturl(), receive=receive)


@asynccontextmanager
async def _pasting(wanted: Wanted) -> AsyncGenerator[_Receiver]:
    """Read the redirect from standard input."""

    async def receive(url: str) -> str:
        remark("Log in at this URL with any browser:")
        remark(printable(url))
        remark("The browser then shows an error for a page on this machine. Paste the URL of that page, or its code:")
        async with aclosing(piped_lines()) as lines:
            with anyio.move_on_after(wanted.timeout):
                async for line in lines:
                    if text := line.strip():
                        return urlsplit(text).query or text.removeprefix("?")
                raise LoginFailed("standard input ended before the URL of the redirect")
        raise LoginFailed(f"no redirect was pasted within {wanted.timeout:g} s")

    parts = _redirect_of(wanted)
    with socket.socket() as reserved:
        # Reserved without listening, so that no other program on this machine receives the code.
        if parts.port == 0:
            reserved.bind(("127.0.0.1", 0))
            parts = parts._replace(netloc=f"{parts.hostname}:{reserved.getsockname()[1]}")
        yield _Receiver(redirect_uri=parts.geturl(), receive=receive)
