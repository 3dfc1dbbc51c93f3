"""A message of a recording as the rules see it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from acp_bindings._json import items_of, members_of
from acp_bindings._lazy import PACKAGES, closest
from acp_bindings._models.base import Model
from acp_bindings.check._inputs import Line
from acp_bindings.check._sessions import Session
from acp_bindings.errors import AcpError, Finding, Issue, Path
from acp_bindings.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, PARSE_ERROR, ProtocolPackage
from acp_bindings.messages import BadLine, BadResponse, ErrorResponse, Id, Message, Notification, Request, Response
from acp_bindings.setup._versions import name_of, package_named, version_of
from acp_bindings.setup.capabilities import Side
from acp_bindings.setup.errors import Remark

if TYPE_CHECKING:
    from acp_bindings.check._conversation import Conversation, OpenRequest

PROMPT, PERMISSION, UPDATE = "session/prompt", "session/request_permission", "session/update"

Kind: TypeAlias = Literal["request", "notification", "response", "error", "payload", "unreadable"]
"""A kind of message; or a payload: params or a result without the message around them."""


@dataclass(kw_only=True)
class ObservedMessage:
    """A message or a payload, decoded as far as possible, with the state of the conversation before it.

    Paths begin at the top of the line or of the document.
    """

    kind: Kind
    before: Conversation
    """The conversation before it. It has no messages if this is not part of a conversation."""
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
    untimely: AcpError | None = None
    """The error of `Lifecycle` if it was sent at the wrong time."""
    replayed: tuple[Remark, ...] = ()
    """The remarks of `ReplayCollector`, with paths in `body`."""

    @property
    def protocol(self) -> ProtocolPackage:
        """The protocol package that it is read by."""
        return self.before.protocol

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
        return self.before.session(id_) if isinstance(id_, str) else None

    @property
    def opens(self) -> bool:
        """True if it requests a new or an earlier session."""
        return self.type_name in _OPENING

    @cached_property
    def objects(self) -> list[tuple[Path, Model, dict[str, Any]]]:
        """The objects in `typed`, each with its path in `body` and its fields as they were sent."""
        return [*_objects(self.typed, self.body, ())]

    @cached_property
    def servers(self) -> list[tuple[dict[str, Any], Path]]:
        """The MCP servers in it as JSON, each with its path in `body`."""
        if self.type_name == "McpServer":
            return [(self.members, ())]
        if self.type_name == "McpServers":
            return [(members_of(each), (index,)) for index, each in enumerate(items_of(self.body))]
        listed = items_of(self.members.get("mcpServers")) if self.opens else []
        return [(members_of(each), ("mcpServers", index)) for index, each in enumerate(listed)]


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


def observed_of(message: Message, line: Line, sender: Side | None, before: Conversation) -> ObservedMessage:
    """Return the *message* that a codec of the conversation *before* it has read from *line*, in the form for rules."""
    value = members_of(line.value)
    id_: Any = value.get("id")
    has_id = "id" in value and isinstance(id_, int | str | None) and not isinstance(id_, bool)
    observed = ObservedMessage(kind="unreadable", before=before, sender=sender, message=line.value, top=line.at)
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
            # A response to no open request has a rule of its own.
            if observed.kind == "unreadable" or message.code == PARSE_ERROR:
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


WITHDRAWN = {"session/set_model": "session/set_config_option"}
"""Methods of earlier drafts that peers still send, and their replacements."""

_CLOSE = 0.8
"""The similarity, up to 1, from which a method is suggested."""


def _unknown(method: str, protocol: ProtocolPackage) -> str:
    """Return the message for an unknown method, with a hint."""
    here = name_of(protocol)
    having = [each for each in PACKAGES if method in package_named(each).METHODS]
    if having:
        text = f"{here} has no {method}, which {' and '.join(having)} {'have' if len(having) > 1 else 'has'}"
        draft = f"{here}_unstable"
        return f"{text}; acp-bindings check --protocol {draft} reads it" if draft in having else text
    if instead := WITHDRAWN.get(method):
        return f"{method} was in drafts of the protocol; now there is {instead}"
    close = closest(method[:100], protocol.METHODS, cutoff=_CLOSE)
    hint = f"; did you mean {close}?" if close else "; names of extensions begin with an underscore"
    return f"{method[:100]} is not a method{hint}"
