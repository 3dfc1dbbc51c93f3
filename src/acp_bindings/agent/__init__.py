"""Agents: sessions, turns, tool calls and history, for v1 and v2. Needs the extra `connection`.

    agent = Agent("hello", version="1.0")

    @agent.prompt
    async def answer(turn: Turn) -> None:
        await turn.say(f"You said {turn.text}.")

    agent.run()

Importing this package loads nothing; its names load what they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_bindings._lazy import lazy_names

if TYPE_CHECKING:
    from acp_bindings.agent._agent import Agent
    from acp_bindings.agent._command import CommandResult
    from acp_bindings.agent._folder import FolderSessions
    from acp_bindings.agent._redis import RedisSessions
    from acp_bindings.agent._session import McpProvider, Session, StopReason
    from acp_bindings.agent._stores import MemorySessions, SessionPage, SessionStore, StoredSession
    from acp_bindings.agent._tool_call import ToolCall, TurnEnded
    from acp_bindings.agent._turn import Turn
    from acp_bindings.agent.errors import SessionInUse, SessionUnreadable, StoreFailed
else:
    _, _load, __dir__ = lazy_names(
        __name__,
        {
            "_agent": "Agent",
            "_command": "CommandResult",
            "_folder": "FolderSessions",
            "_redis": "RedisSessions",
            "_session": "McpProvider Session StopReason",
            "_stores": "MemorySessions SessionPage SessionStore StoredSession",
            "_tool_call": "ToolCall TurnEnded",
            "_turn": "Turn",
            "errors": "SessionInUse SessionUnreadable StoreFailed",
        },
    )

    def __getattr__(name: str) -> Any:
        try:
            return _load(name)
        except ModuleNotFoundError as error:
            needed = (error.name or "").partition(".")[0]
            extra = "redis" if needed == "redis" else "connection"
            raise ImportError(
                f"acp_bindings.agent.{name} needs {needed}: pip install 'acp-bindings[{extra}]'"
            ) from error


__all__ = [
    "Agent",
    "CommandResult",
    "FolderSessions",
    "McpProvider",
    "MemorySessions",
    "RedisSessions",
    "Session",
    "SessionInUse",
    "SessionPage",
    "SessionStore",
    "SessionUnreadable",
    "StopReason",
    "StoreFailed",
    "StoredSession",
    "ToolCall",
    "Turn",
    "TurnEnded",
]
