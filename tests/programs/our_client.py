"""Our client drives an agent through every step, with `acp_bindings.connection` and `acp_bindings.setup`."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio

from acp_bindings import encode, v1, v2
from acp_bindings.connection import (
    Connection,
    ConnectionClosed,
    ProcessConnection,
    RequestFailed,
    connect_process,
    initialize,
)
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup import (
    OPENING,
    AgentPeer,
    CapabilityNotAdvertised,
    ClientHandshake,
    ReplayCollector,
    SessionListing,
    SessionRecord,
    UnsupportedProtocolVersion,
    close_session,
    delete_session,
    load_session,
    new_session,
    resume_session,
)
from tests.programs.steps import NOT_OFFERED, TRANSPORTS, Plan

INFO = v1.Implementation(name="python", version="1.0")
PACKAGES: dict[int, Any] = {1: v1, 2: v2}
PATIENCE = 120
"""Timeout in seconds for a step."""


class Client:
    """One connection to the agent of a plan, and the messages received over it."""

    def __init__(self, plan: Plan, protocols: Sequence[ProtocolPackage]) -> None:
        self.plan = plan
        self.handshake = ClientHandshake(info=INFO, protocols=protocols)
        self.collector: ReplayCollector[Any] = ReplayCollector()
        self.updates: list[Any] = []
        self.answers: list[int | None] = []
        self.calls = anyio.Event()
        self.idle = anyio.Event()
        self.stop: str | None = None
        self.connection: ProcessConnection
        self.peer: AgentPeer

    async def open(self) -> AgentPeer:
        """Negotiate a version."""
        self.peer = await initialize(self.connection, self.handshake)
        return self.peer

    async def new(self) -> SessionRecord:
        """Open a session with all servers."""
        request = new_session(self.peer, cwd=self.plan.cwd, mcp_servers=self.plan.servers)
        response = await self.connection.request(request)
        return SessionRecord.of(request, response.session_id)

    async def ask(self, session_id: str, words: str) -> dict[str, Any]:
        """Send a prompt; return how it ended and the messages before that."""
        self.updates.clear()
        self.idle = anyio.Event()
        response = await self.connection.request(prompt(self.plan, session_id, words))
        if isinstance(response, v1.PromptResponse):
            self.stop = response.stop_reason
        else:
            await self.connection.wait_for(self.idle.wait())
        return {"stop": self.stop, "said": texts(self.updates)}

    async def come_back(self, request: Any) -> dict[str, Any]:
        """Load or resume a session, and prompt again; return the replayed history."""
        self.collector.expect(request)
        self.updates.clear()
        await self.connection.request(request)
        replay = texts(self.updates)
        collected = texts([each.update for each in self.collector.opened(request.session_id)])
        return {
            "replay": replay,
            "collected": collected == replay,
            "again": await self.ask(request.session_id, self.plan.prompts["stdio"]),
        }

    @asynccontextmanager
    async def waiting(self, session_id: str) -> AsyncGenerator[list[Any]]:
        """Run the block while a tool call waits. Afterwards, the list contains the outcome of the prompt."""
        became: list[Any] = []

        async def ask() -> None:
            try:
                became.append((await self.ask(session_id, self.plan.prompts["wait"]))["stop"])
            except ConnectionClosed as error:
                became.append(error)

        self.calls = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await self.calls.wait()
            yield became

    async def update(self, notification: Any, _: Connection) -> None:
        """Store an update."""
        update = notification.update
        self.updates.append(update)
        self.collector.receive(notification)
        if update.session_update.startswith("tool_call"):
            self.calls.set()
        # An update without a reason reports the state of a session that has been loaded.
        if update.session_update == "state_update" and update.state == "idle" and update.stop_reason:
            self.stop = update.stop_reason
            self.idle.set()

    async def answered(self, params: dict[str, Any], _: Connection) -> None:
        """Store the report of `between.py` about our response."""
        self.answers.append(params["code"])


@asynccontextmanager
async def connected(
    plan: Plan, *, mode: str | None = None, protocols: Sequence[ProtocolPackage] = ()
) -> AsyncGenerator[Client]:
    """Start the agent, and yield a client that has not sent anything."""
    client = Client(plan, protocols or [PACKAGES[plan.version]])
    command = [*plan.between, mode, *plan.agent] if mode else plan.agent
    handlers: dict[Any, Any] = {"session/update": client.update, "_between/answered": client.answered}
    async with connect_process(
        command, protocol=OPENING, handlers=handlers, cwd=plan.cwd, env=plan.env
    ) as client.connection:
        yield client


async def drive(plan: Plan) -> dict[str, Any]:
    """Return the facts of every step."""
    facts: dict[str, Any] = {}

    async def play(*scenes: Callable[[Plan], Awaitable[dict[str, Any]]]) -> None:
        for scene in scenes:
            with anyio.fail_after(PATIENCE):
                facts.update(await scene(plan))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(play, conversation)
        tasks.start_soon(play, before_initialize, both_versions, strange_version, untyped, news, death)
    return facts


async def before_initialize(plan: Plan) -> dict[str, Any]:
    """Send a request before `initialize`, and an `initialize` with an invalid version."""
    async with connected(plan, mode="date") as client:
        ask = client.connection.request
        early = await code(ask({"cwd": plan.cwd, "mcpServers": []}, method="session/new"))
        date = await code(client.open())
    return {"session/new before initialize": {"code": early}, "a version that is a date": {"code": date}}


async def both_versions(plan: Plan) -> dict[str, Any]:
    """Connect with a client of v1 and v2."""
    async with connected(plan, protocols=[v1, v2]) as client:
        return {"initialize, v2 offered": {"version": (await client.open()).version}}


async def strange_version(plan: Plan) -> dict[str, Any]:
    """Connect to an agent that responds with an unknown version."""
    async with connected(plan, mode="version") as client:
        try:
            await client.open()
        except UnsupportedProtocolVersion:
            return {"an agent of an unknown version": {"refused": True}}
    return {"an agent of an unknown version": {"refused": False}}


async def untyped(plan: Plan) -> dict[str, Any]:
    """Send messages as plain dicts that our types do not allow."""
    async with connected(plan) as client:
        ask = client.connection.request
        await ask(client.handshake.request())
        nowhere = await code(ask({"mcpServers": []}, method="session/new"))
        unknown = await code(ask({}, method="session/of_tomorrow"))
        extension = await code(ask({}, method="_example/do"))
        hello = json.loads(encode(prompt(plan, "nobody", "Hello")))
        nobody = await code(ask(hello, method="session/prompt"))
    return {
        "session/new without cwd": {"code": nowhere},
        "an unknown method": {"code": unknown, "extension": extension},
        "an unknown session": {"code": nobody},
    }


async def conversation(plan: Plan) -> dict[str, Any]:
    """Use a session from beginning to end, over three connections."""
    facts: dict[str, Any] = {}
    async with connected(plan) as client:
        facts["initialize"] = {"version": (await client.open()).version}
        record = await client.new()
        session_id = record.session_id
        facts["session/new"] = {"session": "string"}
        for transport in TRANSPORTS:
            has = f"mcp.{transport}" in client.peer.names()
            said = await client.ask(session_id, plan.prompts[transport]) if has else NOT_OFFERED
            facts[f"a tool over {transport}"] = said
        async with client.waiting(session_id) as became:
            cancel = v1.CancelNotification if plan.version == 1 else v2.CancelSessionNotification
            await client.connection.notify(cancel(session_id=session_id))
        facts["session/cancel"] = {"stop": became[0]}
        record = record.after_prompt()
        facts["session/list"] = await offered(lambda: cwd_listed(client, session_id))
        facts["session/close"] = await offered(lambda: closed(client, session_id))
    async with connected(plan) as client:
        await client.open()
        facts["session/load"] = await offered(lambda: client.come_back(load_session(client.peer, record)))
    async with connected(plan) as client:
        await client.open()
        facts["session/resume"] = await offered(lambda: client.come_back(resume_session(client.peer, record)))
        facts["session/delete"] = await offered(lambda: deleted(client, record))
    return facts


async def news(plan: Plan) -> dict[str, Any]:
    """Receive an update and a request that the protocol does not define."""
    async with connected(plan, mode="news") as client:
        await client.open()
        record = await client.new()
        facts = await client.ask(record.session_id, plan.prompts["stdio"])
        kept = any(isinstance(each, v1.OtherSessionUpdate | v2.OtherSessionUpdate) for each in client.updates)
    return {"an unknown update": facts | {"kept": kept}, "an unknown request of the agent": {"code": client.answers[0]}}


async def death(plan: Plan) -> dict[str, Any]:
    """Kill an agent."""
    async with connected(plan) as client:
        await client.open()
        record = await client.new()
        async with client.waiting(record.session_id) as became:
            os.kill(client.connection.pid, signal.SIGKILL)
        end = became[0]
    failed = isinstance(end, ConnectionClosed) and end.exit_status == -signal.SIGKILL
    return {"the agent dies in a prompt": {"failed": failed}}


async def cwd_listed(client: Client, session_id: str) -> dict[str, Any]:
    """Return the directory of a session in the list."""
    listing, found = SessionListing(client.peer), None
    while (request := listing.request) is not None:
        for info in listing.take(await client.connection.request(request)):
            found = info.cwd if info.session_id == session_id else found
    return {"cwd": found}


async def closed(client: Client, session_id: str) -> dict[str, Any]:
    """Close a session, and send a prompt to it anyway."""
    await client.connection.request(close_session(client.peer, session_id))
    return {"afterwards": await code(client.connection.request(prompt(client.plan, session_id, "Hello")))}


async def deleted(client: Client, record: SessionRecord) -> dict[str, Any]:
    """Delete a session, look for it in the list, and load it anyway."""
    await client.connection.request(delete_session(client.peer, record.session_id))
    listed = (await cwd_listed(client, record.session_id))["cwd"] is not None
    return {
        "listed": listed,
        "afterwards": await code(client.connection.request(load_session(client.peer, record))),
    }


async def offered(act: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    """Return the outcome of a step that requires a capability."""
    try:
        return await act()
    except CapabilityNotAdvertised:
        return NOT_OFFERED


async def code(answer: Awaitable[Any]) -> int:
    """Return the error code of the response; 0 if there is no error."""
    try:
        await answer
    except RequestFailed as error:
        return error.code
    return 0


def texts(updates: Sequence[Any]) -> list[tuple[str, str]]:
    """Return the texts of updates, each with the kind of its update."""
    found: list[tuple[str, str]] = []
    for update in map(json.loads, map(encode, updates)):
        content: Any = update.get("content") or []
        listed = cast("list[dict[str, Any]]", content if isinstance(content, list) else [{"content": content}])
        blocks: list[dict[str, Any]] = [each.get("content", each) for each in listed]
        found += [(update["sessionUpdate"], block["text"]) for block in blocks if "text" in block]
    return found


def prompt(plan: Plan, session_id: str, words: str) -> Any:
    """Return a prompt in the format of the version."""
    wire = PACKAGES[plan.version]
    return wire.PromptRequest(session_id=session_id, prompt=[wire.TextContent(text=words)])
