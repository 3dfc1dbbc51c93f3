"""Conversations to check: a valid one, and the parts to build others."""

import json
from collections.abc import Iterable
from typing import Any

from acp_bindings.check import Check, Found

Message = dict[str, Any]

INFO = {"name": "it", "version": "1"}
AGENT_V1: Message = {
    "loadSession": True,
    "promptCapabilities": {"image": True},
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "additionalDirectories": {}},
}
CLIENT_V1: Message = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
STDIO: Message = {"name": "files", "command": "/usr/bin/files-mcp", "args": [], "env": []}
HTTP: Message = {"type": "http", "name": "search", "url": "https://example.com/mcp", "headers": []}


def call(method: str, params: Any = None, *, id: int | str | None = None) -> Message:  # noqa: A002
    """Return a request, or a notification if there is no *id*."""
    more = {} if id is None else {"id": id}
    return {"jsonrpc": "2.0", **more, "method": method, **({} if params is None else {"params": params})}


def result(id: int | str, value: Any) -> Message:  # noqa: A002
    return {"jsonrpc": "2.0", "id": id, "result": value}


def error(id: int | str | None, code: int, message: str = "no") -> Message:  # noqa: A002
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def opening(
    *,
    agent: Message | None = None,
    client: Message | None = None,
    methods: list[Message] | None = None,
    asked: Any = 1,
    answered: Any = 1,
) -> list[Message]:
    """Return `initialize` and its response in v1, which offers these authentication *methods*."""
    said = {"protocolVersion": asked, "clientInfo": INFO, "clientCapabilities": CLIENT_V1 if client is None else client}
    answer = {"protocolVersion": answered, "agentInfo": INFO, "agentCapabilities": AGENT_V1 if agent is None else agent}
    more = {} if methods is None else {"authMethods": methods}
    return [call("initialize", said, id=0), result(0, answer | more)]


def opening_v2(*, session: Message | None = None, **more: Any) -> list[Message]:
    """Return `initialize` and its response in v2."""
    said = {"protocolVersion": 2, "info": INFO, "capabilities": {}}
    answer = {"protocolVersion": 2, "info": INFO, "capabilities": {"session": session or {}}, **more}
    return [call("initialize", said, id=0), result(0, answer)]


def new(id: int = 1, *, session: str = "s1", **params: Any) -> list[Message]:  # noqa: A002
    return [
        call("session/new", {"cwd": "/home/me", "mcpServers": [], **params}, id=id),
        result(id, {"sessionId": session}),
    ]


def update(kind: str, text: str, *, session: str = "s1", message_id: str | None = None) -> Message:
    content = {"type": "text", "text": text}
    more = {} if message_id is None else {"messageId": message_id}
    return call("session/update", {"sessionId": session, "update": {"sessionUpdate": kind, "content": content, **more}})


def prompt(id: int, text: str = "hello", *, says: Iterable[str] = ("hi",), session: str = "s1") -> list[Message]:  # noqa: A002
    return [
        call("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": text}]}, id=id),
        *(update("agent_message_chunk", each, session=session) for each in says),
        result(id, {"stopReason": "end_turn"}),
    ]


def load(id: int, *replayed: Message, session: str = "s1", **params: Any) -> list[Message]:  # noqa: A002
    return [
        call("session/load", {"sessionId": session, "cwd": "/home/me", "mcpServers": [], **params}, id=id),
        *replayed,
        result(id, {}),
    ]


USER, AGENT = "user_message_chunk", "agent_message_chunk"

CLEAN: list[Message] = [
    *opening(),
    *new(mcpServers=[STDIO, HTTP]),
    call("session/prompt", {"sessionId": "s1", "prompt": [{"type": "text", "text": "hello"}]}, id=2),
    update(AGENT, "good "),
    # The agent's requests have ids of their own.
    call("fs/read_text_file", {"sessionId": "s1", "path": "/home/me/x"}, id=2),
    result(2, {"content": "text"}),
    update(AGENT, "day"),
    call("session/cancel", {"sessionId": "s1"}),
    result(2, {"stopReason": "cancelled"}),
    call("_acme/do", {"anything": 1}, id=3),
    error(3, -32601),
    *load(4, update(USER, "hel"), update(USER, "lo"), update(AGENT, "good day")),
    *prompt(5),
    call("session/close", {"sessionId": "s1"}, id=6),
    result(6, {}),
]
"""A conversation without findings."""


def as_lines(messages: Iterable[Any]) -> list[bytes]:
    return [(each if isinstance(each, bytes) else json.dumps(each).encode()) + b"\n" for each in messages]


def check(*messages: Any, **options: Any) -> list[Found]:
    """Return the findings for a recording with one line for each of *messages*."""
    return list(Check(as_lines(messages), **options))


def rules(*messages: Any, **options: Any) -> list[str]:
    """Return the rules of the findings, in order."""
    return [each.rule for each in check(*messages, **options)]


def where(found: Found) -> str:
    """Return the line and the path, such as `3 params.cwd`."""
    path = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in found.path)
    return f"{found.line} {path.removeprefix('.')}".strip()


def the(rule: str, *messages: Any, **options: Any) -> Found:
    """Return the only finding of *rule*."""
    (found,) = [each for each in check(*messages, **options) if each.rule == rule]
    return found
