"""Explain why a remote agent cannot be reached, by the error of the network or by the HTTP response, with advice."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass

import httpcore
import httpx
from websockets.exceptions import PayloadTooBig, ProtocolError

from acp_bindings._events import EventTooLong
from acp_bindings._redact import shown_url
from acp_bindings._responses import (
    QUOTED,
    STATUS_ADVICE,
    Via,
    address,
    is_sign_in,
    login_required_by,
    message_in,
    title_of,
    tls_reason,
)
from acp_bindings.remote._wire import EVENT_STREAM
from acp_bindings.remote.errors import Reason

_FIREWALL = "check the host and the port; a firewall or a missing VPN may drop the packets"
_MCP = re.compile(r"\bmcp\b|\"serverInfo\"", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """A response that was read whole, or of which the beginning was read."""

    status_code: int
    headers: httpx.Headers
    content: bytes

    @property
    def is_success(self) -> bool:
        """True for the statuses from 200 to 299."""
        return 200 <= self.status_code < 300

    @property
    def media_type(self) -> str:
        """The content type without its parameters."""
        return str(self.headers.get("content-type", "")).partition(";")[0].strip().lower()

    @property
    def is_event_stream(self) -> bool:
        """True if the content is an event stream that can be read."""
        return self.status_code == 200 and self.media_type == EVENT_STREAM and not self.is_compressed

    @property
    def is_compressed(self) -> bool:
        """True if the content is compressed. It is never decompressed, because it could grow a thousandfold."""
        return bool(self.headers.get("content-encoding", "identity") != "identity")

    @property
    def retry_after(self) -> float | None:
        """The seconds of Retry-After, if it has a number."""
        value = self.headers.get("retry-after", "")
        return float(value) if value.isdecimal() else None


def reason_of_error(  # noqa: PLR0911, PLR0912 - a table
    error: Exception, url: httpx.URL, *, via: Via | None, timeout: float, silence: float
) -> tuple[Reason, str]:
    """Return the code and the explanation of an error of the network, by its deepest known cause."""
    where = address(url.host, url.port or {"http": 80, "ws": 80}.get(url.scheme, 443))
    for cause in _causes(error):
        match cause:
            case ssl.SSLError():
                reason, advice = tls_reason(cause, plain=url.scheme.removesuffix("s"))
                if advice and "SSL_CERT_FILE" in advice:
                    advice += " or pass verify="
                return "tls", f"TLS with {where} failed: {'; '.join(filter(None, (reason, advice)))}"
            case socket.gaierror() | UnicodeError():
                name = f"the host name of the proxy {via}" if via else f'the host name "{url.host}"'
                return "dns", f"cannot resolve {name}; is it spelled correctly?"
            case _:
                pass
    match error:
        case EventTooLong() | PayloadTooBig():
            return "not_acp", f"sent a message that is too long: {error}"
        case ProtocolError():
            return "not_acp", f"sent an invalid WebSocket frame: {error}"
        case httpx.ProxyError():
            advice = via.advice_after(error) if via else ""
            return "proxy", f"the proxy {via} did not connect to {where}: {error}; {advice}"
        case httpx.ConnectTimeout():
            advice = via.advice if via else _FIREWALL
            return "timeout", f"could not connect to {via or where} within {timeout:g} s; {advice}"
        case httpx.ConnectError() if via:
            return "proxy", f"the proxy {via} does not accept connections; {via.advice}"
        case httpx.ConnectError():
            return "refused", f"{where} does not accept connections; is the agent running?"
        case httpx.ReadTimeout() | httpcore.ReadTimeout():
            return "timeout", f"sent nothing for {silence:g} s; is the agent overloaded, or the network down?"
        case httpx.WriteTimeout() | httpcore.WriteTimeout():
            return "timeout", f"read nothing for {timeout:g} s; is the agent overloaded, or the network down?"
        case httpx.RemoteProtocolError() if not re.search("disconnected|peer closed|incomplete", str(error)):
            return "not_acp", f"{where} did not respond with HTTP ({error}); is the port right?"
        case _:
            detail = f": {error}" if str(error) else ""
            return "disconnected", f"the connection was lost ({type(error).__name__}{detail})"


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def reason_of_reply(  # noqa: PLR0911 - a table
    reply: Reply, body: str, *, has_login: bool, via: Via | None, is_websocket: bool
) -> tuple[Reason, str]:
    """Return the code and the explanation of a response that the protocol does not allow.

    Args:
        reply: the response.
        body: its beginning, without secrets.
        has_login: True if the request had credentials.
        via: the proxy, which may have sent the response.
        is_websocket: True if the request was for a WebSocket.
    """
    status = reply.status_code
    type_ = reply.media_type
    title = title_of(body, type_)
    text = " ".join(message_in(body).split())[:QUOTED] if type_ in _READABLE else ""
    said = f': "{text}"' if text else ""
    through = f" through the proxy {via}" if via else ""
    match status:
        case 401:
            asked = login_required_by(reply.headers.get("www-authenticate", ""))
            advice = "is the login still valid?" if has_login else "pass headers= or auth="
            return "unauthorized", f"requires a login (401{through}){asked}{said}; {advice}"
        case 403:
            # Many servers have no other response to a WebSocket that they do not accept.
            advice = "is the path right, and is this user" if is_websocket else "is this user"
            return "forbidden", f"refuses access (403{through}){said}; {advice} allowed to use it?"
        case 301 | 302 | 303 | 307 | 308:
            target = shown_url(reply.headers.get("location", ""))
            advice = "if that is the agent, use its URL; if it is a login page, the agent requires credentials"
            return "redirected", f"redirects to {target or 'no URL'} ({status}{through}); {advice}"
        case 429:
            when = f"after {reply.retry_after:g} s" if reply.retry_after is not None else "later"
            return "rate_limited", f"has too many connections or requests (429{through}){said}; try again {when}"
        case _ if reply.is_compressed:
            return "not_acp", "sent a compressed response, which is not accepted; does a proxy compress it?"
        case _ if status == 406 or "mcp-session-id" in reply.headers or (text and _MCP.search(body)):
            return "not_acp", f"looks like an MCP server ({status}){said}; pass it to a session instead"
        case 404 | 405:
            return "not_found", f"does not serve ACP at this path ({status}{through}){said}; it is often /acp"
        case _ if status >= 400:
            known = f"; {STATUS_ADVICE[status]}" if status in STATUS_ADVICE else ""
            return "http_error", f"responded with {status}{through}{said}{known}"
        case _:
            if '"jsonrpc"' in body:
                return "not_acp", "responded without a usable Acp-Connection-Id; does a proxy remove headers?"
            page = f'a page titled "{title}"' if title else type_ or "no content type"
            advice = "it requires credentials" if is_sign_in(title) else "is this the URL of the agent?"
            return "not_acp", f"responded with {page}{through} instead of ACP{said}; {advice}"


_READABLE = ("text/plain", "application/json", "application/problem+json")
