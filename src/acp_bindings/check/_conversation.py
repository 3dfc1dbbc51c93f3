"""The state of a recorded conversation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, cast

from pydantic_core import to_json

from acp_bindings._json import members_of
from acp_bindings._lazy import PACKAGES
from acp_bindings.check._inputs import Line
from acp_bindings.check._observed import PERMISSION, PROMPT, UPDATE, ObservedMessage, observed_of
from acp_bindings.check._sessions import Session, Transcript
from acp_bindings.check._turn_order import OF_TURNS, Turns, Unfinished, text_in
from acp_bindings.decoding import decode
from acp_bindings.errors import AcpError, DecodeError
from acp_bindings.jsonrpc import Codec, ProtocolPackage
from acp_bindings.messages import Id
from acp_bindings.setup._handshake import AgentHandshake, Lifecycle, version_in
from acp_bindings.setup._history import History
from acp_bindings.setup._peer import AgentPeer, ClientPeer
from acp_bindings.setup._records import loosely
from acp_bindings.setup._updates import ReplayCollector
from acp_bindings.setup._versions import package_named, version_of
from acp_bindings.setup.capabilities import Side
from acp_bindings.setup.errors import Remark, SessionIdReused

SIDES: tuple[Side, ...] = ("client", "agent")
OTHER: dict[Side, Side] = {"client": "agent", "agent": "client"}


def sender_of(value: Any, conversation: Conversation) -> Side | None:
    """Return the sender of a message without a wrapper; None if it is not clear.

    A method is called by the side that does not handle it. A response comes from the side that received a request with
    its id. If both sides did, the result shows which request it answers, or else it answers the latest one.
    """
    message = members_of(value)
    if isinstance(method := message.get("method"), str):
        handlers = _handlers(method, asks="id" in message)
        return OTHER[handlers[0]] if len(handlers) == 1 else None
    request: list[tuple[Side, OpenRequest]] = [
        (side, open_) for side in SIDES if (open_ := conversation.open_request(side, message.get("id")))
    ]
    if len(request) > 1 and message.get("result") is not None:
        request = [each for each in request if _fits(message["result"], each[1].result)] or request
    return OTHER[max(request, key=lambda each: each[1].line)[0]] if request else None


@lru_cache(maxsize=1000)
def _handlers(method: str, *, asks: bool) -> list[Side]:
    """Return the sides that handle a method in any protocol package."""
    known = [found for name in PACKAGES if (found := package_named(name).METHODS.get(method))]
    meant = [type_ for each in known if (type_ := each.request if asks else each.notification)]
    # A request in place of a notification, or the other way round, is a mistake that rules find.
    types = meant or [type_ for each in known for type_ in (each.request, each.notification) if type_]
    handled = {type_.side for type_ in types}
    return [side for side in SIDES if handled.intersection((side, "both"))]


def _fits(result: Any, type_: Any) -> bool:
    try:
        decode(type_, to_json(result), strict=True)
    except DecodeError:
        return False
    return True


_CREATING = frozenset({"session/new", "session/fork"})


@dataclass(frozen=True)
class OpenRequest:
    """A request that has no response yet."""

    method: str
    id: Id
    line: int
    sender: Side | None
    params: Any
    """The params as an object of their type; None if they are invalid."""
    body: Any
    """The params as JSON."""
    result: Any
    """The type of its result; `Any` if the protocol does not define one."""
    withdrawn: bool = False
    """True if its sender has cancelled it with `$/cancel_request`."""


class Unanswered(NamedTuple):
    """A request that got no response."""

    request: OpenRequest
    ended: bool
    """True if its connection is over, because another one has begun."""
    cancelled: int | None
    """The line in which the client cancelled the prompt of a permission request; None for other requests.

    The client then has to respond to it. None also if that line is the last one of a connection that is not over.
    """


class Conversation:
    """The state of a conversation after the messages so far."""

    def __init__(self, protocol: ProtocolPackage | None = None) -> None:
        """Start a conversation.

        Args:
            protocol: the package to use if the recording begins after `initialize`, or if `initialize` negotiates the
                version of this package. By default `v1` is used, and a missing `initialize` is a mistake.
        """
        self.named = protocol
        """The *protocol* argument."""
        self.sessions: dict[str, Session] = {}
        """The sessions by their ids, on this connection and earlier ones."""
        self.early: dict[str, Session] = {}
        """Sessions that have updates before the response that creates them, while such a response is awaited."""
        self.heard = 0
        """The number of the line of the last message."""
        self._left: list[Unanswered] = []
        """The requests without a response on earlier connections."""
        self._connect()

    def _connect(self) -> None:
        """Reset the state of the connection, because a new one begins."""
        self.begun_before = False
        """True if the recording begins later than the connection, or has a gap."""
        self.is_unclear = False
        """True if a response that creates a session is invalid, so that its id may not be known."""
        self.last_unknown: str | None = None
        """The last session that an update has named and that does not exist, which is reported once."""
        self.mismatched: tuple[int, int] | None = None
        """The version in the response and the requested one, if the first is higher."""
        self.agent: AgentPeer | None = None
        self.client: ClientPeer | None = None
        self.protocol: ProtocolPackage = self.named or package_named("v1")
        """The negotiated package, by which messages are read."""
        self._codecs: dict[Side, Codec] = {
            "client": Codec(self.protocol, role="agent", findings=True),
            "agent": Codec(self.protocol, role="client", findings=True),
        }
        """The codec that reads the lines of each side."""
        self._requests: dict[tuple[Side | None, Id], OpenRequest] = {}
        self._lifecycle = Lifecycle()
        self._opened_with: Id | None = None
        self._reported_untimely: set[str] = set()
        self.has_left = False
        """True if the client has closed the agent's input, which cancels its turns. Not every recording shows that."""
        self.exit_status: int | None = None
        """The exit status of the agent, if it has exited and the recording shows that."""
        self._cancels: dict[str, int] = {}
        """The line in which the client last cancelled a prompt, by session id."""
        self._replays: ReplayCollector[_Update] = ReplayCollector()

    def open_request(self, sender: Side | None, id: Any) -> OpenRequest | None:  # noqa: A002
        """Return the request of *sender* with this *id* that has no response yet."""
        return self._requests.get((sender, id)) if sender and _is_id(id) else None

    def similar_request(self, answerer: Side | None, id_: Any) -> OpenRequest | None:
        """Return an open request to *answerer* whose id has the same text, such as 3 for "3"."""
        requests = (each for each in self._requests.values() if each.sender != answerer)
        return next((each for each in requests if str(each.id) == str(id_)), None)

    def session(self, id_: str) -> Session | None:
        """Return a session, also one that is about to be created."""
        return self.sessions.get(id_) or self.early.get(id_)

    @property
    def is_creating(self) -> bool:
        """True if a request that creates a session has no response yet."""
        return any(each.method in _CREATING for each in self._requests.values())

    def prompts(self, session_id: str) -> list[OpenRequest]:
        """Return the prompts of a session that have no response yet."""
        prompts = (each for each in self._requests.values() if each.method == PROMPT)
        return [each for each in prompts if members_of(each.body).get("sessionId") == session_id]

    def cancelled_after(self, session_id: str, line: int) -> int | None:
        """Return the line, after *line*, in which the client last cancelled the turn of a session."""
        cancelled = self._cancels.get(session_id, 0)
        return cancelled if cancelled > line else None

    def is_closing(self, session_id: str) -> bool:
        """Return True if a request that closes or deletes the session has no response yet."""
        closing = (each for each in self._requests.values() if each.method in ("session/close", "session/delete"))
        return any(members_of(each.body).get("sessionId") == session_id for each in closing)

    def unanswered(self) -> list[Unanswered]:
        """Return the requests without a response, including those of earlier connections."""
        return [*self._left, *self._open(ended=False)]

    def unfinished(self) -> list[Unfinished]:
        """Return what is left to do in the sessions of this connection."""
        sessions = (each for each in self.sessions.values() if each.phase == "open")
        found = (left for each in sessions for left in each.turns.at_end(cancelled=self._cancels.get(each.id, 0)))
        return sorted(found, key=lambda each: each.line)

    def _open(self, *, ended: bool) -> Iterator[Unanswered]:
        for each in self._requests.values():
            cancelled = self.cancelled(each) if each.method == PERMISSION else None
            yield Unanswered(each, ended, None if cancelled == self.heard and not ended else cancelled)

    def cancelled(self, request: OpenRequest) -> int | None:
        """Return the line, after *request*, in which the client cancelled its prompt.

        The request is the prompt itself or a permission request for it. Return None for other requests, and if the
        prompt was not cancelled. Return None also in v2, where neither waits for the other, and if the sender has
        withdrawn the request, because any response is valid then.
        """
        if request.withdrawn or request.params is None or version_of(self.protocol) > 1:
            return None
        if request.method not in (PROMPT, PERMISSION):
            return None
        return self.cancelled_after(request.params.session_id, request.line)

    def listing(self, session_id: str) -> list[Any] | None:
        """Return the session with this id, or else one with a similar id, as the sessions of a `session/list` response.

        Return None if neither is known.
        """
        session_info: Any = cast("Any", self.protocol).SessionInfo
        known = {id_: each for id_, each in self.sessions.items() if each.phase != "loading"}
        like = (each for id_, each in known.items() if loosely(id_) == loosely(session_id))
        session = known.get(session_id) or next(like, None)
        return [session_info(session_id=session.id, cwd=session.cwd)] if session else None

    def replay_of(self, observed: ObservedMessage) -> tuple[Session, Transcript] | None:
        """Return the session that a response has loaded, and its replay; None for any other message."""
        session = self._loading(observed.request)
        if session is None or session.replay is None or not session.whole:
            return None
        return session, session.replay

    def hear(self, line: Line, *, number: int) -> ObservedMessage:
        """Return the message in a line, with the state that rules need. Call `take` with it afterwards."""
        sender = line.sender or sender_of(line.value, self)
        self._settle(line.value, sender)
        observed = observed_of(self._codecs[sender or "client"].read(line.text), line, sender, before=self)
        self._find_request(observed)
        observed.untimely = self._untimely(observed)
        observed.replayed = self._collected(observed)
        self.heard = number
        return observed

    def skip(self) -> None:
        """Forget what messages that were not recorded may have changed. Open requests remain open."""
        self.begun_before = True
        self.sessions.clear()
        self._cancels.clear()
        self._replays = ReplayCollector()

    def take(self, observed: ObservedMessage) -> None:
        """Update the state with *observed*."""
        if observed.kind in ("request", "unreadable") and observed.method is not None and observed.has_id:
            self._add_request(observed, observed.method)
            if observed.method == UPDATE:  # with an id by mistake
                self._take_update(observed)
        elif observed.kind in ("response", "error") and observed.request is not None:
            del self._requests[observed.request.sender, observed.request.id]
            self._answer(observed, observed.request)
        elif observed.method == UPDATE:
            self._take_update(observed)
        elif observed.method == "session/cancel" and observed.session_id is not None:
            self._cancels[observed.session_id] = self.heard
        elif observed.method == "$/cancel_request" and observed.typed is not None:
            self._withdraw(observed.sender, observed.typed.request_id)

    def _take_update(self, observed: ObservedMessage) -> None:
        session, id_, update = observed.session, observed.session_id, observed.update
        if id_ not in self.sessions and (not self.is_creating or update.get("sessionUpdate") in OF_TURNS):
            self.last_unknown = id_
        if session is None and id_ is not None and self.is_creating:
            session = self.early[id_] = Session(id_, "/", "open")
        if id_ is None:
            for each in self.sessions.values():  # it may have begun a tool call in any of them
                each.turns.is_known = False
        if session is None:
            return
        if observed.typed is not None:
            session.update(observed.typed.update)
        is_history = session.replay is not None or session.turns.reopened
        session.turns.update(update, line=self.heard, is_history=is_history, version=observed.version)
        if update.get("sessionUpdate") == "subagent_update":
            for child in text_in(update, "sessionId") - self.sessions.keys():
                self.sessions[child] = Session(child, session.cwd, "open", directories=session.directories)

    def _withdraw(self, sender: Side | None, id_: Id) -> None:
        # Either side may send it. Without a wrapper, the sender is not known.
        for side in (sender,) if sender else SIDES:
            if request := self.open_request(side, id_):
                self._requests[side, id_] = replace(request, withdrawn=True)

    def _settle(self, value: Any, sender: Side | None) -> None:
        """Read by the version in `initialize` from this message on, if it is the request or the response."""
        message = members_of(value)
        if sender == "client" and message.get("method") == "initialize" and "id" in message:
            self._begin(message.get("id"))
            self._switch_to(version_in(message.get("params")))
        elif sender == "agent" and "method" not in message:
            open_ = self.open_request("client", message.get("id"))
            if open_ and open_.method == "initialize" and (version := version_in(message.get("result"))) is not None:
                self._switch_to(version)
                self._codecs["agent"].expect("initialize", open_.id)

    def _begin(self, id_: Any) -> None:
        is_over = self.has_left or self.exit_status is not None
        if is_over or (self._lifecycle.is_ready and _is_id(id_) and self._opened_with == id_):
            # This is another connection: the one before is over, or the ids begin again. The sessions are still known.
            self._left += self._open(ended=True)
            self._connect()
            self.sessions = {id_: each for id_, each in self.sessions.items() if each.phase in ("known", "open")}
            self.early.clear()
            for session in self.sessions.values():
                session.phase, session.replay, session.turns = "known", None, Turns()
        self._opened_with = id_ if _is_id(id_) else None
        self.begun_before = False

    def _switch_to(self, version: int | None) -> None:
        if self.named is not None and version_of(self.named) == version:
            self.protocol = self.named
        else:
            self.protocol = package_named(f"v{version}") or self.protocol
        for codec in self._codecs.values():
            codec.protocol = self.protocol

    def _find_request(self, observed: ObservedMessage) -> None:
        """Set the request that *observed* answers, if any."""
        if observed.kind not in ("response", "error") or not observed.has_id:
            return
        observed.request = self._requests.get((OTHER[observed.sender] if observed.sender else None, observed.id))
        if observed.request is not None:
            observed.method = observed.request.method

    def _add_request(self, observed: ObservedMessage, method: str) -> None:
        known = self.protocol.METHODS.get(method)
        result = known.request.result if known and known.request else Any
        request = OpenRequest(method, observed.id, self.heard, observed.sender, observed.typed, observed.body, result)
        self._requests[observed.sender, observed.id] = request
        if observed.sender is not None:
            self._codecs[OTHER[observed.sender]].expect(method, observed.id)
        if session := observed.session:
            session.turns.request(method, observed.members, line=self.heard, version=observed.version)
        if observed.typed is None:
            return
        if observed.type_name in ("LoadSessionRequest", "ResumeSessionRequest"):
            self._load(observed.typed)
        elif method == PROMPT and (session := self.sessions.get(observed.typed.session_id)):
            self._replays.prompted(session.id)
            session.prompt(observed.typed.prompt)

    def _load(self, params: Any) -> None:
        self._replays.expect(params)
        session = self.sessions.setdefault(params.session_id, Session(params.session_id, params.cwd, "loading", True))
        with suppress(AcpError):
            session.replay = Transcript() if History.is_requested(params) else None

    def _loading(self, request: OpenRequest | None) -> Session | None:
        """Return the session that *request* loads or resumes, or None."""
        if request is None or request.method not in ("session/load", "session/resume") or request.params is None:
            return None
        return self.sessions.get(request.params.session_id)

    def _answer(self, observed: ObservedMessage, request: OpenRequest) -> None:
        if session := observed.session:
            result = observed.members if observed.kind == "response" else None
            params = members_of(request.body)
            session.turns.response(
                request.method, params, result, line=self.heard, asked=request.line, version=observed.version
            )
            if request.method == PROMPT and result is None:
                session.whole = False  # the agent may not have stored it
        if request.method == "initialize":
            self._initialized(observed, request)
        elif session := self._loading(request):
            is_replayed = session.replay is not None
            session.replay = None
            if observed.kind == "error":
                self._replays.failed(session.id)
                if session.phase == "loading":
                    del self.sessions[session.id]
            else:
                session.phase = "open"
                session.directories = _directories(request.params)
                session.turns.reopen(observed.members, is_replayed=is_replayed)
                self._replays.opened(session.id)
        elif observed.typed is not None:
            self._changed(observed, request)
        elif request.method in _CREATING and observed.kind == "response":
            self.is_unclear = True

    def _changed(self, observed: ObservedMessage, request: OpenRequest) -> None:
        """Update the sessions from a result."""
        result = observed.typed
        if request.method in _CREATING:
            cwd: str = request.params.cwd if request.params is not None else "/"
            is_new = request.method == "session/new"
            new = Session(result.session_id, cwd, "open", whole=is_new, directories=_directories(request.params))
            if early := self.early.pop(new.id, None):
                new.turns = early.turns
            new.turns.open(observed.members, is_known=is_new)
            self.sessions[new.id] = new
            if not self.is_creating:
                self.early.clear()
            with suppress(SessionIdReused):
                self._replays.created(result.session_id)
        elif request.method == "session/list":
            for info in result.sessions:
                self.sessions.setdefault(info.session_id, Session(info.session_id, info.cwd, "known", True))
        elif request.params is None:
            return
        elif request.method in ("session/close", "session/delete"):
            self._replays.closed(request.params.session_id)
            if session := self.sessions.get(request.params.session_id):
                session.phase, session.turns = "closed", Turns()
        elif request.method == PROMPT and (session := self.sessions.get(request.params.session_id)):
            session.prompted = True

    def _initialized(self, observed: ObservedMessage, request: OpenRequest) -> None:
        answered, requested = version_in(observed.body), version_in(request.body)
        if requested is not None and answered is not None and answered > requested:
            self.mismatched = answered, requested
        if observed.typed is not None:
            self.agent = AgentPeer.of(self.protocol, observed.typed, findings=observed.findings)
            self.client = self.client_of(request.body)

    def client_of(self, params: Any) -> ClientPeer | None:
        """Return the client that sent *params* of `initialize`, in the negotiated version; None if they are invalid."""
        if not isinstance(params, dict):  # a string would be read as JSON
            return None
        info: Any = cast("Any", self.protocol).Implementation(name="unknown", version="0")
        with suppress(AcpError):
            return AgentHandshake(info=info, protocols=[self.protocol]).answer(params).client
        return None

    def _untimely(self, observed: ObservedMessage) -> AcpError | None:
        """Return the error that `Lifecycle` raises for *observed*, for each method only the first time."""
        if self.heard == 0 and self.named is not None and observed.method != "initialize":
            self.begun_before = True
        if observed.sender is None:
            return None
        try:
            if observed.kind == "request":
                self._lifecycle.request(observed.method or "", observed.id, sender=observed.sender)
            elif observed.kind in ("response", "error"):
                # Whatever version the agent has tried to give, it has answered.
                version = version_in(observed.body)
                if version is None and observed.kind == "response":
                    version = version_of(self.protocol)
                self._lifecycle.response(observed.id, sender=observed.sender, version=version)
            elif observed.method is not None and observed.kind in ("notification", "unreadable"):
                self._lifecycle.check(observed.method, sender=observed.sender)
        except AcpError as error:
            method = observed.method or ""
            if not self.begun_before and method not in self._reported_untimely:
                self._reported_untimely.add(method)
                # Without any `initialize` so far, there may never be one, and one report is enough.
                self.begun_before = self._opened_with is None
                return error
        return None

    def _collected(self, observed: ObservedMessage) -> tuple[Remark, ...]:
        """Return the remarks of `ReplayCollector` on *observed*."""
        if observed.typed is None or observed.method != "session/update":
            return ()
        before, update = len(self._replays.remarks), observed.typed.update
        state = str(update.state) if update.session_update == "state_update" and observed.version > 1 else None
        self._replays.receive(_light(observed.typed.session_id, update.session_update, state))
        return tuple(self._replays.remarks[before:])


class _Update(NamedTuple):
    """An update and its params in one, reduced to what `ReplayCollector` reads."""

    session_id: str
    session_update: str
    state: str | None

    @property
    def update(self) -> _Update:
        return self


# One object for all equal updates, because a history may be long.
_light = lru_cache(maxsize=1000)(_Update)


def _directories(params: Any) -> tuple[str, ...]:
    return () if params is None else (params.cwd, *(getattr(params, "additional_directories", None) or ()))


def _is_id(value: object) -> bool:
    return isinstance(value, int | str | None) and not isinstance(value, bool)
