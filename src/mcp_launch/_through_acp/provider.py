"""`AcpProvider`: MCP servers of this process that the agent reaches only by `mcp/message`.

MCP is stateless here (version 2026-07-28 only): each request is a separate exchange with the server, including the
notifications that the server sends during the request.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

import anyio
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from acp_bindings import decode
from acp_bindings._condition import Condition
from acp_bindings.connection import Connection, ConnectionClosed
from acp_bindings.jsonrpc import REQUEST_CANCELLED
from acp_bindings.setup import InvalidParams, RequestError
from mcp_launch._local.serve import inner_server

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from acp_bindings import v1_unstable, v2_unstable

    Asked: TypeAlias = v1_unstable.MessageMcpRequest | v2_unstable.MessageMcpRequest

SERVER_UNAVAILABLE, BACKEND_FAILED = -33001, -33002
"""The error codes of `mcp/message` if there is no such server, or if it did not respond."""

T = TypeVar("T")


class AcpProvider:
    """The MCP servers that a program offers through its ACP connections.

        provider = AcpProvider()
        handlers.on("mcp/message")(provider.answer)

        async with provider.serve(editor) as offered:
            new_session(agent, cwd=cwd, mcp_servers=[offered.spec(v1_unstable.McpServer)])

    No port is opened and no process is started: every peer of the connection can use the servers. Agents must advertise
    `mcp.acp` and use an `_unstable` package; `new_session` refuses the others.
    """

    def __init__(self) -> None:
        """Create a provider without servers."""
        self._offers: dict[str, _Offer] = {}

    @asynccontextmanager
    async def serve(
        self, server: MCPServer[Any] | Server[Any], *, name: str | None = None
    ) -> AsyncGenerator[AcpServer]:
        """Offer a server while the block runs. Requests in progress are cancelled when it ends.

        Args:
            server: a server of the SDK. It may be offered several times; its lifespan is entered each time.
            name: the name for the agent; the server's own name by default.

        Raises:
            UnusableInput: the server is not one of the SDK's.
        """
        inner = inner_server(server)
        async with inner.lifespan(inner) as state:
            # Random, so that it differs from all other servers that the connection ever has.
            offered = AcpServer(name or inner.name, f"{uuid.uuid4()}")
            offer = self._offers[offered.id] = _Offer(inner, state)
            try:
                yield offered
            finally:
                del self._offers[offered.id]
                await offer.end()

    async def answer(self, request: Asked, connection: Connection) -> Any:
        """Return the server's result or error for one request; a handler for `mcp/message`.

        Raises:
            RequestError: there is no such server (-33001), it is no longer offered (-32800), or it did not respond
                (-33002).
            InvalidParams: another request with this id is in progress (-32602).
        """
        offer = self._offers.get(request.server_id)
        if offer is None:
            raise RequestError(
                SERVER_UNAVAILABLE, "there is no MCP server with this id", data={"serverId": request.server_id}
            )
        wire: Any = connection.protocol
        said = await offer.exchange(request, connection)
        if isinstance(said, ErrorData):
            error = said.model_dump(mode="json", exclude_unset=True)
            return decode(wire.MessageMcpResponse, {"error": error})
        return wire.MessageMcpResponseResult(result=said)


class AcpServer:
    """A server that is being offered; `spec` returns its entry for the agent."""

    def __init__(self, name: str, id_: str) -> None:
        self.name = name
        """The name for the agent."""
        self.id = id_
        """The id in `mcp/message`."""

    def __repr__(self) -> str:
        return f"<AcpServer {self.name!r}>"

    # The first overload is for type checkers without TypeForm (PEP 747), as in `acp_bindings.decode`.
    @overload
    def spec(self, type_: type[T]) -> T: ...
    @overload
    def spec(self, type_: TypeForm[T]) -> T: ...
    def spec(self, type_: Any) -> Any:
        """Return the entry for `mcpServers` as the given type: `offered.spec(v1_unstable.McpServer)`."""
        return decode(type_, {"type": "acp", "name": self.name, "serverId": self.id})


class _Offer:
    """A server and its requests in progress."""

    def __init__(self, server: Server[Any], state: Any) -> None:
        self._server = server
        self._state = state
        self._active: dict[tuple[int, str], anyio.CancelScope] = {}
        self._ended = Condition()
        """Notified when a request has ended."""

    async def end(self) -> None:
        """Cancel the requests in progress and wait until they have ended."""
        for scope in self._active.values():
            scope.cancel()
        while self._active:
            with anyio.CancelScope(shield=True):
                await self._ended.wait()

    async def exchange(self, request: Asked, connection: Connection) -> dict[str, Any] | ErrorData:
        """Return the MCP result or error; notifications are sent to the agent before it."""
        key = id(connection), request.request_id
        if key in self._active:
            raise InvalidParams("requestId: another request with this id is in progress")
        asked = {"method": request.method, "params": request.params}
        if isinstance(refused := classify_inbound_request(asked), InboundLadderRejection):
            return ErrorData(code=refused.code, message=refused.message, data=refused.data)
        scope = self._active[key] = anyio.CancelScope()
        try:
            with scope:
                return await self._serve(request, connection)
        finally:
            del self._active[key]
            self._ended.notify_all()
        raise RequestError(REQUEST_CANCELLED, "the MCP server is no longer offered")

    async def _serve(self, request: Asked, connection: Connection) -> dict[str, Any] | ErrorData:
        answer: dict[str, Any] | ErrorData | None = None
        to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](1)
        outgoing, from_server = anyio.create_memory_object_stream[SessionMessage]()
        loop = partial(serve_dual_era_loop, self._server, incoming, outgoing, lifespan_state=self._state)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(loop)
            asked = JSONRPCRequest(jsonrpc="2.0", id=request.request_id, method=request.method, params=request.params)
            # Closed before waiting for the loop, which would otherwise send a last message that is not read.
            async with to_server, from_server:
                await to_server.send(SessionMessage(asked))
                async for item in from_server:
                    match item.message:
                        case JSONRPCNotification() as notification:
                            await _notify(notification, request, connection)
                        case JSONRPCResponse(result=result):
                            answer = result
                            break
                        case JSONRPCError(error=error):
                            answer = error
                            break
                        case JSONRPCRequest():
                            pass  # This version of MCP has none.
            tasks.cancel_scope.cancel()
        if answer is None:
            raise RequestError(BACKEND_FAILED, "the MCP server did not respond")
        return answer


async def _notify(notification: JSONRPCNotification, request: Asked, connection: Connection) -> None:
    wire: Any = connection.protocol
    more = {} if notification.params is None else {"params": notification.params}
    # The response fails in the same way.
    with suppress(ConnectionClosed):
        await connection.notify(
            wire.MessageMcpNotification(
                server_id=request.server_id, request_id=request.request_id, method=notification.method, **more
            )
        )
