"""An agent that a client is connected to."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from acp_bindings import v1
from acp_bindings.client._agent_link import AgentLink, in_package
from acp_bindings.client._client_session import Session, SessionOpening
from acp_bindings.connection.errors import log
from acp_bindings.setup._auth import login, logout
from acp_bindings.setup._gates import OnRefusal, gate_mcp_servers
from acp_bindings.setup._records import SessionRecord
from acp_bindings.setup._requests import (
    SessionListing,
    delete_session,
    fork_session,
    list_sessions,
    load_session,
    new_session,
    resume_session,
)
from acp_bindings.setup.errors import RefusedServer, Remark

if TYPE_CHECKING:
    from acp_bindings.connection._connection import Connection
    from acp_bindings.errors import Finding
    from acp_bindings.methods import Asks
    from acp_bindings.setup._paths import Flavour
    from acp_bindings.setup._peer import AgentPeer
    from acp_bindings.setup.unions import AuthMethod, McpServerLike

Result = TypeVar("Result")
AnySession: TypeAlias = Session | SessionRecord | v1.SessionInfo | str
"""A session: the open one, its record, what `ConnectedAgent.list` returned, or its id."""


class ConnectedAgent:
    """An agent, made by `Client.connect`."""

    def __init__(self, link: AgentLink, *, flavour: Flavour) -> None:
        self._link = link
        self._flavour: Flavour = flavour

    @property
    def peer(self) -> AgentPeer:
        """The name, version and capabilities of the agent: `agent.peer.supports("session.load")`."""
        return self._link.peer

    @property
    def connection(self) -> Connection:
        """The connection, for requests that have no method here, such as extensions."""
        return self._link.connection

    @property
    def sessions(self) -> Mapping[str, Session]:
        """The open sessions by id, as they are now."""
        return dict(self._link.sessions)

    @property
    def remarks(self) -> tuple[Finding | Remark, ...]:
        """Mistakes of the agent that were tolerated, such as a history that was sent too late."""
        return (*self._link.peer.findings, *self._link.updates.remarks)

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
                them out. They are then in `Session.refused`.
            assume: capabilities to take as advertised, also for prompts, such as `prompt.image`.
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
                self._link.peer,
                cwd=cwd,
                mcp_servers=servers,
                additional_directories=additional_directories,
                flavour=self._flavour,
                assume=assume,
                meta=meta,
            )
            return await self._link.create(request, refused, assume, timeout)

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
        options = _Reopening(cwd, mcp_servers, on_refusal, assume, meta, timeout)
        return SessionOpening(partial(self._reopen, load_session, session, options))

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
        options = _Reopening(cwd, mcp_servers, on_refusal, assume, meta, timeout)
        return SessionOpening(partial(self._reopen, resume_session, session, options))

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
            options = _Reopening(cwd, mcp_servers, on_refusal, assume, meta, timeout)
            record, refused = self._again(session, options, "session/fork")
            request = fork_session(self._link.peer, record, flavour=self._flavour, assume=assume, meta=meta)
            return await self._link.create(request, refused, assume, timeout)

        return SessionOpening(open_)

    async def list(
        self, *, cwd: str | os.PathLike[str] | None = None, assume: Collection[str] = ()
    ) -> tuple[v1.SessionInfo, ...]:
        """Return the sessions that the agent has stored, from all pages.

        Args:
            cwd: list only the sessions of this directory.
            assume: capabilities to take as advertised.

        Raises:
            CapabilityNotAdvertised: the agent does not support it.
            RequestError: the agent responded with an error.
            EndlessListing: the pages of the agent repeat.
        """
        first = list_sessions(self._link.peer, cwd=cwd, flavour=self._flavour, assume=assume)
        listing = SessionListing(self._link.peer, first, assume=assume)
        found: tuple[v1.SessionInfo, ...] = ()
        while listing.request is not None:
            page = listing.take(await self._link.ask(listing.request))
            found += tuple(in_package(v1, "SessionInfo", each) for each in page)
        return found

    async def close(self, session: AnySession, *, assume: Collection[str] = ()) -> None:
        """Close a session, open here or not. If it is not, *assume* has capabilities to take as advertised.

        Raises:
            CapabilityNotAdvertised: the session is not open here, and the agent does not support closing.
            RequestError: the agent responded with an error.
        """
        id_ = _id_of(session)
        if id_ in self._link.sessions:
            await self._link.sessions[id_].close()
        else:
            await self._link.close(id_, assume)

    async def delete(self, session: AnySession, *, assume: Collection[str] = ()) -> None:
        """Close a session if it is open here, and delete it from the list of the agent. *assume* is as for `list`.

        Raises:
            CapabilityNotAdvertised: the agent does not support it.
            RequestError: the agent responded with an error.
        """
        id_ = _id_of(session)
        request = delete_session(self._link.peer, id_, assume=assume)
        if id_ in self._link.sessions:
            await self._link.sessions[id_].close()
        await self._link.ask(request)

    async def login(self, method: AuthMethod | str | None = None) -> None:
        """Log the user in with a method of `peer.auth_methods`, or its id; by default with the only one.

        Raises:
            AuthMethodRefused: the agent has not advertised the method, or it is for a terminal.
            ValueError: *method* is missing, and the agent has not advertised exactly one.
            RequestError: the agent responded with an error.
        """
        if method is None:
            if len(self._link.peer.auth_methods) != 1:
                names = ", ".join(each.name for each in self._link.peer.auth_methods) or "none"
                raise ValueError(f"choose an authentication method of the agent: {names}")
            method = self._link.peer.auth_methods[0]
        await self._link.ask(login(self._link.peer, method))

    async def logout(self, *, assume: Collection[str] = ()) -> None:
        """Log the user out. *assume* is as for `list`.

        Raises:
            CapabilityNotAdvertised: the agent does not support it.
            RequestError: the agent responded with an error.
        """
        await self._link.ask(logout(self._link.peer, assume=assume))

    async def ask(self, request: Asks[Result], *, timeout: float | None = None) -> Result:
        """Send a request of the negotiated version and return the response.

        Raises:
            RequestError: the agent responded with an error.
            ConnectionClosed: the agent is gone.
            TimedOut: there was no response in time.
        """
        response: Result = await self._link.ask(request, timeout=timeout)
        return response

    async def _reopen(self, make: Callable[..., Any], session: AnySession, options: _Reopening) -> Session:
        # A session that is added before the next connection is made would be loaded twice.
        await self._link.ready()
        loads = make is load_session
        method = "session/load" if loads and self._link.peer.version == 1 else "session/resume"
        record, refused = self._again(session, options, method)
        if record.session_id in self._link.sessions:
            raise ValueError(f'session "{record.session_id}" is already open; it is in agent.sessions')
        request = make(self._link.peer, record, flavour=self._flavour, assume=options.assume, meta=options.meta)
        return await self._link.reopen(request, refused, options.assume, options.timeout, loads=loads)

    def _again(
        self, session: AnySession, options: _Reopening, method: str
    ) -> tuple[SessionRecord, tuple[RefusedServer, ...]]:
        record = _record_of(session, options.cwd)
        wanted = record.servers() if options.mcp_servers is None else options.mcp_servers
        servers, refused = self._gated(wanted, options.on_refusal, options.assume, method)
        return replace(record, mcp_servers=tuple(servers)), refused

    def _gated(
        self, servers: Iterable[McpServerLike], on_refusal: OnRefusal, assume: Collection[str], method: str
    ) -> tuple[Sequence[Any], tuple[RefusedServer, ...]]:
        gated = gate_mcp_servers(self._link.peer, servers, on_refusal=on_refusal, assume=assume, method=method)
        for each in gated.refused:
            log.info("the MCP server %s; it is left out", each)
        return gated.accepted, gated.refused


class _Reopening(NamedTuple):
    """The options of `load`, `resume` and `fork`."""

    cwd: str | os.PathLike[str] | None
    mcp_servers: Iterable[McpServerLike] | None
    on_refusal: OnRefusal
    assume: Collection[str]
    meta: Mapping[str, Any] | None
    timeout: float | None


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
        return SessionRecord(session_id=session, cwd=os.fspath(cwd), prompted=True)
    return SessionRecord.of_listed(session, mcp_servers=())
