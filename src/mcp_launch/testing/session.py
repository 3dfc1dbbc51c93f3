"""A live session for plain tests: the methods of the SDK's `mcp.Client`, each of which blocks until it is answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial, update_wrapper
from typing import Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from anyio.from_thread import BlockingPortal
from mcp import Client

__all__ = ["McpSession"]

P = ParamSpec("P")
T = TypeVar("T")


class _Blocking(Generic[P, T]):
    """A method of the client that blocks until its result is there, with the same arguments and result."""

    def __init__(self, method: Callable[Concatenate[Client, P], Awaitable[T]]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, session: None, owner: type[McpSession]) -> Self: ...
    @overload
    def __get__(self, session: McpSession, owner: type[McpSession]) -> Callable[P, T]: ...
    def __get__(self, session: McpSession | None, owner: type[McpSession]) -> Self | Callable[P, T]:
        if session is None:
            return self

        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            __tracebackhide__ = True
            return session.run(partial(self._method, session.client, *args, **kwargs))

        return update_wrapper(call, self._method)


class McpSession:
    """A session whose server runs beside the test; it ends with the fixture that it came from."""

    def __init__(self, client: Client, portal: BlockingPortal) -> None:
        self._portal = portal
        self.client = client
        """The SDK's own client, for what it knows of the server: `server_info`, `server_capabilities`, …"""

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
        """Run an async function that uses `client`, such as for several calls at once, and return its result."""
        __tracebackhide__ = True
        return self._portal.call(function)
