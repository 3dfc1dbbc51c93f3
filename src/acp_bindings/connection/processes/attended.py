"""What runs beside the use of a child process: it is watched, and its standard error is kept and forwarded."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio

from acp_bindings.connection.processes.forward import LineForwarder
from acp_bindings.connection.processes.process import ChildProcess

__all__ = ["attended"]


@asynccontextmanager
async def attended(
    process: ChildProcess, *, watch: Callable[[], Coroutine[Any, Any, object]], lines: LineForwarder | None
) -> AsyncGenerator[None]:
    """A block for the use and the end of a process, beside which `watch` runs and `lines` gets its standard error."""
    # Shielded: the process may still write while it ends, also after a cancellation.
    beside = anyio.CancelScope(shield=True)

    async def attend() -> None:
        with beside:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watch)
                if lines:
                    tasks.start_soon(lines.run)
                await process.drain_stderr(tell=lines.feed if lines else None)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(attend)
        try:
            yield
        finally:
            beside.cancel()
