"""The requests that wait for an answer, so that each gets one, also when the server will give none."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
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

from acp_bindings._redact import Redactor
from mcp_launch.diagnosis import Diagnosis
from mcp_launch.failures import Code

__all__ = ["Unanswered", "Unsaid", "farewell", "is_farewell"]

_SAID = 2000
"""Characters of an error that a caller gets; a server may have written more."""

_SETTLED = 64
"""Requests that are remembered when they no longer wait: what answers one late, or twice, was asked for."""
_NAMED = 3
"""Ids of answers that nobody asked for, of which the user is told."""


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
        self._last: RequestId | None = None
        """The last request, which may have been cancelled since."""
        self._settled: deque[RequestId] = deque(maxlen=_SETTLED)
        """What no longer waits."""
        self._strange: list[RequestId] = []
        """The ids of the first answers to nothing that was asked, since some request waits."""

    def __bool__(self) -> bool:
        return bool(self._ids)

    def holds(self, number: RequestId) -> bool:
        """Whether a request of that id waits."""
        return coerce_request_id(number) in self._ids

    def sent(self, message: JSONRPCMessage) -> None:
        """Know that a request waits from now on, and that one which is cancelled no longer does."""
        match message:
            case JSONRPCRequest(id=number, method=method):
                if not self._ids:
                    self._strange.clear()
                self._last = number
                self._ids[coerce_request_id(number)] = number
                self._opening = number if method in ("server/discover", "initialize") else None
            case JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as number}):
                self._settle(number)
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
            if self._settle(message.id):
                return True
            known = coerce_request_id(message.id) in self._settled or message.id in self._strange
            if not known and len(self._strange) < _NAMED:
                self._strange.append(message.id)
        return False

    def _settle(self, number: RequestId) -> bool:
        """Have a request wait no longer; whether it did."""
        known = coerce_request_id(number)
        if self._ids.pop(known, None) is None:
            return False
        self._settled.append(known)
        return True

    def explain(self, found: Diagnosis | None, *, waited: float | None) -> Diagnosis | None:
        """What was found; with a timeout it is told, if answers came that nobody had asked for."""
        if found is None or found.code != "timeout" or waited is None or not self._strange:
            return found
        came = ", ".join(map(json.dumps, self._strange))
        message = (
            f"did not answer within {waited:.1f} s, but gave answers with ids that nobody had asked for ({came}, where "
            f"the request had {json.dumps(self._last)}); is there a newer release of it?"
        )
        return replace(found, message=message)

    def refused(self, error: ErrorData) -> Iterator[Unsaid]:
        """That error as the answer to each request that waits; afterwards none does."""
        while self._ids:
            number = self._ids.pop(next(iter(self._ids)))
            yield Unsaid(jsonrpc="2.0", id=number, error=error)
