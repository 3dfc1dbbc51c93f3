"""Explain HTTP requests that failed, and responses that are not MCP."""

from __future__ import annotations

import re
import socket
import ssl
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from acp_bindings._responses import (
    QUOTED,
    STATUS_ADVICE,
    Via,
    address,
    is_sign_in,
    login_required_by,
    message_in,
    tls_reason,
)
from mcp_launch._diagnosis import NEWER, UNSUPPORTED_VERSION, Diagnosis, advised
from mcp_launch._http_types import EVENT_STREAM, JSON, Url
from mcp_launch.failures import Code, family

TWICE = "compressed more than once"
"""The reason not to decompress a response: each compression can grow it a thousandfold, and one is enough."""


_DROPPED = "dropped the connection without a response; its log may say why"


class TooLong(Exception):  # noqa: N818 - says what happened
    """A body is longer than the limit; the message says what was sent."""


UNMAPPED = (OSError, TooLong, UnicodeError)
"""Errors that both HTTP libraries do not wrap, such as a TLS alert after the handshake."""


def trouble(  # noqa: PLR0911 - a list of cases
    error: Exception, url: Url, *, connect: float, via: Via | None
) -> Diagnosis:
    """Return why there was no response, for an error of httpx or httpx2, or a `TimeoutError` while connecting."""
    # By name, because both libraries have these errors and neither should be imported here.
    kinds = {kind.__name__ for kind in type(error).__mro__}
    port = url.port or {"http": 80, "https": 443}.get(url.scheme)
    where = address(url.host, port)
    causes = list(family(error))
    facts = {"host": url.host, "port": port, "error": type(error).__name__, **(via.facts if via else {})}

    def found(code: Code, message: str, advice: str | None = None) -> Diagnosis:
        return Diagnosis(code, message, facts, stage="connect", advice=advice)

    tls = next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None)
    if tls and not isinstance(tls, ssl.SSLWantReadError):
        reason, advice = tls_reason(tls)
        return found("tls", f"TLS with {where} failed: {'; '.join(filter(None, (reason, advice)))}", advice)
    if "AuthFailed" in kinds:
        return found("unauthorized", f"the login for {where} failed: {error}", "log in again, or check the login")
    if isinstance(error, TooLong):
        return found("not_mcp", f"{where} sent {error}", "is the path right?")
    if "ProxyError" in kinds:
        advice = via and via.advice_after(error)
        return found("refused", f"the proxy {via} did not connect to {where}: {error}; {advice}", advice)
    if any(isinstance(cause, socket.gaierror | UnicodeError) for cause in causes):
        name = f"the host name of the proxy {via}" if via else f'the host name "{url.host}"'
        return found("dns", f"cannot resolve {name}; is it spelled correctly?", via and via.advice)
    if "TimeoutException" in kinds or isinstance(error, TimeoutError):
        summary = f"could not connect to {where}{f' through the proxy {via}' if via else ''} within {connect:g} s"
        return found("timeout", summary, via.advice if via else _UNREACHABLE)
    if "ConnectError" in kinds:
        summary = f"the proxy {via} does" if via else f"{where} does"
        message = f"{summary} not accept connections; is {'it' if via else 'the server'} running?"
        return found("refused", message, via and via.advice)
    if "UnsupportedProtocol" in kinds:
        return found("invalid_spec", "the URL must start with http:// or https://")
    if "DecodingError" in kinds:
        wrong = f"is {TWICE}" if str(error) == TWICE else "does not match its Content-Encoding"
        return found("http_error", f"{where} sent a response that {wrong}", _COMPRESSION)
    if "RemoteProtocolError" in kinds:
        return found(*_protocol(str(error), where))
    return found("disconnected", f"{where} {_DROPPED}")


_UNREACHABLE = "check the host and the port; a firewall or a missing VPN may drop the packets"
_COMPRESSION = "correct the compression of the server or of a proxy in front of it"


def _protocol(complaint: str, where: str) -> tuple[Code, str]:
    if "too long" in complaint:
        return "http_error", f"{where} sent headers that are too long"
    if "without sending a response" in complaint:
        return "disconnected", f"{where} {_DROPPED}"
    if "incomplete" in complaint or "without sending complete" in complaint:
        return "disconnected", f"{where} dropped the connection in the middle of a response"
    return "not_mcp", f"{where} did not respond with HTTP ({complaint}); is the port right?"


_TRY = {
    **STATUS_ADVICE,
    400: "does it need another header or query parameter?",
    406: "is this the URL of an MCP server? These accept JSON and event streams",
    415: "is this the URL of an MCP server? These accept JSON",
    501: "is this the URL of an MCP server?",
    511: "a tunnel or network in front of it shows a page first; does that ask for a header or a login?",
}
_OTHER = {
    "/mcp": "Servers that only support SSE often use /sse",
    "/sse": "Streamable HTTP servers often use /mcp",
}
_NAMES_HOST = re.compile(r"\b(?:allowed at|(?:allowed|invalid) host)\b", re.IGNORECASE)
_OTHER_HOST = "does the URL have the host that the server allows?"
_OF_CLOUDFLARE = re.compile(r"Just a moment|\bCloudflare\b|^: \"error code: 1\d{3}\b")
_BOTS = "a firewall in front of it blocks programs or this address; its operator must allow them at this path"
LOST = "the server no longer has this session; did it restart, or are several instances behind its address?"
_CREDENTIALS = "does it require an Authorization header?"
_NAMED = "the server itself named this endpoint; does a proxy in front of it change paths?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The parts of an HTTP response that explain an error, without secrets."""

    method: str
    url: str
    status: int
    reason: str
    media_type: str
    headers: dict[str, str]
    """The headers that explain an error: www_authenticate, location, retry_after, ngrok_error_code."""
    body: str = ""
    """The start of the body, if it is an error or not MCP."""
    title: str = ""
    """The title, if the body is a page."""
    is_mcp: bool = False
    """True if an MCP server of this transport may send such a body."""
    had_session: bool = False
    """True if the request belonged to a session."""
    is_first: bool = False
    """True if the request came after the response to `initialize`, and before one of these has succeeded."""
    named: bool = False
    """True if the server itself named the URL, as an SSE endpoint."""
    via: Via | None = None
    """The proxy on the way, which may have sent the response itself."""

    @property
    def facts(self) -> dict[str, Any]:
        """The facts for a failure."""
        return {
            "method": self.method,
            "url": self.url,
            "status": self.status,
            "content_type": self.media_type,
            **self.headers,
            "body": self.body,
            **(self.via.facts if self.via else {}),
        }

    @property
    def route(self) -> str:
        """The request in words, with the proxy if there is one."""
        through = f" through the proxy {self.via}" if self.via else ""
        return f"{self.method} {self.url}{through}"


def judge(  # noqa: PLR0911, PLR0912 - a list of cases
    answer: Answer,
    *,
    authorized: bool,
    mistake: str | None,
    usual: str,
    rejected: str | None = None,
    offers_login: bool = False,
) -> Diagnosis | None:
    """Return why a response means that the server cannot be used; None if it is valid or contains an MCP error.

    `authorized` is true if the request had credentials, `mistake` says what may be wrong with their form, `usual` is
    the path that most servers use, `rejected` says why a stored login was rejected, and `offers_login` is true if the
    server has OAuth metadata.
    """
    if answer.is_mcp and answer.status < HTTPStatus.BAD_REQUEST:
        return None
    challenge = answer.headers.get("www_authenticate", "")
    summary = f"{answer.route} returned {answer.status} {answer.reason}".strip() + login_required_by(challenge)
    said, facts = _said(answer), answer.facts

    def found(code: Code, advice: str, known: str | None = None) -> Diagnosis:
        return Diagnosis(code, f"{summary}{said}; {advice}", facts, advice=known)

    named = _NAMED if answer.named else None
    removed = _removed_from(answer)
    match answer.status:
        case HTTPStatus.UNAUTHORIZED:
            facts["authorization_sent"] = authorized
            command = f'run "mcp-launch login {"--sse " if usual == "/sse" else ""}{answer.url}"'
            again = f"{rejected}; {command} again" if rejected else None
            known = again or mistake or (None if offers_login else _own_header(f"{said} {challenge}"))
            advice = known or _login(command if offers_login else None, authorized=authorized)
            return found("unauthorized", advice, advice if known or authorized or offers_login else None)
        case _ if tunnel := _of_ngrok(answer.headers.get("ngrok_error_code")):
            return found("http_error", tunnel, tunnel)
        case HTTPStatus.FORBIDDEN:
            scope = re.search(r'\bscope="([^"]+)"', challenge)
            known = (
                mistake
                or (_NAMES_HOST.search(said) and _OTHER_HOST)
                or (_OF_CLOUDFLARE.search(said) and _BOTS)
                or (not authorized and _CREDENTIALS)
                or (scope and f'does its token have the scope "{scope[1]}"?')
            )
            return found("forbidden", known or "is this user allowed to use it?", known)
        case HTTPStatus.NOT_FOUND | HTTPStatus.BAD_REQUEST if removed or _lost(answer):
            return found("session_lost", removed or LOST, removed)
        case _ if answer.is_mcp:
            return None
        case HTTPStatus.BAD_REQUEST if UNSUPPORTED_VERSION.search(answer.body):
            return found("unsupported_version", NEWER)
        case HTTPStatus.NOT_FOUND:
            often = _OTHER[usual] if answer.url.rstrip("/").endswith(usual) else f"It is often {usual}"
            return found("not_found", named or f"is the path right? {often}", named)
        case HTTPStatus.METHOD_NOT_ALLOWED:
            return found("method_not_allowed", named or "is this the URL of an MCP server?", named)
        case HTTPStatus.TOO_MANY_REQUESTS:
            after = answer.headers.get("retry_after")
            return found("rate_limited", f"try again {_when(after) if after else 'later'}")
        case status if status >= HTTPStatus.BAD_REQUEST:
            advice = _advice(answer)
            return found("http_error", advice, advice)
        case status if status // 100 == 3 and (target := answer.headers.get("location")):
            advice = "if that is the server, use its URL; if it is a login page, the server requires credentials"
            if target == answer.url:
                advice = "that is the same URL; is a login or a proxy in the way?"
            event = f"{answer.route} redirects to {target} ({f'{status} {answer.reason}'.strip()})"
            return advised("redirected", event, advice, facts)
        case _:
            misfit, advice = _misfit(answer)
            return advised("not_mcp", f"{summary} with {misfit}", advice, facts, said=said)


def _own_header(said: str) -> str | None:
    """Return what to try if the response names a header for keys, but not `Authorization`."""
    found = re.search(r"\b(?:X|Ocp)-(?:\w+-)*(?:Key|Token|Secret|Auth\w*)\b", said, re.IGNORECASE)
    return f"is its {found[0]} header sent, and valid?" if found and "authorization" not in said.lower() else None


def _login(command: str | None, *, authorized: bool) -> str:
    if authorized:
        return "is its Authorization header still valid?"
    if command:
        return f"it requires an OAuth login; {command}, or add a token in an Authorization header"
    return _CREDENTIALS


def _of_ngrok(code: str | None) -> str | None:
    """Return what to try after an error of ngrok, whose page says nothing without JavaScript."""
    if code is None:
        return None
    return _NGROK.get(code, f"the tunnel sent {code}, which https://ngrok.com/docs/errors explains")


_NGROK = {
    "ERR_NGROK_3200": "the tunnel of ngrok is offline; does ngrok run, and is this still its address?",
    "ERR_NGROK_6024": 'the tunnel shows a warning for browsers instead; send it a header "ngrok-skip-browser-warning"',
    "ERR_NGROK_8012": "the tunnel cannot connect to the server; does it run, on the port that ngrok forwards to?",
}


def _lost(answer: Answer) -> bool:
    """Return True if the server does not know the session, by its status or by the words of the response.

    A 404 with an MCP error may also be about the request itself, such as an unknown method of the newer era, and one
    for the first message of the SSE transport about the path.
    """
    if not (answer.had_session or answer.named):
        return False
    by_status = answer.status == HTTPStatus.NOT_FOUND and answer.had_session and not answer.is_mcp
    return by_status or bool(re.search(r"\bsession\b|\bserver not initialized\b", answer.body, re.IGNORECASE))


def _removed_from(answer: Answer) -> str | None:
    """Return which messages may lose the ID of the session, if the server says that it got none; None otherwise."""
    place, words = ("requests", _MISSES_SESSION) if answer.had_session else ("responses", _NEEDS_SESSION)
    if not (answer.is_first and words.search(answer.body)):
        return None
    return f"it got no session ID; does a proxy in front of it remove Mcp-Session-Id from {place}?"


_MISSES_SESSION = re.compile(r"(?<!or )\bmissing (?:\S+[ -])?session|\bsession[ -]id\b[^.]* required\b", re.IGNORECASE)
_NEEDS_SESSION = re.compile(r"\bsession[ -]?(?:id|not found)\b", re.IGNORECASE)


def _advice(answer: Answer) -> str:
    after = answer.headers.get("retry_after")
    if answer.status == HTTPStatus.SERVICE_UNAVAILABLE and after:
        return f"it is unavailable now; try again {_when(after)}"
    # nginx, Apache, Go and others say that they were sent plain HTTP on a port for TLS.
    if answer.url.startswith("http:") and re.search(r"\b(HTTPS|SSL)\b", f"{answer.title} {answer.body}"):
        return "does the URL have to begin with https://?"
    usual = _TRY[500] if answer.status >= 500 else "is this the URL of an MCP server?"
    return _TRY.get(answer.status, usual)


def _when(after: str) -> str:
    return f"after {after} s" if after.isdecimal() else f"after {after}"


_BYTES = "\ufffd\ufffd"
"""What is left of data that are not text."""
_OF_EVENTS = ("data:", "event:", "id:", "retry:", ":")
_OF_MESSAGES = re.compile(r'"(jsonrpc|protocolVersion)\\?"')
"""Fields of messages, also in a string."""


def _misfit(answer: Answer) -> tuple[str, str]:
    """Return what was sent instead of a message, and what to try."""
    start = answer.body.lstrip()
    wanted = JSON if start.startswith(("{", "[")) else EVENT_STREAM if start.startswith(_OF_EVENTS) else None
    is_message = _OF_MESSAGES.search(answer.body)
    if (is_message or start.startswith("event:")) and wanted not in (None, answer.media_type):
        given = f'not "{answer.media_type}"' if answer.media_type else "which is missing"
        return "what looks like an MCP message", f'its Content-Type must be "{wanted}", {given}'
    if is_message and answer.media_type == JSON:
        return "what looks like an MCP message", "the response must be one JSON-RPC 2.0 message and nothing else"
    if _BYTES in answer.body:
        return "bytes that are not text", _COMPRESSION
    advice = "is the path right?"
    if is_sign_in(answer.title):
        advice = "it is a page for signing in, so the server requires credentials"
    return f"{answer.media_type or 'no content type'} instead of an MCP message", advice


def _said(answer: Answer) -> str:
    """Return a quotation of the body if it is text or JSON, or the title of a page, unless it repeats the status."""
    known = ("", answer.reason.casefold(), f"{answer.status} {answer.reason}".casefold())
    if answer.title:
        return "" if answer.title.casefold() in known else f'; the page is titled "{answer.title}"'
    if answer.media_type not in ("", "text/plain", "application/json", "application/problem+json"):
        return ""
    if not answer.media_type and answer.body.lstrip().startswith("<"):
        return ""
    text = " ".join(message_in(answer.body).split())
    return "" if text.casefold() in known or _BYTES in text else f': "{text[:QUOTED]}"'
