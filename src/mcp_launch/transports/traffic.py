"""The messages of a session, shown to whoever wants to see them, without secrets."""

from __future__ import annotations

from collections.abc import Callable

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage

from acp_bindings._redact import Redactor
from mcp_launch.options import Direction
from mcp_launch.transports.messages import UnwritableError, written
from mcp_launch.transports.streams import ReadStream, Sink, Source, WriteStream
from mcp_launch.transports.unanswered import Unsaid

__all__ = ["Traffic", "shown"]


class Traffic:
    """Tells each message as one line of JSON."""

    def __init__(self, name: str, tell: Callable[[str, Direction, str], object], *, hide: Redactor) -> None:
        self._name = name
        self._tell = tell
        self._hide = hide

    def show(self, direction: Direction, message: JSONRPCMessage) -> None:
        """Tell a message."""
        try:
            line = written(message).decode()
        except UnwritableError:
            # It is not sent either.
            return
        self._tell(self._name, direction, self._hide(line))


def shown(read: Source, write: Sink, traffic: Traffic | None) -> tuple[Source, Sink]:
    """The same two streams, of which each message is told."""
    return (read, write) if traffic is None else (_ReadStream(read, traffic), _WriteStream(write, traffic))


class _ReadStream(ReadStream):
    def __init__(self, inner: Source, traffic: Traffic) -> None:
        super().__init__(inner)
        self._traffic = traffic

    async def receive(self) -> SessionMessage | Exception:
        item = await self._inner.receive()
        if isinstance(item, SessionMessage) and not isinstance(item.message, Unsaid):
            self._traffic.show("received", item.message)
        return item


class _WriteStream(WriteStream):
    def __init__(self, inner: Sink, traffic: Traffic) -> None:
        super().__init__(inner)
        self._traffic = traffic

    async def send(self, item: SessionMessage, /) -> None:
        self._traffic.show("sent", item.message)
        await self._inner.send(item)
