"""An agent that opens the MCP servers of each session, lists their tools, calls the first one, and reports nothing."""

import contextlib
import json
import os
import sys
import warnings
from typing import Any

import anyio
import anyio.to_thread
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


async def use(entry: dict[str, Any]) -> None:
    with contextlib.suppress(BaseException), anyio.move_on_after(5):
        async with Client(transport_of(entry), mode="legacy") as client:
            listed = await client.list_tools()
            await client.call_tool(listed.tools[0].name if listed.tools else "any", {})


def transport_of(entry: dict[str, Any]) -> Any:
    if "command" in entry:
        env = {**os.environ, **{each["name"]: each["value"] for each in entry["env"]}}
        return stdio_client(
            StdioServerParameters(command=entry["command"], args=entry["args"], env=env), errlog=sys.stderr
        )
    assert entry["headers"] == []
    return sse_client(entry["url"]) if entry["type"] == "sse" else streamable_http_client(entry["url"])


async def answer(message: dict[str, Any]) -> dict[str, Any]:
    if message["method"] == "initialize":
        return {"protocolVersion": 1, "agentCapabilities": {"mcpCapabilities": {"http": True, "sse": True}}}
    for entry in message.get("params", {}).get("mcpServers", []):
        await use(entry)
    return {"sessionId": f"session {message['id']}"}


async def main() -> None:
    while line := await anyio.to_thread.run_sync(sys.stdin.readline):
        message = json.loads(line)
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": await answer(message)}), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - to the end
    anyio.run(main)
