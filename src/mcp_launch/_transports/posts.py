"""The POSTs of one session. Over HTTP and SSE, each message is a POST, and none delays another."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import TypeVar
from weakref import WeakValueDictionary

import anyio
import httpx2
from anyio.abc import TaskGroup
from mcp_types import RequestId

T = TypeVar("T")

MOST_CONNECTIONS = 100
"""Connections to one server. Requests beyond that wait for one within their own timeouts."""
_MOST = 1000
"""Notifications and responses that wait for their POST, or for the server to accept it."""
_AT_ONCE = 8
"""POSTs of these at a time, so that the requests keep most of the connections."""
_PATIENCE = 30.0
"""Seconds after which a POST is closed if no caller waits for what the server sends back."""
_STREAM = 1.0
"""Seconds for the response to the GET of the event stream, which some servers send with the first event."""


class Abandoned(httpx2.SSEError):
    """No caller waits for the response of this POST; of this type, because the SDK does not resume such a stream."""


class Post:
    """The POST of a request, which `end` closes."""

    def __init__(self, *, after: anyio.Event | None) -> None:
        self._after = after
        self._deadline = math.inf
        self._scope: anyio.CancelScope | None = None

    async def run(self, step: Callable[[], Awaitable[T]]) -> T:
        """Return what *step*, a part of the POST, returns.

        Raises:
            Abandoned: the POST was ended.
        """
        with anyio.CancelScope(deadline=self._deadline) as self._scope:
            if self._after:
                await self._after.wait()
                self._after = None
            return await step()
        raise Abandoned("no caller waits for the response")

    def end(self, *, within: float = 0.0) -> None:
        """Close it after the given number of seconds."""
        self._deadline = anyio.current_time() + within
        if self._scope:
            self._scope.deadline = self._deadline


class Posts:
    """Sends notifications and responses in tasks of their own, and closes the POSTs of requests that were abandoned."""

    def __init__(self, tasks: TaskGroup, *, listens: bool = False) -> None:
        """Start without messages.

        Args:
            tasks: the task group in which messages are sent.
            listens: True if the client answers requests of the server. Servers drop these until the event stream is
                open, so the first request of the client waits for it.
        """
        self._tasks = tasks
        self._listens = listens
        self._stream: anyio.Event | None = None
        """Set when the event stream is open or refused; None unless requests wait for it."""
        self._waiting = 0
        # A list, because an empty deque takes ten times the memory, and this is nearly always empty.
        self._posts: list[tuple[Callable[[], Awaitable[object]], anyio.Event]] = []
        self._workers = 0
        self._initialized: anyio.Event | None = None
        """Set when `notifications/initialized` was posted; None unless it is being posted."""
        # A POST belongs to the task that sends it and to the body that is read of it, and is forgotten with them.
        self._of_requests: WeakValueDictionary[RequestId, Post] = WeakValueDictionary()

    def are_behind(self) -> bool:
        """Return True if so many wait for the server that another one would be dropped."""
        return self._waiting >= _MOST

    def start(self, method: str | None, post: Callable[[], Awaitable[object]]) -> None:
        """Post a notification, or a response if *method* is None. It is dropped if too many wait."""
        if not self.are_behind():
            self._waiting += 1
            done = anyio.Event()
            if method == "notifications/initialized":
                self._initialized = done
            self._posts.append((post, done))
            if self._workers < _AT_ONCE:
                self._workers += 1
                self._tasks.start_soon(self._work)

    def open(self, number: RequestId) -> Post:
        """Return the POST of a request, which runs after that of `notifications/initialized`."""
        post = self._of_requests[number] = Post(after=self._initialized)
        return post

    async def before_stream(self) -> None:
        """Wait until `notifications/initialized` was posted, unless the client answers requests.

        A server sends requests after the notification, and needs the stream for them.
        """
        if self._initialized and not self._listens:
            await self._initialized.wait()
            # The first request, which waits for the same, takes the open connection.
            await anyio.lowlevel.checkpoint()

    def expect_stream(self) -> None:
        """Note that the event stream will be opened, with `notifications/initialized`."""
        if self._listens:
            self._stream = anyio.Event()

    def stream_answered(self) -> None:
        """Note that the server has opened or refused the event stream."""
        if self._stream:
            self._stream.set()

    def abandon(self, number: RequestId) -> None:
        """Close the POST of a request that was abandoned."""
        if post := self._of_requests.get(number):
            post.end()

    def answered(self, number: RequestId) -> None:
        """Let the POST of a request that was answered elsewhere end soon."""
        if post := self._of_requests.get(number):
            post.end(within=_PATIENCE)

    def abandon_all(self) -> None:
        """Close the POSTs of all requests."""
        for post in list(self._of_requests.values()):
            post.end()

    async def _work(self) -> None:
        while self._posts:
            await self._run(*self._posts.pop(0))
        self._workers -= 1

    async def _run(self, post: Callable[[], Awaitable[object]], done: anyio.Event) -> None:
        try:
            with anyio.move_on_after(_PATIENCE):
                await post()
            if self._initialized is done and self._stream:
                with anyio.move_on_after(_STREAM):
                    await self._stream.wait()
        finally:
            self._waiting -= 1
            done.set()
            if self._initialized is done:
                self._initialized = None
