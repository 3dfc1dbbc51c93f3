# ruff: noqa: N818 - the names say what is wrong, which a suffix would not
"""The errors of `acp_bindings.agent`, below `RequestError`: a handler that does not catch them responds with them.

RequestError
├── SessionInUse         -32600  another process has the session: .session_id .reason
├── SessionUnreadable    -32603  what is stored is damaged, or of a newer version: .session_id .reason .path .line
└── StoreFailed          -32603  the store cannot read or write now: .session_id .reason

A session that is not stored is `SessionNotFound`, and a bad cursor `InvalidParams`, both of `acp_bindings.setup`.
"""

from __future__ import annotations

from pathlib import Path

from acp_bindings._envelope import INTERNAL_ERROR, INVALID_REQUEST
from acp_bindings.setup.errors import RequestError


class SessionInUse(RequestError):
    """Another process has the session, so nothing was changed."""

    def __init__(self, session_id: str, reason: str) -> None:
        super().__init__(INVALID_REQUEST, f"Session in use: {reason}", data={"sessionId": session_id})
        self.session_id = session_id
        self.reason = reason
        """The process that has it, and what to try."""


class SessionUnreadable(RequestError):
    """A stored session cannot be read, so nothing of it was loaded or changed."""

    def __init__(self, session_id: str, reason: str, *, path: Path | None = None, line: int | None = None) -> None:
        where = [path.name] if path else []
        where += [f"line {line}"] if line else []
        message = f"Session cannot be read: {', '.join(where)}{': ' if where else ''}{reason}"
        super().__init__(INTERNAL_ERROR, message, data={"sessionId": session_id})
        self.session_id = session_id
        self.reason = reason
        """The problem, and what to try."""
        self.path = path
        """The file, if it is stored in one. The message has only its name."""
        self.line = line
        """The number of the line, or of the update, from 1; None if the whole session is meant."""


class StoreFailed(RequestError):
    """The store cannot be read or written now: the disk is full, a server cannot be reached. Nothing was changed.

    `__cause__` is the error of the system or of the library.
    """

    def __init__(self, reason: str, session_id: str | None = None) -> None:
        data = None if session_id is None else {"sessionId": session_id}
        super().__init__(INTERNAL_ERROR, f"Session store failed: {reason}", data=data)
        self.reason = reason
        self.session_id = session_id
        """The session; None if sessions were to be listed."""
