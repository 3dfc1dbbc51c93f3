"""The client for the scenarios, with our session or, as package `mcp`, only the SDK's client.

Both list the tools of every server and call each tool. `client.py SOCKET` forks for each scenario that `relay.py`
requests at the socket, because the imports take longer than a scenario.
"""

from __future__ import annotations

import json
import os
import signal
import socketserver
import sys
import traceback
from pathlib import Path
from typing import Any

import anyio
import httpx2
from login import login
from mcp import Client
from mcp.client.context import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult

import mcp_launch

ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}}

LISTEN_FIRST = {"sse-retry"}
"""Scenarios whose server takes the first GET after a call for the reconnection.

That GET may instead be the one that opens the session's stream. It is sent in the background, so on a busy machine a
call may be faster.
"""
SECONDS_TO_LISTEN = 1
PATIENCE = 60
"""Timeout in seconds for a scenario that its server has abandoned."""


class Play(socketserver.StreamRequestHandler):
    """Plays one scenario in a process of its own, and responds with `ok` or a traceback."""

    def handle(self) -> None:
        signal.alarm(PATIENCE)
        environment, package, backend, url = json.loads(self.rfile.readline())
        os.environ.update(environment)
        try:
            anyio.run(main, package, url, backend=backend)
            self.wfile.write(b"ok")
        except Exception:  # noqa: BLE001 - relay.py fails with it
            self.wfile.write(traceback.format_exc().encode())


class Clients(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    """Forks for each connection."""


async def main(package: str, url: str) -> None:
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    context: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    auth = await login(scenario, url, context)
    if package == "mcp_launch":
        server: dict[str, Any] = {"type": "http", "name": scenario, "url": url, "headers": []}
        options = mcp_launch.Options(elicitation=accept_the_defaults, auth=auth)
        async with mcp_launch.open_session(server, cwd=Path.cwd(), options=options) as session:
            await use(session, scenario)
    else:
        async with httpx2.AsyncClient(auth=auth) as http:
            streams = streamable_http_client(url, http_client=http)
            async with Client(streams, elicitation_callback=accept_the_defaults) as session:
                await use(session, scenario)


async def use(session: Client, scenario: str) -> None:
    if scenario in LISTEN_FIRST:
        await anyio.sleep(SECONDS_TO_LISTEN)
    for tool in (await session.list_tools()).tools:
        await session.call_tool(tool.name, ARGUMENTS.get(tool.name, {}))


async def accept_the_defaults(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    assert isinstance(params, ElicitRequestFormParams)
    fields: dict[str, dict[str, Any]] = params.requested_schema["properties"]
    chosen = {name: field["default"] for name, field in fields.items() if "default" in field}
    return ElicitResult(action="accept", content=chosen)


if __name__ == "__main__":
    for each in ("asyncio", "trio"):
        anyio.run(anyio.sleep, 0, backend=each)  # imports it
    with Clients(sys.argv[1], Play) as clients:
        print("ready", flush=True)
        clients.serve_forever()
