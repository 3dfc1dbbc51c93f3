"""Log in for the client as a scenario requires: with the SDK's own OAuth, and a user who agrees."""

from __future__ import annotations

from typing import Any

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

CALLBACK = AnyUrl("http://localhost:3000/callback")
"""The redirect URL. The code is read from the redirect, so no server listens there."""
METADATA = "https://conformance-test.local/client-metadata.json"
"""The identity that the scenarios expect of a client with a metadata document."""


async def login(scenario: str, url: str, context: dict[str, Any]) -> httpx2.Auth | None:
    """Return the authentication for the server of a scenario, whose context contains the credentials."""
    match scenario:
        case "auth/client-credentials-jwt":
            client = context["client_id"]
            key = SignedJWTParameters(
                issuer=client,
                subject=client,
                signing_key=context["private_key_pem"],
                signing_algorithm=context["signing_algorithm"],
            )
            assertion = key.create_assertion_provider()
            return PrivateKeyJWTOAuthProvider(url, Memory(), client_id=client, assertion_provider=assertion)
        case "auth/client-credentials-basic":
            client, secret = context["client_id"], context["client_secret"]
            return ClientCredentialsOAuthProvider(url, Memory(), client_id=client, client_secret=secret)
        case "auth/cross-app-access-complete-flow":
            return await _of_the_enterprise(url, context)
        case str() if scenario.startswith("auth/"):
            return _of_a_user(url, context)
        case _:
            return None


class Memory:
    """Stores tokens while this process runs."""

    def __init__(self, client: OAuthClientInformationFull | None = None) -> None:
        self._tokens: OAuthToken | None = None
        self._client = client

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


class _Browser:
    """A user who is already logged in and agrees to everything."""

    def __init__(self) -> None:
        self._arrived = httpx2.QueryParams()

    async def visit(self, url: str) -> None:
        async with httpx2.AsyncClient() as client:
            response = await client.get(url)
        self._arrived = httpx2.URL(response.headers["location"]).params

    async def code(self) -> AuthorizationCodeResult:
        arrived = self._arrived
        return AuthorizationCodeResult(code=arrived["code"], state=arrived.get("state"), iss=arrived.get("iss"))


def _of_a_user(url: str, context: dict[str, Any]) -> httpx2.Auth:
    browser = _Browser()
    known = None
    if "client_id" in context:
        known = OAuthClientInformationFull(
            client_id=context["client_id"],
            client_secret=context["client_secret"],
            redirect_uris=[CALLBACK],
            token_endpoint_auth_method="client_secret_basic",
        )
    return OAuthClientProvider(
        url,
        OAuthClientMetadata(
            client_name="mcp-launch",
            redirect_uris=[CALLBACK],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
        ),
        Memory(known),
        redirect_handler=browser.visit,
        callback_handler=browser.code,
        client_metadata_url=METADATA,
    )


async def _of_the_enterprise(url: str, context: dict[str, Any]) -> httpx2.Auth:
    """Exchange the user's identity token for one of the server's issuer, and that for an access token."""
    async with httpx2.AsyncClient() as client:
        found = await client.get(httpx2.URL(url).join("/.well-known/oauth-protected-resource/mcp"))
        if found.is_error:
            found = await client.get(httpx2.URL(url).join("/.well-known/oauth-protected-resource"))
    issuer = found.raise_for_status().json()["authorization_servers"][0]

    async def exchange(audience: str, resource: str) -> str:
        urn = "urn:ietf:params:oauth"
        form = {
            "grant_type": f"{urn}:grant-type:token-exchange",
            "subject_token": context["idp_id_token"],
            "subject_token_type": f"{urn}:token-type:id_token",
            "requested_token_type": f"{urn}:token-type:id-jag",
            "audience": audience,
            "resource": resource,
            "client_id": context["idp_client_id"],
        }
        async with httpx2.AsyncClient() as client:
            answer = await client.post(context["idp_token_endpoint"], data=form)
        return answer.raise_for_status().json()["access_token"]

    return IdentityAssertionOAuthProvider(
        url,
        Memory(),
        client_id=context["client_id"],
        client_secret=context["client_secret"],
        issuer=issuer,
        assertion_provider=exchange,
        token_endpoint_auth_method="client_secret_basic",
    )
