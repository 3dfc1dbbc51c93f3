"""A small MCP server over stdio. Its only tool has the name in its first argument and returns its input."""

import json
import sys
from typing import Any


def main() -> None:
    """Serve."""
    for line in sys.stdin:
        message: dict[str, Any] = json.loads(line)
        if "id" in message:
            answer = result(message["method"], message.get("params"))
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)


def result(method: str, params: Any) -> dict[str, Any]:
    """Return the result or the error of a request."""
    match method:
        case "initialize":
            info = {"name": "named", "version": "1"}
            return {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}}
        case "tools/list":
            return {"result": {"tools": [{"name": sys.argv[1], "inputSchema": {"type": "object"}}]}}
        case "tools/call":
            told = {name: params[name] for name in ("name", "arguments")}
            return {"result": {"content": [{"type": "text", "text": json.dumps(told)}]}}
        case _:
            return {"error": {"code": -32601, "message": "Method not found"}}


if __name__ == "__main__":
    main()
