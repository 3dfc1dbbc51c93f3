"""A prompt and its turn: a stream of updates, and the end to wait for."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Generator, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast
from warnings import warn

import anyio
import anyio.lowlevel

from acp_bindings import v1
from acp_bindings._processes.process import to_the_end
from acp_bindings.errors import AcpError

if TYPE_CHECKING:
    from acp_bindings.client._client_session import Session
    from acp_bindings.setup.unions import SessionUpdate

MOST_BUFFERED = 10_000
"""The updates that a turn keeps for a slow consumer."""
_IN_A_ROW = 250
"""Updates that are taken from the buffer before other tasks run."""


class SessionBusy(AcpError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A session still answers another prompt. Nothing was sent."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.session_id = session_id

    def __str__(self) -> str:
        return f'session "{self.session_id}" still answers a prompt; wait for its end, or call session.cancel()'


class SessionClosed(AcpError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A session was closed on this side. Nothing was sent."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.session_id = session_id

    def __str__(self) -> str:
        return f'session "{self.session_id}" is closed; load it again with agent.load(…), if the agent supports that'


class Running:
    """The state of a turn, which the session and the `PromptTurn` share."""

    def __init__(self, request: Any, prompt: Sequence[v1.ContentBlock]) -> None:
        self.request = request
        """The request, in the negotiated version."""
        self.prompt = prompt
        self.started = False
        self.ended = anyio.Event()
        self.reason: str | None = None
        self.error: BaseException | None = None
        self.scope = anyio.CancelScope()
        """The scope of the task that waits for the end."""
        self.cancelled = False
        """True if the agent was asked to end the turn."""
        self.abandoned = False
        """True if nobody waits for the turn any more."""
        self.accepted = False
        """True if the agent has responded to the prompt, which does not end the turn in v2."""
        self.begun = False
        """True if the session was busy with this prompt."""
        self.idle = anyio.Event()
        """Set when the session is idle after that."""
        self.buffer: deque[SessionUpdate] = deque()
        self.listening = False
        """True if updates are kept for an iterator."""
        self.lost = 0
        self._waiter: anyio.Event | None = None

    def feed(self, update: SessionUpdate) -> None:
        """Keep an update for the iterator, if there is one."""
        if self.listening:
            self.buffer.append(update)
            if len(self.buffer) > MOST_BUFFERED:
                self._shorten()
            if self._waiter is not None:
                self._waiter.set()

    async def news(self) -> None:
        """Wait for an update or the end."""
        self._waiter = anyio.Event()
        try:
            await self._waiter.wait()
        finally:
            self._waiter = None

    def finish(self) -> None:
        """End the turn."""
        self.ended.set()
        if self._waiter is not None:
            self._waiter.set()

    def _shorten(self) -> None:
        """Join chunks of text that continue each other; if that is not enough, drop the oldest updates."""
        joined: deque[SessionUpdate] = deque()
        run: list[Any] = []
        for update in self.buffer:
            if run and not _continues(run[-1], update):
                joined.append(_joined(run))
                run = []
            run.append(update)
        joined.append(_joined(run))
        while len(joined) > MOST_BUFFERED // 2:
            joined.popleft()
            self.lost += 1
        self.buffer = joined


def _continues(chunk: Any, update: Any) -> bool:
    return (
        type(update) is type(chunk)
        and isinstance(chunk, v1.AgentMessageChunk | v1.AgentThoughtChunk | v1.UserMessageChunk)
        and update.message_id == chunk.message_id
        and isinstance(chunk.content, v1.TextContent)
        and isinstance(update.content, v1.TextContent)
        and chunk.content.annotations == update.content.annotations
    )


def _joined(run: list[Any]) -> SessionUpdate:
    if len(run) == 1:
        return cast("SessionUpdate", run[0])
    content = run[0].content.model_copy(update={"text": "".join(each.content.text for each in run)})
    return cast("SessionUpdate", run[0].model_copy(update={"content": content}))


class PromptTurn:
    """A prompt, made by `Session.prompt`. It is sent when you iterate over it, await it, or enter its block.

        async for update in session.prompt("What does this do?"):
            ...

        stop_reason = await session.prompt("And this?")

        async with session.prompt("Count to a million") as turn:
            async for update in turn:
                if enough(update):
                    break

    Leaving the loop before the turn has ended cancels the turn. The loop itself cannot wait for the end, because Python
    does not tell an iterator that it is left; the next prompt of the session, and its end, do. The block of
    `async with` waits as well.
    """

    def __init__(self, session: Session, turn: Running) -> None:
        self._session = session
        self._turn = turn
        self._used = False
        self._iterated = False

    @property
    def stop_reason(self) -> str | None:
        """The reason for which the turn ended; None before that, and if it failed."""
        return self._turn.reason if self._turn.ended.is_set() else None

    @property
    def lost(self) -> int:
        """The number of updates that were dropped because the loop was too slow. `Session.state` contains them."""
        return self._turn.lost

    def __aiter__(self) -> AsyncIterator[SessionUpdate]:
        """Iterate over the updates of the turn, as objects of `v1`, until it ends.

        Those that v1 does not have are objects of v2. The prompt itself, which an agent of v2 sends back, and the
        states of v2 are left out. If the turn fails, its error is raised after the last update; see `__await__`.

        If your loop is slower than the agent, up to 10,000 updates are kept. After that, chunks of text that continue
        each other are joined, and if that is not enough, the oldest updates are dropped and counted in `lost`. Other
        sessions do not wait for your loop.
        """
        turn = self._turn
        if self._iterated or (turn.started and not turn.listening):
            raise RuntimeError("iterate over the updates of a turn once, and before you await its end")
        self._used = self._iterated = turn.listening = True
        return _Updates(self._session, turn)

    def __await__(self) -> Generator[Any, Any, str]:
        """Wait for the end of the turn and return the stop reason, such as `end_turn` or `cancelled`.

        Raises:
            SessionBusy: the session still answers another prompt.
            SessionClosed: the session was closed.
            RequestError: the agent responded with an error, or in v2 reported one; `AuthRequired`, `SessionNotFound`.
            ConnectionClosed: the agent is gone.
            TimedOut: the agent did not end the turn after it was cancelled.
        """
        self._used = True
        return self._end().__await__()

    async def __aenter__(self) -> Self:
        """Send the prompt; errors as for `__await__`."""
        self._used = self._turn.listening = True
        await self._session._start(self._turn)  # noqa: SLF001 - the two are one
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Cancel the turn if it has not ended, and wait for its end."""
        self._turn.listening = False
        self._turn.buffer.clear()
        if not self._turn.ended.is_set():
            await to_the_end(partial(self._session._stop, self._turn))  # noqa: SLF001

    def __del__(self) -> None:
        """Warn of a prompt that was never sent."""
        if not self._used:
            warn("a prompt was not sent: iterate over it, or await it", RuntimeWarning, stacklevel=2, source=self)

    async def _end(self) -> str:
        turn = self._turn
        if not turn.started:
            await self._session._start(turn)  # noqa: SLF001
        turn.listening = False
        turn.buffer.clear()
        try:
            await turn.ended.wait()
        except BaseException:
            await to_the_end(partial(self._session._stop, turn))  # noqa: SLF001
            raise
        if turn.error is not None:
            raise turn.error
        return turn.reason or "end_turn"


class _Updates(AsyncIterator["SessionUpdate"]):
    """An iterator over the updates of a turn. When it is dropped, the turn is cancelled."""

    def __init__(self, session: Session, turn: Running) -> None:
        self._session = session
        self._turn = turn
        self._in_a_row = 0

    async def __anext__(self) -> SessionUpdate:
        turn = self._turn
        if not turn.started:
            await self._session._start(turn)  # noqa: SLF001
        while not turn.buffer:
            if turn.ended.is_set():
                if turn.error is not None and turn.listening:
                    turn.listening = False
                    raise turn.error
                raise StopAsyncIteration
            await self._wait(turn)
        self._in_a_row += 1
        if self._in_a_row >= _IN_A_ROW:
            self._in_a_row = 0
            await anyio.lowlevel.checkpoint()
        return turn.buffer.popleft()

    async def _wait(self, turn: Running) -> None:
        self._in_a_row = 0
        try:
            await turn.news()
        except BaseException:
            await to_the_end(partial(self._session._stop, turn))  # noqa: SLF001
            raise

    def __del__(self) -> None:
        if self._turn.started and not self._turn.ended.is_set():
            self._session._abandon(self._turn)  # noqa: SLF001
