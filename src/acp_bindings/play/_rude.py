"""Rude behaviour: each kind is what an agent writes in place of one of its lines, or what it does not read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

Json: TypeAlias = dict[str, Any]
Place: TypeAlias = Literal["initialize", "session/new", "session/load", "session/prompt", "end", "any"]

OWN_ID = "rude-1"
"""The id of the requests that these kinds send. Their responses do not reach the agent."""
EXIT = b"\0exit "
"""The beginning of a line that is never written: the process exits when all lines before it are."""


@dataclass(frozen=True)
class Moment:
    """The line that is about to be written."""

    line: bytes
    message: Json
    session: str
    """The id of the session of the request."""
    version: int
    held: list[bytes]
    """The lines since the request, for kinds that hold them back."""

    def update(self, **update: Any) -> bytes:
        """Return the line of an update of the session."""
        return _line({"method": "session/update", "params": {"sessionId": self.session, "update": update}})

    def chunk(self, text: str, kind: str = "agent_message_chunk") -> bytes:
        """Return the line of a piece of a message."""
        return self.update(sessionUpdate=kind, content={"type": "text", "text": text}, messageId="rude")

    def answer(self, **fields: Any) -> bytes:
        """Return the response with other fields."""
        return _line({**self.message, **fields})

    @property
    def half(self) -> bytes:
        """The first half of the line."""
        return self.line[: len(self.line) // 2]


def _line(message: Json) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"


Spoil: TypeAlias = Callable[[Moment], Iterable[bytes]]


@dataclass(frozen=True)
class Rude:
    """A kind of rude behaviour."""

    doc: str
    place: Place = "end"
    """The request whose response is spoiled; `end` for the line that ends the turn; `any` for all lines."""
    spoil: Spoil | None = None
    holds: bool = False
    """True if the updates since the request are held back, for `Moment.held`."""
    ignores: Literal["cancel", "end", "input"] | None = None
    """The event that the agent ignores."""
    rule: str | None = None
    """The rule of `acp-bindings check` that reports it; None if it is allowed, or no line shows it.

    v2 allows some of them.
    """


def _before(doc: str, make: Callable[[Moment], bytes], rule: str | None = None) -> Rude:
    """Return a kind that writes something before the end of the turn."""
    return Rude(doc, "end", lambda moment: (make(moment), moment.line), rule=rule)


def _instead(place: Place, doc: str, make: Callable[[Moment], bytes], rule: str | None = None) -> Rude:
    """Return a kind that writes something in place of a response."""
    return Rude(doc, place, lambda moment: (make(moment),), rule=rule)


def _request(method: str, **params: Any) -> Callable[[Moment], bytes]:
    return lambda moment: _line({"id": OWN_ID, "method": method, "params": {"sessionId": moment.session, **params}})


def _other_session(moment: Moment) -> bytes:
    return replace(moment, session="unknown").chunk("For a session that does not exist.")


def _tool(status: str, **more: Any) -> Callable[[Moment], bytes]:
    def make(moment: Moment) -> bytes:
        kind = "tool_call" if moment.version == 1 else "tool_call_update"
        return moment.update(sessionUpdate=kind, toolCallId=f"rude-{status}", title="A tool", status=status, **more)

    return make


def _early(moment: Moment) -> Iterable[bytes]:
    return replace(moment, session=moment.message["result"]["sessionId"]).chunk("Early"), moment.line


def _result(**fields: Any) -> Callable[[Moment], bytes]:
    return lambda moment: moment.answer(result={**moment.message["result"], **fields})


def _permission(moment: Moment, *more: Json) -> bytes:
    call = {"toolCallId": "rude-unknown"}
    of_v2 = {"title": "?", "subject": {"type": "tool_call", "toolCall": call}}
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, *more]
    params = {"toolCall": call} if moment.version == 1 else of_v2
    return _request("session/request_permission", options=options, **params)(moment)


_NO = {"optionId": "yes", "name": "No", "kind": "reject_once"}


RUDE: Mapping[str, Rude] = {
    "bad-error": _instead(
        "session/prompt",
        "answers the prompt with an error that is only a string",
        lambda moment: _line({"id": moment.message["id"], "error": "It did not work"}),
        "schema.error",
    ),
    "bad-params": _before(
        "sends a piece of a message without content",
        lambda moment: moment.update(sessionUpdate="agent_message_chunk"),
        "schema.params",
    ),
    "bad-result": _instead(
        "session/prompt",
        "answers the prompt with a result that is a string",
        lambda moment: moment.answer(result="done"),
        "schema.result",
    ),
    "batch": _before(
        "sends two messages as a batch, which ACP does not have",
        lambda moment: b"[%b,%b]\n" % (moment.chunk("One")[:-1], moment.chunk("Two")[:-1]),
        "schema.message",
    ),
    "bytes": Rude(
        "writes each byte by itself, which is allowed",
        "any",
        lambda moment: (moment.line[at : at + 1] for at in range(len(moment.line))),
    ),
    "crlf": Rude("ends lines with CR LF, which is allowed", "any", lambda moment: (moment.line[:-1] + b"\r\n",)),
    "cut": _before("writes the first half of a message as a line", lambda moment: moment.half + b"\n", "schema.json"),
    "early": Rude(
        "sends an update before it answers session/new", "session/new", _early, rule="lifecycle.update-before-session"
    ),
    "exit": Rude(
        "exits in the middle of a message", spoil=lambda moment: (moment.half, EXIT + b"1"), rule="schema.json"
    ),
    "huge": _before(
        "sends a message of 4 MB, which is allowed", lambda moment: moment.chunk("0123456789abcdef" * 2**18)
    ),
    "late": Rude(
        "sends a piece of a message after the end of the turn",
        spoil=lambda moment: (moment.line, moment.chunk("Late")),
        rule="turn.update-after-end",
    ),
    "late-history": Rude(
        "sends the history after the answer to session/load",
        "session/load",
        lambda moment: (moment.line, *moment.held),
        holds=True,
        rule="lifecycle.replay-after-answer",
    ),
    "lost-history": Rude(
        "leaves out the history of a loaded session",
        "session/load",
        lambda moment: (moment.line,),
        holds=True,
        rule="lifecycle.replay-incomplete",
    ),
    "misspelt": _before(
        "sends an update whose name is spelt in another way",
        lambda moment: moment.chunk("Hi", "agentMessageChunk"),
        "schema.misspelt",
    ),
    "no-answer": Rude("never answers the prompt", "session/prompt", lambda _: (), rule="lifecycle.unanswered"),
    "no-cancel": Rude(
        "ignores session/cancel, and ends the turn as if nothing had happened",
        ignores="cancel",
        rule="turn.not-cancelled",
    ),
    "no-exit": Rude("ignores that standard input is closed, and SIGTERM", ignores="end"),
    "no-id": _instead(
        "session/new",
        "answers session/new without an id of the session",
        lambda moment: moment.answer(result={}),
        "schema.result",
    ),
    "no-jsonrpc": _before(
        'sends a message without "jsonrpc"',
        lambda moment: moment.chunk("Hi").replace(b'"jsonrpc":"2.0",', b""),
        "schema.message",
    ),
    "no-reading": Rude("stops reading standard input", ignores="input"),
    "not-utf8": _before(
        "writes bytes that are not UTF-8",
        lambda moment: moment.chunk("caf\u00e9").replace(rb"\u00e9", b"\xe9"),
        "schema.json",
    ),
    "open-tool": _before("begins a tool call that never ends", _tool("in_progress"), "tool-call.unfinished"),
    "print": _before(
        "writes text to standard output, such as a forgotten print",
        lambda _: b"Loading the model...\n",
        "schema.json",
    ),
    "relative-path": _before(
        "names a file by a relative path",
        _tool("completed", locations=[{"path": "src/a.py"}]),
        "path.location",
    ),
    "result-and-error": _instead(
        "session/prompt",
        "answers the prompt with a result and an error",
        lambda moment: moment.answer(error={"code": -32603, "message": "Both"}),
        "schema.message",
    ),
    "same-id": _before(
        "sends two requests with the same id", lambda moment: _permission(moment) * 2, "lifecycle.id-reused"
    ),
    "same-options": _before(
        "offers two options with the same id", lambda moment: _permission(moment, _NO), "permission.duplicate-option"
    ),
    "same-session": _instead(
        "session/new",
        "gives a new session the id of the session in which this was typed",
        lambda moment: _result(sessionId=moment.session)(moment),
        "lifecycle.session-id-reused",
    ),
    "string-id": _instead(
        "session/prompt",
        "answers the prompt with its id as a string",
        lambda moment: moment.answer(id=str(moment.message["id"])),
        "lifecycle.unasked",
    ),
    "text-version": _instead(
        "initialize",
        "answers initialize with a version that is a string",
        _result(protocolVersion="1"),
        "schema.version",
    ),
    "twice": Rude(
        "answers the prompt twice",
        "session/prompt",
        lambda moment: (moment.line, moment.line),
        rule="lifecycle.unasked",
    ),
    "unknown-method": _before("sends a request that no version has", _request("session/unknown"), "schema.method"),
    "unknown-permission": _before(
        "asks for the permission of an unknown tool call", _permission, "permission.unknown-tool-call"
    ),
    "unknown-session": _before(
        "sends an update for a session that does not exist", _other_session, "lifecycle.no-session"
    ),
    "unknown-tool": _before(
        "sends the end of a tool call that it has not begun, which only v2 allows",
        lambda moment: moment.update(sessionUpdate="tool_call_update", toolCallId="rude", status="completed"),
        "tool-call.unknown",
    ),
    "usage": _instead(
        "end",
        "reports the tokens of a turn, which only the unstable schemas have, and which is allowed",
        lambda moment: moment.line.replace(b'"stopReason":', b'"usage":{"totalTokens":3},"stopReason":'),
    ),
    "version-99": _instead(
        "initialize", "answers initialize with version 99", _result(protocolVersion=99), "lifecycle.version"
    ),
    "wrong-id": _instead(
        "session/prompt",
        "answers the prompt with an id that no request has",
        lambda moment: moment.answer(id=4711),
        "lifecycle.unasked",
    ),
}
"""The kinds of rude behaviour, by name."""
