"""The requests to create, load, resume, list, close, fork and delete sessions, in the protocol version of the agent.

Each function creates the request of either version, with the fields that agents need: `mcpServers` is always included,
even if it is empty, and additional directories are sent each time. If the agent has not advertised the capability,
the function raises before anything is sent.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from acp_bindings.setup._gates import check_capability, check_message, check_method
from acp_bindings.setup._paths import Flavour, require_absolute, require_directories
from acp_bindings.setup._records import SessionRecord
from acp_bindings.setup._servers import servers_for
from acp_bindings.setup.errors import EndlessListing

if TYPE_CHECKING:
    from acp_bindings.setup._peer import AgentPeer
    from acp_bindings.setup.unions import (
        CloseSessionRequest,
        DeleteSessionRequest,
        ForkSessionRequest,
        ListSessionsRequest,
        LoadSessionRequest,
        McpServerLike,
        NewSessionRequest,
        ResumeSessionRequest,
    )


def new_session(
    agent: AgentPeer,
    *,
    cwd: str | os.PathLike[str],
    mcp_servers: Iterable[McpServerLike] = (),
    additional_directories: Iterable[str | os.PathLike[str]] = (),
    flavour: Flavour = "any",
    assume: Collection[str] = (),
    meta: Mapping[str, Any] | None = None,
) -> NewSessionRequest:
    """Return the request for a new session.

    Args:
        agent: the agent.
        cwd: the directory of the session, an absolute path on the system of the agent.
        mcp_servers: models of any version, or JSON.
        additional_directories: more directories to work in, absolute as well.
        flavour: the kind of paths, if the system of the agent is known.
        assume: capabilities to take as advertised.
        meta: the `_meta` of the request.

    Raises:
        CapabilityNotAdvertised: the agent does not support additional directories, or one of the servers
            (`McpServersRefused`); `gate_mcp_servers` selects the supported ones.
        NotAbsolute: a path is not absolute.
        DecodeError: a server is not valid.
    """
    check_method(agent, "session/new", assume=assume)
    fields = _fields(agent, cwd, additional_directories, mcp_servers, flavour)
    request: NewSessionRequest = _request(agent, "session/new", assume, meta, **fields)
    return request


def load_session(
    agent: AgentPeer,
    record: SessionRecord,
    *,
    mcp_servers: Iterable[McpServerLike] | None = None,
    flavour: Flavour = "any",
    assume: Collection[str] = (),
    meta: Mapping[str, Any] | None = None,
) -> LoadSessionRequest:
    """Return the request for an earlier session with its history, which the agent sends before the response.

    This is `session/load` in v1, and `session/resume` with `replayFrom` in v2. Call `ReplayCollector.expect` before
    sending it.

    Args:
        agent: the agent.
        record: the session, possibly of another protocol version.
        mcp_servers: the servers to use instead of those in the record.
        flavour: the kind of paths in the record.
        assume: capabilities to take as advertised.
        meta: the `_meta` of the request.

    Raises:
        CapabilityNotAdvertised: the agent does not support loading, additional directories, or one of the servers.
        ServersMissing: the record was stored and has only the names of its servers.
        NotAbsolute: a path is not absolute.
        TypeError: *record* is not a `SessionRecord`, such as an id.
    """
    if agent.version == 1:
        method, more = "session/load", {}
    else:
        # In v2 loading is a `session/resume`, for which the check would require `session.resume` instead.
        check_capability(agent, "session.load", method="session/resume", assume=assume)
        assume = {*assume, "session.resume"}
        replay = cast("Any", agent.protocol).ReplayFromStart()
        method, more = "session/resume", {"replay_from": replay}
    request: LoadSessionRequest = _again(agent, method, record, mcp_servers, flavour, assume, meta, **more)
    return request


def resume_session(
    agent: AgentPeer,
    record: SessionRecord,
    *,
    mcp_servers: Iterable[McpServerLike] | None = None,
    flavour: Flavour = "any",
    assume: Collection[str] = (),
    meta: Mapping[str, Any] | None = None,
) -> ResumeSessionRequest:
    """Return the request to continue an earlier session without its history. Arguments are those of `load_session`."""
    request: ResumeSessionRequest = _again(agent, "session/resume", record, mcp_servers, flavour, assume, meta)
    return request


def fork_session(
    agent: AgentPeer,
    record: SessionRecord,
    *,
    mcp_servers: Iterable[McpServerLike] | None = None,
    flavour: Flavour = "any",
    assume: Collection[str] = (),
    meta: Mapping[str, Any] | None = None,
) -> ForkSessionRequest:
    """Return the request for a new session that continues from the recorded one. Arguments are those of `load_session`.

    Only the unstable packages have this draft; with others, `CapabilityNotAdvertised` is raised.
    """
    # A package without the method does not have the capability either. The error about the capability is more useful.
    check_capability(agent, "session.fork", method="session/fork", assume=assume)
    request: ForkSessionRequest = _again(agent, "session/fork", record, mcp_servers, flavour, assume, meta)
    return request


def close_session(
    agent: AgentPeer,
    session: SessionRecord | str,
    *,
    assume: Collection[str] = (),
    meta: Mapping[str, Any] | None = None,
) -> CloseSessionRequest:
    """Return the request to stop a session and free its resources. It can be loaded again.

    In v2, `SessionNotFound` means that the session is already closed (`is_closed`).

    Raises:
        CapabilityNotAdvertised: the agent does not support it.
    """
    request: CloseSessionRequest = _request(agent, "session/close", assume, meta, session_id=_id(session))
    return request


def delete_session(
    agent: AgentPeer,
    session: SessionRecord | str,
    *,
    assume: Collection[str] = (),
    meta: Mapping[str, Any] | None = None,
) -> DeleteSessionRequest:
    """Return the request to delete a session from the list. It may be repeated.

    Raises:
        CapabilityNotAdvertised: the agent does not support it.
    """
    request: DeleteSessionRequest = _request(agent, "session/delete", assume, meta, session_id=_id(session))
    return request


def list_sessions(
    agent: AgentPeer,
    *,
    cwd: str | os.PathLike[str] | None = None,
    cursor: str | None = None,
    flavour: Flavour = "any",
    assume: Collection[str] = (),
    meta: Mapping[str, Any] | None = None,
) -> ListSessionsRequest:
    """Return the request for a page of sessions: the first one, or the one at *cursor*.

    Args:
        agent: the agent.
        cwd: list only the sessions of this directory.
        cursor: `next_cursor` of a response, which may be an empty string. `SessionListing` handles all pages.
        flavour: the kind of path of `cwd`.
        assume: capabilities to take as advertised.
        meta: the `_meta` of the request.

    Raises:
        CapabilityNotAdvertised: the agent does not support listing sessions.
        NotAbsolute: *cwd* is not absolute.
    """
    check_method(agent, "session/list", assume=assume)
    fields = {} if cwd is None else {"cwd": require_absolute(cwd, flavour=flavour)}
    if cursor is not None:
        fields["cursor"] = cursor
    request: ListSessionsRequest = _request(agent, "session/list", assume, meta, **fields)
    return request


def _fields(
    agent: AgentPeer,
    cwd: str | os.PathLike[str],
    directories: Iterable[str | os.PathLike[str]],
    servers: Iterable[McpServerLike],
    flavour: Flavour,
) -> dict[str, Any]:
    """Return the fields with the directories and the servers."""
    fields: dict[str, Any] = {"cwd": require_absolute(cwd, flavour=flavour)}
    if additional := require_directories(directories, flavour=flavour):
        fields["additional_directories"] = additional
    return {**fields, "mcp_servers": servers_for(agent.protocol, servers)}


def _again(  # noqa: PLR0917 - the arguments of the public functions
    agent: AgentPeer,
    method: str,
    record: SessionRecord,
    servers: Iterable[McpServerLike] | None,
    flavour: Flavour,
    assume: Collection[str],
    meta: Mapping[str, Any] | None,
    **more: Any,
) -> Any:
    """Return the params of *method*, a request for an existing session, of the negotiated package."""
    check_method(agent, method, assume=assume)
    if not isinstance(record, SessionRecord):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{type(record).__name__} is not a SessionRecord; {_AS_RECORD}")
    servers = record.servers() if servers is None else servers
    fields = _fields(agent, record.cwd, record.additional_directories, servers, flavour)
    return _request(agent, method, assume, meta, session_id=record.session_id, **fields, **more)


def _request(
    agent: AgentPeer, method: str, assume: Collection[str], meta: Mapping[str, Any] | None, **fields: Any
) -> Any:
    """Return the params of *method*, of the negotiated package."""
    if meta is not None:
        fields["meta"] = dict(meta)
    methods: Any = agent.protocol.METHODS
    request = methods[method].request.params(**fields)
    # Unsupported fields raise instead of being dropped, because the session would seem to have them.
    check_message(agent, request, assume=assume)
    return request


_AS_RECORD = (
    "an id is not enough, because every request contains the directories and the servers. Pass "
    "SessionRecord(session_id=…, cwd=…, mcp_servers=…), SessionRecord.of(request, session_id) with the request that "
    "created the session, or SessionRecord.of_listed(info, mcp_servers=…) with an entry of session/list"
)


def _id(session: SessionRecord | str) -> str:
    id_: object = session if isinstance(session, str) else getattr(session, "session_id", None)
    if not isinstance(id_, str):
        raise TypeError(f"{type(session).__name__} is not a session; pass its id or its SessionRecord")
    return id_


InfoT_co = TypeVar("InfoT_co", covariant=True, bound="Session")
InfoT = TypeVar("InfoT", bound="Session")


class Session(Protocol):
    """A `SessionInfo` of any protocol package."""

    @property
    def session_id(self) -> str: ...


class Page(Protocol[InfoT_co]):
    """A `ListSessionsResponse` of any protocol package."""

    @property
    def sessions(self) -> Sequence[InfoT_co]: ...
    @property
    def next_cursor(self) -> str | None: ...


class SessionListing:
    """Requests all pages of `session/list`.

    The last page has no `nextCursor`, or null. Any string is a cursor, even an empty one.
    """

    def __init__(
        self, agent: AgentPeer, request: ListSessionsRequest | None = None, *, assume: Collection[str] = ()
    ) -> None:
        """Create a listing that starts with the first page.

        Args:
            agent: the agent.
            request: the request, such as `list_sessions(agent, cwd=…)`; by default all sessions. Its filters apply to
                every page.
            assume: capabilities to take as advertised.

        Raises:
            CapabilityNotAdvertised: the agent does not support listing sessions, or the filter.
        """
        first = list_sessions(agent, assume=assume) if request is None else request
        check_message(agent, first, assume=assume)
        self.request: ListSessionsRequest | None = first
        """The next request to send; None after the last page."""
        self._cursors = {first.cursor}
        self._sessions: set[str] = set()
        self._pages = 0

    def take(self, response: Page[InfoT]) -> list[InfoT]:
        """Return the sessions (`SessionInfo`) on the page in the response to `request`.

        Raises:
            EndlessListing: the page repeats a cursor and has no new sessions.
            ValueError: the last page has already been received.
        """
        if self.request is None:
            raise ValueError("the last page of session/list has already been received")
        self._pages += 1
        cursor = response.next_cursor
        ids = {each.session_id for each in response.sessions}
        if cursor is not None and cursor in self._cursors and ids <= self._sessions:
            self.request = None
            raise EndlessListing(self._pages)
        self._sessions |= ids
        self._cursors.add(cursor)
        self.request = None if cursor is None else self.request.model_copy(update={"cursor": cursor})
        return list(response.sessions)
