"""Our client drives an agent through every step, with `acp_bindings.client`."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio

from acp_bindings import encode, v1, v2
from acp_bindings.client import Client, ConnectedAgent, Message, Session
from acp_bindings.connection import (
    ConnectionClosed,
    ProcessConnection,
    RequestFailed,
    connect_process,
    initialize,
)
from acp_bindings.setup import (
    OPENING,
    CapabilityNotAdvertised,
    RequestError,
    SessionRecord,
    UnsupportedProtocolVersion,
)
from tests.programs.steps import NOT_OFFERED, TRANSPORTS, Plan

PACKAGES: dict[int, Any] = {1: v1, 2: v2}
PATIENCE = 120
"""Timeout in seconds for a step."""


def client_of(*versions: int) -> Client:
    """Return a client of these versions."""
    return Client("python", version="1.0", protocols=[PACKAGES[each] for each in versions])


@asynccontextmanager
async def process_of(
    plan: Plan, mode: str | None = None, answers: list[int | None] | None = None
) -> AsyncGenerator[ProcessConnection]:
    """Start the agent, and yield a connection that has not sent anything.

    Args:
        plan: the plan with the agent.
        mode: what `between.py` adds.
        answers: gets the codes of our responses, which `between.py` reports.
    """
    command = [*plan.between, mode, *plan.agent] if mode else plan.agent
    handlers: dict[Any, Any] = {}
    if answers is not None:

        async def answered(params: dict[str, Any], _: object) -> None:
            answers.append(params["code"])

        handlers["_between/answered"] = answered
    async with connect_process(command, protocol=OPENING, handlers=handlers, cwd=plan.cwd, env=plan.env) as connection:
        yield connection


@asynccontextmanager
async def connected(plan: Plan, mode: str | None = None, **options: Any) -> AsyncGenerator[ConnectedAgent]:
    """Connect a client of the version of the plan."""
    async with client_of(plan.version).connect(process_of(plan, mode, **options)) as agent:
        yield agent


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
    async with process_of(plan, "date") as connection:
        early = await code(connection.request({"cwd": plan.cwd, "mcpServers": []}, method="session/new"))
        date = await code(initialize(connection, client_of(plan.version).handshake))
    return {"session/new before initialize": {"code": early}, "a version that is a date": {"code": date}}


async def both_versions(plan: Plan) -> dict[str, Any]:
    """Connect with a client of v1 and v2."""
    async with client_of(1, 2).connect(process_of(plan)) as agent:
        return {"initialize, v2 offered": {"version": agent.peer.version}}


async def strange_version(plan: Plan) -> dict[str, Any]:
    """Connect to an agent that responds with an unknown version."""
    try:
        async with connected(plan, "version"):
            refused = False
    except UnsupportedProtocolVersion:
        refused = True
    return {"an agent of an unknown version": {"refused": refused}}


async def untyped(plan: Plan) -> dict[str, Any]:
    """Send messages as plain dicts, over a connection that does not know the version."""
    async with process_of(plan) as connection:
        request = connection.request
        await request(client_of(plan.version).handshake.request())
        nowhere = await code(request({"mcpServers": []}, method="session/new"))
        unknown = await code(request({}, method="session/of_tomorrow"))
        extension = await code(request({}, method="_example/do"))
        nobody = await code(request(json.loads(encode(hello(plan, "nobody"))), method="session/prompt"))
    return {
        "session/new without cwd": {"code": nowhere},
        "an unknown method": {"code": unknown, "extension": extension},
        "an unknown session": {"code": nobody},
    }


async def conversation(plan: Plan) -> dict[str, Any]:
    """Use a session from beginning to end, over three connections."""
    facts: dict[str, Any] = {}
    async with connected(plan) as agent:
        facts["initialize"] = {"version": agent.peer.version}
        session = await agent.session(cwd=plan.cwd, mcp_servers=plan.servers)
        facts["session/new"] = {"session": "string"}
        for transport in TRANSPORTS:
            has = f"mcp.{transport}" in agent.peer.names()
            facts[f"a tool over {transport}"] = await ask(session, plan.prompts[transport]) if has else NOT_OFFERED
        async with waiting(plan, session) as became:
            await session.cancel()
        facts["session/cancel"] = {"stop": became[0]}
        record = session.record
        facts["session/list"] = await offered(lambda: cwd_listed(agent, record))
        facts["session/close"] = await offered(lambda: closed(plan, agent, session))
    async with connected(plan) as agent:
        facts["session/load"] = await offered(lambda: come_back(plan, agent.load(record)))
    async with connected(plan) as agent:
        facts["session/resume"] = await offered(lambda: come_back(plan, agent.resume(record)))
        facts["session/delete"] = await offered(lambda: deleted(agent, record))
    return facts


async def news(plan: Plan) -> dict[str, Any]:
    """Receive an update and a request that the protocol does not define."""
    answers: list[int | None] = []
    updates: list[Any] = []
    async with connected(plan, "news", answers=answers) as agent:
        session = await agent.session(cwd=plan.cwd, mcp_servers=plan.servers)
        facts = await ask(session, plan.prompts["stdio"], updates)
    kept = any(isinstance(each, v1.OtherSessionUpdate | v2.OtherSessionUpdate) for each in updates)
    return {"an unknown update": facts | {"kept": kept}, "an unknown request of the agent": {"code": answers[0]}}


async def death(plan: Plan) -> dict[str, Any]:
    """Kill an agent."""
    async with process_of(plan) as process, client_of(plan.version).connect(already(process)) as agent:
        session = await agent.session(cwd=plan.cwd, mcp_servers=plan.servers)
        async with waiting(plan, session) as became:
            os.kill(process.pid, signal.SIGKILL)
        end = became[0]
    failed = isinstance(end, ConnectionClosed) and end.exit_status == -signal.SIGKILL
    return {"the agent dies in a prompt": {"failed": failed}}


@asynccontextmanager
async def already(connection: ProcessConnection) -> AsyncGenerator[ProcessConnection]:
    """Yield a connection that is open already."""
    yield connection


async def ask(session: Session, words: str, updates: list[Any] | None = None) -> dict[str, Any]:
    """Send a prompt; return how it ended and the messages before that, and add the updates to a list."""
    turn, updates = session.prompt(words), [] if updates is None else updates
    async for update in turn:
        updates.append(update)
    return {"stop": turn.stop_reason, "said": [each for update in updates for each in texts(update)]}


@asynccontextmanager
async def waiting(plan: Plan, session: Session) -> AsyncGenerator[list[Any]]:
    """Run the block while a tool call waits. Afterwards, the list contains the outcome of the prompt."""
    became: list[Any] = []
    called = anyio.Event()

    async def prompt() -> None:
        turn = session.prompt(plan.prompts["wait"])
        try:
            async for update in turn:
                if update.session_update.startswith("tool_call"):
                    called.set()
            became.append(turn.stop_reason)
        except ConnectionClosed as error:
            became.append(error)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(prompt)
        await called.wait()
        yield became


async def come_back(plan: Plan, opening: Awaitable[Session]) -> dict[str, Any]:
    """Load or resume a session, and prompt again; return the history in its state."""
    session = await opening
    replay = list[tuple[str, str]]()
    for each in session.state.entries:
        replay += [(f"{each.role}_message", each.text)] if isinstance(each, Message) else texts(each)
    return {"replay": replay, "again": await ask(session, plan.prompts["stdio"])}


async def cwd_listed(agent: ConnectedAgent, record: SessionRecord) -> dict[str, Any]:
    """Return the directory of a session in the list."""
    return {"cwd": next((each.cwd for each in await agent.list() if each.session_id == record.session_id), None)}


async def closed(plan: Plan, agent: ConnectedAgent, session: Session) -> dict[str, Any]:
    """Close a session, and send a prompt to it anyway."""
    await agent.close(session.record)
    return {"afterwards": await code(agent.ask(hello(plan, session.id)))}


async def deleted(agent: ConnectedAgent, record: SessionRecord) -> dict[str, Any]:
    """Delete a session, look for it in the list, and load it anyway."""
    await agent.delete(record)
    listed = (await cwd_listed(agent, record))["cwd"] is not None
    return {"listed": listed, "afterwards": await code(agent.load(record))}


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
    except (RequestError, RequestFailed) as error:
        return error.code
    return 0


def texts(update: Any) -> Sequence[tuple[str, str]]:
    """Return the texts of an update or a tool call, each with the kind of the update."""
    fields: Any = json.loads(encode(update))
    content: Any = fields.get("content") or []
    listed = cast("list[dict[str, Any]]", content if isinstance(content, list) else [{"content": content}])
    blocks: list[dict[str, Any]] = [each.get("content", each) for each in listed]
    return [(fields["sessionUpdate"], block["text"]) for block in blocks if "text" in block]


def hello(plan: Plan, session_id: str) -> Any:
    """Return a prompt in the format of the version."""
    wire = PACKAGES[plan.version]
    return wire.PromptRequest(session_id=session_id, prompt=[wire.TextContent(text="Hello")])
