"""`AcpProvider`: MCP servers of this process, which the agent reaches by `mcp/message` and by nothing else.

MCP is stateless here (2026-07-28, and no other): each request is an exchange of its own with the server, and what the
server tells meanwhile goes with it.
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
from acp_bindings.connection import Connection, ConnectionClosed
from acp_bindings.jsonrpc import REQUEST_CANCELLED
from acp_bindings.setup import InvalidParams, RequestError
from mcp_launch._local.serve import inner_server

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from acp_bindings import v1_unstable, v2_unstable

    Asked: TypeAlias = v1_unstable.MessageMcpRequest | v2_unstable.MessageMcpRequest

SERVER_UNAVAILABLE, BACKEND_FAILED = -33001, -33002
"""What `mcp/message` is answered with where no server, or nothing of MCP, answers it."""

T = TypeVar("T")


class AcpProvider:
    """The MCP servers that one program offers through its ACP connections.

        provider = AcpProvider()
        handlers.on("mcp/message")(provider.answer)

        async with provider.serve(editor) as offered:
            new_session(agent, cwd=cwd, mcp_servers=[offered.spec(v1_unstable.McpServer)])

    Nobody listens on a port and nothing is started: who has the connection has the servers. It is for agents that have
    advertised `mcp.acp`, over an `_unstable` package; `new_session` refuses the others.
    """

    def __init__(self) -> None:
        """A provider of nothing yet."""
        self._offers: dict[str, _Offer] = {}

    @asynccontextmanager
    async def serve(
        self, server: MCPServer[Any] | Server[Any], *, name: str | None = None
    ) -> AsyncGenerator[AcpServer]:
        """Offer a server of the SDK for as long as the block lasts; then what it still does is cancelled.

        Args:
            server: it may be offered several times; its lifespan is entered once each time.
            name: what the agent calls it, unless the server's own name is to be used.

        Raises:
            UnusableInput: the server is none of the SDK.
        """
        inner = inner_server(server)
        async with inner.lifespan(inner) as state:
            # By random, so that no other server that a connection ever sees has it.
            offered = AcpServer(name or inner.name, f"{uuid.uuid4()}")
            offer = self._offers[offered.id] = _Offer(inner, state)
            try:
                yield offered
            finally:
                del self._offers[offered.id]
                await offer.end()

    async def answer(self, request: Asked, connection: Connection) -> Any:
        """What the server says to one request: a result of MCP or an error of MCP. It is a handler for `mcp/message`.

        Raises:
            RequestError: what is no affair of MCP: there is no such server (-33001), or no more (-32800), or it gave no
                answer (-33002).
            InvalidParams: the server is at a request of this id already (-32602).
        """
        offer = self._offers.get(request.server_id)
        if offer is None:
            raise RequestError(SERVER_UNAVAILABLE, "no MCP server of this id", data={"serverId": request.server_id})
        wire: Any = connection.protocol
        said = await offer.exchange(request, connection)
        if isinstance(said, ErrorData):
            error = said.model_dump(mode="json", exclude_unset=True)
            return decode(wire.MessageMcpResponse, {"error": error})
        return wire.MessageMcpResponseResult(result=said)


class AcpServer:
    """A server that is being offered; `spec` is what to tell the agent."""

    def __init__(self, name: str, id_: str) -> None:
        self.name = name
        """What the agent calls it."""
        self.id = id_
        """What `mcp/message` asks for it by."""

    def __repr__(self) -> str:
        return f"<AcpServer {self.name!r}>"

    # The first is for checkers that are too old for TypeForm (PEP 747), as in `acp_bindings.decode`.
    @overload
    def spec(self, type_: type[T]) -> T: ...
    @overload
    def spec(self, type_: TypeForm[T]) -> T: ...
    def spec(self, type_: Any) -> Any:
        """The entry for `mcpServers`, in the form of the package spoken: `offered.spec(v1_unstable.McpServer)`."""
        return decode(type_, {"type": "acp", "name": self.name, "serverId": self.id})


class _Offer:
    """A server, and the requests that it is at."""

    def __init__(self, server: Server[Any], state: Any) -> None:
        self._server = server
        self._state = state
        self._active: dict[tuple[int, str], anyio.CancelScope] = {}
        self._idle = anyio.Event()

    async def end(self) -> None:
        """Cancel what it does, and wait for that."""
        for scope in self._active.values():
            scope.cancel()
        while self._active:
            self._idle = anyio.Event()
            with anyio.CancelScope(shield=True):
                await self._idle.wait()

    async def exchange(self, request: Asked, connection: Connection) -> dict[str, Any] | ErrorData:
        """The result, or the error of MCP; what is told meanwhile goes to the agent before it."""
        key = id(connection), request.request_id
        if key in self._active:
            raise InvalidParams("requestId: it is that of a request which has no answer yet")
        asked = {"method": request.method, "params": request.params}
        if isinstance(refused := classify_inbound_request(asked), InboundLadderRejection):
            return ErrorData(code=refused.code, message=refused.message, data=refused.data)
        scope = self._active[key] = anyio.CancelScope()
        try:
            with scope:
                return await self._serve(request, connection)
        finally:
            del self._active[key]
            self._idle.set()
        raise RequestError(REQUEST_CANCELLED, "the MCP server is no longer offered")

    async def _serve(self, request: Asked, connection: Connection) -> dict[str, Any] | ErrorData:
        answer: dict[str, Any] | ErrorData | None = None
        to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](1)
        outgoing, from_server = anyio.create_memory_object_stream[SessionMessage]()
        loop = partial(serve_dual_era_loop, self._server, incoming, outgoing, lifespan_state=self._state)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(loop)
            asked = JSONRPCRequest(jsonrpc="2.0", id=request.request_id, method=request.method, params=request.params)
            # Closed before the loop is waited for, which would otherwise say a farewell that nobody reads.
            async with to_server, from_server:
                await to_server.send(SessionMessage(asked))
                async for item in from_server:
                    match item.message:
                        case JSONRPCNotification() as told:
                            await _tell(told, request, connection)
                        case JSONRPCResponse(result=result):
                            answer = result
                            break
                        case JSONRPCError(error=error):
                            answer = error
                            break
                        case JSONRPCRequest():
                            pass  # There are none in this era.
            tasks.cancel_scope.cancel()
        if answer is None:
            raise RequestError(BACKEND_FAILED, "the MCP server gave no answer")
        return answer


async def _tell(told: JSONRPCNotification, request: Asked, connection: Connection) -> None:
    wire: Any = connection.protocol
    more = {} if told.params is None else {"params": told.params}
    # The answer will find out too.
    with suppress(ConnectionClosed):
        await connection.notify(
            wire.MessageMcpNotification(
                server_id=request.server_id, request_id=request.request_id, method=told.method, **more
            )
        )
