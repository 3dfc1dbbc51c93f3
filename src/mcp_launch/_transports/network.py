"""Whose TLS certificates are trusted, and which one is shown, as the options say."""

from __future__ import annotations

import json
import os
import re
import socket
import ssl
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from ipaddress import IPv4Address, IPv6Address
from typing import Any, NoReturn, TypeAlias, cast
from urllib.parse import parse_qsl, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from acp_bindings._redact import Redactor, shown_url
from mcp_launch._diagnosis.responses import TooLong
from mcp_launch._http_types import EVENT_STREAM, FORM, JSON, Url, media_type
from mcp_launch._spec import HttpServer
from mcp_launch._transports.web import Httpx2Body, bound
from mcp_launch.failures import LaunchFailure
from mcp_launch.options import Options

Path: TypeAlias = str | os.PathLike[str]


def trusting(options: Options) -> ssl.SSLContext:
    """The context for TLS that the options ask for.

    Raises:
        OSError: a file cannot be read, or holds no certificates.
        ValueError: what they say does not fit together, or the key of a certificate is encrypted.
    """
    match options.verify:
        case ssl.SSLContext() as context:
            if options.cert:
                raise ValueError("a context given as verify has its own certificate; use its load_cert_chain")
            return context
        case True if not options.cert:
            names = ("SSL_CERT_FILE", "SSL_CERT_DIR") if options.trust_env else ()
            return _trusting_the_system(*(os.environ.get(name) for name in names))
        case bool(verify):
            context = httpx2.create_ssl_context(verify=verify, trust_env=options.trust_env)
        case path:
            where = os.fspath(path)
            # Without this the error would not name the file.
            os.stat(where)
            is_folder = os.path.isdir(where)
            context = ssl.create_default_context(
                cafile=None if is_folder else where, capath=where if is_folder else None
            )
    if options.cert:
        _show_certificate(context, *(options.cert if isinstance(options.cert, tuple) else (options.cert,)))
    return context


def _show_certificate(
    context: ssl.SSLContext, certificate: Path, key: Path | None = None, password: Path | None = None
) -> None:
    for path in (certificate, key):
        if path is not None:
            os.stat(path)
    context.load_cert_chain(certificate, key, str(password) if password else _no_password)


@cache
def _trusting_the_system(*environment: str | None) -> ssl.SSLContext:
    """One for all: reading the certificates takes longer than anything else a client does at its start."""
    return httpx2.create_ssl_context(trust_env=bool(environment))


def _no_password() -> NoReturn:
    # Without this, OpenSSL would ask whoever sits at the terminal, and wait.
    raise ValueError("its key is encrypted: give (certificate, key, password)")


_SECRET = re.compile(r"token$|secret$|password|assertion$|^code$|verifier$|api_?key", re.IGNORECASE)
"""Members of a token request or its answer whose values are secret."""


class AuthFailed(httpx2.RequestError):
    """The authentication gave up; the cause says why."""


class WatchedAuth(httpx2.Auth):
    """An authentication that goes on as it would without us."""

    def __init__(self, auth: httpx2.Auth, *, hide: Redactor) -> None:
        self.unfinished = False
        """Whether a login was going on at the end."""
        self._auth = auth
        self._hide = hide

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """The same requests and answers."""
        before = set(request.headers.raw)
        async with aclosing(self._auth.async_auth_flow(request)) as flow:
            try:
                self.unfinished = True
                outgoing = await anext(flow)
                while True:
                    await self._learn(outgoing, new=set(outgoing.headers.raw) - before)
                    self.unfinished = outgoing is not request
                    response = yield outgoing
                    self.unfinished = True
                    if media_type(response.headers) != EVENT_STREAM:
                        is_own = outgoing is request
                        # A refusal is read by the authentication, or by the library before what comes next.
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
            except TooLong as error:
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
        for name, value in _members(body):
            if _SECRET.search(name):
                self._hide.learn(value)


_PLAIN = frozenset((b"accept", b"content-length", b"content-type", b"host", b"user-agent"))


def _members(body: bytes) -> Iterator[tuple[str, str]]:
    """The texts of a JSON object or a form."""
    text = body.decode(errors="replace")
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        yield from parse_qsl(text)
        return
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value).items()
        yield from ((name, member) for name, member in members if isinstance(member, str))


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """What both libraries are set up with."""

    verify: ssl.SSLContext
    proxy: httpx2.Proxy | None = field(default=None, repr=False)
    auth: WatchedAuth | None = None
    trust_env: bool = True
    warnings: tuple[str, ...] = ()

    @property
    def names_proxy(self) -> str:
        """The option by which there may be a proxy."""
        return "trust_env" if self.proxy is None else "proxy"

    def is_direct(self, url: Url) -> bool:
        """Return True if the proxies of the environment must not see requests to this URL."""
        return self.proxy is None and is_loopback(url.host)

    def via(self, url: Url) -> str | None:
        """The proxy that the URL is reached through, as it may be shown."""
        if self.proxy is not None:
            return shown_url(str(self.proxy.url))
        if not self.trust_env or self.is_direct(url):
            return None
        proxies = getproxies()
        found = proxies.get(url.scheme) or proxies.get("all")
        if not found or proxy_bypass(url.host):
            return None
        return shown_url(found if "://" in found else f"http://{found}")


def network(spec: HttpServer, options: Options) -> Network:
    """Read the options; what is secret in them is hidden from now on.

    Raises:
        LaunchFailure: in stage `spec`, for an option that cannot work.
    """
    hide = spec.redactor
    if options.trust_env:
        hide.add(urls=getproxies().values())
    with usable(spec, "proxy"):
        if isinstance(options.proxy, str):
            hide.add(urls=[options.proxy])
        proxy = httpx2.Proxy(options.proxy) if isinstance(options.proxy, str) else options.proxy
        if proxy is not None:
            hide.add([*(proxy.auth or ()), *proxy.headers.values()])
    if isinstance(options.cert, tuple):
        hide.add(options.cert[2:])
    with usable(spec, "cert" if options.cert else "verify"):
        verify = trusting(options)
    with usable(spec, "auth"):
        auth = _auth(options.auth, hide=hide)
    insecure = spec.url.startswith("https:") and verify.verify_mode is ssl.CERT_NONE
    return Network(
        verify=verify,
        proxy=proxy,
        auth=WatchedAuth(auth, hide=hide) if auth else None,
        # A proxy that cannot be used must not matter to a server that is reached without it. A login may be elsewhere.
        trust_env=options.trust_env and (auth is not None or not is_loopback(urlsplit(spec.url).hostname or "")),
        warnings=("its TLS certificate is not verified: whoever is between can read and change everything",)
        if insecure
        else (),
    )


@contextmanager
def usable(spec: HttpServer, option: str) -> Generator[None]:
    """A block in which an option that is not usable is a failure of the server, before anything is sent."""
    try:
        yield
    except (OSError, ValueError, TypeError, ImportError, httpx2.InvalidURL) as error:
        reason = spec.redactor(str(error) or type(error).__name__)
        facts = {"option": option}
        message = f'the option "{option}" cannot be used: {reason}'
        if option == "trust_env":
            message = (
                f"the proxy that the environment names cannot be used: {reason.rstrip('.')}; "
                "is it that of ALL_PROXY, HTTP_PROXY or HTTPS_PROXY?"
            )
        raise LaunchFailure(message, server=spec.name, stage="spec", code="invalid_options", facts=facts) from None


def _auth(auth: object, *, hide: Redactor) -> httpx2.Auth | None:
    match auth:
        case None | httpx2.Auth():
            return auth
        case (str(user), str(password)):
            hide.add((user, password))
            return httpx2.BasicAuth(user, password)
        case _ if callable(auth) and not isinstance(auth, type):
            return httpx2.FunctionAuth(cast("Callable[[httpx2.Request], httpx2.Request]", auth))
        case _:
            wanted = "(user, password), a function or an httpx2.Auth"
            raise TypeError(f"it must be {wanted}, not {_kind(auth)}")


def _kind(value: object) -> str:
    kind: type[object] = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


@lru_cache
def is_loopback(host: str) -> bool:
    """Return True if the host of a URL is this machine, in any spelling that a connection accepts.

    That includes 0.0.0.0 and ::, which a connection takes for loopback too.
    """
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    address: IPv4Address | IPv6Address | None
    try:
        # As `getaddrinfo` reads it: 127.1 and 0x7f000001 are 127.0.0.1.
        address = IPv4Address(socket.inet_aton(name))
    except (OSError, UnicodeError):
        try:
            address = IPv6Address(name)
        except ValueError:
            return False
        address = address.ipv4_mapped or address
    return address.is_loopback or address.is_unspecified
