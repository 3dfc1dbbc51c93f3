"""The requests that wait for an answer, so that each gets one, also when the server will give none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from mcp.shared.dispatcher import coerce_request_id
from mcp_types import (
    CONNECTION_CLOSED,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from acp_bindings.secrets.redact import Redactor
from mcp_launch.diagnosis import Diagnosis
from mcp_launch.failures import Code

__all__ = ["Unanswered", "Unsaid", "farewell", "is_farewell"]

_SAID = 2000
"""Characters of an error that a caller gets; a server may have written more."""


def farewell(found: Diagnosis, *, hide: Redactor) -> ErrorData:
    """What whoever waits for an answer is told instead: why there is none, and as data the code and the facts of it."""
    data = hide.json({"code": found.code, **found.facts})
    return ErrorData(code=CONNECTION_CLOSED, message=hide.start(found.message, _SAID), data=data)


def is_farewell(error: ErrorData) -> bool:
    """Whether an error is one of those, and not the server's own word: many use that code for all that they refuse."""
    match error:
        case ErrorData(code=code, data={"code": str() as known}) if code == CONNECTION_CLOSED:
            return known in get_args(Code)
        case _:
            return False


class Unsaid(JSONRPCError):  # noqa: N818 - a message, which nobody raises
    """An answer that the server never gave: whoever waits gets it in place of one."""


class Unanswered:
    """Told of each message, it knows which requests are open; true when there are any."""

    def __init__(self) -> None:
        self._ids: dict[RequestId, RequestId] = {}
        """As they were sent, by what the SDK takes for the same: servers send numbers back as text."""
        self._opening: RequestId | None = None
        """The request that opens the session, if nothing else was sent since."""

    def __bool__(self) -> bool:
        return bool(self._ids)

    def holds(self, number: RequestId) -> bool:
        """Whether a request of that id waits."""
        return coerce_request_id(number) in self._ids

    def sent(self, message: JSONRPCMessage) -> None:
        """Know that a request waits from now on, and that one which is cancelled no longer does."""
        match message:
            case JSONRPCRequest(id=number, method=method):
                self._ids[coerce_request_id(number)] = number
                self._opening = number if method in ("server/discover", "initialize") else None
            case JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as number}):
                self._ids.pop(coerce_request_id(number), None)
            case _:
                self._opening = None

    def named(self, message: JSONRPCMessage) -> JSONRPCMessage:
        """The message; an error that names no request belongs to the one that opens the session, if that alone waits.

        Later it may as well be about a notification, and what waits be answered yet.
        """
        if isinstance(message, JSONRPCError) and message.id is None and [*self._ids.values()] == [self._opening]:
            return JSONRPCError(jsonrpc="2.0", id=self._opening, error=message.error)
        return message

    def received(self, message: JSONRPCMessage) -> bool:
        """Know that a request has its answer; whether it still waited for one."""
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            return self._ids.pop(coerce_request_id(message.id), None) is not None
        return False

    def refused(self, error: ErrorData) -> Iterator[Unsaid]:
        """That error as the answer to each request that waits; afterwards none does."""
        while self._ids:
            number = self._ids.pop(next(iter(self._ids)))
            yield Unsaid(jsonrpc="2.0", id=number, error=error)
