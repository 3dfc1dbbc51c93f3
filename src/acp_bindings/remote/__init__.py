"""ACP over HTTP and WebSocket: connections to agents at a URL, and ASGI applications. Needs the extra `remote`.

    async with connect_url("https://example.com/acp", protocol=v1, handlers=handlers) as connection: ...

    app = agent.asgi()     # of `acp_bindings.agent.Agent`, for uvicorn, hypercorn, granian, Starlette or FastAPI

Importing this package loads nothing; its names load what they need. The server needs only the extra `connection`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_bindings._lazy import lazy_names

if TYPE_CHECKING:
    from acp_bindings.remote._asgi import AcpApp, Authenticate, Caller, asgi
    from acp_bindings.remote._connect import NetworkOptions, RemoteConnection, connect_url
    from acp_bindings.remote._limits import Limits
    from acp_bindings.remote.errors import Unreachable
else:
    _, _load, __dir__ = lazy_names(
        __name__,
        {
            "_asgi": "AcpApp Authenticate Caller asgi",
            "_connect": "NetworkOptions RemoteConnection connect_url",
            "_limits": "Limits",
            "errors": "Unreachable",
        },
    )

    def __getattr__(name: str) -> Any:
        try:
            return _load(name)
        except ModuleNotFoundError as error:
            needed = (error.name or "").partition(".")[0]
            raise ImportError(
                f"acp_bindings.remote.{name} needs {needed}: pip install 'acp-bindings[remote]'"
            ) from error


__all__ = [
    "AcpApp",
    "Authenticate",
    "Caller",
    "Limits",
    "NetworkOptions",
    "RemoteConnection",
    "Unreachable",
    "asgi",
    "connect_url",
]
