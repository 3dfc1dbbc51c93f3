"""What an HTTP answer means, or that there was none: a code, and what to try. Whoever reads it is not an expert."""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast
from urllib.request import parse_http_list

from mcp_launch.diagnosis import Diagnosis
from mcp_launch.failures import Code, family
from mcp_launch.transports import LONGEST
from mcp_launch.transports.headers import Url

__all__ = ["UNMAPPED", "Answer", "TooLong", "judge", "trouble"]

_QUOTED = 160
"""Characters of what a server says that stand in a message."""

_TRY = {
    400: "does it want another header or query?",
    406: "is this the URL of an MCP server? Those take JSON and event streams",
    407: "the proxy wants a login: put it into the proxy's URL",
    408: "is something in front of it too slow?",
    410: "it is gone for good; is there a newer URL?",
    413: "the message is too large for it, or for what is in front of it",
    415: "is this the URL of an MCP server? Those take JSON",
    421: "it does not serve this host name; is that among the hosts it allows?",
    431: "a header is too large for it; is a token too long?",
    500: "it failed inside; its own log says why",
    502: "the gateway in front of it got no good answer; is the server behind it running?",
    503: "it cannot serve now; try again later",
    504: "the gateway in front of it waited in vain; is the server behind it running?",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is worth keeping of an HTTP answer, without secrets."""

    method: str
    url: str
    status: int
    reason: str
    media_type: str
    headers: dict[str, str]
    """Those that explain an error: www_authenticate, location, retry_after."""
    body: str = ""
    """Its start, if it is an error or not MCP."""
    is_mcp: bool = False
    """Whether it is what a server of this transport may say."""
    had_session: bool = False
    """Whether the request belonged to a session."""

    @property
    def facts(self) -> dict[str, Any]:
        """As the facts of a failure."""
        return {
            "method": self.method,
            "url": self.url,
            "status": self.status,
            "content_type": self.media_type,
            **self.headers,
            "body": self.body,
        }


UNMAPPED = (OSError, UnicodeError)
"""What both libraries let through of what goes wrong below them, such as a TLS alert after the handshake."""


class TooLong(Exception):  # noqa: N818 - says what happened
    """The body was given up before it filled the memory."""


def judge(answer: Answer, *, authorized: bool) -> Diagnosis | None:  # noqa: PLR0911 - a list of cases
    """What an answer says against the server; None when it is good, or tells of an error in MCP."""
    if answer.is_mcp and answer.status < HTTPStatus.BAD_REQUEST:
        return None
    told = f"{answer.method} {answer.url} was answered with {answer.status} {answer.reason}".strip()
    facts = answer.facts
    match answer.status:
        case HTTPStatus.UNAUTHORIZED:
            facts["authorization_sent"] = authorized
            challenge = answer.headers.get("www_authenticate", "")
            asks = ", ".join(_schemes(challenge))
            why = "".join(f"; {reason}" for reason in re.findall(r'error(?:_description)?="?([^",]+)', challenge))
            told += f" (it asks for {asks}{why})" if asks else ""
            return Diagnosis(
                "unauthorized", f"{told}; {_login(challenge, authorized=authorized)}{_said(answer)}", facts
            )
        case HTTPStatus.FORBIDDEN:
            return Diagnosis("forbidden", f"{told}; is this user allowed to use it?{_said(answer)}", facts)
        case HTTPStatus.NOT_FOUND | HTTPStatus.BAD_REQUEST if _lost(answer):
            return Diagnosis("session_lost", f"{told}: the server no longer knows the session; open a new one", facts)
        case _ if answer.is_mcp:
            return None
        case HTTPStatus.NOT_FOUND:
            return Diagnosis("not_found", f"{told}; is the path right? Often it is /mcp", facts)
        case HTTPStatus.METHOD_NOT_ALLOWED:
            return Diagnosis("method_not_allowed", f"{told}; is this the URL of an MCP server?", facts)
        case HTTPStatus.TOO_MANY_REQUESTS:
            after = answer.headers.get("retry_after")
            return Diagnosis("rate_limited", f"{told}; try again {_when(after) if after else 'later'}", facts)
        case status if status >= HTTPStatus.BAD_REQUEST:
            return Diagnosis("http_error", f"{told}; {_advice(answer)}{_said(answer)}", facts)
        case status if status // 100 == 3 and (target := answer.headers.get("location")):
            advice = "if that is the server, use its URL; if it is a login, it wants credentials"
            if target == answer.url:
                advice = "which is where it came from; is a login or a proxy in the way?"
            return Diagnosis("redirected", f"{told} to {target}; {advice}", facts)
        case _:
            kind = answer.media_type or "nothing"
            return Diagnosis("not_mcp", f"{told} and {kind}, which is no MCP message; is the path right?", facts)


def trouble(  # noqa: PLR0911 - a list of cases
    error: Exception, url: Url, *, connect: float, via: str | None
) -> Diagnosis:
    """Why there was no answer, by the error of either library."""
    # By name: both libraries have these errors, and neither is imported for the sake of the other's.
    kinds = {kind.__name__ for kind in type(error).__mro__}
    port = url.port or {"http": 80, "https": 443}.get(url.scheme)
    where = f"{url.host}:{port}"
    causes = list(family(error))
    facts = {"host": url.host, "port": port, "error": type(error).__name__, **({"proxy": via} if via else {})}

    def found(code: Code, message: str) -> Diagnosis:
        return Diagnosis(code, message, facts, stage="connect")

    if tls := next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None):
        return found("tls", f"TLS with {where} failed: {_tls_reason(tls)}")
    if "AuthFailed" in kinds:
        return found("unauthorized", f"the login for {where} failed: {error}")
    if "TooLong" in kinds:
        return found("not_mcp", f"{where} sent a message of more than {LONGEST >> 20} MB, and was given up")
    if "ProxyError" in kinds:
        return found("refused", f"the proxy {via} did not connect to {where}: {error}")
    if any(isinstance(cause, socket.gaierror | UnicodeError) for cause in causes):
        name = f"the name of the proxy {via}" if via else f'the name "{url.host}"'
        return found("dns", f"{name} is not known; is it spelt right?")
    if "TimeoutException" in kinds:
        return found("timeout", f"no connection to {via or where} within {connect:g} s")
    if "ConnectError" in kinds:
        told = f"the proxy {via} does" if via else f"{where} does"
        return found("refused", f"{told} not accept connections; is {'it' if via else 'the server'} running?")
    if "UnsupportedProtocol" in kinds:
        return found("invalid_spec", "the URL must start with http:// or https://")
    if "DecodingError" in kinds:
        return found("http_error", f"{where} sent an answer that is not compressed in the way that it says")
    if "RemoteProtocolError" in kinds:
        return found(*_protocol(str(error), where))
    return found("disconnected", f"{where} dropped the connection without an answer")


def _protocol(complaint: str, where: str) -> tuple[Code, str]:
    if "too long" in complaint:
        return "http_error", f"the headers that {where} sent are too long"
    if "without sending a response" in complaint:
        return "disconnected", f"{where} dropped the connection without an answer"
    if "incomplete" in complaint or "without sending complete" in complaint:
        return "disconnected", f"{where} dropped the connection in the middle of its answer"
    return "not_mcp", f"what {where} sent is not HTTP ({complaint}); is the port right?"


def _tls_reason(error: ssl.SSLError) -> str:
    reason = getattr(error, "verify_message", "") or (error.reason or str(error)).replace("_", " ").lower()
    match error.reason:
        case "WRONG_VERSION_NUMBER" | "RECORD_LAYER_FAILURE":
            return f"{reason}; does it want http://?"
        case "CERTIFICATE_VERIFY_FAILED" if "name mismatch" in reason.lower():
            return f"{reason.rstrip('.')}; is the host right?"
        case "CERTIFICATE_VERIFY_FAILED":
            return f"{reason}; who issued its certificate must be trusted here, as by SSL_CERT_FILE"
        case "TLSV13_ALERT_CERTIFICATE_REQUIRED" | "SSLV3_ALERT_HANDSHAKE_FAILURE" | "SSLV3_ALERT_BAD_CERTIFICATE":
            return f"{reason}; does it want a client certificate?"
        case _:
            return reason


def _schemes(challenge: str) -> Iterator[str]:
    """The ways to log in that a `WWW-Authenticate` header names."""
    for item in parse_http_list(challenge):
        words, is_parameter, _ = item.partition("=")
        match words.split():
            case [scheme, _]:
                yield scheme
            case [scheme] if not is_parameter:
                yield scheme
            case _:
                pass


def _login(challenge: str, *, authorized: bool) -> str:
    if authorized:
        return "is its Authorization header still valid?"
    if "resource_metadata=" in challenge:
        return "it wants an OAuth login, or a token in an Authorization header"
    return "does it want an Authorization header?"


def _lost(answer: Answer) -> bool:
    """Whether it means the session: by its status, or, as many servers do it, by what it says."""
    if not answer.had_session:
        return False
    if answer.status == HTTPStatus.NOT_FOUND:
        return not answer.is_mcp
    return bool(re.search(r"\bsession\b", answer.body, re.IGNORECASE))


def _advice(answer: Answer) -> str:
    after = answer.headers.get("retry_after")
    if answer.status == HTTPStatus.SERVICE_UNAVAILABLE and after:
        return f"it cannot serve now; try again {_when(after)}"
    usual = _TRY[500] if answer.status >= 500 else "is this the URL of an MCP server?"
    return _TRY.get(answer.status, usual)


def _when(after: str) -> str:
    return f"after {after} s" if after.isdecimal() else f"after {after}"


def _said(answer: Answer) -> str:
    """What the server says of it, where that is meant to be read."""
    if answer.media_type not in ("text/plain", "application/json", "application/problem+json"):
        return ""
    said = " ".join(_plain(answer.body).split())
    return f'; it says "{said[:_QUOTED]}"' if said else ""


def _plain(body: str) -> str:
    """The text in a JSON error, by the usual names."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        return body
    for name in ("error", "message", "detail", "error_description", "title"):
        if isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            value = members.get(name, members)
    return value if isinstance(value, str) else body
