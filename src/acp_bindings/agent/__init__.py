"""Agents in a few lines. It needs the extra `connection`, and `RedisSessions` needs the extra `redis`.

Importing this package loads nothing; its names load what they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_bindings._lazy import lazy_names

if TYPE_CHECKING:
    from acp_bindings.agent._folder import FolderSessions
    from acp_bindings.agent._redis import RedisSessions
    from acp_bindings.agent._stores import MemorySessions, SessionPage, SessionStore, StoredSession
    from acp_bindings.agent.errors import SessionInUse, SessionUnreadable, StoreFailed
else:
    _, _load, __dir__ = lazy_names(
        __name__,
        {
            "_folder": "FolderSessions",
            "_redis": "RedisSessions",
            "_stores": "MemorySessions SessionPage SessionStore StoredSession",
            "errors": "SessionInUse SessionUnreadable StoreFailed",
        },
    )

    def __getattr__(name: str) -> Any:
        try:
            return _load(name)
        except ModuleNotFoundError as error:
            missing = str(error.name).partition(".")[0]
            extra = "redis" if missing == "redis" else "connection"
            raise ImportError(
                f"acp_bindings.agent.{name} needs {missing}: pip install 'acp-bindings[{extra}]'"
            ) from error


__all__ = [
    "FolderSessions",
    "MemorySessions",
    "RedisSessions",
    "SessionInUse",
    "SessionPage",
    "SessionStore",
    "SessionUnreadable",
    "StoreFailed",
    "StoredSession",
]
