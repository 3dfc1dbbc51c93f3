"""The messages of an SSE session on their way to the server, each a POST; one that fails is answered here."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import httpx
from anyio.abc import TaskGroup
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCMessage, JSONRPCRequest

from mcp_launch.diagnosis.no_answer import UNMAPPED
from mcp_launch.transports.media import JSON
from mcp_launch.transports.messages import UNWRITABLE, UnwritableError, cancelled_by, written
from mcp_launch.transports.posts import Abandoned, Posts
from mcp_launch.transports.sse.client import EventClient
from mcp_launch.transports.sse.inbox import Inbox
from mcp_launch.transports.unanswered import farewell

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream

__all__ = ["Poster"]


class Poster:
    """Posts what one session sends to the endpoint of its event stream."""

    def __init__(
        self, client: EventClient, endpoint: httpx.URL, inbox: Inbox, posts: Posts, *, on_lost: Callable[[], None]
    ) -> None:
        self._client = client
        self._endpoint = endpoint
        self._inbox = inbox
        self._posts = posts
        self._on_lost = on_lost

    async def run(self, from_session: MemoryObjectReceiveStream[SessionMessage], tasks: TaskGroup) -> None:
        """Post each message in a task of its own, until there are no more."""
        async for item in from_session:
            message = item.message
            self._inbox.sent(message)
            if isinstance(message, JSONRPCRequest):
                # A server may hold the POST until it has answered: others must not wait for that.
                tasks.start_soon(self._ask, message)
                continue
            if (number := cancelled_by(message)) is not None:
                self._posts.abandon(number)
            self._posts.start(getattr(message, "method", None), partial(self._post, message))

    async def _ask(self, request: JSONRPCRequest) -> None:
        with contextlib.suppress(Abandoned):
            await self._posts.open(request.id).run(partial(self._post, request))

    async def _post(self, message: JSONRPCMessage) -> None:
        error = await self._sent(message)
        if error is not None and isinstance(message, JSONRPCRequest):
            # No answer will come on the event stream.
            await self._inbox.refuse(message.id, error)
        if self._client.lost:
            # Nor will one for those who asked before.
            await self._inbox.end(farewell(self._client.lost, hide=self._client.hide))
            self._on_lost()

    async def _sent(self, message: JSONRPCMessage) -> ErrorData | None:
        """Send it; why it did not reach the server, if it did not."""
        if self._inbox.ended is not None:
            return self._inbox.ended
        try:
            body = written(message)
        except UnwritableError:
            return UNWRITABLE
        request = self._client.build_request("POST", self._endpoint, content=body, headers={"content-type": JSON})
        # The memory has what went wrong.
        with contextlib.suppress(httpx.RequestError, *UNMAPPED):
            await self._client.send_within_origin(request)
        found = self._client.memory.found
        return None if found is None else farewell(found, hide=self._client.hide)
