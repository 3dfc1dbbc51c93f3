"""A client's own MCP server through the ACP connection: requests, notifications, cancellation and errors."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp import Client, MCPError
from mcp.server import MCPServer

import mcp_launch
from acp_bindings import v1_unstable, v2_unstable
from acp_bindings._processes.pipes import Reader, Writer
from acp_bindings.connection import Connection, Handlers, RequestFailed
from acp_bindings.jsonrpc import ProtocolPackage
from tests.mcp_launch.own import Own

pytestmark = pytest.mark.anyio

EACH = pytest.mark.parametrize("protocol", [v1_unstable, v2_unstable], ids=["v1_unstable", "v2_unstable"])
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Ends:
    """Connect both ends: the provider's, which is the client's, and the consumer's, which is the agent's."""

    def __init__(self, protocol: ProtocolPackage) -> None:
        self.protocol: Any = protocol
        self.provider, self.consumer = mcp_launch.AcpProvider(), mcp_launch.AcpConsumer()
        self.lines: list[bytes] = []
        self.of_client, self.of_agent = Handlers(), Handlers()
        self.answering: Callable[[Any, Connection], Awaitable[Any]] = self.provider.answer
        self.of_client.on("mcp/message")(self.answer)
        self.of_agent.on("mcp/message")(self.consumer.take)
        self.agent: Connection
        self.client: Connection

    async def answer(self, request: Any, connection: Connection) -> Any:
        """Respond with the current `answering`."""
        return await self.answering(request, connection)

    def session(self, server: mcp_launch.AcpServer) -> AbstractAsyncContextManager[Client]:
        return self.consumer.session(server.spec(self.protocol.McpServer), self.agent)

    async def ask(self, server_id: str, method: str = "server/discover", *, id_: str = "r", **params: Any) -> Any:
        """Send one request over the connection, without the SDK's client."""
        params = {"_meta": META, **params}
        message = self.protocol.MessageMcpRequest(server_id=server_id, request_id=id_, method=method, params=params)
        return await self.agent.request(message)


@asynccontextmanager
async def connected(protocol: ProtocolPackage) -> AsyncGenerator[Ends]:
    ends = Ends(protocol)
    (to_agent, from_client), (to_client, from_agent) = os.pipe(), os.pipe()
    os.set_blocking(from_agent, False)
    os.set_blocking(from_client, False)
    with anyio.fail_after(20):
        async with (
            Connection(
                Reader(to_agent),
                Writer(from_agent),
                protocol=protocol,
                role="agent",
                handlers=ends.of_agent,
                trace=lambda _, line: ends.lines.append(line),
            ) as ends.agent,
            Connection(
                Reader(to_client), Writer(from_client), protocol=protocol, role="client", handlers=ends.of_client
            ) as ends.client,
        ):
            yield ends


@asynccontextmanager
async def served(protocol: ProtocolPackage, server: MCPServer[Any]) -> AsyncGenerator[tuple[Ends, Client]]:
    """Offer a server, and open a session with it."""
    async with (
        connected(protocol) as ends,
        ends.provider.serve(server) as offered,
        ends.session(offered) as session,
    ):
        yield ends, session


@pytest.mark.requirement("X13", "R90")
@EACH
async def test_an_agent_calls_a_tool_of_its_client_through_acp(protocol: Any) -> None:
    own = Own()
    async with served(protocol, own.server) as (ends, session):
        assert session.server_info is not None
        assert session.server_info.name == "editor"
        assert [tool.name for tool in (await session.list_tools()).tools] == ["selection", "count", "wait"]
        result: Any = await session.call_tool("selection", {"file": "a.py"})
        assert result.content[0].text == "the selection in a.py"
        assert own.lives == 1
    assert own.lives == 0
    assert all(b"mcp/message" in line or b'"result"' in line for line in ends.lines)


@pytest.mark.requirement("X13")
@EACH
async def test_notifications_arrive_before_their_response(protocol: Any) -> None:
    told: list[float] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        assert (total, message) == (20, None)
        told.append(progress)

    async with served(protocol, Own().server) as (_, session):
        await session.call_tool("count", {"last": 20}, progress_callback=heard)
        assert told == list(range(1, 21))


@pytest.mark.requirement("X13")
@EACH
async def test_two_sessions_with_a_server_do_not_mix_their_requests(protocol: Any) -> None:
    own = Own()
    async with (
        connected(protocol) as ends,
        ends.provider.serve(own.server) as offered,
        ends.session(offered) as one,
        ends.session(offered) as other,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(one.call_tool, "wait")
        await own.waiting.wait()
        for session in (one, other):
            for file in "ab":
                result: Any = await session.call_tool("selection", {"file": file})
                assert result.content[0].text == f"the selection in {file}"
        tasks.cancel_scope.cancel()


@pytest.mark.requirement("X13")
@EACH
async def test_a_call_cancelled_by_the_agent_is_cancelled_at_the_client(protocol: Any) -> None:
    own = Own()
    async with served(protocol, own.server) as (ends, session):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.call_tool, "wait")
            await own.waiting.wait()
            tasks.cancel_scope.cancel()
        await own.cancelled.wait()
        assert any(b"$/cancel_request" in line for line in ends.lines)
        assert (await session.list_tools()).tools


@pytest.mark.requirement("X13")
@EACH
async def test_pending_calls_fail_when_the_block_of_a_server_ends(protocol: Any) -> None:
    own = Own()
    codes: list[int] = []

    async def call(session: Client) -> None:
        with pytest.raises(MCPError) as raised:
            await session.call_tool("wait")
        codes.append(raised.value.error.code)

    async with connected(protocol) as ends:
        block = ends.provider.serve(own.server)
        offered = await block.__aenter__()
        async with ends.session(offered) as session, anyio.create_task_group() as tasks:
            tasks.start_soon(call, session)
            await own.waiting.wait()
            await block.__aexit__(None, None, None)
            assert (own.cancelled.is_set(), own.lives) == (True, 0)
        assert codes == [-32800]
        with pytest.raises(RequestFailed) as refused:
            await ends.ask(offered.id)
        assert (refused.value.code, refused.value.data) == (-33001, {"serverId": offered.id})


@pytest.mark.requirement("X13")
@EACH
async def test_a_session_with_an_unknown_server_fails(protocol: Any) -> None:
    async with connected(protocol) as ends:
        with pytest.raises(mcp_launch.LaunchFailure) as raised:
            async with ends.session(mcp_launch.AcpServer("away", "s1")):
                raise AssertionError("there is no session")
    failure = raised.value
    assert (failure.server, failure.stage, failure.code) == ("away", "handshake", "rejected")
    assert "there is no MCP server with this id" in str(failure)


@pytest.mark.requirement("X13")
@pytest.mark.parametrize("steps", range(12))
async def test_a_session_that_is_cancelled_while_it_is_refused_is_cancelled_or_refused(steps: int) -> None:
    async with connected(v2_unstable) as ends:
        refused = anyio.Event()
        told = ends.provider.answer

        async def answer(request: Any, connection: Connection) -> Any:
            if request.method == "initialize":
                refused.set()
            return await told(request, connection)

        ends.answering = answer

        async def cancel(scope: anyio.CancelScope) -> None:
            await refused.wait()
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            scope.cancel()

        async with anyio.create_task_group() as tasks:
            with anyio.CancelScope() as scope, contextlib.suppress(mcp_launch.LaunchFailure):
                tasks.start_soon(cancel, scope)
                async with ends.session(mcp_launch.AcpServer("away", "s1")):
                    raise AssertionError("there is no session")


@pytest.mark.requirement("X13")
@EACH
async def test_exceptions_of_a_session_block_are_raised_unchanged(protocol: Any) -> None:
    async with connected(protocol) as ends, ends.provider.serve(Own().server) as offered:
        with pytest.raises(KeyError, match="mine"):
            async with ends.session(offered):
                raise KeyError("mine")


@pytest.mark.requirement("X13")
@EACH
async def test_a_request_id_in_use_on_the_same_connection_is_refused(protocol: Any) -> None:
    own = Own()
    async with connected(protocol) as one, connected(protocol) as other, one.provider.serve(own.server) as offered:
        other.answering = one.provider.answer
        async with anyio.create_task_group() as tasks:

            async def wait() -> None:
                await one.ask(offered.id, "tools/call", name="wait", arguments={})

            tasks.start_soon(wait)
            await own.waiting.wait()
            with pytest.raises(RequestFailed) as refused:
                await one.ask(offered.id)
            assert refused.value.code == -32602
            for ends, number in ((one, "q"), (other, "r")):
                assert (await ends.ask(offered.id, id_=number)).result["supportedVersions"]
            tasks.cancel_scope.cancel()
        await own.cancelled.wait()


@pytest.mark.requirement("X13")
@EACH
@pytest.mark.parametrize(
    ("method", "meta", "code"),
    [
        ("no/such", META, -32601),
        ("tools/call", META, -32602),
        ("tools/list", {}, -32602),
        ("initialize", {}, -32602),
        ("tools/list", {**META, "io.modelcontextprotocol/protocolVersion": "2025-06-18"}, -32022),
    ],
)
async def test_an_error_of_mcp_is_a_result_of_acp(protocol: Any, method: str, meta: dict[str, Any], code: int) -> None:
    async with connected(protocol) as ends, ends.provider.serve(Own().server) as offered:
        answer = await ends.ask(offered.id, method, _meta=meta)
        assert isinstance(answer, protocol.MessageMcpResponseError)
        assert answer.error.code == code


@pytest.mark.requirement("X13")
@EACH
async def test_an_error_of_mcp_reaches_its_caller(protocol: Any) -> None:
    async with served(protocol, Own().server) as (_, session):
        with pytest.raises(MCPError) as raised:
            await session.read_resource("file:///none")
        assert (raised.value.error.code, raised.value.error.data) == (-32602, {"uri": "file:///none"})


@pytest.mark.requirement("X13")
@EACH
async def test_every_offered_server_has_its_own_id(protocol: Any) -> None:
    first, second = MCPServer("first"), MCPServer("second")
    async with connected(protocol) as ends:
        provider = ends.provider
        async with (
            provider.serve(first) as one,
            provider.serve(second) as other,
            provider.serve(first, name="x") as again,
        ):
            assert len({one.id, other.id, again.id}) == 3
            spec = again.spec(protocol.McpServer)
            assert (type(spec), spec.name, spec.server_id) == (protocol.McpServerAcp, "x", again.id)
            for offered, name in ((one, "first"), (other, "second"), (again, "first")):
                async with ends.session(offered) as session:
                    assert session.server_info is not None
                    assert session.server_info.name == name


@pytest.mark.requirement("X13")
@EACH
async def test_a_call_fails_when_the_connection_ends(protocol: Any) -> None:
    own = Own()
    async with served(protocol, own.server) as (ends, session), anyio.create_task_group() as tasks:
        tasks.start_soon(_close_when, own.waiting, ends.agent)
        with pytest.raises(MCPError, match="closed"):
            await session.call_tool("wait")


async def _close_when(event: anyio.Event, connection: Connection) -> None:
    await event.wait()
    connection.close()


@pytest.mark.requirement("X13")
@EACH
@pytest.mark.parametrize("result", [None, [1], "x"])
async def test_an_invalid_mcp_result_fails_only_its_call(protocol: Any, result: Any) -> None:
    async def odd(request: Any, _: Connection) -> Any:
        return protocol.MessageMcpResponseResult(result=result)

    async with served(protocol, Own().server) as (ends, session):
        ends.answering = odd
        with pytest.raises(MCPError) as raised:
            await session.call_tool("selection", {"file": "a"})
        assert raised.value.error.code == -32603
        ends.answering = ends.provider.answer
        assert (await session.list_tools()).tools
