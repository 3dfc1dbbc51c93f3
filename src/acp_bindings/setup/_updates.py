"""The updates of sessions as a client gets them: which are history and which are news, with none of them lost.

    updates: ReplayCollector[v1.SessionNotification] = ReplayCollector()

    updates.expect(request)                       # before session/load is sent
    for update in updates.receive(notification):  # each session/update, as it comes
        show(update.notification, new=not update.replay)
    history = updates.opened(request.session_id)  # when it is answered

It is told of what is sent and answered, and sends nothing itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from acp_bindings.setup._history import is_replayed
from acp_bindings.setup.errors import Remark, SessionIdReused

if TYPE_CHECKING:
    from acp_bindings.setup.unions import LoadSessionRequest, ResumeSessionRequest


class SessionUpdated(Protocol):
    """The params of a `session/update`, of any protocol package."""

    @property
    def session_id(self) -> str:
        """Whose update it is."""
        ...

    @property
    def update(self) -> Any:
        """What is new."""
        ...


N = TypeVar("N", bound=SessionUpdated)


@dataclass(frozen=True)
class Update(Generic[N]):
    """One update of a session, in its turn."""

    notification: N
    replay: bool
    """Whether it is history, which was asked for by `session/load`, and not something that happens now."""


class ReplayCollector(Generic[N]):
    """Sorts the updates of one connection, in the order in which they come.

    - Of a session that is being loaded they are history until the answer is there, and news after that.
    - Of a session that nobody knows yet they are kept: an agent may tell of a session before it answers
      `session/new` with its id. They are given when that is known.

    It is told of the requests, and has no connection of its own; it is not safe with threads.
    """

    def __init__(self, *, keep: int = 1000) -> None:
        """A collector that knows of no session.

        Args:
            keep: how many updates of unknown sessions are kept; of more the oldest are lost, with a remark.
        """
        self.remarks: list[Remark] = []
        """What the agent did that it should not, with the rules `replay-after-answer`, `replay-on-resume`,
        `update-after-close` and `early-updates-lost`, each once for a session."""
        self._keep = keep
        self._sessions: dict[str, _Session[N]] = {}
        self._early: deque[N] = deque()
        self._said: set[tuple[str, str]] = set()

    def expect(self, request: LoadSessionRequest | ResumeSessionRequest) -> list[Update[N]]:
        """Begin to collect for a session, *before* the request that loads or resumes it is sent.

        Returns:
            Nothing, but where it comes too late: what has come already.
        """
        phase: _Phase = "replaying" if is_replayed(request) else "resuming"
        session = _Session[N](phase, before=self._sessions.get(request.session_id))
        self._sessions[request.session_id] = session
        return [session.take(each) for each in self._take_early(request.session_id)]

    def receive(self, notification: N) -> list[Update[N]]:
        """What an update that has come means: itself, or nothing yet, or nothing any more."""
        session = self._sessions.get(notification.session_id)
        if session is None:
            self._put_by(notification)
            return []
        self._look_at(notification, session)
        return [] if session.phase == "closed" else [session.take(notification)]

    def created(self, session_id: str) -> list[Update[N]]:
        """Begin to collect for a new session, by the id in the answer to `session/new` or `session/fork`.

        Returns:
            What came of it before the answer.

        Raises:
            SessionIdReused: another session has this id, or had it.
        """
        if session_id in self._sessions:
            raise SessionIdReused(session_id)
        session = self._sessions[session_id] = _Session[N]("live")
        return [session.take(each) for each in self._take_early(session_id)]

    def opened(self, session_id: str) -> tuple[N, ...]:
        """End the history of a session, whose load or resume is answered, and begin its news.

        Returns:
            The history, which is not kept any longer; of a session that was not expected, what has come.
        """
        session = self._sessions.get(session_id) or _Session[N]("opened", list(self._take_early(session_id)))
        self._sessions[session_id] = _Session[N]("opened")
        return tuple(session.history)

    def failed(self, session_id: str) -> None:
        """Take back that a session is expected, whose load or resume is answered with an error."""
        session = self._sessions.pop(session_id, None)
        if session and session.before:
            self._sessions[session_id] = session.before

    def prompted(self, session_id: str) -> None:
        """Note that a prompt is sent, so that a message of the user that comes now is no late history."""
        if (session := self._sessions.get(session_id)) and session.phase == "opened":
            session.phase = "live"

    def closed(self, session_id: str) -> None:
        """End a session, whose close is answered; what still comes of it is remarked on and lost."""
        self._sessions[session_id] = _Session[N]("closed")

    def _look_at(self, notification: N, session: _Session[N]) -> None:
        kind: str = notification.update.session_update
        if session.phase == "closed":
            self._remark(notification, "update-after-close", "the session is closed, and no updates of it should come")
        elif kind not in _OF_THE_USER:
            return
        elif session.phase == "opened":
            told = "this is history, which should have come before the answer to the request that asked for it"
            self._remark(notification, "replay-after-answer", told)
        elif session.phase == "resuming":
            told = "this is history, which nobody asked for: session/resume goes on without"
            self._remark(notification, "replay-on-resume", told)

    def _put_by(self, notification: N) -> None:
        self._early.append(notification)
        if len(self._early) > self._keep:
            lost = self._early.popleft()
            told = "too many updates came of sessions that nobody has heard of; the oldest are lost"
            self._remark(lost, "early-updates-lost", told)

    def _take_early(self, session_id: str) -> Iterable[N]:
        early = self._early
        self._early = deque(each for each in early if each.session_id != session_id)
        return [each for each in early if each.session_id == session_id]

    def _remark(self, notification: N, rule: str, told: str) -> None:
        # Of unknown sessions there may be any number.
        whose = "" if rule == "early-updates-lost" else notification.session_id
        if (rule, whose) not in self._said:
            self._said.add((rule, whose))
            facts = {"sessionId": notification.session_id, "sessionUpdate": notification.update.session_update}
            self.remarks.append(Remark(("update",), rule, told, "error", facts))


_OF_THE_USER = {"user_message", "user_message_chunk"}
"""Updates that are history where the user has said nothing yet."""

_Phase = Literal["replaying", "resuming", "opened", "live", "closed"]


@dataclass
class _Session(Generic[N]):
    phase: _Phase
    history: list[N] = field(default_factory=list[N])
    before: _Session[N] | None = None
    """What it was before it was loaded again, and is again when that fails."""

    def take(self, notification: N) -> Update[N]:
        replay = self.phase == "replaying"
        if replay:
            self.history.append(notification)
        return Update(notification, replay)
