"""Why a request got no answer: the name, the network, TLS, a proxy, a login, or what came is not HTTP."""

from __future__ import annotations

import socket
import ssl

from mcp_launch.diagnosis import Diagnosis
from mcp_launch.failures import Code, family
from mcp_launch.transports import LONGEST
from mcp_launch.transports.either_httpx import Url

__all__ = ["TWICE", "UNMAPPED", "TooLong", "UnusableId", "trouble"]

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
