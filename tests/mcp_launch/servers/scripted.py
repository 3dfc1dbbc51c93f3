"""A small MCP server over stdio, without the SDK, whose tools and responses are the JSON of its first argument.

The argument is the path of a file with an object. `tools` are the listed tools. Every other key is a method or the name
of a tool, with the `result` or `error` to send.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

SCRIPT: dict[str, Any] = json.loads(
    Path(sys.argv[1]).read_text(encoding="utf-8").replace("$SECRET", os.environ.get("SECRET", ""))
)


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result or error for a request."""
    if method == "initialize":
        capabilities: dict[str, Any] = {"tools": {}, **{key.partition("/")[0]: {} for key in SCRIPT if "/" in key}}
        info = {"name": "scripted", "version": "1"}
        return {"result": {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}}
    if method == "tools/list" and "tools/list" not in SCRIPT:
        return {"result": {"tools": SCRIPT.get("tools", [])}}
    key = params["name"] if method == "tools/call" and params["name"] in SCRIPT else method
    return SCRIPT.get(key, {"error": {"code": -32601, "message": f"no {method}"}})


for line in sys.stdin:
    message: dict[str, Any] = json.loads(line)
    if "id" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"], **answer(message["method"], message.get("params") or {})}
        sys.stdout.write(f"{json.dumps(reply)}\n")
        sys.stdout.flush()
