"""The scripted agent: its settings, its slash commands, and the script or the scenes that it performs."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import anyio

from acp_bindings import v1, v2
from acp_bindings._standard_streams import version as installed_version
from acp_bindings.agent import Agent, MemorySessions, Session, SessionPage, Turn
from acp_bindings.agent._agent import GRACE
from acp_bindings.agent._session import StopReason
from acp_bindings.connection import Connection
from acp_bindings.connection._connection import ByteSource
from acp_bindings.connection._outbox import ByteSink
from acp_bindings.encoding import encode
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.play._faulty_wire import Wire
from acp_bindings.play._performing import Performance
from acp_bindings.play._rude import RUDE
from acp_bindings.play._scenes import SCENES, Scene
from acp_bindings.play._script import MODES, OPTIONS, Script
from acp_bindings.play._served import Served
from acp_bindings.setup import OPENING, AuthRequired, InvalidParams
from acp_bindings.setup.capabilities import V2_BASELINE, AgentCapability

NAME = "acp-bindings-play"
_CHOICES = ("effort", "length", "model")


class Play(Served):
    """An agent that performs a script, or the scenes that the user types as slash commands.

        play = Play(Script.read("talk.ndjson"))
        async with Client("editor", version="1.0").connect(play.connected()) as agent: ...

    It sends the same bytes each time: ids are counted, and times are fixed.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        version: Literal[1, 2] | None = None,
        without: Collection[AgentCapability] = (),
        auth: bool = False,
        rude: Collection[str] = (),
    ) -> None:
        """Prepare the agent.

        Args:
            script: what it says; None for the scenes.
            version: the only version of the protocol that it supports; by default that of the script, or both.
            without: the capabilities that it does not have; it has all others.
            auth: require a login before the first session.
            rude: the kinds of rude behaviour that last (`RUDE`).

        Raises:
            ValueError: a kind does not exist, or the script or the capabilities do not fit the version.
            UnknownCapability: agents do not have a capability.
        """
        if unknown := sorted({*rude} - RUDE.keys()):
            raise ValueError(f"unknown --rude kind {unknown[0]!r}; choose from {', '.join(RUDE)}")
        if script and version not in (None, script.version):
            raise ValueError(f"{script.name} is of version {script.version}, not {version}")
        self.script = script
        self.failures: list[str] = []
        """The expectations of the script that the client has not met."""
        packages: dict[int, ProtocolPackage] = {1: v1, 2: v2}
        only = script.version if script else version
        if always := sorted(V2_BASELINE.intersection(without)):
            if only == 2:
                raise ValueError(f"agents of v2 always have {', '.join(always)}")
            only = 1
        self._rude = rude
        self._wire: Wire | None = None
        self._is_process = False
        self._is_logged_in = not auth
        self._counts: Counter[str] = Counter()
        self._awaited: dict[tuple[str, str], anyio.Event] = {}
        """The requests for which turns wait, by session and method."""
        login = v1.AuthMethodAgent(id="play", name="Log in", description="It works at once")
        self.agent = Agent(
            NAME,
            title="acp-bindings play",
            version=installed_version(),
            mcp=_AnyServers(),
            sessions=_Sessions(),
            protocols=[each for number, each in packages.items() if only in (None, number)],
            accepts=("audio", "image"),
            without={*without, "mcp.sse"} if only == 2 else without,
            auth_methods=[login] if auth else (),
            new_id=self._new_id,
        )
        """The agent. `agent.asgi()` serves it at a URL, without rude behaviour."""
        if auth:
            self.agent.login(self._log_in)
            self.agent.logout(self._log_out)
        for mode, description in MODES.items():
            self.agent.mode(mode, mode.capitalize(), description=description)
        efforts, lengths, names = ({each: each.capitalize() for each in OPTIONS[id_]} for id_ in _CHOICES)
        models = {"Small models": {"small": names.pop("small")}, "Large models": names}
        self.agent.option("effort", "Effort", efforts, default="low", category="thought_level")
        self.agent.option("length", "Length", lengths, default="short", category="model_config")
        self.agent.option("model", "Model", models, default="small", category="model", description="The model")
        self.agent.option("web", "Web search", default=False, description="On or off")
        self.agent.on("tool_call/cancel")(partial(self._hear, "tool_call/cancel"))
        self.agent.on("terminal/cancel")(partial(self._hear, "terminal/cancel"))
        self.agent.on_open(self._open)
        self.agent.prompt(self._answer)
        if script is None:
            self._add_commands()

    def run(self) -> int:
        """Serve the client that started this process, and return the exit status: 1 if `failures` has any."""
        self._is_process = True
        if "no-exit" in self._rude:
            _ignore_signals()
        anyio.run(self.serve)
        return 1 if self.failures else 0

    async def serve_over(self, source: ByteSource, sink: ByteSink) -> None:
        """Serve one client over two byte streams, until it leaves."""

        async def leave(status: int) -> None:
            if self._is_process:
                os._exit(status)
            await sink.aclose()

        self._wire = wire = Wire(source, sink, rude=self._rude, leave=leave)
        async with (
            self.agent.serving() as handlers,
            Connection(wire, wire, protocol=OPENING, role="agent", handlers=handlers, grace=GRACE) as connection,
        ):
            await self.agent.attend(connection)

    def _add_commands(self) -> None:
        for scene in SCENES.values():
            self.agent.command(scene.name, scene.description, hint=scene.hint)(partial(self._scene, scene))
        self.agent.command("everything", "All scenes, one after the other")(self._everything)
        self.agent.command("rude", "Break the protocol, once", hint="kind")(self._be_rude)
        self.agent.command("servers", "The MCP servers of the session")(_servers)
        self.agent.command("help", "The commands and the kinds of rude behaviour")(_help)

    def _new_id(self, kind: str) -> str:
        self._counts[kind] += 1
        return f"{kind}-{self._counts[kind]}"

    def _hear(self, method: str, request: Any, _: Connection) -> None:
        if (event := self._awaited.get((request.session_id, method))) is None:
            raise InvalidParams(f"{method}: there is nothing to cancel")
        event.set()

    async def _until(self, session_id: str, method: str) -> None:
        self._awaited[session_id, method] = anyio.Event()
        try:
            await self._awaited[session_id, method].wait()
        finally:
            del self._awaited[session_id, method]

    async def _log_in(self, _: str) -> None:
        self._is_logged_in = True

    async def _log_out(self) -> None:
        self._is_logged_in = False

    async def _open(self, session: Session) -> None:
        if not self._is_logged_in:
            raise AuthRequired
        if self.script:
            await self._performance(session).perform(self.script.opening)

    async def _answer(self, turn: Turn) -> StopReason | None:
        """Perform the turn of the script, or describe a prompt that is not a command."""
        if self.script is None:
            await _describe(turn)
            return None
        count = _count(turn.session)
        if (found := self.script.turn_for(turn.text, count)) is None:
            await turn.say("The script has no turn for this prompt.\n")
            return None
        return await self._performance(turn.session, turn).perform(found.steps)

    def _performance(self, session: Session, turn: Turn | None = None, arguments: str = "") -> Performance:
        name = self.script.name if self.script else ""
        has_lines = self._wire is not None
        return Performance(
            session, turn, arguments=arguments, raw=has_lines, name=name, failed=self._failed, until=self._until
        )

    def _failed(self, problem: str) -> None:
        self.failures.append(problem)
        sys.stderr.write(f"{problem}\n")

    async def _scene(self, scene: Scene, turn: Turn) -> StopReason | None:
        version = turn.session.client.version
        if version not in scene.versions:
            await turn.say(f"v{version} does not have this.\n")
            return None
        _count(turn.session)
        try:
            performance = self._performance(turn.session, turn, turn.arguments or scene.default)
            return await performance.perform(scene.read(version))
        except ValueError as error:
            raise InvalidParams(f"/{scene.name}: {(scene.hint or '').upper()}: {error}") from None

    async def _everything(self, turn: Turn) -> None:
        for scene in SCENES.values():
            if scene.in_tour and turn.session.client.version in scene.versions:
                await turn.say(f"\n## /{scene.name}: {scene.description}\n\n")
                await self._scene(scene, turn)

    async def _be_rude(self, turn: Turn) -> None:
        name, wire = turn.arguments, self._wire
        if name not in RUDE:
            await turn.say("".join(f"/rude {each}: the agent {rude.doc}\n" for each, rude in RUDE.items()))
            return
        rude = RUDE[name]
        await turn.say(f"The agent {rude.doc}.\n")
        if wire is None:
            await turn.say("Only over standard streams.\n")
        elif rude.place not in ("end", "session/prompt", "any"):
            await turn.say(f"Send {rude.place} to see it.\n")
        elif rude.ignores == "cancel":
            await turn.say("Cancel the turn to see it.\n")
            await wire.cancelled.wait()
            await turn.say("The agent goes on.\n")
        elif rude.ignores == "end" and self._is_process:
            _ignore_signals()


class _AnyServers:
    """Accepts MCP servers of each transport, and starts none."""

    capabilities: Collection[AgentCapability] = ("mcp.http", "mcp.sse", "mcp.stdio")
    errors: tuple[type[Exception], ...] = ()

    def open(self, servers: Sequence[Any], session: Session) -> AbstractAsyncContextManager[None]:  # noqa: ARG002
        return nullcontext()

    def tool_call_update(self, tool_call_id: str, result: Any) -> None:
        """Return None: no tool is called."""


class _Sessions(MemorySessions):
    """Sessions in memory, with fixed times."""

    async def list(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        page = await super().list(cwd=cwd, cursor=cursor)
        fixed = [replace(each, updated_at="2026-01-01T00:00:00.000000Z") for each in page.sessions]
        return SessionPage(fixed, page.next_cursor)


def _count(session: Session) -> int:
    """Return the number of turns of the session before this one."""
    count: int = session.data.get("turns", 0)
    session.data["turns"] = count + 1
    return count


def _ignore_signals() -> None:
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


async def _describe(turn: Turn) -> None:
    for block in turn.prompt:
        text = block.text if isinstance(block, v1.TextContent) else ""
        await turn.say(f"You sent {block.type}: {text or f'{len(encode(block))} bytes of JSON'}\n")
    await turn.say("Enter /help for what I can do.\n")


async def _servers(turn: Turn) -> None:
    for server in turn.session.servers:
        await turn.say(f"{server.name}: {getattr(server, 'type', 'stdio')}\n")
    await turn.say(f"{len(turn.session.servers)} MCP servers, none of which was started.\n")


async def _help(turn: Turn) -> None:
    for scene in SCENES.values():
        hint = f" {scene.hint.upper().replace(' ', '_')}" if scene.hint else ""
        await turn.say(f"/{scene.name}{hint}: {scene.description}\n")
    await turn.say("/everything: all of these, but for those that fail or take long\n/servers: the MCP servers\n")
    for name, rude in RUDE.items():
        await turn.say(f"/rude {name}: the agent {rude.doc}\n")
