"""Running connections: the one part of this package that does I/O. It needs the extra `connection`.

    async with connect_process(["agent", "--acp"], protocol=v1) as connection:
        session = await connection.request(v1.NewSessionRequest(cwd="/home/me/project", mcp_servers=[]))

Importing this package loads nothing; its names load what they need.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._child import ProcessConnection as ProcessConnection
    from ._child import connect_process as connect_process
    from ._connection import Connection as Connection
    from ._handlers import Handlers as Handlers
    from ._opening import AgentHandlers as AgentHandlers
    from ._opening import initialize as initialize
    from ._stdio import connect_stdio as connect_stdio
    from .errors import BadAnswer as BadAnswer
    from .errors import CannotStart as CannotStart
    from .errors import ConnectionClosed as ConnectionClosed
    from .errors import RequestFailed as RequestFailed
    from .errors import StrayLines as StrayLines
    from .errors import TimedOut as TimedOut
else:
    from acp_bindings._lazy import lazy_names

    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_child": "ProcessConnection connect_process",
            "_connection": "Connection",
            "errors": "BadAnswer CannotStart ConnectionClosed RequestFailed StrayLines TimedOut",
            "_handlers": "Handlers",
            "_opening": "AgentHandlers initialize",
            "_stdio": "connect_stdio",
        },
        extra="connection",
    )
