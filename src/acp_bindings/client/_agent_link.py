"""The connection of a client to one agent: the open sessions, and the answers to what the agent asks."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
from anyio.abc import TaskGroup
from anyio.lowlevel import current_token

from acp_bindings import v1
from acp_bindings._condition import Condition
from acp_bindings._models.base import known_member
from acp_bindings.client._client_session import Session
from acp_bindings.client._files import Files
from acp_bindings.client._permission import PermissionAnswer, PermissionQuestion, as_option, question_of
from acp_bindings.client._reconnecting import Reconnected
from acp_bindings.client._terminals import OpenTerminals, Terminals
from acp_bindings.client._turns import Conversation, Running
from acp_bindings.connection._calls import Late
from acp_bindings.connection._connection import Connection
from acp_bindings.connection._handlers import Handlers
from acp_bindings.connection._opening import initialize
from acp_bindings.connection.errors import ConnectionClosed, RequestFailed, log
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import AcpError, DecodeError
from acp_bindings.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND
from acp_bindings.setup._error_responses import error_from, is_closed
from acp_bindings.setup._records import SessionRecord
from acp_bindings.setup._requests import close_session, load_session, resume_session
from acp_bindings.setup._updates import ReplayCollector
from acp_bindings.setup.errors import InvalidParams, RefusedServer, RequestError

if TYPE_CHECKING:
    from acp_bindings.setup import ClientHandshake
    from acp_bindings.setup._peer import AgentPeer
    from acp_bindings.setup.unions import SessionUpdate

Permission: TypeAlias = Callable[[PermissionQuestion], PermissionAnswer | Awaitable[PermissionAnswer]]
ElicitationAnswer: TypeAlias = "v1.CreateElicitationResponse | Mapping[str, Any] | None"
Elicitation: TypeAlias = "Callable[[v1.CreateElicitationRequest], ElicitationAnswer | Awaitable[ElicitationAnswer]]"
OnUpdate: TypeAlias = "Callable[[Session, SessionUpdate, bool], object]"


@dataclass(kw_only=True, eq=False)
class AgentLink:
    """The state of a client for one connection, and its handlers. See `Client` for the first fields."""

    permission: Permission | None
    files: Files | None
    terminals: Terminals | None
    elicitation: Elicitation | None
    on_update: OnUpdate | None
    patience: float
    tasks: TaskGroup

    def __post_init__(self) -> None:
        self.connection: Connection
        self.peer: AgentPeer
        self.sessions: dict[str, Session] = {}
        """The open sessions by id."""
        self.updates: ReplayCollector[Any] = ReplayCollector()
        self.online = anyio.Event()
        """Set while there is a connection; requests wait for it."""
        self.reconnects = False
        """True if a connection that is lost is made again."""
        self._conversations: dict[str, Conversation] = {}
        self._live: dict[str, Callable[[Any], object]] = {}
        """Take the updates of sessions that cannot be history."""
        self._terminals = OpenTerminals(self.terminals, self.tasks) if self.terminals else None
        self._handlers: Handlers | None = None
        """The handlers in which those of this object are registered."""
        self._given_up: ConnectionClosed | None = None
        self._lost: dict[str, AcpError] = {}
        """The sessions that could not be loaded again, until that is reported."""
        self._failing: list[Running] = []
        """The turns of the connection that was lost. Later ones wait for the next connection."""
        self._to_start: deque[Callable[[], Coroutine[Any, Any, object]]] = deque()
        self._any_to_start = Condition()
        loop: Any = current_token().native_token
        self._call_soon = getattr(loop, "call_soon_threadsafe", None) or loop.run_sync_soon

    async def open(self, connection: Connection, handshake: ClientHandshake, *, timeout: float | None) -> None:
        """Send `initialize` on a connection, and use the connection from now on.

        Raises:
            RequestError: the agent responded with an error; and the others of `initialize`.
        """
        if self._handlers is not connection.handlers:
            self._handlers = connection.handlers
            self._register(connection.handlers)
        self.connection = connection
        try:
            self.peer = await initialize(connection, handshake, timeout=timeout)
        except RequestFailed as error:
            found = error_from(error)
            if found.code in (METHOD_NOT_FOUND, INVALID_PARAMS):
                message = f"initialize failed, perhaps because this is not an ACP agent: {found.message}"
                found = RequestError(found.code, message, data=found.data)
            raise found from error

    def _register(self, handlers: Handlers) -> None:
        handlers.on("session/update")(self._update)
        self._live = handlers.live
        handlers.on("session/request_permission")(self._permission)
        if (elicit := self.elicitation) is not None:
            handlers.on("elicitation/create")(partial(self._elicitation, elicit))
        if (files := self.files) is not None:
            handlers.on("fs/read_text_file")(partial(self._read, files))
            if "fs.write_text_file" in files.capabilities:
                handlers.on("fs/write_text_file")(partial(self._write, files))
        if self._terminals is not None:
            for each in ("create", "kill", "output", "release", "wait_for_exit"):
                handlers.on(f"terminal/{each}")(partial(self._terminal, self._terminals))

    async def ready(self) -> None:
        """Wait for the next connection, if one was lost.

        Raises:
            ConnectionClosed: no other is made.
        """
        if not self.online.is_set():
            await self.online.wait()
        if self._given_up is not None:
            raise self._given_up.of(None)

    async def ask(self, request: Any, *, timeout: float | None = None, late: Late = None) -> Any:
        """Send a request, and return the response; errors as for `ConnectedAgent.ask`."""
        await self.ready()
        connection = self.connection
        try:
            return await self._ask(request, timeout=timeout, late=late)
        except ConnectionClosed:
            if self.reconnects and connection is self.connection:
                # Before the caller tries again, which has to wait for the next connection.
                self.go_offline()
            raise

    async def _ask(self, request: Any, *, timeout: float | None = None, late: Late = None) -> Any:
        try:
            return await self.connection.request(request, timeout=timeout, late=late)
        except RequestFailed as error:
            session_id = getattr(request, "session_id", None)
            raise error_from(error, peer=self.peer, session_id=session_id) from error

    def start(self, work: Callable[..., Coroutine[Any, Any, object]], *arguments: object) -> None:
        """Run *work* in a task that ends with the connection.

        Raises:
            ConnectionClosed: the connection was closed.
        """
        try:
            self.tasks.start_soon(work, *arguments)
        except RuntimeError:
            raise ConnectionClosed("the connection was closed") from None

    def start_anywhere(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Run *work* like `start`, also if this is called in another thread or a callback, as by the garbage collector.

        Nothing is run or raised if the connection was closed.
        """
        self._to_start.append(work)
        with suppress(RuntimeError):  # the event loop has ended
            self._call_soon(self._any_to_start.notify_all)

    async def start_all(self) -> None:
        """Start what `start_anywhere` was given, which a callback of asyncio cannot, until this is cancelled."""
        while True:
            while self._to_start:
                self.tasks.start_soon(self._to_start.popleft())
            await self._any_to_start.wait()

    async def create(
        self, request: Any, refused: tuple[RefusedServer, ...], assume: Collection[str], timeout: float | None
    ) -> Session:
        """Send a request that creates a session, and return the session."""
        response = await self.ask(
            request, timeout=timeout, late=lambda late: self.start(self._close_abandoned, late.session_id)
        )
        session_id: str = response.session_id
        early = self.updates.created(session_id)
        conversation, session = self._add(request, refused, assume, session_id)
        self._live[session_id] = conversation.take
        conversation.opened(response, loaded=False)
        for each in early:
            conversation.take(each.notification.update)
        return session

    async def reopen(
        self,
        request: Any,
        refused: tuple[RefusedServer, ...],
        assume: Collection[str],
        timeout: float | None,
        *,
        loads: bool,
    ) -> Session:
        """Send a request that loads or resumes a session, and return the session."""
        conversation, session = self._add(request, refused, assume)
        ask = partial(self.ask, timeout=timeout, late=lambda _: self.start(self._close_abandoned, session.id))
        try:
            await self._load(conversation, request, ask, loads=loads)
        except BaseException:
            self.updates.failed(session.id)
            self.forget(session.id)
            raise
        return session

    async def _load(
        self, conversation: Conversation, request: Any, ask: Callable[[Any], Awaitable[Any]], *, loads: bool
    ) -> None:
        for each in self.updates.expect(request):
            conversation.take_early(each.notification.update, replay=each.replay)
        response = await ask(request)
        self.updates.opened(conversation.id)
        conversation.opened(response, loaded=loads)

    async def _close_abandoned(self, session_id: str) -> None:
        """Close a session that the agent has opened too late, unless it was loaded again meanwhile."""
        if session_id not in self.sessions and self.peer.supports("session.close"):
            try:
                await self.close(session_id)
            except AcpError as error:
                log.warning("session/close of an abandoned session failed: %s", error)

    async def close(self, session_id: str, assume: Collection[str] = ()) -> None:
        """Send `session/close`. It is not an error if the session is already closed."""
        try:
            await self.ask(close_session(self.peer, session_id, assume=assume))
        except RequestError as error:
            if not is_closed(error, peer=self.peer):
                raise

    def go_offline(self) -> None:
        """Let requests wait for the next connection."""
        if self.online.is_set():
            self.online = anyio.Event()
            turns = [each.turn for each in self._conversations.values()]
            self._failing = [each for each in turns if each is not None and each.on_connection]

    def give_up(self, reason: ConnectionClosed) -> None:
        """Fail all requests from now on."""
        self._given_up = reason
        self.online.set()

    async def clear(self) -> None:
        """Wait until the turns of a connection that was lost have failed, and end its terminals."""
        for turn in self._failing:
            await turn.ended.wait()
        for session_id in [*self.sessions]:
            await self.end_terminals(session_id)

    async def restore(self, reason: ConnectionClosed) -> Reconnected:
        """Load the sessions again after the connection was lost and made again."""
        self.updates = ReplayCollector()
        self._live.clear()
        for session_id, conversation in [*self._conversations.items()]:
            if conversation.closed:
                continue
            try:
                await self._restore(conversation)
            except AcpError as error:
                is_closed = isinstance(error, ConnectionClosed)
                # A message that is too long would come again with each attempt to load the session.
                if not is_closed or getattr(error, "code", "") == "not_acp":
                    self._lost[session_id] = error
                    conversation.closed = True
                    self.forget(session_id)
                if is_closed:
                    raise
        interrupted = [self.sessions[id_] for id_, each in self._conversations.items() if each.interrupted]
        for conversation in self._conversations.values():
            conversation.interrupted = False
        lost, self._lost = self._lost, {}
        return Reconnected(reason, [*self.sessions.values()], interrupted, lost)

    async def _restore(self, conversation: Conversation) -> None:
        assume = conversation.assume
        loads = "session.load" in assume or self.peer.supports("session.load")
        make = load_session if loads else resume_session
        request: Any = make(self.peer, conversation.record, assume=assume, meta=conversation.meta)
        if loads:
            conversation.forget_history()
        await self._load(conversation, request, self._ask, loads=loads)

    def prompted(self, session_id: str) -> None:
        """Take everything that arrives for a session from now on as news."""
        self.updates.prompted(session_id)
        self._live[session_id] = self._conversations[session_id].take

    def forget(self, session_id: str) -> None:
        """Drop a session, and all that arrives for it from now on."""
        for each in (self._live, self._conversations, self.sessions):
            each.pop(session_id, None)

    async def end_terminals(self, session_id: str | None = None) -> None:
        """End the processes of a session, or all."""
        if self._terminals is not None:
            await self._terminals.end(session_id)

    def _add(
        self, request: Any, refused: tuple[RefusedServer, ...], assume: Collection[str], session_id: str | None = None
    ) -> tuple[Conversation, Session]:
        conversation = Conversation(self, SessionRecord.of(request, session_id), assume=assume, meta=request.meta)
        self._conversations[conversation.id] = conversation
        session = self.sessions[conversation.id] = Session(conversation, refused=refused)
        if (on_update := self.on_update) is not None:
            conversation.listener = partial(_notify, on_update, session)
        return conversation, session

    def _update(self, params: Any, _: object) -> None:
        if (take := self._live.get(params.session_id)) is not None:
            take(params.update)
            return
        for each in self.updates.receive(params):
            if (conversation := self._conversations.get(each.notification.session_id)) is not None:
                conversation.take_early(each.notification.update, replay=each.replay)

    async def _permission(self, params: Any, _: object) -> Any:
        wire: Any = self.peer.protocol
        conversation = self._conversations.get(params.session_id)
        outcome: dict[str, Any] = {"outcome": "cancelled"}
        if conversation is None:
            log.warning("a permission request of an unknown session was cancelled")
        else:
            question = question_of(params, conversation.record, protocol=wire, folding=conversation.folding)
            with conversation.asking() as scope:
                option = None if scope.cancel_called else as_option(question, await self._answer(question))
                if option is not None:
                    outcome = {"outcome": "selected", "optionId": option}
        return decode(wire.RequestPermissionResponse, {"outcome": outcome})

    async def _answer(self, question: PermissionQuestion) -> PermissionAnswer:
        if self.permission is None:
            log.warning("rejected %r: to answer such questions, pass permission= to Client(…)", question.title)
            return False
        answer = self.permission(question)
        return await answer if isawaitable(answer) else answer

    async def _elicitation(self, elicit: Elicitation, params: Any, _: object) -> Any:
        wire: Any = self.peer.protocol
        conversation = self._conversations.get(known_member(params, "session_id"))
        response: v1.CreateElicitationResponse = v1.CreateElicitationResponseDecline()
        try:
            request: Any = in_package(v1, "CreateElicitationRequest", params)
        except DecodeError:
            request = None
        if request is not None and request.mode == "form":
            response = v1.CreateElicitationResponseCancel()
            with conversation.asking() if conversation else anyio.CancelScope() as scope:
                if not scope.cancel_called:
                    response = await _elicited(elicit, request)
        return in_package(wire, "CreateElicitationResponse", response)

    async def _read(self, files: Files, params: Any, _: object) -> Any:
        wire: Any = self.peer.protocol
        directories = self._directories(params.session_id)
        content = await files.read_text_file(params.path, directories=directories, line=params.line, limit=params.limit)
        return wire.ReadTextFileResponse(content=content)

    async def _write(self, files: Files, params: Any, _: object) -> None:
        await files.write_text_file(params.path, params.content, directories=self._directories(params.session_id))

    async def _terminal(self, terminals: OpenTerminals, params: Any, _: object) -> Any:
        answer = await terminals.answer(params, directories=self._directories(params.session_id))
        return None if answer is None else in_package(self.peer.protocol, type(answer).__name__, answer)

    def _directories(self, session_id: str) -> tuple[str, ...]:
        conversation = self._conversations.get(session_id)
        if conversation is None:
            raise InvalidParams("sessionId: the session is not open in this client")
        return (conversation.record.cwd, *conversation.record.additional_directories)


def _notify(on_update: OnUpdate, session: Session, update: SessionUpdate, replay: bool) -> None:
    """Call *on_update* in a context of its own, as other handlers, and log what it raises."""
    try:
        copy_context().run(on_update, session, update, replay)
    except Exception:  # noqa: BLE001 - a mistake of the program, which must lose no other update
        log.exception("on_update failed in session %s", session.id)


async def _elicited(elicit: Elicitation, request: v1.CreateElicitationRequest) -> v1.CreateElicitationResponse:
    answer = elicit(request)
    if isawaitable(answer):
        answer = await answer
    if answer is None:
        return v1.CreateElicitationResponseDecline()
    if isinstance(answer, Mapping):
        # A form may return None for an optional field that the user left empty. The protocol has no null there.
        given = {name: value for name, value in answer.items() if value is not None}
        return v1.CreateElicitationResponseAccept(content=given)
    return answer


def in_package(package: Any, name: str, model: Any) -> Any:
    """Return *model* as the type *name* of another package.

    Raises:
        DecodeError: the package cannot express it.
    """
    if type(model).__module__.startswith(f"{package.__name__}."):
        return model
    return decode(getattr(package, name), encode(model))
