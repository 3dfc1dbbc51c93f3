"""The fixture `mcp_server`, and the sessions that it opens for synchronous tests."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import replace
from functools import partial, update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

import anyio
import pytest
from anyio.from_thread import BlockingPortal
from mcp import Client
from mcp.server import MCPServer, Server
from pydantic import BaseModel

from mcp_launch._command.find_servers import inputs_of, read_file
from mcp_launch._servers.client import client_of
from mcp_launch._servers.life import import_sdk
from mcp_launch.config._entries import Config, Entry
from mcp_launch.failures import LaunchError, UnknownServer, UnusableInput
from mcp_launch.logins import StoredLogins
from mcp_launch.options import Budgets, Options
from mcp_launch.session import open_session
from mcp_launch.testing import _settings as settings
from mcp_launch.testing._loop import Kept, held, portal_of

P = ParamSpec("P")
T = TypeVar("T")


class _Blocking(Generic[P, T]):
    """A method of the client that blocks until its result arrives."""

    def __init__(self, method: Callable[Concatenate[Client, P], Awaitable[T]]) -> None:
        self._method = method

    def __get__(self, session: McpSession, owner: type[McpSession]) -> Callable[P, T]:
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            __tracebackhide__ = True
            return session.run(partial(self._method, session.client, *args, **kwargs))

        return update_wrapper(call, self._method)


class McpSession:
    """A session for synchronous tests, with blocking versions of the methods of `mcp.Client`.

    The fixture that opened it closes it.
    """

    def __init__(self, client: Client, portal: BlockingPortal) -> None:
        self._portal = portal
        self.client = client
        """The SDK's client, for example for `server_info` and `server_capabilities`."""

    call_tool = _Blocking(Client.call_tool)
    list_tools = _Blocking(Client.list_tools)
    list_resources = _Blocking(Client.list_resources)
    list_resource_templates = _Blocking(Client.list_resource_templates)
    read_resource = _Blocking(Client.read_resource)
    list_prompts = _Blocking(Client.list_prompts)
    get_prompt = _Blocking(Client.get_prompt)
    complete = _Blocking(Client.complete)

    def __repr__(self) -> str:
        return f"<McpSession with {self.client.server_info}>"

    def run(self, function: Callable[[], Awaitable[T]]) -> T:
        """Run an async function that uses `client`, for example for concurrent calls, and return its result."""
        __tracebackhide__ = True
        return self._portal.call(function)


class McpServerFixture:
    """Starts servers for tests, and closes them when the scope of the fixture ends.

    Every call starts a new server. Pass its name in the config file, a `command`, an `McpServer` as JSON or as a model,
    or a server object of the SDK, which then runs in this process.
    """

    def __init__(self, config: pytest.Config) -> None:
        # Here and not in the thread of the first server: a thread that Ctrl-C interrupts while it starts never ends.
        import_sdk()
        self._config = config
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def __call__(
        self,
        server: str | Mapping[str, Any] | BaseModel | MCPServer[Any] | Server[Any] | None = None,
        *,
        command: Sequence[str | os.PathLike[str]] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        timeout: float | None = None,
        options: Options | None = None,
    ) -> McpSession:
        """Start a server and return a session for synchronous tests.

        Args:
            server: a name in the config file, an `McpServer`, or a server object.
            command: a program to start instead, with its arguments.
            env: variables for the command, in addition to the few that it inherits.
            cwd: its working directory, relative to pytest's root directory.
            timeout: seconds until the server must be ready and until it must respond, instead of `--mcp-timeout`.
            options: further options, such as callbacks.

        Raises:
            LaunchFailure: the server cannot be used; `.code` and `.stage` say why.
            UnknownServer: the config file has no server with this name.
            UnusableInput: no server is specified, or an event loop is running here: use `open`.
        """
        __tracebackhide__ = True
        block = self.open(server, command=command, env=env, cwd=cwd, timeout=timeout, options=options)
        if _in_event_loop():
            raise UnusableInput(
                "mcp_server(…) blocks, which an event loop cannot do; use: async with mcp_server.open(…) as session"
            )
        portal = portal_of(self._config)
        try:
            client = self._open.enter_context(held(portal, block))
        except LaunchError as error:
            # The message says what is wrong; a traceback through a thread and the SDK would not help.
            raise error.with_traceback(None) from None
        return McpSession(client, portal)

    def open(
        self,
        server: str | Mapping[str, Any] | BaseModel | MCPServer[Any] | Server[Any] | None = None,
        *,
        command: Sequence[str | os.PathLike[str]] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        timeout: float | None = None,
        options: Options | None = None,
    ) -> AbstractAsyncContextManager[Client]:
        """Return a context manager for async tests, which starts a server and yields an `mcp.Client`.

        It runs in the event loop of the test. It may be exited in another task than it was entered in, so that async
        fixtures can use it under any plugin. Arguments and exceptions are those of calling the fixture.

        Raises:
            UnknownServer: the config file has no server with this name.
            UnusableInput: no server is specified.
        """
        if (server is None) == (command is None) or (env is not None and command is None):
            raise UnusableInput("pass the name of a server, command=[…] (and env={…}), or a server object")
        seconds = settings.timeout(self._config) if timeout is None else timeout
        if isinstance(server, MCPServer | Server):
            return Kept(client_of(server, options or Options(), patience=seconds))
        entry: object = server
        named: list[str | None] = []
        if command is not None:
            entry = _entry(command, env or {})
        elif isinstance(server, str):
            found, config = self._entry_named(server)
            entry, named = found.server, [config.cwd, found.cwd]
            own = options or Options()
            options = replace(
                own,
                secrets=[*own.secrets, *found.secrets],
                phrases=config.phrases,
                auth=own.auth or StoredLogins(),
            )
        block = open_session(
            entry,
            cwd=os.path.join(settings.directory(self._config, *named), cwd or ""),
            timeout=seconds,
            # The same for each stage: a test only cares about the total.
            budgets=Budgets(connect=seconds, handshake=seconds, list=seconds, call=seconds),
            options=options,
        )
        return Kept(block)

    def _entry_named(self, name: str) -> tuple[Entry, Config]:
        """Return the entry with this name, and its file."""
        path = settings.config_file(self._config)
        if path is None:
            raise UnusableInput(
                f'no config file to find "{name}" in: pass --mcp-config FILE or set mcp_config in the ini-file'
            )
        inputs = inputs_of(self._config.getoption("mcp_set") or (), option="--mcp-set")
        config = read_file(str(path), inputs=inputs)
        named = next((entry for entry in config.entries if entry.name == name), None)
        if named is None:
            raise UnknownServer(name, [entry.name for entry in config.entries])
        # A disabled server too, because the test requests it by name.
        return named, config


def _entry(command: Sequence[str | os.PathLike[str]], env: Mapping[str, str]) -> dict[str, Any]:
    if isinstance(command, str) or not command:
        raise UnusableInput(f"command must be a list of the program and its arguments, not {command!r}")
    program, *arguments = [os.fspath(each) for each in command]
    return {
        "name": os.path.basename(program),
        "command": program,
        "args": arguments,
        "env": [{"name": name, "value": value} for name, value in env.items()],
    }


def _in_event_loop() -> bool:
    try:
        anyio.get_current_task()
    except RuntimeError:
        return False
    return True
