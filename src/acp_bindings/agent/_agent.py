"""An agent: what a program registers, and the handlers that serve clients with it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from time import sleep
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeAlias, TypeVar
from weakref import WeakValueDictionary

import anyio
from anyio.abc import TaskGroup
from anyio.streams.buffered import BufferedByteReceiveStream

from acp_bindings import v1, v2
from acp_bindings.agent._offers import MODE, Command, Offers, OnSet, Option, Values, outcome_of
from acp_bindings.agent._open_sessions import OpenSessions
from acp_bindings.agent._session import M, McpProvider, NewId, Session, StopReason, log, random_id
from acp_bindings.agent._stores import MemorySessions, SessionStore
from acp_bindings.agent._turn import Turn
from acp_bindings.connection import AgentHandlers, Connection, Handlers, connect_stdio
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup import OPENING, AgentHandshake
from acp_bindings.setup._auth import checked_methods
from acp_bindings.setup._paths import HERE
from acp_bindings.setup._versions import version_of
from acp_bindings.setup.capabilities import AGENT_METHODS, CLIENT_METHODS, AgentCapability, known

if TYPE_CHECKING:
    from acp_bindings.connection._connection import Trace
    from acp_bindings.remote import AcpApp, Authenticate, Limits
    from acp_bindings.setup.unions import AuthMethod

PromptHandler: TypeAlias = "Callable[[Turn[M]], Awaitable[StopReason | None]]"
"""Works on a prompt. It returns a `StopReason`, or None for `end_turn`."""

H = TypeVar("H", bound=Callable[..., Any])

Content: TypeAlias = Literal["audio", "image"]
"""The content of prompts in addition to text, links and embedded files."""

Capability: TypeAlias = Literal[
    "auth.status",
    "mcp.acp",
    "providers",
    "session.archive",
    "session.status",
    "session.title",
]
"""The capabilities that an agent has only if its author handles their methods."""

GRACE = 0.25
"""Seconds for turns to end after the client has closed its side."""
_EXIT = 1.0
"""Seconds from the close of all sessions to the end of the process, if a handler or a call in a thread goes on."""
_OWN = frozenset(
    {
        "auth/login",
        "auth/logout",
        "authenticate",
        "initialize",
        "logout",
        "session/cancel",
        "session/close",
        "session/delete",
        "session/list",
        "session/load",
        "session/new",
        "session/prompt",
        "session/resume",
        "session/set_config_option",
        "session/set_mode",
    }
)
"""Methods that the agent handles itself."""


class Agent(Generic[M]):
    """An ACP agent.

        agent = Agent("hello", version="1.0")

        @agent.prompt
        async def answer(turn: Turn) -> None:
            await turn.say(f"You said {turn.text}.")

        agent.run()

    It supports v1 and v2, any number of sessions, cancellation, and loading of sessions.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str,
        title: str | None = None,
        mcp: McpProvider[M] | None = None,
        sessions: SessionStore | None = None,
        protocols: Sequence[ProtocolPackage] = (v1, v2),
        accepts: Collection[Content] = (),
        prompts: Literal["refuse", "queue"] = "refuse",
        capabilities: Collection[Capability] = (),
        without: Collection[AgentCapability] = (),
        auth_methods: Sequence[AuthMethod] = (),
        new_id: NewId = random_id,
    ) -> None:
        """Describe an agent.

        Args:
            name: the name for programs.
            version: the version of the agent.
            title: the name for users.
            mcp: starts the MCP servers of sessions: `mcp_launch.for_sessions()`. Without it, the agent does not accept
                any, and reports those that v1 clients send nevertheless.
            sessions: where sessions are stored: `FolderSessions`, `RedisSessions`, or your own `SessionStore`. By
                default they are in memory, and lost when the process ends.
            protocols: the supported protocol packages, one for each version.
            accepts: the content of prompts in addition to text, links and embedded files.
            prompts: the response to a prompt for a session that is busy: an error, or that of its own turn, which
                begins when those before have ended.
            capabilities: further capabilities, whose methods you handle with `on`.
            without: capabilities that the agent does not have, such as `session.delete`, which agents have by default.
            auth_methods: the authentication methods, of any protocol package. Handle them with `login`, except for
                those of type `terminal`.
            new_id: returns the id of a session, a message or a tool call, which must be unique. By default they are
                random; with a counter, each run of a test has the same ids.

        Raises:
            UnknownCapability: agents do not have one of the *capabilities*, of those in *without*, or the content that
                it *accepts*.
            TypeError: one of the *auth_methods* is not an object.
            ValueError: one of the *capabilities* needs more than a handler.
        """
        if unfit := sorted(each for each in capabilities if each.startswith(("session.fork", "session.system_prompt"))):
            why = "its handlers neither open sessions nor get the system prompt"
            raise ValueError(f"agent {name} cannot have {', '.join(unfit)}: {why}")
        self._name = name
        self._info = v1.Implementation(name=name, version=version, title=name if title is None else title)
        self._mcp = mcp
        self._store: SessionStore = MemorySessions() if sessions is None else sessions
        self._protocols = tuple(protocols)
        of_prompts: list[Any] = [f"prompt.{each}" for each in accepts]
        self._capabilities: set[AgentCapability] = {
            "prompt.embedded_context",
            "session.additional_directories",
            "session.close",
            "session.delete",
            "session.list",
            "session.load",
            "session.resume",
            *of_prompts,
            *(mcp.capabilities if mcp else ()),
            *capabilities,
        }
        for capability in (*self._capabilities, *without):
            known("agent", capability)
        self._capabilities.difference_update(without)
        self._without = frozenset(without)
        self._auth_methods = checked_methods(auth_methods)
        self._new_id = new_id
        self._queued = prompts == "queue"
        self._offers = Offers()
        self._handler: PromptHandler[M] | None = None
        self._on_open: Callable[[Session[M]], Awaitable[object]] | None = None
        self._login: Callable[[str], Awaitable[object]] | None = None
        self._logout: Callable[[], Awaitable[object]] | None = None
        self._extensions: dict[str, Callable[[Any, Connection], Any]] = {}
        self._open: WeakValueDictionary[str | None, OpenSessions[M]] = WeakValueDictionary()
        """The open sessions of each identity that has a connection, whose handlers refer to them."""
        self._tasks: TaskGroup | None = None
        self._exit: threading.Thread | None = None

    def __repr__(self) -> str:
        return f"<Agent {self._name}>"

    def prompt(self, handler: PromptHandler[M]) -> PromptHandler[M]:
        """Decorate the handler of prompts, which gets a `Turn`.

        It returns a stop reason, or None for `end_turn`. If it raises a `RequestError`, the client gets that error. Any
        other exception is logged, and the client only gets "Internal error".

        Raises:
            ValueError: the agent already has one.
        """
        if self._handler is not None:
            raise ValueError(f"agent {self._name} already has a prompt handler")
        self._handler = handler
        return handler

    def command(
        self, name: str, description: str, *, hint: str | None = None
    ) -> Callable[[PromptHandler[M]], PromptHandler[M]]:
        """Decorate the handler of a slash command, which gets a `Turn` with `arguments` set.

        Args:
            name: the name without the slash.
            description: what the command does, for the user.
            hint: what to enter after the name; None if nothing.

        Raises:
            ValueError: the agent already has such a command, or *name* is not a word.
        """
        if not name or name.startswith("/") or any(map(str.isspace, name)):
            raise ValueError(f"the name of a command must be a word without a slash, not {name!r}")
        self._check_new("command", name, self._offers.commands)

        def register(handler: PromptHandler[M]) -> PromptHandler[M]:
            self._offers.commands[name] = Command(name, description, hint, handler)
            return handler

        return register

    def mode(self, id_: str, name: str, *, description: str | None = None) -> None:
        """Add a mode that the user can select. The first one is the default. `session.mode` is the current one."""
        self._check_new("mode", id_, self._offers.modes)
        more = {} if description is None else {"description": description}
        self._offers.modes[id_] = {"name": name, **more}

    def on_mode(self, handler: OnSet) -> OnSet:
        """Decorate an async function that is called with a session and the mode to which it changes."""
        self._offers.on_mode = handler
        return handler

    def option(
        self,
        id_: str,
        name: str,
        values: Values | None = None,
        *,
        default: str | bool,
        description: str | None = None,
        category: str | None = None,
        on_set: OnSet | None = None,
    ) -> None:
        """Add a config option that the user can change. `session.options[id_]` is its current value.

        Args:
            id_: the id.
            name: the name for users.
            values: the names of the possible values by their ids, or such mappings by the name of a group; None for an
                option that is on or off.
            default: the value in new sessions.
            description: what the option does.
            category: `model`, `thought_level` or another category of the protocol.
            on_set: an async function, called with a session and the new value, before it is announced.

        Raises:
            InvalidParams: *default* is not one of the values.
        """
        self._check_new("option", id_, self._offers.options)
        option = Option(id_, name, values, default, description, category, on_set)
        option.check(default)
        self._offers.options[id_] = option

    def on_open(self, handler: Callable[[Session[M]], Awaitable[object]]) -> Callable[[Session[M]], Awaitable[object]]:
        """Decorate an async function that is called with each session that is created or loaded, before the response.

        If it raises, the session is not opened, and the client gets an error.
        """
        self._on_open = handler
        return handler

    def login(self, handler: Callable[[str], Awaitable[object]]) -> Callable[[str], Awaitable[object]]:
        """Decorate the async function that logs in, with the id of one of the `auth_methods`."""
        self._login = handler
        return handler

    def logout(self, handler: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[object]]:
        """Decorate the async function that logs out. v2 requires it of agents with `auth_methods`."""
        self._logout = handler
        if "auth.logout" not in self._without:
            self._capabilities.add("auth.logout")
        return handler

    def on(self, method: str) -> Callable[[H], H]:
        """Decorate the handler of an extension method (`_…`), or of a method of one of the `capabilities`.

        It gets the params and the `Connection`, like the handlers of `acp_bindings.connection.Handlers`.

        Raises:
            ValueError: the method already has a handler, or agents do not have it.
        """
        if method in _OWN:
            raise ValueError(f"{method} is handled by the agent itself")
        self._check_new("handler of", method, self._extensions)
        if not method.startswith("_") and method not in AGENT_METHODS:
            side = "clients handle it" if method in CLIENT_METHODS else "names of extensions begin with _"
            raise ValueError(f"agents do not have the method {method}: {side}")

        def register(handler: H) -> H:
            self._extensions[method] = handler
            return handler

        return register

    def _check_new(self, kind: str, name: str, known: Collection[str]) -> None:
        if name in known:
            raise ValueError(f"agent {self._name} already has the {kind} {name}")

    def run(self, *, backend: Literal["asyncio", "trio"] = "asyncio") -> None:
        """Serve the client that started this process over standard input and output, until it exits or a signal comes.

        The signals are SIGTERM, Ctrl-C, and SIGHUP if the program neither handles nor ignores it. In a thread other
        than the main one, all of them are left to the program.

        Raises:
            ValueError: the agent is incomplete, for example without a prompt handler.
        """
        self._checked()  # here, because an exception group would hide the error
        if threading.current_thread() is threading.main_thread():
            self._exit = threading.Thread(target=self._leave, daemon=True)
        try:
            anyio.run(self._run_process, backend=backend)
        finally:
            self._exit = None

    async def serve(self, *, grace: float = GRACE) -> None:
        """Serve the client that started this process, over standard input and output, until it leaves.

        Args:
            grace: seconds for turns to end after the client has closed its side.
        """
        async with (
            self.serving() as handlers,
            connect_stdio(protocol=OPENING, handlers=handlers, grace=grace) as connection,
        ):
            await self.attend(connection)

    def asgi(
        self,
        *,
        path: str = "/acp",
        authenticate: Authenticate | None = None,
        hosts: Collection[str] = (),
        origins: Collection[str] = (),
        limits: Limits | None = None,
        trace: Trace | None = None,
    ) -> AcpApp:
        """Return an ASGI application that serves the agent over Streamable HTTP and WebSocket.

            app = agent.asgi(hosts=["agent.example.com"])     # uvicorn module:app

        Args:
            path: the path of the endpoint, below that of a mount.
            authenticate: called with the `acp_bindings.remote.Caller` of each request. It returns the identity of the
                user, or None to refuse the request with 401. A user only sees sessions of the own identity, for which
                the store must have `for_owner`, as those of this package do.
            hosts: the host names of the server. `localhost` and IP addresses are always accepted. Others are refused,
                because a web page could have its own name resolved to this server. `"*"` accepts all names.
            origins: the origins of web pages that may send requests, such as `https://example.com`.
            limits: what is accepted of clients.
            trace: called with the sender and each message. Messages may contain secrets.

        Raises:
            ValueError: the agent is incomplete, or its store cannot separate users.
        """
        from acp_bindings.remote._asgi import AcpApp  # noqa: PLC0415 - only remote agents need it

        self._checked()
        if authenticate is not None and getattr(self._store, "for_owner", None) is None:
            raise ValueError(f"agent {self._name} needs a store with for_owner to keep the sessions of users apart")
        return AcpApp(
            self._hosting,
            path=path,
            authenticate=authenticate,
            hosts=hosts,
            origins=origins,
            limits=limits,
            options={"trace": trace},
        )

    @asynccontextmanager
    async def _hosting(self) -> AsyncGenerator[Self]:
        async with self.serving():
            yield self

    async def _run_process(self) -> None:
        async with anyio.create_task_group() as tasks:
            if self._exit:
                tasks.start_soon(_cancel_on_signal, tasks)
            await self.serve()
            tasks.cancel_scope.cancel()

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[AgentHandlers]:
        """Open the agent for any number of connections, and yield the handlers for them.

            async with agent.serving() as handlers, Connection(source, sink, protocol=OPENING, role="agent",
                                                               handlers=handlers) as connection:
                await agent.attend(connection)

        All sessions are closed at the end of the block.

        Raises:
            ValueError: the agent is incomplete.
            RuntimeError: the agent is being served already.
        """
        self._checked()
        if self._tasks is not None:
            raise RuntimeError(f"agent {self._name} is being served already")
        try:
            async with anyio.create_task_group() as self._tasks:
                try:
                    yield self.handlers_for(None)
                finally:
                    with anyio.CancelScope(shield=True):
                        async with anyio.create_task_group() as closing:
                            for sessions in self._open.values():
                                closing.start_soon(sessions.close)
                    if self._exit:
                        self._exit.start()
                    self._tasks.cancel_scope.cancel()
        finally:
            self._open.clear()
            self._tasks = None

    def handlers_for(self, identity: str | None) -> AgentHandlers:
        """Return the handlers for the connections of a user, in the block of `serving`; None for the only user.

        Raises:
            RuntimeError: this is called outside that block.
        """
        sessions = self._open.get(identity)
        if sessions is None:
            if self._tasks is None:
                raise RuntimeError("connections are opened in the block of `serving`")
            store: Any = self._store
            own = store if identity is None else store.for_owner(identity)
            sessions = self._open[identity] = self._sessions_of(own, self._tasks, identity)
        return sessions.handlers

    def _handshake(self) -> AgentHandshake:
        return AgentHandshake(
            info=self._info,
            protocols=self._protocols,
            capabilities=self._capabilities,
            auth_methods=self._auth_methods,
        )

    def _sessions_of(self, store: SessionStore, tasks: TaskGroup, identity: str | None) -> OpenSessions[M]:
        handlers = AgentHandlers(self._handshake(), flavour=HERE)
        sessions = OpenSessions(
            handlers=handlers,
            tasks=tasks,
            handler=self._checked(),
            offers=self._offers,
            store=store,
            mcp=self._mcp,
            queued=self._queued,
            on_open=self._on_open,
            identity=identity,
            new_id=self._new_id,
        )
        if login := self._login:

            async def log_in(request: Any, _: Connection) -> None:
                await outcome_of(login(request.method_id), "the function of @agent.login")

            handlers.on("authenticate")(log_in)
            handlers.on("auth/login")(log_in)
        if logout := self._logout:

            async def log_out(_: Any, __: Connection) -> None:
                await outcome_of(logout(), "the function of @agent.logout")

            handlers.on("logout")(log_out)
            handlers.on("auth/logout")(log_out)
        for method, extension in self._extensions.items():
            handlers.on(method)(extension)
        return sessions

    def _checked(self) -> PromptHandler[M]:
        """Return the prompt handler of a complete agent.

        Raises:
            ValueError: something is missing, or cannot be reached.
        """
        name, offers = f"agent {self._name}", self._offers
        if self._handler is None:
            raise ValueError(f"{name} does not have a prompt handler; decorate one with @agent.prompt")
        # The user logs in with a method for a terminal by another run of the program.
        if not self._login and any(each.type != "terminal" for each in self._auth_methods):
            raise ValueError(f"{name} has auth_methods, but no function decorated with @agent.login")
        if self._auth_methods and not self._logout and any(version_of(each) > 1 for each in self._protocols):
            raise ValueError(f"{name} needs a function decorated with @agent.logout, because v2 requires one")
        if (self._login or self._logout) and not self._auth_methods:
            raise ValueError(f"{name} has a function decorated with @agent.login or @agent.logout, but no auth_methods")
        if offers.on_mode and not offers.modes:
            raise ValueError(f"{name} has a function decorated with @agent.on_mode, but no mode; add them with mode()")
        if offers.modes and MODE in offers.options:
            raise ValueError(f'{name} has modes, which are the option "{MODE}"; give its own option another id')
        for method in self._extensions:
            need = AGENT_METHODS.get(method)
            if need and need not in (*self._capabilities, "session"):
                raise ValueError(f'{method} cannot be reached; add it to the capabilities: capabilities={{"{need}"}}')
        for method, need in AGENT_METHODS.items():
            is_spoken = any(method in package.METHODS for package in self._protocols)
            if need in self._capabilities and is_spoken and method not in {*_OWN, *self._extensions}:
                raise ValueError(f'nothing handles {method}, although {name} has {need}; add @agent.on("{method}")')
        self._handshake()  # which raises if the capabilities do not go together
        return self._handler

    async def attend(self, connection: Connection, identity: str | None = None) -> None:
        """Wait until *connection* has ended, and close its sessions.

        Raises:
            RuntimeError: this is called outside the block of `serving`.
        """
        if (sessions := self._open.get(identity)) is None:
            raise RuntimeError("connections are attended in the block of `serving`")
        try:
            await connection.wait_ended()
        except anyio.get_cancelled_exc_class():
            # The client has not cancelled its turns, so their responses must not say that.
            connection.close()
            raise
        finally:
            with anyio.CancelScope(shield=True):
                await sessions.close(connection)

    def _leave(self) -> None:
        """End the process after the close of all sessions, although a handler or a call in a thread goes on."""
        sleep(_EXIT)
        if self._exit is threading.current_thread():  # `run` has not returned
            if self._tasks is None:
                log.warning("a call in a thread of agent %s is still running; the process exits without it", self._name)
                os._exit(0)
            log.error("a prompt handler of agent %s ignores its cancellation; the process exits without it", self._name)
            os._exit(1)
        threading.main_thread().join()
        left = [each for each in threading.enumerate() if not each.daemon]
        for thread in left:
            if not thread.name.startswith("AnyIO worker"):
                thread.join()  # it belongs to the program
        sleep(_EXIT)
        if any(each.is_alive() for each in left):
            os._exit(1 if hasattr(sys, "last_value") else 0)  # 1 after an exception of the program

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[Connection]:
        """Serve one client in this process, and yield its connection, for tests of your agent.

            async with Client("test", version="1.0").connect(agent.connected()) as connected: ...

        The connection has not sent `initialize` yet; `Client.connect` does that.
        """
        to_agent, from_client = anyio.create_memory_object_stream[bytes](100)
        to_client, from_agent = anyio.create_memory_object_stream[bytes](100)
        source, clients_source = BufferedByteReceiveStream(from_client), BufferedByteReceiveStream(from_agent)
        async with (
            self.serving() as handlers,
            anyio.create_task_group() as tasks,
            Connection(clients_source, to_agent, protocol=OPENING, role="client", handlers=Handlers()) as client,
        ):

            async def serve() -> None:
                # In a block of its own, which closes the streams even if the client has not left yet.
                async with Connection(
                    source, to_client, protocol=OPENING, role="agent", handlers=handlers, grace=GRACE
                ) as connection:
                    await self.attend(connection)

            tasks.start_soon(serve)
            yield client


async def _cancel_on_signal(tasks: TaskGroup) -> None:
    if sys.platform == "win32":
        return
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # `nohup` ignores it
        signal.signal(signal.SIGHUP, _hang_up)
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            tasks.cancel_scope.cancel()
            return


def _hang_up(number: int, _: object) -> None:
    """End the process as after SIGTERM, once: the end of a terminal sends more signals, also during the cleanup."""
    signal.signal(number, signal.SIG_IGN)
    signal.raise_signal(signal.SIGTERM)
