"""Runs handlers in the order in which messages arrive: requests concurrently, notifications one at a time.

The reading task runs handlers that do not wait. Other messages wait in a backlog, together with all later messages and
responses. One worker task processes the backlog. When the handler of a request waits, the worker stays with it, and a
new worker continues with the backlog. Starting a task for each request would take longer than most handlers.
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

from acp_bindings._condition import Condition
from acp_bindings.connection._calls import Call, Calls
from acp_bindings.connection._handlers import Handler, Handlers
from acp_bindings.connection._outbox import Outbox
from acp_bindings.connection._tasks import idle, is_failure, is_for_task_alone, run_apart
from acp_bindings.connection.errors import ConnectionClosed, alone, log
from acp_bindings.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND, REQUEST_CANCELLED, Codec
from acp_bindings.messages import Id, Notification, Request
from acp_bindings.setup.errors import RequestError

_MOST_WAITING = 1000
"""Messages that may wait in the backlog."""
_MOST_BYTES = 8 * 1024 * 1024
"""Total bytes of these messages."""
_MOST_RESPONSES = 8 * 1024 * 1024
"""Bytes of unsent responses before no more requests are started."""
_WHILE_ASKING = 10
"""The factor for these limits while a handler waits for a response, which may arrive after all of them."""
_LONG = 10.0
"""Seconds before a warning is logged about a wait that may not end."""
_MOMENT = 0.5
"""Seconds for cancelled handlers to end after the peer has stopped sending."""

_Step: TypeAlias = Callable[[], Coroutine[Any, Any, None] | None]
"""A step of the backlog: it is called, and its result awaited unless it is None."""


class Turn:
    """The run of a handler, as a context manager. In the handler it is the value of `TURN`."""

    __slots__ = ("after", "asked", "awaited", "exclusive", "method", "responded", "serving")

    def __init__(
        self, serving: Serving, method: str, *, asks: bool = False, awaited: bool = True, exclusive: bool = False
    ) -> None:
        self.serving = serving
        """The `Serving` of its connection."""
        self.method = method
        """The method of the message."""
        self.asked: list[Serving] = []
        """The connections on which it waits for a response, and so for all earlier messages there."""
        self.awaited = awaited
        """True if all later messages wait for it."""
        self.exclusive = exclusive
        """True if no line is read before it ends."""
        self.after: list[bytes] | None = [] if asks else None
        """The lines to send after the response; None for a notification."""
        self.responded = False
        """True if the response is being sent."""

    def __enter__(self) -> None:
        # Never reset, because each handler has its own context.
        TURN.set(self)
        if self.awaited:
            # `TURN` is not enough: tasks that the handler has started still see it after the end.
            self.serving.turn = self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if self.awaited:
            self.serving.turn = None
        return is_for_task_alone(error)

    async def wait(self, answered: anyio.Event) -> None:
        """Wait for a response, and log a long wait: the response may depend on a message that waits for this turn."""
        with anyio.move_on_after(_LONG):
            await answered.wait()
        if not answered.is_set() and (held := self.serving.held_by(self)):
            log.warning(
                "the handler of %s has waited for a response for %g s, and later messages wait for the handler: %d. "
                "If one of them is needed for the answer, that never comes: ask in a task of its own",
                self.method,
                _LONG,
                held,
            )
        await answered.wait()


TURN: ContextVar[Turn | None] = ContextVar("acp_bindings.connection.turn", default=None)


class Serving:
    """Runs the handlers of one connection for the messages that its reader passes on."""

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
        """The turn that all later messages wait for, or None."""
        self._asking = 0
        """The number of handlers, of any connection, that wait for a response."""
        self._unheard = 0
        """The number of tasks that wait for the peer to read."""
        self._connection = connection
        self.handlers = handlers
        self._codec = codec
        self._outbox = outbox
        self._calls = calls
        """The pending requests of this side."""
        self._most_requests = most_requests
        self._most_bytes = most_bytes
        self._grace = grace
        self._has_worker = True
        """True if a worker processes the backlog, or will do so after `run` starts."""
        self._task = 0
        """The id of the task that runs the handlers of notifications."""
        self._scope = anyio.CancelScope()
        """The scope of all handlers. That of the task group does not exist before it is entered."""
        self._tasks = anyio.create_task_group()
        self._backlog: deque[tuple[int, _Step, bool | None]] = deque()
        """The waiting steps: the size of the line, the step, and whether it runs the handler of a request (True), of a
        notification (False), or none (None)."""
        self._bytes = 0
        self._busy = True
        """True if the backlog is not empty, a step of it is running, or `run` has not started."""
        self._news = Condition()
        self._going_on: set[Call] = set()
        """Requests of this side with a response, whose callers have not continued yet."""
        self.progress = Condition()
        """Notified after each step, and when `is_crowded` may have changed otherwise."""
        self._unanswered: dict[Id, tuple[Request, anyio.CancelScope]] = {}
        """The requests of the peer whose handlers are running, with their scopes."""
        self._requests = 0
        """The number of requests of the peer without a response."""
        self._request_bytes = 0
        """The total size of these requests in bytes."""
        self._has_refused = False
        """True if a refused request has been logged."""
        self._begun = 0
        """The number of these requests whose handler has started."""
        self._gone = False
        """True if the peer has stopped sending."""
        self._too_slow = False
        """True if no handler ended for `grace` seconds since then, so all requests are cancelled."""
        self._ended = anyio.Event()
        """Set when no more handlers are started."""
        self._too_late = False
        """True if all requests have had responses, so the result of a handler that ends later is dropped."""

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Run handlers until `end`; after that, wait up to `grace` seconds for requests without a response."""
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
        """Wait until all requests have responses. After `grace`, cancel them; shortly after that, respond for them."""
        for seconds in (self._grace, _MOMENT):
            with anyio.move_on_after(seconds):
                while self._requests:
                    await self.progress.wait()
            self._cancel_requests()
        self._too_late = True
        for request, _ in self._unanswered.values():
            self._outbox.add(self._cancelled(request))

    def _cancel_requests(self) -> None:
        for _, scope in self._unanswered.values():
            scope.cancel()

    def cancel_all(self) -> None:
        """Cancel all handlers, and do not start others."""
        self._ended.set()
        self._scope.cancel()

    @property
    def is_crowded(self) -> bool:
        """True if so many messages wait that no more should be read."""
        waiting = len(self._backlog)
        # A peer that does not read may be waiting for this side to read its responses.
        if self._asking or self._unheard or (self._calls and self._outbox.is_full):
            return waiting + self._begun >= self._most_while_asking or self._bytes >= _WHILE_ASKING * _MOST_BYTES
        return waiting >= _MOST_WAITING or self._bytes >= _MOST_BYTES or self._requests >= self._most_requests

    @property
    def _most_while_asking(self) -> int:
        return _WHILE_ASKING * max(_MOST_WAITING, self._most_requests)

    @property
    def _may_begin(self) -> bool:
        """True if another request may be started."""
        if self._too_slow:
            return True
        # Handlers that wait for responses may need messages after this request.
        most = self._most_while_asking if self._asking else self._most_requests
        return self._begun < most and self._outbox.responses < _MOST_RESPONSES

    async def room(self) -> None:
        """Wait until it is not crowded. A long wait is logged, because the peer may seem to hang."""
        with anyio.move_on_after(_LONG) as soon:
            await self._until_room()
        if soon.cancelled_caught:
            behind = f", {len(self._backlog)} messages wait for the handler of {self.turn.method}" if self.turn else ""
            log.warning(
                "nothing was read from the peer for %g s: %d of its requests have no response yet%s%s",
                _LONG,
                self._requests,
                behind,
                ", and it does not read responses" if self._outbox.is_full else "",
            )
            await self._until_room()

    @contextlib.contextmanager
    def asking(self, turn: Turn | None) -> Generator[None]:
        """A block in which a handler waits for the peer, so reading must continue.

        Args:
            turn: the turn that waits for a response, if the response waits for all earlier messages here.
        """
        self._asking += 1
        if turn:
            turn.asked.append(self)
        self.progress.notify_all()
        try:
            yield
        finally:
            self._asking -= 1
            if turn:
                turn.asked.remove(self)

    @contextlib.contextmanager
    def unheard(self) -> Generator[None]:
        """A block in which a task waits for the peer to read. The peer may be waiting for this side to read."""
        self._unheard += 1
        self.progress.notify_all()
        try:
            yield
        finally:
            self._unheard -= 1

    @property
    def is_here(self) -> bool:
        """True if this task is in a handler that all later messages wait for."""
        return self.turn is not None and anyio.get_current_task().id == self._task

    def is_alone(self, turn: Turn | None) -> bool:
        """Return True if *turn* belongs to a running exclusive handler of this connection, or to a task it started."""
        return turn is not None and turn.exclusive and turn is self.turn

    def held_by(self, turn: Turn) -> int:
        """Return the number of messages that wait for the end of *turn*."""
        return len(self._backlog) if self.turn is turn else 0

    def waits_for(self, turn: Turn) -> bool:
        """Return True if all later messages here wait for the end of *turn*, possibly through other connections."""
        return self.turn is not None and (self.turn is turn or any(other.waits_for(turn) for other in self.turn.asked))

    def to_follow(self, turn: Turn | None) -> list[bytes] | None:
        """Return the list of lines to send after the response of *turn*; None if the response has been sent.

        Raises:
            RuntimeError: *turn* does not handle a request of this connection.
        """
        if turn is None or turn.serving is not self or turn.after is None:
            raise RuntimeError("after_response=True is for the handler of a request, and for this connection")
        return None if turn.responded else turn.after

    def request(self, request: Request, size: int) -> anyio.Event | None:
        """Run the handler of a request in order.

        Returns:
            An event to wait for before the next line is read, or None.
        """
        handler = self.handlers.of(request, self._connection)
        if handler is None:
            self._outbox.owe(self._codec.fail(request, METHOD_NOT_FOUND, "Method not found"))
        elif handler.exclusive:
            return self._enqueue_exclusive(partial(self._serve_alone, request, handler), size)
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
            self._enqueue(partial(self._serve, request, handler, scope, size), size, asks=True)
        return None

    def update(self, line: bytes) -> bool:
        """Pass the update in *line* to its session, and return True, if it is live and nothing else comes first."""
        live = self.handlers.live
        if self._busy or self._going_on or (found := self._codec.read_update(line, sessions=live)) is None:
            return False
        session_id, update = found
        self._run("session/update", live[session_id], update)
        return True

    def notification(self, message: Notification, size: int) -> anyio.Event | None:
        """Run the handler of a notification in order.

        Returns:
            An event to wait for before the next line is read, or None.
        """
        handler = self.handlers.of(message, self._connection)
        if handler is None:
            log.debug("nothing handles %s", message.method)
        elif handler.exclusive:
            return self._enqueue_exclusive(partial(self._notify, message, handler), size)
        elif handler.waits or self._busy or self._going_on:
            self._enqueue(partial(self._notify, message, handler), size)
        elif waiting := self._call_now(message, handler):
            called = Handler(lambda _params, _connection: waiting, waits=True, exclusive=False)
            self._enqueue(partial(self._notify, message, called), size)
        return None

    def answer(self, call: Call, size: int) -> None:
        """Wake the caller of a request after all earlier messages have been handled. Later messages wait for it."""
        if self._busy:
            self._enqueue(partial(self._deliver, call), size, asks=None)
        else:
            self._deliver(call)

    def went_on(self, call: Call) -> None:
        """Record that the caller of *call* no longer waits."""
        call.over = True
        self._going_on.discard(call)

    def cancel(self, id_: Id | EllipsisType) -> None:
        """Cancel the handler of a request that the peer has cancelled; `...` means that the id is not valid."""
        if id_ is not ... and (found := self._unanswered.get(id_)):
            found[1].cancel()

    def end(self, then: Callable[[], None]) -> None:
        """End after all messages have been handled, and call *then*. The peer has stopped sending."""

        def step() -> None:
            then()
            self._ended.set()

        self._gone = True
        self._enqueue(step, 0, asks=None)
        self.progress.notify_all()

    def _enqueue(self, step: _Step, size: int, *, asks: bool | None = False) -> None:
        self._backlog.append((size, step, asks))
        self._bytes += size
        if not self._busy:
            self._busy = True
            if self._has_worker:
                self._news.notify_all()
            elif not self._ended.is_set():
                # Not after the end: the task group may have been left.
                self._tasks.start_soon(self._work)

    def _enqueue_exclusive(self, job: Callable[[], Coroutine[Any, Any, None]], size: int) -> anyio.Event:
        """Run *job* in order, and return an event that is set when it is done."""
        done = anyio.Event()

        async def do() -> None:
            try:
                await job()
            finally:
                done.set()

        self._enqueue(do, size)
        return done

    def _deliver(self, call: Call) -> None:
        if not call.over:
            self._going_on.add(call)
        call.answered.set()

    async def _work(self) -> None:
        """Process the backlog in order, until `end` or `cancel_all`.

        The task ends with the first request whose handler waits; another task continues from there. A task runs either
        handlers of requests or of notifications, so that cancelling the task of a finished handler does not cancel one
        of the other kind.
        """
        self._has_worker = True
        backlog, kind = self._backlog, None
        while not self._ended.is_set():
            if not backlog:
                self._busy = False
                await idle(self._news.wait)
                continue
            size, step, asks = backlog[0]
            if self._going_on:
                # The callers are awake and continue soon.
                await idle(checkpoint)
                continue
            if asks and not self._may_begin:
                await self._let_others_end()
                continue
            if asks is not kind and asks is not None:
                if kind is not None:
                    self._hand_over()
                    return
                kind = asks
                if not asks:
                    self._task = anyio.get_current_task().id
            backlog.popleft()
            self._bytes -= size
            self.progress.notify_all()
            if (job := step()) and await run_apart(job, self._hand_over if asks else None) and asks:
                return

    async def _let_others_end(self) -> None:
        """Wait for a step. If the peer has stopped sending, wait up to `grace`, then cancel all requests."""
        with anyio.move_on_after(self._grace if self._gone else inf) as patience:
            await idle(self.progress.wait)
        if patience.cancelled_caught:
            self._too_slow = True
            self._cancel_requests()

    def _hand_over(self) -> None:
        """Let another task continue with the backlog."""
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
            self._unanswered.pop(request.id, None)
            if self._too_late:
                return
            if self._outbox.is_full:
                self.progress.notify_all()
            # Of requests that arrived together, the last one writes the responses to all.
            await self._outbox.respond(lines or [self._cancelled(request)], hurry=not self._backlog)
        finally:
            # After the response is in the outbox: a peer that does not read responses cannot send more requests.
            self._begun -= 1
            self._requests -= 1
            self._request_bytes -= size
            self.progress.notify_all()

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
        """Return the response, and the lines to send after it unless it is an error."""
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
        answer = alone(error)  # also inside the exception groups of the handler's task groups
        try:
            if isinstance(answer, RequestError):
                return self._codec.fail(request, answer.code, answer.message, data=answer.data)
        except ValueError as unsendable:
            error = unsendable
        # The error is logged and not sent, because it may contain private data.
        self._log_failure(request.method, error)
        return self._codec.fail(request, INTERNAL_ERROR, "Internal error")

    def _log_failure(self, method: str, error: BaseException) -> None:
        # A handler has not failed if the peer is gone. In a handler that all messages wait for, requests fail earlier.
        gone = self._ended.is_set() or (self._gone and self.is_here) or self._outbox.broken.is_set()
        level = logging.DEBUG if gone and isinstance(alone(error), ConnectionClosed) else logging.ERROR
        log.log(level, "the handler of %s failed", method, exc_info=error)

    def _call_now(self, message: Notification, handler: Handler) -> Awaitable[Any] | None:
        """Call a handler now, and return its result if that must be awaited."""
        # In a context of its own, as other handlers.
        result = self._run(message.method, copy_context().run, handler.handle, message.params, self._connection)
        return result if result is not None and isawaitable(result) else None

    def _run(self, method: str, handle: Callable[..., Any], *arguments: object) -> Any:
        """Call a handler, and return its result, or None if it failed."""
        try:
            return handle(*arguments)
        except BaseException as error:
            if not is_failure(error):
                raise
            self._log_failure(method, error)
            return None

    async def _notify(self, message: Notification, handler: Handler) -> None:
        with Turn(self, message.method, exclusive=handler.exclusive):
            try:
                result = handler.handle(message.params, self._connection)
                if handler.waits or isawaitable(result):
                    await result
            except BaseException as error:
                if not is_failure(error):
                    raise
                self._log_failure(message.method, error)

    async def _stop_when_nobody_listens(self) -> None:
        await self._outbox.broken.wait()
        self.cancel_all()

    async def _until_room(self) -> None:
        while self.is_crowded:
            await self.progress.wait()


def _filled(request: Request, result: object) -> object:
    """Return *result*, or for None the empty result of the method, if it has one."""
    wanted: Any = request.type.result if request.type else Any
    if result is None and wanted is not Any and isinstance(wanted, type):
        empty: Callable[[], object] = wanted
        with contextlib.suppress(ValidationError):
            return empty()
    return result
