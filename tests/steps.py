"""The steps of tasks. A step lasts from one `await` that has to wait to the next."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any

import anyio
import trio


async def steps_of(work: Callable[[], Awaitable[None]], *, within: float, cancel_at: int | None = None) -> int:
    """Run *work*, cancelled before that step and within that many seconds; return the number of steps taken."""
    taken = 0
    with anyio.fail_after(within), anyio.CancelScope() as scope:

        def step() -> None:
            nonlocal taken
            taken += 1
            if taken == cancel_at:
                scope.cancel()

        with counting_steps(step):
            await work()
    return taken


@contextmanager
def counting_steps(step: Callable[[], None]) -> Generator[None]:
    """Call `step` before each step of each task in the block, on either event loop."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        instrument = _Instrument(step)
        trio.lowlevel.add_instrument(instrument)
        try:
            yield
        finally:
            trio.lowlevel.remove_instrument(instrument)
        return

    def start(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
        return asyncio.Task(_Stepped(coroutine, step), loop=loop, **options)

    before = loop.get_task_factory()
    loop.set_task_factory(start)
    try:
        yield
    finally:
        loop.set_task_factory(before)


class _Instrument(trio.abc.Instrument):
    def __init__(self, step: Callable[[], None]) -> None:
        self._step = step

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self._step()


class _Stepped(Coroutine[Any, Any, Any]):
    """A coroutine that reports each of its steps before it runs."""

    def __init__(self, inner: Coroutine[Any, Any, Any], step: Callable[[], None]) -> None:
        self._inner = inner
        self._step = step
        self.__name__ = self.__qualname__ = getattr(inner, "__qualname__", "stepped")

    def __getattr__(self, name: str) -> Any:
        # anyio looks into the coroutines of its tasks.
        return getattr(self._inner, name)

    def send(self, value: Any, /) -> Any:
        self._step()
        return self._inner.send(value)

    def throw(self, *error: Any) -> Any:
        self._step()
        return self._inner.throw(*error)

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._inner.__await__()
