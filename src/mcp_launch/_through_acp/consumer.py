"""`AcpConsumer`: an agent's sessions with MCP servers that its client offers by `mcp/message`."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from acp_bindings._redact import Redactor
from acp_bindings.connection import BadAnswer, Connection, ConnectionClosed, RequestFailed
from mcp_launch._diagnosis.protocol import diagnose_session
from mcp_launch._servers.client import connected_client
from mcp_launch._servers.sdk_session import Protection
from mcp_launch.failures import LaunchFailure
from mcp_launch.options import Budgets, Options

if TYPE_CHECKING:
    from mcp import Client

    from acp_bindings import v1_unstable, v2_unstable

    Server: TypeAlias = v1_unstable.McpServerAcp | v2_unstable.McpServerAcp
    Notification: TypeAlias = v1_unstable.MessageMcpNotification | v2_unstable.MessageMcpNotification

_BEHIND = 100
"""Messages that may wait until the session reads them."""


class AcpConsumer:
    """The sessions of an agent with MCP servers of its clients.

        consumer = AcpConsumer()
        handlers.on("mcp/message")(consumer.take)

        async with consumer.session(server, connection) as session:
            await session.call_tool("selection")

    The agent must advertise `mcp.acp` and use an `_unstable` package. Use `launch` for servers with other transports.
    """

    def __init__(self) -> None:
        """Create a consumer without sessions."""
        self._asked: dict[tuple[int, str, str], _Bridge] = {}

    @asynccontextmanager
    async def session(
        self, server: Server, connection: Connection, *, options: Options | None = None
    ) -> AsyncGenerator[Client]:
        """Open a session with one of the client's servers and yield it, the SDK's own `mcp.Client`.

        Any number of requests and of sessions with one server may be open at a time. An error of ACP is raised as
        `mcp.MCPError` with its code: -33001 if the client no longer offers the server, -32800 if it stopped offering it
        during the request.

        Args:
            server: the entry of `mcpServers`.
            connection: the connection over which the entry came.
            options: the callbacks; settings of processes and of the network have no effect here.

        Raises:
            LaunchFailure: no session could be opened; `.code` says why.
        """
        to_session, session_reads = anyio.create_memory_object_stream[SessionMessage | Exception](_BEHIND)
        session_writes, from_session = anyio.create_memory_object_stream[SessionMessage]()
        bridge = _Bridge(server, connection, to_session, self._asked)
        streams = session_reads, session_writes
        failed: BaseException | None = None
        async with to_session, session_reads, session_writes, from_session, anyio.create_task_group() as tasks:
            tasks.start_soon(bridge.run, from_session)
            protection = Protection(server=server.name)
            client = connected_client(streams, options or Options(), patience=Budgets().call, protection=protection)
            try:
                async with client:
                    # Kept out of the task groups, which would wrap it in an exception group.
                    try:
                        yield client
                    except BaseException as error:  # noqa: BLE001
                        failed = error
            except Exception as error:  # noqa: BLE001 - whatever it is, there is no session
                failed = failed or _no_session(server, error)
            except BaseExceptionGroup as error:
                # On trio, an error at the moment of a cancellation is in one group with it. Only the latter counts.
                _, cancelled = error.split(Exception)
                raise cancelled or error from None
            tasks.cancel_scope.cancel()
        if failed is not None:
            raise failed

    async def take(self, notification: Notification, connection: Connection) -> None:
        """Forward a notification of a server to the session of its request; a handler for `mcp/message`."""
        if bridge := self._asked.get((id(connection), notification.server_id, notification.request_id)):
            forwarded = JSONRPCNotification(jsonrpc="2.0", method=notification.method, params=notification.params)
            await bridge.give(forwarded)


@dataclass(slots=True, eq=False)
class _Bridge:
    """Sends what the session writes as ACP requests, and gives the session the responses."""

    server: Server
    connection: Connection
    to_session: MemoryObjectSendStream[SessionMessage | Exception]
    asked: dict[tuple[int, str, str], _Bridge]
    open: dict[RequestId, anyio.CancelScope] = field(default_factory=dict[RequestId, anyio.CancelScope])
    # Several sessions may be open with a server, and each numbers its requests from one.
    prefix: str = field(default_factory=lambda: uuid.uuid4().hex)

    async def run(self, from_session: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Forward what the session writes, until it ends."""
        async with anyio.create_task_group() as requests:
            async for item in from_session:
                match item.message:
                    case JSONRPCRequest() as request:
                        requests.start_soon(self._ask, request)
                    case JSONRPCNotification(method="notifications/cancelled", params={"requestId": given_up}):
                        # Cancelling the request sends `$/cancel_request`.
                        if scope := self.open.get(given_up):
                            scope.cancel()
                    case _:
                        pass  # This version of MCP has no other messages of a client.

    async def give(self, message: JSONRPCNotification | JSONRPCResponse | JSONRPCError) -> None:
        """Give the session a message, unless it has ended."""
        try:
            await self.to_session.send(SessionMessage(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return

    async def _ask(self, request: JSONRPCRequest) -> None:
        # A string was chosen by the session, which recognizes notifications by it (`subscriptions/listen`).
        id_ = request.id if isinstance(request.id, str) else f"{self.prefix}-{request.id}"
        key = id(self.connection), self.server.server_id, id_
        self.asked[key] = self
        try:
            with anyio.CancelScope() as self.open[request.id]:
                await self.give(await self._answer(request, id_))
        finally:
            del self.asked[key], self.open[request.id]

    async def _answer(self, request: JSONRPCRequest, id_: str) -> JSONRPCResponse | JSONRPCError:
        wire: Any = self.connection.protocol
        more = {} if request.params is None else {"params": request.params}
        asked = wire.MessageMcpRequest(server_id=self.server.server_id, request_id=id_, method=request.method, **more)
        try:
            answer: Any = await self.connection.request(asked)
        except RequestFailed as error:
            return _failed(request, error.code, error.message, error.data)
        except BadAnswer as error:
            return _failed(request, INTERNAL_ERROR, str(error))
        except ConnectionClosed as error:
            return _failed(request, CONNECTION_CLOSED, str(error))
        if isinstance(answer, wire.MessageMcpResponseError):
            return _failed(request, answer.error.code, answer.error.message, answer.error.data)
        result: Any = answer.result
        if type(result) is not dict:
            return _failed(request, INTERNAL_ERROR, "the result of the MCP server is not an object")
        return JSONRPCResponse(jsonrpc="2.0", id=request.id, result=cast("dict[str, Any]", result))


def _no_session(server: Server, error: Exception) -> LaunchFailure:
    failure = diagnose_session(error, waited=None).failure(server.name, stage="handshake", hide=Redactor())
    return failure.because(error, hide=Redactor())


def _failed(request: JSONRPCRequest, code: int, message: str, data: Any = None) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request.id, error=ErrorData(code=code, message=message, data=data))
