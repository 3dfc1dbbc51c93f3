"""`Connection.wait_for`: waiting that ends when no more messages come from the peer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from acp_bindings.connection.errors import ConnectionClosed
from acp_bindings.connection.serving import Turn

__all__ = ["Waiting"]

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
