# ruff: noqa: N818 - the names say what is wrong, which a suffix would not
"""The errors of connections, below `AcpError`.

AcpError
├── CannotStart          the command of the peer could not be started: .command
├── ConnectionClosed     the connection has ended: .method .exit_status .stderr .stray
├── TimedOut             no response in time: .method .seconds .stray .behind .unended
├── RequestFailed        the peer responded with an error: .method .code .message .data
└── BadAnswer            the response of the peer is not valid: .method .issues

Handlers raise `acp_bindings.setup.RequestError` to respond with an error.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self, cast

from acp_bindings.errors import AcpError, Issue, summarize
from acp_bindings.setup.errors import issues_in

log = logging.getLogger("acp_bindings.connection")


@dataclass(frozen=True, slots=True)
class StrayLines:
    """Lines of the peer that were not messages, such as a banner or a log. One may have replaced a response.

    They have arrived since the request was sent. If the peer has not responded to any request yet, earlier lines count
    too.
    """

    count: int
    last: str | None
    """The last line, shortened, with the values of a process's `env` redacted. It is None in agents, because lines of
    a client may contain secrets anywhere."""

    def __str__(self) -> str:
        if self.count == 1:
            return "the peer sent a line that is not a message" + (f': "{self.last}"' if self.last else "")
        last = f', the last: "{self.last}"' if self.last else ""
        return f"the peer sent {self.count} lines that are not messages{last}"


class CannotStart(AcpError):
    """The command of the peer could not be started."""

    def __init__(self, command: str, reason: str) -> None:
        super().__init__(f'cannot start "{command}": {reason}')
        self.command = command
        """The program, without its arguments, because they may contain secrets."""


class ConnectionClosed(AcpError):
    """The connection has ended: messages are no longer sent, and responses no longer arrive."""

    def __init__(
        self,
        reason: str,
        *,
        method: str | None = None,
        exit_status: int | None = None,
        stderr: Sequence[str] = (),
        stray: StrayLines | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.method = method
        """The method of the request that failed; None if it was not a request."""
        self.exit_status = exit_status
        """The exit status of a child process, negative for a signal. None while it runs, and for other peers."""
        self.stderr = tuple(stderr)
        """The last lines that a child process wrote to standard error, with the values of its `env` redacted."""
        self.stray = stray
        """Lines that were not messages, if they may explain the missing response."""

    def __str__(self) -> str:
        return "".join(
            [f"{self.method}: " if self.method else "", self.reason, f"; {self.stray}" if self.stray else ""]
        )

    def of(self, method: str | None, *, stray: StrayLines | None = None) -> Self:
        """Return this error for a request of *method*, or for none, with the stray lines."""
        error = copy(self)
        error.__cause__ = self.__cause__
        error.method, error.stray = method, stray
        return error


class TimedOut(AcpError):
    """The peer did not respond in time. The request is cancelled, and a late response is dropped.

    The response may have arrived, but wait for a handler on this side: see `behind`.
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
        late = f"the response has arrived, but waits for the handler of {behind}, which is still running"
        begun = "the peer has sent the beginning of a line, but not yet its newline"
        told = [
            f"{method}: no response within {seconds:g} s",
            late if behind else "",
            str(stray or ""),
            begun if unended and not behind else "",
        ]
        super().__init__("; ".join(filter(None, told)))
        self.method = method
        self.seconds = seconds
        self.stray = stray
        """Lines that were not messages, if they may explain the missing response."""
        self.behind = behind
        """The method whose handler the response waits for, if the response has arrived."""
        self.unended = unended
        """Bytes of an incomplete line that the peer has sent."""


class RequestFailed(AcpError):
    """The peer responded with an error. `acp_bindings.setup.error_from` converts it to a more specific one.

    It is not a `RequestError`: a handler that does not catch it responds with "Internal error".
    """

    def __init__(self, method: str, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{method}: {message} ({code}){issues_in(data)}")
        self.method = method
        self.code = code
        """The code, as defined by JSON-RPC and the protocol (`ErrorCode`)."""
        self.message = message
        """The message of the peer."""
        self.data = data
        """The `data` of the error: any JSON value, None if there is none."""


class BadAnswer(AcpError):
    """The response of the peer is not valid."""

    def __init__(self, method: str, reason: str, issues: Sequence[Issue] = ()) -> None:
        wrong = f"; {summarize([*map(str, issues)])}" if issues else ""
        super().__init__(f"{method}: invalid response: {reason}{wrong}")
        self.method = method
        self.issues = tuple(issues)
        """The problems, with paths relative to the result or the error."""


def alone(error: BaseException) -> BaseException:
    """Return the only exception in *error* if that is a group of one, at any depth; otherwise *error* itself."""
    while isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        first, *others = group.exceptions
        if others:
            return group
        error = first
    return error
