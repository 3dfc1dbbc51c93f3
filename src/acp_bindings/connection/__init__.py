"""Running connections: the one part of this package that does I/O. It needs the extra `connection`.

    async with connect_process(["agent", "--acp"], protocol=v1) as connection:
        session = await connection.request(v1.NewSessionRequest(cwd="/home/me/project", mcp_servers=[]))

Importing this package loads nothing; its names load what they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_bindings._lazy import lazy_names

if TYPE_CHECKING:
    from acp_bindings.connection._child import ProcessConnection, connect_process
    from acp_bindings.connection._connection import Connection
    from acp_bindings.connection._handlers import Handlers
    from acp_bindings.connection._opening import AgentHandlers, initialize
    from acp_bindings.connection._stdio import connect_stdio
    from acp_bindings.connection.errors import (
        BadAnswer,
        CannotStart,
        ConnectionClosed,
        RequestFailed,
        StrayLines,
        TimedOut,
    )
else:
    _, _load, __dir__ = lazy_names(
        __name__,
        {
            "_child": "ProcessConnection connect_process",
            "_connection": "Connection",
            "errors": "BadAnswer CannotStart ConnectionClosed RequestFailed StrayLines TimedOut",
            "_handlers": "Handlers",
            "_opening": "AgentHandlers initialize",
            "_stdio": "connect_stdio",
        },
    )

    def __getattr__(name: str) -> Any:
        try:
            return _load(name)
        except ModuleNotFoundError as error:
            raise ImportError(
                f"acp_bindings.connection needs {error.name}: pip install 'acp-bindings[connection]'"
            ) from error


__all__ = [
    "AgentHandlers",
    "BadAnswer",
    "CannotStart",
    "Connection",
    "ConnectionClosed",
    "Handlers",
    "ProcessConnection",
    "RequestFailed",
    "StrayLines",
    "TimedOut",
    "connect_process",
    "connect_stdio",
    "initialize",
]
