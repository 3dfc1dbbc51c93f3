"""All pages of `session/list`, asked for one after the other.

    listing = SessionListing(agent)
    while (request := listing.request) is not None:
        sessions += listing.take(await ask(request))

It does no I/O: who has it asks.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from acp_bindings.setup.errors import EndlessListing
from acp_bindings.setup.gates import check_message
from acp_bindings.setup.sessions.requests import list_sessions

if TYPE_CHECKING:
    from acp_bindings.setup.peer import AgentPeer
    from acp_bindings.setup.unions import ListSessionsRequest

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
