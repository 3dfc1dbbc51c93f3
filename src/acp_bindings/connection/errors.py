"""What can go wrong on a connection, below `AcpError`.

AcpError
├── CannotStart          the peer's command could not be run: .command
├── ConnectionClosed     there is no peer any more: .method .exit_status .stderr .stray
├── TimedOut             no answer in time: .method .seconds .stray .behind .unended
├── RequestFailed        the peer answered with an error: .method .code .message .data
└── BadAnswer            the peer answered with what is no answer: .method .issues

What a handler raises to answer with an error is `acp_bindings.setup.RequestError`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from types import coroutine
from typing import Any, cast

import anyio

from acp_bindings.errors import AcpError, Issue, summarize
from acp_bindings.setup.errors import told_in

__all__ = [
    "BadAnswer",
    "CannotStart",
    "ConnectionClosed",
    "RequestFailed",
    "StrayLines",
    "TimedOut",
    "alone",
    "idle",
    "is_failure",
    "is_for_task_alone",
    "log",
    "run_apart",
    "take_back",
]

log = logging.getLogger("acp_bindings.connection")


@dataclass(frozen=True, slots=True)
class StrayLines:
    """Lines of the peer that were no messages, one of which may stand where an answer should.

    They came since the request was sent; while the peer has answered nothing at all, those before it are meant too.
    """

    count: int
    last: str | None
    """The last of them, cut, and without the values of a process's `env`; None but for clients, since what a client
    sends may hold secrets in any place."""

    def __str__(self) -> str:
        """What a message says of them."""
        if self.count == 1:
            return "a line of the peer was no message" + (f': "{self.last}"' if self.last else "")
        return f"{self.count} lines of the peer were no messages" + (f', the last: "{self.last}"' if self.last else "")


class CannotStart(AcpError):  # noqa: N818 - says what is wrong, which a suffix would not
    """The command of the peer could not be run."""

    def __init__(self, command: str, reason: str) -> None:
        super().__init__(f'cannot start "{command}": {reason}')
        self.command = command
        """The program, without its arguments, which may be secret."""


class ConnectionClosed(AcpError):  # noqa: N818 - says what is wrong, which a suffix would not
    """There is no peer any more, so that nothing is sent and no answer will come."""

    def __init__(
        self,
        reason: str,
        *,
        method: str | None = None,
        exit_status: int | None = None,
        stderr: Sequence[str] = (),
        stray: StrayLines | None = None,
    ) -> None:
        super().__init__("".join([f"{method}: " if method else "", reason, f"; {stray}" if stray else ""]))
        self.reason = reason
        self.method = method
        """The method of the request that gets no answer for it, if it is one that failed."""
        self.exit_status = exit_status
        """Of a child process: its exit status, negative for a signal; None while it runs, and of other peers."""
        self.stderr = tuple(stderr)
        """Of a child process: the last lines that it wrote to standard error, without the values of its `env`."""
        self.stray = stray
        """What it wrote in place of messages, where that may be why there is no answer."""

    def of(self, method: str | None, *, stray: StrayLines | None = None) -> ConnectionClosed:
        """The same of one request, or of none, with what came in place of messages."""
        return ConnectionClosed(
            self.reason, method=method, exit_status=self.exit_status, stderr=self.stderr, stray=stray
        )


class TimedOut(AcpError):  # noqa: N818 - says what is wrong, which a suffix would not
    """The peer did not answer in time. It was asked to give up; an answer that still comes is dropped.

    Or it did, but a handler of ours held that up.
    """

    def __init__(
        self,
        method: str,
        seconds: float,
        *,
        stray: StrayLines | None = None,
        behind: str | None = None,
        unended: int = 0,
    ) -> None:
        late = f"the answer has come, but waits for the handler of {behind}, which has not ended" if behind else ""
        begun = "" if late or not unended else "the peer has begun a line, which has no newline at its end yet"
        told = [f"{method}: no answer within {seconds:g} s", late, str(stray or ""), begun]
        super().__init__("; ".join(filter(None, told)))
        self.method = method
        self.seconds = seconds
        self.stray = stray
        """What it wrote in place of messages, where that may be why there is no answer."""
        self.behind = behind
        """The method of a notification whose handler the answer waits for, if it has come."""
        self.unended = unended
        """Bytes of the line that the peer has begun and not ended, as far as they are counted."""


class RequestFailed(AcpError):  # noqa: N818 - it was the request that failed, over there
    """The peer answered with an error. `acp_bindings.setup.error_from` says what it means, where that is known.

    It is no `RequestError`, which would be our answer: a handler that lets it out answers "Internal error".
    """

    def __init__(self, method: str, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{method}: {message} ({code}){told_in(data)}")
        self.method = method
        self.code = code
        """As JSON-RPC and the protocol number it (`ErrorCode`)."""
        self.message = message
        """What the peer says of it."""
        self.data = data
        """What the peer says beside it: any JSON value, None for nothing."""


class BadAnswer(AcpError):  # noqa: N818 - says what is wrong, which a suffix would not
    """The peer answered with what is no answer to the request."""

    def __init__(self, method: str, reason: str, issues: Sequence[Issue] = ()) -> None:
        wrong = f"; {summarize([*map(str, issues)])}" if issues else ""
        super().__init__(f"{method}: the answer cannot be used: {reason}{wrong}")
        self.method = method
        self.issues = tuple(issues)
        """What is wrong in the result or the error, with the paths from there on."""


def alone(error: BaseException) -> BaseException:
    """The only exception in *error*, if that is a group of one, however deep; else *error* itself."""
    while isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        first, *others = group.exceptions
        if others:
            return group
        error = first
    return error


def is_failure(error: BaseException) -> bool:
    """Whether *error* fails the handler alone. Call this where *error* is caught.

    asyncio raises `CancelledError` when a task is cancelled, and also when a future or task that it waits for is. The
    second is a failure: taken for the first, the task would end without a word.
    """
    if not isinstance(error, asyncio.CancelledError):
        return isinstance(error, Exception)
    task = asyncio.current_task()
    return not (_is_scope_cancelled() or (task and task.cancelling()))


def is_for_task_alone(error: BaseException | None) -> bool:
    """Whether *error* is that asyncio, and no cancel scope, has cancelled this task; then that is taken back.

    Who cancels the task knows it by the handler that runs in it, and means only that. Raised, it would end the whole
    task group.
    """
    return isinstance(error, asyncio.CancelledError) and take_back()


async def idle(wait: Callable[[], Awaitable[object]]) -> None:
    """Wait in a task that has run handlers. If asyncio cancels the task, that may end early, and ends nothing else."""
    try:
        await wait()
    except BaseException as error:
        if not is_for_task_alone(error):
            raise


@coroutine
def run_apart(job: Coroutine[Any, Any, None], when_it_waits: Callable[[], None] | None) -> Generator[Any, Any, bool]:
    """Await *job* in a context of its own, and call *when_it_waits* when it waits for the first time.

    Returns:
        Whether it waited, so that other tasks may have run meanwhile.
    """
    waited = False
    within = copy_context().run
    act: Callable[[Any], Any] = job.send
    given: Any = None
    cancelled = False
    while True:
        try:
            wanted = within(act, given)
        except StopIteration:
            if cancelled:
                # Also a cancellation that the job has not let through ends with it.
                take_back()
            return waited
        if when_it_waits and not waited:
            when_it_waits()
        waited = True
        try:
            given = yield wanted
        except BaseException as error:  # noqa: BLE001 - it is for the job
            act, given = job.throw, error
            cancelled = cancelled or isinstance(error, asyncio.CancelledError)
        else:
            act = job.send


def take_back() -> bool:
    """Take back that asyncio, and no cancel scope, has cancelled this task; whether it had."""
    if _is_scope_cancelled():
        return False
    task = asyncio.current_task()
    if task is None or not task.cancelling():
        return False
    while task.uncancel():
        pass
    return True


def _is_scope_cancelled() -> bool:
    return anyio.current_effective_deadline() <= anyio.current_time()
