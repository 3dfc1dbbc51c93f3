"""A condition variable for the tasks of one event loop."""

from __future__ import annotations

import anyio


class Condition:
    """Lets tasks wait until something has changed, to check again what they wait for. One thread needs no lock."""

    __slots__ = ("_changed",)

    def __init__(self) -> None:
        self._changed: anyio.Event | None = None
        """None while no task waits, because it takes longer to create an event than to make most changes."""

    def notify_all(self) -> None:
        """Wake the tasks that wait now."""
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    async def wait(self) -> None:
        """Wait for the next `notify_all`."""
        if self._changed is None:
            self._changed = anyio.Event()
        await self._changed.wait()
