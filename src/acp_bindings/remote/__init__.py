"""ACP over HTTP and WebSocket: connections to agents at a URL, and ASGI applications. Needs the extra `remote`.

    async with connect_url("https://example.com/acp", protocol=v1, handlers=handlers) as connection: ...

    app = agent.asgi()     # of `acp_bindings.agent.Agent`, for uvicorn, hypercorn, granian, Starlette or FastAPI

Importing this package loads nothing; its names load what they need. The server needs only the extra `connection`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._asgi import AcpApp as AcpApp
    from ._asgi import Authenticate as Authenticate
    from ._asgi import Caller as Caller
    from ._asgi import asgi as asgi
    from ._connect import NetworkOptions as NetworkOptions
    from ._connect import RemoteConnection as RemoteConnection
    from ._connect import connect_url as connect_url
    from ._hosted import Limits as Limits
    from .errors import Unreachable as Unreachable
else:
    from acp_bindings._lazy import lazy_names

    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_asgi": "AcpApp Authenticate Caller asgi",
            "_connect": "NetworkOptions RemoteConnection connect_url",
            "_hosted": "Limits",
            "errors": "Unreachable",
        },
        extra="remote",
    )
