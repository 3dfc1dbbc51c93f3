"""Separates the history of a session from new updates, for clients.

    updates: ReplayCollector[v1.SessionNotification] = ReplayCollector()

    updates.expect(request)                       # before session/load is sent
    for update in updates.receive(notification):  # each session/update, as it comes
        show(update.notification, new=not update.replay)
    history = updates.opened(request.session_id)  # when it is answered

You report requests and responses to it; it does not send anything.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from acp_bindings.setup._history import is_replayed
from acp_bindings.setup.errors import Remark, SessionIdReused

if TYPE_CHECKING:
    from acp_bindings.setup.unions import LoadSessionRequest, ResumeSessionRequest


class SessionUpdated(Protocol):
    """The params of a `session/update`, of any protocol package."""

    @property
    def session_id(self) -> str: ...
    @property
    def update(self) -> Any: ...


N = TypeVar("N", bound=SessionUpdated)


@dataclass(frozen=True)
class Update(Generic[N]):
    """An update of a session."""

    notification: N
    replay: bool
    """True if it is history, which `session/load` has requested, even if it came late; False if it happens now."""


class ReplayCollector(Generic[N]):
    """Sorts the updates of one connection, in the order in which they arrive.

    - Updates of a session that is being loaded are history until the response arrives.
    - Some agents send the history after the response. Messages, tool calls and plans between the response and the next
      prompt are therefore history as well, unless an agent of v2 has reported that it is running.
    - Updates of an unknown session are stored until its id is known, because an agent may send them before the
      response to `session/new`.

    It is not thread-safe.
    """

    def __init__(self, *, keep: int = 1000) -> None:
        """Create a collector without sessions.

        Args:
            keep: how many updates of unknown sessions are stored. Beyond that, the oldest are dropped.
        """
        self.remarks: list[Remark] = []
        """Mistakes of the agent, with the rules `replay-after-answer`, `replay-on-resume` and `update-after-close`,
        each once for a session."""
        self._sessions: dict[str, _Session[N]] = {}
        self._early: deque[N] = deque(maxlen=keep)
        self._said: set[tuple[str, str]] = set()

    def expect(self, request: LoadSessionRequest | ResumeSessionRequest) -> list[Update[N]]:
        """Begin to collect a session. Call this *before* sending the request that loads or resumes it.

        Returns:
            The updates that have already arrived: none, unless this is called too late.
        """
        phase: _Phase = "replaying" if is_replayed(request) else "resuming"
        session = _Session[N](phase, before=self._sessions.get(request.session_id))
        self._sessions[request.session_id] = session
        return [session.take(each) for each in self._take_early(request.session_id)]

    def receive(self, notification: N) -> list[Update[N]]:
        """Return the updates to handle now: *notification*, or none if it is stored or the session is closed."""
        session = self._sessions.get(notification.session_id)
        if session is None:
            self._early.append(notification)
            return []
        self._look_at(notification, session)
        return [] if session.phase == "closed" else [session.take(notification)]

    def created(self, session_id: str) -> list[Update[N]]:
        """Begin to collect a new session, by the id in the response to `session/new` or `session/fork`.

        Returns:
            The updates that arrived before the response.

        Raises:
            SessionIdReused: another session has or had this id.
        """
        if session_id in self._sessions:
            raise SessionIdReused(session_id)
        session = self._sessions[session_id] = _Session[N]("live")
        return [session.take(each) for each in self._take_early(session_id)]

    def opened(self, session_id: str) -> tuple[N, ...]:
        """End the history of a session after the response to its load or resume.

        Returns:
            The history, which is not stored any longer; for a session that was not expected, its stored updates. What
            comes late is not in it.
        """
        session = self._sessions.get(session_id) or _Session[N]("opened", self._take_early(session_id))
        loaded: _Phase = "live" if session.is_busy else "loaded"
        self._sessions[session_id] = _Session[N](loaded if session.phase == "replaying" else "opened")
        return tuple(session.history)

    def failed(self, session_id: str) -> None:
        """Undo `expect` after an error response to the load or resume."""
        session = self._sessions.pop(session_id, None)
        if session and session.before:
            self._sessions[session_id] = session.before

    def prompted(self, session_id: str) -> None:
        """Record that a prompt is sent, so later updates do not count as late history."""
        if (session := self._sessions.get(session_id)) and session.phase in ("opened", "loaded"):
            session.phase = "live"

    def closed(self, session_id: str) -> None:
        """End a session after the response to its close. Later updates are dropped, with a remark."""
        self._sessions[session_id] = _Session[N]("closed")

    def _look_at(self, notification: N, session: _Session[N]) -> None:
        kind: str = notification.update.session_update
        if session.phase == "closed":
            self._remark(notification, "update-after-close", "the session is closed, so it should not send updates")
        elif kind not in _OF_THE_USER:
            return
        elif session.phase in ("opened", "loaded"):
            text = "this is history, which must be sent before the response to the request"
            self._remark(notification, "replay-after-answer", text)
        elif session.phase == "resuming":
            text = "this is history, which session/resume does not request"
            self._remark(notification, "replay-on-resume", text)

    def _take_early(self, session_id: str) -> list[N]:
        early = list(self._early)
        self._early.clear()
        self._early.extend(each for each in early if each.session_id != session_id)
        return [each for each in early if each.session_id == session_id]

    def _remark(self, notification: N, rule: str, text: str) -> None:
        if (rule, notification.session_id) not in self._said:
            self._said.add((rule, notification.session_id))
            facts = {"sessionId": notification.session_id, "sessionUpdate": notification.update.session_update}
            self.remarks.append(Remark(("update",), rule, text, "error", facts))


_OF_THE_USER = {"user_message", "user_message_chunk"}
"""Updates that are history if the user has not sent a prompt yet."""

_OF_CONVERSATIONS = {
    *_OF_THE_USER,
    "agent_message",
    "agent_message_chunk",
    "agent_thought",
    "agent_thought_chunk",
    "plan",
    "plan_update",
    "tool_call",
    "tool_call_content_chunk",
    "tool_call_update",
}
"""Updates that belong to a turn or to the history."""

_Phase = Literal["replaying", "resuming", "opened", "loaded", "live", "closed"]
"""The state of a session. It is "loaded" after the response to a load with history, "opened" after other responses."""


@dataclass
class _Session(Generic[N]):
    phase: _Phase
    history: list[N] = field(default_factory=list[N])
    is_busy: bool = False
    """True if the last state that an agent of v2 has reported is not idle."""
    before: _Session[N] | None = None
    """The state before it was loaded again, which is restored if that fails."""

    def take(self, notification: N) -> Update[N]:
        update = notification.update
        if update.session_update == "state_update":
            self.is_busy = (getattr(update, "state", None) or "idle") != "idle"  # v1 does not have it
        if self.phase == "replaying":
            self.history.append(notification)
        elif self.phase == "loaded" and self.is_busy:
            self.phase = "live"
        is_late = self.phase == "loaded" and update.session_update in _OF_CONVERSATIONS
        return Update(notification, self.phase == "replaying" or is_late)
