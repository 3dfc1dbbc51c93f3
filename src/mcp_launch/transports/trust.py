"""Whose TLS certificates are trusted, and which one is shown, as the options say."""

from __future__ import annotations

import os
import ssl
from functools import cache
from typing import NoReturn, TypeAlias

import httpx2

from mcp_launch.options import Options

__all__ = ["trusting"]

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
