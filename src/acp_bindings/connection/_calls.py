"""The pending requests of this side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import anyio

from acp_bindings.connection._outbox import Outbox, Place
from acp_bindings.connection._stray import Stray
from acp_bindings.connection.errors import BadAnswer, ConnectionClosed, RequestFailed, log
from acp_bindings.jsonrpc import Codec
from acp_bindings.messages import BadResponse, ErrorResponse, Id, Response

Late: TypeAlias = Callable[[Any], object] | None
"""Called with a result that its caller does not get."""


class Call:
    """A request of this side, and its outcome."""

    __slots__ = (
        "answered",
        "error",
        "inside",
        "late",
        "method",
        "over",
        "place",
        "result",
        "settled",
        "stray",
        "then",
    )

    def __init__(self, then: Callable[[Any], Any] | None, late: Late, *, inside: bool, stray: int) -> None:
        self.then, self.late = then, late
        self.inside = inside
        """True if it was sent by a handler that all other messages wait for."""
        self.place: Place | None = None
        """Its place among the senders that wait for room; None if there was room."""
        self.stray = stray
        """The number of stray lines before it."""
        self.settled = False
        """True if the outcome is known. `answered` is set when it may be delivered, in order."""
        self.answered = anyio.Event()
        self.over = False
        """True if the caller no longer waits for it."""
        self.method = ""
        self.result: Any = None
        self.error: BaseException | None = None

    @property
    def sent(self) -> bool:
        """True if the request has been sent."""
        return self.place is None or self.place.taken

    def settle(self, message: Response | ErrorResponse | BadResponse) -> None:
        """Record the response."""
        self.settled = True
        if self.place:
            self.place.leave()
        self.method = message.method or ""
        if isinstance(message, Response):
            try:
                self.result = self.then(message.result) if self.then else message.result
            except Exception as error:  # noqa: BLE001 - `then` belongs to the caller
                self.error = error
        elif isinstance(message, ErrorResponse):
            failed = message.error
            self.error = RequestFailed(self.method, failed.code, failed.message, failed.data)
        else:
            self.error = BadAnswer(self.method, message.message, message.issues)

    def drop(self) -> None:
        """Call `late` with the result, if there is one, because the caller does not get it."""
        if self.late and self.settled and self.error is None:
            try:
                self.late(self.result)
            except Exception:  # noqa: BLE001 - `late` belongs to the caller
                log.exception("late failed")


class Calls:
    """The requests whose outcome has not been delivered yet."""

    def __init__(self, *, codec: Codec, outbox: Outbox, stray: Stray) -> None:
        self._codec = codec
        self._outbox = outbox
        self._stray = stray
        self._open: dict[Id, Call] = {}
        self.cancelled = False
        """True if the peer was asked to cancel a request. Some reject that as unknown, although it has no id."""

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, id_: Id, then: Callable[[Any], Any] | None, late: Late, *, inside: bool) -> Call:
        """Register a request that is about to be sent."""
        call = self._open[id_] = Call(then, late, inside=inside, stray=self._stray.count)
        return call

    def settle(self, message: Response | ErrorResponse | BadResponse) -> Call | None:
        """Record *message* as the response of its request, which stays registered until its caller continues."""
        call = self._open.get(message.id)
        if call is not None:
            self._stray.answered = True
            call.settle(message)
            if call.over:
                del self._open[message.id]
                call.drop()
        return call

    def fail(self, id_: Id, end: ConnectionClosed) -> None:
        """Deliver the outcome of a request: its response if there is one, otherwise *end*."""
        call = self._open.pop(id_)
        if not call.settled:
            call.error = end.of(self._codec.forget(id_), stray=self._stray.since(call.stray))
            call.settled = True
        call.answered.set()
        if call.place:
            call.place.leave()

    def fail_all(self, end: ConnectionClosed, *, inside: bool) -> None:
        """Do the same for all requests, or only for those *inside*."""
        for id_, call in list(self._open.items()):
            if call.inside or not inside:
                self.fail(id_, end)

    def give_up(self, id_: Id) -> str | None:
        """Remove a request, and ask the peer to cancel it if there is no response yet.

        It stays registered until the response if `late` awaits the result.

        Returns:
            Its method if there was no response.
        """
        call = self._open.pop(id_, None)
        if call is None or call.settled:
            return None
        if call.sent:
            self.cancelled = True
            self._outbox.add(self._codec.cancel(id_))
            if call.late:
                self._open[id_] = call
                return self._codec.pending[id_]
        return self._codec.forget(id_)
