"""Agents: sessions, turns, tool calls and history, for v1 and v2. Needs the extra `connection`.

    agent = Agent("hello", version="1.0")

    @agent.prompt
    async def answer(turn: Turn) -> None:
        await turn.say(f"You said {turn.text}.")

    agent.run()

Importing this package loads nothing; its names load what they need.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._agent import Agent as Agent
    from ._command import CommandResult as CommandResult
    from ._folder import FolderSessions as FolderSessions
    from ._redis import RedisSessions as RedisSessions
    from ._session import McpProvider as McpProvider
    from ._session import Session as Session
    from ._session import StopReason as StopReason
    from ._stores import MemorySessions as MemorySessions
    from ._stores import SessionPage as SessionPage
    from ._stores import SessionStore as SessionStore
    from ._stores import StoredSession as StoredSession
    from ._tool_call import ToolCall as ToolCall
    from ._tool_call import TurnEnded as TurnEnded
    from ._turn import Turn as Turn
    from .errors import SessionInUse as SessionInUse
    from .errors import SessionUnreadable as SessionUnreadable
    from .errors import StoreFailed as StoreFailed
else:
    from acp_bindings._lazy import lazy_names

    __all__, __getattr__, __dir__ = lazy_names(
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
        extra="connection",
    )
