"""The meaning of HTTP errors and responses, for all HTTP clients of the project."""

from __future__ import annotations

import html
import json
import os
import re
import ssl
from collections.abc import Mapping
from typing import Any, NamedTuple, cast
from urllib.request import getproxies, parse_http_list

from acp_bindings._redact import shown_proxy, shown_url

QUOTED = 160
"""Characters of a response that a message quotes."""
STATUS_ADVICE = {
    402: "it requires a payment; is a trial or a quota over?",
    407: "the proxy requires a login; add it to the proxy's URL",
    408: "is something in front of it too slow?",
    410: "it is gone for good; is there a newer URL?",
    413: "the message is too large for the server or a proxy in front of it",
    421: "it does not serve this host name; is the name among its allowed hosts?",
    431: "a header is too large for it; is a token too long?",
    451: "it is not available at this place or to this account, for legal reasons",
    500: "it had an internal error; its log may say why",
    503: "it is unavailable now; try again later",
    # Cloudflare sends those from 520 on.
    **dict.fromkeys(
        (502, 520, 521, 523, 530), "the gateway in front of it got no valid response; is the server behind it running?"
    ),
    **dict.fromkeys((504, 522, 524), "the gateway in front of it timed out; is the server behind it running?"),
    **dict.fromkeys((525, 526), "the gateway in front of it cannot connect to it by TLS; is its certificate valid?"),
}
"""Advice by status."""


class Via(NamedTuple):
    """A proxy on the way to a server."""

    url: str
    """Its URL without user-info."""
    variable: str | None
    """The variable of the environment that sets it, if one does."""

    def __str__(self) -> str:
        return f"{self.url} ({self.variable})" if self.variable else self.url

    @property
    def facts(self) -> dict[str, str]:
        """The facts for a failure."""
        return {"proxy": self.url, **({"proxy_variable": self.variable} if self.variable else {})}

    @property
    def advice(self) -> str:
        """Advice if it is the reason."""
        check = f"check that the proxy {self.url} runs and allows this host"
        return f"{check}, or correct or unset {self.variable}" if self.variable else check

    def advice_after(self, error: Exception) -> str:
        """Return advice after it did not connect to the server."""
        return STATUS_ADVICE[407] if str(error).startswith("407") else self.advice


def proxy_of(scheme: str, variables: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the variable that sets the proxy for URLs of a scheme and its value, as most programs read them."""
    names = (name for kind in (scheme, "all") for name in (f"{kind}_proxy", f"{kind}_proxy".upper()))
    return next(((name, variables[name]) for name in names if variables.get(name)), None)


def proxy_for(client: Any, url: Any, *, proxy: str | None) -> Via | None:
    """Return the proxy that a client of httpx or httpx2 uses for a URL, if there is one; *proxy* is its option."""
    # The library decides, because each reads NO_PROXY in its own way.
    if client._transport_for_url(url) is client._transport:  # noqa: SLF001
        return None
    if proxy is not None:
        return Via(shown_url(proxy), None)
    proxies = getproxies()
    if not (found := proxies.get(url.scheme) or proxies.get("all")):
        return None
    variable, value = proxy_of(url.scheme, os.environ) or (None, None)
    return Via(shown_proxy(found), variable if value == found else None)


def address(host: str, port: int | None) -> str:
    """Return the host and the port as in a URL, where an IPv6 address is in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def tls_reason(error: ssl.SSLError, *, plain: str = "http") -> tuple[str, str | None]:
    """Return the reason of the TLS library, and advice if there is any; *plain* is the scheme without TLS."""
    # macOS and Windows check certificates themselves. Their errors do not have the attribute.
    kind: str | None = getattr(error, "reason", None)
    reason = getattr(error, "verify_message", "") or (kind or str(error)).replace("_", " ").lower()
    match kind:
        case "WRONG_VERSION_NUMBER" | "RECORD_LAYER_FAILURE":
            return reason, f"should the URL start with {plain}://?"
        case _ if isinstance(error, ssl.SSLCertVerificationError):
            return reason.rstrip("."), _CERTIFICATE_ADVICE.get(getattr(error, "verify_code", 0), "it must be reissued")
        case "TLSV13_ALERT_CERTIFICATE_REQUIRED" | "SSLV3_ALERT_HANDSHAKE_FAILURE" | "SSLV3_ALERT_BAD_CERTIFICATE":
            return reason, "does it require a client certificate?"
        case _:
            return reason, None


_CERTIFICATE_ADVICE = {
    **dict.fromkeys((9, -67819), "is the clock of this machine wrong?"),
    **dict.fromkeys((10, -67818, 0x800B0101), "it must be renewed, unless the clock of this machine is wrong"),
    **dict.fromkeys(
        (2, 18, 19, 20, 21, 27, -67843, -25318, 0x800B0109, 0x800B010A), "to trust its issuer, set SSL_CERT_FILE"
    ),
    **dict.fromkeys((62, 64, -67602, 0x800B010F), "is the host right?"),
    # Faults that OpenSSL refuses only when it is strict (`VERIFY_X509_STRICT`).
    **dict.fromkeys(range(80, 95), "it must be reissued with the extensions that Python 3.13 and newer require"),
}
"""Advice by OpenSSL's `X509_V_ERR_…`, for which Python has no names, `errSec…` of macOS, and `CERT_E_…` of Windows."""


def login_required_by(challenge: str) -> str:
    """Return the authentication schemes and errors in a `WWW-Authenticate` header."""
    schemes, wrong = list[str](), list[str]()
    for item in parse_http_list(challenge):
        before, is_parameter, value = item.partition("=")
        match words := before.split():
            case [scheme, _]:
                schemes.append(scheme)
            case [scheme] if not is_parameter:
                schemes.append(scheme)
            case _:
                pass
        if words[-1:] in (["error"], ["error_description"]) and (reason := value.strip(' "')):
            wrong.append(reason)
    return f" (it asks for {'; '.join((', '.join(schemes), *wrong))})" if schemes else ""


_TITLE = re.compile(r"<title[^>]*>(.*?)(?:</title|\Z)", re.IGNORECASE | re.DOTALL)


def title_of(page: str, media_type: str) -> str:
    """Return the title of an HTML page; empty for anything else."""
    found = _TITLE.search(page) if media_type in ("", "text/html", "application/xhtml+xml") else None
    return " ".join(html.unescape(found[1]).split())[:QUOTED] if found else ""


_SIGN_IN = re.compile(r"\b(?:log|sign)[ -]?(?:in|on)\b|\bauthenticat", re.IGNORECASE)


def is_sign_in(title: str) -> bool:
    """Return True if a page with this title is for signing in."""
    return _SIGN_IN.search(title) is not None


def message_in(body: str) -> str:
    """Return the message in a JSON error; any other body unchanged."""
    try:
        value: Any = json.loads(body)
    except ValueError:  # nested at most as deep as the part of a body in an `Answer` is long
        return body
    return _text_in(value) or body


def _text_in(value: Any) -> str:
    """Return the most useful string in a JSON error, by the usual names of fields."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        texts = (_text_in(members.get(name)) for name in ("error_description", "message", "detail", "error", "title"))
        return next(filter(None, texts), "")
    return value if isinstance(value, str) else ""
