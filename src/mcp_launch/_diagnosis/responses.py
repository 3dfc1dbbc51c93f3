"""Why a request got no answer: the name, the network, TLS, a proxy, a login, or what came is not HTTP."""

from __future__ import annotations

import json
import re
import socket
import ssl
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast
from urllib.request import parse_http_list

from mcp_launch._diagnosis import Diagnosis
from mcp_launch._http_types import Url
from mcp_launch._transports import LONGEST
from mcp_launch.failures import Code, family

UNMAPPED = (OSError, UnicodeError)
"""Errors from below that both libraries pass on as they are, such as a TLS alert after the handshake."""

TWICE = "compressed more than once"
"""Why an answer is not unpacked: each compression can grow it a thousandfold, and no server needs a second one."""


_DROPPED = "dropped the connection without an answer; its own log may say why"


class TooLong(Exception):  # noqa: N818 - says what happened
    """A body that was given up before it filled the memory; the text, if there is one, says what it was."""


class UnusableId(Exception):  # noqa: N818 - the same
    """The session was given an id that cannot be sent back."""


def trouble(  # noqa: PLR0911 - a list of cases
    error: Exception, url: Url, *, connect: float, via: str | None
) -> Diagnosis:
    """Why there was no answer, by the error of either library."""
    # By name: both libraries have these errors, and neither needs to be imported for it.
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
    if isinstance(error, TooLong):
        told = str(error) or f"a message of more than {LONGEST >> 20} MB, and was given up"
        return found("not_mcp", f"{where} sent {told}")
    if isinstance(error, UnusableId):
        told = f"{where} gave the session an id that is not ASCII, as Mcp-Session-Id must be"
        return found("invalid_response", f"{told}; is there a newer release of it?")
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
        if str(error) == TWICE:
            return found("http_error", f"{where} sent an answer that is {TWICE}, and was given up")
        return found("http_error", f"{where} sent an answer that is not compressed in the way that it says")
    if "RemoteProtocolError" in kinds:
        return found(*_protocol(str(error), where))
    return found("disconnected", f"{where} {_DROPPED}")


def _protocol(complaint: str, where: str) -> tuple[Code, str]:
    if "too long" in complaint:
        return "http_error", f"the headers that {where} sent are too long"
    if "without sending a response" in complaint:
        return "disconnected", f"{where} {_DROPPED}"
    if "incomplete" in complaint or "without sending complete" in complaint:
        return "disconnected", f"{where} dropped the connection in the middle of its answer"
    return "not_mcp", f"what {where} sent is not HTTP ({complaint}); is the port right?"


def _tls_reason(error: ssl.SSLError) -> str:
    reason = getattr(error, "verify_message", "") or (error.reason or str(error)).replace("_", " ").lower()
    match error.reason:
        case "WRONG_VERSION_NUMBER" | "RECORD_LAYER_FAILURE":
            return f"{reason}; does it want http://?"
        case "CERTIFICATE_VERIFY_FAILED":
            advice = _CERTIFICATE_ADVICE.get(getattr(error, "verify_code", 0), _TRUST)
            return f"{reason.rstrip('.')}; {advice}"
        case "TLSV13_ALERT_CERTIFICATE_REQUIRED" | "SSLV3_ALERT_HANDSHAKE_FAILURE" | "SSLV3_ALERT_BAD_CERTIFICATE":
            return f"{reason}; does it want a client certificate?"
        case _:
            return reason


_TRUST = "who issued its certificate must be trusted here, as by SSL_CERT_FILE"
_CERTIFICATE_ADVICE = {
    9: "is the clock wrong here?",
    10: "it must be renewed, unless the clock is wrong here",
    62: "is the host right?",
    64: "is the host right?",
    # Faults that OpenSSL refuses only when it is strict (`VERIFY_X509_STRICT`).
    **dict.fromkeys(range(80, 95), "it must be issued anew, with what Python asks for from 3.13 on"),
}
"""What to try where more is wrong than who issued it, by OpenSSL's `X509_V_ERR_…`, which Python has no names for."""


_QUOTED = 160
"""Characters of what a server says that a message quotes."""

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
    501: "is this the URL of an MCP server?",
    502: "the gateway in front of it got no good answer; is the server behind it running?",
    503: "it cannot serve now; try again later",
    504: "the gateway in front of it waited in vain; is the server behind it running?",
}
_OTHER = {
    "/mcp": "One that speaks SSE alone often has /sse",
    "/sse": "One that speaks Streamable HTTP often has /mcp",
}
_NAMED = "the server itself named that endpoint: does a proxy in front of it change paths?"


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
    """The start of the body, if it is an error or no MCP."""
    is_mcp: bool = False
    """Whether the body is one that an MCP server of this transport may send."""
    had_session: bool = False
    """Whether the request belonged to a session."""
    named: bool = False
    """Whether the server itself named the URL, as that of an SSE endpoint."""
    via: str | None = None
    """The proxy that the answer came through; it may be the proxy's own."""

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
            **({"proxy": self.via} if self.via else {}),
        }

    @property
    def route(self) -> str:
        """The request and its way, as messages say it."""
        through = f" through the proxy {self.via}" if self.via else ""
        return f"{self.method} {self.url}{through}"


def judge(answer: Answer, *, authorized: bool, slip: str | None, usual: str) -> Diagnosis | None:  # noqa: PLR0911 - a list of cases
    """Why an answer means that the server cannot be used; None if it is good, or holds an MCP error.

    `authorized` says whether the request carried credentials, `slip` what may be wrong with their form, and `usual` is
    the path that most servers have.
    """
    if answer.is_mcp and answer.status < HTTPStatus.BAD_REQUEST:
        return None
    told = f"{answer.route} was answered with {answer.status} {answer.reason}".strip()
    facts = answer.facts
    match answer.status:
        case HTTPStatus.UNAUTHORIZED:
            facts["authorization_sent"] = authorized
            challenge = answer.headers.get("www_authenticate", "")
            told += _asked(challenge)
            advice = slip or _login(challenge, authorized=authorized)
            return Diagnosis("unauthorized", f"{told}; {advice}{_said(answer)}", facts)
        case HTTPStatus.FORBIDDEN:
            return Diagnosis("forbidden", f"{told}; is this user allowed to use it?{_said(answer)}", facts)
        case HTTPStatus.NOT_FOUND | HTTPStatus.BAD_REQUEST if _lost(answer):
            return Diagnosis("session_lost", f"{told}: the server no longer knows the session; open a new one", facts)
        case _ if answer.is_mcp:
            return None
        case HTTPStatus.NOT_FOUND:
            often = _OTHER[usual] if answer.url.endswith(usual) else f"Often it is {usual}"
            advice = _NAMED if answer.named else f"is the path right? {often}"
            return Diagnosis("not_found", f"{told}; {advice}", facts)
        case HTTPStatus.METHOD_NOT_ALLOWED:
            advice = _NAMED if answer.named else "is this the URL of an MCP server?"
            return Diagnosis("method_not_allowed", f"{told}; {advice}", facts)
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
            return Diagnosis("not_mcp", f"{told} and {_misfit(answer)}{_said(answer)}", facts)


def _asked(challenge: str) -> str:
    """The ways to log in that a `WWW-Authenticate` header names, and what it says was wrong."""
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


def _login(challenge: str, *, authorized: bool) -> str:
    if authorized:
        return "is its Authorization header still valid?"
    if "resource_metadata=" in challenge:
        return "it wants an OAuth login, or a token in an Authorization header"
    return "does it want an Authorization header?"


def _lost(answer: Answer) -> bool:
    """Whether the server has lost the session, by its status or, as with many servers, by the word in its answer.

    A 404 with an MCP error may also be about the request itself, such as a method of the newer era that is unknown.
    """
    if not answer.had_session:
        return False
    by_status = answer.status == HTTPStatus.NOT_FOUND and not answer.is_mcp
    return by_status or bool(re.search(r"\bsession\b", answer.body, re.IGNORECASE))


def _advice(answer: Answer) -> str:
    after = answer.headers.get("retry_after")
    if answer.status == HTTPStatus.SERVICE_UNAVAILABLE and after:
        return f"it cannot serve now; try again {_when(after)}"
    usual = _TRY[500] if answer.status >= 500 else "is this the URL of an MCP server?"
    return _TRY.get(answer.status, usual)


def _when(after: str) -> str:
    return f"after {after} s" if after.isdecimal() else f"after {after}"


def _misfit(answer: Answer) -> str:
    """What came in place of a message, and what to try."""
    wanted = "application/json" if answer.body.lstrip().startswith(("{", "[")) else "text/event-stream"
    if '"jsonrpc"' in answer.body and answer.media_type != wanted:
        given = f'"{answer.media_type}"' if answer.media_type else "none"
        return f'what looks like MCP; its Content-Type must be "{wanted}", and is {given}'
    return f"{answer.media_type or 'nothing'}, which is no MCP message; is the path right?"


def _said(answer: Answer) -> str:
    """What the server says, if it is text or JSON; a page of HTML is left out."""
    if answer.media_type not in ("", "text/plain", "application/json", "application/problem+json"):
        return ""
    if not answer.media_type and answer.body.lstrip().startswith("<"):
        return ""
    said = " ".join(_plain(answer.body).split())
    return f'; it says "{said[:_QUOTED]}"' if said else ""


def _plain(body: str) -> str:
    """The message in a JSON error; a body that is none as it is."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        return body
    return _text_in(value) or body


def _text_in(value: Any) -> str:
    """The most useful text in a JSON error, by the usual names of members."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        texts = (_text_in(members.get(name)) for name in ("error_description", "message", "detail", "error", "title"))
        return next(filter(None, texts), "")
    return value if isinstance(value, str) else ""
