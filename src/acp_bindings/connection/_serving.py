"""Handles what the peer sends in the order in which it came: requests side by side, notifications one by one.

What can be handled without waiting is handled at once, by the task that reads. The rest waits in a backlog, and with it
all that came later, also answers to our own requests. One task works through the backlog. When the handler of a request
waits for something, the task stays with that handler, and another task goes on with the backlog: to start a task for
each request would take longer than most handlers do.
"""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import ContextVar, copy_context
from functools import partial
from inspect import isawaitable
from math import inf
from types import EllipsisType
from typing import Any, TypeAlias

import anyio
from anyio.abc import TaskStatus
from anyio.lowlevel import checkpoint
from pydantic import ValidationError

from acp_bindings.connection._calls import Call, Calls
from acp_bindings.connection._handlers import Handler, Handlers
from acp_bindings.connection._outbox import Outbox
from acp_bindings.connection.errors import ConnectionClosed, alone, idle, is_failure, is_for_task_alone, log, run_apart
from acp_bindings.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND, REQUEST_CANCELLED, Codec
from acp_bindings.messages import Id, Notification, Request
from acp_bindings.setup.errors import RequestError

_MOST_WAITING = 1000
"""Messages that may wait in the backlog."""
_MOST_BYTES = 8 * 1024 * 1024
"""Bytes that the lines of these may have."""
_MOST_RESPONSES = 8 * 1024 * 1024
"""Bytes of responses that may wait until the peer reads, before no more requests are begun."""
_WHILE_ASKING = 10
"""How many times as much may wait while somebody waits for an answer, which may come after all that."""
_LONG = 10.0
"""Seconds after which a wait that may never end is logged."""
_MOMENT = 0.5
"""Seconds for handlers that are cancelled when the peer has stopped sending."""

_Step: TypeAlias = Callable[[], Coroutine[Any, Any, None] | None]
"""What is done when its turn comes: when it is called, or when what it returns is awaited."""


class Turn:
    """The turn of a handler, for the time of a block. All that the handler calls finds it in `TURN`."""

    __slots__ = ("after", "asked", "awaited", "exclusive", "method", "responded", "serving")

    def __init__(
        self, serving: Serving, method: str, *, asks: bool = False, awaited: bool = True, exclusive: bool = False
    ) -> None:
        self.serving = serving
        """That of its connection."""
        self.method = method
        """The method that it handles."""
        self.asked: list[Serving] = []
        """Those of the connections on which it waits for an answer, and so for all that comes there before that."""
        self.awaited = awaited
        """Whether everything else waits for it."""
        self.exclusive = exclusive
        """Whether nothing else is even read before it is over."""
        self.after: list[bytes] | None = [] if asks else None
        """The lines that are to follow the response; None for a notification, which has no response."""
        self.responded = False
        """Whether the response is on its way."""

    def __enter__(self) -> None:
        # Never reset: each handler has a context of its own.
        TURN.set(self)
        if self.awaited:
            # Not only in `TURN`, where the tasks that the handler has started find it also when it is over.
            self.serving.turn = self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if self.awaited:
            self.serving.turn = None
        return is_for_task_alone(error)

    async def wait(self, answered: anyio.Event) -> None:
        """Wait for an answer, and say so when that takes long: it may need a message that waits for this turn."""
        with anyio.move_on_after(_LONG):
            await answered.wait()
        if not answered.is_set() and (held := self.serving.held_by(self)):
            log.warning(
                "the handler of %s has waited for an answer for %g s, and messages behind it wait for the handler: %d. "
                "If one of them is needed for the answer, that never comes: ask in a task of its own",
                self.method,
                _LONG,
                held,
            )
        await answered.wait()


TURN: ContextVar[Turn | None] = ContextVar("acp_bindings.connection.turn", default=None)


class Serving:
    """Takes the messages of one connection from its reader, and runs their handlers."""

    def __init__(
        self,
        connection: object,
        handlers: Handlers,
        *,
        codec: Codec,
        outbox: Outbox,
        calls: Calls,
        most_requests: int,
        most_bytes: int,
        grace: float,
    ) -> None:
        self.turn: Turn | None = None
        """The turn that everything else waits for, if there is one."""
        self._asking = 0
        """How many handlers, of any connection, wait for an answer."""
        self._unheard = 0
        """How many tasks wait until the peer reads."""
        self._connection = connection
        self.handlers = handlers
        self._codec = codec
        self._outbox = outbox
        self._calls = calls
        """Our requests of which nobody has been told the outcome yet."""
        self._most_requests = most_requests
        self._most_bytes = most_bytes
        self._grace = grace
        self._has_worker = True
        """Whether there is a task that works through the backlog; or there will be, as before `run`."""
        self._task = 0
        """The id of the task that runs the handlers of notifications, one after the other."""
        self._scope = anyio.CancelScope()
        """The scope of all handlers. The task group has one too, but not before it is entered."""
        self._tasks = anyio.create_task_group()
        self._backlog: deque[tuple[int, _Step, bool | None]] = deque()
        """What waits for its turn: the bytes of its line, what is done then, and whether that runs the handler of a
        request (True), of a notification (False) or none (None)."""
        self._bytes = 0
        self._busy = True
        """Whether something is in the backlog, or was taken from it and is still being done; and before `run`."""
        self._news = anyio.Event()
        self._going_on: set[Call] = set()
        """Our requests that have been answered, but who made them has not gone on yet."""
        self._room: anyio.Event | None = None
        """Set when something has been done; None while nobody waits for that."""
        self._unanswered: dict[Id, tuple[Request, anyio.CancelScope]] = {}
        """The requests of the peer whose handlers have not ended, with their scopes."""
        self._requests = 0
        """How many requests of the peer have no response on its way yet."""
        self._request_bytes = 0
        """Bytes that the lines of these have."""
        self._has_refused = False
        """Whether the log has said that a request had too many bytes."""
        self._begun = 0
        """How many requests of the peer have a handler that has begun, and no response on its way yet."""
        self._gone = False
        """Whether nothing more comes from the peer."""
        self._too_slow = False
        """Whether nothing was done for too long since then, so that all requests are cancelled."""
        self._ending = False
        self._ended = anyio.Event()
        self._too_late = False
        """Whether all requests have had responses, so that a handler that ends now sends no other."""

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Run handlers until `end`, and then, for `grace` seconds, those of requests that have no response yet."""
        with self._scope:
            async with self._tasks:
                self._tasks.start_soon(self._work)
                task_status.started()
                try:
                    await self._ended.wait()
                    if self._grace and self._requests and not self._outbox.broken.is_set():
                        self._tasks.start_soon(self._stop_when_nobody_listens)
                        await self._finish()
                finally:
                    self.cancel_all()

    async def _finish(self) -> None:
        """Wait until all requests have responses. After `grace`, cancel them; soon after that, respond regardless."""
        for seconds in (self._grace, _MOMENT):
            with anyio.move_on_after(seconds):
                while self._requests:
                    await self._something_done()
            self._cancel_requests()
        self._too_late = True
        for request, _ in self._unanswered.values():
            self._outbox.add(self._cancelled(request))

    def _cancel_requests(self) -> None:
        for _, scope in self._unanswered.values():
            scope.cancel()

    def cancel_all(self) -> None:
        """Cancel all handlers, and begin no more."""
        self._ending = True
        self._ended.set()
        self._scope.cancel()

    @property
    def is_crowded(self) -> bool:
        """Whether so much waits that no more should be read."""
        waiting = len(self._backlog)
        # A peer that does not read may be waiting until we read its answers.
        if self._asking or self._unheard or (self._calls and self._outbox.is_full):
            return waiting + self._begun >= self._most_while_asking or self._bytes >= _WHILE_ASKING * _MOST_BYTES
        return waiting >= _MOST_WAITING or self._bytes >= _MOST_BYTES or self._requests >= self._most_requests

    @property
    def _most_while_asking(self) -> int:
        return _WHILE_ASKING * max(_MOST_WAITING, self._most_requests)

    @property
    def _may_begin(self) -> bool:
        """Whether another request may be begun."""
        if self._too_slow:
            return True
        # Handlers that wait for answers may need what is behind this request.
        most = self._most_while_asking if self._asking else self._most_requests
        return self._begun < most and self._outbox.responses < _MOST_RESPONSES

    async def room(self) -> None:
        """Wait until it is not crowded. A long wait is logged: a peer that is not read may seem to hang."""
        with anyio.move_on_after(_LONG) as soon:
            await self._room_made()
        if soon.cancelled_caught:
            behind = f", {len(self._backlog)} messages wait for the handler of {self.turn.method}" if self.turn else ""
            log.warning(
                "nothing was read from the peer for %g s: %d of its requests have no answer yet%s%s",
                _LONG,
                self._requests,
                behind,
                ", and it reads no answers" if self._outbox.is_full else "",
            )
            await self._room_made()

    @contextlib.contextmanager
    def asking(self, turn: Turn | None) -> Generator[None]:
        """A block in which a handler waits for the peer, so that reading has to go on.

        Args:
            turn: the turn that waits for an answer, if that in turn waits here for all that came before it.
        """
        self._asking += 1
        if turn:
            turn.asked.append(self)
        self.look_again()
        try:
            yield
        finally:
            self._asking -= 1
            if turn:
                turn.asked.remove(self)

    @contextlib.contextmanager
    def unheard(self) -> Generator[None]:
        """A block in which a task waits until the peer reads. The peer may itself wait until we read."""
        self._unheard += 1
        self.look_again()
        try:
            yield
        finally:
            self._unheard -= 1

    def look_again(self) -> None:
        """Have those who wait until something is done look whether they may go on."""
        if self._room is not None:
            self._room.set()
            self._room = None

    @property
    def is_here(self) -> bool:
        """Whether this task is in a handler that everything else waits for."""
        return self.turn is not None and anyio.get_current_task().id == self._task

    def is_alone(self, turn: Turn | None) -> bool:
        """Whether *turn* is that of an exclusive handler here that has not ended; tasks that it started have it too."""
        return turn is not None and turn.exclusive and turn is self.turn

    def held_by(self, turn: Turn) -> int:
        """How many messages wait for the end of *turn*."""
        return len(self._backlog) if self.turn is turn else 0

    def waits_for(self, turn: Turn) -> bool:
        """Whether everything else here waits for the end of *turn*, perhaps by way of other connections."""
        return self.turn is not None and (self.turn is turn or any(other.waits_for(turn) for other in self.turn.asked))

    def to_follow(self, turn: Turn | None) -> list[bytes] | None:
        """Return the lines that are to follow the response of *turn*, to be added to; None if it has been sent.

        Raises:
            RuntimeError: no request of this connection is handled in *turn*.
        """
        if turn is None or turn.serving is not self or turn.after is None:
            raise RuntimeError("after_response=True is for the handler of a request, and for this connection")
        return None if turn.responded else turn.after

    def request(self, request: Request, size: int) -> anyio.Event | None:
        """Have a request answered in its turn.

        Returns:
            What to wait for before the next line is read; None for nothing.
        """
        handler = self.handlers.of(request, self._connection)
        if handler is None:
            self._outbox.owe(self._codec.fail(request, METHOD_NOT_FOUND, "Method not found"))
        elif handler.exclusive:
            return self._alone(partial(self._serve_alone, request, handler), size)
        elif self._request_bytes + size > self._most_bytes and self._request_bytes:
            wrong = f"the requests in progress and this one have more than {self._most_bytes} bytes"
            log.log(
                logging.DEBUG if self._has_refused else logging.WARNING, "%s was refused: %s", request.method, wrong
            )
            self._has_refused = True
            self._outbox.owe(self._codec.fail(request, INTERNAL_ERROR, f"Too much at a time: {wrong}"))
        else:
            scope = anyio.CancelScope()
            self._unanswered[request.id] = request, scope
            self._requests += 1
            self._request_bytes += size
            self._later(partial(self._serve, request, handler, scope, size), size, asks=True)
        return None

    def notification(self, message: Notification, size: int) -> anyio.Event | None:
        """Have a notification handled in its turn.

        Returns:
            What to wait for before the next line is read; None for nothing.
        """
        handler = self.handlers.of(message, self._connection)
        if handler is None:
            log.debug("nothing handles %s", message.method)
        elif handler.exclusive:
            return self._alone(partial(self._notify, message, handler), size)
        elif handler.waits or self._busy or self._going_on:
            self._later(partial(self._notify, message, handler), size)
        elif waiting := self._told(message, handler):
            self._later(partial(self._notify, message, _called(waiting)), size)
        return None

    def answer(self, call: Call, size: int) -> None:
        """Wake who waits for an answer when all that came before has been handled. What came after waits for them."""
        if self._busy:
            self._later(partial(self._tell, call), size, asks=None)
        else:
            self._tell(call)

    def went_on(self, call: Call) -> None:
        """Who made *call* no longer waits for its answer, whatever became of it."""
        call.over = True
        self._going_on.discard(call)

    def cancel(self, id_: Id | EllipsisType) -> None:
        """Cancel the handler of a request that the peer gives up; `...` stands for no valid id."""
        if id_ is not ... and (found := self._unanswered.get(id_)):
            found[1].cancel()

    def end(self, then: Callable[[], None]) -> None:
        """Nothing more comes. End when all that came has been handled, and call *then*."""

        def step() -> None:
            self._ending = True
            then()
            self._ended.set()

        self._gone = True
        self._later(step, 0, asks=None)
        self.look_again()

    def _later(self, step: _Step, size: int, *, asks: bool | None = False) -> None:
        self._backlog.append((size, step, asks))
        self._bytes += size
        if not self._busy:
            self._busy = True
            if self._has_worker:
                self._news.set()
            elif not self._ending:
                # Not when handlers have ended: the task group may be gone.
                self._tasks.start_soon(self._work)

    def _alone(self, job: Callable[[], Coroutine[Any, Any, None]], size: int) -> anyio.Event:
        """Have *job* done in its turn; what is returned is set when it is done."""
        done = anyio.Event()

        async def do() -> None:
            try:
                await job()
            finally:
                done.set()

        self._later(do, size)
        return done

    def _tell(self, call: Call) -> None:
        # A peer that answers before it was asked may let us wait for room to ask, and nothing waits for that.
        if call.sent and not call.over:
            self._going_on.add(call)
        call.answered.set()

    async def _work(self) -> None:
        """Do what is in the backlog, in its order, until `end` or `cancel_all`.

        The task ends with the first request whose handler waits for something; another task goes on from there. It runs
        the handlers of requests or those of notifications, and not both: whoever cancels the task of a handler that is
        done must not cancel one of the other kind.
        """
        self._has_worker = True
        backlog, kind = self._backlog, None
        while not self._ending:
            if not backlog:
                self._busy = False
                while not self._news.is_set():
                    await idle(self._news.wait)
                self._news = anyio.Event()
                continue
            size, step, asks = backlog[0]
            if self._going_on:
                # They are awake, and this is soon over.
                await idle(checkpoint)
                continue
            if asks and (self._begun >= self._most_requests or self._outbox.responses) and not self._may_begin:
                await self._let_others_end()
                continue
            if asks is not kind and asks is not None:
                if kind is not None:
                    self._leave_the_rest()
                    return
                kind = asks
                if not asks:
                    self._task = anyio.get_current_task().id
            backlog.popleft()
            self._bytes -= size
            if self._room:
                self.look_again()
            if (job := step()) and await run_apart(job, self._leave_the_rest if asks else None) and asks:
                return

    async def _let_others_end(self) -> None:
        """Wait until something is done. If nothing more comes, wait for `grace` at most, then cancel all requests."""
        with anyio.move_on_after(self._grace if self._gone else inf) as patience:
            await idle(self._something_done)
        if patience.cancelled_caught:
            self._too_slow = True
            self._cancel_requests()

    def _leave_the_rest(self) -> None:
        self._has_worker = False
        if self._backlog:
            self._tasks.start_soon(self._work)
        else:
            self._busy = False

    async def _serve(self, request: Request, handler: Handler, scope: anyio.CancelScope, size: int) -> None:
        self._begun += 1
        lines: list[bytes] = []
        turn = Turn(self, request.method, asks=True, awaited=False)
        try:
            with turn, scope:
                if not (scope.cancel_called or self._scope.cancel_called):
                    lines = await self._answer(request, handler, turn)
            turn.responded = True
            if (found := self._unanswered.get(request.id)) and found[1] is scope:
                del self._unanswered[request.id]
            if self._too_late:
                return
            if self._outbox.is_full:
                self.look_again()
            # Of requests that came together the last one has the responses to all written.
            await self._outbox.respond(lines or [self._cancelled(request)], hurry=not self._backlog)
        finally:
            # Not before its response is in the outbox: of a peer that reads no responses no more requests are taken.
            self._begun -= 1
            self._requests -= 1
            self._request_bytes -= size
            if self._room:
                self.look_again()

    async def _serve_alone(self, request: Request, handler: Handler) -> None:
        lines: list[bytes] = []
        turn = Turn(self, request.method, asks=True, exclusive=True)
        with turn:
            lines = await self._answer(request, handler, turn)
        turn.responded = True
        for line in lines or [self._cancelled(request)]:
            self._outbox.owe(line)

    def _cancelled(self, request: Request) -> bytes:
        return self._codec.fail(request, REQUEST_CANCELLED, "Request cancelled")

    async def _answer(self, request: Request, handler: Handler, turn: Turn) -> list[bytes]:
        """The response, and behind it what is to follow it unless it is an error."""
        try:
            result = handler.handle(request.params, self._connection)
            if handler.waits or isawaitable(result):
                result = await result
            return [self._codec.respond(request, _filled(request, result)), *(turn.after or ())]
        except BaseException as error:
            if not is_failure(error):
                raise
            return [self._refuse(request, error)]

    def _refuse(self, request: Request, error: BaseException) -> bytes:
        try:
            if answer := _as_answer(error):
                return self._codec.fail(request, answer.code, answer.message, data=answer.data)
        except ValueError as unsendable:
            error = unsendable
        # That the peer has gone is no failure of a handler that asks it something.
        gone = isinstance(error, ConnectionClosed) and (self._ending or self._outbox.broken.is_set())
        # The error is logged and not sent: it may hold what is not for the peer.
        log.log(logging.DEBUG if gone else logging.ERROR, "the handler of %s failed", request.method, exc_info=error)
        return self._codec.fail(request, INTERNAL_ERROR, "Internal error")

    def _told(self, message: Notification, handler: Handler) -> Awaitable[Any] | None:
        """Call a handler now; what it returns, if that is to be awaited."""
        try:
            result = copy_context().run(handler.handle, message.params, self._connection)
        except BaseException as error:
            if not is_failure(error):
                raise
            log.exception("the handler of %s failed", message.method)
            return None
        return result if result is not None and isawaitable(result) else None

    async def _notify(self, message: Notification, handler: Handler) -> None:
        with Turn(self, message.method, exclusive=handler.exclusive):
            try:
                result = handler.handle(message.params, self._connection)
                if handler.waits or isawaitable(result):
                    await result
            except BaseException as error:
                if not is_failure(error):
                    raise
                log.exception("the handler of %s failed", message.method)

    async def _stop_when_nobody_listens(self) -> None:
        await self._outbox.broken.wait()
        self.cancel_all()

    async def _room_made(self) -> None:
        while self.is_crowded:
            await self._something_done()

    async def _something_done(self) -> None:
        if self._room is None:
            self._room = anyio.Event()
        await self._room.wait()


def _called(waiting: Awaitable[Any]) -> Handler:
    """A handler that stands for one that was called already and returned *waiting*."""

    def handle(_params: object, _connection: object) -> Awaitable[Any]:
        return waiting

    return Handler(handle, waits=True, exclusive=False)


def _filled(request: Request, result: object) -> object:
    """*result*; in place of None the empty result of the method, if it has one."""
    wanted: Any = request.type.result if request.type else Any
    if result is None and wanted is not Any and isinstance(wanted, type):
        empty: Callable[[], object] = wanted
        with contextlib.suppress(ValidationError):
            return empty()
    return result


def _as_answer(error: BaseException) -> RequestError | None:
    """The `RequestError` that *error* is, also when the handler's own task groups have wrapped it."""
    answer = alone(error)
    return answer if isinstance(answer, RequestError) else None
