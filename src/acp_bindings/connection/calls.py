"""Requests of ours, and what becomes of each: it is answered, the connection ends before that, or it is given up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio

from acp_bindings.connection.errors import BadAnswer, ConnectionClosed, RequestFailed
from acp_bindings.connection.failures import is_failure
from acp_bindings.connection.outbox import Outbox
from acp_bindings.connection.stray import Stray
from acp_bindings.jsonrpc import Codec
from acp_bindings.messages import BadResponse, ErrorResponse, Id, Response

__all__ = ["Call", "Calls"]


class Call:
    """A request of ours, and what became of it."""

    __slots__ = ("answered", "error", "inside", "method", "result", "sending", "sent", "settled", "stray", "then")

    def __init__(self, then: Callable[[Any], Any] | None, *, inside: bool, stray: int) -> None:
        self.then = then
        self.inside = inside
        """Whether it is a handler that asks, for which everything else waits."""
        self.sending: anyio.CancelScope | None = None
        """There while it waits to be sent."""
        self.sent = False
        self.stray = stray
        """How many lines were no messages before."""
        self.settled = False
        """Whether it is known what became of it. That it may be told, `answered` says."""
        self.answered = anyio.Event()
        self.method = ""
        self.result: Any = None
        self.error: BaseException | None = None

    def settle(self, message: Response | ErrorResponse | BadResponse) -> None:
        """Take the answer."""
        self.settled = True
        self.method = message.method or ""
        if isinstance(message, Response):
            try:
                self.result = self.then(message.result) if self.then else message.result
            except BaseException as error:
                if not is_failure(error):
                    raise
                # It belongs to whoever asks.
                self.error = error
        elif isinstance(message, ErrorResponse):
            failed = message.error
            self.error = RequestFailed(self.method, failed.code, failed.message, failed.data)
        else:
            self.error = BadAnswer(self.method, message.message, message.issues)


class Calls:
    """Those that nobody has been told the answer of."""

    def __init__(self, *, codec: Codec, outbox: Outbox, stray: Stray) -> None:
        self._codec = codec
        self._outbox = outbox
        self._stray = stray
        self._open: dict[Id, Call] = {}

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, id_: Id, then: Callable[[Any], Any] | None, *, inside: bool) -> Call:
        """One that is about to be sent."""
        call = self._open[id_] = Call(then, inside=inside, stray=self._stray.count)
        return call

    def settle(self, message: Response | ErrorResponse | BadResponse) -> Call | None:
        """The one that *message* answers. It is kept until that may be told: a connection that is closed tells it."""
        call = self._open.get(message.id)
        if call is not None:
            self._stray.answered = True
            call.settle(message)
        return call

    def fail(self, id_: Id, end: ConnectionClosed) -> None:
        """Nothing more comes for one: tell what has come, or else the end."""
        call = self._open.pop(id_)
        if not call.settled:
            call.error = end.of(self._codec.forget(id_), stray=self._stray.since(call.stray))
            call.settled = True
        call.answered.set()
        if call.sending:
            call.sending.cancel()

    def fail_all(self, end: ConnectionClosed, *, inside: bool = False) -> None:
        """The same for all, or for those alone that everything else waits for."""
        for id_, call in list(self._open.items()):
            if call.inside or not inside:
                self.fail(id_, end)

    def give_up(self, id_: Id) -> str | None:
        """Have done with one; its method, if there was no answer."""
        call = self._open.pop(id_, None)
        if call is None or call.settled:
            return None
        if call.sent:
            self._outbox.add(self._codec.cancel(id_))
        return self._codec.forget(id_)
