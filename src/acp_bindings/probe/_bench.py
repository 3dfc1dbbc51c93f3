"""The agents that checks use, in the state that a check needs; shared where checks do not disturb each other."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

import anyio
from anyio.abc import TaskGroup

from acp_bindings._json import members_of
from acp_bindings._redact import Redactor
from acp_bindings._secrets import argument_secrets, environment_secrets
from acp_bindings._standard_streams import version as own_version
from acp_bindings.connection.errors import ConnectionClosed
from acp_bindings.decoding import decode
from acp_bindings.errors import AcpError, DecodeError, Finding
from acp_bindings.probe._check import Failed, Outcome, Skipped
from acp_bindings.probe._client_side import Client
from acp_bindings.probe._mcp_servers import Servers
from acp_bindings.probe._probed_agent import Agent, Call, Line, Message, start_process, start_url
from acp_bindings.probe._probed_session import Session, needs_login, without_login
from acp_bindings.recordings import Recorder
from acp_bindings.setup._versions import package_named, read_version
from acp_bindings.setup.errors import BadProtocolVersion

T = TypeVar("T")

HELLO = "Say hello in one short sentence. Do not use any tool."
COUNT = "Count from 1 to 200 in words, one number on each line. Do not use any tool, and do not stop early."
TOOL = "Call the tool probe_word of the MCP server whose name begins with probe, and answer with the word it returns."
WORK = "Read the file probe.txt in the working directory, write its text to copy.txt, and run the command: echo done"

_LATE = 0.2
"""Seconds between the first turn and the next message, in which late updates of this turn arrive."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a probe."""

    target: list[str] | str
    """Its command, or its URL."""
    version: int = 1
    prompt: str | None = None
    """The text of all prompts; by default it depends on the check."""
    auth: str | None = None
    """The id of the authentication method to log in with."""
    timeout: float = 30.0
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """The headers of all requests to a URL."""


class Bench:
    """The agents, sessions and MCP servers of one probe."""

    def __init__(self, options: Options, tasks: TaskGroup, folder: str) -> None:
        self.options = options
        self.version = options.version
        self.servers = Servers(options.version)
        self.agents: list[Agent] = []
        """All agents so far."""
        self.clients: dict[Agent, Client] = {}
        self.current = ""
        """The id of the check that runs."""
        target, variables = options.target, {**os.environ, **options.env}
        arguments, urls = ((), [target]) if isinstance(target, str) else (target, ())
        self._secrets = [*environment_secrets(variables), *argument_secrets(arguments), *options.headers.values()]
        self.hide = Redactor(self._secrets, urls=urls)
        """Replaces secrets in a text."""
        self._tasks = tasks
        self._folder = folder
        self._shared: Agent | None = None
        """The agent that most checks share, while it is initialized."""
        self._of_check: list[Agent] = []
        self.refusal: Failed | None = None
        """Why the login of the options did not succeed."""
        self._made: dict[Callable[..., Any], tuple[str, Any]] = {}
        self._has_reported_end = False
        """True once a check has failed because an agent has ended."""
        self._ended_by_new = ""
        """The check in which a valid `session/new` has ended an agent."""

    @property
    def is_process(self) -> bool:
        """True if the agent is a process."""
        return not isinstance(self.options.target, str)

    @property
    def is_http(self) -> bool:
        """True if the agent is at a URL of HTTP: only messages can be sent, and `initialize` once on a connection."""
        return isinstance(self.options.target, str) and self.options.target.lower().startswith("http")

    @property
    def patience(self) -> float:
        """Seconds to wait for what need not come, such as the start of an MCP server."""
        return min(3.0, self.options.timeout)

    def text(self, default: str) -> str:
        """Return the text of a prompt."""
        return self.options.prompt or default

    def is_one_of(self, known: Sequence[str], value: object) -> bool:
        """Return True for a known value and, in v2, for that of an extension, which begins with `_`."""
        return value in known or (self.version > 1 and str(value).startswith("_"))

    def new_cwd(self) -> Path:
        """Make an empty directory with a file `probe.txt`."""
        cwd = Path(tempfile.mkdtemp(dir=self._folder)).resolve()
        (cwd / "probe.txt").write_text("one\ntwo\n", encoding="utf-8")
        return cwd

    # Agents

    async def started(self) -> Agent:
        """Return an agent that was not initialized. It is stopped after the check.

        Raises:
            CannotStart: it cannot be started.
            Unreachable: it cannot be reached.
            Failed: it could be started or reached before.
        """
        agent = await self._start()
        self._of_check.append(agent)
        return agent

    async def fresh(self, **more: Any) -> Agent:
        """Return an initialized agent of its own for a check. *more* are fields of the request."""
        agent = await self.started()
        await self.initialize(agent, **more)
        return agent

    async def shared(self) -> Agent:
        """Return the initialized agent that most checks share."""
        if self._shared and self._shared.has_ended:
            self._shared = None
            self._made.clear()
        return await self.once(Bench.start_shared)

    async def start_shared(self) -> Agent:
        """Start the agent that `shared` returns."""
        agent = await self._start()
        try:
            await self.initialize(agent)
        except Failed as error:
            if isinstance(error.__cause__, ConnectionClosed):
                raise self._not_started(error.__cause__) from None
            raise
        self._shared = agent
        return agent

    async def still_works(self, agent: Agent, what: str, lines: Sequence[Line]) -> None:
        """Check that an agent still answers requests, and so has read all that was sent before.

        Raises:
            Failed: it does not, after *what*.
        """
        method = await self.once(answered_method)
        params = self.initialization() if method == "initialize" else {}
        try:
            await agent.request(method, params, is_wrong=True)
        except Failed as error:
            raise Failed(
                f"after {what}, the agent no longer answers: {error.message}", lines, hint=error.hint
            ) from None

    async def _start(self) -> Agent:
        client = Client(Path(self._folder).resolve())
        target = self.options.target
        shared: Any = {"tasks": self._tasks, "timeout": self.options.timeout, "serve": client.serve}
        try:
            if isinstance(target, str):
                agent = await start_url(target, headers=self.options.headers, **shared)
            else:
                agent = await start_process(target, env=self.options.env, **shared)
        except AcpError as error:
            raise self._not_started(error) from None
        self.agents.append(agent)
        self.clients[agent] = client
        return agent

    def _not_started(self, error: AcpError) -> Exception:
        """Return the exception for an agent that cannot be started or reached: a failure if it could be before."""
        if not any(each.initialized for each in self.agents):
            return error
        return Failed(str(error), cure="It must be possible to start the agent, or connect to it, at any time.")

    def initialization(self, **more: Any) -> Message:
        """Return the params of `initialize`."""
        info = {"name": "acp-bindings-probe", "version": own_version()}
        if self.version > 1:
            return {"protocolVersion": self.version, "info": info, "capabilities": {}, **more}
        capabilities = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
        return {"protocolVersion": 1, "clientInfo": info, "clientCapabilities": capabilities, **more}

    async def initialize(self, agent: Agent, **more: Any) -> Call:
        """Initialize an agent, and log in if the options say how. If the login fails, `logged_in` raises the reason.

        Raises:
            Failed: it refuses, or negotiates another version.
        """
        call = await agent.request("initialize", self.initialization(**more))
        result: Any = call.result
        if not isinstance(result, dict):
            raise Failed("`initialize` was refused", call.lines)
        agent.initialized, agent.opening = cast("Message", result), call.lines
        try:
            answered = read_version(agent.initialized)
        except BadProtocolVersion as error:
            cure = f'Answer with "protocolVersion": {self.version}, an integer.'
            raise Failed(f"`protocolVersion`: {error.reason}", call.lines, cure=cure) from None
        if answered != self.version:
            raise Failed(f"the agent negotiated version {answered}, not {self.version}", call.lines)
        if self.options.auth:
            try:
                await self.log_in(agent)
            except Failed as error:
                self.refusal = error
        return call

    async def log_in(self, agent: Agent) -> Call:
        """Log in with the method of the options.

        Raises:
            Failed: that is refused.
        """
        method = "authenticate" if self.version == 1 else "auth/login"
        call = await agent.request(method, {"methodId": self.options.auth})
        if call.error:
            cure = "Pass an id from the agent's `authMethods` to --auth, and check the credentials."
            raise Failed(f"the login with {self.options.auth!r} was refused", call.lines, cure=cure)
        return call

    @property
    def only_reads_messages(self) -> bool:
        """True if the current check only reads earlier messages, and another one has reported the end of the agent."""
        return self.current.startswith("conversation.") and self._has_reported_end

    def outcome(self, error: Outcome) -> Outcome:
        """Return the outcome of the current check, with the reason if an agent has ended in it.

        If `session/new` ends agents, one check fails, and the others are skipped.
        """
        agent = next((each for each in (self._shared, *self._of_check) if each and each.has_ended), None)
        if error.status == "skip" or not agent or self.only_reads_messages:
            return error
        requests = [each.request for calls in agent.open.values() for each in calls]
        opens = any(each.fields.get("method") == "session/new" and not each.is_wrong for each in requests)
        if opens and self._ended_by_new:
            return Skipped(f"it needs what failed in {self._ended_by_new}")
        if self.current.startswith("ending.") and not opens:
            return error  # on purpose
        self._has_reported_end, problem = True, error.message
        if opens:
            self._ended_by_new = self.current
            if any("sessionId" in members_of(each.fields.get("result")) for each in agent.lines):
                problem = "the agent did not respond to another `session/new` on the connection"
        return agent.failure(problem, error.lines)

    def check_done(self) -> None:
        """Stop the agents that were only for one check."""
        for agent in self._of_check:
            self._tasks.start_soon(agent.stop)
        self._of_check.clear()

    async def stop(self) -> None:
        """Stop all agents."""
        async with anyio.create_task_group() as tasks:
            for agent in self.agents:
                tasks.start_soon(agent.stop)
        self._tasks.cancel_scope.cancel()

    def recording(self) -> bytes:
        """Return a recording of all conversations, one after the other."""
        file = io.BytesIO()
        recorder = Recorder(file, secrets=self._secrets)
        for agent in self.agents:
            for line in agent.lines:
                if line is agent.left:
                    recorder.event("closed", {"from": "client"}, time=line.time.timestamp())
                else:
                    recorder.message(
                        line.sender, line.text.encode(errors="backslashreplace"), time=line.time.timestamp()
                    )
        return file.getvalue()

    # What the agent can do

    async def advertises(self, v1: str, v2: str) -> bool:
        """Return True if the shared agent advertises the capability *v1* or *v2*, by its version.

        It is given by its path, such as `sessionCapabilities.list`.
        """
        agent = await self.shared()
        value: Any = agent.initialized.get("agentCapabilities" if self.version == 1 else "capabilities")
        for step in (v1 if self.version == 1 else v2).split("."):
            value = members_of(value).get(step)
        return value is not None and value is not False

    async def need(self, v1: str, v2: str) -> None:
        """Skip the check unless the shared agent `advertises` the capability.

        Raises:
            Skipped: it does not.
        """
        if not await self.advertises(v1, v2):
            raise Skipped(f"`{v1 if self.version == 1 else v2}` is not advertised")

    def validate(self, type_name: str, value: Any, lines: Sequence[Line]) -> list[Finding]:
        """Return what a client has to correct or ignore in a *value* from *lines*.

        Raises:
            Failed: it is not valid.
        """
        found: list[Finding] = []
        try:
            decode(getattr(package_named(f"v{self.version}"), type_name), value, findings=found)
        except DecodeError as error:
            raise Failed(f"{type_name}: {'; '.join(map(str, error.issues))}", lines) from None
        return found

    # Sessions

    def session_params(self, **more: Any) -> Message:
        """Return the params of `session/new`."""
        return {"cwd": str(self.new_cwd()), "mcpServers": [], **more}

    async def new_session(self, agent: Agent, **more: Any) -> Session:
        """Open a session.

        Raises:
            Failed: that is refused, or the login of the options.
            Skipped: the agent requires a login, or no session could be opened before.
        """
        await self.once(logged_in)
        if isinstance(self._made.get(first_session, ("", None))[1], Outcome):
            await self.once(first_session)
        params = self.session_params(**more)
        return self.session(agent, params, await agent.request("session/new", params))

    async def delete_sessions(self) -> None:
        """Delete the sessions of the probe from the agent's store, if it supports that."""
        results = [members_of(line.fields.get("result")) for agent in self.agents for line in agent.lines]
        ids = [id_ for each in results if isinstance(id_ := each.get("sessionId"), str)]
        with suppress(Outcome):
            if ids and await self.advertises("sessionCapabilities.delete", "session.delete"):
                agent = await self.shared()
                for each in ids:
                    await agent.request("session/delete", {"sessionId": each}, is_wrong=True)

    def session(self, agent: Agent, params: Message, call: Call) -> Session:
        """Return the session that a request has opened, or raise what `new_session` does."""
        if needs_login(call.error):
            raise without_login(call.error, "sessions")
        session_id = members_of(call.result).get("sessionId")
        if not isinstance(session_id, str) or not session_id:
            raise Failed("`session/new` was refused" if call.error else "the response lacks `sessionId`", call.lines)
        return Session(agent, self.version, call, session_id, params["cwd"])

    async def once(self, make: Callable[[Bench], Awaitable[T]]) -> T:
        """Return what *make* returns, which is called only once.

        Raises:
            Outcome: *make* raised it. It is the outcome of the first check, and the others are skipped.
        """
        if make not in self._made:
            try:
                self._made[make] = self.current, await make(self)
            except Outcome as error:
                self._made[make] = self.current, error
        of, made = self._made[make]
        if not isinstance(made, Outcome):
            return cast("T", made)
        if of == self.current or isinstance(made, Skipped):
            raise made
        raise Skipped(f"it needs what failed in {of}")


async def logged_in(bench: Bench) -> None:
    """Check that the login of the options has succeeded, if there is one."""
    await bench.shared()
    if bench.refusal:
        raise bench.refusal


async def first_session(bench: Bench) -> Session:
    """Open the session that most checks use."""
    return await bench.new_session(await bench.shared())


async def first_turn(bench: Bench) -> Session:
    """Return a session with one turn, from which the session has a history."""
    session = await bench.once(first_session)
    link = {"type": "resource_link", "name": "probe.txt", "uri": Path(session.cwd, "probe.txt").as_uri()}
    await session.turn(bench.text(HELLO), link)
    await anyio.sleep(_LATE)
    return session


async def answered_method(bench: Bench) -> str:
    """Return a method that the agent answers, also with an error: an unknown one, unless it ignores that."""
    agent = await bench.shared()
    call = await agent.begin("_probe/ping", {}, is_wrong=True)
    return "_probe/ping" if await agent.has_answer(call, seconds=bench.patience) else "initialize"
