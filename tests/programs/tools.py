"""An MCP server over stdio, without the SDK, that returns a variable of its environment, or never responds."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("environment", "wait")]


def result(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method, params.get("name"):
        case "initialize", _:
            server = {"name": "tools", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list", _:
            return {"tools": TOOLS}
        case "tools/call", "environment":
            return {"content": [{"type": "text", "text": os.environ[params["arguments"]["name"]]}]}
        case _:
            return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or message.get("params", {}).get("name") == "wait":
        continue
    answer = result(message["method"], message.get("params", {}))
    outcome = {"error": {"code": -32601, "message": "Method not found"}} if answer is None else {"result": answer}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)
