"""Rules for secrets that others can see: in arguments, in URLs, on the network, and in the recording itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from acp_bindings._json import items_of, pairs_of
from acp_bindings._secrets import has_login, has_token, is_secret, secret_arguments
from acp_bindings.check._observed import ObservedMessage
from acp_bindings.check._rules.rule import OPENING, remark, rule
from acp_bindings.setup.errors import Remark


@rule("secret.argument", "warning", on=OPENING)
def argument(observed: ObservedMessage) -> Iterator[Remark]:
    """An argument of an MCP server looks like a secret; the process list shows it to other users."""
    for entry, path in observed.servers:
        for index in secret_arguments([each if isinstance(each, str) else "" for each in items_of(entry.get("args"))]):
            message = (
                "it looks like a secret, and the process list shows it; pass it in env if the server supports that"
            )
            yield remark(observed, "secret.argument", message, *path, "args", index)


@rule("secret.url", "warning", on=OPENING)
def url(observed: ObservedMessage) -> Iterator[Remark]:
    """The URL of an MCP server contains a password or a token, and URLs end up in logs."""
    for entry, path in observed.servers:
        if isinstance(address := entry.get("url"), str) and (has_login(address) or has_token(address)):
            message = "it seems to contain a secret, and URLs end up in logs; send it in headers"
            yield remark(observed, "secret.url", message, *path, "url")


@rule("secret.cleartext", "warning", on=OPENING)
def cleartext(observed: ObservedMessage) -> Iterator[Remark]:
    """Headers with a secret are sent over `http://` to another machine, so that others can read them."""
    for entry, path in observed.servers:
        address = entry.get("url")
        if isinstance(address, str) and _is_cleartext(address) and _secrets(entry.get("headers")):
            message = "headers with a secret are sent unencrypted to another machine; use https://"
            yield remark(observed, "secret.cleartext", message, *path, "url")


@rule("secret.recorded", "info", on=OPENING)
def recorded(observed: ObservedMessage) -> Iterator[Remark]:
    """The input contains a secret in `env` or `headers`; remove it before you share the file."""
    for entry, path in observed.servers:
        for name in ("env", "headers"):
            for index in _secrets(entry.get(name)):
                message = "its value looks like a secret; remove it before you share this file"
                yield remark(observed, "secret.recorded", message, *path, name, index)


_LOOPBACK = re.compile(r"localhost|.*\.localhost|127(\.\d+){3}|::1")


def _secrets(pairs: object) -> list[int]:
    """Return the indices of the secrets in a list of names and values, or in a map in place of one."""
    return [index for index, name, value in pairs_of(pairs) if is_secret(name, value)]


def _is_cleartext(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme.lower() == "http" and not _LOOPBACK.fullmatch(parts.hostname or "localhost")
    except ValueError:
        return False
