"""Offer an MCP server of this process to an agent, over a transport that the agent advertised."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, overload

import anyio
from anyio.abc import SocketAttribute
from mcp.server import MCPServer
from mcp.server.lowlevel import Server

from acp_bindings import decode, v1, v1_unstable, v2, v2_unstable
from acp_bindings._logs import kept_out_of_logs
from acp_bindings._redact import Redactor
from mcp_launch._local.bridge import over_stdio, refuse_unstartable, stdio_entry
from mcp_launch._local.listener import http_entry, over_http
from mcp_launch.failures import NoTransport, UnusableInput

if TYPE_CHECKING:
    from anyio.abc import SocketStream, TaskStatus
    from typing_extensions import TypeForm

    from acp_bindings.setup.unions import AgentCapabilities, InitializeResponse

LocalTransport: TypeAlias = Literal["http", "stdio"]
"""The transports over which a server of this process can be offered."""

_BETTER_FIRST: tuple[LocalTransport, ...] = ("http", "stdio")
"""HTTP first, because stdio needs a relay process."""

Agent: TypeAlias = "InitializeResponse | AgentCapabilities"
"""An agent's response to `initialize`, or its capabilities."""


def choose(agent: Agent | None, transport: LocalTransport | None) -> LocalTransport:
    """Return the given transport, or else the best one that the agent advertised.

    Every v1 agent supports stdio; a v2 agent must advertise it.

    Raises:
        UnusableInput: neither argument is given, or the transport is unknown.
        NoTransport: the agent advertised none of the transports.
    """
    if transport is not None:
        if transport not in _BETTER_FIRST:
            raise UnusableInput(f'transport must be "http" or "stdio", not "{transport}"')
        return transport
    advertised = _advertised(agent)
    for name in _BETTER_FIRST:
        if name in advertised:
            return name
    raise NoTransport(advertised)


def _advertised(agent: Agent | None) -> list[str]:
    match agent:
        case v1.InitializeResponse() | v1_unstable.InitializeResponse():
            return _advertised(agent.agent_capabilities)
        case v2.InitializeResponse() | v2_unstable.InitializeResponse():
            return _advertised(agent.capabilities)
        case v1.AgentCapabilities() | v1_unstable.AgentCapabilities():
            return ["stdio", *(["http"] if agent.mcp_capabilities.http else [])]
        case v2.AgentCapabilities() | v2_unstable.AgentCapabilities():
            mcp = agent.session.mcp if agent.session else None
            return [name for name in type(mcp).model_fields if getattr(mcp, name) is not None] if mcp else []
        case _:
            raise UnusableInput(
                "agent= must be the agent's response to initialize, or its capabilities; "
                'without it, pass transport="http" or transport="stdio"'
            )


_HOST = "127.0.0.1"
MOST_UNAUTHENTICATED = 64
"""Connections that have not sent the token yet. One more closes the oldest of them."""
_FULL = 0.1
"""Seconds until connections are accepted again after an error, such as too many open files."""

_log = logging.getLogger(__name__)

T = TypeVar("T")


@asynccontextmanager
async def serve_local(
    server: MCPServer[Any] | Server[Any],
    *,
    agent: Agent | None = None,
    transport: LocalTransport | None = None,
    name: str | None = None,
) -> AsyncGenerator[LocalServer]:
    """Offer a server of this process to agents on this machine while the block runs.

        async with serve_local(server, agent=initialized) as local:
            v1.NewSessionRequest(cwd=cwd, mcp_servers=[local.spec(v1.McpServer)])

    Connecting requires a token that is created for this block. The specification contains it as a header (HTTP) or an
    environment variable (stdio). Several agents may connect, each several times; the lifespan of the server is entered
    once. When the block ends, the port is closed and running calls are cancelled.

    Args:
        server: a server of the SDK. It may be offered several times at once.
        agent: the agent's response to `initialize`, which decides the transport: HTTP if supported, else stdio.
        transport: the transport to use, regardless of `agent`.
        name: the name for the agent; the server's own name by default.

    Raises:
        NoTransport: the agent advertised neither stdio nor HTTP.
        UnusableInput: neither `agent` nor `transport` is given, the server is not one of the SDK's, or over stdio
            this program lacks a Python interpreter, which the agent would run.
    """
    chosen = choose(agent, transport)
    inner = inner_server(server)
    if chosen == "stdio":
        refuse_unstartable()
    token = secrets.token_urlsafe(32)
    ended = anyio.Event()
    error: BaseException | None = None
    with kept_out_of_logs(Redactor([token])):
        async with anyio.create_task_group() as tasks:
            try:
                port = await tasks.start(_listen, inner, chosen, token, ended)
                yield LocalServer(name or inner.name, chosen, port=port, token=token)
            except BaseException as caught:  # noqa: BLE001 - kept out of the task group, which would wrap it in a group
                error = caught
            finally:
                ended.set()
    if error is not None:
        raise error


class LocalServer:
    """A server that is being offered; `spec` returns its entry for the agent."""

    def __init__(self, name: str, transport: LocalTransport, *, port: int, token: str) -> None:
        self.name = name
        """The name for the agent."""
        self.transport: LocalTransport = transport
        """The transport over which it is offered."""
        self.port = port
        """The port on 127.0.0.1 where it listens."""
        self._token = token

    def __repr__(self) -> str:
        return f"<LocalServer {self.name!r} over {self.transport}, port {self.port}>"

    # The first overload is for type checkers without TypeForm (PEP 747), as in `acp_bindings.decode`.
    @overload
    def spec(self, type_: type[T]) -> T: ...
    @overload
    def spec(self, type_: TypeForm[T]) -> T: ...
    def spec(self, type_: Any) -> Any:
        """Return the entry for `mcpServers` as a model of the given type, such as `local.spec(v1.McpServer)`.

        It contains the token, but its `repr` does not.
        """
        entry = http_entry if self.transport == "http" else stdio_entry
        return decode(type_, entry(self.name, port=self.port, token=self._token))


def inner_server(server: MCPServer[Any] | Server[Any]) -> Server[Any]:
    """Return the SDK's low-level server for either of its two server classes.

    Raises:
        UnusableInput: it is not a server of the SDK.
    """
    # As the SDK's own client does: the public way also creates a web application, and keeps it.
    inner: MCPServer[Any] | Server[Any] = getattr(server, "_lowlevel_server", server)
    if not isinstance(inner, Server):
        raise UnusableInput(f"server must be an MCPServer or a Server of mcp.server, not {type(inner).__name__}")
    return inner


async def _listen(
    server: Server[Any],
    transport: LocalTransport,
    token: str,
    ended: anyio.Event,
    *,
    task_status: TaskStatus[int] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Serve every connection until `ended` is set."""
    (listener,) = (await anyio.create_tcp_listener(local_host=_HOST)).listeners
    async with listener:
        port = listener.extra(SocketAttribute.local_port)  # noqa: S610 - of anyio, not of Django
        offered = over_http(server, port=port, token=token) if transport == "http" else over_stdio(server, token=token)
        async with offered as serve:
            unauthenticated: dict[anyio.CancelScope, None] = {}

            async def serve_one(stream: SocketStream) -> None:
                scope = anyio.CancelScope()
                unauthenticated[scope] = None
                if len(unauthenticated) > MOST_UNAUTHENTICATED:
                    oldest = next(iter(unauthenticated))
                    del unauthenticated[oldest]
                    oldest.cancel()
                try:
                    with scope:
                        await serve(stream, partial(unauthenticated.pop, scope, None))
                except anyio.BrokenResourceError:
                    pass
                except Exception:  # noqa: BLE001 - that agent loses its connection, and no other does
                    _log.exception("a connection from an agent failed")
                finally:
                    unauthenticated.pop(scope, None)
                    # Forcefully, because a graceful close would wait for a client that does not read.
                    await anyio.aclose_forcefully(stream)

            async def accept() -> None:
                while True:
                    try:
                        await listener.serve(serve_one, connections)
                    except (OSError, anyio.BrokenResourceError) as error:  # of asyncio, and of trio
                        _log.warning("cannot accept connections from agents for now: %s", error.__cause__ or error)
                        await anyio.sleep(_FULL)

            async with anyio.create_task_group() as connections:
                connections.start_soon(accept)
                task_status.started(port)
                await ended.wait()
                connections.cancel_scope.cancel()
