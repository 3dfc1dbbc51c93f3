"""The two streams of a session, to be given a meaning of one's own: everything but that is passed on."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

import anyio
from mcp.shared.message import SessionMessage

__all__ = ["ReadStream", "Sink", "Source", "WriteStream"]


class Source(Protocol):
    """What comes from the server."""

    async def receive(self) -> SessionMessage | Exception: ...  # noqa: D102
    async def aclose(self) -> None: ...  # noqa: D102


class Sink(Protocol):
    """What goes to the server."""

    async def send(self, item: SessionMessage, /) -> None: ...  # noqa: D102
    async def aclose(self) -> None: ...  # noqa: D102


class _Stream:
    async def aclose(self) -> None:
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


class ReadStream(_Stream):
    """A source in the form that the SDK reads; a subclass gives `receive` its meaning."""

    def __init__(self, inner: Source) -> None:
        self._inner = inner

    @property
    def last_context(self) -> object:
        """The context variables of whoever put the last message in, if they are known."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        return await self._inner.receive()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Close it."""
        await self._inner.aclose()


class WriteStream(_Stream):
    """A sink in the form that the SDK writes to; a subclass gives `send` its meaning."""

    def __init__(self, inner: Sink) -> None:
        self._inner = inner

    async def send(self, item: SessionMessage, /) -> None:
        """Pass the message on."""
        await self._inner.send(item)

    async def aclose(self) -> None:
        """Close it."""
        await self._inner.aclose()
