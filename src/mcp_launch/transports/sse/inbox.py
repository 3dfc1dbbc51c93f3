"""What the session of an SSE server reads: its messages, and errors in place of the answers that will not come."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, JSONRPCMessage, JSONRPCResponse, RequestId

from mcp_launch.transports.unanswered import Unanswered, Unsaid

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectSendStream

__all__ = ["Inbox"]


class Inbox:
    """Filled from the event stream, and from the POSTs that fail."""

    def __init__(
        self,
        to_session: MemoryObjectSendStream[SessionMessage],
        unanswered: Unanswered,
        *,
        on_answer: Callable[[RequestId], None],
    ) -> None:
        self.ended: ErrorData | None = None
        """Why there will be no more answers."""
        self._to_session = to_session
        self._on_answer = on_answer
        self._unanswered = unanswered
        # Held while somebody is told that no answer will come, for which the session must still be there.
        self._refusing = anyio.Lock()

    def sent(self, message: JSONRPCMessage) -> None:
        """The session sends a message; if it is a request, it waits for the answer."""
        self._unanswered.sent(message)

    async def put(self, message: JSONRPCMessage) -> None:
        """Pass on what the server says.

        Raises:
            anyio.BrokenResourceError: the session no longer reads.
            anyio.ClosedResourceError: it is closed.
        """
        message = self._unanswered.named(message)
        if self._unanswered.received(message) and isinstance(message, JSONRPCResponse | JSONRPCError) and message.id:
            self._on_answer(message.id)
        await self._to_session.send(SessionMessage(message))

    def awaits(self, number: RequestId) -> bool:
        """Whether a request of that id waits for its answer."""
        return self._unanswered.holds(number)

    async def refuse(self, number: RequestId, error: ErrorData) -> None:
        """Answer a request, if it still waits for that."""
        reply = Unsaid(jsonrpc="2.0", id=number, error=error)
        async with self._refusing:
            if self._unanswered.received(reply):
                await self._tell(reply)

    async def end(self, error: ErrorData) -> None:
        """Answer all that wait; done when nobody is being told any more."""
        self.ended = error
        async with self._refusing:
            for reply in self._unanswered.refused(error):
                await self._tell(reply)

    async def _tell(self, reply: Unsaid) -> None:
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._to_session.send(SessionMessage(reply))
