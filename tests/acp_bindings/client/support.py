"""A bare agent of either version, which does what a test says, connected to a client over a socket."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup, UNIXSocketStream

from acp_bindings import decode, v1, v2
from acp_bindings.client import Client, ConnectedAgent
from acp_bindings.connection import AgentHandlers, Connection
from acp_bindings.setup import OPENING, AgentHandshake

BOTH = {"session.close", "session.list", "session.load", "session.resume"}
WIRE: dict[int, Any] = {1: v1, 2: v2}


class Turn:
    """The actions of a test agent during a prompt."""

    def __init__(self, agent: Agent, session_id: str, text: str) -> None:
        self.agent = agent
        self.session_id = session_id
        self.text = text
        self.cancelled = anyio.Event()

    async def say(self, text: str, message_id: str = "m1") -> None:
        await self.send(chunk("agent_message", text, message_id))

    async def send(self, update: dict[str, Any]) -> None:
        await self.agent.update(self.session_id, update)

    async def request(self, request: Any, **options: Any) -> Any:
        assert self.agent.connection
        return await self.agent.connection.request(request, **options)


Prompt = Callable[[Turn], Awaitable[str]]


class Agent:
    """An agent over a raw connection."""

    def __init__(
        self,
        version: int,
        prompt: Prompt | None = None,
        *,
        capabilities: set[str] | None = None,
        history: list[dict[str, Any]] | None = None,
        late: bool = False,
        opening: dict[str, Any] | None = None,
        ending: dict[str, Any] | None = None,
        handlers: dict[Any, Any] | None = None,
        wire: Any = None,
        **options: Any,
    ) -> None:
        self.version = version
        self.wire = wire or WIRE[version]
        self.prompt = prompt
        self.history = history or []
        self.late = late
        self.opening = opening or {}
        self.ending = ending or {}
        self.connection: Connection | None = None
        self.turns: dict[str, Turn] = {}
        self.received: list[Any] = []
        self.sessions = 0
        info = v1.Implementation(name="agent", version="1.0")
        offered: Any = BOTH if capabilities is None else capabilities
        self.handlers = AgentHandlers(AgentHandshake(info=info, protocols=[self.wire], capabilities=offered, **options))
        for method, handle in {
            "session/new": self.new_session,
            "session/prompt": self._prompt,
            "session/cancel": self._cancel,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/close": self._noted,
            "session/delete": self._noted,
            "session/set_mode": self._noted,
            "session/list": self._list,
            **(handlers or {}),
        }.items():
            self.handlers.on(method)(handle)
        self.tasks: TaskGroup
        self.stream: UNIXSocketStream

    async def update(self, session_id: str, update: dict[str, Any], **options: Any) -> None:
        """Send an update, given as JSON."""
        assert self.connection
        type_ = self.wire.METHODS["session/update"].notification.params
        said = decode(self.wire.SessionUpdate, update)
        await self.connection.notify(type_(session_id=session_id, update=said), **options)

    async def state(self, session_id: str, state: str, **more: Any) -> None:
        await self.update(session_id, {"sessionUpdate": "state_update", "state": state, **more})

    def of(self, name: str) -> list[Any]:
        """Return the received params of a class."""
        return [each for each in self.received if type(each).__name__ == name]

    async def new_session(self, params: Any, connection: Connection) -> Any:
        self.received.append(params)
        self.connection = connection
        self.sessions += 1
        return decode(self.wire.NewSessionResponse, {"sessionId": f"s{self.sessions}", **self.opening})

    async def _replay(self, session_id: str, **options: Any) -> None:
        for each in self.history:
            await self.update(session_id, each, **options)

    async def _load(self, params: Any, connection: Connection) -> Any:
        self.received.append(params)
        self.connection = connection
        await self._replay(params.session_id, after_response=self.late)
        return decode(self.wire.LoadSessionResponse, self.opening)

    async def _resume(self, params: Any, connection: Connection) -> Any:
        self.received.append(params)
        self.connection = connection
        if getattr(params, "replay_from", None) is not None:
            await self._replay(params.session_id, after_response=self.late)
        if self.version > 1:
            await self.state(params.session_id, "idle")
        return decode(self.wire.ResumeSessionResponse, self.opening)

    def _noted(self, params: Any, connection: Connection) -> None:
        self.received.append(params)

    def _list(self, params: Any, connection: Connection) -> Any:
        page = {None: ("s1", "next"), "next": ("s2", None)}[params.cursor]
        found = {"sessions": [{"sessionId": page[0], "cwd": "/project", "title": "One"}], "nextCursor": page[1]}
        return decode(self.wire.ListSessionsResponse, found)

    def _cancel(self, params: Any, connection: Connection) -> None:
        self.received.append(params)
        if turn := self.turns.get(params.session_id):
            turn.cancelled.set()

    async def _prompt(self, params: Any, connection: Connection) -> Any:
        self.received.append(params)
        self.connection = connection
        text = "".join(each.text for each in params.prompt if each.type == "text")
        turn = self.turns[params.session_id] = Turn(self, params.session_id, text)
        assert self.prompt
        if self.version == 1:
            return decode(self.wire.PromptResponse, {"stopReason": await self.prompt(turn), **self.ending})
        number = len(self.of("PromptRequest"))
        echo = chunk("user_message", text, f"u{number}")
        await self.update(params.session_id, echo)
        self.tasks.start_soon(self._run, turn)
        return v2.PromptResponse(message_id=f"u{number}")

    async def _run(self, turn: Turn) -> None:
        await self.state(turn.session_id, "running")
        assert self.prompt
        reason = await self.prompt(turn)
        await self.state(turn.session_id, "idle", stopReason=reason, **self.ending)


def chunk(kind: str, text: str, message_id: str | None = None) -> dict[str, Any]:
    """Return a chunk of text as JSON."""
    more = {} if message_id is None else {"messageId": message_id}
    return {"sessionUpdate": f"{kind}_chunk", "content": {"type": "text", "text": text}, **more}


async def streams() -> tuple[UNIXSocketStream, UNIXSocketStream]:
    """Return two connected ends."""
    one, other = socket.socketpair()
    return await UNIXSocketStream.from_socket(one), await UNIXSocketStream.from_socket(other)


@asynccontextmanager
async def connected(agent: Agent, **client: Any) -> AsyncGenerator[ConnectedAgent]:
    """Connect a client with these options to *agent*."""
    here, there = await streams()
    agent.stream = there
    settings: dict[str, Any] = {"patience": 5.0, **client}
    error: BaseException | None = None
    with anyio.fail_after(30):
        async with anyio.create_task_group() as agent.tasks:
            try:
                async with (
                    Connection(there, there, protocol=OPENING, role="agent", handlers=agent.handlers, grace=0),
                    Client("editor", version="1.0", **settings).connect(
                        Connection(here, here, protocol=OPENING, role="client")
                    ) as handle,
                ):
                    yield handle
            except BaseException as caught:  # noqa: BLE001 - the task group would wrap it
                error = caught
            agent.tasks.cancel_scope.cancel()
    if error is not None:
        raise error


async def hello(turn: Turn) -> str:
    """Say hello in two chunks."""
    await turn.say("Hel")
    await turn.say("lo")
    return "end_turn"


async def until_cancelled(turn: Turn) -> str:
    """Say one word and wait for the cancellation."""
    await turn.say("begun")
    await turn.cancelled.wait()
    await turn.say("last word", "m2")
    return "cancelled"


def said(update: Any) -> str:
    """Return the text of a chunk, and of other updates their kind."""
    return update.content.text if update.session_update == "agent_message_chunk" else update.session_update
