"""One server of a fleet, as users see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio.lowlevel

from mcp_launch._servers.record import Record
from mcp_launch.failures import LaunchFailure
from mcp_launch.report import State, TransportName

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import Prompt, Resource, ResourceTemplate, Tool


class LaunchedServer:
    """One server of a fleet: its session, or its failure."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def __repr__(self) -> str:
        return f"<LaunchedServer {self.name!r} {self.state}>"

    @property
    def name(self) -> str:
        """Its name in the request, or its position there if it has none."""
        return self._record.name

    @property
    def transport(self) -> TransportName | None:
        """`stdio`, `http` or `sse`; for an entry that did not parse, the one most likely meant, or None."""
        return self._record.transport

    @property
    def state(self) -> State:
        """`starting`, `ready`, `failed` or `closed`."""
        return self._record.state

    @property
    def session(self) -> Client:
        """The live session: the SDK's own `mcp.Client`.

        Raises:
            LaunchFailure: it has no session; the same as `failure` if it failed.
        """
        if self._record.client is not None:
            return self._record.client
        if self._record.failure is not None:
            # Without the traceback of earlier raises.
            raise self._record.failure.with_traceback(None)
        match self.state:
            case "starting":
                message = "has no session yet because it is starting; try again later, or `await server.ready()`"
            case "ready" if self._record.wanted:
                message = "has lost its session; try again later, or `await server.ready()`"
            case "ready":
                message = "has no session any more because it is closing"
            case state:
                message = f"has no session because it is {state}"
        raise LaunchFailure(message, server=self.name, stage=self._record.stage, code="failed")

    async def settled(self) -> None:
        """Wait until it is ready or has failed; after a restart, wait for that again."""
        await anyio.lowlevel.checkpoint()
        # In a loop, because it may change before this task runs again.
        while not self._record.settled.is_set():
            await self._record.settled.wait()

    async def ready(self) -> Client:
        """Wait for the live session of a server that is starting or restarting, and return it.

        Raises:
            LaunchFailure: the server failed and is not restarted, or it was closed.
        """
        await self.settled()
        while self._record.client is None and (again := self._record.again) is not None and not again.is_set():
            await again.wait()
            await self.settled()
        return self.session

    @property
    def failure(self) -> LaunchFailure | None:
        """The failure, or None. A server that dies later gets its failure then."""
        return self._record.failure

    @property
    def restarts(self) -> int:
        """The number of restarts after it died."""
        return self._record.restarts

    @property
    def tools(self) -> list[Tool]:
        """Its tools as last listed; empty if they were not listed."""
        return list(self._record.offer.tools or ())

    @property
    def resources(self) -> list[Resource]:
        """Its resources as last listed; empty if they were not listed."""
        return list(self._record.offer.resources or ())

    @property
    def resource_templates(self) -> list[ResourceTemplate]:
        """Its resource templates as last listed; empty if they were not listed."""
        return list(self._record.offer.resource_templates or ())

    @property
    def prompts(self) -> list[Prompt]:
        """Its prompts as last listed; empty if they were not listed."""
        return list(self._record.offer.prompts or ())

    def redact(self, value: Any) -> Any:
        """Return a JSON value without the secrets of this server, such as its schemas before they are shown."""
        spec = self._record.spec
        return spec.redactor.json(value) if spec else value

    @property
    def protocol_version(self) -> str | None:
        """The negotiated version of MCP."""
        return self._record.protocol_version

    @property
    def capabilities(self) -> dict[str, Any] | None:
        """Its capabilities: `ServerCapabilities` of MCP as JSON."""
        return self._record.capabilities

    @property
    def warnings(self) -> list[str]:
        """Problems that do not stop the server."""
        return list(self._record.warnings)
