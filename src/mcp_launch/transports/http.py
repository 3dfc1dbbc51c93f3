"""MCP over Streamable HTTP: the SDK's transport on an HTTP client of ours, which knows why it failed."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client

from mcp_launch.budgets import Budgets
from mcp_launch.failures import Stage
from mcp_launch.specs import HttpServer
from mcp_launch.transports import Diagnosis
from mcp_launch.transports.web import EVENT_STREAM, WebClient, media_type, speaks_tls

if TYPE_CHECKING:
    from mcp.client import Transport as Streams

__all__ = ["HttpTransport"]

_TRIAL = 2.0
"""Seconds for finding out whether the server speaks the other transport."""
_DOUBTFUL = ("method_not_allowed", "not_found", "http_error", "not_mcp")
"""Failures after which that is worth a question."""


class HttpTransport:
    """The streams over the requests of one client."""

    def __init__(self, spec: HttpServer, *, budgets: Budgets) -> None:
        self.warnings: list[str] = []
        self._spec = spec
        self._client = WebClient(spec, connect=budgets.connect)

    def prove(self) -> None:
        """Say that the session is initialised: a request that cannot be sent then costs that request only."""
        self._client.survives = True

    def open(self) -> Streams:
        """A block in which requests can be sent; at its end the session and all sockets are closed."""
        return self._opened()

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[Any]:
        self.warnings += refused_headers(self._client)
        async with self._client, streamable_http_client(self._spec.url, http_client=self._client) as streams:
            yield streams

    async def diagnose(self, *, waited: float | None, answered: bool) -> Diagnosis | None:  # noqa: PLR0911 - a list of cases
        """Why the requests failed; None when each got an answer of MCP."""
        client = self._client
        stage = None if self._client.survives else "connect"
        if client.trouble is not None:
            return await hung_up(client.trouble, self._spec, stage=stage)
        answer = client.answer
        if answer is None:
            if waited is None:
                return None
            return Diagnosis(
                "timeout", f"accepted the connection, but did not answer within {waited:.1f} s", stage=stage
            )
        found = client.diagnosis()
        if found is not None:
            found = replace(found, stage=stage)
            if found.code in _DOUBTFUL and not self._client.survives and await self._speaks_sse():
                message = 'this URL speaks the deprecated SSE transport: set "type" to "sse"'
                return replace(found, code="wrong_transport", message=message)
            return found
        if waited is not None:
            return Diagnosis("timeout", f"did not answer within {waited:.1f} s", answer.facts)
        if answer.media_type == EVENT_STREAM and not answered:
            return Diagnosis("not_mcp", "its event stream ended without an answer", answer.facts)
        return None

    async def _speaks_sse(self) -> bool:
        """Whether a GET is answered with the event that begins an SSE session."""
        found = False
        with anyio.move_on_after(_TRIAL) as scope:
            try:
                async with (
                    WebClient(self._spec, connect=_TRIAL) as client,
                    client.stream("GET", self._spec.url, headers={"accept": EVENT_STREAM}) as response,
                ):
                    if not response.is_success or media_type(response) != EVENT_STREAM:
                        return False
                    async for event in httpx2.EventSource(response):
                        found = event.event == "endpoint"
                        # Not a break, which would leave httpx's generators unfinished for the garbage collector.
                        scope.cancel()
            except httpx2.HTTPError:
                return False
        return found


async def hung_up(trouble: Diagnosis, spec: HttpServer, *, stage: Stage | None) -> Diagnosis:
    """Why nothing came back; a port that hangs up on http:// may be one for https://."""
    url = httpx2.URL(spec.url)
    if trouble.code == "disconnected" and stage == "connect" and url.scheme == "http" and await speaks_tls(url):
        message = f"{url.host}:{url.port or 80} speaks TLS; use https://"
        return replace(trouble, code="tls", message=message, stage=stage)
    return replace(trouble, stage=stage)


def refused_headers(client: WebClient) -> list[str]:
    """Warnings about the headers that the transport writes itself."""
    return [f'its header "{name}" was not sent: the transport writes that one' for name in client.refused]


def initialize_request() -> bytes:
    """The smallest request that an MCP server answers, for finding out whether one is there."""
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "mcp-launch", "version": "0"}}
    return json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).encode()
