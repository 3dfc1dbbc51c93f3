"""Helpers for the tests of the example programs: our client for the example agent, and checks for leftovers."""

from __future__ import annotations

import importlib
import io
import os
import runpy
import sys
import uuid
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    redirect_stderr,
    redirect_stdout,
)
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest.mock import patch

import anyio

from acp_bindings import v1, v2
from acp_bindings.connection import Connection, Handlers, RequestFailed, connect_process, initialize
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup import (
    OPENING,
    AgentPeer,
    ClientHandshake,
    ReplayCollector,
    SessionRecord,
    Update,
    load_session,
    servers_for,
)
from acp_bindings.setup.capabilities import ClientCapability
from tests.acp_bindings.agent.clients import Served, memory_pipes
from tests.leftovers import marked_processes
from tests.mcp_launch.support import wait_until

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
AGENT = EXAMPLES / "agent.py"
CLIENT = EXAMPLES / "client.py"
TOOLS = Path(__file__).with_name("tools.py")
MARK = "ACP_EXAMPLES_TEST"
PACKAGES: dict[int, ProtocolPackage] = {1: v1, 2: v2}


def example(name: str) -> Any:
    """Import an example, which may import others."""
    with patch.object(sys, "path", [str(EXAMPLES), *sys.path]):
        return importlib.import_module(name)


def run_client(*options: str, env: dict[str, str], request: dict[str, Any] | None = None) -> CompletedProcess[str]:
    """Run the example client in this process, with its web servers here too or with the servers of a request."""
    module = example("client")
    with (
        patch.object(module, "example_request", (lambda: nullcontext(request)) if request else module.example_request),
        patch.object(example("demo"), "web_server", web_server),
        patch.object(sys, "argv", ["client.py", *options]),
        patch.dict(os.environ, env),
        redirect_stdout(io.StringIO()) as stdout,
        redirect_stderr(io.StringIO()) as stderr,
    ):
        status = module.main()
    return CompletedProcess(options, status, stdout.getvalue(), stderr.getvalue())


@contextmanager
def web_server(script: str) -> Generator[io.StringIO]:
    """Run an example server in a thread, and give its standard output."""
    # Not while tests are collected: a server of the SDK then sets the level of all logs of the process.
    from tests.mcp_launch.servers.echo import serving_app

    with patch.object(example("loopback"), "serve") as serve:
        runpy.run_path(str(EXAMPLES / script), run_name="__main__")
    with serving_app(lambda: serve.call_args.args[0]) as origin:
        yield io.StringIO(origin + serve.call_args.kwargs["path"])


class Place:
    """The files of an agent: a folder for its sessions, a project, and a mark in the environment of its processes."""

    def __init__(self, folder: Path, *, loop: str = "asyncio") -> None:
        self.mark = uuid.uuid4().hex
        self.home = folder
        self.sessions = folder / "sessions"
        self.project = folder / "project"
        self.project.mkdir()
        run = f"import agent; agent.agent.run(backend={loop!r})"
        self.command = [sys.executable, "-c", run] if loop != "asyncio" else [sys.executable, str(AGENT)]

    @property
    def env(self) -> dict[str, str]:
        """Variables for the environment of the agent and of everything that it starts."""
        return {
            MARK: self.mark,
            "HOME": str(self.home),
            "ACP_SESSIONS": str(self.sessions),
            "PYTHONPATH": str(EXAMPLES),
        }

    def tools(self) -> dict[str, Any]:
        """An MCP server over stdio with the tools of `tools.py` and the mark in its environment."""
        env = [{"name": MARK, "value": self.mark}]
        return {"name": "tools", "command": sys.executable, "args": ["-S", str(TOOLS)], "env": env}

    def running(self) -> list[int]:
        """Return the processes with the mark."""
        return marked_processes(MARK, self.mark)

    def nothing_left(self) -> None:
        """Wait until all of them have ended, which takes the kernel a moment."""
        wait_until(lambda: not self.running())


class Talk:
    """Our client's end: sends requests, and collects updates as history or as new."""

    def __init__(self, connection: Connection, agent: AgentPeer, seen: Seen) -> None:
        self.connection = connection
        self.agent = agent
        self.wire: Any = agent.protocol
        self.seen = seen

    async def ask(self, params: Any, **options: Any) -> Any:
        """Send a request and return the response."""
        return await self.connection.request(params, timeout=30, **options)

    async def new(self, cwd: Path, *servers: dict[str, Any]) -> str:
        """Open a new session."""
        response = await self.ask(self.wire.NewSessionRequest(cwd=str(cwd), mcp_servers=self.servers(servers)))
        self.seen.show(self.seen.updates.created(response.session_id))
        return str(response.session_id)

    def servers(self, servers: tuple[dict[str, Any], ...]) -> list[Any]:
        """Return MCP servers in the format of the version."""
        return list(servers_for(self.agent.protocol, servers))

    async def load(self, session_id: str, cwd: Path, *servers: dict[str, Any]) -> Any:
        """Load a session and return the response. The updates before it are history."""
        record = SessionRecord(session_id=session_id, cwd=str(cwd))
        return await self.reopen(load_session(self.agent, record, mcp_servers=self.servers(servers)))

    async def reopen(self, request: Any) -> Any:
        """Return the response to a load or a resume."""
        self.seen.updates.expect(request)
        try:
            answer = await self.ask(request)
        except RequestFailed:
            self.seen.updates.failed(request.session_id)
            raise
        self.seen.updates.opened(request.session_id)
        return answer

    async def prompt(self, session_id: str, text: str) -> str:
        """Send a prompt and return the reason for which its turn ended."""
        begun = len(self.seen.stops[session_id])
        self.seen.updates.prompted(session_id)
        request = self.wire.PromptRequest(session_id=session_id, prompt=[self.wire.TextContent(text=text)])
        response = await self.ask(request)
        if self.agent.version == 1:
            return str(response.stop_reason)
        await self.seen.until(lambda: len(self.seen.stops[session_id]) > begun)
        return self.seen.stops[session_id][-1]

    async def cancel(self, session_id: str) -> None:
        """Cancel the turn."""
        type_ = v1.CancelNotification if self.agent.version == 1 else v2.CancelSessionNotification
        await self.connection.notify(type_(session_id=session_id))


class Seen:
    """The updates received so far."""

    def __init__(self) -> None:
        self.updates: ReplayCollector[Any] = ReplayCollector()
        self.all: list[Update[Any]] = []
        self.stops: defaultdict[str, list[str]] = defaultdict(list)
        """The reasons for which the turns of each session ended, in v2."""
        self._news = anyio.Event()

    def receive(self, notification: Any, _: Connection) -> None:
        """Store an update."""
        self.show(self.updates.receive(notification))

    def show(self, updates: list[Update[Any]]) -> None:
        """Store several updates."""
        self.all += updates
        for each in updates:
            update = each.notification.update
            if update.session_update == "state_update" and update.state == "idle" and update.stop_reason:
                self.stops[each.notification.session_id].append(update.stop_reason)
        self._news.set()
        self._news = anyio.Event()

    async def until(self, is_true: Callable[[], bool]) -> None:
        """Wait until it happens, checking at each update."""
        with anyio.fail_after(30):
            while not is_true():
                await self._news.wait()

    def said(self, *, replay: bool = False) -> list[tuple[str, str]]:
        """Return the messages with their authors and the states of tool calls, in order, without states and titles."""
        told = (_told(each.notification.update) for each in self.all if each.replay == replay)
        return [each for each in told if each]

    def text(self, *, replay: bool = False) -> str:
        """Return the text of the agent's messages."""
        return "".join(text for who, text in self.said(replay=replay) if who == "agent")


def _told(update: Any) -> tuple[str, str] | None:
    kind = update.session_update
    if kind in ("user_message_chunk", "agent_message_chunk"):
        return kind.partition("_")[0], getattr(update.content, "text", update.content.type)
    if kind in ("tool_call", "tool_call_update"):
        texts = [each.content.text for each in update.content or ()]
        return str(update.status), " ".join([update.title or "", *texts]).strip()
    hidden = kind in ("session_info_update", "state_update")
    return None if hidden else (kind, getattr(update, "title", None) or "")


@asynccontextmanager
async def talking(
    place: Place, version: int, *, handlers: Handlers | None = None, apart: bool = False
) -> AsyncGenerator[Talk]:
    """Start an initialized client of the example agent in this process, or of `place.command`."""
    seen = Seen()
    handlers = handlers or Handlers()
    handlers.on("session/update")(seen.receive)
    files: list[ClientCapability] = ["fs.read_text_file", "fs.write_text_file"] if version == 1 else []
    handshake = ClientHandshake(
        info=v1.Implementation(name="tests", version="1.0"),
        protocols=[PACKAGES[version]],
        capabilities={"notices", *files},
    )
    connecting: AbstractAsyncContextManager[Connection] = (
        connect_process(place.command, protocol=OPENING, handlers=handlers, env=place.env, cwd=os.path.sep)
        if apart
        else _here(place, handlers)
    )
    async with connecting as connection:
        agent = await initialize(connection, handshake, timeout=60)
        yield Talk(connection, agent, seen)


@asynccontextmanager
async def _here(place: Place, handlers: Handlers) -> AsyncGenerator[Connection]:
    with patch.dict(os.environ, place.env):
        agent = runpy.run_path(str(AGENT))["agent"]
    client, server = memory_pipes()
    async with agent.serving() as serving, anyio.create_task_group() as tasks:
        await tasks.start(Served(agent, serving).serve, *server)
        async with Connection(*client, protocol=OPENING, role="client", handlers=handlers) as connection:
            yield connection
