"""The turns of a session: what is sent, what arrives meanwhile, and when a turn is over."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio

from acp_bindings import v1
from acp_bindings._processes.process import to_the_end
from acp_bindings._to_v1 import to_v1
from acp_bindings.client._state import Folding
from acp_bindings.connection.errors import ConnectionClosed, TimedOut, log
from acp_bindings.errors import AcpError
from acp_bindings.jsonrpc import INTERNAL_ERROR, REQUEST_CANCELLED
from acp_bindings.setup._error_responses import error_from
from acp_bindings.setup._history import merged
from acp_bindings.setup.errors import RequestError

if TYPE_CHECKING:
    from acp_bindings.client._agent_link import AgentLink
    from acp_bindings.setup._records import SessionRecord
    from acp_bindings.setup.unions import SessionUpdate

Listener: TypeAlias = "Callable[[SessionUpdate, bool], object]"
"""Called with each update of a session, and True if it is history."""

MOST_BUFFERED = 10_000
"""The updates that a turn keeps for a slow consumer."""


class SessionBusy(AcpError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A session still answers another prompt. Nothing was sent."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.session_id = session_id

    def __str__(self) -> str:
        return f'session "{self.session_id}" is still answering a prompt; wait for its end, or call session.cancel()'


class SessionClosed(AcpError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A session was closed on this side. Nothing was sent."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.session_id = session_id

    def __str__(self) -> str:
        return f'session "{self.session_id}" is closed; load it again with agent.load(…), if the agent supports that'


class Running:
    """The state of a turn, which the conversation and the `PromptTurn` share."""

    def __init__(self, request: Any, prompt: Sequence[v1.ContentBlock]) -> None:
        self.request = request
        """The request, in the negotiated version."""
        self.prompt = prompt
        self.started = False
        self.ended = anyio.Event()
        self.reason: str | None = None
        self.ending: Any = None
        self.error: BaseException | None = None
        self.scope: anyio.CancelScope
        """The scope of the task that waits for the end. `start` makes it, because a callback of the loop cannot."""
        self.cancelled = False
        """True if the agent was asked to end the turn."""
        self.abandoned = False
        """True if the turn is no longer awaited."""
        self.on_connection = False
        """True if the turn ends when the connection is lost. Before, it waits for the next connection."""
        self.accepted = False
        """True if the agent has responded to the prompt, which does not end the turn in v2."""
        self.begun = False
        """True if the session was busy with this prompt."""
        self.idle = anyio.Event()
        """Set when the session is idle after that."""
        self.buffer: deque[SessionUpdate] = deque()
        self.listening = True
        """False if no more updates are stored for an iterator."""
        self.discarded = False
        """True if there will be no iteration over them."""
        self.lost = 0
        self._waiter: anyio.Event | None = None

    def feed(self, update: SessionUpdate) -> None:
        """Store an update for the iterator."""
        self.buffer.append(update)
        if len(self.buffer) > MOST_BUFFERED:
            self._shorten()
        if (waiter := self._waiter) is not None:
            # Only once, because many updates may come before the consumer wakes.
            self._waiter = None
            waiter.set()

    def discard(self) -> None:
        """Drop the stored updates and all later ones, because there will be no iteration over them."""
        self.listening, self.discarded = False, True
        self.buffer.clear()

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
        joined = deque(merged(self.buffer, _message_of))
        while len(joined) > MOST_BUFFERED // 2:
            joined.popleft()
            self.lost += 1
        self.buffer = joined


def _message_of(update: Any) -> object:
    """Return what is equal for chunks of text that continue each other, whatever their `_meta`."""
    is_chunk = update.session_update in ("agent_message_chunk", "agent_thought_chunk")
    is_text = is_chunk and update.content.type == "text"
    return (update.session_update, update.message_id, update.content.annotations) if is_text else object()


_SILENCE = 0.2
"""Seconds without an update after which a late history is complete."""
_LATE = 2.0
"""Seconds after which a prompt no longer waits for that."""
_OF_THE_USER = frozenset({"user_message", "user_message_chunk"})
"""The prompt, which an agent of v2 sends back."""


class Conversation:
    """The turns of one session, and the updates that the agent sends for it."""

    def __init__(
        self, host: AgentLink, record: SessionRecord, *, assume: Collection[str], meta: Mapping[str, Any] | None
    ) -> None:
        self.host = host
        self.record = record
        self.assume, self.meta = assume, meta
        self.folding = Folding(host.peer.protocol)
        self.turn: Running | None = None
        """The turn that is running."""
        self.opening: Any = None
        self.closed = False
        self.interrupted = False
        """True if the connection was lost during a turn."""
        self.listener: Listener | None = None
        self._is_v1 = host.peer.version == 1
        self._has_v1_updates = host.peer.protocol is v1
        """True if updates need not be converted to the classes of `v1`."""
        self._busy = False
        """True if the last state that an agent of v2 has reported is not idle."""
        self._loaded = False
        """True from the response to the load to the first prompt."""
        self._replayed = False
        """True if there was any history."""
        self._last_late = 0.0
        """The time of the last update after the response that was history, and at first of the response."""
        self._questions: set[anyio.CancelScope] = set()
        """The scopes of requests to the user that are open."""

    @property
    def id(self) -> str:
        """The id of the session."""
        return self.record.session_id

    def check_free(self) -> None:
        """Raise if no prompt can be sent."""
        if self.closed:
            raise SessionClosed(self.id)
        if self.turn is not None and not self.turn.abandoned:
            raise SessionBusy(self.id)

    async def cancel(self) -> None:
        """Cancel the turn; see `Session.cancel`."""
        self.end_questions()
        turn = self.turn
        if turn is not None and not turn.cancelled:
            turn.cancelled = True
            if turn.on_connection:
                self.host.start(self._give_up, turn)
            else:
                turn.scope.cancel()
        if (turn is not None and turn.on_connection) or self._busy:
            wire: Any = self.host.peer.protocol
            type_ = wire.METHODS["session/cancel"].notification.params
            await self.host.connection.notify(type_(session_id=self.id))

    def end_questions(self) -> None:
        """Answer the open requests to the user as cancelled."""
        for scope in tuple(self._questions):
            scope.cancel()

    async def start(self, turn: Running) -> None:
        """Send a prompt, after the end of a turn that was abandoned."""
        if turn.started:
            raise RuntimeError("this prompt was already sent; call session.prompt again")
        while self.turn is not None:
            self.check_free()
            await self.stop(self.turn)
        self.check_free()
        turn.scope = anyio.CancelScope()
        self.host.start(self._run, turn)
        turn.started = True
        self.turn = turn

    async def _run(self, turn: Running) -> None:
        """Send a prompt and wait for the end of its turn, in a task of its own."""
        reason: str | None = None
        try:
            with turn.scope:
                reason = await self._finished(turn)
            if not turn.on_connection:
                reason = "cancelled"
            elif turn.scope.cancelled_caught:
                turn.error = TimedOut("session/prompt", self.host.patience)
        except Exception as error:  # noqa: BLE001 - raised where the turn is awaited
            if turn.cancelled and isinstance(error, RequestError) and error.code == REQUEST_CANCELLED:
                reason = "cancelled"
            else:
                turn.error = error
        except BaseException:
            # If the agent has gone, the block may be left before this task notices it.
            turn.error = self.host.connection.gone or ConnectionClosed("the connection was closed")
            raise
        finally:
            if self._is_v1 and turn.on_connection and (turn.cancelled or reason == "cancelled"):
                self._end_calls()
            self.turn, turn.reason = None, reason
            self.folding.end_prompt()
            self.folding.change(stop_reason=reason)
            self.interrupted = isinstance(turn.error, ConnectionClosed)
            if self._is_v1 or self.interrupted:
                self.folding.change(activity="idle")
            turn.finish()

    def _end_calls(self) -> None:
        """Let the tool calls fail that an agent of v1 left unfinished in a cancelled turn."""
        for call in takewhile(lambda each: getattr(each, "role", "") != "user", reversed(self.folding.state.entries)):
            if isinstance(call, v1.ToolCall) and call.status not in ("completed", "failed"):
                self._take_one(v1.SessionToolCallUpdate(tool_call_id=call.tool_call_id, status="failed"))

    async def _finished(self, turn: Running) -> str:
        await self.host.ready()
        if self._loaded:
            await self._history_complete()
            await self.host.ready()
        if self.closed:
            # It could not be loaded again over the next connection.
            raise SessionClosed(self.id)
        if turn.cancelled:
            return "cancelled"
        turn.on_connection = True
        self.host.prompted(self.id)
        self._loaded = False
        self.record = self.record.after_prompt()
        self.folding.say(turn.prompt)
        if self._is_v1:
            self.folding.change(activity="running")
        response = await self.host.ask(turn.request)
        if self._is_v1:
            turn.ending = response
            self.folding.add_tokens(response)
            return str(response.stop_reason)
        turn.accepted = True
        turn.begun = turn.begun or self._busy
        await self.host.connection.wait_for(turn.idle.wait())
        if turn.error is not None:
            raise turn.error
        return turn.reason or "end_turn"

    async def _history_complete(self) -> None:
        """Wait for the end of a history that the agent sends after its response to the load."""
        with anyio.move_on_after(_LATE):
            while (rest := self._last_late + _SILENCE - anyio.current_time()) > 0:
                await anyio.sleep(rest)

    async def leave(self, turn: Running) -> None:
        """Cancel a turn that is no longer awaited, and wait for its end, even if this task is cancelled."""
        # Here and not in the task of `stop`, because the next prompt may come first.
        turn.abandoned = True
        await to_the_end(partial(self.stop, turn))

    async def stop(self, turn: Running) -> None:
        """Cancel a turn that was abandoned or whose session is closed, and wait for its end."""
        turn.discard()
        # A turn that has ended is not cancelled, because that would cancel the next one.
        if not (turn.cancelled or turn.ended.is_set()):
            with anyio.move_on_after(self.host.patience), contextlib.suppress(AcpError):
                await self.cancel()
        await turn.ended.wait()

    async def _give_up(self, turn: Running) -> None:
        """End a cancelled turn on this side after `patience` seconds."""
        with anyio.move_on_after(self.host.patience):
            await turn.ended.wait()
        if not turn.ended.is_set():
            log.warning("the agent did not end a cancelled turn within %g s", self.host.patience)
            turn.scope.cancel()

    def abandon(self, turn: Running) -> None:
        """Cancel a turn in the background, because its iterator was dropped."""
        turn.abandoned = True
        turn.discard()
        self.host.start_anywhere(partial(self.stop, turn))

    @contextmanager
    def asking(self) -> Generator[anyio.CancelScope]:
        """A block in which the user is asked; `end_questions` ends it."""
        with anyio.CancelScope() as scope:
            self._questions.add(scope)
            try:
                if self.closed or (self.turn is not None and self.turn.cancelled):
                    # The agent has asked before it received the cancellation or the end of the session.
                    scope.cancel()
                yield scope
            finally:
                self._questions.discard(scope)

    def take(self, update: Any) -> None:
        """Handle an update that is not history."""
        if self._has_v1_updates:
            self._take_one(update)
        elif update.session_update == "agent_message_chunk":
            self._take_one(to_v1(update))
        elif update.session_update == "state_update":
            self._take_state(update)
        else:
            for each in self.folding.in_v1(update):
                self._take_one(each)

    def take_early(self, update: Any, *, replay: bool) -> None:
        """Handle an update of a session that had no prompt yet, which may be history."""
        if update.session_update == "state_update" and not self._is_v1:
            self._take_state(update)
            return
        if self._loaded and replay:
            self._last_late = anyio.current_time()
        self._replayed = self._replayed or replay
        for each in self.folding.in_v1(update):
            self._take_one(each, replay=replay)

    def _take_one(self, update: SessionUpdate, *, replay: bool = False) -> None:
        self.folding.take(update)
        turn = self.turn
        if turn is not None and turn.listening and not replay and update.session_update not in _OF_THE_USER:
            turn.feed(update)
        if (listener := self.listener) is not None:
            listener(update, replay)

    def _take_state(self, update: Any) -> None:
        """Handle a state of v2. A turn ends when the session is idle after it was busy with the prompt."""
        turn, idle = self.turn, update.state == "idle"
        self.folding.change(activity=update.state)
        if turn is not None and not idle:
            turn.begun = turn.begun or turn.accepted or not self._busy
        elif turn is not None and turn.begun and not turn.idle.is_set():
            self._end_turn(turn, update)
        self._busy = not idle
        if (listener := self.listener) is not None:
            listener(update, False)

    def _end_turn(self, turn: Running, update: Any) -> None:
        turn.ending, turn.reason, turn.listening = update, update.stop_reason, False
        turn.idle.set()
        self.folding.add_tokens(update)
        if turn.reason == "error":
            failure = update.error
            turn.error = (
                RequestError(INTERNAL_ERROR, "the agent reported an error without details")
                if failure is None
                else error_from(failure, peer=self.host.peer)
            )

    def forget_history(self) -> None:
        """Begin with an empty state, because the agent sends the history again."""
        self.folding = Folding(self.host.peer.protocol)
        self._busy = self._loaded = self._replayed = False

    def opened(self, response: Any, *, loaded: bool) -> None:
        """Take the response that created, loaded or resumed the session."""
        self.opening = response
        self.folding.opened(response)
        self._loaded = loaded
        if loaded and not self._replayed:
            # The history may still come.
            self._last_late = anyio.current_time()
