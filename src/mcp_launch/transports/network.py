"""How requests leave this machine: trust, proxy and login as the options ask, read once for both HTTP libraries."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from typing import cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from acp_bindings._redact import Redactor, shown_url
from mcp_launch.failures import LaunchFailure
from mcp_launch.options import Options
from mcp_launch.specs import HttpServer
from mcp_launch.transports.auth import WatchedAuth
from mcp_launch.transports.either_httpx import Url
from mcp_launch.transports.trust import trusting

__all__ = ["Network", "is_loopback", "network", "usable"]


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
