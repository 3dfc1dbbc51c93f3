"""A conversation as an onlooker follows it: a codec reads each side, and every message adds to what is known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, cast

from acp_bindings._json.shapes import members_of
from acp_bindings.check.lines import Line
from acp_bindings.check.reading import said_of
from acp_bindings.check.said import Said
from acp_bindings.check.sessions import Session, Sessions, Transcript
from acp_bindings.check.speakers import OTHER, SIDES, sender_of
from acp_bindings.errors import AcpError
from acp_bindings.jsonrpc import Codec, ProtocolPackage
from acp_bindings.messages import Id
from acp_bindings.setup.capabilities import Side
from acp_bindings.setup.initialization.handshake import AgentHandshake
from acp_bindings.setup.initialization.lifecycle import Lifecycle
from acp_bindings.setup.peer import AgentPeer, ClientPeer
from acp_bindings.setup.remarks import Remark
from acp_bindings.setup.sessions.history import asks_for_history
from acp_bindings.setup.sessions.updates import ReplayCollector, SessionIdReused
from acp_bindings.setup.versions import package_named, version_of

PROMPT, PERMISSION = "session/prompt", "session/request_permission"


@dataclass(frozen=True)
class Asked:
    """A request that has no answer yet."""

    method: str
    id: Id
    line: int
    sender: Side | None
    params: Any
    """As an object of their type; None where they could not be read."""
    body: Any
    """The same as JSON."""
    result: Any
    """The type of its result; `Any` where the protocol has none."""
    withdrawn: bool = False
    """Whether who asked has cancelled it by `$/cancel_request`."""


class Unanswered(NamedTuple):
    """A request that got no answer."""

    asked: Asked
    ended: bool
    """Whether its connection is over, since another has begun."""
    cancelled: int | None
    """The line in which the client cancelled the prompt that it belongs to, if it asks for permission and has to be
    answered for that, and more was said since."""


class Conversation:
    """What is known of a conversation after the messages that were heard so far."""

    def __init__(self, protocol: ProtocolPackage | None = None) -> None:
        """A conversation of which nothing has been heard.

        Args:
            protocol: the package to read by where no `initialize` tells the version, as in a recording that begins
                later, or where that tells the version of this package. Without it `v1` is taken, and a missing
                `initialize` is a mistake.
        """
        self.named = protocol
        """The *protocol* that was given."""
        self.sessions = Sessions()
        self.heard = 0
        """The number of the last line."""
        self._left: list[Unanswered] = []
        """Of earlier connections."""
        self._connect()

    def _connect(self) -> None:
        """Forget all that is known of the connection, as at the beginning of one."""
        self.begun_before = False
        """Whether the recording begins later than the connection."""
        self.requested: int | None = None
        """The version that the client asked for."""
        self.mismatched: tuple[int, int] | None = None
        """The version that the agent answered with and the requested one, where the first is higher."""
        self.agent: AgentPeer | None = None
        self.client: ClientPeer | None = None
        self.client_asking: ClientPeer | None = None
        """The client, while its `initialize` has no answer yet."""
        self._protocol: ProtocolPackage = self.named or package_named("v1")
        self._codecs: dict[Side, Codec] = {
            "client": Codec(self._protocol, role="agent", findings=True),
            "agent": Codec(self._protocol, role="client", findings=True),
        }
        """What reads the lines of each side."""
        self._asked: dict[tuple[Side | None, Id], Asked] = {}
        self._lifecycle = Lifecycle()
        self._opened_with: Id | None = None
        self._told_untimely: set[str] = set()
        self._cancels: dict[str, int] = {}
        """Of each session the line in which the client last cancelled a prompt."""
        self._replays: ReplayCollector[_Update] = ReplayCollector()

    def open_request(self, sender: Side | None, id: Any) -> Asked | None:  # noqa: A002
        """The request of *sender* with this *id* that has no answer yet."""
        return self._asked.get((sender, id)) if sender and _is_id(id) else None

    def unanswered(self) -> list[Unanswered]:
        """The requests that have no answer, also those of earlier connections."""
        return [*self._left, *self._open(ended=False)]

    def _open(self, *, ended: bool) -> Iterator[Unanswered]:
        for each in self._asked.values():
            cancelled = self.cancelled(each) if each.method == PERMISSION else None
            # Without what they hold, which may be much.
            light = replace(each, params=None, body=None)
            yield Unanswered(light, ended, None if cancelled == self.heard and not ended else cancelled)

    def cancelled(self, asked: Asked) -> int | None:
        """The line in which the client cancelled a prompt after it was *asked*, or permission was for it.

        None where that was not so; by v2, where neither waits for the other; and where who asked has withdrawn it, as
        any answer will do then.
        """
        if asked.withdrawn or asked.params is None or version_of(self._protocol) > 1:
            return None
        if asked.method not in (PROMPT, PERMISSION):
            return None
        line = self._cancels.get(asked.params.session_id, 0)
        return line if line > asked.line else None

    def listing(self, session_id: str) -> list[Any] | None:
        """The session with this id, or else one whose id is like it, as an answer to `session/list` would have it.

        None where neither is known.
        """
        session_info: Any = cast("Any", self._protocol).SessionInfo
        session = self.sessions.like(session_id)
        return [session_info(session_id=session.id, cwd=session.cwd)] if session else None

    def replay_of(self, said: Said) -> tuple[Session, Transcript] | None:
        """The session that *said* answers the request to load, and what was replayed of it; None for anything else."""
        session = self._loading(said.asked)
        if session is None or session.replay is None or not session.whole:
            return None
        return session, session.replay

    def hear(self, line: Line, *, number: int) -> Said:
        """The message in a line, with all that rules have to know of it. Call `take` with it afterwards."""
        sender = line.sender or sender_of(line.value, self)
        self._settle(line.value, sender)
        said = said_of(self._codecs[sender or "client"].read(line.text), line, sender, self._protocol)
        said.before = self
        self._find_asked(said)
        said.untimely = self._untimely(said)
        said.replayed = self._collected(said)
        self.heard = number
        return said

    def take(self, said: Said) -> None:
        """Add what *said* makes known."""
        if said.kind in ("request", "unreadable") and said.method is not None and said.has_id:
            self._ask(said, said.method)
        elif said.kind in ("response", "error") and said.asked is not None:
            del self._asked[said.asked.sender, said.asked.id]
            self._answer(said, said.asked)
        elif said.method == "session/update" and (session := self._session_of(said)):
            session.update(said.typed.update)
        elif said.method == "session/cancel" and said.session_id is not None:
            self._cancels[said.session_id] = self.heard
        elif said.method == "$/cancel_request" and said.typed is not None:
            self._withdraw(said.sender, said.typed.request_id)

    def _withdraw(self, sender: Side | None, id_: Id) -> None:
        # Either side may say it: without a wrapper nothing tells which one did.
        for side in (sender,) if sender else SIDES:
            if asked := self.open_request(side, id_):
                self._asked[side, id_] = replace(asked, withdrawn=True)

    def _settle(self, value: Any, sender: Side | None) -> None:
        """Read by the version in `initialize` from this message on, if it is the request or the response."""
        message = members_of(value)
        if sender == "client" and message.get("method") == "initialize" and "id" in message:
            self._begin(message.get("id"))
            self._speak(_version_in(message.get("params")))
        elif sender == "agent" and "method" not in message:
            open_ = self.open_request("client", message.get("id"))
            if open_ and open_.method == "initialize" and (version := _version_in(message.get("result"))) is not None:
                self._speak(version)
                self._codecs["agent"].expect("initialize", open_.id)

    def _begin(self, id_: Any) -> None:
        if self._lifecycle.is_ready and _is_id(id_) and self._opened_with == id_:
            # The ids begin again: it is another connection. The sessions are still known.
            self._left += self._open(ended=True)
            self._connect()
            self.sessions.reconnect()
        self._opened_with = id_ if _is_id(id_) else None
        self.begun_before = False

    def _speak(self, version: int | None) -> None:
        if self.named is not None and version_of(self.named) == version:
            self._protocol = self.named
        else:
            self._protocol = package_named(f"v{version}") or self._protocol
        for codec in self._codecs.values():
            codec.protocol = self._protocol

    def _find_asked(self, said: Said) -> None:
        """The request that *said* answers, if it does."""
        if said.kind not in ("response", "error") or not said.has_id:
            return
        said.asked = self._asked.get((OTHER[said.sender] if said.sender else None, said.id))
        if said.asked is not None:
            said.method = said.asked.method

    def _ask(self, said: Said, method: str) -> None:
        known = self._protocol.METHODS.get(method)
        result = known.request.result if known and known.request else Any
        asked = Asked(method, said.id, self.heard, said.sender, said.typed, said.body, result)
        self._asked[said.sender, said.id] = asked
        if said.sender is not None:
            self._codecs[OTHER[said.sender]].expect(method, said.id)
        if method == "initialize":
            self.requested = _version_in(said.body)
            self.client_asking = self._client(said.body)
        if said.typed is None:
            return
        if said.type_name in ("LoadSessionRequest", "ResumeSessionRequest"):
            self._load(said.typed)
        elif method == PROMPT and (session := self.sessions.get(said.typed.session_id)):
            self._replays.prompted(session.id)
            session.prompt(said.typed.prompt)

    def _session_of(self, said: Said) -> Session | None:
        return self.sessions.get(said.typed.session_id) if said.typed is not None else None

    def _load(self, params: Any) -> None:
        self._replays.expect(params)
        session = self.sessions.setdefault(params.session_id, Session(params.session_id, params.cwd, "loading", True))
        self.sessions.note(session.id)
        with suppress(AcpError):
            session.replay = Transcript() if asks_for_history(params) else None

    def _loading(self, asked: Asked | None) -> Session | None:
        """The session that *asked* loads or resumes, if it does."""
        if asked is None or asked.method not in ("session/load", "session/resume") or asked.params is None:
            return None
        return self.sessions.get(asked.params.session_id)

    def _answer(self, said: Said, asked: Asked) -> None:
        if asked.method == "initialize":
            self._initialized(said, asked)
        elif session := self._loading(asked):
            session.replay = None
            if said.kind == "error":
                self._replays.failed(session.id)
                if session.phase == "loading":
                    del self.sessions[session.id]
            else:
                session.phase = "open"
                self.sessions.note(session.id)
                self._replays.opened(session.id)
        elif said.typed is not None:
            self._changed(said.typed, asked)

    def _changed(self, result: Any, asked: Asked) -> None:
        """Note what a result says of sessions."""
        if asked.method in ("session/new", "session/fork"):
            cwd: str = asked.params.cwd if asked.params is not None else "/"
            self.sessions[result.session_id] = Session(
                result.session_id, cwd, "open", whole=asked.method == "session/new"
            )
            self.sessions.note(result.session_id)
            with suppress(SessionIdReused):
                self._replays.created(result.session_id)
        elif asked.method == "session/list":
            for info in result.sessions:
                self.sessions.setdefault(info.session_id, Session(info.session_id, info.cwd, "known", True))
                self.sessions.note(info.session_id)
        elif asked.params is None:
            return
        elif asked.method in ("session/close", "session/delete"):
            self._replays.closed(asked.params.session_id)
            if session := self.sessions.get(asked.params.session_id):
                session.phase = "closed"
                self.sessions.note(session.id)
        elif asked.method == PROMPT and (session := self.sessions.get(asked.params.session_id)):
            session.prompted = True

    def _initialized(self, said: Said, asked: Asked) -> None:
        answered = _version_in(said.body)
        if self.requested is not None and answered is not None and answered > self.requested:
            self.mismatched = answered, self.requested
        if said.typed is not None:
            self.agent = AgentPeer.of(self._protocol, said.typed, findings=said.findings)
            self.client = self._client(asked.body)
        self.client_asking = None

    def _client(self, params: Any) -> ClientPeer | None:
        """The client that sent *params* of `initialize`, in the version that is spoken; None where they are wrong."""
        if not isinstance(params, dict):  # text would be taken for JSON
            return None
        info: Any = cast("Any", self._protocol).Implementation(name="unknown", version="0")
        with suppress(AcpError):
            return AgentHandshake(info=info, protocols=[self._protocol]).answer(params).client
        return None

    def _untimely(self, said: Said) -> AcpError | None:
        """The error that `Lifecycle` raises for *said*; for each method only the first time."""
        if self.heard == 0 and self.named is not None and said.method != "initialize":
            self.begun_before = True
        if said.sender is None:
            return None
        try:
            if said.kind == "request":
                self._lifecycle.request(said.method or "", said.id, sender=said.sender)
            elif said.kind in ("response", "error"):
                self._lifecycle.response(said.id, sender=said.sender, version=_version_in(said.body))
            elif said.method is not None and said.kind in ("notification", "unreadable"):
                self._lifecycle.check(said.method, sender=said.sender)
        except AcpError as error:
            return self._once(error, said.method or "")
        return None

    def _once(self, error: AcpError, method: str) -> AcpError | None:
        if self.begun_before or method in self._told_untimely:
            return None
        self._told_untimely.add(method)
        # Where no `initialize` has been seen, there may never be one, and once is enough.
        self.begun_before = self._opened_with is None
        return error

    def _collected(self, said: Said) -> tuple[Remark, ...]:
        """The remarks that `ReplayCollector` makes on *said*."""
        if said.typed is None or said.method != "session/update":
            return ()
        before = len(self._replays.remarks)
        self._replays.receive(_light(said.typed.session_id, said.typed.update.session_update))
        return tuple(self._replays.remarks[before:])


class _Kind(NamedTuple):
    session_update: str


class _Update(NamedTuple):
    """An update, of which only the session and the kind are kept."""

    session_id: str
    update: _Kind


@lru_cache(maxsize=1000)
def _light(session_id: str, kind: str) -> _Update:
    """One object for all that are alike: a history may be long."""
    return _Update(session_id, _Kind(kind))


def _version_in(value: object) -> int | None:
    version = members_of(value).get("protocolVersion")
    return version if type(version) is int else None


def _is_id(value: object) -> bool:
    return isinstance(value, int | str | None) and not isinstance(value, bool)
