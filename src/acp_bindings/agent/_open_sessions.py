"""The open sessions of an agent, and the handlers of the methods that concern them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any, Generic

import anyio
from anyio.abc import TaskGroup

from acp_bindings import v1
from acp_bindings.agent._offers import MODE, Offers, outcome_of
from acp_bindings.agent._session import M, McpProvider, NewId, Session, StopReason, log
from acp_bindings.agent._stores import Locks, SessionStore, StoredSession
from acp_bindings.agent._telemetry import span, traced
from acp_bindings.agent._turn import Turn
from acp_bindings.connection import AgentHandlers, Connection
from acp_bindings.connection.errors import alone
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.jsonrpc import INTERNAL_ERROR, REQUEST_CANCELLED
from acp_bindings.setup import History, InvalidParams, RequestError, SessionNotFound

_TITLE = 80
"""Characters of a title that is made of the first prompt."""
_TICK = 0.25
_BLOCKED = 0.5
"""Seconds from which a blocked event loop is reported."""


@dataclass(kw_only=True, eq=False)
class OpenSessions(Generic[M]):
    """The open sessions of an agent that is being served."""

    handlers: AgentHandlers
    tasks: TaskGroup
    handler: Callable[[Turn[M]], Awaitable[object]]
    offers: Offers
    store: SessionStore
    mcp: McpProvider[M] | None
    queued: bool
    on_open: Callable[[Session[M]], Awaitable[object]] | None
    identity: str | None
    new_id: NewId

    def __post_init__(self) -> None:
        self._sessions: dict[str, Session[M]] = {}
        self._running = 0
        """The number of turns that are running."""
        self._is_watching = False
        self._locks = Locks()
        """So that a session is opened, closed or deleted by one request at a time."""
        self.handlers.on("session/prompt")(self.prompt)
        self.handlers.on("session/cancel")(self.cancel)
        requests: dict[str, Callable[[Any, Connection], Awaitable[Any]]] = {
            "session/new": self.new,
            "session/load": self.load,
            "session/resume": self.load,
            "session/list": self.list,
            "session/close": self.close_session,
            "session/delete": self.delete,
        }
        if self.offers.modes:
            requests["session/set_mode"] = self.set_mode
        if self.offers.modes or self.offers.options:
            requests["session/set_config_option"] = self.set_option
        for method, handle in requests.items():
            self.handlers.on(method)(traced(method, handle))

    async def close(self, connection: Connection | None = None) -> None:
        """Close all sessions, or those of one connection."""
        async with anyio.create_task_group() as tasks:
            for session in list(self._sessions.values()):
                if connection is None or session.connection is connection:
                    tasks.start_soon(self._close, session)

    async def new(self, request: Any, connection: Connection) -> Any:
        """Create a session."""
        stored = StoredSession(
            session_id=self.new_id("session"),
            cwd=request.cwd,
            additional_directories=tuple(request.additional_directories),
        )
        session = await self._open(stored, request, connection)
        await self._announce_commands(session)
        package: Any = connection.protocol
        return decode(package.NewSessionResponse, {"sessionId": session.id, **self.offers.opening(session)})

    async def load(self, request: Any, connection: Connection) -> Any:
        """Open a stored session, or take over one that is open, and send its history if that is requested."""
        package: Any = connection.protocol
        with_history = History.is_requested(request)
        async with self._locks.of(request.session_id):
            session = await self._take_over(request, connection) or await self._reopen(request, connection)
            if session.title is not None:
                await session.show(v1.SessionInfoUpdate(title=session.title))
            # v2 requires the state also without a history.
            if with_history or session.client.version > 1:
                await session.replay(with_history=with_history)
            await self._announce_commands(session)
        is_load = type(request).__name__ == "LoadSessionRequest"
        response = package.LoadSessionResponse if is_load else package.ResumeSessionResponse
        return decode(response, self.offers.opening(session))

    async def prompt(self, request: Any, connection: Connection) -> Any:
        """Run a turn. In v1 the response ends it. In v2 the response comes first, and a state update ends it."""
        session = self._find(request.session_id, connection)
        as_v1 = request if connection.protocol is v1 else decode(v1.PromptRequest, encode(request))
        turn = Turn(session, as_v1, self.mcp)
        await session.begin(turn, queued=self.queued)
        package: Any = connection.protocol
        if turn.is_cancelled:
            session.drop(turn)
            if session.client.version > 1:
                raise RequestError(REQUEST_CANCELLED, "the prompt was cancelled before it began")
            return package.PromptResponse(stop_reason="cancelled")
        try:
            await self._echo(session, turn)
        except BaseException:
            session.drop(turn)
            raise
        self.tasks.start_soon(self._run, turn, self._handler_of(turn), request)
        if session.client.version > 1:
            return package.PromptResponse(message_id=turn.message_id)
        try:
            await turn.done.wait()
        except anyio.get_cancelled_exc_class():
            turn.cancel()
            with anyio.CancelScope(shield=True):
                await turn.done.wait()
            raise
        if isinstance(turn.outcome, RequestError):
            raise turn.outcome
        return package.PromptResponse(stop_reason=turn.outcome)

    def cancel(self, params: Any, connection: Connection) -> None:
        """Cancel the turn of a session, and those that are queued."""
        session = self._sessions.get(params.session_id)
        if session and session.connection is connection:
            session.cancel()

    async def list(self, request: Any, connection: Connection) -> Any:
        """Return a page of the stored sessions."""
        page = await self.store.list(cwd=request.cwd, cursor=request.cursor)
        sessions = [
            {
                "sessionId": each.session_id,
                "cwd": each.cwd,
                **({"additionalDirectories": list(each.additional_directories)} if each.additional_directories else {}),
                **({"title": each.title} if each.title else {}),
                **({"updatedAt": each.updated_at} if each.updated_at else {}),
            }
            for each in page.sessions
        ]
        more = {} if page.next_cursor is None else {"nextCursor": page.next_cursor}
        package: Any = connection.protocol
        return decode(package.ListSessionsResponse, {"sessions": sessions, **more})

    async def close_session(self, request: Any, connection: Connection) -> None:
        """Cancel the turn of a session and close its servers. It is not an error if it is not open."""
        async with self._locks.of(request.session_id):
            session = self._sessions.get(request.session_id)
            if session and session.connection is connection:
                await self._close(session)

    async def delete(self, request: Any, _: Connection) -> None:
        """Close a session and remove it from the store. It is not an error if it does not exist."""
        async with self._locks.of(request.session_id):
            if session := self._sessions.get(request.session_id):
                await self._close(session)
            await self.store.delete(request.session_id)

    async def set_mode(self, request: Any, connection: Connection) -> None:
        """Change the mode of a session."""
        await self._find(request.session_id, connection).set_mode(request.mode_id)

    async def set_option(self, request: Any, connection: Connection) -> Any:
        """Change a config option of a session, or its mode."""
        session = self._find(request.session_id, connection)
        if request.config_id == MODE and self.offers.modes:
            await session.set_mode(request.value, by_client=True)
        else:
            await session.set_option(request.config_id, request.value, by_client=True)
        package: Any = connection.protocol
        options = self.offers.config_options(session)
        return decode(package.SetSessionConfigOptionResponse, {"configOptions": options})

    async def _watch(self, before: float) -> None:
        """Report handlers that block the event loop, and so all other sessions, while turns are running.

        A handler may already have done so when this task begins, so *before* is the time when it was started.
        """
        while self._is_watching:
            try:
                await anyio.sleep(_TICK)
            finally:
                # Also if this is cancelled, because the client has left meanwhile.
                now = monotonic()
                if (blocked := now - before - _TICK) > _BLOCKED:
                    log.warning(
                        "the event loop was blocked for %.1f s, and with it all sessions; unless the machine is "
                        "overloaded, call blocking functions with anyio.to_thread.run_sync(…, abandon_on_cancel=True)",
                        blocked,
                    )
            before = now
            self._is_watching = self._running > 0

    def _find(self, session_id: str, connection: Connection) -> Session[M]:
        session = self._sessions.get(session_id)
        # Another client may have loaded it since; this one has to load it again.
        if session is None or session.is_closing or session.connection is not connection:
            raise SessionNotFound(session_id)
        return session

    async def _open(
        self, stored: StoredSession, request: Any, connection: Connection, *, in_store: bool = False
    ) -> Session[M]:
        """Start the servers of a session."""
        servers = request.mcp_servers
        session = Session(stored, servers=servers, connection=connection, host=self, in_store=in_store)
        session.meta = request.meta
        await self.tasks.start(session.run, self.mcp)
        self._sessions[session.id] = session
        try:
            if servers and self.mcp is None:
                await session.report("This agent does not support MCP servers. Those of the session are not used.")
            if self.on_open:
                await outcome_of(self.on_open(session), "the function of @agent.on_open")
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._close(session)
            raise
        return session

    async def _reopen(self, request: Any, connection: Connection) -> Session[M]:
        stored, _ = await self.store.load(request.session_id)
        try:
            _check_cwd(stored.cwd, request.cwd)
            return await self._open(stored, request, connection, in_store=True)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.store.release(request.session_id)
            raise

    async def _take_over(self, request: Any, connection: Connection) -> Session[M] | None:
        """Return the session if it is open already, with the same servers. Otherwise close it and return None."""
        session = self._sessions.get(request.session_id)
        if session is None:
            return None
        _check_cwd(session.cwd, request.cwd)
        if session.has_same_servers(request):
            await session.end_turn()
            await session.claim()
            # Its client may have sent another prompt meanwhile.
            await session.end_turn()
        # Or it may have left.
        if session.is_closing or session.is_lost or not session.has_same_servers(request):
            await self._close(session)
            return None
        if session.connection is not connection:
            session.attach(connection, self.handlers.settled(connection).client)
            await session.report_again()
        session.meta = request.meta
        return session

    async def _close(self, session: Session[M]) -> None:
        await session.close()
        if self._sessions.get(session.id) is session:
            del self._sessions[session.id]

    async def _announce_commands(self, session: Session[M]) -> None:
        """Send the commands to a client of v1, after the response. In v2 the response has them."""
        if (self.offers.commands or session.commands) and session.client.version == 1:
            await session.show(v1.AvailableCommandsUpdate(available_commands=[*session.commands]), after_response=True)

    def _handler_of(self, turn: Turn[M]) -> Callable[[Turn[M]], Awaitable[object]]:
        """Return the handler of the first slash command with which a text of the prompt begins, or that of prompts."""
        texts = [block.text for block in turn.prompt if isinstance(block, v1.TextContent) and block.text.strip()]
        # Some clients send what is attached first. Others split a text at a mention: a space then continues it.
        for text in [*map(str.lstrip, texts[:1]), *texts[1:]]:
            if text.startswith("/"):
                name, *rest = text.split(None, 1)
                if command := self.offers.commands.get(name[1:]):
                    turn.command, turn.arguments = command.name, "".join(rest).rstrip()
                    return command.handler
        return self.handler

    async def _echo(self, session: Session[M], turn: Turn[M]) -> None:
        """Store the prompt. In v2 the client gets it as the message that it has become, and the new state."""
        if session.title is None:
            session.title = " ".join(" ".join(map(_shown_in_title, turn.prompt)).split())[:_TITLE] or None
        chunks = [v1.UserMessageChunk(content=each, message_id=turn.message_id) for each in turn.prompt]
        kept = [encode(chunk) for chunk in chunks]
        for each in kept:
            session.keep(each)
        # The client may rely on a prompt that was accepted, and send one again that was not.
        try:
            await session.flush()
        except BaseException:
            session.forget(kept)
            raise
        if session.client.version > 1:
            for chunk in chunks:
                await session.show(chunk)
            session.show_state({"state": "running"})

    async def _run(self, turn: Turn[M], handler: Callable[[Turn[M]], Awaitable[object]], request: Any) -> None:
        """Run a turn, and report its end."""
        session = turn.session
        reason: StopReason | RequestError = "cancelled"
        self._running += 1
        if not self._is_watching:
            self._is_watching = True
            self.tasks.start_soon(self._watch, monotonic())
        try:
            attributes = {"rpc.system": "jsonrpc", "rpc.method": "session/prompt", "acp.session.id": session.id}
            with span("session/prompt", kind="server", parent=request, attributes=attributes) as set_attribute:
                try:
                    reason = await turn.run(handler)
                    set_attribute("acp.stop_reason", reason)
                finally:
                    await session.flush(changed=True)
        except Exception as error:  # noqa: BLE001 - it is a program's mistake, of which the client learns nothing
            if isinstance(answer := alone(error), RequestError):
                reason = answer
            else:
                log.error("the prompt handler failed in session %s", session.id, exc_info=error)
                reason = "cancelled" if turn.is_cancelled else RequestError(INTERNAL_ERROR, "Internal error")
        finally:
            self._running -= 1
            session.finish(turn, reason)


def _shown_in_title(block: v1.ContentBlock) -> str:
    if isinstance(block, v1.ResourceLink):
        return block.title or block.name
    return block.text if isinstance(block, v1.TextContent) else ""


def _check_cwd(stored: str, requested: str) -> None:
    if stored != requested:
        raise InvalidParams("cwd: the session belongs to another directory; session/list has it", data={"cwd": stored})
