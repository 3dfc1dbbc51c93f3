"""A prompt and its turn: a stream of updates, and the end to wait for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from warnings import warn

import anyio.lowlevel

from acp_bindings.client._turns import Conversation, Running

if TYPE_CHECKING:
    from acp_bindings.setup.unions import SessionUpdate

_IN_A_ROW = 250
"""Updates that are taken from the buffer before other tasks run."""


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

    def __init__(self, conversation: Conversation, turn: Running) -> None:
        self._conversation = conversation
        self._turn = turn
        self._used = False
        self._iterated = False

    @property
    def stop_reason(self) -> str | None:
        """The reason for which the turn ended; None before that, and if it failed."""
        return self._turn.reason if self._turn.ended.is_set() else None

    @property
    def ending(self) -> Any:
        """The message that ended the turn: the response to the prompt, in v2 the state `idle`. None without one."""
        return self._turn.ending

    @property
    def lost(self) -> int:
        """The number of updates that were dropped because the loop was too slow. `Session.state` contains them."""
        return self._turn.lost

    def __aiter__(self) -> AsyncIterator[SessionUpdate]:
        """Iterate over the updates of the turn, as objects of `v1`, until it ends.

        Those that v1 does not have are objects of v2. The prompt itself, which an agent of v2 sends back, and the
        states of v2 are left out. If the turn fails, its error is raised after the last update; see `__await__`.

        If your loop is slower than the agent, up to 10,000 updates are kept. After that, chunks of text that continue
        each other are joined, and if that is not enough, all but the last 5,000 are dropped and counted in `lost`.
        Other sessions do not wait for your loop.

        Raises:
            RuntimeError: the updates were iterated over before, or the end of the turn was awaited.
        """
        turn = self._turn
        if self._iterated or turn.discarded:
            raise RuntimeError("iterate over the updates of a turn once, and before you await its end")
        self._used = self._iterated = True
        return _Updates(self._conversation, turn)

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
        self._used = True
        await self._conversation.start(self._turn)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Cancel the turn if it has not ended, and wait for its end."""
        self._turn.discard()
        if not self._turn.ended.is_set():
            await self._conversation.leave(self._turn)

    def __del__(self) -> None:
        """Warn of a prompt that was never sent."""
        if not self._used:
            warn("a prompt was not sent: iterate over it, or await it", RuntimeWarning, stacklevel=2, source=self)

    async def _end(self) -> str:
        turn = self._turn
        if not turn.started:
            await self._conversation.start(turn)
        turn.discard()
        try:
            await turn.ended.wait()
        except BaseException:
            await self._conversation.leave(turn)
            raise
        if turn.error is not None:
            raise turn.error
        return turn.reason or "end_turn"


class _Updates(AsyncIterator["SessionUpdate"]):
    """An iterator over the updates of a turn. When it is dropped, the turn is cancelled."""

    def __init__(self, conversation: Conversation, turn: Running) -> None:
        self._conversation = conversation
        self._turn = turn
        self._taken = 0

    async def __anext__(self) -> SessionUpdate:
        turn = self._turn
        if not turn.started:
            await self._conversation.start(turn)
        while not turn.buffer:
            if turn.ended.is_set():
                raise turn.error or StopAsyncIteration
            try:
                await turn.news()
            except BaseException:
                await self._conversation.leave(turn)
                raise
        self._taken += 1
        if not self._taken % _IN_A_ROW:
            await anyio.lowlevel.checkpoint()
        return turn.buffer.popleft()

    def __del__(self) -> None:
        if self._turn.started and not self._turn.ended.is_set():
            self._conversation.abandon(self._turn)
