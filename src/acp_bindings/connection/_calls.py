"""Our requests that wait for a response."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio

from acp_bindings.connection._outbox import Outbox, Place
from acp_bindings.connection._stray import Stray
from acp_bindings.connection.errors import BadAnswer, ConnectionClosed, RequestFailed, is_failure
from acp_bindings.jsonrpc import Codec
from acp_bindings.messages import BadResponse, ErrorResponse, Id, Response


class Call:
    """A request of ours, and its outcome."""

    __slots__ = (
        "answered",
        "error",
        "inside",
        "method",
        "over",
        "place",
        "result",
        "sent_at_once",
        "settled",
        "stray",
        "then",
    )

    def __init__(self, then: Callable[[Any], Any] | None, *, inside: bool, stray: int) -> None:
        self.then = then
        self.inside = inside
        """Whether it was sent by a handler that everything else waits for."""
        self.sent_at_once = False
        self.place: Place | None = None
        """Its place among the senders that wait for room, if it had to wait."""
        self.stray = stray
        """How many stray lines there had been before."""
        self.settled = False
        """Whether the outcome is known. `answered` is set when it may be told, in its turn."""
        self.answered = anyio.Event()
        self.over = False
        """Whether nobody waits for it any more."""
        self.method = ""
        self.result: Any = None
        self.error: BaseException | None = None

    @property
    def sent(self) -> bool:
        """Whether the request is on its way, or was."""
        return self.sent_at_once or (self.place is not None and self.place.taken)

    def settle(self, message: Response | ErrorResponse | BadResponse) -> None:
        """Take the answer."""
        self.settled = True
        if self.place:
            self.place.leave()
        self.method = message.method or ""
        if isinstance(message, Response):
            try:
                self.result = self.then(message.result) if self.then else message.result
            except BaseException as error:
                if not is_failure(error):
                    raise
                # `then` belongs to whoever asks.
                self.error = error
        elif isinstance(message, ErrorResponse):
            failed = message.error
            self.error = RequestFailed(self.method, failed.code, failed.message, failed.data)
        else:
            self.error = BadAnswer(self.method, message.message, message.issues)


class Calls:
    """The requests of which nobody has been told the outcome yet."""

    def __init__(self, *, codec: Codec, outbox: Outbox, stray: Stray) -> None:
        self._codec = codec
        self._outbox = outbox
        self._stray = stray
        self._open: dict[Id, Call] = {}

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, id_: Id, then: Callable[[Any], Any] | None, *, inside: bool) -> Call:
        """Begin a request that is about to be sent."""
        call = self._open[id_] = Call(then, inside=inside, stray=self._stray.count)
        return call

    def settle(self, message: Response | ErrorResponse | BadResponse) -> Call | None:
        """Settle the request that *message* answers. It stays here until who waits for it goes on, or until `fail`."""
        call = self._open.get(message.id)
        if call is not None:
            self._stray.answered = True
            call.settle(message)
        return call

    def fail(self, id_: Id, end: ConnectionClosed) -> None:
        """Tell the outcome of a request for which nothing more comes: its answer if there is one, or else the *end*."""
        call = self._open.pop(id_)
        if not call.settled:
            call.error = end.of(self._codec.forget(id_), stray=self._stray.since(call.stray))
            call.settled = True
        call.answered.set()
        if call.place:
            call.place.leave()

    def fail_all(self, end: ConnectionClosed, *, inside: bool = False) -> None:
        """The same for all, or only for those that are *inside*."""
        for id_, call in list(self._open.items()):
            if call.inside or not inside:
                self.fail(id_, end)

    def give_up(self, id_: Id) -> str | None:
        """Forget a request, and ask the peer to cancel it if it has no answer.

        Returns:
            Its method if it had no answer.
        """
        call = self._open.pop(id_, None)
        if call is None or call.settled:
            return None
        if call.sent:
            self._outbox.add(self._codec.cancel(id_))
        return self._codec.forget(id_)
