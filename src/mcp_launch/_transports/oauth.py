"""Sends the access token of a stored login, and refreshes it."""

from __future__ import annotations

import base64
import os
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlsplit

import anyio
import anyio.to_thread
import httpx2

from acp_bindings._json import parsed_members
from acp_bindings._redact import shown_url
from mcp_launch._http_types import JSON, media_type
from mcp_launch._spec import HttpServer
from mcp_launch.failures import UnusableInput
from mcp_launch.logins import Login, StoredLogins, Tokens, find, lock_of, read, store, tokens_of

_LOOK = 0.05
"""Seconds between two attempts to get a lock."""
_REJECTED = "its stored login was rejected"


def stored_auth(spec: HttpServer, logins: StoredLogins) -> StoredAuth | None:
    """Return the stored login for a server, unless there is none or the entry has credentials of its own.

    Raises:
        ValueError: the file of the login is not valid.
    """
    if has_credentials(spec):
        return None
    try:
        login = find(spec.url)
    except UnusableInput as error:
        raise ValueError(str(error)) from None

    def learn(token: str) -> None:
        spec.redactor.learn(token)
        if logins.learn:
            logins.learn(token)

    return None if login is None else StoredAuth(login, learn=learn)


def has_credentials(spec: HttpServer) -> bool:
    """Return True if an entry has credentials of its own, which are used instead of a stored login."""
    return "@" in urlsplit(spec.url).netloc or any(name.lower() == "authorization" for name, _ in spec.headers)


class StoredAuth(httpx2.Auth):
    """Authorizes the requests to one server by a stored login."""

    def __init__(self, login: Login, *, learn: Callable[[str], object]) -> None:
        self.rejection = _REJECTED
        """The reason why the server rejects the login, if it does."""
        self._login = login
        self._tokens: Tokens | None = None
        """None until they are needed."""
        self._learn = learn

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send the request with the access token; if it has expired or is rejected, try again with a new one.

        That is the token of a later login, if there is one, and otherwise a refreshed one.
        """
        tokens = self._tokens or self._take(self._login, await _tokens_of(self._login))
        if not (self._login.has_expired and tokens.refresh_token):
            response = yield _authorized(request, tokens)
            if response.status_code != HTTPStatus.UNAUTHORIZED:
                return
        async with _alone(lock_of(self._login)):
            if not await self._was_renewed(tokens):
                if not tokens.refresh_token:
                    return
                response = yield _refreshing(self._login, tokens)
                await response.aread()
                # Otherwise a new refresh token could be lost, after the server has revoked the old one.
                with anyio.CancelScope(shield=True):
                    await self._renew(response, tokens)
        yield _authorized(request, self._tokens or tokens)

    def _take(self, login: Login, tokens: Tokens) -> Tokens:
        self._login, self._tokens, self.rejection = login, tokens, _REJECTED
        for each in (tokens.access_token, tokens.refresh_token, tokens.client_secret):
            if each:
                self._learn(each)
        return tokens

    async def _was_renewed(self, used: Tokens) -> bool:
        """Return True if the tokens must not be refreshed: they were renewed elsewhere, or the login was deleted."""
        if self._tokens is not used:
            return True
        login = await anyio.to_thread.run_sync(read, self._login.key)
        if login is None:
            self.rejection = "its stored login was deleted"
            return True
        tokens = await _tokens_of(login)
        if tokens == used:
            return False
        self._take(login, tokens)
        return True

    async def _renew(self, response: httpx2.Response, used: Tokens) -> None:
        """Store the tokens of a response, or remember why there are none."""
        members = parsed_members(response.content)
        if response.status_code != HTTPStatus.OK or not isinstance(access := members.get("access_token"), str):
            error = members.get("error")
            said = f" {error}" if isinstance(error, str) else ""
            if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                said += ", which may be temporary"
            elif response.status_code == HTTPStatus.OK and not members:
                said += f" with {media_type(response.headers) or 'no content type'}"
            self.rejection = (
                f"its stored login could not be refreshed "
                f"(POST {shown_url(str(response.request.url))} returned {response.status_code}{said})"
            )
            return
        refresh: Any = members.get("refresh_token") or used.refresh_token
        login = replace(
            self._login, expires_at=expiry(members.get("expires_in")), scope=members.get("scope") or self._login.scope
        )
        tokens = self._take(login, replace(used, access_token=access, refresh_token=refresh))
        self._login = await anyio.to_thread.run_sync(store, login, tokens)


def expiry(seconds: Any) -> float | None:
    """Return when a token expires that is valid for this long."""
    return time.time() + float(seconds) if isinstance(seconds, int | float) else None


async def _tokens_of(login: Login) -> Tokens:
    # Abandoned, because a locked keyring waits for the user.
    return await anyio.to_thread.run_sync(tokens_of, login, abandon_on_cancel=True)


def _authorized(request: httpx2.Request, tokens: Tokens) -> httpx2.Request:
    request.headers["Authorization"] = f"Bearer {tokens.access_token}"
    return request


def _refreshing(login: Login, tokens: Tokens) -> httpx2.Request:
    data = {"grant_type": "refresh_token", "refresh_token": tokens.refresh_token, "client_id": login.client_id}
    headers: dict[str, str] = {"accept": JSON}
    if login.resource:
        data["resource"] = login.resource
    if tokens.client_secret and login.auth_method == "client_secret_basic":
        pair = f"{quote(login.client_id, safe='')}:{quote(tokens.client_secret, safe='')}"
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    elif tokens.client_secret and login.auth_method == "client_secret_post":
        data["client_secret"] = tokens.client_secret
    return httpx2.Request("POST", login.token_endpoint, data=data, headers=headers)


@asynccontextmanager
async def _alone(path: str) -> AsyncGenerator[None]:
    """Run the block in only one task of one process, because a refresh token can often be used only once."""
    if sys.platform == "win32":
        yield
        return
    import fcntl  # noqa: PLC0415 - not on Windows

    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await anyio.sleep(_LOOK)
        yield
