"""Create the SDK's client for a server, over connected streams or in memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack, nullcontext
from functools import cache
from typing import Any

from mcp import Client, ClientSession, MCPError
from mcp.client import Transport
from mcp.server import MCPServer, Server
from mcp_types import CONNECTION_CLOSED, Implementation

from acp_bindings._standard_streams import version
from mcp_launch._servers.sdk_session import Protection, protected
from mcp_launch._transports.messages import Reader
from mcp_launch.failures import LaunchFailure
from mcp_launch.options import Limits, Options


def connected_client(
    streams: tuple[Any, Any],
    options: Options,
    *,
    patience: float,
    reader: Reader | None = None,
    protection: Protection,
    why: Callable[[], LaunchFailure | None] = lambda: None,
) -> Client:
    """Return a client for connected streams, whose block initializes a session; `patience` as in `client_of`.

    `reader` reads the messages of the server. After the session has ended, `why` returns the failure of the server.
    """
    client = client_of(nullcontext(streams), options, patience=patience)
    client.reader, client.protection, client.why = reader, protection, why
    return client


def reader_of(client: Client) -> Reader:
    """Return the reader of the client's messages, or an unused one if the SDK reads them itself."""
    reader = client.reader if isinstance(client, _Client) else None
    return reader or Reader(Limits())


def client_of(server: MCPServer[Any] | Server[Any] | Transport, options: Options, *, patience: float) -> _Client:
    """Return a client for a server of this process or a transport; `patience` is the timeout of requests in seconds."""
    client = _Client(
        server,
        mode=options.mode,
        read_timeout_seconds=patience,
        client_info=_client_info(),
        sampling_callback=options.sampling,
        sampling_capabilities=options.sampling_capabilities,
        elicitation_callback=options.elicitation,
        list_roots_callback=options.roots,
        logging_callback=options.logging,
        # Without a level, servers of MCP 2026-07-28 send no log messages.
        log_level=options.log_level or ("debug" if options.logging else None),
        message_handler=options.message,
        # A list that is requested again is the current one.
        cache=None,
    )
    client.protection = Protection()
    return client


class _Client(Client):
    """The SDK's client with a `Session`, whose requests to a dead server fail with its failure."""

    reader: Reader | None = None
    why: Callable[[], LaunchFailure | None] = staticmethod(lambda: None)
    protection: Protection

    async def _build_session(self, exit_stack: AsyncExitStack) -> ClientSession:
        return protected(await super()._build_session(exit_stack), self.protection)

    async def __aexit__(self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: Any) -> None:
        try:
            await super().__aexit__(exc_type, exc_val, exc_tb)
        finally:
            if self.protection.process:
                await self.protection.process.aclose()

    @property
    def session(self) -> ClientSession:
        """The session, as the SDK has it."""
        try:
            return super().session
        except RuntimeError:
            if (failure := self.why()) is None:
                raise
            data = {"code": failure.code, **failure.facts}
            raise MCPError(code=CONNECTION_CLOSED, message=failure.message, data=data) from None


@cache
def _client_info() -> Implementation:
    """Return the name and version that are sent to servers."""
    return Implementation(name="mcp-launch", version=version())
