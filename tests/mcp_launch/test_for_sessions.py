"""The MCP servers of an agent's sessions: started once, reported when they fail, and gone with the agent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

import anyio
import mcp_types
import pytest
from anyio.abc import Process

import mcp_launch
from acp_bindings.agent import Agent, Turn
from acp_bindings.connection import Connection, RequestFailed
from acp_bindings.decoding import decode
from tests.acp_bindings.agent.clients import served, talking
from tests.mcp_launch.servers.asks import asking_server
from tests.mcp_launch.support import MARK, Marked, http

pytestmark = pytest.mark.anyio


def caller(**options: Any) -> Agent[mcp_launch.Fleet]:
    agent: Agent[mcp_launch.Fleet] = Agent("caller", version="1.0", mcp=mcp_launch.for_sessions(**options))

    @agent.prompt
    async def call(turn: Turn[mcp_launch.Fleet]) -> None:
        name = turn.text
        async with turn.tool_call(name) as tool_call:
            tool_call.result(await turn.session.mcp.call_tool(name, {}))
        await turn.say(f"failed: {tool_call.has_failed}")

    return agent


def typed(server: dict[str, Any]) -> dict[str, Any]:
    return {"type": "stdio", **server}


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    number: int = request.param
    return number


def test_the_servers_of_sessions_show_none_of_their_options_and_are_hashable() -> None:
    servers, others = (mcp_launch.for_sessions(options={"one": mcp_launch.Options(strict=True)}) for _ in range(2))
    assert "strict" not in repr(servers)
    assert len({servers, others}) == 2


async def test_three_loads_of_an_open_session_start_its_servers_once(marked: Marked, version: int) -> None:
    async with talking(caller(), version) as client:
        server = typed(marked.plain())
        session = await client.new(server)
        await client.prompt(session, "plain__environment")
        before = marked.running()
        assert len(before) == 1
        for _ in range(3):
            await client.load(session, server)
        assert marked.running() == before
        await client.ask("session/close", sessionId=session)
        assert marked.running() == []


IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
SOUND = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}
FILE = {"type": "resource", "resource": {"uri": "file:///a.pdf", "blob": "aGk="}}


@pytest.mark.parametrize(
    ("result", "output"),
    [
        ({"content": [{"type": "text", "text": "22 °C"}], "structuredContent": {"temperature": 22}}, "22 °C"),
        ({"content": [], "structuredContent": {"temperature": 22}}, '{"temperature":22}'),
        ({"content": [{"type": "text", "text": ""}], "structuredContent": {"rows": []}}, '{"rows":[]}'),
        ({"content": [{"type": "text", "text": "see"}, IMAGE, SOUND]}, "see\n[image/png]\n[audio/wav]"),
        ({"content": [FILE], "structuredContent": {"pages": 2}}, '[binary data]\n{"pages":2}'),
        ({"content": [], "structuredContent": {"mean": float("nan")}}, '{"mean":null}'),
        ({"content": [{"type": "text", "text": "none"}], "structuredContent": {"mean": float("nan")}}, "none"),
        ({"content": []}, ""),
        ({"content": [], "isError": True, "structuredContent": {"error": "bad id"}}, '{"error":"bad id"}'),
        ({"content": [], "isError": True}, "The call failed."),
    ],
)
async def test_the_output_of_a_tool_call_shows_a_model_what_is_not_text(result: Any, output: str) -> None:
    outputs: list[str] = []

    async def call(turn: Turn[mcp_launch.Fleet]) -> None:
        async with turn.tool_call("Call") as tool_call:
            tool_call.result(mcp_types.CallToolResult.model_validate(result))
        outputs.append(tool_call.output)

    agent: Agent[mcp_launch.Fleet] = Agent("caller", version="1.0", mcp=mcp_launch.for_sessions())
    agent.prompt(call)
    async with talking(agent) as client:
        await client.prompt(await client.new(), "go")
    assert outputs == [output]


async def test_the_result_of_a_tool_is_the_end_of_the_tool_call(marked: Marked, version: int) -> None:
    async with talking(caller(), version) as client:
        session = await client.new(typed(marked.plain()))
        assert await client.prompt(session, "plain__environment") == "end_turn"
        end = client.of(session, "tool_call", "tool_call_update")[-1]
        assert end.status == "completed"
        assert MARK in end.content[0].content.text
        await client.prompt(session, "unknown")
        assert client.of(session, "tool_call_update")[-1].status == "failed"
        assert client.text(session) == "failed: Falsefailed: True"


@pytest.mark.parametrize("background", [False, True])
async def test_a_failed_server_is_reported_once(marked: Marked, version: int, background: bool) -> None:
    async with talking(caller(background=background), version) as client:
        missing = typed(marked.stdio("missing", "/nowhere/missing-server"))
        session = await client.new(missing, typed(marked.plain()))
        await client.until(lambda: "missing" in str(client.updates))
        await client.prompt(session, "plain__environment")
        kind = "agent_message_chunk" if version == 1 else "notice"
        told = [each for each in client.of(session, kind) if "missing-server" in str(each)]
        assert len(told) == 1
        assert "MCP server missing" in str(told[0])


async def test_a_server_that_exits_later_is_reported(marked: Marked, version: int) -> None:
    async with served(caller()) as server, server.client(version) as one, server.client(version) as other:
        spec = typed(marked.plain())
        session = await one.new(spec)
        await one.prompt(session, "plain__environment")
        # The report goes to the client that has the session now.
        await other.load(session, spec)
        os.kill(marked.running()[0], signal.SIGKILL)
        await other.until(lambda: "SIGKILL" in str(other.updates))
        assert "SIGKILL" not in str(one.updates)


@pytest.mark.parametrize("can_ask", [True, False])
async def test_elicitations_of_servers_reach_a_client_that_supports_them(
    marked: Marked, version: int, can_ask: bool
) -> None:
    asked: list[Any] = []

    def prepare(client: Any) -> None:
        def answer(request: Any, connection: Connection) -> Any:
            asked.append(request)
            package: Any = connection.protocol
            return decode(package.CreateElicitationResponse, {"action": "accept", "content": {"name": "blue"}})

        client.handlers.on("elicitation/create")(answer)

    capabilities = {"elicitation.form"} if can_ask else set[str]()
    with asking_server("modern") as url:
        async with talking(caller(), version, capabilities=capabilities, prepare=prepare) as client:
            session = await client.new(http(url, name="asks"))
            await client.prompt(session, "asks__choose")
            end = client.of(session, "tool_call_update")[-1]
    assert [each.message for each in asked] == (["Which colour?"] if can_ask else [])
    assert ("blue" in str(end)) == can_ask


@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
@pytest.mark.filterwarnings("ignore:.*async_generator object:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_servers_that_ask_for_a_model_are_declined(marked: Marked, version: int, era: str) -> None:
    with asking_server(era) as url:
        async with talking(caller(), version) as client:
            session = await client.new(http(url, name="asks"))
            assert await client.prompt(session, "asks__complete") == "end_turn"
            assert client.text(session).endswith("failed: True")
            assert "sampling" in str(client.of(session, "tool_call_update")[-1]).lower()


async def test_calls_of_tools_carry_the_trace_of_the_prompt(
    marked: Marked, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from opentelemetry.sdk.trace import TracerProvider

    from acp_bindings.agent import _telemetry

    monkeypatch.setattr(_telemetry, "_tracer", TracerProvider().get_tracer("acp-bindings"))
    parent, lines = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", list[str]()

    def traffic(name: str, direction: str, line: str) -> None:
        lines.append(line)

    async with talking(caller(options=mcp_launch.Options(traffic=traffic)), version) as client:
        session = await client.new(typed(marked.plain()))
        await client.prompt(session, "plain__environment", _meta={"traceparent": parent})
    (call,) = [each for each in lines if '"tools/call"' in each]
    assert "00-0af7651916cd43dd8448eb211c80319c-" in call


async def test_other_transports_than_those_advertised_are_refused(version: int) -> None:
    async with talking(caller(transports=("stdio",)), version) as client:
        with pytest.raises(RequestFailed, match="transport"):
            await client.new({"type": "http", "name": "web", "url": "http://127.0.0.1:1/", "headers": []})


async def test_an_agent_without_stdio_starts_no_program_of_a_client(
    version: int, marked: Marked, echo_urls: dict[str, str]
) -> None:
    agent = caller(transports=("http",))
    async with talking(agent, version) as client:
        if version == 2:
            with pytest.raises(RequestFailed, match="transport"):
                await client.new(typed(marked.plain()))
            return
        session = await client.new(marked.plain(), http(echo_urls["http"]))
        assert await client.prompt(session, "web__echo") == "end_turn"
        assert "MCP server plain: not started, because this agent only accepts URLs" in client.text(session)
        assert not marked.running()


WITHOUT_SERVERS = """
import sys, anyio, mcp_launch
from acp_bindings.agent import Agent, Turn
from acp_bindings.client import Client
agent = Agent("tools", version="1.0", mcp=mcp_launch.for_sessions())
@agent.prompt
async def answer(turn: Turn) -> None:
    async with turn.tool_call("Fail"):
        raise ValueError
async def main() -> None:
    async with Client("test", version="1.0").connect(agent.connected()) as connected:
        session = await connected.session(cwd="/")
        print(await session.prompt("go"), session.state.tool_calls[0].status, "mcp" in sys.modules)
anyio.run(main)
"""


def test_a_tool_call_without_servers_does_not_import_the_sdk() -> None:
    # The import takes half a second, in which no other session is served.
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_SERVERS], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout == "end_turn failed False\n"


AGENT = """
import sys, anyio, mcp_launch
from acp_bindings.agent import Agent, Turn
agent = Agent("tools", version="1.0", mcp=mcp_launch.for_sessions())
@agent.prompt
async def answer(turn: Turn) -> None:
    await turn.say("begun")
    if turn.text == "wait":
        try:
            await anyio.sleep_forever()
        finally:
            print("leaving", file=sys.stderr)
    if turn.text == "stubborn":
        while True:
            try:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep_forever()
            except BaseException:
                pass
agent.run(backend=sys.argv[1])
"""


class Talk:
    """A raw client of an agent in a process."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.rest = b""

    async def send(self, id_: int, method: str, **params: Any) -> None:
        assert self.process.stdin
        message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
        await self.process.stdin.send(json.dumps(message).encode() + b"\n")

    async def until(self, text: str) -> Any:
        assert self.process.stdout
        while True:
            line, newline, rest = self.rest.partition(b"\n")
            if newline:
                self.rest = rest
                if text in line.decode():
                    return json.loads(line)
            else:
                self.rest += await self.process.stdout.receive()

    async def begin(self, *servers: dict[str, Any], text: str | None) -> None:
        await self.send(1, "initialize", protocolVersion=1)
        await self.send(2, "session/new", cwd="/", mcpServers=list(servers))
        session = (await self.until('"id":2'))["result"]["sessionId"]
        if text:
            await self.send(3, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])
            await self.until("begun")


@pytest.mark.parametrize(
    ("text", "number"),
    [(None, None), ("wait", None), *(("wait", each) for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP))],
)
async def test_the_process_and_its_servers_end_when_the_input_is_closed_or_on_a_signal(
    marked: Marked, text: str | None, number: signal.Signals | None, anyio_backend: str
) -> None:
    with anyio.fail_after(20):
        command = [sys.executable, "-c", AGENT, anyio_backend]
        async with await anyio.open_process(command) as process:
            await Talk(process).begin(marked.plain(), marked.plain(name="other"), text=text)
            assert len(marked.running()) == 2
            assert process.stdin
            assert process.stderr
            if number is None:
                await process.stdin.aclose()
            else:
                process.send_signal(number)
            if number == signal.SIGHUP:
                # The end of a terminal sends another one.
                assert b"leaving" in await process.stderr.receive()
                process.send_signal(number)
            await process.wait()
    assert number or process.returncode == 0
    assert marked.running() == []


async def test_a_hangup_that_the_program_ignores_does_not_end_it(anyio_backend: str) -> None:
    with anyio.fail_after(20):
        ignoring = f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n{AGENT}"
        async with await anyio.open_process([sys.executable, "-c", ignoring, anyio_backend]) as process:
            talk = Talk(process)
            await talk.begin(text=None)
            process.send_signal(signal.SIGHUP)
            await talk.send(4, "session/list")
            assert (await talk.until('"id":4'))["result"]
            assert process.stdin
            await process.stdin.aclose()
            assert await process.wait() == 0


async def test_a_stubborn_handler_does_not_keep_the_process(marked: Marked, anyio_backend: str) -> None:
    with anyio.fail_after(20):
        command = [sys.executable, "-c", AGENT, anyio_backend]
        async with await anyio.open_process(command, stderr=subprocess.PIPE) as process:
            talk = Talk(process)
            await talk.begin(marked.plain(), text="stubborn")
            assert process.stdin
            assert process.stderr
            await process.stdin.aclose()
            told = b""
            async for chunk in process.stderr:
                told += chunk
            await process.wait()
    assert b"ignores its cancellation" in told
    assert marked.running() == []
