"""An authorization server made of Authlib, and an MCP server that requires its tokens, on two ports of this machine."""

# Authlib has no types.
# pyright: basic, reportAttributeAccessIssue=false, reportOptionalMemberAccess=false, reportReturnType=false

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx2
from authlib.common.security import generate_token
from authlib.oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, JsonRequest, OAuth2Error, OAuth2Request
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7591 import ClientRegistrationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge

from tests.mcp_launch.servers.raw import Raw, Request, Sse, raw_server, reply, works

TOKEN = "sk-hunter2-token-"


@dataclass(kw_only=True)
class Login:
    """The two servers, and how they misbehave."""

    url: str = ""
    """The URL of the MCP server."""
    issuer: str = ""
    clients: dict[str, Client] = field(default_factory=dict)
    codes: dict[str, Issued] = field(default_factory=dict)
    tokens: dict[str, Issued] = field(default_factory=dict)
    """All access tokens that are valid."""
    refreshed: dict[str, Issued] = field(default_factory=dict)
    """All refresh tokens that are valid, each for one use."""
    resource: dict[str, Any] = field(default_factory=dict)
    """Changes to the metadata of the MCP server."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """Changes to the metadata of the authorization server; None removes a field."""
    redirects: dict[str, str] = field(default_factory=dict)
    """Paths of the authorization server that redirect, with their targets."""
    registers: bool = True
    denies: bool = False
    audience: str | None = None
    """The resource of all tokens, instead of the requested one."""
    lifetime: int = 3600
    answers: threading.Event = field(default_factory=threading.Event)
    """Set unless issued tokens are held back."""
    hides_metadata: bool = False
    """True if a 401 does not say where the metadata are."""
    callback: dict[str, str] = field(default_factory=dict)
    """Changes to the parameters of the redirect."""
    mcp: Raw = field(default=None)  # type: ignore[assignment]
    authorization: Raw = field(default=None)  # type: ignore[assignment]

    def expire(self) -> None:
        """End the life of all access tokens."""
        self.tokens.clear()


class Client(ClientMixin):
    """A registered client."""

    def __init__(self, client_id: str, secret: str, metadata: dict[str, Any]) -> None:
        self.client_id, self.secret, self.metadata = client_id, secret, metadata

    def get_client_id(self) -> str:
        return self.client_id

    def get_allowed_scope(self, scope: str | None) -> str:
        return scope or ""

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri in self.metadata["redirect_uris"]

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == self.secret

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == self.metadata.get("token_endpoint_auth_method", "client_secret_basic")

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in ("authorization_code", "refresh_token")


@dataclass(kw_only=True)
class Issued:
    """A code or a token."""

    client_id: str
    scope: str
    resource: str | None
    redirect_uri: str = ""
    code: str = ""
    code_challenge: str | None = None
    code_challenge_method: str | None = None

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope

    def check_client(self, client: Client) -> bool:
        return client.client_id == self.client_id


class _OAuthRequest(OAuth2Request):
    def __init__(self, request: Request) -> None:
        headers = {name.title(): value for name, value in request.headers.items()}
        # Authlib refuses http.
        super().__init__(request.method, f"https://{request.headers['host']}{request.target}", headers=headers)
        self._query = dict(parse_qsl(urlsplit(request.target).query))
        self._form = dict(parse_qsl(request.body.decode()))
        self.payload = BasicOAuth2Payload({**self._query, **self._form})

    @property
    def args(self) -> dict[str, str]:
        return self._query

    @property
    def form(self) -> dict[str, str]:
        return self._form


class _Server(AuthorizationServer):
    def __init__(self, login: Login) -> None:
        super().__init__()
        self.login = login

        def token(**_: Any) -> str:
            return f"{TOKEN}{generate_token(42)}"

        self.register_token_generator("default", BearerTokenGenerator(token, token, lambda *_: login.lifetime))
        self.register_grant(_CodeGrant, [CodeChallenge(required=True)])
        self.register_grant(_RefreshGrant)
        self.register_endpoint(_Registration)

    def query_client(self, client_id: str) -> Client | None:
        return self.login.clients.get(client_id)

    def save_token(self, token: dict[str, Any], request: OAuth2Request) -> None:
        earlier = request.authorization_code or request.refresh_token
        resource = self.login.audience or earlier.resource
        issued = Issued(client_id=request.client.client_id, scope=token.get("scope", ""), resource=resource)
        self.login.tokens[token["access_token"]] = issued
        self.login.refreshed[token["refresh_token"]] = issued

    def create_oauth2_request(self, request: Request) -> OAuth2Request:
        return _OAuthRequest(request)

    def create_json_request(self, request: Request) -> JsonRequest:
        found = JsonRequest(request.method, request.target, request.headers)
        found.payload = BasicOAuth2Payload(json.loads(request.body))
        return found

    def handle_response(self, status: int, body: Any, headers: Any) -> bytes:
        named = {name.replace("-", "_"): value for name, value in headers if name.lower() != "content-type"}
        return reply(status, (body if isinstance(body, str) else json.dumps(body)).encode(), **named)

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Do nothing."""


class _CodeGrant(AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ("none", "client_secret_basic", "client_secret_post")
    server: _Server

    def save_authorization_code(self, code: str, request: OAuth2Request) -> None:
        data = request.payload.data
        self.server.login.codes[code] = Issued(
            client_id=data["client_id"],
            scope=data.get("scope", ""),
            resource=data.get("resource"),
            redirect_uri=data["redirect_uri"],
            code=code,
            code_challenge=data["code_challenge"],
            code_challenge_method=data["code_challenge_method"],
        )

    def query_authorization_code(self, code: str, client: Client) -> Issued | None:
        found = self.server.login.codes.get(code)
        return found if found and found.check_client(client) else None

    def delete_authorization_code(self, authorization_code: Issued) -> None:
        del self.server.login.codes[authorization_code.code]

    def authenticate_user(self, authorization_code: Issued) -> str:
        return "user"


class _RefreshGrant(RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ("none", "client_secret_basic", "client_secret_post")
    INCLUDE_NEW_REFRESH_TOKEN = True
    server: _Server

    def authenticate_refresh_token(self, refresh_token: str) -> Issued | None:
        return self.server.login.refreshed.pop(refresh_token, None)

    def authenticate_user(self, refresh_token: Issued) -> str:
        return "user"

    def revoke_old_credential(self, refresh_token: Issued) -> None:
        """Do nothing: it was removed when it was used."""


class _Registration(ClientRegistrationEndpoint):
    server: _Server

    def authenticate_token(self, request: JsonRequest) -> bool:
        return self.server.login.registers

    def get_server_metadata(self) -> dict[str, Any]:
        return {}

    def save_client(self, client_info: dict[str, Any], client_metadata: dict[str, Any], request: JsonRequest) -> Client:
        client = Client(client_info["client_id"], client_info["client_secret"], client_metadata)
        self.server.login.clients[client.client_id] = client
        return client


@contextmanager
def oauth_servers(kind: str = "http", **how: Any) -> Generator[Login]:
    """Run both servers until the block ends."""
    login = Login(**how)
    login.answers.set()
    server = _Server(login)

    def authorization(request: Request) -> list[bytes]:
        path = urlsplit(request.target).path
        if path in login.redirects:
            return [reply(307, Location=login.redirects[path])]
        match path:
            case "/.well-known/oauth-authorization-server":
                return [_metadata(login)]
            case "/authorize":
                return [_authorize(server, request)]
            case "/token":
                issued = server.create_token_response(request)
                login.answers.wait(10)
                return [issued]
            case "/register":
                return [server.create_endpoint_response("client_registration", request)]
            case _:
                return [reply(404)]

    def gate(request: Request) -> bytes | None:
        if request.target.startswith("/.well-known/oauth-protected-resource"):
            about = {"resource": login.url, "authorization_servers": [login.issuer], "scopes_supported": ["read"]}
            return reply(200, json.dumps({**about, **login.resource}).encode())
        if request.target.startswith("/.well-known"):
            return reply(404)
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        issued = login.tokens.get(token)
        if issued and issued.resource == login.url:
            return None
        where = f'resource_metadata="{login.mcp.origin}/.well-known/oauth-protected-resource"'
        challenge = "Bearer" if login.hides_metadata else f'Bearer error="invalid_token", {where}'
        # What a careless server repeats.
        return reply(401, f"no such token: {token}".encode(), content_type="text/plain", WWW_Authenticate=challenge)

    def mcp(request: Request) -> list[bytes]:
        if (refused := gate(request)) is not None:
            return [refused]
        token = request.headers["authorization"]
        leaks = {
            "tools/list": {"tools": [{"name": "leak", "description": token, "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": f"you sent {token}"}]},
        }
        if (found := leaks.get(request.asks)) is None:
            return [works(request)]
        return [reply(200, json.dumps({"jsonrpc": "2.0", "id": request.message["id"], "result": found}).encode())]

    answer = Sse(gate=gate) if kind == "sse" else mcp
    with raw_server(authorization) as login.authorization, raw_server(answer) as login.mcp:
        login.url, login.issuer = f"{login.mcp.origin}/mcp", login.authorization.origin
        yield login


def _metadata(login: Login) -> bytes:
    origin = login.authorization.origin
    about: dict[str, Any] = {
        "issuer": origin,
        "authorization_endpoint": f"{origin}/authorize",
        "token_endpoint": f"{origin}/token",
        "registration_endpoint": f"{origin}/register",
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
    }
    about |= login.metadata
    return reply(200, json.dumps({name: value for name, value in about.items() if value is not None}).encode())


def _authorize(server: _Server, request: Request) -> bytes:
    login = server.login
    try:
        grant = server.get_consent_grant(request)
    except OAuth2Error as error:
        return server.handle_response(*error())
    answer = server.create_authorization_response(request, None if login.denies else "user", grant)
    if not login.callback:
        return answer
    head, _, rest = answer.partition(b"Location: ")
    location, _, rest = rest.partition(b"\r\n")
    parts = urlsplit(location.decode())
    query = urlencode({**dict(parse_qsl(parts.query)), **login.callback})
    return head + b"Location: " + parts._replace(query=query).geturl().encode() + b"\r\n" + rest


def visit(url: str, *, follow: bool = True) -> str:
    """Log in like a browser whose user agrees, and return the URL to which it is sent."""
    with httpx2.Client(trust_env=False) as browser:
        location = browser.get(url).headers["location"]
        if follow:
            browser.get(location).raise_for_status()
    return location


if __name__ == "__main__":
    import sys

    visit(sys.argv[1])
