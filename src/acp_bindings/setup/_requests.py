"""The requests that make, load, resume, list, close, fork and delete sessions, in the version that an agent speaks.

One call for what both versions say in two ways, and no way to leave out what agents miss: `mcpServers` is in every
request, also when it is empty, and the additional directories are sent again each time. What the agent has not
advertised raises before there is anything to send.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    """What asks *agent* for a new session.

    Args:
        agent: who is asked.
        cwd: the directory of the session, an absolute path on the system of the agent.
        mcp_servers: models of any version, or JSON.
        additional_directories: more directories to work in, absolute as well.
        flavour: whose paths these are; say so where the agent's system is known.
        assume: capabilities to take for granted although the agent has not advertised them.
        meta: what to send as `_meta`.

    Raises:
        CapabilityNotAdvertised: the agent does not take additional directories, or one of the servers
            (`McpServersRefused`); `gate_mcp_servers` sorts out those that it takes.
        NotAbsolute: a path is not absolute.
        DecodeError: a server is none.
    """
    draft = _Draft(agent, "session/new", assume)
    request: NewSessionRequest = draft.request(
        "NewSessionRequest", meta, **draft.place(cwd, additional_directories, flavour), **draft.tools(mcp_servers)
    )
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
    """What asks *agent* for an earlier session and all of its history, which comes before the answer.

    That is `session/load` in v1, and `session/resume` with `replayFrom` in v2. Let a `ReplayCollector` expect the
    session before this is sent.

    Args:
        agent: who is asked.
        record: the session, also one of another version.
        mcp_servers: the servers that it is to have, where those of the record are not what is wanted.
        flavour: whose paths the record has.
        assume: capabilities to take for granted although the agent has not advertised them.
        meta: what to send as `_meta`.

    Raises:
        CapabilityNotAdvertised: the agent cannot load sessions, take additional directories, or one of the servers.
        ServersMissing: the record was stored, and has only the names of its servers.
        NotAbsolute: a path is not absolute.
        TypeError: *record* is none; an id is not enough.
    """
    first = getattr(agent, "version", None) == 1
    if not first:
        # In v2 loading is a `session/resume`, for which the gates would ask for `session.resume` instead.
        check_capability(agent, "session.load", method="session/resume", assume=assume)
        assume = {*assume, "session.resume"}
    draft = _Draft(agent, "session/load" if first else "session/resume", assume)
    members = draft.again(record, mcp_servers, flavour)
    if not first:
        members["replay_from"] = cast("Any", agent.protocol).ReplayFromStart()
    request: LoadSessionRequest = draft.request(
        "LoadSessionRequest" if first else "ResumeSessionRequest", meta, **members
    )
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
    """What asks *agent* to go on with an earlier session, without its history; else as `load_session`."""
    draft = _Draft(agent, "session/resume", assume)
    request: ResumeSessionRequest = draft.request(
        "ResumeSessionRequest", meta, **draft.again(record, mcp_servers, flavour)
    )
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
    """What asks *agent* for a new session that begins as the recorded one is now; else as `load_session`.

    It is a draft, which only the unstable packages have: without one, `CapabilityNotAdvertised` says so.
    """
    # A package that has no such method has no word for the capability either, and that is the better reason.
    check_capability(agent, "session.fork", method="session/fork", assume=assume)
    draft = _Draft(agent, "session/fork", assume)
    request: ForkSessionRequest = draft.request("ForkSessionRequest", meta, **draft.again(record, mcp_servers, flavour))
    return request


def close_session(
    agent: AgentPeer,
    session: SessionRecord | str,
    *,
    assume: Collection[str] = (),
    meta: Mapping[str, Any] | None = None,
) -> CloseSessionRequest:
    """What asks *agent* to end the work of a session and free what it holds; it can be loaded again.

    In v2 that there is no such session (`SessionNotFound`) is as good as success.

    Raises:
        CapabilityNotAdvertised: the agent cannot.
    """
    draft = _Draft(agent, "session/close", assume)
    request: CloseSessionRequest = draft.request("CloseSessionRequest", meta, session_id=_id(session))
    return request


def delete_session(
    agent: AgentPeer,
    session: SessionRecord | str,
    *,
    assume: Collection[str] = (),
    meta: Mapping[str, Any] | None = None,
) -> DeleteSessionRequest:
    """What asks *agent* to delete a session from what it lists; doing so again does no harm.

    Raises:
        CapabilityNotAdvertised: the agent cannot.
    """
    draft = _Draft(agent, "session/delete", assume)
    request: DeleteSessionRequest = draft.request("DeleteSessionRequest", meta, session_id=_id(session))
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
    """What asks *agent* for a page of its sessions: the first, or the one at *cursor*, which may be the empty text.

    Args:
        agent: who is asked.
        cwd: list only the sessions of this directory.
        cursor: `next_cursor` of an answer; `SessionListing` asks for all pages.
        flavour: whose path `cwd` is.
        assume: capabilities to take for granted although the agent has not advertised them.
        meta: what to send as `_meta`.

    Raises:
        CapabilityNotAdvertised: the agent cannot list sessions.
        NotAbsolute: *cwd* is not absolute.
    """
    draft = _Draft(agent, "session/list", assume)
    members = {} if cwd is None else {"cwd": require_absolute(cwd, flavour=flavour)}
    if cursor is not None:
        members["cursor"] = cursor
    request: ListSessionsRequest = draft.request("ListSessionsRequest", meta, **members)
    return request


@dataclass(frozen=True)
class _Draft:
    """A request to *agent* that is put together. It refuses a *method* that the agent has not advertised."""

    agent: AgentPeer
    method: str
    assume: Collection[str]

    def __post_init__(self) -> None:
        check_method(self.agent, self.method, assume=self.assume)

    def place(
        self, cwd: str | os.PathLike[str], additional: Iterable[str | os.PathLike[str]], flavour: Flavour
    ) -> dict[str, Any]:
        """The members that say where the session works."""
        members: dict[str, Any] = {"cwd": require_absolute(cwd, flavour=flavour)}
        if directories := require_directories(additional, flavour=flavour):
            members["additional_directories"] = directories
        return members

    def tools(self, servers: Iterable[McpServerLike]) -> dict[str, Any]:
        """The members that say what the session works with."""
        return {"mcp_servers": servers_for(self.agent.protocol, servers)}

    def again(self, record: SessionRecord, servers: Iterable[McpServerLike] | None, flavour: Flavour) -> dict[str, Any]:
        """The members of every request that goes back to a session."""
        if not isinstance(record, SessionRecord):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"{type(record).__name__} is no SessionRecord; {_AS_RECORD}")
        return {
            "session_id": record.session_id,
            **self.place(record.cwd, record.additional_directories, flavour),
            **self.tools(record.servers() if servers is None else servers),
        }

    def request(self, name: str, meta: Mapping[str, Any] | None, **members: Any) -> Any:
        """The params, of the class *name* of the package that the agent speaks."""
        if meta is not None:
            members["meta"] = dict(meta)
        request = getattr(self.agent.protocol, name)(**members)
        # What the agent does not take is refused, not left out: the session would seem to have it.
        check_message(self.agent, request, assume=self.assume)
        return request


_AS_RECORD = (
    "an id is not enough, the agent is told the directories and the servers each time: SessionRecord(session_id=…, "
    "cwd=…, mcp_servers=…), SessionRecord.of(request, session_id) of the request that made it, or "
    "SessionRecord.of_listed(info, mcp_servers=…) of what session/list told"
)


def _id(session: SessionRecord | str) -> str:
    id_: object = session if isinstance(session, str) else getattr(session, "session_id", None)
    if not isinstance(id_, str):
        raise TypeError(f"{type(session).__name__} is no session; give its id or its SessionRecord")
    return id_


InfoT_co = TypeVar("InfoT_co", covariant=True, bound="Session")
InfoT = TypeVar("InfoT", bound="Session")


class Session(Protocol):
    """A `SessionInfo` of any protocol package."""

    @property
    def session_id(self) -> str:
        """What it is asked for by."""
        ...


class Page(Protocol[InfoT_co]):
    """A `ListSessionsResponse` of any protocol package."""

    @property
    def sessions(self) -> Sequence[InfoT_co]:
        """The sessions on it."""
        ...

    @property
    def next_cursor(self) -> str | None:
        """What to ask the next page with."""
        ...


class SessionListing:
    """What to ask for next, until there is no more.

    A page without `nextCursor`, or with null, is the last one. Any text is a cursor, also the empty one, and means
    nothing to us.
    """

    def __init__(
        self, agent: AgentPeer, request: ListSessionsRequest | None = None, *, assume: Collection[str] = ()
    ) -> None:
        """A listing of which nothing has been asked for.

        Args:
            agent: who is asked.
            request: what to ask for, as `list_sessions(agent, cwd=…)` makes it; all sessions unless it is given. It
                goes with every page, so that what it filters by stays.
            assume: capabilities to take for granted although the agent has not advertised them.

        Raises:
            CapabilityNotAdvertised: the agent has not said that it lists sessions, or filters them so.
        """
        first = list_sessions(agent, assume=assume) if request is None else request
        check_message(agent, first, assume=assume)
        self.request: ListSessionsRequest | None = first
        """What to send next; None when all pages are there."""
        self._cursors = {first.cursor}
        self._sessions: set[str] = set()
        self._pages = 0

    def take(self, response: Page[InfoT]) -> list[InfoT]:
        """The sessions (`SessionInfo`) on the page that the agent answered `request` with.

        Raises:
            EndlessListing: it names a cursor again that was used already, and holds no session that is new.
            ValueError: all pages are there already.
        """
        if self.request is None:
            raise ValueError("all pages of session/list are there already")
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
