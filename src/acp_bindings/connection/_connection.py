"""One end of a running connection: sends requests and notifications, and has handlers answer those of the peer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, nullcontext, suppress
from functools import partial
from inspect import iscoroutine
from math import inf
from threading import get_ident
from types import EllipsisType, NoneType, TracebackType
from typing import Any, Literal, Protocol, Self, TypeAlias, TypeVar, cast, overload

import anyio
import anyio.lowlevel
from anyio.abc import TaskStatus

from acp_bindings._envelope import line_of
from acp_bindings._models.base import Told
from acp_bindings._processes.process import LineBuffer, to_the_end
from acp_bindings.connection._calls import Call, Calls
from acp_bindings.connection._handlers import Handle, Handlers
from acp_bindings.connection._outbox import ByteSink, Outbox
from acp_bindings.connection._serving import TURN, Serving, Turn
from acp_bindings.connection._stray import Stray
from acp_bindings.connection.errors import ConnectionClosed, TimedOut, alone, log
from acp_bindings.jsonrpc import CANCEL, PARSE_ERROR, Codec, ProtocolPackage, Role
from acp_bindings.messages import BadLine, BadResponse, ErrorResponse, Id, Notification, Request, Response
from acp_bindings.methods import Asks

T = TypeVar("T")
Result = TypeVar("Result")

Trace: TypeAlias = Callable[[Literal["us", "peer"], bytes], object]
"""Called with who sends a line, and the line. It must be quick, and must not raise."""

LONGEST = 32 * 1024 * 1024
"""Bytes of a line, unless said otherwise."""
MOST_REQUESTS = 1000
"""Requests of the peer that are handled at a time, unless said otherwise."""
MOST_BYTES = 128 * 1024 * 1024
"""Bytes of the peer's requests in progress, unless said otherwise."""
GRACE = 5.0
"""Seconds for handlers when the peer has stopped sending, unless said otherwise."""

_CHUNK = 65536
_IN_A_ROW = 250
"""Lines that are read or notified in a row before other tasks have their turn; a chunk may hold 65536."""
_LAST_WORDS = 0.5
"""Seconds in which a peer that no longer reads may still send something."""
_FLUSH = 1.0
"""Seconds for what is still to be sent when the block ends, and for closing each of the streams."""
_MOMENT = 0.1
"""Seconds for what is waited for when nothing more comes: it may have happened already, and only need its turn."""
_NOTHING = nullcontext()
_GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError)


class ByteSource(Protocol):
    """Where bytes come from: any `anyio.abc.ByteReceiveStream`."""

    async def receive(self, max_bytes: int = ..., /) -> bytes: ...
    async def aclose(self) -> None: ...


class Connection:
    """A connection over two byte streams, for the time of an `async with` block.

    `connect_process` and `connect_stdio` make one over the pipes of a child process, and over our own.
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
        limit: int = LONGEST,
        most_requests: int = MOST_REQUESTS,
        most_bytes: int = MOST_BYTES,
        grace: float = GRACE,
        trace: Trace | None = None,
    ) -> None:
        """A connection that begins, and ends, with its block.

        Args:
            source: where the peer's bytes come from: any `anyio.abc.ByteReceiveStream`. It is closed with the block.
            sink: where ours go: any `anyio.abc.ByteSendStream`. It is closed with the block.
            protocol: `v1`, `v1_unstable`, `v2` or `v2_unstable`; or `setup.OPENING` until one is settled on.
            role: who we are.
            handlers: the handlers of what the peer sends, as `Handlers`, or by class of params or method.
            pass_unknown: let methods through that the protocol does not have, as if they were extensions.
            limit: bytes that a line may have. A longer one is answered with an error, and ends the connection.
            most_requests: how many requests of the peer are handled at a time. While there are as many, nothing is
                read. While a handler waits for a response of the peer, ten times as many (at least 10,000) are
                handled: otherwise both sides might wait for ever.
            most_bytes: how many bytes the peer's requests in progress may have. Another one is refused with an error;
                a single request may have more.
            grace: seconds that handlers get for the peer's last requests when it has stopped sending.
            trace: called with who sends it and each line, as it is read or about to be written. Lines hold secrets.
        """
        self._codec = Codec(protocol, role=role, pass_unknown=pass_unknown)
        self._source, self._sink = source, sink
        self._trace = trace
        self._outbox = Outbox(sink, trace=partial(trace, "us") if trace else None)
        handlers = handlers if isinstance(handlers, Handlers) else Handlers(handlers)
        # An agent sends what its user may see, but what a client sends may hold secrets of the user.
        self._stray = Stray(show=self._shown if role == "client" else None, handled=handlers, codec=self._codec)
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
        """Notifications since others last had their turn."""
        self._lines = LineBuffer(limit=limit)
        self._thread: int | None = None
        """The thread of its block, once that has begun."""
        self._gone: ConnectionClosed | None = None
        """Why nothing more will come, once that is so."""
        self._reading = anyio.CancelScope()
        self._has_read = anyio.Event()
        self._ended = anyio.Event()
        self._block: AbstractAsyncContextManager[None] = self._running()

    def __repr__(self) -> str:
        state = f"closed: {self._gone}" if self._gone else "open"
        return f"<{type(self).__name__} of {self.role}, {state}>"

    @property
    def handlers(self) -> Handlers:
        """The handlers of what the peer sends."""
        return self._serving.handlers

    @property
    def role(self) -> Role:
        """Who we are."""
        return self._codec.role

    @property
    def protocol(self) -> ProtocolPackage:
        """The package by which lines are read and written. Set it when `initialize` has settled on another.

        Set it in an exclusive handler (`Handlers.on`) or in the `then` of a request: only there is it certain that the
        next line has not been read yet.
        """
        return self._codec.protocol

    @protocol.setter
    def protocol(self, protocol: ProtocolPackage) -> None:
        self._codec.protocol = protocol

    @overload
    async def request(self, params: Asks[Result], *, method: None = None, timeout: float | None = None) -> Result: ...
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
    async def request(self, params: Any = None, *, method: str, timeout: float | None = None) -> Any: ...
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
    ) -> Any:
        """Send a request, and return its result when all that came before has been handled, and nothing after it.

        After *timeout*, or when the task is cancelled, `$/cancel_request` is sent, and a response that still comes is
        dropped.

        Args:
            params: an object of the protocol, which tells the method; for an extension method a JSON object or list, or
                None for none.
            method: an extension method, one of a newer protocol, or one whose params another has too.
            timeout: seconds for sending it and for the answer; None for as long as it takes.
            then: called with the result before the next line is read, for what settles how that is to be read; what
                came earlier may not have been handled yet. What it returns is returned in place of the result, and what
                it raises is raised.

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
            RuntimeError: this is called outside of the block, in another thread, or by an exclusive handler.
        """
        if get_ident() != self._thread:
            raise RuntimeError(self._told_elsewhere("ask"))
        turn = TURN.get()
        if self._serving.is_alone(turn):
            raise RuntimeError("an exclusive handler cannot ask the peer: nothing is read before it is done")
        inside = self._is_inside(turn)
        sent = self._codec.request(params, method=method)
        call = self._calls.begin(sent.id, then, inside=inside)
        try:
            if self._gone:
                self._calls.fail(sent.id, self._gone)
            else:
                in_time = _NOTHING if timeout is None else anyio.move_on_after(timeout)
                with self._asking(turn, inside=inside), in_time:
                    await self._ask(call, sent.line, turn)
        finally:
            name = self._calls.give_up(sent.id)
            self._serving.went_on(call)
        if timeout is not None and not call.answered.is_set():
            behind = self._serving.turn.method if call.settled and self._serving.turn else None
            stray, unended = self._stray.since(call.stray), len(self._lines.begun)
            raise TimedOut(name or call.method, timeout, stray=stray, behind=behind, unended=unended)
        if call.error is not None:
            raise call.error
        return call.result

    @overload
    async def notify(self, params: Told, *, method: None = None, after_response: bool = False) -> None: ...
    @overload
    async def notify(self, params: Any = None, *, method: str, after_response: bool = False) -> None: ...
    async def notify(self, params: Any = None, *, method: str | None = None, after_response: bool = False) -> None:
        """Send a notification, after everything that this task has sent before.

        This waits while the peer is slow to read, and lets other tasks run from time to time.

        Args:
            params: an object of the protocol, which tells the method; for an extension method a JSON object or list, or
                None for none.
            method: an extension method, one of a newer protocol, or one whose params another has too.
            after_response: in the handler of a request, or in a task that it has started: send it directly after the
                response, before any later message. If the response is an error, the notification is dropped. If the
                response has been sent already, this makes no difference.

        Raises:
            ConnectionClosed: nobody reads any more.
            TypeError: *params* belong to no method, or not to *method*.
            ValueError: the method is not for the peer to handle.
            EncodeError: *params* cannot be sent.
            RuntimeError: this is called outside of the block, or in another thread; or with *after_response* although
                no request of this connection is being handled.
        """
        if get_ident() != self._thread:
            raise RuntimeError(self._told_elsewhere("tell"))
        self._in_a_row += 1
        if self._in_a_row >= _IN_A_ROW:
            self._in_a_row = 0
            await _let_others_run()
        line = self._codec.notify(params, method=method)
        if after_response and (after := self._serving.to_follow(TURN.get())) is not None:
            after.append(line)
            return
        outbox = self._outbox
        if outbox.is_full:
            with self._serving.unheard():
                if await outbox.line_up(line).wait():
                    return
        # Not `_gone`: a peer that says nothing more may still read.
        if outbox.is_broken or outbox.is_ending:
            raise self._gone or ConnectionClosed(_DEAF)
        outbox.add(line)

    async def wait_for(self, what: Awaitable[T]) -> T:
        """Await *what*, such as an event that a handler sets, as long as anything may still come from the peer.

        `await event.wait()` alone would wait for ever once the peer has gone.

        Raises:
            ConnectionClosed: the peer has gone and what it had sent has been handled, or `close` was called. *What* is
                cancelled then.
            RuntimeError: this is called outside of the block, in another thread, or by a handler before whose end no
                message is handled.
        """
        turn = TURN.get()
        try:
            if get_ident() != self._thread:
                raise RuntimeError(self._told_elsewhere("wait"))
            if self._serving.is_alone(turn):
                raise RuntimeError("an exclusive handler cannot wait for the peer: nothing is read before it is done")
            if self._serving.is_here:
                raise RuntimeError("no message is handled before this handler is done: wait in a task of its own")
        except RuntimeError:
            if iscoroutine(what):
                what.close()
            raise
        with self._asking(turn, inside=self._is_inside(turn)):
            return await self._waiting.wait_for(what, turn)

    def close(self) -> None:
        """Cancel the handlers and fail requests that are pending, without waiting. Leaving the block does it too.

        Raises:
            RuntimeError: this is called in another thread than that of the block.
        """
        if self._thread not in (None, get_ident()):
            raise RuntimeError(self._told_elsewhere("close it"))
        self._fail_all(self._lose(ConnectionClosed(_CLOSED)))
        self._reading.cancel()
        self._outbox.end()
        self._serving.cancel_all()

    async def wait_ended(self) -> ConnectionClosed:
        """Wait until the peer has gone and what it had sent has been handled, or until `close` was called.

        Returns:
            Why it ended: the error that requests raise from now on.
        """
        await self._ended.wait()
        # A block that is cancelled from outside ends its handlers first.
        return self._gone or ConnectionClosed(_CLOSED)

    async def __aenter__(self) -> Self:
        """The connection, running. It has one block: for another one, make another connection."""
        if self._thread is not None:
            raise RuntimeError("a connection has one block, which was entered already; make another connection")
        self._thread = get_ident()
        await self._block.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End it: what was sent is written, if the peer reads it soon, and nothing is left running."""
        await self._block.__aexit__(kind, error, traceback)

    def _told_elsewhere(self, do: str) -> str:
        """The error of a call before the block or from another thread, which might otherwise wait for ever."""
        if self._thread is None:
            return f"the connection has not begun: {do} in its `async with` block"
        return f"the connection is of the event loop of another thread: {do} there, as by `anyio.from_thread`"

    def _shown(self, text: str) -> str:
        """*text*, which the peer sent, as it may be shown."""
        return text

    async def _explain(self, end: ConnectionClosed) -> ConnectionClosed:
        """*end*, or an error that says more about it."""
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
                except BaseException as caught:  # noqa: BLE001 - kept out of the task group, which would wrap it
                    error = caught
                self.close()
                with anyio.move_on_after(_FLUSH, shield=True):
                    await self._outbox.flush()
                tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            # What a handler raised; users need not know that it ran in a task group.
            raise alone(group) from None
        finally:
            # Also if it was cancelled before the block began.
            self.close()
            await to_the_end(self._close_both)
        if error is not None:
            raise error

    async def _close_both(self) -> None:
        for end in (self._source, self._sink):
            # Closing may take an exchange with the peer, as with TLS, and fail or never end where nobody answers.
            with anyio.move_on_after(_FLUSH), suppress(OSError, *_GONE):
                await end.aclose()

    async def _serve(self, *, task_status: TaskStatus[None]) -> None:
        try:
            await self._serving.run(task_status=task_status)
        finally:
            self._ended.set()

    async def _watch(self) -> None:
        """End the connection to a peer that no longer reads, after a moment in which it may still send something."""
        await self._outbox.broken.wait()
        with anyio.move_on_after(_LAST_WORDS):
            await self._has_read.wait()
        self._reading.cancel()

    def _asking(self, turn: Turn | None, *, inside: bool) -> AbstractContextManager[None]:
        """The time for which a handler waits for the peer; nothing if no handler asks."""
        # A request from inside gets its answer out of turn, and so waits for nothing that came before.
        return self._serving.asking(None if inside else turn) if turn else _NOTHING

    async def _ask(self, call: Call, line: bytes, turn: Turn | None) -> None:
        if self._outbox.is_full:
            self._serving.look_again()
            call.place = self._outbox.line_up(line)
            await call.place.wait()
        else:
            self._outbox.add(line, hurry=True)
            call.sent_at_once = True
        if turn and turn.awaited:
            await turn.wait(call.answered)
        else:
            await call.answered.wait()

    async def _read(self) -> None:
        end = ConnectionClosed(_DEAF)
        with self._reading:
            end = await self._read_to_end()
        if not self._gone:
            self._lose(await self._explain(end))

    async def _read_to_end(self) -> ConnectionClosed:
        lines = self._lines
        while not lines.overflowed:
            try:
                chunk = await self._source.receive(_CHUNK)
            except anyio.EndOfStream:
                if rest := lines.rest():
                    await self._take_all([rest])
                return ConnectionClosed("the peer closed the connection")
            except (OSError, *_GONE):
                return ConnectionClosed("the connection broke")
            await self._take_all(lines.feed(chunk))
        wrong = f"a line has more than {lines.limit} bytes"
        error = {"code": PARSE_ERROR, "message": f"Parse error: {wrong}"}
        self._outbox.owe(line_of({"id": None}, "error", error))
        return ConnectionClosed(f"the peer is not read any further, since {wrong}")

    async def _take_all(self, lines: list[bytes]) -> None:
        for count, line in enumerate(lines, 1):
            if done := self._take(line):
                await done.wait()
            elif not count % _IN_A_ROW:
                await anyio.lowlevel.checkpoint()
                await self._room()
        await self._room()

    async def _room(self) -> None:
        """Wait until there is room for more lines."""
        if self._serving.is_crowded:
            await self._serving.room()
        if self._outbox.owes_much:
            await self._outbox.paid()

    def _take(self, line: bytes) -> anyio.Event | None:
        """Have a line handled.

        Returns:
            What to wait for before the next line is read; None for nothing.
        """
        if self._trace:
            self._trace("peer", line)
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
            log.warning("the peer could not read a line of ours: %s", message)
        elif call.inside:
            # In its turn, it would wait for the very handler that waits for it.
            call.answered.set()
        else:
            self._serving.answer(call, size)

    def _lose(self, end: ConnectionClosed) -> ConnectionClosed:
        """Let nothing more come.

        Returns:
            Why nothing does: *end*, unless there was an earlier reason.
        """
        if self._gone is None:
            self._gone = end = end.of(None, stray=self._stray.since(self._stray.count))
            self._has_read.set()
            self._fail_all(end, inside=True)
            self._serving.end(partial(self._fail_all, end))
        return self._gone

    def _fail_all(self, end: ConnectionClosed, *, inside: bool = False) -> None:
        self._calls.fail_all(end, inside=inside)
        self._waiting.end(end, inside=inside)

    def _is_inside(self, turn: Turn | None) -> bool:
        """Whether everything else here waits for the end of *turn*, perhaps by way of other connections."""
        # The exclusive handler of another connection may be what the turn here waits for. Nobody could tell.
        return turn is not None and (turn.exclusive or self._serving.waits_for(turn))


async def _let_others_run() -> None:
    """Let other tasks run. One of them may cancel this task; a task that was cancelled before can go on."""
    if anyio.current_effective_deadline() == -inf:
        await anyio.lowlevel.cancel_shielded_checkpoint()
    else:
        await anyio.lowlevel.checkpoint()


_DEAF = "the peer no longer reads"
_CLOSED = "the connection was closed"


def _cancelled(params: Any) -> Id | EllipsisType:
    """The id in the *params* of `$/cancel_request`, an object or JSON; `...` if there is none."""
    named: Any = cast("dict[str, Any]", params).get("requestId", ...) if isinstance(params, dict) else ...
    id_: Any = getattr(cast("object", params), "request_id", named)
    # Not `isinstance`: true would be 1.
    return id_ if type(id_) in (int, str, NoneType) else ...


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
