"""Conversion of error responses to specific exceptions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Protocol

from pydantic_core import from_json

from acp_bindings._envelope import INTERNAL_ERROR
from acp_bindings._json import items_of, members_of
from acp_bindings.encoding import encode
from acp_bindings.setup._peer import AgentPeer, Peer
from acp_bindings.setup.errors import (
    AUTH_REQUIRED,
    NOT_FOUND,
    UNSUPPORTED_VERSION,
    AuthRequired,
    RequestError,
    SessionNotFound,
    UnsupportedProtocolVersion,
)

_ID = r"(?:\"[^\"]{1,80}\"|'[^']{1,80}'|`[^`]{1,80}`|\S{0,80}\d\S{0,80})"
_LOST = re.compile(
    rf"\bsession(?: (?:with )?(?:id )?{_ID})?:? (?:was |is )?not found|could not load session|no conversation found"
    r"|\binvalid session identifier|\bno previous sessions found",
    re.IGNORECASE,
)
"""Messages for unknown sessions of agents that only send internal errors (claude-code-acp, Gemini CLI)."""


class Failure(Protocol):
    """The `RequestFailed` of a connection, or the `Error` of a package (`ErrorResponse.error`)."""

    @property
    def code(self) -> int: ...
    @property
    def message(self) -> str: ...
    @property
    def data(self) -> Any: ...


def error_from(error: Failure, *, peer: Peer | None = None, session_id: str | None = None) -> RequestError:
    """Return a specific exception for an error response.

        except RequestFailed as error:
            raise error_from(error, peer=agent, session_id=request.session_id) from error

    Args:
        error: the `RequestFailed` of a connection, or the package's `Error` (`ErrorResponse.error`).
        peer: the agent that responded; its login methods are added to `AuthRequired`.
        session_id: the session of the request, if any.

    Returns:
        `AuthRequired` for -32000; `SessionNotFound` for -32002 if the request or the response is about a session and
        the data does not name another resource by its `uri`, and for -32002 or an internal error that reports a
        missing session; `UnsupportedProtocolVersion` for -32022; otherwise `RequestError`.
    """
    code, message = error.code, error.message
    # As JSON: the schema may have a type for the data.
    data: Any = from_json(encode(error.data))
    members = members_of(data)
    named: object = members.get("sessionId")
    if code == AUTH_REQUIRED:
        return AuthRequired(message, methods=peer.auth_methods if isinstance(peer, AgentPeer) else (), data=data)
    if isinstance(named, str):
        session_id = named
    elif session_id and (uri := members.get("uri")) and session_id not in str(uri):
        session_id = None  # SDKs name another resource, such as a file, in this field
    if (code == NOT_FOUND and session_id is not None) or (
        code in {NOT_FOUND, INTERNAL_ERROR} and any(_says_lost(text, session_id) for text in _texts(message, data))
    ):
        lost = SessionNotFound(session_id, message=message)
        lost.code, lost.data = code, data
        return lost
    if code == UNSUPPORTED_VERSION:
        requested: object = members.get("requested")
        known = requested if type(requested) is int else None
        supported = [each for each in items_of(members.get("supported")) if type(each) is int]
        return UnsupportedProtocolVersion(requested=known, answered=None, supported=supported)
    return RequestError(code, message, data=data)


def is_closed(error: RequestError, *, peer: Peer) -> bool:
    """Return True if a session is closed although `session/close` failed: in v2, if it was not found."""
    return peer.version > 1 and error.code == NOT_FOUND


def _says_lost(text: str, session_id: str | None) -> bool:
    # The known id may have any form.
    return _LOST.search(text.replace(session_id, "0") if session_id else text) is not None


def _texts(message: str, data: Any) -> Iterator[str]:
    """Yield the texts of an error: its message, and the text of an exception that SDKs put into its data."""
    yield message
    members = members_of(data) if isinstance(data, dict) else {"details": data}
    yield from (text for name in ("details", "message") if isinstance(text := members.get(name), str))
