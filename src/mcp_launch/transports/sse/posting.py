"""The messages of an SSE session on their way to the server, each a POST; one that fails is answered here."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
import httpx
from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED, ErrorData, JSONRPCError, JSONRPCMessage, JSONRPCRequest

from mcp_launch.diagnosis.http import UNMAPPED
from mcp_launch.transports.media import JSON
from mcp_launch.transports.messages import UNWRITABLE, UnwritableError, written
from mcp_launch.transports.sse.client import EventClient
from mcp_launch.transports.sse.listening import Listener
from mcp_launch.transports.unanswered import Unanswered

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

__all__ = ["Poster"]


class Poster:
    """Posts what one session sends to the endpoint of its event stream."""

    def __init__(
        self,
        client: EventClient,
        endpoint: httpx.URL,
        unanswered: Unanswered,
        listener: Listener,
        *,
        on_lost: Callable[[], None],
    ) -> None:
        self._client = client
        self._endpoint = endpoint
        self._listener = listener
        self._unanswered = unanswered
        self._on_lost = on_lost

    async def run(
        self,
        from_session: MemoryObjectReceiveStream[SessionMessage],
        to_session: MemoryObjectSendStream[SessionMessage],
    ) -> None:
        """Post each message, until there are no more."""
        async with anyio.create_task_group() as posts:
            async for item in from_session:
                if isinstance(item.message, JSONRPCRequest):
                    # A server may hold the POST until it has answered: others must not wait for that.
                    posts.start_soon(self._post, item.message, to_session)
                else:
                    await self._post(item.message, to_session)

    async def _post(self, message: JSONRPCMessage, to_session: MemoryObjectSendStream[SessionMessage]) -> None:
        error = await self._sent(message)
        # No answer will come on the event stream: give the waiting request one.
        if error is not None and isinstance(message, JSONRPCRequest):
            reply = JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
            async with self._listener.refusing:
                if self._unanswered.received(reply):
                    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                        await to_session.send(SessionMessage(reply))
        if self._client.lost:
            self._on_lost()

    async def _sent(self, message: JSONRPCMessage) -> ErrorData | None:
        """Send it; why it did not reach the server, if it did not."""
        self._unanswered.sent(message)
        if (ended := self._listener.found) is not None:
            return ErrorData(code=CONNECTION_CLOSED, message=ended.message)
        try:
            body = written(message)
        except UnwritableError:
            return UNWRITABLE
        request = self._client.build_request("POST", self._endpoint, content=body, headers={"content-type": JSON})
        # The memory has what went wrong.
        with contextlib.suppress(httpx.RequestError, *UNMAPPED):
            await self._client.send_within_origin(request)
        found = self._client.memory.found
        return None if found is None else ErrorData(code=CONNECTION_CLOSED, message=found.message)
