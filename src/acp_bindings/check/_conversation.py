"""The state of a recorded conversation, and each message in it as the rules see it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from pydantic_core import to_json

from acp_bindings._json import items_of, members_of
from acp_bindings._lazy import PACKAGES
from acp_bindings._models.base import Model
from acp_bindings.check._inputs import Line
from acp_bindings.check._sessions import Session, Transcript
from acp_bindings.check._turns import OF_TURNS, Turns, Unfinished, text_in
from acp_bindings.decoding import decode
from acp_bindings.errors import AcpError, DecodeError, Finding, Issue, Path
from acp_bindings.jsonrpc import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    BadLine,
    BadResponse,
    Codec,
    ErrorResponse,
    Message,
    Notification,
    ProtocolPackage,
    Request,
    Response,
)
from acp_bindings.messages import Id
from acp_bindings.setup._handshake import AgentHandshake, Lifecycle
from acp_bindings.setup._history import History
from acp_bindings.setup._peer import AgentPeer, ClientPeer
from acp_bindings.setup._records import loosely
from acp_bindings.setup._servers import servers_remarks
from acp_bindings.setup._updates import ReplayCollector
from acp_bindings.setup._versions import name_of, package_named, version_of
from acp_bindings.setup.capabilities import CLOSE, WITHDRAWN, Side
from acp_bindings.setup.errors import Remark, SessionIdReused

PROMPT, PERMISSION, UPDATE = "session/prompt", "session/request_permission", "session/update"

Kind: TypeAlias = Literal["request", "notification", "response", "error", "payload", "unreadable"]
"""A kind of message; or a payload: params or a result without the message around them."""


@dataclass(kw_only=True)
class ObservedMessage:
    """A message or a payload, decoded as far as possible, with the state of the conversation before it.

    Paths begin at the top of the line or of the document.
    """

    kind: Kind
    protocol: ProtocolPackage
    body: Any = None
    """The JSON of the params, of the result, or of the payload."""
    at: Path = ()
    """The path to `body`."""
    message: Any = None
    """The JSON of the message, or of the payload."""
    top: Path = ()
    """The path to `message`."""
    typed: Any = None
    """`body` as an object of its type; None if it is invalid or has no type."""
    type_name: str | None = None
    """The name of the type of `body`."""
    method: str | None = None
    """The method of the message, or of the request that it answers."""
    id: Id = None
    has_id: bool = False
    """True if it has a valid id."""
    sender: Side | None = None
    """The sender; None if it is not known."""
    wrong: tuple[Remark, ...] = ()
    """The errors that prevented reading, with the ids of rules."""
    findings: tuple[Finding, ...] = ()
    """The tolerated errors, with paths in `body`."""
    error_code: int | None = None
    """The code of an error response."""
    request: OpenRequest | None = None
    """The request that it answers."""
    before: Conversation | None = None
    """The conversation before it; None for a message outside of one."""
    untimely: AcpError | None = None
    """The error of `Lifecycle` if it was sent at the wrong time."""
    replayed: tuple[Remark, ...] = ()
    """The remarks of `ReplayCollector`, with paths in `body`."""

    @property
    def version(self) -> int:
        """The version of the protocol that it is read by."""
        return version_of(self.protocol)

    @property
    def members(self) -> dict[str, Any]:
        """The fields of `body`; empty if it is not an object."""
        return members_of(self.body)

    @property
    def session_id(self) -> str | None:
        """The id of the session that it is about."""
        id_ = self.members.get("sessionId")
        return id_ if isinstance(id_, str) else None

    @cached_property
    def update(self) -> dict[str, Any]:
        """The JSON of the update; empty for other messages."""
        return members_of(self.members.get("update")) if self.method == UPDATE else {}

    @cached_property
    def session(self) -> Session | None:
        """The session that it, or the request that it answers, is about."""
        id_ = self.session_id if self.request is None else members_of(self.request.body).get("sessionId")
        return self.before.session(id_) if self.before and isinstance(id_, str) else None

    @property
    def opens(self) -> bool:
        """True if it requests a new or an earlier session."""
        return self.type_name in _OPENING

    @cached_property
    def objects(self) -> list[tuple[Path, Model, dict[str, Any]]]:
        """The objects in `typed`, each with its path in `body` and its fields as they were sent."""
        return [*_objects(self.typed, self.body, ())]

    @cached_property
    def servers(self) -> tuple[list[Any], Path]:
        """The MCP servers in it as JSON, and the path to their list."""
        if self.type_name == "McpServers":
            return items_of(self.body), self.at
        if self.type_name == "McpServer":
            return [self.body], self.at
        return items_of(self.members.get("mcpServers") if self.opens else None), (*self.at, "mcpServers")

    @cached_property
    def servers_remarks(self) -> list[Remark]:
        """The known problems of these servers."""
        servers, path = self.servers
        remarks = servers_remarks(map(members_of, servers), version=self.version, path=path)
        if self.type_name != "McpServer":
            return remarks
        # It is not in a list, so its path has no index.
        return [replace(each, path=(*path, *each.path[len(path) + 1 :])) for each in remarks]


_OPENING = {"NewSessionRequest", "LoadSessionRequest", "ResumeSessionRequest", "ForkSessionRequest"}


def _objects(value: object, raw: object, path: Path) -> Iterator[tuple[Path, Model, dict[str, Any]]]:
    if isinstance(value, Model):
        members = members_of(raw)
        yield path, value, members
        for name, info in type(value).__pydantic_fields__.items():
            known_as = info.alias or name
            yield from _objects(getattr(value, name), members.get(known_as), (*path, known_as))
    elif isinstance(value, list) and len(cast("list[object]", value)) == len(items_of(raw)):
        for index, (each, its) in enumerate(zip(cast("list[object]", value), items_of(raw), strict=True)):
            yield from _objects(each, its, (*path, index))


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


def observed_of(message: Message, line: Line, sender: Side | None, protocol: ProtocolPackage) -> ObservedMessage:
    """Return the *message* that a codec of *protocol* has read from *line*, in the form for rules."""
    value = members_of(line.value)
    id_: Any = value.get("id")
    has_id = "id" in value and isinstance(id_, int | str) and not isinstance(id_, bool)
    observed = ObservedMessage(kind="unreadable", protocol=protocol, sender=sender, message=line.value, top=line.at)
    observed.id, observed.has_id = (id_, True) if has_id else (None, False)
    if isinstance(method := value.get("method"), str):
        observed.method = method
    match message:
        case Request(params=params, type=type_) | Notification(params=params, type=type_):
            observed.kind = "request" if isinstance(message, Request) else "notification"
            observed.typed, observed.type_name = (params, type_.params_name) if type_ else (None, None)
            observed.findings = message.findings
        case Response(result=result):
            observed.kind, observed.typed, observed.findings = "response", result, message.findings
        case ErrorResponse(error=error):
            observed.kind, observed.error_code = "error", error.code
        case BadResponse():
            observed.kind = "response"
            observed.wrong = tuple(_bad_response(message, value, line.at))
        case BadLine():
            if "method" not in value and value.keys() & {"result", "error"}:
                observed.kind = "response" if value.get("error") is None else "error"
            else:
                observed.wrong = tuple(_bad_line(message, observed, line.at))
    _find_body(observed, value, line.at, message)
    return observed


def issues_as(rule: str, issues: Iterable[Issue], at: Path) -> Iterator[Remark]:
    """The *issues* with the value at the path *at*, as remarks of *rule*."""
    for each in issues:
        yield Remark((*at, *each.path), rule, str(replace(each, path=())), "error")


def _find_body(observed: ObservedMessage, value: dict[str, Any], at: Path, message: Message) -> None:
    if observed.kind in ("response", "error"):
        observed.body = value.get("result")
        observed.at = (*at, "result")
        if isinstance(message, Response | BadResponse):
            known = observed.protocol.METHODS.get(message.method)
            observed.method = message.method
            observed.type_name = known.request.result_name if known and known.request else None
            # This is JSON also if the protocol version at the time of the request did not have the method.
            if observed.type_name is None or not isinstance(observed.typed, Model):
                observed.typed = None
    else:
        observed.body = value.get("params")
        observed.at = (*at, "params")
        if observed.type_name is None and (known := observed.protocol.METHODS.get(observed.method or "")):
            type_ = known.request if observed.has_id else known.notification
            observed.type_name = type_.params_name if type_ else None


def _bad_response(message: BadResponse, value: dict[str, Any], at: Path) -> Iterator[Remark]:
    if not message.issues:
        yield Remark(at, "schema.message", message.message, "error")
    what = "result" if value.get("error") is None else "error"
    yield from issues_as(f"schema.{what}", message.issues, (*at, what))


def _bad_line(message: BadLine, observed: ObservedMessage, at: Path) -> Iterator[Remark]:
    if message.code == INVALID_PARAMS:
        yield from issues_as("schema.params", message.issues, (*at, "params"))
    elif message.code == METHOD_NOT_FOUND:
        reason = message.message.partition(": ")[2] or _unknown(observed.method or "", observed.protocol)
        yield Remark((*at, "method"), "schema.method", reason, "error")
    elif message.code == PARSE_ERROR:
        yield Remark(at, "schema.json", _no_json(message.message), "error")
    else:
        yield Remark(at, "schema.message", message.message, "error")


def _no_json(reason: str) -> str:
    """Return why a line is not JSON. Only the character is given, because the line number would always be 1."""
    reason = re.sub(r" at line 1 column (\d+)", r" at character \1", reason.removeprefix("Parse error: "))
    if reason.startswith("EOF"):
        return "it ends in the middle of a message; was it cut off?"
    return f"it is not JSON: {reason}" + ("" if "; " in reason else "; a message is one line of JSON in UTF-8")


def _unknown(method: str, protocol: ProtocolPackage) -> str:
    """Return the message for an unknown method, with a hint."""
    here = name_of(protocol)
    having = [each for each in PACKAGES if method in package_named(each).METHODS]
    if having:
        text = f"{here} has no {method}, which {' and '.join(having)} {'have' if len(having) > 1 else 'has'}"
        draft = f"{here}_unstable"
        return f"{text}; --protocol {draft} reads it" if draft in having else text
    if instead := WITHDRAWN.get(method):
        return f"{method} was in drafts of the protocol; now there is {instead}"
    known = protocol.METHODS if len(method) < 100 else ()
    close = difflib.get_close_matches(method, known, n=1, cutoff=CLOSE)
    hint = f"; did you mean {close[0]}?" if close else "; names of extensions begin with an underscore"
    return f"there is no method {method[:100]}{hint}"


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
        """The number of the last line."""
        self._left: list[Unanswered] = []
        """The requests without a response on earlier connections."""
        self._connect()

    def _connect(self) -> None:
        """Reset the state of the connection, because a new one begins."""
        self.begun_before = False
        """True if the recording begins later than the connection."""
        self.is_unclear = False
        """True if a response that creates a session is invalid, so that its id may not be known."""
        self.last_unknown: str | None = None
        """The last session that an update has named and that does not exist, which is reported once."""
        self.requested: int | None = None
        """The version that the client requested."""
        self.mismatched: tuple[int, int] | None = None
        """The version in the response and the requested one, if the first is higher."""
        self.agent: AgentPeer | None = None
        self.client: ClientPeer | None = None
        self.client_asking: ClientPeer | None = None
        """The client, while its `initialize` has no response yet."""
        self._protocol: ProtocolPackage = self.named or package_named("v1")
        self._codecs: dict[Side, Codec] = {
            "client": Codec(self._protocol, role="agent", findings=True),
            "agent": Codec(self._protocol, role="client", findings=True),
        }
        """The codec that reads the lines of each side."""
        self._requests: dict[tuple[Side | None, Id], OpenRequest] = {}
        self._lifecycle = Lifecycle()
        self._opened_with: Id | None = None
        self._reported_untimely: set[str] = set()
        self._cancels: dict[str, int] = {}
        """The line in which the client last cancelled a prompt, by session id."""
        self._replays: ReplayCollector[_Update] = ReplayCollector()

    def open_request(self, sender: Side | None, id: Any) -> OpenRequest | None:  # noqa: A002
        """Return the request of *sender* with this *id* that has no response yet."""
        return self._requests.get((sender, id)) if sender and _is_id(id) else None

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
        return sorted((left for each in sessions for left in each.turns.at_end()), key=lambda each: each.line)

    def _open(self, *, ended: bool) -> Iterator[Unanswered]:
        for each in self._requests.values():
            cancelled = self.cancelled(each) if each.method == PERMISSION else None
            # The params are dropped, because they may be large.
            light = replace(each, params=None, body=None)
            yield Unanswered(light, ended, None if cancelled == self.heard and not ended else cancelled)

    def cancelled(self, request: OpenRequest) -> int | None:
        """Return the line, after *request*, in which the client cancelled its prompt.

        The request is the prompt itself or a permission request for it. Return None for other requests, and if the
        prompt was not cancelled. Return None also in v2, where neither waits for the other, and if the sender has
        withdrawn the request, because any response is valid then.
        """
        if request.withdrawn or request.params is None or version_of(self._protocol) > 1:
            return None
        if request.method not in (PROMPT, PERMISSION):
            return None
        return self.cancelled_after(request.params.session_id, request.line)

    def listing(self, session_id: str) -> list[Any] | None:
        """Return the session with this id, or else one with a similar id, as the sessions of a `session/list` response.

        Return None if neither is known.
        """
        session_info: Any = cast("Any", self._protocol).SessionInfo
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
        observed = observed_of(self._codecs[sender or "client"].read(line.text), line, sender, self._protocol)
        observed.before = self
        self._find_request(observed)
        observed.untimely = self._untimely(observed)
        observed.replayed = self._collected(observed)
        self.heard = number
        return observed

    def take(self, observed: ObservedMessage) -> None:
        """Update the state with *observed*."""
        if observed.kind in ("request", "unreadable") and observed.method is not None and observed.has_id:
            self._add_request(observed, observed.method)
        elif observed.kind in ("response", "error") and observed.request is not None:
            del self._requests[observed.request.sender, observed.request.id]
            self._answer(observed, observed.request)
        elif observed.method == UPDATE:
            self._take_update(observed)
        elif observed.method == "session/cancel" and observed.session_id is not None:
            self._cancels[observed.session_id] = self.heard
            if session := observed.session:
                session.turns.was_cancelled = True
        elif observed.method == "$/cancel_request" and observed.typed is not None:
            self._withdraw(observed.sender, observed.typed.request_id)

    def _take_update(self, observed: ObservedMessage) -> None:
        session, id_, update = observed.session, observed.session_id, observed.update
        if id_ not in self.sessions and (not self.is_creating or update.get("sessionUpdate") in OF_TURNS):
            self.last_unknown = id_
        if session is None and id_ is not None and self.is_creating:
            session = self.early[id_] = Session(id_, "/", "open")
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
            self._switch_to(_version_in(message.get("params")))
        elif sender == "agent" and "method" not in message:
            open_ = self.open_request("client", message.get("id"))
            if open_ and open_.method == "initialize" and (version := _version_in(message.get("result"))) is not None:
                self._switch_to(version)
                self._codecs["agent"].expect("initialize", open_.id)

    def _begin(self, id_: Any) -> None:
        if self._lifecycle.is_ready and _is_id(id_) and self._opened_with == id_:
            # The ids begin again, so this is another connection. The sessions are still known.
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
            self._protocol = self.named
        else:
            self._protocol = package_named(f"v{version}") or self._protocol
        for codec in self._codecs.values():
            codec.protocol = self._protocol

    def _find_request(self, observed: ObservedMessage) -> None:
        """Set the request that *observed* answers, if any."""
        if observed.kind not in ("response", "error") or not observed.has_id:
            return
        observed.request = self._requests.get((OTHER[observed.sender] if observed.sender else None, observed.id))
        if observed.request is not None:
            observed.method = observed.request.method

    def _add_request(self, observed: ObservedMessage, method: str) -> None:
        known = self._protocol.METHODS.get(method)
        result = known.request.result if known and known.request else Any
        request = OpenRequest(method, observed.id, self.heard, observed.sender, observed.typed, observed.body, result)
        self._requests[observed.sender, observed.id] = request
        if observed.sender is not None:
            self._codecs[OTHER[observed.sender]].expect(method, observed.id)
        if method == "initialize":
            self.requested = _version_in(observed.body)
            self.client_asking = self._client(observed.body)
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
        answered = _version_in(observed.body)
        if self.requested is not None and answered is not None and answered > self.requested:
            self.mismatched = answered, self.requested
        if observed.typed is not None:
            self.agent = AgentPeer.of(self._protocol, observed.typed, findings=observed.findings)
            self.client = self._client(request.body)
        self.client_asking = None

    def _client(self, params: Any) -> ClientPeer | None:
        """Return the client that sent *params* of `initialize`, in the negotiated version; None if they are invalid."""
        if not isinstance(params, dict):  # a string would be read as JSON
            return None
        info: Any = cast("Any", self._protocol).Implementation(name="unknown", version="0")
        with suppress(AcpError):
            return AgentHandshake(info=info, protocols=[self._protocol]).answer(params).client
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
                self._lifecycle.response(observed.id, sender=observed.sender, version=_version_in(observed.body))
            elif observed.method is not None and observed.kind in ("notification", "unreadable"):
                self._lifecycle.check(observed.method, sender=observed.sender)
        except AcpError as error:
            return self._once(error, observed.method or "")
        return None

    def _once(self, error: AcpError, method: str) -> AcpError | None:
        if self.begun_before or method in self._reported_untimely:
            return None
        self._reported_untimely.add(method)
        # Without any `initialize` so far, there may never be one, and one report is enough.
        self.begun_before = self._opened_with is None
        return error

    def _collected(self, observed: ObservedMessage) -> tuple[Remark, ...]:
        """Return the remarks of `ReplayCollector` on *observed*."""
        if observed.typed is None or observed.method != "session/update":
            return ()
        before, update = len(self._replays.remarks), observed.typed.update
        state = str(update.state) if update.session_update == "state_update" and observed.version > 1 else None
        self._replays.receive(_light(observed.typed.session_id, update.session_update, state))
        return tuple(self._replays.remarks[before:])


class _Kind(NamedTuple):
    session_update: str
    state: str | None


class _Update(NamedTuple):
    """An update, reduced to its session, its kind and the state in it."""

    session_id: str
    update: _Kind


@lru_cache(maxsize=1000)
def _light(session_id: str, kind: str, state: str | None) -> _Update:
    """Return one object for all equal updates, because a history may be long."""
    return _Update(session_id, _Kind(kind, state))


def _directories(params: Any) -> tuple[str, ...]:
    return () if params is None else (params.cwd, *(getattr(params, "additional_directories", None) or ()))


def _version_in(value: object) -> int | None:
    version = members_of(value).get("protocolVersion")
    return version if type(version) is int else None


def _is_id(value: object) -> bool:
    return isinstance(value, int | str | None) and not isinstance(value, bool)
