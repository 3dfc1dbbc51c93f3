"""Waiting for what the peer's messages bring about, as long as any may come."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

import anyio

from acp_bindings.connection.errors import ConnectionClosed

__all__ = ["Waiting"]

T = TypeVar("T")

_MOMENT = 0.1
"""Seconds for it when nothing more will come: it may be there, and need only be taken."""


class Waiting:
    """All who wait. Those inside are in handlers that everything else waits for, also that the end can be told."""

    def __init__(self) -> None:
        self._scopes: dict[bool, set[anyio.CancelScope]] = {False: set(), True: set()}
        """Of those who are inside, and of those who are not."""
        self._ends: dict[bool, ConnectionClosed] = {}
        """Why nothing more comes for them."""

    async def wait_for(self, what: Awaitable[T], *, inside: bool) -> T:
        """What it gives.

        Raises:
            ConnectionClosed: nothing more comes, and it gave nothing.
        """
        with anyio.CancelScope() as scope:
            if inside in self._ends:
                _end_soon(scope)
            self._scopes[inside].add(scope)
            try:
                return await what
            finally:
                self._scopes[inside].remove(scope)
        raise self._ends[inside]

    def end(self, end: ConnectionClosed, *, inside: bool) -> None:
        """Nothing more comes for those who are *inside*, or for those who are not."""
        self._ends[inside] = end
        for scope in self._scopes[inside]:
            _end_soon(scope)


def _end_soon(scope: anyio.CancelScope) -> None:
    scope.deadline = anyio.current_time() + _MOMENT
