"""What happens to the servers of a fleet, as it happens: to show progress, and to notice what dies."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Self

import anyio

from mcp_launch.failures import LaunchFailure
from mcp_launch.shapes import Stage, State

__all__ = ["Change", "Changes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A server came into another state, or into the next stage of its start."""

    server: str
    state: State
    stage: Stage
    """How far it got."""
    elapsed: float
    """Seconds since it was started, the last time if it was restarted."""
    failure: LaunchFailure | None = None
    """Why it cannot be used, if it has failed."""


class Changes:
    """The changes from some moment on, in order, for one reader: `async for change in fleet.changes()`.

    The iteration ends with the fleet.
    """

    def __init__(self, so_far: list[Change]) -> None:
        self._unread = deque(so_far)
        self._news = anyio.Event()
        self._ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        while not self._unread:
            if self._ended:
                raise StopAsyncIteration
            await self._news.wait()
        return self._unread.popleft()

    def add(self, change: Change) -> None:
        """Add one more change."""
        self._unread.append(change)
        self._wake()

    def end(self) -> None:
        """Note that no more will come."""
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, anyio.Event()
        news.set()
