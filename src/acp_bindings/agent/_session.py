"""A session: its MCP servers, the turn that is running, its settings, and its history in the store."""

from __future__ import annotations

import logging
import uuid
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup, TaskStatus
from pydantic_core import from_json
from typing_extensions import TypeVar

from acp_bindings import v1
from acp_bindings._envelope import Line, start_of_notification
from acp_bindings._from_v1 import from_v1
from acp_bindings._json import write_unchecked
from acp_bindings.agent._offers import outcome_of
from acp_bindings.agent._stores import StoredSession
from acp_bindings.agent._telemetry import span, with_context
from acp_bindings.agent._tool_call import running_calls, unfinished
from acp_bindings.agent.errors import SessionInUse, StoreFailed
from acp_bindings.connection import Connection, ConnectionClosed
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import DecodeError
from acp_bindings.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST
from acp_bindings.setup import ClientPeer, History, RequestError, Roots, SessionNotFound
from acp_bindings.setup._history import merged
from acp_bindings.setup.capabilities import AgentCapability

if TYPE_CHECKING:
    from acp_bindings.agent._open_sessions import OpenSessions
    from acp_bindings.agent._turn import Turn

log = logging.getLogger("acp_bindings.agent")

M = TypeVar("M", default=Any)
M_co = TypeVar("M_co", covariant=True, default=Any)

CANCELLING = 2.0
"""Seconds for the handler of a cancelled turn to return, before the turn ends without it."""

_IN_A_ROW = 200
"""The updates of a history that are read or converted before other tasks run."""
_CHUNKS = (v1.AgentMessageChunk, v1.AgentThoughtChunk, v1.UserMessageChunk)
_ACCEPTED: set[tuple[Any, Any]] = set()
"""The classes of updates, each with its protocol, so that each class is checked once."""

# A copy of `v1.StopReason`, whose module is not needed before the first session.
StopReason: TypeAlias = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
"""The reason why a turn has ended."""

NewId: TypeAlias = Callable[[Literal["session", "message", "tool_call"]], str]
"""Returns a new id for what it is called with."""


def random_id(_: str) -> str:
    """Return a random UUID."""
    return str(uuid.uuid4())


class McpProvider(Protocol[M_co]):
    """Starts the MCP servers of sessions. `mcp_launch.for_sessions()` returns one."""

    @property
    def capabilities(self) -> Collection[AgentCapability]:
        """The capabilities that the agent advertises for it, such as `mcp.http`."""
        ...

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """The exceptions with which a tool call may fail, and whose messages are for the user."""
        ...

    def open(self, servers: Sequence[Any], session: Session[Any]) -> AbstractAsyncContextManager[M_co]:
        """Return a context manager that starts *servers*, yields `Session.mcp`, and closes them.

        It reports servers that fail with `Session.report`, and forwards their questions to the user with
        `Session.forward_elicitation`.
        """
        ...

    def tool_call_update(self, tool_call_id: str, result: Any) -> v1.SessionToolCallUpdate | None:
        """Return the end of a tool call with the *result* of an MCP tool; None if it is not one."""
        ...


class Session(Generic[M]):
    """A session with a client, from `session/new` or `session/load` until it is closed.

    `turn.session` is the session of a turn. It is created by the agent, not by your program.
    """

    mcp: M
    """The MCP servers of the session: a `mcp_launch.Fleet` with `mcp=mcp_launch.for_sessions()`, otherwise None."""
    meta: Mapping[str, Any] | None = None
    """The `_meta` of the last request that opened or loaded the session; None without it."""
    commands: Sequence[v1.AvailableCommand] = ()
    """The commands that were shown in this session, in addition to those of the agent."""

    def __init__(
        self,
        stored: StoredSession,
        *,
        servers: Sequence[Any],
        connection: Connection,
        host: OpenSessions[M],
        in_store: bool,
    ) -> None:
        self.id, self.new_id = stored.session_id, host.new_id
        """The id."""
        self.identity = host.identity
        """The user, as the `authenticate` of `Agent.asgi` has found; None without it."""
        self.cwd = stored.cwd
        """The working directory, an absolute path."""
        self.additional_directories = stored.additional_directories
        """Further directories that the session may work in."""
        self.roots = Roots(self.cwd, *self.additional_directories)
        """Checks that a path is in `cwd` or in one of the additional directories."""
        self.title = stored.title
        """The title for lists of sessions: the beginning of the first prompt until `set_title` changes it."""
        self.data: dict[str, Any] = dict(stored.data.get("data", {}))
        """JSON that is stored with the session, such as the messages of a model, at the latest when a turn ends."""
        self._stored_data = write_unchecked(dict(stored.data))
        """The JSON of `StoredSession.data` as it was loaded or stored last."""
        self.servers = servers
        self.connection = connection
        """The connection to the client. It changes when another client loads the session."""
        self.client = host.handlers.settled(connection).client
        """The client: its name, version and capabilities."""
        self._store = host.store
        self._offers = offers = host.offers
        mode: str | None = stored.data.get("mode")
        self.mode = mode if mode in offers.modes else next(iter(offers.modes), None)
        """The id of the current mode; None if the agent does not have modes."""
        self.options = offers.restored(stored.data.get("options", {}))
        """The current values of the config options, by id. Change them with `set_option`."""
        self.turn: Turn[M] | None = None
        """The turn that is running."""
        self._queue: deque[Turn[M]] = deque()
        """The turns that wait for the end of the one that is running."""
        self._pending: list[bytes | _Pieces] = []
        """Updates of v1 that are not in the store yet."""
        self._has_pending = anyio.Event()
        self._writing = anyio.Lock()
        self._stored = in_store
        """True if the session is in the store. A session without a prompt is not stored."""
        self._has_changed = False
        """True if the mode or an option is to be stored."""
        self._failure: RequestError | None = None
        """The reason why the session cannot be stored: until the next prompt, or for good if it `is_lost`."""
        self._is_announced = in_store
        """True if the client knows the id for certain."""
        self._asking = 0
        """The number of questions that the user has not answered yet."""
        self._tasks: TaskGroup | None = None
        self._closing, self._closed = anyio.Event(), anyio.Event()
        self._reported: dict[str, str] = {}
        """The severities of the problems that were reported."""

    def __repr__(self) -> str:
        return f"<Session {self.id}>"

    @property
    def is_closing(self) -> bool:
        """True if the session is closed or about to be."""
        return self._closing.is_set()

    @property
    def is_lost(self) -> bool:
        """True if the session was deleted or taken over elsewhere. It can be used again when it is loaded again."""
        return isinstance(self._failure, (SessionNotFound, SessionInUse))

    async def run(self, provider: McpProvider[M] | None, *, task_status: TaskStatus[None]) -> None:
        """Keep the MCP servers until the session is closed. Started when they are ready or have failed."""
        opened: Any = provider.open(self.servers, self) if provider else nullcontext()
        try:
            async with opened as self.mcp, anyio.create_task_group() as self._tasks:
                self._tasks.start_soon(self._store_pending)
                task_status.started()
                try:
                    await self._closing.wait()
                finally:
                    self._closing.set()
                    with anyio.CancelScope(shield=True):
                        await self.end_turn()
                    self._tasks.cancel_scope.cancel()
        except Exception as error:
            if self._tasks is None:
                raise
            # The other sessions go on.
            log.error("session %s is closed because its MCP servers cannot be kept", self.id, exc_info=error)
        finally:
            try:
                with anyio.CancelScope(shield=True):
                    await self._let_go()
            finally:
                # Also if asyncio cancels the task in spite of the shield, at the end of its event loop.
                self._closed.set()

    async def close(self) -> None:
        """Cancel the turn, close the MCP servers, and wait until they have ended."""
        self._closing.set()
        await self._closed.wait()

    def cancel(self) -> None:
        """Cancel the turn that is running, and those that are queued."""
        while self._queue:
            queued = self._queue.popleft()
            queued.cancel()
            queued.may_begin.set()
        if self.turn:
            self.turn.cancel()

    async def end_turn(self) -> None:
        """Cancel the turns, and wait until they have ended."""
        while turn := self.turn:
            self.cancel()
            await self._end_in_time(turn)

    def end_in_time(self, turn: Turn[M]) -> None:
        """End a cancelled turn soon, also if its handler does not return."""
        if self._tasks and not self.is_closing:
            self._tasks.start_soon(self._end_in_time, turn)

    async def _end_in_time(self, turn: Turn[M]) -> None:
        with anyio.move_on_after(CANCELLING):
            await turn.done.wait()
        if not turn.done.is_set():
            log.error(
                "the prompt handler of session %s has not ended after its cancellation; the turn ends without it. "
                "Unless it waits for a terminal that the client has not created yet, do not catch the cancellation, "
                "and call blocking functions with abandon_on_cancel=True",
                self.id,
            )
            self.finish(turn, "cancelled")

    def attach(self, connection: Connection, client: ClientPeer) -> None:
        """Continue with another connection, whose client has loaded the session."""
        self.connection, self.client = connection, client
        self._is_announced = True

    async def claim(self) -> None:
        """Claim the session again. Then it `is_lost` if another process has it, or changed or deleted what is kept."""
        try:
            await self.flush()
            if self._stored:
                stored, _ = await self._store.load(self.id)
                if (stored.title, stored.data) != (self.title, from_json(self._stored_data)):
                    raise SessionInUse(self.id, "another process has changed it")
        except (SessionNotFound, SessionInUse) as error:
            self._failure = error

    async def begin(self, turn: Turn[M], *, queued: bool) -> None:
        """Make *turn* the running one. If it is queued, wait until those before have ended, or it is cancelled.

        Raises:
            RequestError: another turn is running, and prompts are not queued.
        """
        if self.turn is None:
            self.turn = turn
        elif queued:
            self._queue.append(turn)
            try:
                await turn.may_begin.wait()
            except BaseException:
                self.drop(turn)
                raise
        else:
            raise RequestError(
                INVALID_REQUEST, "the session is busy with another prompt; cancel it, or wait for its end"
            )
        self._is_announced = True
        if not self.is_lost:
            # The disk may have space again.
            self._failure = None

    def drop(self, turn: Turn[M]) -> None:
        """End a turn that has not begun."""
        if turn in self._queue:
            self._queue.remove(turn)
        turn.end("cancelled")
        turn.done.set()
        self._next_after(turn)

    def _next_after(self, turn: Turn[M]) -> None:
        if self.turn is turn:
            self.turn = self._queue.popleft() if self._queue else None
            if self.turn:
                self.turn.may_begin.set()

    def finish(self, turn: Turn[M], reason: StopReason | RequestError) -> None:
        """End *turn*, and report it to a client of v2, whose prompt was answered long ago."""
        if turn.done.is_set():
            return
        reason = turn.outcome or reason  # the handler may have ended it
        turn.end(reason)
        try:
            for id_ in turn.calls:
                self.post(unfinished(id_), shown_as={"status": "cancelled"})
            if self.client.version > 1:
                self.show_state(_idle(reason))
        except ValueError as error:
            log.error("the error of the prompt handler cannot be sent in session %s", self.id, exc_info=error)
            self.show_state(_idle(RequestError(INTERNAL_ERROR, "Internal error")))
        finally:
            turn.done.set()
            self._next_after(turn)

    async def send(self, update: v1.SessionUpdate, *, shown_as: Mapping[str, Any] | None = None) -> None:
        """Send an update and store it in the history, unless the session is closed; `is_closing` shows it.

        Args:
            update: any update of v1. In v2 it is converted.
            shown_as: fields that have other values for a client of v2.

        Raises:
            DecodeError: it is the mode, which is an option for a client of v2; use `Session.set_mode`.
        """
        await self.show_line(self._kept(update, shown_as))

    def post(self, update: v1.SessionUpdate, *, shown_as: Mapping[str, Any] | None = None) -> None:
        """Send an update like `send`, without waiting for a client that reads slowly, and also after a cancellation."""
        self.connection.post(self._kept(update, shown_as))

    def _kept(self, update: v1.SessionUpdate, shown_as: Mapping[str, Any] | None) -> Line:
        """Return the line of an update, and store the update in the history."""
        if isinstance(update, _CHUNKS) and update.message_id is None:
            # v2 requires it.
            update = update.model_copy(update={"message_id": self.new_id("message")})
        converted = self._converted(update)
        if shown_as and self.client.version > 1:
            converted = converted.model_copy(update=shown_as)
        shown = self._encoded(converted)
        self.keep(shown if converted is update else encode(update))
        return self.line_of(shown)

    async def show(self, update: Any, *, after_response: bool = False) -> None:
        """Send an update without storing it, for what is only of interest now."""
        await self.show_line(self.line_of(self._encoded(self._converted(update))), after_response=after_response)

    def _converted(self, update: Any) -> Any:
        """Return an update in the client's version. Commands are in addition to those of the agent."""
        if isinstance(update, v1.AvailableCommandsUpdate):
            self.commands = update.available_commands
            update = update.model_copy(update={"available_commands": self._offers.available_commands(self)})
        return from_v1(self.connection.protocol, update)

    def _encoded(self, update: object) -> bytes:
        """Return an update of the client's version as JSON.

        Raises:
            ValidationError: it is not an update.
        """
        accepted = (self.connection.protocol, type(update))
        if accepted not in _ACCEPTED:
            protocol: Any = self.connection.protocol
            protocol.METHODS["session/update"].notification.params(session_id=self.id, update=update)
            _ACCEPTED.add(accepted)
        return encode(update)

    @cached_property
    def _before_update(self) -> bytes:
        return start_of_notification("session/update") + b'{"sessionId":%b,"update":' % encode(self.id)

    def line_of(self, update: bytes) -> Line:
        """Return the line of an update of the client's version, which is JSON."""
        return Line(b"%b%b}}\n" % (self._before_update, update))

    async def show_line(self, line: Any, *, after_response: bool = False) -> None:
        """Send the line of an update without storing it."""
        try:
            # The client learns the id of a new session from the response.
            if after_response or not self._is_announced:
                await self._notify_after_response(line)
            else:
                await self.connection.notify(line)
        except ConnectionClosed:
            # The client finds it in the history when it loads the session.
            return

    async def _notify_after_response(self, notification: Any) -> None:
        try:
            await self.connection.notify(notification, after_response=True)
        except RuntimeError:
            # This task was not started by a request of the connection.
            await self.connection.notify(notification)

    def keep(self, update: bytes | _Pieces) -> None:
        """Store the JSON of an update of v1 in the history, soon."""
        if not self._pending:
            self._has_pending.set()
        self._pending.append(update)

    def forget(self, updates: Collection[bytes]) -> None:
        """Do not store *updates* that are not in the store yet."""
        self._pending = [each for each in self._pending if not any(each is other for other in updates)]

    def keep_text(self, kind: str, message_id: str, text: str) -> None:
        """Store a piece of a message in the history, soon. Pieces are stored together."""
        last = self._pending[-1] if self._pending else None
        if isinstance(last, _Pieces) and last.message_id == message_id:
            last.texts.append(text)
        else:
            self.keep(_Pieces(kind, message_id, [text]))

    async def report(self, text: str, *, severity: str = "warning") -> None:
        """Inform the user about a problem, once: by a notice if the client supports them, otherwise by a message.

        Args:
            text: the problem, in a sentence.
            severity: `info`, `warning` or `error`.
        """
        if text in self._reported:
            return
        self._reported[text] = severity
        if self.client.supports("notices"):
            update: Any = v1.Notice(severity=severity, title=text)
        else:
            content = v1.TextContent(text=f"{text}\n\n")
            update = v1.AgentMessageChunk(content=content, message_id=f"report-{len(self._reported)}")
        # Servers may fail before the client knows the id of the session, which is in the response.
        await self.show(update, after_response=True)

    async def report_again(self) -> None:
        """Report all problems to a client that has taken over the session."""
        reported, self._reported = self._reported, {}
        for text, severity in reported.items():
            await self.report(text, severity=severity)

    def show_state(self, state: dict[str, Any]) -> None:
        """Send the state of v2."""
        protocol: Any = self.connection.protocol
        update = decode(protocol.SessionUpdate, {"sessionUpdate": "state_update", **state})
        self.connection.post(self.line_of(encode(update)))

    def has_same_servers(self, request: Any) -> bool:
        """Return True if a request to load the session names the servers and directories that it has."""
        return tuple(request.additional_directories) == tuple(self.additional_directories) and [
            encode(each) for each in request.mcp_servers
        ] == [encode(each) for each in self.servers]

    async def set_title(self, title: str) -> None:
        """Change the title of the session."""
        self.title = title
        await self.show(v1.SessionInfoUpdate(title=title))
        self._keep_settings()

    async def set_mode(self, mode: str, *, by_client: bool = False) -> None:
        """Change the mode, and announce it.

        Raises:
            InvalidParams: the agent does not have this mode.
        """
        mode = self._offers.check_mode(mode)
        if self._offers.on_mode:
            await outcome_of(self._offers.on_mode(self, mode), "the function of @agent.on_mode")
        self.mode = mode
        self._keep_settings()
        if self.client.version == 1:
            await self.show(v1.CurrentModeUpdate(current_mode_id=mode))
        await self._announce_options(by_client=by_client)

    async def set_option(self, id_: str, value: str | bool, *, by_client: bool = False) -> None:
        """Change a config option, and announce it.

        Raises:
            InvalidParams: the agent does not have this option or this value.
        """
        option = self._offers.option(id_)
        checked = option.check(value)
        if option.on_set:
            await outcome_of(option.on_set(self, checked), f"on_set of the option {id_}")
        self.options[id_] = checked
        self._keep_settings()
        await self._announce_options(by_client=by_client)

    def _keep_settings(self) -> None:
        """Store the title, the mode and the options, soon."""
        self._has_changed = True
        self._has_pending.set()

    async def _announce_options(self, *, by_client: bool) -> None:
        # The client gets them with the response to its request.
        if not by_client:
            protocol: Any = self.connection.protocol
            options = self._offers.config_options(self)
            json = {"sessionUpdate": "config_option_update", "configOptions": options}
            await self.show(decode(protocol.SessionUpdate, json))

    async def elicit(self, message: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """Ask the user to fill in a form, and return what was entered; None if the user or the client declines.

        Args:
            message: the question.
            schema: a JSON schema of an object with plain properties, as in `elicitation/create`.
        """
        response = await self.forward_elicitation({"mode": "form", "message": message, "requestedSchema": dict(schema)})
        return (response.get("content") or {}) if response["action"] == "accept" else None

    async def forward_elicitation(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send `elicitation/create` to the client, and return its response as JSON.

        A client that does not support the mode is not asked: the response is `{"action": "decline"}`.

        Args:
            params: the params as JSON, without the session.
        """
        needed: Any = f"elicitation.{params['mode']}"
        if not self.client.supports(needed):
            return {"action": "decline"}
        protocol: Any = self.connection.protocol
        request = decode(protocol.CreateElicitationRequest, {**params, "sessionId": self.id})
        scope = self.turn.part() if self.turn else nullcontext()
        # A question of an MCP server is closed with the turn that it belongs to.
        with scope:
            answer: dict[str, Any] = from_json(encode(await self.ask_user(request, method="elicitation/create")))
            return answer
        return {"action": "cancel"}

    async def request(self, params: Any, *, method: str) -> Any:
        """Send a request to the client, and return the result. `Turn` has methods for most of them.

        Args:
            params: the params, of the negotiated protocol; for an extension method JSON.
            method: the method.
        """
        attributes = {"rpc.system": "jsonrpc", "rpc.method": method, "acp.session.id": self.id}
        connection = self.connection
        with span(method, kind="client", attributes=attributes):
            try:
                return await connection.request(with_context(params), method=method)
            except ConnectionClosed:
                # A client that leaves cancels its turn.
                if connection is self.connection:
                    self.cancel()
                # So that the handler is cancelled here, instead of going on after an error that it may catch.
                await anyio.lowlevel.checkpoint_if_cancelled()
                raise

    async def ask_user(self, params: Any, *, method: str) -> Any:
        """Send a request that the user answers. In v2 the state shows that the turn waits for it."""
        shows_state = self.client.version > 1 and self.turn is not None
        self._asking += 1
        try:
            if shows_state and self._asking == 1:
                self.show_state({"state": "requires_action"})
            return await self.request(params, method=method)
        finally:
            self._asking -= 1
            turn = self.turn
            if shows_state and not self._asking and turn and not (turn.is_over or turn.is_cancelled):
                self.show_state({"state": "running"})

    async def history(self) -> list[v1.SessionUpdate]:
        """Return the conversation so far, as updates of v1."""
        await self.flush()
        if not self._stored:
            return []
        try:
            _, lines = await self._store.load(self.id)
        except (SessionNotFound, SessionInUse) as error:
            self._failure = error
            raise
        return await updates_in(lines, self.id)

    async def replay(self, *, with_history: bool) -> None:
        """Send the history to the client, and in v2 the state."""
        protocol = self.connection.protocol
        history = History(protocol)
        updates = await self.history() if with_history else []
        whole = [*self._with_ids(updates), *map(unfinished, running_calls(updates))]
        # Merged before they are converted, which takes longest.
        for number, update in enumerate(merged(whole)):
            if number % _IN_A_ROW == 0:
                await anyio.lowlevel.checkpoint()
            try:
                history.add(from_v1(protocol, update))
            except DecodeError as error:
                log.warning("an update of session %s is left out, which the client does not have: %s", self.id, error)
        for notification in history.replay(self.id):
            await self.connection.notify(notification)

    def _with_ids(self, updates: Sequence[v1.SessionUpdate]) -> Iterator[v1.SessionUpdate]:
        """Yield *updates*. Consecutive chunks without an id, which v2 requires, become one message."""
        for (_, id_), run in groupby(updates, key=lambda each: (each.session_update, getattr(each, "message_id", ""))):
            new = {"message_id": self.new_id("message")} if id_ is None else {}
            yield from (each.model_copy(update=new) if new else each for each in run)

    async def flush(self, *, changed: bool = False) -> None:
        """Store what is pending. Everything is in the store when this returns.

        Args:
            changed: also store the title and the data if nothing else is pending, and check the data.

        Raises:
            RequestError: the store has failed.
            ValueError: the data is not JSON, so what was stored last is kept.
        """
        async with self._writing:
            if self._failure:
                raise self._failure
            if not (self._pending or changed or (self._has_changed and self._stored)):
                return
            updates, self._pending, self._has_changed = self._pending, [], False
            try:
                lines = [each.joined() if isinstance(each, _Pieces) else each for each in updates]
                unfit: ValueError | None = None
                with anyio.CancelScope(shield=True):
                    try:
                        await self._append(self.data, lines)
                    except ValueError as error:
                        unfit = error
                        await self._append(from_json(self._stored_data).get("data", {}), lines)
            except BaseException as error:
                self._pending[:0], self._has_changed = updates, True
                if not isinstance(error, Exception):
                    raise
                log.error("session %s cannot be stored: %s", self.id, error, exc_info=error.__cause__)
                self._failure = error if isinstance(error, RequestError) else _store_failed(error, self.id)
                raise self._failure from error
            self._stored = True
            if changed and unfit:
                encode({"session": {"data": self.data}})  # names what is not JSON
                raise unfit

    async def _append(self, own: dict[str, Any], lines: Sequence[bytes]) -> None:
        """Store the session with the data *own*, and add *lines* to its history."""
        data: dict[str, Any] = {"mode": self.mode, "options": self.options, "data": own}
        stored_data = write_unchecked(data)
        described = StoredSession(
            session_id=self.id,
            cwd=self.cwd,
            additional_directories=tuple(self.additional_directories),
            title=self.title,
            data=data,
        )
        await self._store.append(described, lines)
        self._stored_data = stored_data

    async def _store_pending(self) -> None:
        """Store updates in batches, while they are sent."""
        while True:
            await self._has_pending.wait()
            self._has_pending = anyio.Event()
            with suppress(RequestError):
                await self.flush()
            if self._failure and self.turn:
                self.turn.cancel()

    async def _let_go(self) -> None:
        """Store what is pending, and end the claim."""
        if not self.is_lost:
            self._failure = None
        with suppress(RequestError):
            await self.flush()
        try:
            await self._store.release(self.id)
        except Exception as error:
            log.error("session %s cannot be released: %s", self.id, error, exc_info=error)


async def updates_in(lines: Sequence[bytes], session_id: str) -> list[v1.SessionUpdate]:
    """Return the updates of a stored history. Lines that are not updates are skipped with a warning."""
    updates: list[v1.SessionUpdate] = []
    for number, line in enumerate(lines):
        if number % _IN_A_ROW == 0:
            await anyio.lowlevel.checkpoint()
        try:
            updates.append(decode(v1.SessionUpdate, line))
        except DecodeError as error:
            log.warning("the history of session %s has an invalid line, which is skipped: %s", session_id, error)
    return updates


def chunk_of(kind: str, message_id: str, text: str = "") -> bytes:
    """Return the JSON of a chunk of text, which is the same in all versions."""
    content = b'{"type":"text","text":%b}' % encode(text)
    return b'{"content":%b,"messageId":%b,"sessionUpdate":"%b"}' % (content, encode(message_id), kind.encode())


@dataclass(slots=True)
class _Pieces:
    """The pieces of a message that are not in the store yet."""

    kind: str
    message_id: str
    texts: list[str]

    def joined(self) -> bytes:
        """Return the JSON of the pieces as one update."""
        return chunk_of(self.kind, self.message_id, "".join(self.texts))


def _idle(reason: StopReason | RequestError) -> dict[str, Any]:
    """Return the state of v2 after a turn."""
    if isinstance(reason, RequestError):
        data = {} if reason.data is None else {"data": reason.data}
        error = {"code": reason.code, "message": reason.message, **data}
        return {"state": "idle", "stopReason": "error", "error": error}
    return {"state": "idle", "stopReason": reason}


def _store_failed(error: Exception, session_id: str) -> RequestError:
    failed = StoreFailed(f"it raised {type(error).__name__}; the agent's log has more", session_id)
    failed.__cause__ = error
    return failed
