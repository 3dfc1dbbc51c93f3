"""An MCP server with tools for the tests of the example agent. It starts quickly because it does not use the SDK."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

TOOLS = {
    "where": "The directory that it runs in.",
    "pid": "Which process it is.",
    "refuse": "An error.",
    "stay": "Write a file to say that it has begun, and never answer.",
}


def main() -> None:
    """Serve until standard input ends."""
    for line in sys.stdin:
        message: dict[str, Any] = json.loads(line)
        if "id" in message and (reply := answer(message["method"], message.get("params") or {})):
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result or the error of a request; None to send no response."""
    match method:
        case "initialize":
            info = {"name": "tools", "version": "1"}
            return result(protocolVersion="2025-06-18", capabilities={"tools": {}}, serverInfo=info)
        case "tools/list":
            schema = {"type": "object"}
            return result(tools=[{"name": n, "description": d, "inputSchema": schema} for n, d in TOOLS.items()])
        case "tools/call" if params["name"] == "refuse":
            return {"error": {"code": -32603, "message": "out of order"}}
        case "tools/call":
            said = call(params["name"], params.get("arguments") or {})
            return said and result(content=[{"type": "text", "text": said}])
        case _:
            return {"error": {"code": -32601, "message": "Method not found"}}


def call(tool: str, arguments: dict[str, Any]) -> Any:
    """Return the result of a tool; None to send no response."""
    match tool:
        case "where":
            return os.getcwd()
        case "pid":
            return str(os.getpid())
        case "stay":
            return Path(arguments["path"]).touch()
        case _:
            raise ValueError(tool)


def result(**members: Any) -> dict[str, Any]:
    """Return a response with a result."""
    return {"result": members}


if __name__ == "__main__":
    main()
