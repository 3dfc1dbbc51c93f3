"""A client: what it is called, what it can do for agents, and how it connects to one."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Unpack

import anyio

from acp_bindings import v1, v2
from acp_bindings._processes.process import to_the_end
from acp_bindings.client._agent_link import AgentLink, Elicitation, OnUpdate, Permission
from acp_bindings.client._connected_agent import ConnectedAgent
from acp_bindings.client._reconnecting import Reconnect, Reconnected, stay_connected
from acp_bindings.connection._child import connect_process
from acp_bindings.connection._connection import Connection, Trace
from acp_bindings.connection._handlers import Handlers
from acp_bindings.connection.errors import ConnectionClosed
from acp_bindings.setup._handshake import OPENING, ClientHandshake
from acp_bindings.setup._paths import HERE, Flavour
from acp_bindings.setup._versions import version_of

if TYPE_CHECKING:
    from acp_bindings.client._files import Files
    from acp_bindings.client._terminals import Terminals
    from acp_bindings.jsonrpc import ProtocolPackage
    from acp_bindings.remote import NetworkOptions
    from acp_bindings.setup.capabilities import ClientCapability

PATIENCE = 10.0
"""The default time for an agent to end a cancelled turn, in seconds."""
RECONNECT = Reconnect()
"""The default way to make a lost connection again."""
_TIMEOUT = 60.0
_ALWAYS: frozenset[ClientCapability] = frozenset({"config_options.boolean", "notices"})
"""Capabilities that follow from the layer itself."""


class Client:
    """A client of agents. One object can connect to any number of them.

        client = Client("editor", version="1.0", permission=ask_the_user, files=Files())

        async with client.connect(["my-agent", "--acp"]) as agent:
            async with agent.session(cwd="/home/me/project") as session:
                async for update in session.prompt("What does this do?"):
                    print(update)

    It advertises the capabilities that follow from its arguments: `fs.*` for *files*, `terminal` for *terminals*, and
    `elicitation.form` for *elicitation*.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str,
        title: str | None = None,
        permission: Permission | None = None,
        files: Files | None = None,
        terminals: Terminals | None = None,
        elicitation: Elicitation | None = None,
        on_update: OnUpdate | None = None,
        protocols: Sequence[ProtocolPackage] | None = None,
        capabilities: Collection[ClientCapability] = (),
        meta: Mapping[str, Any] | None = None,
        patience: float = PATIENCE,
        on_reconnect: Callable[[Reconnected], object] | None = None,
    ) -> None:
        """Describe the client.

        Args:
            name: its name, for programs.
            version: its version.
            title: its name, for people.
            permission: a function, plain or async, that is called with a `PermissionQuestion`. It returns one of the
                options or its id, True or False to allow or reject, if possible only once, or None to cancel the
                request. A `PermissionPolicy` is such a function. Without it, everything is rejected, or cancelled if
                the agent does not offer that.
            files: reads and writes files for agents of v1.
            terminals: runs commands for agents of v1.
            elicitation: a function, plain or async, that is called with a `v1.CreateElicitationRequest` for a form. It
                returns the values of the form (those that are None are left out), None to decline, or a
                `v1.CreateElicitationResponse`.
            on_update: a plain function that is called with the session, each update, and True if it is history. It
                gets every update, also between turns, and the states of v2, so annotate the update as `object`. It
                must be fast, because all messages of the agent wait for it.
            protocols: the supported packages; by default `v1` and `v2`.
            capabilities: more capabilities to advertise, such as `auth.terminal`.
            meta: the `_meta` of the capabilities.
            patience: seconds to wait for the end of a cancelled turn, before it is abandoned.
            on_reconnect: called with a `Reconnected` when a lost connection to a URL was made again.

        Raises:
            UnknownCapability: a client does not have such a capability.
            TypeError: *on_update* is an `async def`.
            ValueError: *protocols* is empty, contains two packages of one version, or none of them has a capability.
        """
        if iscoroutinefunction(on_update):
            raise TypeError("on_update must be a plain function, because all messages of the agent wait for it")
        packages: Sequence[ProtocolPackage] = [v1, v2] if protocols is None else protocols
        offered: set[ClientCapability] = {*_ALWAYS, *capabilities}
        if elicitation is not None:
            offered.add("elicitation.form")
        if any(version_of(each) == 1 for each in packages):
            offered |= files.capabilities if files else set()
            if terminals:
                offered.add("terminal")
        self.handshake = ClientHandshake(
            info=v1.Implementation(name=name, version=version, title=title)
            if title
            else v1.Implementation(name=name, version=version),
            protocols=packages,
            capabilities=offered,
            meta=meta,
        )
        """The content of `initialize`."""
        self._link = partial(
            AgentLink,
            permission=permission,
            files=files,
            terminals=terminals,
            elicitation=elicitation,
            on_update=on_update,
            patience=patience,
        )
        self._on_reconnect = on_reconnect

    @asynccontextmanager
    async def connect(
        self,
        agent: str | Sequence[str | os.PathLike[str]] | AbstractAsyncContextManager[Connection],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        stderr: Callable[[str], object] | None = None,
        trace: Trace | None = None,
        timeout: float | None = _TIMEOUT,
        reconnect: Reconnect | None = RECONNECT,
        **network: Unpack[NetworkOptions],
    ) -> AsyncGenerator[ConnectedAgent]:
        """Connect to an agent, negotiate the version, and close the connection at the end of the block.

        A connection to a URL that is lost is made again, and the open sessions are loaded again. Requests that were
        pending fail, and later ones wait for the new connection.

        Args:
            agent: the command of the agent, a list; its URL, with `http`, `https`, `ws` or `wss`; or a connection that
                is not open yet, such as `Connection(source, sink, protocol=OPENING, role="client")` or
                `connect_process(…, protocol=OPENING)`. Its handlers for other messages stay.
            cwd: for a command, the working directory of the process.
            env: for a command, environment variables to add. Their values are redacted in messages.
            stderr: for a command, called from a thread with each line of its standard error.
            trace: for a command or a URL, called with the sender and each line. Lines may contain secrets.
            timeout: seconds for the response to `initialize`; None to wait indefinitely.
            reconnect: for a URL, how a lost connection is made again; None to leave that to you.
            **network: for a URL, `headers`, `auth`, `verify`, `cert`, `proxy` and `trust_env`, as for
                `acp_bindings.remote.connect_url`.

        Raises:
            CannotStart: the command could not be started.
            Unreachable: the URL cannot be reached, or is not that of an agent.
            UnsupportedProtocolVersion: the agent does not support the versions of the client.
            RequestError: the agent responded to `initialize` with another error.
            TimedOut: it did not respond in time.
            ConnectionClosed: it has exited.
            TypeError: *agent* is not a command or a connection.
            ValueError: a string is not a URL, or the connection already has a protocol version.
        """
        if network and not isinstance(agent, str):
            raise TypeError(f"{', '.join(network)}: only for a URL")
        flavour: Flavour = "any"
        reach: Callable[[], AbstractAsyncContextManager[Connection]] | None = None
        opened: AbstractAsyncContextManager[Connection | None] = nullcontext()
        if isinstance(agent, AbstractAsyncContextManager):
            if any(each is not None for each in (cwd, env, stderr, trace)):
                raise TypeError("cwd, env, stderr and trace are for a command; pass them to the connection")
            opened = agent
        elif isinstance(agent, str):
            reach = _at_url(agent, cwd, env, stderr, trace=trace, network=network)
        else:
            flavour = HERE
            opened = connect_process(
                agent, protocol=OPENING, handlers=Handlers(), cwd=cwd, env=env, stderr=stderr, trace=trace
            )
        error: BaseException | None = None
        async with opened as connection, anyio.create_task_group() as tasks:
            link = self._link(tasks=tasks)
            tasks.start_soon(link.start_all)
            try:
                if reach is not None:
                    stay = partial(
                        stay_connected,
                        link,
                        reach,
                        self.handshake,
                        reconnect=reconnect,
                        on_reconnect=self._on_reconnect,
                        timeout=timeout,
                    )
                    await tasks.start(stay)
                elif connection is not None:
                    await link.open(connection, self.handshake, timeout=timeout)
                    link.online.set()
                try:
                    yield ConnectedAgent(link, flavour=flavour)
                finally:
                    await to_the_end(link.end_terminals)
            except BaseException as caught:  # noqa: BLE001 - the task group would wrap it
                error = caught
            tasks.cancel_scope.cancel()
            if link.reconnects:
                # Requests of other tasks may be waiting for the next connection.
                link.give_up(ConnectionClosed("the connection was closed"))
        if error is not None:
            raise error


def _at_url(
    url: str, *for_commands: object, trace: Trace | None, network: NetworkOptions
) -> Callable[[], AbstractAsyncContextManager[Connection]]:
    """Return a function that connects to a URL, with the same handlers each time."""
    if "://" not in url:
        raise ValueError(f"{url!r} is not a URL; pass a command as a list")
    from acp_bindings.remote import connect_url  # noqa: PLC0415 - only remote agents need it

    if any(each is not None for each in for_commands):
        raise TypeError("cwd, env and stderr are for a command")
    return partial(connect_url, url, protocol=OPENING, handlers=Handlers(), trace=trace, **network)
