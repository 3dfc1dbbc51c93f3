"""An agent that a client is connected to: its sessions, and the requests that it sends."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast, overload

from anyio.abc import TaskGroup

from acp_bindings import v1
from acp_bindings.client._client_session import Session, SessionOpening
from acp_bindings.client._permission import PermissionQuestion, as_option, question_of
from acp_bindings.connection.errors import RequestFailed, log
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import DecodeError
from acp_bindings.setup._auth import login, logout
from acp_bindings.setup._gates import OnRefusal, gate_mcp_servers
from acp_bindings.setup._records import SessionRecord
from acp_bindings.setup._requests import (
    SessionListing,
    close_session,
    delete_session,
    fork_session,
    list_sessions,
    load_session,
    new_session,
    resume_session,
)
from acp_bindings.setup._responses import error_from, is_closed
from acp_bindings.setup._updates import ReplayCollector
from acp_bindings.setup.errors import InvalidParams, RefusedServer, Remark, RequestError

if TYPE_CHECKING:
    import os

    from acp_bindings.client._client import Client
    from acp_bindings.client._terminals import OpenTerminals
    from acp_bindings.connection._connection import Connection
    from acp_bindings.errors import Finding
    from acp_bindings.methods import Asks
    from acp_bindings.setup._paths import Flavour
    from acp_bindings.setup._peer import AgentPeer
    from acp_bindings.setup.unions import AuthMethod, McpServerLike

Result = TypeVar("Result")
AnySession: TypeAlias = "Session | SessionRecord | v1.SessionInfo | str"
"""A session: the open one, its record, what `ConnectedAgent.list` returned, or its id."""


class ConnectedAgent:
    """An agent, made by `Client.connect`."""

    def __init__(
        self, client: Client, connection: Connection, peer: AgentPeer, tasks: TaskGroup, *, flavour: Flavour
    ) -> None:
        self._client = client
        self._connection = connection
        self._peer = peer
        self._tasks = tasks
        self._flavour: Flavour = flavour
        self._wire: Any = peer.protocol
        self._sessions: dict[str, Session] = {}
        self._live: dict[str, Session] = {}
        """The sessions whose updates cannot be history."""
        self._updates: ReplayCollector[Any] = ReplayCollector()
        self._terminals: OpenTerminals | None = client.terminals.open(tasks) if client.terminals else None
        self.on_update = client.on_update
        """Called with each update, see `Client`."""
        self.patience = client.patience
        """Seconds to wait for the end of a cancelled turn."""

    @property
    def peer(self) -> AgentPeer:
        """The name, version and capabilities of the agent: `agent.peer.supports("session.load")`."""
        return self._peer

    @property
    def connection(self) -> Connection:
        """The connection, for requests that have no method here, such as extensions."""
        return self._connection

    @property
    def sessions(self) -> Mapping[str, Session]:
        """The open sessions by id."""
        return dict(self._sessions)

    @property
    def remarks(self) -> tuple[Finding | Remark, ...]:
        """Mistakes of the agent that were tolerated, such as a history that was sent too late."""
        return (*self._peer.findings, *self._updates.remarks)

    def session(
        self,
        *,
        cwd: str | os.PathLike[str],
        mcp_servers: Iterable[McpServerLike] = (),
        additional_directories: Iterable[str | os.PathLike[str]] = (),
        on_refusal: OnRefusal = "raise",
        assume: Collection[str] = (),
        meta: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> SessionOpening:
        """Open a new session: `async with agent.session(cwd=…) as session`, or `await` it and close it yourself.

        Args:
            cwd: the directory of the session, an absolute path on the system of the agent.
            mcp_servers: the MCP servers that the agent should use, as models of any version or as JSON.
            additional_directories: more directories to work in, absolute as well.
            on_refusal: what to do with MCP servers that the agent does not support: `"raise"`, or `"drop"` to leave
                them out. They are then in `Session.refused`, and a warning is logged.
            assume: capabilities to take as advertised.
            meta: the `_meta` of the request.
            timeout: seconds for the response; None to wait indefinitely.

        Raises:
            McpServersRefused: the agent does not support some of the servers.
            CapabilityNotAdvertised: the agent does not support additional directories.
            NotAbsolute: a path is not absolute.
            AuthRequired: the agent requires login; call `login`.
            RequestError: the agent responded with another error.
            SessionIdReused: the agent gave the session the id of another session.
        """

        async def open_() -> Session:
            servers, refused = self._gated(mcp_servers, on_refusal, assume, "session/new")
            request = new_session(
                self._peer,
                cwd=cwd,
                mcp_servers=servers,
                additional_directories=additional_directories,
                flavour=self._flavour,
                assume=assume,
                meta=meta,
            )
            return await self._create(request, refused, timeout)

        return SessionOpening(open_)

    def load(
        self,
        session: AnySession,
        *,
        cwd: str | os.PathLike[str] | None = None,
        mcp_servers: Iterable[McpServerLike] | None = None,
        on_refusal: OnRefusal = "raise",
        assume: Collection[str] = (),
        meta: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> SessionOpening:
        """Open an earlier session with its history, which is in `Session.state` then.

        Args:
            session: a `SessionRecord`, what `list` returned, or the id together with *cwd*.
            cwd: the directory of the session, unless *session* contains it.
            mcp_servers: the MCP servers; by default those of the record.
            on_refusal: as for `session`.
            assume: capabilities to take as advertised.
            meta: the `_meta` of the request.
            timeout: seconds for the response; None to wait indefinitely.

        Raises:
            CapabilityNotAdvertised: the agent does not support it.
            SessionNotFound: the agent does not have the session.
            ServersMissing: the record was stored and has only the names of its servers.
            ValueError: the session is already open, or *cwd* is missing.
            RequestError: the agent responded with another error.
        """
        return SessionOpening(
            partial(self._reopen, load_session, session, cwd, mcp_servers, on_refusal, assume, meta, timeout)
        )

    def resume(
        self,
        session: AnySession,
        *,
        cwd: str | os.PathLike[str] | None = None,
        mcp_servers: Iterable[McpServerLike] | None = None,
        on_refusal: OnRefusal = "raise",
        assume: Collection[str] = (),
        meta: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> SessionOpening:
        """Open an earlier session without its history. Arguments and errors are those of `load`."""
        return SessionOpening(
            partial(self._reopen, resume_session, session, cwd, mcp_servers, on_refusal, assume, meta, timeout)
        )

    def fork(
        self,
        session: AnySession,
        *,
        cwd: str | os.PathLike[str] | None = None,
        mcp_servers: Iterable[McpServerLike] | None = None,
        on_refusal: OnRefusal = "raise",
        assume: Collection[str] = (),
        meta: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> SessionOpening:
        """Open a new session that continues from another one. Arguments and errors are those of `load`.

        Only the unstable packages have this: pass `protocols=[v1_unstable, v2_unstable]` to `Client`.
        """

        async def open_() -> Session:
            record, refused = self._again(session, cwd, mcp_servers, on_refusal, assume, "session/fork")
            request = fork_session(self._peer, record, flavour=self._flavour, assume=assume, meta=meta)
            return await self._create(request, refused, timeout)

        return SessionOpening(open_)

    async def list(self, *, cwd: str | os.PathLike[str] | None = None) -> tuple[v1.SessionInfo, ...]:
        """Return the sessions that the agent has stored, from all pages.

        Args:
            cwd: list only the sessions of this directory.

        Raises:
            CapabilityNotAdvertised: the agent does not support it.
            RequestError: the agent responded with an error.
            EndlessListing: the pages of the agent repeat.
        """
        listing = SessionListing(self._peer, list_sessions(self._peer, cwd=cwd, flavour=self._flavour))
        found: tuple[v1.SessionInfo, ...] = ()
        while listing.request is not None:
            page = listing.take(cast("Any", await self.ask(listing.request)))
            found += tuple(in_package(v1, "SessionInfo", each) for each in page)
        return found

    async def close(self, session: AnySession) -> None:
        """Close a session, open here or not.

        Raises:
            CapabilityNotAdvertised: the session is not open here, and the agent does not support closing.
            RequestError: the agent responded with an error.
        """
        id_ = _id_of(session)
        if id_ in self._sessions:
            await self._sessions[id_].close()
            return
        try:
            await self.ask(close_session(self._peer, id_))
        except RequestError as error:
            if not is_closed(error, peer=self._peer):
                raise

    async def delete(self, session: AnySession) -> None:
        """Close a session if it is open here, and delete it from the list of the agent.

        Raises:
            CapabilityNotAdvertised: the agent does not support it.
            RequestError: the agent responded with an error.
        """
        id_ = _id_of(session)
        request = delete_session(self._peer, id_)
        if id_ in self._sessions:
            await self._sessions[id_].close()
        await self.ask(request)

    async def login(self, method: AuthMethod | str | None = None) -> None:
        """Log the user in with a method of `peer.auth_methods`, or its id; by default with the only one.

        Raises:
            AuthMethodRefused: the agent has not advertised the method, or it is for a terminal.
            ValueError: *method* is missing, and the agent has not advertised exactly one.
            RequestError: the agent responded with an error.
        """
        if method is None:
            if len(self._peer.auth_methods) != 1:
                names = ", ".join(each.name for each in self._peer.auth_methods) or "none"
                raise ValueError(f"choose an authentication method of the agent: {names}")
            method = self._peer.auth_methods[0]
        await self.ask(login(self._peer, method))

    async def logout(self) -> None:
        """Log the user out.

        Raises:
            CapabilityNotAdvertised: the agent does not support it.
            RequestError: the agent responded with an error.
        """
        await self.ask(logout(self._peer))

    @overload
    async def ask(self, request: Asks[Result], *, timeout: float | None = None) -> Result: ...
    @overload
    async def ask(self, request: Any, *, timeout: float | None = None) -> Any: ...
    async def ask(self, request: Any, *, timeout: float | None = None) -> Any:
        """Send a request of the negotiated version and return the response.

        Raises:
            RequestError: the agent responded with an error.
            ConnectionClosed: the agent is gone.
            TimedOut: there was no response in time.
        """
        try:
            return await self._connection.request(request, timeout=timeout)
        except RequestFailed as error:
            session_id = getattr(request, "session_id", None)
            raise error_from(error, peer=self._peer, session_id=session_id) from error

    def start(self, work: Callable[..., Coroutine[Any, Any, object]], *arguments: object) -> None:
        """Run *work* in a task that ends with the connection."""
        self._tasks.start_soon(work, *arguments)

    async def end(self) -> None:
        """End what belongs to the connection: the processes of terminals."""
        if self._terminals is not None:
            await self._terminals.end()

    async def _create(self, request: Any, refused: tuple[RefusedServer, ...], timeout: float | None) -> Session:
        response = await self.ask(request, timeout=timeout)
        session = Session(self, SessionRecord.of(request, response.session_id), refused=refused)
        early = self._updates.created(session.id)
        self._sessions[session.id] = self._live[session.id] = session
        session._opened(response, loaded=False)  # noqa: SLF001 - the two are one
        for each in early:
            session._take(each.notification.update)  # noqa: SLF001
        return session

    async def _reopen(
        self,
        make: Callable[..., Any],
        session: AnySession,
        cwd: str | os.PathLike[str] | None,
        mcp_servers: Iterable[McpServerLike] | None,
        on_refusal: OnRefusal,
        assume: Collection[str],
        meta: Mapping[str, Any] | None,
        timeout: float | None,
    ) -> Session:
        loads = make is load_session
        method = "session/load" if loads and self._peer.version == 1 else "session/resume"
        record, refused = self._again(session, cwd, mcp_servers, on_refusal, assume, method)
        if record.session_id in self._sessions:
            raise ValueError(
                f'session "{record.session_id}" is already open: use agent.sessions["{record.session_id}"]'
            )
        request = make(self._peer, record, flavour=self._flavour, assume=assume, meta=meta)
        opened = self._sessions[record.session_id] = Session(
            self, SessionRecord.of(request), refused=refused, replaying=loads
        )
        for each in self._updates.expect(request):
            opened._take_early(each.notification.update, replay=each.replay)  # noqa: SLF001
        try:
            response = await self.ask(request, timeout=timeout)
        except BaseException:
            self._updates.failed(record.session_id)
            del self._sessions[record.session_id]
            raise
        self._updates.opened(record.session_id)
        opened._opened(response, loaded=loads)  # noqa: SLF001
        return opened

    def _again(
        self,
        session: AnySession,
        cwd: str | os.PathLike[str] | None,
        mcp_servers: Iterable[McpServerLike] | None,
        on_refusal: OnRefusal,
        assume: Collection[str],
        method: str,
    ) -> tuple[SessionRecord, tuple[RefusedServer, ...]]:
        record = _record_of(session, cwd)
        wanted = record.servers() if mcp_servers is None else mcp_servers
        servers, refused = self._gated(wanted, on_refusal, assume, method)
        return SessionRecord(
            session_id=record.session_id,
            cwd=record.cwd,
            additional_directories=record.additional_directories,
            mcp_servers=tuple(servers),
            prompted=record.prompted,
        ), refused

    def _gated(
        self, servers: Iterable[McpServerLike], on_refusal: OnRefusal, assume: Collection[str], method: str
    ) -> tuple[list[Any], tuple[RefusedServer, ...]]:
        gated = gate_mcp_servers(self._peer, servers, on_refusal=on_refusal, assume=assume, method=method)
        for each in gated.refused:
            log.warning("the MCP server %s; it is left out", each)
        return [*gated.accepted], gated.refused

    def _prompted(self, session: Session) -> None:
        self._updates.prompted(session.id)
        self._live[session.id] = session

    def _forget(self, session: Session) -> None:
        self._updates.closed(session.id)
        self._live.pop(session.id, None)
        self._sessions.pop(session.id, None)

    async def _end_terminals(self, session_id: str) -> None:
        if self._terminals is not None:
            await self._terminals.end(session_id)

    # The handlers of the agent's messages.

    def take_update(self, params: Any, _: object) -> None:
        """Handle `session/update`."""
        session = self._live.get(params.session_id)
        if session is not None:
            session._take(params.update)  # noqa: SLF001 - the two are one
            return
        for each in self._updates.receive(params):
            if (session := self._sessions.get(each.notification.session_id)) is not None:
                session._take_early(each.notification.update, replay=each.replay)  # noqa: SLF001

    async def answer_permission(self, params: Any, _: object) -> Any:
        """Handle `session/request_permission`."""
        session = self._sessions.get(params.session_id)
        outcome: dict[str, Any] = {"outcome": "cancelled"}
        if session is None:
            log.warning("a permission request of an unknown session was cancelled")
        else:
            question = question_of(params, session, protocol=self._wire, folding=session._folding)  # noqa: SLF001
            with session._asking():  # noqa: SLF001
                option = await self._choice(question)
                if option is not None:
                    outcome = {"outcome": "selected", "optionId": option}
        return decode(self._wire.RequestPermissionResponse, {"outcome": outcome})

    async def _choice(self, question: PermissionQuestion) -> str | None:
        answer: Any = False
        if self._client.permission is not None:
            answer = self._client.permission(question)
            if isawaitable(answer):
                answer = await answer
        return as_option(question, answer)

    async def answer_elicitation(self, params: Any, _: object) -> Any:
        """Handle `elicitation/create`."""
        assert self._client.elicitation is not None
        session = self._sessions.get(getattr(params, "session_id", ""))
        response: Any = v1.CreateElicitationResponseDecline()
        try:
            request: Any = in_package(v1, "CreateElicitationRequest", params)
        except DecodeError:
            request = None
        if request is not None and request.mode == "form":
            if session is None:
                response = await self._elicited(request)
            else:
                response = v1.CreateElicitationResponseCancel()
                with session._asking():  # noqa: SLF001
                    response = await self._elicited(request)
        return in_package(self._wire, "CreateElicitationResponse", response)

    async def _elicited(self, request: Any) -> Any:
        assert self._client.elicitation is not None
        answer: Any = self._client.elicitation(request)
        if isawaitable(answer):
            answer = await answer
        if answer is None:
            return v1.CreateElicitationResponseDecline()
        if isinstance(answer, Mapping):
            return v1.CreateElicitationResponseAccept(content=dict(cast("Mapping[str, Any]", answer)))
        return answer

    async def read_text_file(self, params: Any, _: object) -> Any:
        """Handle `fs/read_text_file`."""
        assert self._client.files is not None
        content = await self._client.files.read_text_file(
            params.path, directories=self._directories(params.session_id), line=params.line, limit=params.limit
        )
        return self._wire.ReadTextFileResponse(content=content)

    async def write_text_file(self, params: Any, _: object) -> Any:
        """Handle `fs/write_text_file`."""
        assert self._client.files is not None
        directories = self._directories(params.session_id)
        await self._client.files.write_text_file(params.path, params.content, directories=directories)
        return self._wire.WriteTextFileResponse()

    async def terminal(self, params: Any, _: object) -> Any:
        """Handle the requests `terminal/…`."""
        assert self._terminals is not None
        answer = await self._terminals.answer(params, directories=self._directories(params.session_id))
        return None if answer is None else in_package(self._wire, type(answer).__name__, answer)

    def _directories(self, session_id: str) -> tuple[str, ...]:
        session = self._sessions.get(session_id)
        if session is None:
            raise InvalidParams("sessionId: the session is not open in this client")
        return (session.record.cwd, *session.record.additional_directories)


def in_package(package: Any, name: str, model: Any) -> Any:
    """Return *model* as the type *name* of another package.

    Raises:
        DecodeError: the package cannot express it.
    """
    if type(model).__module__.startswith(f"{package.__name__}."):
        return model
    return decode(getattr(package, name), encode(model))


def _id_of(session: AnySession) -> str:
    if isinstance(session, str):
        return session
    return session.id if isinstance(session, Session) else session.session_id


def _record_of(session: AnySession, cwd: str | os.PathLike[str] | None) -> SessionRecord:
    if isinstance(session, Session):
        session = session.record
    if isinstance(session, SessionRecord):
        return session
    if isinstance(session, str):
        if cwd is None:
            raise ValueError("cwd is missing: an agent finds a session by its id and its directory; pass both")
        import os  # noqa: PLC0415 - the annotations need it only for type checkers

        return SessionRecord(session_id=session, cwd=os.fspath(cwd), prompted=True)
    return SessionRecord.of_listed(session, mcp_servers=())
