"""TLS, proxies and authentication of both HTTP libraries, by the options."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, TypeAlias, cast
from urllib.parse import parse_qsl, urlsplit
from urllib.request import getproxies

import anyio
import httpx2

from acp_bindings._http import CERTIFICATES, is_loopback, shared_context, ssl_context
from acp_bindings._json import mendings, parsed_members
from acp_bindings._redact import Redactor, shown_proxy, shown_url
from acp_bindings._responses import Via, proxy_for, proxy_of
from mcp_launch._diagnosis.responses import TooLong
from mcp_launch._http_types import EVENT_STREAM, FORM, JSON, Client, Url, media_type
from mcp_launch._spec import HttpServer
from mcp_launch._transports.oauth import StoredAuth, stored_auth
from mcp_launch._transports.web import HeaderRule, Httpx2Body, bound
from mcp_launch.failures import OF_ACP, LaunchFailure, Phrases, UnusableInput
from mcp_launch.logins import StoredLogins
from mcp_launch.options import Options

_SECRET = re.compile(r"token$|secret$|password|assertion$|^code$|verifier$|api_?key", re.IGNORECASE)
"""Fields of a token request or its response with secret values."""


class AuthFailed(httpx2.RequestError):
    """The authentication failed; the cause says why."""


Refresh: TypeAlias = Callable[[httpx2.Request], Awaitable[httpx2.Response]]


class WatchedAuth(httpx2.Auth):
    """Wraps an authentication to redact its secrets and to explain its errors."""

    def __init__(self, auth: httpx2.Auth, *, hide: Redactor, refresh: Refresh | None = None) -> None:
        """Wrap it; `refresh` sends the requests of the authentication itself, otherwise the client does."""
        self.unfinished = False
        """True while a login is in progress."""
        self._auth = auth
        self._hide = hide
        self._refresh = refresh

    @property
    def rejection(self) -> str | None:
        """The reason why a stored login was rejected."""
        return self._auth.rejection if isinstance(self._auth, StoredAuth) else None

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Pass on requests and responses unchanged."""
        before = set(request.headers.raw)
        async with aclosing(self._auth.async_auth_flow(request)) as flow:
            try:
                self.unfinished = True
                outgoing = await anext(flow)
                while True:
                    await self._learn(outgoing, new=set(outgoing.headers.raw) - before)
                    self.unfinished = outgoing is not request
                    if self._refresh and outgoing is not request:
                        response = await self._refresh(outgoing)
                    else:
                        response = yield outgoing
                    self.unfinished = True
                    if media_type(response.headers) != EVENT_STREAM:
                        is_own = outgoing is request
                        # Error responses are read by the authentication, or by the library before the next request.
                        if not (is_own and response.is_success):
                            bound(Httpx2Body, response)
                        if not is_own:
                            self._learn_members(await response.aread())
                    outgoing = await flow.asend(response)
            except StopAsyncIteration:
                self.unfinished = False
                return
            except httpx2.RequestError:
                raise
            except (TooLong, UnusableInput) as error:
                raise AuthFailed(str(error), request=request) from error
            except Exception as error:
                raise AuthFailed(f"{type(error).__name__}: {error}", request=request) from error

    async def _learn(self, request: httpx2.Request, *, new: set[tuple[bytes, bytes]]) -> None:
        for name, value in new:
            if name.lower() not in _PLAIN and not name.lower().startswith(b"mcp-"):
                self._hide.learn(value.decode("latin-1"))
        if media_type(request.headers) in (FORM, JSON):
            self._learn_members(await request.aread())

    def _learn_members(self, body: bytes) -> None:
        """Redact the secrets in a JSON object or a form."""
        parsed = map(parsed_members, chain([body], mendings(body)))
        members = next((each for each in parsed if each), dict[str, Any]())
        for name, value in members.items() or parse_qsl(body.decode(errors="replace")):
            if _SECRET.search(name) and isinstance(value, str):
                self._hide.learn(value)


_PLAIN = frozenset((b"accept", b"content-length", b"content-type", b"host", b"user-agent"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The settings for both HTTP libraries."""

    verify: ssl.SSLContext
    proxy: httpx2.Proxy | None = field(default=None, repr=False)
    auth: WatchedAuth | None = None
    trust_env: bool = True
    warnings: tuple[str, ...] = ()
    phrases: Phrases = OF_ACP
    """The words of the config for advice about it."""

    @property
    def proxy_option(self) -> str:
        """The option that sets the proxy."""
        return "trust_env" if self.proxy is None else "proxy"

    def is_direct(self, url: Url) -> bool:
        """Return True if the proxies of the environment must not see requests to this URL."""
        return self.proxy is None and is_loopback(url.host)

    def via(self, client: Client, url: Url) -> Via | None:
        """Return the proxy that a client with these settings uses for a URL, if there is one."""
        return proxy_for(client, url, proxy=str(self.proxy.url) if self.proxy else None)


def network(spec: HttpServer, options: Options) -> Network:
    """Read the network options; secrets in them are redacted from now on.

    Raises:
        LaunchFailure: in stage `spec`, for an invalid option.
    """
    hide = spec.redactor
    if options.trust_env:
        hide.add(urls=getproxies().values())
    with usable(spec, "proxy"):
        if isinstance(options.proxy, str):
            hide.add(urls=[options.proxy])
        proxy = httpx2.Proxy(options.proxy) if isinstance(options.proxy, str) else options.proxy
        if proxy is not None:
            hide.add([*(proxy.auth or ()), ":".join(proxy.auth or ()), *proxy.headers.values()])
    if isinstance(options.cert, tuple):
        hide.add(options.cert[2:])
    if options.verify is True and options.trust_env:
        # First, so that a variable is not mistaken for the option `cert`. The context is used again.
        with usable(spec, "verify", trust_env=True):
            shared_context(httpx2.create_ssl_context, *map(os.environ.get, CERTIFICATES))
    with usable(spec, "cert" if options.cert else "verify"):
        verify = ssl_context(
            options.verify, options.cert, trust_env=options.trust_env, create=httpx2.create_ssl_context
        )
    with usable(spec, "auth"):
        auth = _auth(options.auth, spec)
    url = urlsplit(spec.url)
    insecure = url.scheme == "https" and verify.verify_mode is ssl.CERT_NONE
    found = Network(
        verify=verify,
        proxy=proxy,
        # An invalid proxy must not matter for a server on loopback, unless a login is elsewhere.
        trust_env=options.trust_env and (auth is not None or not is_loopback(url.hostname or "")),
        warnings=("its TLS certificate is not verified, so others could read and change the connection",)
        if insecure
        else (),
        phrases=options.phrases,
    )
    refresh = partial(_refresh, spec, found) if isinstance(auth, StoredAuth) else None
    return replace(found, auth=WatchedAuth(auth, hide=hide, refresh=refresh)) if auth else found


_PATIENCE = 10.0
"""Seconds for refreshing a login, for which even a session that is closed waits."""


async def _refresh(spec: HttpServer, network: Network, request: httpx2.Request) -> httpx2.Response:
    """Return the response to the refresh of a login, even if the call that needs it is cancelled.

    Otherwise the new refresh token would be lost, after the old one was revoked.

    Raises:
        AuthFailed: there was no response in time.
    """
    rule = HeaderRule(spec, phrases=network.phrases, logs_in=True)
    with anyio.move_on_after(_PATIENCE, shield=True):
        async with httpx2.AsyncClient(
            verify=network.verify,
            proxy=network.proxy,
            trust_env=network.trust_env and not network.is_direct(request.url),
            timeout=None,
            event_hooks={"request": rule.hooks},
        ) as client:
            response = await client.send(request, stream=True)
            bound(Httpx2Body, response)
            await response.aread()
            return response
    raise AuthFailed(f"POST {shown_url(str(request.url))} did not respond within {_PATIENCE:g} s", request=request)


@contextmanager
def usable(spec: HttpServer, option: str, *, trust_env: bool = False, library: str = "httpx2") -> Generator[None]:
    """Turn errors of an invalid option in the block into a failure of the server.

    With `trust_env`, variables with certificates may be the reason; `library` is the one that is used for requests.
    """
    try:
        yield
    except (OSError, ValueError, TypeError, ImportError, httpx2.InvalidURL) as error:
        reason = spec.redactor(str(error) or type(error).__name__).rstrip(".")
        what, facts, advice = f'the option "{option}"', {"option": option}, None
        variable = next((name for name in CERTIFICATES if os.environ.get(name)), None)
        if option == "trust_env":
            names = _unusable_proxies() or ["ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"]
            what, facts["variable"] = f"the proxy of {' and '.join(names)}", names[0]
            advice = f"correct or unset {' and '.join(names)}"
        elif trust_env and variable:
            path = os.environ[variable]
            what, facts = f'the certificates of {variable}="{path}"', {"variable": variable, "path": path}
            advice = f"correct or unset {variable}"
            reason = (error.strerror if isinstance(error, FileNotFoundError | PermissionError) else None) or reason
        if isinstance(error, ImportError):
            reason, advice = "SOCKS requires another package", f'install it: pip install "{library}[socks]"'
        message = f"{what} cannot be used: {reason}{f'; {advice}' if advice else ''}"
        raise LaunchFailure(
            message, server=spec.name, stage="spec", code="invalid_options", facts=facts, advice=advice
        ) from None


def _unusable_proxies() -> list[str]:
    """Return the variables with proxies that are not reached by HTTP."""
    found = [proxy_of(scheme, os.environ) for scheme in ("all", "http", "https")]
    wrong = [
        name for name, url in filter(None, found) if not shown_proxy(url).lower().startswith(("http://", "https://"))
    ]
    return list(dict.fromkeys(wrong))


def _auth(auth: object, spec: HttpServer) -> httpx2.Auth | None:
    match auth:
        case StoredLogins():
            return stored_auth(spec, auth)
        case None | httpx2.Auth():
            return auth
        case (str(user), str(password)):
            spec.redactor.add((user, password))
            return httpx2.BasicAuth(user, password)
        case _ if callable(auth) and not isinstance(auth, type):
            return httpx2.FunctionAuth(cast("Callable[[httpx2.Request], httpx2.Request]", auth))
        case _:
            wanted = "(user, password), a function, an httpx2.Auth or mcp_launch.StoredLogins"
            raise TypeError(f"it must be {wanted}, not {_kind(auth)}")


def _kind(value: object) -> str:
    kind: type[object] = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
