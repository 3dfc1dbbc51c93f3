"""A long recording: turns with thoughts, text, tool calls, permission and files, and a mistake now and then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from typing import Any

START = datetime(2026, 11, 27, 9, tzinfo=UTC)
WORDS = ["the", "analytical", "engine", "weaves", "algebraic", "patterns", "as", "the", "loom", "weaves", "leaves"]


def recording(messages: int) -> Iterator[bytes]:
    """Yield a recording with this number of messages."""
    for number, (sender, message) in enumerate(islice(_conversation(), messages)):
        moment = (START + timedelta(milliseconds=37 * number)).isoformat().replace("+00:00", "Z")
        yield json.dumps({"time": moment, "from": sender, "message": {"jsonrpc": "2.0", **message}}).encode() + b"\n"


def _conversation() -> Iterator[tuple[str, dict[str, Any]]]:
    info = {"title": "Editor", "name": "editor", "version": "2.1"}
    capabilities = {"fs": {"readTextFile": True, "writeTextFile": True}}
    started = {"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": info}
    yield "client", {"id": 0, "method": "initialize", "params": started}
    yield "agent", {"id": 0, "result": {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": {}}}
    for number in count(1):
        session = f"session-{number // 100}"
        if number == 1 or number % 100 == 0:
            yield "client", {"id": f"n{number}", "method": "session/new", "params": {"cwd": "/home", "mcpServers": []}}
            yield "agent", {"id": f"n{number}", "result": {"sessionId": session}}
        yield from _turn(number, session)


def _turn(number: int, session: str) -> Iterator[tuple[str, dict[str, Any]]]:
    def request(name: str, method: str, **params: Any) -> dict[str, Any]:
        return {"id": f"{name}{number}", "method": method, "params": {"sessionId": session, **params}}

    def update(kind: str, /, **rest: Any) -> tuple[str, dict[str, Any]]:
        params = {"sessionId": session, "update": {"sessionUpdate": kind, **rest}}
        return "agent", {"method": "session/update", "params": params}

    def text(at: int) -> dict[str, Any]:
        return {"content": {"type": "text", "text": f" {WORDS[(number + at) % len(WORDS)]}"}}

    yield "client", request("p", "session/prompt", prompt=[{"type": "text", "text": f"Turn {number} of the engine"}])
    for at in range(3):
        yield update("agent_thought_chunk", **text(at))
    call = f"call-{number}"
    yield update("tool_call", toolCallId=call, title=f"Edit part {number}", kind="edit", status="pending")
    options = [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}]
    yield "agent", request("a", "session/request_permission", toolCall={"toolCallId": call}, options=options)
    yield "client", {"id": f"a{number}", "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}}
    path = "part.txt" if number % 100 == 50 else f"/home/part-{number}.txt"
    yield "agent", request("r", "fs/read_text_file", path=path)
    yield "client", {"id": f"r{number}", "result": {"content": " ".join(WORDS)}}
    yield update("tool_call_update", toolCallId=call, status="completed")
    for at in range(5):
        yield update("agent_message_chunk", **text(at))
    yield "agent", {"id": f"p{number}", "result": {"stopReason": "end_turn"}}
