"""The names of the remote transport, and what it reads from a message to choose the stream for it.

Source: the proposal "Streamable HTTP & WebSocket Transport" of the Agent Client Protocol.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, cast

from pydantic_core import from_json

from acp_bindings._json import members_of

CONNECTION_ID = "acp-connection-id"
SESSION_ID = "acp-session-id"
EVENT_STREAM = "text/event-stream"
JSON = "application/json"

PART = 65536
"""Bytes that are written at once, so that a timeout means that the peer has stopped reading."""
SLOWEST = 16384
"""Bytes per second of the slowest network, for the time that a long message may take."""

NEEDS_SESSION = frozenset(
    {"session/cancel", "session/close", "session/prompt", "session/set_config_option", "session/set_mode"}
)
"""The methods that every client sends with the header of the session. SDKs differ in the others."""
REOPENS_SESSION = frozenset({"session/load", "session/resume"})
"""Requests whose response is on the stream of the connection, and whose session may be new to the connection."""
OPENS_SESSION = frozenset({"session/new", "session/fork", *REOPENS_SESSION})
CLOSES_SESSION = frozenset({"session/close", "session/delete"})
"""Requests after whose result the stream of the session is no longer needed."""

_OF_SESSION = re.compile(
    rb'\{"jsonrpc":"2\.0",(?:"id":(?:-?\d+|"[^"\\]*"),)?"method":"[^"\\]*","params":\{"sessionId":"([^"\\]*)"'
)
"""The beginning of most messages of an agent, as this package writes them."""


class Outline(NamedTuple):
    """The session, method and kind of a message."""

    method: str | None
    id: Any
    """The id, any JSON value; `...` if there is none."""
    session_id: str | None
    """The `sessionId` of the params."""
    result: dict[str, Any]
    """The result of a response that has a session id; otherwise empty."""
    is_error: bool
    """True if the response is an error."""

    @property
    def is_request(self) -> bool:
        """True if the message needs a response."""
        return self.method is not None and self.id is not ...

    @property
    def key(self) -> tuple[str, str]:
        """The id as a key: 1, "1" and true are different ids."""
        return type(self.id).__name__, str(self.id)


def outline(line: bytes) -> Outline | None:
    """Return what a message is about; None if it is not a request, a notification or a response."""
    try:
        message: Any = from_json(line, cache_strings="keys")
    except ValueError:
        return None
    if not isinstance(message, dict):
        return None
    message = cast("dict[str, Any]", message)
    if "id" not in message and not isinstance(message.get("method"), str):
        return None
    method, result = message.get("method"), members_of(message.get("result"))
    return Outline(
        method if isinstance(method, str) else None,
        message.get("id", ...),
        _text(members_of(message.get("params")).get("sessionId")),
        result if _text(result.get("sessionId")) else {},
        "error" in message,
    )


def session_of(line: bytes) -> str | None:
    """Return the session that a message of an agent belongs to, if that can be read without parsing it."""
    return found[1].decode() if (found := _OF_SESSION.match(line)) else None


def is_sendable(value: str) -> bool:
    """Return True if a value of the other side can be sent back as a header."""
    return value.isascii() and value.isprintable() and value == value.strip()


def as_line(body: bytes) -> bytes:
    """Return a JSON text as one line: a line break is only possible between its values."""
    if b"\n" in body or b"\r" in body:
        body = body.replace(b"\r", b" ").replace(b"\n", b" ")
    return body + b"\n"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
