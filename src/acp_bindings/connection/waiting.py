"""Waiting for what the peer's messages bring about, as long as any may come."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from acp_bindings.connection.errors import ConnectionClosed
from acp_bindings.connection.serving import Turn

__all__ = ["Waiting"]

T = TypeVar("T")

_MOMENT = 0.1
"""Seconds for it when nothing more will come: it may be there, and need only be taken."""


class Waiting:
    """All who wait. Those inside are in handlers that everything else waits for, also that the end can be told."""

    def __init__(self, is_inside: Callable[[Turn | None], bool]) -> None:
        self._is_inside = is_inside
        """Whether who waits in that turn is: a task of a handler no longer is when the handler is done."""
        self._turns: dict[anyio.CancelScope, Turn | None] = {}
        self._ends: dict[bool, ConnectionClosed] = {}
        """Why nothing more comes for those who are inside, which is known first, and for those who are not."""

    async def wait_for(self, what: Awaitable[T], turn: Turn | None) -> T:
        """What it gives.

        Raises:
            ConnectionClosed: nothing more comes, and it gave nothing.
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
        """Nothing more comes for those who are inside, or for all."""
        self._ends[inside] = end
        for scope, turn in self._turns.items():
            if not inside or self._is_inside(turn):
                _end_soon(scope)


def _end_soon(scope: anyio.CancelScope) -> None:
    scope.deadline = anyio.current_time() + _MOMENT
