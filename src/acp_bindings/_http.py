"""Shared by all HTTP clients of the project: trusted certificates, cookies, and loopback."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Callable
from functools import cache, lru_cache
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from ipaddress import IPv4Address, IPv6Address
from typing import NoReturn, TypeAlias
from urllib import request as urllib_request

Path: TypeAlias = str | os.PathLike[str]
Verify: TypeAlias = bool | Path | ssl.SSLContext
Cert: TypeAlias = Path | tuple[Path, ...] | None
"""The path of a certificate, or (path, key) or (path, key, password)."""


CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""The variables with the path of trusted certificates; the first that is set counts."""


def ssl_context(
    verify: Verify, cert: Cert, *, trust_env: bool, create: Callable[..., ssl.SSLContext]
) -> ssl.SSLContext:
    """Return the SSL context for the options.

    *create* is the `create_ssl_context` of a library: that of httpx2 trusts the certificates of the system, that of
    httpx those of certifi.

    Raises:
        OSError: a file cannot be read or does not contain certificates.
        ValueError: the options contradict each other, or the key of a certificate is encrypted.
    """
    match verify:
        case ssl.SSLContext() as context:
            if cert:
                raise ValueError("a context given as verify has its own certificate; use its load_cert_chain")
            return context
        case True if not cert:
            names = CERTIFICATES if trust_env else ()
            return shared_context(create, *(os.environ.get(name) for name in names))
        case bool():
            context = create(verify=verify, trust_env=trust_env)
        case path:
            where = os.fspath(path)
            # Without this the error would not name the file.
            os.stat(where)
            is_folder = os.path.isdir(where)
            context = ssl.create_default_context(
                cafile=None if is_folder else where, capath=where if is_folder else None
            )
    if cert:
        _load_client_certificate(context, *(cert if isinstance(cert, tuple) else (cert,)))
    return context


def _load_client_certificate(
    context: ssl.SSLContext, certificate: Path, key: Path | None = None, password: Path | None = None
) -> None:
    for path in (certificate, key):
        if path is not None:
            os.stat(path)
    context.load_cert_chain(certificate, key, str(password) if password else _no_password)


@cache
def shared_context(create: Callable[..., ssl.SSLContext], *environment: str | None) -> ssl.SSLContext:
    """Return a shared context, because reading the certificates is the slowest part of creating a client."""
    return create(trust_env=bool(environment))


def _no_password() -> NoReturn:
    # Without this, OpenSSL would prompt at the terminal and wait.
    raise ValueError("its key is encrypted: give (certificate, key, password)")


def cookie_jar() -> CookieJar:
    """Return a jar that ignores cookies that are not ASCII, because no HTTP library can send them."""
    return CookieJar(_Ascii())


class _Ascii(DefaultCookiePolicy):
    def set_ok(self, cookie: Cookie, request: urllib_request.Request) -> bool:
        return f"{cookie.name}{cookie.value}".isascii() and super().set_ok(cookie, request)


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
