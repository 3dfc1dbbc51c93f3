"""A session of a client: prompts, cancellation, state, modes and options."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from functools import partial
from threading import get_ident
from types import TracebackType
from typing import TYPE_CHECKING, Any

import anyio
from pydantic_core import from_json

from acp_bindings import v1
from acp_bindings._processes.process import to_the_end
from acp_bindings._vocabulary import to_v1
from acp_bindings.client._prompt_turn import PromptTurn, Running, SessionBusy, SessionClosed
from acp_bindings.client._state import Folding, SessionState
from acp_bindings.connection.errors import ConnectionClosed, TimedOut, log
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import AcpError
from acp_bindings.jsonrpc import REQUEST_CANCELLED
from acp_bindings.setup._gates import check_message
from acp_bindings.setup._requests import close_session
from acp_bindings.setup._responses import error_from, is_closed
from acp_bindings.setup.errors import RefusedServer, RequestError

if TYPE_CHECKING:
    from acp_bindings.client._connected_agent import ConnectedAgent
    from acp_bindings.setup._records import SessionRecord
    from acp_bindings.setup.unions import SessionUpdate

_SILENCE = 0.2
"""Seconds without an update after which a late history is complete."""
_LATE = 2.0
"""Seconds after which a prompt no longer waits for that."""
_CONVERSATION = frozenset(
    {
        "agent_message",
        "agent_message_chunk",
        "agent_thought",
        "agent_thought_chunk",
        "plan",
        "plan_update",
        "tool_call",
        "tool_call_content_chunk",
        "tool_call_update",
        "user_message",
        "user_message_chunk",
    }
)
"""Updates that belong to a turn or to the history."""


class Session:
    """An open session, made by a `ConnectedAgent`."""

    def __init__(
        self,
        agent: ConnectedAgent,
        record: SessionRecord,
        *,
        refused: tuple[RefusedServer, ...],
        replaying: bool = False,
    ) -> None:
        self._agent = agent
        self._record = record
        self._refused = refused
        self._is_first = agent.peer.version == 1
        self._is_v1 = agent.peer.protocol is v1
        self._folding = Folding(agent.peer.protocol)
        self._turn: Running | None = None
        self._busy = False
        """True if the last state that an agent of v2 has reported is not idle."""
        self._replaying = replaying
        """True until the history of a loaded session is complete, as far as this side can tell."""
        self._loaded = False
        """True from the response to the load to the first prompt."""
        self._replayed = 0
        self._last_replayed = -_SILENCE
        self._closed = False
        self._questions: set[anyio.CancelScope] = set()
        """The scopes of requests to the user that are open."""
        self._thread = get_ident()

    @property
    def id(self) -> str:
        """The id that the agent has given it."""
        return self._record.session_id

    @property
    def agent(self) -> ConnectedAgent:
        """The agent."""
        return self._agent

    @property
    def state(self) -> SessionState:
        """A snapshot of the session: messages, tool calls, plan, mode, options, commands, usage, title.

        It includes the history of a loaded session, and everything that was received before this call.
        """
        return self._folding.state

    @property
    def record(self) -> SessionRecord:
        """The record to store, for `ConnectedAgent.load` in a later connection."""
        return self._record

    @property
    def refused(self) -> tuple[RefusedServer, ...]:
        """The MCP servers that were left out because the agent does not support them, with the reasons."""
        return self._refused

    @property
    def is_busy(self) -> bool:
        """True while the agent answers a prompt."""
        return self._turn is not None

    def prompt(self, prompt: str | v1.ContentBlock | Iterable[v1.ContentBlock]) -> PromptTurn:
        """Return a turn for *prompt*: an async iterator of updates, which you can also await for the stop reason.

        Args:
            prompt: text, or blocks of content.

        Raises:
            SessionBusy: the session still answers another prompt.
            SessionClosed: the session was closed.
            CapabilityNotAdvertised: the agent does not support this kind of content.
            TypeError: *prompt* is not text or content.
            ValueError: *prompt* is empty.
        """
        self._check_free()
        blocks = _blocks(prompt)
        wire: Any = self._agent.peer.protocol
        request = wire.PromptRequest(
            session_id=self.id,
            prompt=[each if self._is_v1 else decode(wire.ContentBlock, encode(each)) for each in blocks],
        )
        check_message(self._agent.peer, request)
        return PromptTurn(self, Running(request, blocks))

    async def cancel(self) -> None:
        """Cancel the turn. It ends with the stop reason `cancelled` as soon as the agent has stopped.

        Open permission requests of the session are answered with the outcome `cancelled`. Nothing happens if the
        session is idle.

        Raises:
            ConnectionClosed: the agent is gone.
        """
        for scope in tuple(self._questions):
            scope.cancel()
        turn = self._turn
        if turn is not None:
            turn.cancelled = True
        if (turn is not None and turn.started) or self._busy:
            wire: Any = self._agent.peer.protocol
            type_ = wire.METHODS["session/cancel"].notification.params
            await self._agent.connection.notify(type_(session_id=self.id))

    async def set_mode(self, mode: str) -> None:
        """Set the mode, by its id in `SessionState.modes`. In v2 this sets the config option of the category `mode`.

        Raises:
            ValueError: the agent has not advertised this mode.
            RequestError: the agent responded with an error.
        """
        known = [each.id for each in self.state.modes]
        if mode not in known:
            raise ValueError(f'the agent has not advertised the mode "{mode}"; available: {", ".join(known) or "none"}')
        if self._folding.has_modes:
            wire: Any = self._agent.peer.protocol
            await self._agent.ask(wire.SetSessionModeRequest(session_id=self.id, mode_id=mode))
            self._folding.set_mode(mode)
            return
        option = next(each for each in self.state.config_options if each.category == "mode")
        await self.set_option(option.id, mode)

    async def set_option(self, option_id: str, value: str | bool) -> None:  # noqa: FBT001 - it is the value
        """Set a config option, such as the model, by its id in `SessionState.config_options`.

        Raises:
            RequestError: the agent responded with an error, such as for an unknown option or value.
        """
        wire: Any = self._agent.peer.protocol
        said: dict[str, Any] = {"sessionId": self.id, "configId": option_id, "value": value}
        if isinstance(value, bool):
            said["type"] = "boolean"
        elif not self._is_first:
            said["type"] = "id"
        response = await self._agent.ask(decode(wire.SetSessionConfigOptionRequest, said))
        self._folding.options(response.config_options)

    async def close(self) -> None:
        """End the session: cancel its turn, end its terminals, and let the agent free its resources.

        An agent that does not support `session/close` is not asked. The session can be loaded again if the agent
        stores it. Closing twice has no effect.

        Raises:
            RequestError: the agent responded with an error.
            ConnectionClosed: the agent is gone.
        """
        if self._closed:
            return
        self._closed = True
        try:
            if self._turn is not None:
                await self._stop(self._turn)
            await self._agent._end_terminals(self.id)  # noqa: SLF001 - the two are one
            if self._agent.peer.supports("session.close"):
                try:
                    await self._agent.ask(close_session(self._agent.peer, self.id))
                except RequestError as error:
                    if not is_closed(error, peer=self._agent.peer):
                        raise
        finally:
            self._agent._forget(self)  # noqa: SLF001

    async def _leave(self) -> None:
        """Close the session at the end of its block, in limited time. Errors are logged."""

        async def close() -> None:
            with anyio.move_on_after(2 * self._agent.patience) as limit:
                try:
                    await self.close()
                except ConnectionClosed:
                    pass
                except AcpError as error:
                    log.warning("session/close failed: %s", error)
            if limit.cancelled_caught:
                log.warning("the agent did not respond to session/close within %g s", 2 * self._agent.patience)

        await to_the_end(close)

    def _check_free(self) -> None:
        if self._closed:
            raise SessionClosed(self.id)
        if self._turn is not None and not self._turn.abandoned:
            raise SessionBusy(self.id)

    async def _start(self, turn: Running) -> None:
        """Send a prompt, after the end of a turn that was abandoned."""
        if turn.started:
            raise RuntimeError("this prompt was already sent; call session.prompt again")
        try:
            while self._turn is not None:
                self._check_free()
                await self._turn.ended.wait()
            self._check_free()
        except AcpError as error:
            turn.error = error
            raise
        turn.started = True
        self._turn = turn
        self._agent.start(self._run, turn)

    async def _run(self, turn: Running) -> None:
        """Send a prompt and wait for the end of its turn, in a task of its own."""
        reason: str | None = None
        try:
            with turn.scope:
                reason = await self._finished(turn)
            if turn.scope.cancelled_caught:
                turn.error = TimedOut("session/prompt", self._agent.patience)
        except Exception as error:  # noqa: BLE001 - raised where the turn is awaited
            if turn.cancelled and isinstance(error, RequestError) and error.code == REQUEST_CANCELLED:
                reason = "cancelled"
            else:
                turn.error = error
        except BaseException:
            turn.error = ConnectionClosed("the connection was closed")
            raise
        finally:
            self._turn, turn.reason = None, reason
            self._folding.change(stop_reason=reason, **({"activity": "idle"} if self._is_first else {}))
            turn.finish()

    async def _finished(self, turn: Running) -> str:
        if self._loaded:
            await self._history_complete()
        if turn.cancelled:
            return "cancelled"
        agent = self._agent
        agent._prompted(self)  # noqa: SLF001
        self._loaded = self._replaying = False
        self._record = self._record.after_prompt()
        self._folding.say(turn.prompt)
        if self._is_first:
            self._folding.change(activity="running")
        response = await agent.ask(turn.request)
        if self._is_first:
            if (usage := getattr(response, "usage", None)) is not None:
                self._folding.add_tokens(usage)
            return str(response.stop_reason)
        turn.accepted = True
        turn.begun = turn.begun or self._busy
        await agent.connection.wait_for(turn.idle.wait())
        if turn.error is not None:
            raise turn.error
        return turn.reason or "end_turn"

    async def _history_complete(self) -> None:
        """Wait for the end of a history that the agent sends after its response to the load."""
        with anyio.move_on_after(_LATE):
            while (rest := self._last_replayed + _SILENCE - anyio.current_time()) > 0:
                await anyio.sleep(rest)

    async def _stop(self, turn: Running) -> None:
        """Cancel a turn and wait for its end; after `patience` seconds, give it up."""
        turn.listening, turn.abandoned = False, True
        with anyio.move_on_after(self._agent.patience):
            if not turn.cancelled:
                with contextlib.suppress(AcpError):
                    await self.cancel()
            await turn.ended.wait()
        if not turn.ended.is_set():
            log.warning("the agent did not end a cancelled turn within %g s", self._agent.patience)
            turn.scope.cancel()
            await turn.ended.wait()

    def _abandon(self, turn: Running) -> None:
        """Cancel a turn in the background, because its iterator was dropped."""
        turn.listening, turn.abandoned = False, True
        turn.buffer.clear()
        if get_ident() == self._thread:
            # The connection may be closed, or its event loop.
            with contextlib.suppress(RuntimeError):
                self._agent.start(self._stop, turn)

    @contextmanager
    def _asking(self) -> Generator[anyio.CancelScope]:
        """A block in which the user is asked; `cancel` ends it."""
        with anyio.CancelScope() as scope:
            self._questions.add(scope)
            try:
                if self._turn is not None and self._turn.cancelled:
                    # The agent has asked before it received the cancellation.
                    scope.cancel()
                yield scope
            finally:
                self._questions.discard(scope)

    def _take(self, update: Any) -> None:
        """Handle an update that is not history."""
        if not self._is_v1:
            if update.session_update == "state_update":
                self._take_state(update)
                return
            for each in self._folding.in_v1(update):
                self._take_one(each, replay=False)
        else:
            self._folding.take(update)
            if (turn := self._turn) is not None and type(update) is not v1.UserMessageChunk:
                turn.feed(update)
            if (on_update := self._agent.on_update) is not None:
                on_update(self, update, False)

    def _take_early(self, update: Any, *, replay: bool) -> None:
        """Handle an update of a session that had no prompt yet, which may be history."""
        kind: str = update.session_update
        if kind == "state_update":
            self._take_state(update)
            return
        if kind in _CONVERSATION and not self._busy and self._loaded:
            replay = True
        if replay:
            self._replayed += 1
            self._last_replayed = anyio.current_time()
        for each in self._folding.in_v1(update):
            self._take_one(each, replay=replay)

    def _take_one(self, update: SessionUpdate, *, replay: bool) -> None:
        self._folding.take(update)
        turn = self._turn
        if turn is not None and not (replay or turn.idle.is_set() or update.session_update.startswith("user_message")):
            turn.feed(update)
        if (on_update := self._agent.on_update) is not None:
            on_update(self, update, replay)

    def _take_state(self, update: Any) -> None:
        """Handle a state of v2. A turn ends when the session is idle after it was busy with the prompt."""
        turn, idle = self._turn, update.state == "idle"
        if not idle:
            if turn is not None and turn.started and (turn.accepted or not self._busy):
                turn.begun = True
            self._folding.change(activity=update.state)
        else:
            self._folding.change(activity="idle")
            if turn is not None and turn.begun and not turn.idle.is_set():
                self._end_turn(turn, update)
        self._busy = not idle
        if (on_update := self._agent.on_update) is not None:
            on_update(self, update, False)

    def _end_turn(self, turn: Running, update: Any) -> None:
        turn.reason = update.stop_reason
        if turn.reason == "error":
            failure = update.error
            turn.error = (
                RequestError(-32603, "the agent reported an error without details")
                if failure is None
                else error_from(failure, peer=self._agent.peer, session_id=self.id)
            )
        if (usage := getattr(update, "usage", None)) is not None:
            self._folding.add_tokens(usage)
        turn.idle.set()

    def _opened(self, response: Any, *, loaded: bool) -> None:
        """Take the response that created, loaded or resumed the session."""
        self._folding.opened(response)
        self._replaying, self._loaded = False, loaded
        if loaded and not self._replayed:
            # The history may still come.
            self._last_replayed = anyio.current_time()


class SessionOpening:
    """A session that is about to be opened: `async with` closes it at the end, `await` leaves that to you."""

    def __init__(self, open_: Callable[[], Awaitable[Session]]) -> None:
        self._open = open_
        self._session: Session | None = None

    def __await__(self) -> Generator[Any, Any, Session]:
        """Open the session and return it."""
        return self._open().__await__()

    async def __aenter__(self) -> Session:
        """Open the session and return it."""
        self._session = await self._open()
        return self._session

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the session, also on cancellation. Errors are logged."""
        if self._session is not None:
            await self._session._leave()  # noqa: SLF001 - the two are one


def _blocks(prompt: str | v1.ContentBlock | Iterable[v1.ContentBlock]) -> Sequence[v1.ContentBlock]:
    if isinstance(prompt, str):
        blocks: list[Any] = [v1.TextContent(text=prompt)]
    elif hasattr(prompt, "model_fields_set"):
        blocks = [prompt]
    else:
        blocks = list(prompt)  # type: ignore[arg-type]
    if not blocks:
        raise ValueError("the prompt is empty; pass text or at least one block of content")
    wrong = next((each for each in blocks if not hasattr(each, "type")), None)
    if wrong is not None:
        raise TypeError(f"a prompt is text or blocks such as v1.TextContent(text=…), not {type(wrong).__name__}")
    return blocks
