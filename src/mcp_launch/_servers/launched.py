"""One server of a fleet, as those see it who use it."""

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
    """One server of a fleet: its session, or why it has none."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def __repr__(self) -> str:
        return f"<LaunchedServer {self.name!r} {self.state}>"

    @property
    def name(self) -> str:
        """Its name in the request, or its place there when it has none."""
        return self._record.name

    @property
    def transport(self) -> TransportName | None:
        """`stdio`, `http` or `sse`; of an entry that did not parse the one that was meant, None if nothing tells."""
        return self._record.transport

    @property
    def state(self) -> State:
        """`starting`, `ready`, `failed` or `closed`."""
        return self._record.state

    @property
    def session(self) -> Client:
        """The live session: the SDK's own `mcp.Client`.

        Raises:
            LaunchFailure: it has none; the same as `failure`, if that is why.
        """
        if self._record.client is not None:
            return self._record.client
        if self._record.failure is not None:
            # Without what earlier raises left on it.
            raise self._record.failure.with_traceback(None)
        match self.state:
            case "starting":
                message = "has no session, it is starting; `await server.ready()` waits for it"
            case "ready":
                message = "has no session any more, and is being closed; whether it failed is known then"
            case state:
                message = f"has no session, it is {state}"
        raise LaunchFailure(message, server=self.name, stage=self._record.stage, code="failed")

    async def settled(self) -> None:
        """Wait until it is ready or has failed; one that is started again begins anew with that."""
        await anyio.lowlevel.checkpoint()
        # Again, because it may have changed until we are woken.
        while not self._record.settled.is_set():
            await self._record.settled.wait()

    async def ready(self) -> Client:
        """The live session, as soon as there is one: for servers that are starting, or will be started again.

        Raises:
            LaunchFailure: the server failed and is not, or no longer, started again; or it was closed.
        """
        await self.settled()
        while self._record.client is None and (again := self._record.again) is not None and not again.is_set():
            await again.wait()
            await self.settled()
        return self.session

    @property
    def failure(self) -> LaunchFailure | None:
        """Why it cannot be used, or None. A server that dies later gets its failure then."""
        return self._record.failure

    @property
    def restarts(self) -> int:
        """How often it was started again after it had died."""
        return self._record.restarts

    @property
    def tools(self) -> list[Tool]:
        """Its tools as last listed; empty when they never were."""
        return list(self._record.offer.tools or ())

    @property
    def resources(self) -> list[Resource]:
        """Its resources as last listed; empty when they never were."""
        return list(self._record.offer.resources or ())

    @property
    def resource_templates(self) -> list[ResourceTemplate]:
        """Its templates of resources as last listed; empty when they never were."""
        return list(self._record.offer.resource_templates or ())

    @property
    def prompts(self) -> list[Prompt]:
        """Its prompts as last listed; empty when they never were."""
        return list(self._record.offer.prompts or ())

    @property
    def protocol_version(self) -> str | None:
        """The version of MCP that is spoken with it."""
        return self._record.protocol_version

    @property
    def capabilities(self) -> dict[str, Any] | None:
        """What it says that it can do: `ServerCapabilities` of MCP as JSON."""
        return self._record.capabilities

    @property
    def warnings(self) -> list[str]:
        """What the user should know although it works."""
        return list(self._record.warnings)
