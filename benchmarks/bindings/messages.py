"""The messages that every contestant reads and writes, valid for all of them, and the tasks made of them."""

from __future__ import annotations

import json
from typing import Any

SERVERS = [
    {"name": "files", "command": "/bin/files", "args": ["--stdio"], "env": [{"name": "KEY", "value": "v"}]},
    {"type": "http", "name": "web", "url": "https://mcp.example", "headers": [{"name": "X-Key", "value": "v"}]},
]
INITIALIZED = {
    "protocolVersion": 1,
    "agentCapabilities": {
        "loadSession": True,
        "mcpCapabilities": {"http": True},
        "promptCapabilities": {"image": True},
    },
    "agentInfo": {"name": "a", "version": "1"},
    "authMethods": [],
}
CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "A chunk of what it says."}}
THOUGHT = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "The test wants a fixture."}}
TOOL_CALL = {
    "sessionUpdate": "tool_call",
    "toolCallId": "call-1",
    "title": "Read the settings",
    "kind": "read",
    "status": "pending",
    "locations": [{"path": "/project/settings.toml", "line": 12}],
    "rawInput": {"path": "/project/settings.toml"},
}
PROGRESS = {"sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": "in_progress"}
RESULT = {
    "sessionUpdate": "tool_call_update",
    "toolCallId": "call-1",
    "status": "completed",
    "content": [{"type": "content", "content": {"type": "text", "text": "Three files."}}],
    "rawOutput": {"files": ["a", "b", "c"]},
}
EDIT = {
    "sessionUpdate": "tool_call_update",
    "toolCallId": "call-2",
    "status": "completed",
    "content": [{"type": "diff", "path": "/project/a.py", "oldText": "x = 1\n", "newText": "x = 2\n"}],
}
PLAN = {
    "sessionUpdate": "plan",
    "entries": [
        {"content": "Read the settings", "priority": "high", "status": "completed"},
        {"content": "Change them", "priority": "medium", "status": "in_progress"},
        {"content": "Run the tests", "priority": "low", "status": "pending"},
    ],
}
COMMANDS = {
    "sessionUpdate": "available_commands_update",
    "availableCommands": [
        {"name": "web", "description": "Search the web", "input": {"hint": "query"}},
        {"name": "test", "description": "Run the tests"},
    ],
}
MODE = {"sessionUpdate": "current_mode_update", "currentModeId": "ask"}

TURN = [COMMANDS, PLAN, *[THOUGHT] * 8, MODE, *[TOOL_CALL, PROGRESS, RESULT] * 4, TOOL_CALL, PROGRESS, EDIT, PLAN]
TURN += [CHUNK] * 24
"""The updates of one turn of a coding agent, in which each tool call has three: half are chunks of text."""


def notification(update: object) -> dict[str, Any]:
    """The parameters of `session/update`."""
    return {"sessionId": "session-1", "update": update}


MESSAGES: dict[str, tuple[str, list[Any]]] = {
    "update stream": ("SessionNotification", [notification(update) for update in TURN]),
    "· agent_message_chunk": ("SessionNotification", [notification(CHUNK)]),
    "· tool_call": ("SessionNotification", [notification(TOOL_CALL)]),
    "· tool_call_update": ("SessionNotification", [notification(RESULT)]),
    "· plan": ("SessionNotification", [notification(PLAN)]),
    "NewSessionRequest": ("NewSessionRequest", [{"cwd": "/project", "mcpServers": SERVERS}]),
    "InitializeResponse": ("InitializeResponse", [INITIALIZED]),
}
"""The messages that a task reads and writes: the name in the report, the definition, and the messages."""

STREAM = "update stream"


def text(message: object) -> bytes:
    """*message* as it comes over the wire."""
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()


def line(message: object) -> bytes:
    """The whole line of JSON-RPC that brings *message*."""
    return text({"jsonrpc": "2.0", "method": "session/update", "params": message})
