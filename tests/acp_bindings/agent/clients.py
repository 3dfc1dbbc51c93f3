"""Clients for agents under test: in this process over memory streams, or of a child process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskStatus
from anyio.streams.buffered import BufferedByteReceiveStream

from acp_bindings import v1, v1_unstable, v2, v2_unstable
from acp_bindings.agent import Agent
from acp_bindings.connection import Connection, Handlers, initialize
from acp_bindings.decoding import decode
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup import OPENING, AgentPeer, ClientHandshake

PACKAGES: dict[int, ProtocolPackage] = {1: v1, 2: v2}
INFO = v1.Implementation(name="test", version="1")
CWD = "/"


class Client:
    """A client that collects the updates of its sessions."""

    def __init__(self) -> None:
        self.handlers = Handlers()
        self.updates: list[tuple[str, Any]] = []
        """The id of the session, and the update."""
        self.asked: list[Any] = []
        """The requests for permission."""
        self.answer: Callable[[Any], Any] = lambda _: {"outcome": "selected", "optionId": "allow"}
        """Returns the outcome of a request for permission, or an awaitable of it."""
        self.on_update: Callable[[str], object] = lambda _: None
        """Called with the id of the session of each update."""
        self.connection: Connection
        self.agent: AgentPeer
        self._news = anyio.Event()
        self.handlers.on("session/update")(self._take)
        self.handlers.on("session/request_permission")(self._permit)

    def _take(self, params: Any, _: Connection) -> None:
        self.updates.append((params.session_id, params.update))
        self.on_update(params.session_id)
        self._news.set()
        self._news = anyio.Event()

    async def _permit(self, request: Any, connection: Connection) -> Any:
        self.asked.append(request)
        self._news.set()
        self._news = anyio.Event()
        outcome = self.answer(request)
        package: Any = connection.protocol
        return decode(package.RequestPermissionResponse, {"outcome": await outcome if _waits(outcome) else outcome})

    @property
    def wire(self) -> Any:
        """The protocol package."""
        return self.connection.protocol

    @property
    def version(self) -> int:
        """The negotiated version."""
        return self.agent.version

    async def until(self, happened: Callable[[], object]) -> None:
        """Wait until an update or a request has made it so."""
        with anyio.fail_after(10):
            while not happened():
                await self._news.wait()

    async def ask(self, method: str, **params: Any) -> Any:
        """Send a request with params as JSON."""
        type_ = self.wire.METHODS[method].request.params
        return await self.connection.request(decode(type_, params), method=method)

    async def tell(self, method: str, **params: Any) -> None:
        """Send a notification with params as JSON."""
        type_ = self.wire.METHODS[method].notification.params
        await self.connection.notify(decode(type_, params), method=method)

    async def new(self, *servers: Any, cwd: str = CWD) -> str:
        """Create a session."""
        id_: str = (await self.ask("session/new", cwd=cwd, mcpServers=list(servers))).session_id
        return id_

    async def load(self, session: str, *servers: Any, cwd: str = CWD) -> Any:
        """Load a session with its history."""
        method, more = ("session/load", {}) if self.version == 1 else ("session/resume", {"replayFrom": _START})
        return await self.ask(method, sessionId=session, cwd=cwd, mcpServers=list(servers), **more)

    async def send_prompt(self, session: str, text: str, **more: Any) -> Any:
        """Send a prompt, and return the response."""
        return await self.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}], **more)

    async def prompt(self, session: str, text: str, **more: Any) -> str:
        """Send a prompt, and return the stop reason."""
        before = len(self.updates)
        response = await self.send_prompt(session, text, **more)
        if self.version == 1:
            return str(response.stop_reason)
        await self.until(lambda: self.ends(session, since=before))
        return str(self.ends(session, since=before)[0].stop_reason)

    def ends(self, session: str, *, since: int = 0) -> list[Any]:
        """Return the idle states of v2."""
        return [each for each in self.of(session, "state_update", since=since) if each.state == "idle"]

    async def cancel(self, session: str) -> None:
        """Cancel the turn."""
        # In v2 it is a request.
        if self.wire.METHODS["session/cancel"].notification:
            await self.tell("session/cancel", sessionId=session)
        else:
            await self.ask("session/cancel", sessionId=session)

    def of(self, session: str, *kinds: str, since: int = 0) -> list[Any]:
        """Return the updates of a session, or those of some kinds."""
        updates = [update for id_, update in self.updates[since:] if id_ == session]
        return [each for each in updates if not kinds or each.session_update in kinds]

    def text(self, session: str, *, since: int = 0) -> str:
        """Return the text of the agent in a session."""
        chunks = self.of(session, "agent_message_chunk", since=since)
        return "".join(each.content.text for each in chunks)


_START = {"type": "start"}


def _waits(value: Any) -> bool:
    return hasattr(value, "__await__")


class Served:
    """An agent that is being served, to which clients connect."""

    def __init__(self, agent: Agent, handlers: Handlers, **options: Any) -> None:
        self._agent, self._handlers, self._options = agent, handlers, options

    @asynccontextmanager
    async def client(
        self,
        protocol: int | ProtocolPackage = 1,
        *,
        capabilities: Collection[str] = (),
        prepare: Callable[[Client], object] = lambda _: None,
    ) -> AsyncGenerator[Client]:
        """Connect a client, which leaves at the end of the block."""
        client = Client()
        prepare(client)
        package: ProtocolPackage = PACKAGES[protocol] if isinstance(protocol, int) else protocol
        async with anyio.create_task_group() as tasks:
            ends = memory_pipes()
            await tasks.start(self.serve, *ends[0])
            async with Connection(*ends[1], protocol=OPENING, role="client", handlers=client.handlers) as connection:
                client.connection = connection
                handshake = ClientHandshake(info=INFO, protocols=[package], capabilities=capabilities)  # pyright: ignore[reportArgumentType]
                client.agent = await initialize(connection, handshake)
                yield client

    @asynccontextmanager
    async def leaving(self, protocol: int, text: str) -> AsyncGenerator[tuple[Client, str]]:
        """Connect a client that leaves during the turn of a prompt, once the agent has said something."""
        with anyio.CancelScope() as scope:
            async with self.client(protocol) as client, anyio.create_task_group() as tasks:
                session = await client.new()
                tasks.start_soon(client.send_prompt, session, text)
                await client.until(lambda: client.text(session))
                yield client, session
                scope.cancel()

    async def serve(self, source: Any, sink: Any, *, task_status: TaskStatus[None]) -> None:
        """Serve a client over its streams."""
        options: Any = {"grace": 0.2, **self._options}
        async with Connection(
            source, sink, protocol=OPENING, role="agent", handlers=self._handlers, **options
        ) as connection:
            task_status.started()
            await self._agent.attend(connection)


def memory_pipes() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return the two ends, each with what to read from and to write to."""
    to_agent, from_client = anyio.create_memory_object_stream[bytes](100)
    to_client, from_agent = anyio.create_memory_object_stream[bytes](100)
    return (BufferedByteReceiveStream(from_client), to_client), (BufferedByteReceiveStream(from_agent), to_agent)


@asynccontextmanager
async def served(agent: Agent[Any], **options: Any) -> AsyncGenerator[Served]:
    """Serve an agent in this process, for at most half a minute."""
    with anyio.fail_after(30):
        async with agent.serving() as handlers:
            yield Served(agent, handlers, **options)


@asynccontextmanager
async def talking(
    agent: Agent[Any],
    protocol: int | ProtocolPackage = 1,
    *,
    capabilities: Collection[str] = (),
    prepare: Callable[[Client], object] = lambda _: None,
) -> AsyncGenerator[Client]:
    """Serve an agent to one client."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(served(agent))
        yield await stack.enter_async_context(server.client(protocol, capabilities=capabilities, prepare=prepare))


ALL: Sequence[ProtocolPackage] = (v1, v1_unstable, v2, v2_unstable)
