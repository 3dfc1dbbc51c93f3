"""An ACP agent over its standard streams, v1 and v2: sessions with MCP servers, kept on disk. Run it by a client.

    python examples/client.py -- python examples/agent.py

Its sessions are in the folder that ACP_SESSIONS names, or else in ~/.example-agent.
"""

from __future__ import annotations

import logging
import os
import signal
import uuid
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from agent_session import Session, in_words_of
from agent_store import Store
from agent_turn import Turn
from anyio.abc import TaskGroup

import mcp_launch
from acp_bindings import decode, encode, v1, v2
from acp_bindings.connection import AgentHandlers, Connection, connect_stdio
from acp_bindings.setup import OPENING, AgentHandshake, History, InvalidParams, SessionNotFound

if TYPE_CHECKING:
    from acp_bindings.setup.unions import (
        CloseSessionRequest,
        DeleteSessionRequest,
        ListSessionsRequest,
        LoadSessionRequest,
        NewSessionRequest,
        PromptRequest,
    )

log = logging.getLogger("example-agent")

SESSIONS = Path(os.environ.get("ACP_SESSIONS") or Path.home() / ".example-agent")
HANDSHAKE = AgentHandshake(
    info=v1.Implementation(name="example-agent", title="The Example Agent", version="1.0"),
    protocols=[v1, v2],
    capabilities=mcp_launch.capabilities(transports=("stdio", "http", "sse"))
    | {
        "session.additional_directories",
        "session.close",
        "session.delete",
        "session.list",
        "session.load",
        "session.resume",
    },
)


class Agent:
    """What it does about each method. Params that break a rule, or that come too early, do not get here."""

    def __init__(self, store: Store, tasks: TaskGroup) -> None:
        self._store = store
        self._tasks = tasks
        self._sessions: dict[str, Session] = {}
        self.handlers = AgentHandlers(HANDSHAKE, flavour="windows" if os.name == "nt" else "posix")
        self.handlers.on("session/new")(self.new)
        self.handlers.on("session/load")(self.load)
        self.handlers.on("session/resume")(self.resume)
        self.handlers.on("session/prompt")(self.prompt)
        self.handlers.on("session/cancel")(self.cancel)
        self.handlers.on("session/list")(self.list)
        self.handlers.on("session/close")(self.close)
        self.handlers.on("session/delete")(self.delete)

    async def new(self, request: NewSessionRequest, connection: Connection) -> Any:
        """A session that nobody had before; it is on disk from its first prompt on."""
        session = await self._open(str(uuid.uuid4()), request, connection)
        # The client learns the id of the session from the response.
        await session.tell_failures(after_response=True)
        wire: Any = connection.protocol
        return wire.NewSessionResponse(session_id=session.id, **_failures(session))

    async def load(self, request: v1.LoadSessionRequest, connection: Connection) -> v1.LoadSessionResponse:
        """An earlier session, with all of its history before the answer."""
        return v1.LoadSessionResponse(**_failures(await self._reopen(request, connection)))

    async def resume(self, request: LoadSessionRequest, connection: Connection) -> Any:
        """An earlier session without its history, unless v2 asks for it."""
        session = await self._reopen(request, connection)
        wire: Any = connection.protocol
        return wire.ResumeSessionResponse(**_failures(session))

    async def prompt(self, request: PromptRequest, _: Connection) -> Any:
        """The answer when the turn is over; in v2 at once, and the turn goes on."""
        session = self._sessions.get(request.session_id)
        if session is None:
            raise SessionNotFound(request.session_id)
        turn = Turn(session, decode(v1.PromptRequest, encode(request)))
        session.info.title = session.info.title or turn.title
        session.begin(*turn.echo)
        if session.client.version == 1:
            try:
                return v1.PromptResponse(stop_reason=await turn.run())
            finally:
                session.end()
        self._tasks.start_soon(_run_aside, turn)
        return v2.PromptResponse(message_id=turn.user_message)

    def cancel(self, params: v1.CancelNotification | v2.CancelSessionNotification, _: Connection) -> None:
        """The turn ends with the reason `cancelled`."""
        if session := self._sessions.get(params.session_id):
            session.cancel()

    async def list(self, request: ListSessionsRequest, connection: Connection) -> Any:
        """A page of the sessions on disk."""
        sessions, cursor = self._store.page(cwd=request.cwd, cursor=request.cursor)
        wire: Any = connection.protocol
        listed = [decode(wire.SessionInfo, encode(each)) for each in sessions]
        return wire.ListSessionsResponse(sessions=listed, **({} if cursor is None else {"next_cursor": cursor}))

    async def close(self, request: CloseSessionRequest, _: Connection) -> None:
        """Its work is cancelled and its servers are gone; it can be loaded again."""
        await self._close(request.session_id)

    async def delete(self, request: DeleteSessionRequest, _: Connection) -> None:
        """It is no longer there; that it never was is as good."""
        await self._close(request.session_id)
        self._store.delete(request.session_id)

    async def _open(
        self,
        session_id: str,
        request: NewSessionRequest | LoadSessionRequest,
        connection: Connection,
        *,
        title: str | None = None,
    ) -> Session:
        info = v1.SessionInfo(
            session_id=session_id, cwd=request.cwd, additional_directories=list(request.additional_directories)
        )
        if title:
            info.title = title
        client = self.handlers.settled(connection).client
        session = Session(info, client=client, connection=connection, store=self._store)
        await self._tasks.start(session.run, request.mcp_servers)
        # Another load of it may have been quicker; the last one has it.
        earlier, self._sessions[session_id] = self._sessions.get(session_id), session
        if earlier:
            await earlier.close()
        return session

    async def _reopen(self, request: LoadSessionRequest, connection: Connection) -> Session:
        info, _ = self._store.read(request.session_id)
        if info.cwd != request.cwd:
            raise InvalidParams("cwd: the session is of another directory; session/list has it", data={"cwd": info.cwd})
        await self._close(info.session_id)
        session = await self._open(info.session_id, request, connection, title=info.title)
        # With what a prompt had still to say that was cancelled by this.
        _, history = self._store.read(session.id)
        told = [in_words_of(connection.protocol, each) for each in history] if History.is_requested(request) else []
        for notification in History(connection.protocol, told).replay(session.id):
            await connection.notify(notification)
        await session.tell_failures()
        return session

    async def _close(self, session_id: str) -> None:
        if session := self._sessions.pop(session_id, None):
            await session.close()


async def _run_aside(turn: Turn) -> None:
    """The turn of a prompt that is answered already: v2 tells by updates how it goes."""
    session, reason = turn.session, "error"
    try:
        for chunk in turn.echo:
            await session.send(chunk)
        await session.send(v2.SessionStateUpdateRunning())
        reason = await turn.run()
    except Exception:
        log.exception("a turn failed")
    finally:
        await session.send(v2.SessionStateUpdateIdle(stop_reason=reason))
        session.end()


def _failures(session: Session) -> dict[str, Any]:
    """The servers that do not work, for those who read `_meta`."""
    failed = {each.server: each.message for each in session.fleet.failures}
    return {"meta": {"acp-bindings/failed-mcp-servers": failed}} if failed else {}


async def main() -> None:
    """Serve whoever started this process, until it leaves or a signal comes; then nothing is left running."""
    # It has SSE on purpose; the launcher says that SSE is deprecated.
    warnings.filterwarnings("ignore", message=".*SSE transport is deprecated", category=DeprecationWarning)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_stop_on_signal, tasks)
        agent = Agent(Store(SESSIONS), tasks)
        async with connect_stdio(protocol=OPENING, handlers=agent.handlers, grace=2) as connection:
            await connection.wait_ended()
        tasks.cancel_scope.cancel()


async def _stop_on_signal(tasks: TaskGroup) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            tasks.cancel_scope.cancel()
            return


if __name__ == "__main__":
    anyio.run(main)
