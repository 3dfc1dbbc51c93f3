"""A connection: sends requests and notifications, and runs handlers for those of the peer."""

from __future__ import annotations

from asyncio import _get_running_loop  # pyright: ignore[reportPrivateUsage] - documented; None on trio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, nullcontext
from functools import partial
from inspect import iscoroutine
from threading import get_ident
from types import EllipsisType, NoneType, TracebackType
from typing import Any, Literal, Protocol, Self, TypeAlias, TypedDict, TypeVar, cast, overload

import anyio
import anyio.lowlevel
from anyio.abc import TaskStatus

from acp_bindings._envelope import Line, line_of
from acp_bindings._models.base import NotificationParams
from acp_bindings._processes.process import LineBuffer, to_the_end
from acp_bindings.connection._calls import Call, Calls, Late
from acp_bindings.connection._handlers import Handle, Handlers, check_role
from acp_bindings.connection._outbox import ByteSink, Outbox
from acp_bindings.connection._serving import TURN, Serving, Turn
from acp_bindings.connection._stray import Stray
from acp_bindings.connection.errors import ConnectionClosed, TimedOut, alone, log
from acp_bindings.errors import one_line
from acp_bindings.jsonrpc import CANCEL, METHOD_NOT_FOUND, PARSE_ERROR, Codec, ProtocolPackage, Role
from acp_bindings.messages import BadLine, BadResponse, ErrorResponse, Id, Notification, Request, Response
from acp_bindings.methods import Asks

T = TypeVar("T")
Result = TypeVar("Result")

Trace: TypeAlias = Callable[[Literal["us", "peer"], bytes], object]
"""Called with the sender of a line, and the line. It must be fast. After an exception, it is not called again."""

LONGEST_MESSAGE = 32 * 1024 * 1024
"""The default maximum size of a line, in bytes."""
MOST_REQUESTS = 1000
"""The default number of requests of the peer that are handled at a time."""
MOST_BYTES = 128 * 1024 * 1024
"""The default total size of the peer's requests in progress, in bytes."""
GRACE = 5.0
"""The default time for handlers to finish after the peer has stopped sending, in seconds."""

_CHUNK = 65536
_IN_A_ROW = 250
"""Lines that are read, or notifications that are sent, before other tasks run; a chunk may contain 65536 lines."""
_LAST_WORDS = 0.5
"""Seconds to wait for last messages of a peer that no longer reads."""
_FLUSH = 1.0
"""Seconds for sending pending messages when the block ends, and for closing each stream."""
_MOMENT = 0.1
"""Seconds for `wait_for` after the end: what it awaits may already have happened."""
_NOTHING = nullcontext()
_GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError)


class ByteSource(Protocol):
    """A source of bytes: any `anyio.abc.ByteReceiveStream`."""

    async def receive(self, max_bytes: int = ..., /) -> bytes: ...
    async def aclose(self) -> None: ...


class Options(TypedDict, total=False):
    """The options of `Connection` that `connect_process` and `connect_stdio` pass on."""

    handlers: Handlers | Mapping[Any, Handle[Any]] | None
    pass_unknown: bool
    limit: int
    most_requests: int
    most_bytes: int
    trace: Trace | None


class Connection:
    """A connection over two byte streams, used as an async context manager.

    `connect_process` and `connect_stdio` create one for a child process and for standard input and output.
    """

    def __init__(
        self,
        source: ByteSource,
        sink: ByteSink,
        *,
        protocol: ProtocolPackage,
        role: Role,
        handlers: Handlers | Mapping[Any, Handle[Any]] | None = None,
        pass_unknown: bool = False,
        limit: int = LONGEST_MESSAGE,
        most_requests: int = MOST_REQUESTS,
        most_bytes: int = MOST_BYTES,
        grace: float = GRACE,
        trace: Trace | None = None,
    ) -> None:
        """Create a connection, which is opened and closed by its `async with` block.

        Args:
            source: the stream to read from: any `anyio.abc.ByteReceiveStream`. It is closed when the block ends.
            sink: the stream to write to: any `anyio.abc.ByteSendStream`. It is closed when the block ends.
            protocol: `v1`, `v1_unstable`, `v2` or `v2_unstable`; or `setup.OPENING` to negotiate the version.
            role: the role of this side.
            handlers: the handlers of the peer's messages: `Handlers`, or a mapping by class of params or by method.
            pass_unknown: accept methods that the protocol does not have, like extensions.
            limit: the maximum size of a line in bytes. A longer line is answered with an error and ends the connection.
            most_requests: how many requests of the peer are handled at a time. When the limit is reached, reading
                pauses. While a handler waits for a response of the peer, ten times as many (at least 10,000) are
                allowed, to avoid deadlocks.
            most_bytes: the total size in bytes of the peer's requests in progress. Further requests are refused with an
                error; a single request may be larger.
            grace: seconds for handlers to finish the peer's last requests after it has stopped sending.
            trace: called with the sender and each line, when it is read or about to be written. Lines may contain
                secrets.

        Raises:
            ValueError: there is a handler for a method that only the peer's side receives.
        """
        self._codec = Codec(protocol, role=role, pass_unknown=pass_unknown)
        self._source, self._sink = source, sink
        self._trace = trace and _until_it_fails(trace)
        self._outbox = Outbox(sink, trace=partial(self._trace, "us") if self._trace else None)
        handlers = handlers if isinstance(handlers, Handlers) else Handlers(handlers)
        check_role(handlers, role)
        self._live = handlers.live
        # The user may see what an agent sends, but messages of a client may contain secrets of the user.
        self._stray = Stray(show=self._shown if role == "client" else None)
        self._calls = Calls(codec=self._codec, outbox=self._outbox, stray=self._stray)
        self._waiting = Waiting(self._is_inside)
        self._serving = Serving(
            self,
            handlers,
            codec=self._codec,
            outbox=self._outbox,
            calls=self._calls,
            most_requests=most_requests,
            most_bytes=most_bytes,
            grace=grace,
        )
        self._in_a_row = 0
        """Notifications sent since other tasks last ran."""
        self._lines = LineBuffer(limit=limit)
        self._loop: object = None
        """The event loop of asyncio in which the block was entered; None on trio."""
        self._thread: int | None = None
        """The thread of the block, once it has been entered."""
        self.gone: ConnectionClosed | None = None
        """Why the connection has ended, which requests raise from now on; None while the peer is there."""
        self._rejection = ""
        """The end of that reason, if the peer rejected a message and could not say which."""
        self._reading = anyio.CancelScope()
        self._has_read = anyio.Event()
        self._ended = anyio.Event()
        self._block: AbstractAsyncContextManager[None] = self._running()

    def __repr__(self) -> str:
        state = f"closed: {self.gone}" if self.gone else "open"
        return f"<{type(self).__name__} of {self.role}, {state}>"

    @property
    def handlers(self) -> Handlers:
        """The handlers of the peer's messages."""
        return self._serving.handlers

    @property
    def role(self) -> Role:
        """The role of this side."""
        return self._codec.role

    @property
    def protocol(self) -> ProtocolPackage:
        """The protocol package for reading and writing messages. Set it when `initialize` has negotiated a version.

        Set it in an exclusive handler (`Handlers.on`) or in the `then` of a request. Only there is it certain that the
        next line has not been read yet.
        """
        return self._codec.protocol

    @protocol.setter
    def protocol(self, protocol: ProtocolPackage) -> None:
        self._codec.protocol = protocol

    @overload
    async def request(
        self,
        params: Asks[Result],
        *,
        method: None = None,
        timeout: float | None = None,
        late: Callable[[Result], object] | None = None,
    ) -> Result: ...
    @overload
    async def request(
        self,
        params: Asks[Result],
        *,
        method: None = None,
        timeout: float | None = None,
        then: Callable[[Result], T],
    ) -> T: ...
    @overload
    async def request(
        self, params: Any = None, *, method: str, timeout: float | None = None, late: Late = None
    ) -> Any: ...
    @overload
    async def request(
        self, params: Any = None, *, method: str, timeout: float | None = None, then: Callable[[Any], T]
    ) -> T: ...
    async def request(
        self,
        params: Any = None,
        *,
        method: str | None = None,
        timeout: float | None = None,
        then: Callable[[Any], Any] | None = None,
        late: Late = None,
    ) -> Any:
        """Send a request and return the result.

        All messages that arrived before the response have been handled by then, and none that arrived after it. On
        timeout, or when the task is cancelled, `$/cancel_request` is sent, and a late response is dropped.

        Args:
            params: an object of the protocol, whose class determines the method; for an extension method a JSON object
                or list, or None.
            method: an extension method, a method of a newer protocol, or a method whose params class is shared.
            timeout: seconds for sending the request and receiving the response; None to wait indefinitely.
            then: called with the result before the next line is read, for results that decide how to read it. Earlier
                messages may not have been handled yet. Its return value replaces the result; its exceptions are raised.
            late: called with the result of such a late response, to undo what was done. Its exceptions are logged.

        Returns:
            An object of the method's type, which type checkers know by the class of *params*; of an extension method
            the JSON value.

        Raises:
            RequestFailed: the peer answered with an error.
            BadAnswer: the peer's response cannot be used.
            TimedOut: it did not answer in time.
            ConnectionClosed: there is no peer any more.
            TypeError: *params* belong to no method, or not to *method*.
            ValueError: the method is not for the peer to handle.
            EncodeError: *params* cannot be sent.
            RuntimeError: this is called outside of the block, in another event loop, or by an exclusive handler.
        """
        if not self._is_here():
            raise RuntimeError(self._wrong_place("send requests"))
        turn = TURN.get()
        if self._serving.is_alone(turn):
            raise RuntimeError("an exclusive handler cannot send requests: no message is read before it ends")
        inside = self._is_inside(turn)
        sent = self._codec.request(params, method=method)
        call = self._calls.begin(sent.id, then, late, inside=inside)
        taken = late is None
        try:
            if self.gone:
                self._calls.fail(sent.id, self.gone)
            else:
                in_time = _NOTHING if timeout is None else anyio.move_on_after(timeout)
                with self._waiting_for_peer(turn, inside=inside), in_time:
                    await self._ask(call, sent.line, turn)
            taken = taken or call.answered.is_set()
        finally:
            name = self._calls.give_up(sent.id)
            self._serving.went_on(call)
            if not taken:
                call.drop()
        if timeout is not None and not call.answered.is_set():
            behind = self._serving.turn.method if call.settled and self._serving.turn else None
            stray, unended = self._stray.since(call.stray), len(self._lines.begun)
            raise TimedOut(name or call.method, timeout, stray=stray, behind=behind, unended=unended)
        if call.error is not None:
            raise call.error
        return call.result

    @overload
    async def notify(
        self, params: NotificationParams, *, method: None = None, after_response: bool = False
    ) -> None: ...
    @overload
    async def notify(self, params: Any = None, *, method: str, after_response: bool = False) -> None: ...
    async def notify(self, params: Any = None, *, method: str | None = None, after_response: bool = False) -> None:
        """Send a notification, after all messages that this task has sent before.

        This waits if the peer reads slowly, and lets other tasks run from time to time.

        Args:
            params: an object of the protocol, whose class determines the method; for an extension method a JSON object
                or list, or None.
            method: an extension method, a method of a newer protocol, or a method whose params class is shared.
            after_response: in the handler of a request, or in a task that it has started: send the notification
                directly after the response, before any later message. If the response is an error, the notification is
                dropped. If the response has already been sent, this has no effect.

        Raises:
            ConnectionClosed: the peer no longer reads.
            TypeError: no method takes *params*, or *method* does not.
            ValueError: the peer does not handle this method.
            EncodeError: *params* cannot be sent.
            RuntimeError: this is called outside the block, in another thread, or with *after_response* while no request
                of this connection is being handled.
        """
        if get_ident() != self._thread:
            raise RuntimeError(self._wrong_place("send notifications"))
        self._in_a_row += 1
        if self._in_a_row >= _IN_A_ROW:
            self._in_a_row = 0
            await anyio.lowlevel.checkpoint()
        line = params if type(params) is Line else self._codec.notify(params, method=method)
        if after_response and (after := self._serving.to_follow(TURN.get())) is not None:
            after.append(line)
            return
        outbox = self._outbox
        if outbox.is_full:
            with self._serving.unheard():
                if await outbox.line_up(line).wait():
                    return
        # Not `gone`: a peer that says nothing more may still read.
        if outbox.is_broken or outbox.is_ending:
            end = self.gone or ConnectionClosed(_DEAF)
            raise end.of(None, stray=end.stray)
        outbox.add(line)

    def post(self, line: Line) -> None:
        """Send *line* like `notify`, in its order, without waiting for a peer that reads slowly.

        It is for the end of something, which the peer must learn also after a cancellation. A peer that no longer reads
        does not get it, and nothing is sent after `close`.
        """
        outbox = self._outbox
        if outbox.is_full:
            outbox.line_up(line)
        elif not outbox.is_ending:
            outbox.add(line)

    async def wait_for(self, what: Awaitable[T]) -> T:
        """Await *what*, such as an event that a handler sets, until the connection ends.

        `await event.wait()` would wait indefinitely if the peer exits.

        Raises:
            ConnectionClosed: the peer has gone and all its messages have been handled, or `close` was called. *what* is
                cancelled.
            RuntimeError: this is called outside the block, in another event loop, or by a handler that blocks all other
                messages.
        """
        turn = TURN.get()
        try:
            if not self._is_here():
                raise RuntimeError(self._wrong_place("wait"))
            if self._serving.is_alone(turn):
                raise RuntimeError("an exclusive handler cannot wait for the peer: no message is read before it ends")
            if self._serving.is_here:
                raise RuntimeError("no other message is handled before this handler ends; wait in a separate task")
        except RuntimeError:
            if iscoroutine(what):
                what.close()
            raise
        with self._waiting_for_peer(turn, inside=self._is_inside(turn)):
            return await self._waiting.wait_for(what, turn)

    def close(self) -> None:
        """Cancel all handlers and fail pending requests, without waiting. Leaving the block does the same.

        Raises:
            RuntimeError: this is called in another thread.
        """
        if self._thread not in (None, get_ident()):
            raise RuntimeError(self._wrong_place("close it"))
        self._fail_all(self._set_gone(ConnectionClosed(_CLOSED)))
        self._reading.cancel()
        self._outbox.end()
        self._serving.cancel_all()

    async def wait_ended(self) -> ConnectionClosed:
        """Wait until the peer has gone and all its messages have been handled, or until `close` is called.

        Returns:
            The reason: the error that requests raise from now on.
        """
        await self._ended.wait()
        # A block that is cancelled from outside ends its handlers first.
        return self.gone or ConnectionClosed(_CLOSED)

    async def __aenter__(self) -> Self:
        """Open the connection. A connection can be used only once."""
        if self._thread is not None:
            raise RuntimeError("this connection has already been used; create a new one")
        self._loop, self._thread = _get_running_loop(), get_ident()
        await self._block.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the connection: write pending messages, if the peer reads them soon, and stop all tasks."""
        await self._block.__aexit__(kind, error, traceback)

    def _is_here(self) -> bool:
        # The token of anyio takes ten times as long, which is 5 % of a request.
        return get_ident() == self._thread and _get_running_loop() is self._loop

    def _wrong_place(self, do: str) -> str:
        """The error for a call before the block or from another event loop, which might wait forever."""
        if self._thread is None:
            return f"the connection is not open: {do} in its `async with` block"
        return f"the connection belongs to another event loop: {do} there; from a thread, use `anyio.from_thread`"

    def _shown(self, text: str) -> str:
        """Return *text* of the peer without secrets."""
        return text

    async def _explain(self, end: ConnectionClosed) -> ConnectionClosed:
        """Return *end*, or an error with more details."""
        return end

    @asynccontextmanager
    async def _running(self) -> AsyncGenerator[None]:
        error: BaseException | None = None
        try:
            async with anyio.create_task_group() as tasks:
                await tasks.start(self._serve)
                for beside in (self._outbox.run, self._read, self._watch):
                    tasks.start_soon(beside)
                try:
                    yield
                except BaseException as caught:  # noqa: BLE001 - the task group would wrap it
                    error = caught
                self.close()
                with anyio.move_on_after(_FLUSH, shield=True):
                    await self._outbox.flush()
                tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            # A handler raised this; that it ran in a task group is an implementation detail.
            raise alone(group) from None
        finally:
            # Also if it was cancelled before the block began.
            self.close()
            await to_the_end(self._close_both)
        if error is not None:
            raise error

    async def _close_both(self) -> None:
        for end in (self._source, self._sink):
            # Closing may need an exchange with the peer, as with TLS, which can fail or hang.
            with anyio.move_on_after(_FLUSH):
                try:
                    await end.aclose()
                except Exception:  # noqa: BLE001 - streams that users write may raise any error
                    log.debug("closing a stream failed", exc_info=True)

    async def _serve(self, *, task_status: TaskStatus[None]) -> None:
        try:
            await self._serving.run(task_status=task_status)
        finally:
            self._ended.set()

    async def _watch(self) -> None:
        """End the connection shortly after the peer has stopped reading; it may still send messages until then."""
        await self._outbox.broken.wait()
        with anyio.move_on_after(_LAST_WORDS):
            await self._has_read.wait()
        self._reading.cancel()

    def _waiting_for_peer(self, turn: Turn | None, *, inside: bool) -> AbstractContextManager[None]:
        """Return a context manager for the time in which a handler waits for the peer."""
        # A request from inside gets its response out of order, so it does not wait for earlier messages.
        return self._serving.asking(None if inside else turn) if turn else _NOTHING

    async def _ask(self, call: Call, line: bytes, turn: Turn | None) -> None:
        if self._outbox.is_full:
            self._serving.progress.notify_all()
            call.place = self._outbox.line_up(line)
            await call.place.wait()
        else:
            self._outbox.add(line, hurry=True)
        if turn and turn.awaited:
            await turn.wait(call.answered)
        else:
            await call.answered.wait()

    async def _read(self) -> None:
        end = ConnectionClosed(_DEAF)
        try:
            with self._reading:
                end = await self._read_to_end()
        except BaseException:
            # The block is cancelled. Its cleanup must not wait for responses, because reading has ended.
            self.close()
            raise
        if not self.gone:
            self._set_gone(await self._explain(end))

    async def _read_to_end(self) -> ConnectionClosed:
        lines = self._lines
        while not lines.overflowed:
            try:
                chunk = await self._source.receive(_CHUNK)
            except anyio.EndOfStream:
                if rest := lines.rest():
                    await self._dispatch_all([rest])
                return ConnectionClosed("the peer closed the connection")
            except (OSError, *_GONE):
                return ConnectionClosed("the connection was lost")
            await self._dispatch_all(lines.feed(chunk))
        wrong = f"a line is longer than {lines.limit} bytes"
        error = {"code": PARSE_ERROR, "message": f"Parse error: {wrong}"}
        self._outbox.owe(line_of({"id": None}, "error", error))
        return ConnectionClosed(f"reading stopped: {wrong}")

    async def _dispatch_all(self, lines: list[bytes]) -> None:
        for count, line in enumerate(lines, 1):
            if done := self._dispatch(line):
                await done.wait()
            elif not count % _IN_A_ROW:
                await anyio.lowlevel.checkpoint()
                await self._wait_for_room()
        await self._wait_for_room()

    async def _wait_for_room(self) -> None:
        """Wait until more lines may be read."""
        if self._serving.is_crowded:
            await self._serving.room()
        if self._outbox.owes_much:
            await self._outbox.paid()

    def _dispatch(self, line: bytes) -> anyio.Event | None:
        """Dispatch a line.

        Returns:
            An event to wait for before the next line is read, or None.
        """
        if self._trace:
            self._trace("peer", line)
        if self._live and self._serving.update(line):
            return None
        message = self._codec.read(line)
        if isinstance(message, Notification):
            if message.method != CANCEL:
                return self._serving.notification(message, len(line))
            self._serving.cancel(_cancelled(message.params))
        elif isinstance(message, Request):
            return self._serving.request(message, len(line))
        elif isinstance(message, BadLine):
            self._stray.note(line, message)
            if message.reply:
                self._outbox.owe(message.reply)
        else:
            self._answer(message, len(line))
        return None

    def _answer(self, message: Response | ErrorResponse | BadResponse, size: int) -> None:
        call = self._calls.settle(message)
        if call is None:
            # Only an error without an id is possible.
            error = cast("ErrorResponse", message).error
            told = f"the peer rejected a message of this side: {one_line(self._shown(error.message))}"
            if self._calls.cancelled and error.code == METHOD_NOT_FOUND:
                # It answers the notification of the cancellation, which is optional.
                log.debug("%s", told)
            else:
                log.warning("%s", told)
                self._rejection = f"; {told}"
        elif call.inside:
            # In order, the response would wait for the handler that waits for it.
            call.answered.set()
        else:
            self._serving.answer(call, size)

    def _set_gone(self, end: ConnectionClosed) -> ConnectionClosed:
        """Record that no more messages arrive.

        Returns:
            The reason: *end*, unless there was an earlier one.
        """
        if self.gone is None:
            self.gone = end = end.of(None, stray=self._stray.since(self._stray.count))
            end.reason += self._rejection
            self._has_read.set()
            self._fail_all(end, inside=True)
            self._serving.end(partial(self._fail_all, end))
        return self.gone

    def _fail_all(self, end: ConnectionClosed, *, inside: bool = False) -> None:
        self._calls.fail_all(end, inside=inside)
        self._waiting.end(end, inside=inside)

    def _is_inside(self, turn: Turn | None) -> bool:
        """Return True if all other messages wait for the end of *turn*, possibly through other connections."""
        # The turn may wait for the exclusive handler of another connection, which cannot be detected.
        return turn is not None and (turn.exclusive or self._serving.waits_for(turn))


_DEAF = "the peer no longer reads"
_CLOSED = "the connection was closed"


def _until_it_fails(trace: Trace) -> Trace:
    """Return a function that calls *trace* until it raises an exception, which must not end the conversation."""
    if not callable(trace):
        raise TypeError(f"trace must be callable, not {type(trace).__name__}")
    failed = False

    def call(sender: Literal["us", "peer"], line: bytes) -> None:
        nonlocal failed
        if not failed:
            try:
                trace(sender, line)
            except Exception:  # noqa: BLE001 - logged
                failed = True
                log.exception("trace failed and is not called again")

    return call


def _cancelled(params: Any) -> Id | EllipsisType:
    """Return the id in the *params* of `$/cancel_request`, an object or JSON; `...` if there is none."""
    named: Any = cast("dict[str, Any]", params).get("requestId", ...) if isinstance(params, dict) else ...
    id_: Any = getattr(cast("object", params), "request_id", named)
    # Not `isinstance`: True would equal 1.
    return id_ if type(id_) in (int, str, NoneType) else ...


class Waiting:
    """The pending `wait_for` calls.

    A call is *inside* if it runs in a handler that all other messages, and the end of the connection, wait for. So
    these calls are ended first.
    """

    def __init__(self, is_inside: Callable[[Turn | None], bool]) -> None:
        """Start without pending calls.

        Args:
            is_inside: returns True if a turn is inside. It no longer is when its handler ends, even if tasks are left.
        """
        self._is_inside = is_inside
        self._turns: dict[anyio.CancelScope, Turn | None] = {}
        self._ends: dict[bool, ConnectionClosed] = {}
        """The reason of the end: `True` for calls inside, `False` for all others."""

    async def wait_for(self, what: Awaitable[T], turn: Turn | None) -> T:
        """Await *what*; *turn* is that of the calling handler.

        Raises:
            ConnectionClosed: the connection ended first.
        """
        with anyio.CancelScope() as scope:
            if self._is_inside(turn) in self._ends:
                _end_soon(scope)
            self._turns[scope] = turn
            try:
                return await what
            finally:
                del self._turns[scope]
        end = self._ends[True]
        raise end.of(None, stray=end.stray)

    def end(self, end: ConnectionClosed, *, inside: bool) -> None:
        """End the calls inside, or all calls."""
        self._ends[inside] = end
        for scope, turn in self._turns.items():
            if not inside or self._is_inside(turn):
                _end_soon(scope)


def _end_soon(scope: anyio.CancelScope) -> None:
    scope.deadline = anyio.current_time() + _MOMENT
