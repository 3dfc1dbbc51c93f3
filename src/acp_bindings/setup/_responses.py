"""What the errors of an agent's answers mean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Protocol, TypeGuard

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
    rf"\bsession(?: (?:with )?(?:id )?{_ID})?:? (?:was |is )?not found|could not load session|no conversation found",
    re.IGNORECASE,
)
"""How agents whose errors all are internal ones say that a session is not there (claude-code-acp)."""


class Failure(Protocol):
    """The package's `Error`, as `ErrorResponse.error` is one, or the `RequestFailed` of a connection."""

    @property
    def code(self) -> int:
        """What kind it is."""
        ...

    @property
    def message(self) -> str:
        """What went wrong."""
        ...

    @property
    def data(self) -> Any:
        """What more there is to say."""
        ...


def error_from(error: Failure, *, peer: Peer | None = None, session_id: str | None = None) -> RequestError:
    """What is meant by an *error* that a request was answered with.

        except RequestFailed as error:
            raise error_from(error, peer=agent, session_id=request.session_id) from error

    Args:
        error: the `RequestFailed` of a connection, or the package's `Error` (`ErrorResponse.error`).
        peer: who answered, whose ways to log in `AuthRequired` then has.
        session_id: the session that the request was about, if it was about one.

    Returns:
        `AuthRequired` for -32000; `SessionNotFound` for -32002 where the request was about a session or the answer is,
        and for an internal error that says so in words; `UnsupportedProtocolVersion` for -32022; else a `RequestError`.
    """
    code, message = error.code, error.message
    # JSON, where the schema has a type for the data and so they are an object of it.
    data: Any = from_json(encode(error.data))
    told = _session_in(data)
    if code == AUTH_REQUIRED:
        return AuthRequired(message, methods=peer.auth_methods if isinstance(peer, AgentPeer) else (), data=data)
    about_session = session_id is not None or told is not None
    if (code == NOT_FOUND and about_session) or (
        code == INTERNAL_ERROR and any(_says_lost(text, session_id) for text in _texts(message, data))
    ):
        lost = SessionNotFound(session_id if told is None else told, message=message)
        lost.code, lost.data = code, data
        return lost
    if code == UNSUPPORTED_VERSION:
        return _unsupported_version(data)
    return RequestError(code, message, data=data)


def is_closed(error: RequestError, *, peer: Peer) -> bool:
    """Whether `session/close`, answered with *error*, has done its work: so it has in v2 where no such session is."""
    return peer.version > 1 and error.code == NOT_FOUND


def _unsupported_version(data: Any) -> UnsupportedProtocolVersion:
    """The error -32022 with *data*: `{requested, supported}`, if the agent has kept to that."""
    members = members_of(data)
    requested: Any = members.get("requested")
    supported = [each for each in items_of(members.get("supported")) if _is_int(each)]
    known = requested if _is_int(requested) else None
    return UnsupportedProtocolVersion(requested=known, answered=None, supported=supported)


def _is_int(value: object) -> TypeGuard[int]:
    return type(value) is int


def _session_in(data: Any) -> str | None:
    told = members_of(data).get("sessionId")
    return told if isinstance(told, str) else None


def _says_lost(text: str, session_id: str | None) -> bool:
    # An id that is known need not look like one.
    return _LOST.search(text.replace(session_id, "0") if session_id else text) is not None


def _texts(message: str, data: Any) -> Iterator[str]:
    """What an error says in words: its message, and what SDKs make of an exception in its data."""
    yield message
    members = members_of(data) if isinstance(data, dict) else {"details": data}
    yield from (text for name in ("details", "message") if isinstance(text := members.get(name), str))
