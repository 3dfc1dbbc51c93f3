"""A client's own MCP server: only agents with the token can reach it, over both transports, until its block ends."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer, Server
from mcp.server.mcpserver import Elicit, Resolve
from mcp_types import ElicitResult, ListToolsResult, Tool
from pydantic import BaseModel

import mcp_launch
from acp_bindings import encode, v1, v1_unstable, v2, v2_unstable
from mcp_launch._local import relay, serve
from tests.mcp_launch.own import Own
from tests.mcp_launch.support import SOURCE, Marked, ask, read_proc

pytestmark = pytest.mark.anyio

Kind = Literal["http", "stdio"]
EACH_TRANSPORT = pytest.mark.parametrize("transport", ["http", "stdio"])
PROTOCOLS: list[Any] = [v1, v1_unstable, v2, v2_unstable]


def text(spec: object) -> str:
    """Return the entry as JSON."""
    return encode(spec).decode()


def token_of(spec: v1.McpServer) -> str:
    """Return the secret in the entry."""
    if isinstance(spec, v1.McpServerStdio):
        return spec.env[0].value
    return spec.headers[0].value.removeprefix("Bearer ")


def refuses_connections(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.mark.requirement("R90")
@EACH_TRANSPORT
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: each.__name__.rpartition(".")[2])
async def test_an_agent_calls_a_tool_of_the_clients_own_server(
    transport: Kind, protocol: Any, marked: Marked, tmp_path: Path
) -> None:
    own = Own()

    async with mcp_launch.serve_local(own.server, transport=transport) as local:
        spec = local.spec(protocol.McpServer)
        assert (local.name, local.transport, spec.name) == ("editor", transport, "editor")
        async with mcp_launch.open_session(spec, cwd=tmp_path) as session:
            assert await ask(session, "selection", file="a.py") == "the selection in a.py"
        assert own.lives == 1

    assert own.lives == 0
    assert refuses_connections(local.port)


@pytest.mark.requirement("R90")
@EACH_TRANSPORT
async def test_a_low_level_server_is_offered_too(transport: Kind, marked: Marked, tmp_path: Path) -> None:
    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="plain", input_schema={"type": "object"})])

    server = Server("low", on_list_tools=list_tools)

    async with (
        mcp_launch.serve_local(server, transport=transport, name="Our editor") as local,
        mcp_launch.launch([local.spec(v1.McpServer)], cwd=tmp_path, policy="all") as fleet,
    ):
        assert [entry.tool.name for entry in fleet.catalogue] == ["plain"]
        assert [server.name for server in fleet] == ["Our editor"]


def v2_agent(protocol: Any, *transports: str) -> Any:
    mcp = protocol.McpCapabilities.model_validate({name: {} for name in transports})
    return protocol.InitializeResponse(
        protocol_version=2,
        info=protocol.Implementation(name="agent", version="1"),
        capabilities=protocol.AgentCapabilities(session=protocol.SessionCapabilities(mcp=mcp)),
    )


def v1_agent(protocol: Any, *, http: bool) -> Any:
    said = protocol.AgentCapabilities(mcp_capabilities=protocol.McpCapabilities(http=http))
    return protocol.InitializeResponse(protocol_version=1, agent_capabilities=said)


@pytest.mark.requirement("R70", "R71", "R72", "R90")
@pytest.mark.parametrize(
    ("agent", "transport"),
    [
        *((v1_agent(protocol, http=True), "http") for protocol in PROTOCOLS[:2]),
        *((v1_agent(protocol, http=False), "stdio") for protocol in PROTOCOLS[:2]),
        *((protocol.AgentCapabilities(), "stdio") for protocol in PROTOCOLS[:2]),
        *((v2_agent(protocol, "stdio", "http"), "http") for protocol in PROTOCOLS[2:]),
        *((v2_agent(protocol, "stdio"), "stdio") for protocol in PROTOCOLS[2:]),
        *((v2_agent(protocol, "http").capabilities, "http") for protocol in PROTOCOLS[2:]),
    ],
)
async def test_an_agent_gets_http_if_advertised_and_otherwise_stdio(agent: Any, transport: Kind) -> None:
    async with mcp_launch.serve_local(Own().server, agent=agent) as local:
        assert local.transport == transport


@pytest.mark.requirement("R70")
@pytest.mark.parametrize(
    ("agent", "advertised"),
    [
        (v2_agent(v2), []),
        (v2.AgentCapabilities(session=v2.SessionCapabilities()), []),
        (v2.AgentCapabilities(), []),
        (v2_agent(v2_unstable, "acp"), ["acp"]),
    ],
)
async def test_in_v2_an_agent_that_advertised_neither_is_not_assumed_to_take_stdio(
    agent: Any, advertised: list[str]
) -> None:
    with pytest.raises(mcp_launch.NoTransport, match='transport="stdio"') as raised:
        async with mcp_launch.serve_local(Own().server, agent=agent):
            pytest.fail("nothing to offer it over")

    assert raised.value.advertised == advertised


@pytest.mark.requirement("R70")
async def test_the_transport_argument_overrides_what_was_advertised() -> None:
    async with mcp_launch.serve_local(Own().server, agent=v2.AgentCapabilities(), transport="stdio") as local:
        assert local.transport == "stdio"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, 'pass transport="http" or transport="stdio"'),
        ({"agent": {"agentCapabilities": {}}}, "agent= must be the agent's response to initialize"),
        ({"transport": "sse"}, 'not "sse"'),
        ({"transport": "http", "server": object()}, r"must be an MCPServer or a Server of mcp\.server, not object"),
    ],
)
async def test_invalid_arguments_are_refused(options: dict[str, Any], said: str) -> None:
    arguments: dict[str, Any] = {"server": Own().server, **options}
    with pytest.raises(mcp_launch.UnusableInput, match=said):
        async with mcp_launch.serve_local(**arguments):
            pytest.fail("it was served")


@pytest.mark.parametrize(("name", "value"), [("frozen", True), ("executable", ""), ("executable", None)])
async def test_stdio_requires_a_python_interpreter(name: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, name, value, raising=False)

    with pytest.raises(mcp_launch.UnusableInput, match="has no interpreter; use http"):
        async with mcp_launch.serve_local(Own().server, transport="stdio"):
            pytest.fail("the agent would start this program again")
    async with mcp_launch.serve_local(Own().server, transport="http") as local:
        assert local.transport == "http"


@pytest.mark.requirement("R46", "R90")
async def test_the_entry_has_the_form_of_its_protocol() -> None:
    async with mcp_launch.serve_local(Own().server, transport="stdio") as local:
        old, new = (json.loads(text(local.spec(protocol.McpServer))) for protocol in (v1, v2))

    assert new == {"type": "stdio", **old}
    assert list(old) == ["name", "command", "args", "env"]
    assert Path(old["command"]).is_absolute()
    assert Path(old["args"][-2]).is_absolute()


# What is not let in


LET_IN = 406
"""The status that authorized clients get for the request below, because it does not accept an event stream."""


async def post(url: str, **headers: str) -> httpx2.Response:
    sent = {"Accept": "application/json", "Content-Type": "application/json", **headers}
    async with httpx2.AsyncClient(trust_env=False) as client:
        return await client.post(
            url, content=b"{}", headers=[(name.encode(), value.encode()) for name, value in sent.items()]
        )


@pytest.mark.requirement("R90")
async def test_a_request_without_the_token_or_from_another_host_is_refused(marked: Marked) -> None:
    own = Own()
    async with (
        mcp_launch.serve_local(own.server, transport="http") as local,
        mcp_launch.serve_local(own.server, transport="http") as another,
    ):
        spec = local.spec(v1.McpServerHttp)
        right = {"Authorization": spec.headers[0].value}
        cases: list[tuple[int, str, dict[str, str]]] = [
            (LET_IN, spec.url, right),
            (401, spec.url, {}),
            (401, spec.url, {"Authorization": ""}),
            (401, spec.url, {"Authorization": right["Authorization"][:-1]}),
            (401, spec.url, {"Authorization": right["Authorization"] + "x"}),
            (401, spec.url, {"Authorization": right["Authorization"].removeprefix("Bearer ")}),
            (401, spec.url, {"Authorization": "Bearer \xe9"}),
            (401, spec.url, {"Authorization": another.spec(v1.McpServerHttp).headers[0].value}),
            (401, f"http://127.0.0.1:{local.port}/", {}),
            (404, f"http://127.0.0.1:{local.port}/", right),
            (421, spec.url, {**right, "Host": "rebound.example"}),
            (421, spec.url, {**right, "Host": f"localhost:{local.port}"}),
            (421, spec.url, {**right, "Host": "127.0.0.1:1"}),
            (403, spec.url, {**right, "Origin": "https://evil.example"}),
            (403, spec.url, {**right, "Origin": "null"}),
            (403, spec.url, {**right, "Origin": f"http://127.0.0.1:{local.port}"}),
        ]
        with anyio.fail_after(30):
            answers = [await post(url, **sent) for _, url, sent in cases]

    assert [answer.status_code for answer in answers] == [status for status, _, _ in cases]
    assert answers[1].headers["WWW-Authenticate"] == "Bearer"
    assert not any(token_of(spec) in answer.text + str(answer.headers) for answer in answers)


@pytest.mark.requirement("R90")
@pytest.mark.parametrize("said", [b"\n", b"x" * 43 + b"\n", b"x" * 100_000, b"GET / HTTP/1.1\r\n\r\n"])
async def test_a_stdio_connection_without_the_token_is_closed(
    said: bytes, marked: Marked, caplog: pytest.LogCaptureFixture
) -> None:
    async with mcp_launch.serve_local(Own().server, transport="stdio") as local:
        stream = await anyio.connect_tcp("127.0.0.1", local.port)
        async with stream:
            await stream.send(said)
            with anyio.fail_after(10), pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                await stream.receive()
    assert caplog.text == ""


@pytest.mark.requirement("R90")
@EACH_TRANSPORT
async def test_the_oldest_connections_without_the_token_make_room_for_others(
    transport: Kind, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("listener", "bridge"):
        monkeypatch.setattr(f"mcp_launch._local.{module}._FIRST", 3600)
    async with (
        mcp_launch.serve_local(Own().server, transport=transport) as local,
        mcp_launch.open_session(spec := local.spec(v1.McpServer), cwd=tmp_path) as session,
        contextlib.AsyncExitStack() as connections,
    ):
        with anyio.fail_after(20):
            streams = [
                await connections.enter_async_context(await anyio.connect_tcp("127.0.0.1", local.port))
                for _ in range(serve.MOST_UNAUTHENTICATED + 5)
            ]
            for stream in streams[:5]:
                with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                    await stream.receive()

            hello = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" if transport == "http" else f"{token_of(spec)}\n".encode()
            await streams[5].send(hello)
            assert (await streams[5].receive()).startswith(b"HTTP/1.1 401 " if transport == "http" else relay.WELCOME)
            assert await ask(session, "selection", file="a.py") == "the selection in a.py"
            async with mcp_launch.open_session(spec, cwd=tmp_path) as another:
                assert await ask(another, "selection", file="b.py") == "the selection in b.py"


async def run_relay(spec: v1.McpServerStdio, *, token: str) -> tuple[int, str]:
    """Run the command and return its exit status and output."""
    done = await anyio.run_process([spec.command, *spec.args], env={relay.TOKEN: token}, input=b"", check=False)
    return done.returncode, done.stderr.decode()


@pytest.mark.requirement("R90")
async def test_the_relay_command_explains_why_it_cannot_be_used(
    marked: Marked, caplog: pytest.LogCaptureFixture
) -> None:
    async with mcp_launch.serve_local(Own().server, transport="stdio") as local:
        spec = local.spec(v1.McpServer)
        assert isinstance(spec, v1.McpServerStdio)
        with anyio.fail_after(20):
            assert await run_relay(spec, token=token_of(spec)) == (0, "")
            refused = await run_relay(spec, token="wrong")
    with anyio.fail_after(20):
        late = await run_relay(spec, token=token_of(spec))

    assert refused == (1, "the client that offers this MCP server did not accept the token\n")
    assert late[0] == 1
    assert late[1].startswith("the client that offers this MCP server cannot be reached (")
    assert late[1].endswith("has its session ended?\n")
    # An agent that exits is not a failure either.
    assert caplog.text == ""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
@pytest.mark.requirement("R90")
@EACH_TRANSPORT
async def test_the_server_listens_only_on_the_loopback_interface(transport: Kind) -> None:
    async with mcp_launch.serve_local(Own().server, transport=transport) as local:
        listening = [
            line.split()[1]
            for table in ("/proc/self/net/tcp", "/proc/self/net/tcp6")
            for line in Path(table).read_text().splitlines()
            if line.split()[3] == "0A" and line.split()[1].endswith(f":{local.port:04X}")
        ]

    assert listening == [f"0100007F:{local.port:04X}"]


@pytest.mark.requirement("R90")
async def test_modules_in_the_sessions_directory_are_not_imported(marked: Marked, tmp_path: Path) -> None:
    for module in ("socket", "os", "threading", "mcp_launch", "sitecustomize"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('taken over')")

    async with mcp_launch.serve_local(Own().server, transport="stdio") as local:
        spec = json.loads(text(local.spec(v1.McpServer)))
        spec["env"].append({"name": "PYTHONPATH", "value": str(tmp_path)})
        async with mcp_launch.open_session(spec, cwd=tmp_path) as session:
            assert await ask(session, "selection", file="b.py") == "the selection in b.py"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
@pytest.mark.requirement("R90", "R91")
@EACH_TRANSPORT
async def test_the_token_is_never_shown(
    transport: Kind, marked: Marked, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    own = Own()

    async with mcp_launch.serve_local(own.server, transport=transport) as local:
        spec = local.spec(v1.McpServer)
        token = token_of(spec)
        async with mcp_launch.open_session(spec, cwd=tmp_path) as session:
            await ask(session, "selection", file="a.py")
            if transport == "http":
                await post(f"http://127.0.0.1:{local.port}/", Authorization=token)
            commands = [read_proc(path) for path in Path("/proc").glob("[0-9]*/cmdline")]
            holders = [read_proc(path) for path in Path("/proc").glob("[0-9]*/environ")]
        # Not in the session, which hides it too.
        logging.getLogger("mcp.server").info("what the SDK might say: %s", token)
        shown = [repr(local), str(local), repr(spec), caplog.text, *commands]

    assert len(token) >= 43
    assert text(spec).count(token) == 1
    # The search would find it.
    assert sum(token in environment for environment in holders) == (1 if transport == "stdio" else 0)
    assert [place for place in shown if token in place] == []


# Several agents, and their ends


@asynccontextmanager
async def older_agent(spec: v1.McpServer) -> AsyncGenerator[Client]:
    """Open the session of an agent without the 2026-07-28 era, like most agents."""
    if isinstance(spec, v1.McpServerStdio):
        environment = {variable.name: variable.value for variable in spec.env}
        command = StdioServerParameters(command=spec.command, args=spec.args, env=environment)
        async with Client(command, mode="legacy") as client:
            yield client
        return
    headers = [(header.name, header.value) for header in spec.headers]
    async with (
        httpx2.AsyncClient(headers=headers, timeout=20) as http,
        Client(streamable_http_client(spec.url, http_client=http), mode="legacy") as client,
    ):
        yield client


@pytest.mark.requirement("R90")
@EACH_TRANSPORT
async def test_two_agents_use_it_at_once(transport: Kind, marked: Marked, tmp_path: Path) -> None:
    await _used_by_two(transport, partial(mcp_launch.open_session, cwd=tmp_path))


# The SDK's client leaves half-read answers to the garbage collector when it is cancelled.
@pytest.mark.requirement("R90")
@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
@EACH_TRANSPORT
async def test_two_older_agents_use_it_at_once(transport: Kind) -> None:
    # Not with `marked`: sse-starlette, which the SDK uses, keeps a task for each thread that sent an event stream.
    await _used_by_two(transport, older_agent)


async def _used_by_two(transport: Kind, agent: Callable[[Any], AbstractAsyncContextManager[Client]]) -> None:
    own = Own()

    with anyio.fail_after(30):
        async with mcp_launch.serve_local(own.server, transport=transport) as local:
            spec = local.spec(v1.McpServer)
            async with agent(spec) as one, agent(spec) as two:
                assert one.protocol_version == ("2025-11-25" if agent is older_agent else "2026-07-28")
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(one.call_tool, "wait")
                    await own.waiting.wait()
                    assert await ask(two, "selection", file="a.py") == "the selection in a.py"
                    tasks.cancel_scope.cancel()
                await own.cancelled.wait()
                assert await ask(one, "selection", file="b.py") == "the selection in b.py"
            assert own.lives == 1
        assert own.lives == 0


AGENT = """
import json, sys, anyio, mcp_launch

async def main():
    async with mcp_launch.open_session(json.loads(sys.argv[1]), cwd="/") as session:
        await session.call_tool("wait", {})

anyio.run(main)
"""


@pytest.mark.requirement("R90")
@EACH_TRANSPORT
async def test_an_agent_that_dies_in_a_call_ends_that_call_and_nothing_else(
    transport: Kind, marked: Marked, tmp_path: Path
) -> None:
    own = Own()

    async with mcp_launch.serve_local(own.server, transport=transport) as local:
        spec = local.spec(v1.McpServer)
        command = [sys.executable, "-c", AGENT, text(spec)]
        environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
        async with await anyio.open_process(command, env=environment, stdout=subprocess.DEVNULL) as agent:
            with anyio.fail_after(30):
                await own.waiting.wait()
                agent.send_signal(signal.SIGKILL)
                await own.cancelled.wait()
        async with mcp_launch.open_session(spec, cwd=tmp_path) as session:
            assert await ask(session, "selection", file="a.py") == "the selection in a.py"


@pytest.mark.requirement("R90")
@EACH_TRANSPORT
async def test_a_call_that_still_runs_ends_with_the_block(transport: Kind, marked: Marked, tmp_path: Path) -> None:
    own = Own()
    port = 0
    told = anyio.Event()

    async def agent(spec: v1.McpServer) -> None:
        async with mcp_launch.open_session(spec, cwd=tmp_path) as session:
            with pytest.raises(MCPError):
                await session.call_tool("wait", {})
            told.set()

    async with anyio.create_task_group() as agents:
        async with mcp_launch.serve_local(own.server, transport=transport) as local:
            port = local.port
            agents.start_soon(agent, local.spec(v1.McpServer))
            with anyio.fail_after(20):
                await own.waiting.wait()
        assert own.cancelled.is_set()
        with anyio.fail_after(20):
            await told.wait()

    assert own.lives == 0
    assert refuses_connections(port)


@pytest.mark.requirement("R90")
@EACH_TRANSPORT
async def test_a_client_that_does_not_read_does_not_delay_the_end(transport: Kind, marked: Marked) -> None:
    own = Own()

    @own.server.tool()
    async def flood() -> str:
        own.waiting.set()
        return "x" * 50_000_000

    with anyio.fail_after(30):
        async with mcp_launch.serve_local(own.server, transport=transport) as local:
            token = token_of(local.spec(v1.McpServer)).encode()
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": FLOOD}).encode()
            over_http = MODERN % (local.port, token, len(body)) + body
            agent = await anyio.connect_tcp("127.0.0.1", local.port)
            await agent.send(over_http if transport == "http" else b"%s\n%s\n" % (token, body))
            await own.waiting.wait()
            # When the answer begins, the rest is being sent.
            assert len(await agent.receive()) > 0
        await agent.aclose()


FLOOD = {
    "name": "flood",
    "arguments": {},
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    },
}
MODERN = (
    b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n"
    b"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
    b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: flood\r\n\r\n"
)


async def test_too_many_open_files_are_waited_out(anyio_backend: str, caplog: pytest.LogCaptureFixture) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with anyio.fail_after(20), socket.socket() as agent:
        async with mcp_launch.serve_local(Own().server, transport="http") as local:
            # The agent has its descriptor already. The next one is for its connection, on our side.
            following = os.open("/dev/null", os.O_RDONLY)
            os.close(following)
            resource.setrlimit(resource.RLIMIT_NOFILE, (following, hard))
            try:
                agent.connect(("127.0.0.1", local.port))
                agent.sendall(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
                while "cannot accept connections from agents for now: [Errno 24]" not in caplog.text:
                    await anyio.sleep(0.01)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            assert (await anyio.to_thread.run_sync(agent.recv, 100)).startswith(b"HTTP/1.1 401 ")


@EACH_TRANSPORT
async def test_an_exception_in_the_block_arrives_as_it_was_raised(transport: Kind, marked: Marked) -> None:
    with pytest.raises(ZeroDivisionError):
        async with mcp_launch.serve_local(Own().server, transport=transport):
            raise ZeroDivisionError


@EACH_TRANSPORT
async def test_cancellation_ends_it_and_is_not_swallowed(transport: Kind, marked: Marked) -> None:
    port = 0

    with anyio.move_on_after(10) as scope:
        async with mcp_launch.serve_local(Own().server, transport=transport) as local:
            port = local.port
            scope.cancel()
            await anyio.sleep_forever()

    assert scope.cancelled_caught
    assert refuses_connections(port)


@EACH_TRANSPORT
async def test_a_server_that_does_not_start_is_reported_with_the_reason(transport: Kind, marked: Marked) -> None:
    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncGenerator[None]:
        raise LookupError("no database")
        yield

    server = MCPServer("broken", lifespan=lifespan)

    with pytest.raises(LookupError, match="no database"):
        async with mcp_launch.serve_local(server, transport=transport):
            pytest.fail("it did start")


@EACH_TRANSPORT
async def test_large_messages_arrive_in_both_directions(transport: Kind, marked: Marked, tmp_path: Path) -> None:
    large = "x" * 6_000_000

    async with (
        mcp_launch.serve_local(Own().server, transport=transport) as local,
        mcp_launch.open_session(local.spec(v1.McpServer), cwd=tmp_path) as session,
    ):
        assert await ask(session, "selection", file=large) == f"the selection in {large}"


async def test_a_result_that_cannot_be_written_fails_only_its_call(marked: Marked, tmp_path: Path) -> None:
    own = Own()

    @own.server.tool()
    async def broken() -> str:
        return "\ud800"

    async with (
        mcp_launch.serve_local(own.server, transport="stdio") as local,
        mcp_launch.open_session(local.spec(v1.McpServer), cwd=tmp_path) as session,
    ):
        with pytest.raises(MCPError, match="a lone surrogate"), anyio.fail_after(20):
            await session.call_tool("broken", {})
        assert await ask(session, "selection", file="a.py") == "the selection in a.py"


class Colour(BaseModel):
    """The user's response."""

    name: str


def ask_user() -> Elicit[Colour]:
    return Elicit("Which colour?", Colour)


@EACH_TRANSPORT
async def test_a_tool_may_send_requests_to_the_agent(transport: Kind, marked: Marked, tmp_path: Path) -> None:
    own = Own()

    @own.server.tool()
    async def paint(colour: Annotated[Colour, Resolve(ask_user)]) -> str:
        return f"painted {colour.name}"

    async def answer(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"name": "green"})

    options = mcp_launch.Options(elicitation=answer)
    async with (
        mcp_launch.serve_local(own.server, transport=transport) as local,
        mcp_launch.open_session(local.spec(v1.McpServer), cwd=tmp_path, options=options) as session,
    ):
        assert await ask(session, "paint") == "painted green"
