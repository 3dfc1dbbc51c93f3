"""Stray lines: lines of the peer that are no messages, such as a banner, a log, a forgotten `print`.

They do no harm by themselves. But if one ran into an answer, or nothing else comes, nobody would know why the peer
never answers.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

import anyio

from acp_bindings.connection._outbox import Outbox, Place
from acp_bindings.connection._serving import Turn
from acp_bindings.connection.errors import BadAnswer, ConnectionClosed, RequestFailed, StrayLines, is_failure, log
from acp_bindings.errors import summarize
from acp_bindings.jsonrpc import METHOD_NOT_FOUND, Codec
from acp_bindings.messages import BadLine, BadResponse, ErrorResponse, Id, Response

_WARNINGS = 5
"""How many of each kind are logged as warnings; more may be a flood."""
_LONGEST = 16384
"""Bytes of a line that is looked through for secrets."""
_SHOWN = 300
"""Characters of a line that are shown."""
_INNER_OBJECT = re.compile(r"(?<=.)\{.*", re.DOTALL)


class Stray:
    """Counts stray lines, logs the first ones, and tells of them in the errors of requests."""

    def __init__(self, *, show: Callable[[str], str] | None, handled: Iterable[str], codec: Codec) -> None:
        """No stray line so far.

        Args:
            show: gives a text of the peer as it may be shown; None if nothing that the peer sends may be.
            handled: the methods that have handlers.
            codec: what reads the lines.
        """
        self.count = 0
        self._lost = 0
        self.answered = False
        """Whether the peer has answered any request, so that earlier stray lines did not keep it from that."""
        self._show = show
        self._handled, self._codec = handled, codec
        self._told_of: set[str] = set()
        """The methods with handlers that were not let through."""
        self._last = b""

    def note(self, line: bytes, wrong: BadLine) -> None:
        """Take a line that cannot be used. One that is a message, only wrong or too late, is not stray."""
        if wrong.method is not None or wrong.reply is None:
            self._note_message(wrong)
            return
        self.count += 1
        self._last = line
        level = logging.WARNING if self.count <= _WARNINGS else logging.DEBUG
        if log.isEnabledFor(level):
            said = self._said()
            log.log(level, "a line of the peer is no message: %s%s", wrong.message, said and f': "{said}"')

    def _note_message(self, wrong: BadLine) -> None:
        """Log a message that is wrong. The loss of a notification or an answer nobody would notice otherwise."""
        method = wrong.method
        if method and wrong.code == METHOD_NOT_FOUND and method not in self._told_of and method in self._handled:
            self._tell_of_handler(method)
        is_lost = wrong.reply is None and bool(wrong.issues)
        self._lost += is_lost
        level = logging.WARNING if is_lost and self._lost <= _WARNINGS else logging.DEBUG
        if log.isEnabledFor(level):
            said = [method, wrong.message, summarize([*map(str, wrong.issues)])]
            log.log(level, "a line that cannot be used: %s", ": ".join(filter(None, said)))

    def _tell_of_handler(self, method: str) -> None:
        """Tell whoever wrote a handler of *method* why it is not called."""
        from acp_bindings.setup.capabilities import why_not_let_through  # noqa: PLC0415 - it may load all packages

        # A method is told of once, and no name that a peer has made up is kept.
        self._told_of.add(method)
        if reason := why_not_let_through(method, self._codec.protocol):
            log.warning("the handler of %s is not called: %s", method, reason)

    def since(self, count: int) -> StrayLines | None:
        """The stray lines after the first *count*, or all if nothing was answered yet; None if there are none."""
        found = self.count - (count if self.answered else 0)
        return StrayLines(found, self._said() or None) if found else None

    def _said(self) -> str:
        """The last stray line, as it may be shown."""
        if self._show is None:
            return ""
        if len(self._last) > _LONGEST:
            return f"[a line of {len(self._last)} bytes]"
        # Before it is cut: half a secret would not be recognised.
        text = self._show(self._last.decode(errors="replace").strip())
        # An object behind other text may be a message of ours, with secrets that nobody told us of.
        text = _INNER_OBJECT.sub("…", text)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


T = TypeVar("T")

_MOMENT = 0.1
"""Seconds for what is waited for when nothing more comes: it may have happened already, and only need its turn."""


class Waiting:
    """All that is waited for.

    Who waits *inside* does so in a handler that everything else waits for, the announcement of the end too. So the end
    is told inside first.
    """

    def __init__(self, is_inside: Callable[[Turn | None], bool]) -> None:
        """Nothing is waited for yet.

        Args:
            is_inside: whether a turn is inside; it no longer is when its handler is done, whatever tasks are left.
        """
        self._is_inside = is_inside
        self._turns: dict[anyio.CancelScope, Turn | None] = {}
        self._ends: dict[bool, ConnectionClosed] = {}
        """Why nothing more comes: at `True` for those inside, at `False` for all others."""

    async def wait_for(self, what: Awaitable[T], turn: Turn | None) -> T:
        """Await *what*, in *turn* if it is in a handler.

        Raises:
            ConnectionClosed: nothing more comes, and *what* did not happen.
        """
        with anyio.CancelScope() as scope:
            if self._is_inside(turn) in self._ends:
                _end_soon(scope)
            self._turns[scope] = turn
            try:
                return await what
            finally:
                del self._turns[scope]
        raise self._ends[True]

    def end(self, end: ConnectionClosed, *, inside: bool) -> None:
        """End the waiting of those inside, or of all: nothing more comes."""
        self._ends[inside] = end
        for scope, turn in self._turns.items():
            if not inside or self._is_inside(turn):
                _end_soon(scope)


def _end_soon(scope: anyio.CancelScope) -> None:
    scope.deadline = anyio.current_time() + _MOMENT


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
