"""A small MCP server over stdio, without the SDK, that sends the lines of a file when the tool `any` is called.

`sends.py METHOD FILE` sends them in response to that method; `$ID` in a line is the id of the request.
"""

import json
import sys
from typing import Any


def plain(asked: dict[str, Any]) -> bytes:
    """Return the response of a server with one tool."""
    results: dict[str, Any] = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": "sends", "version": "1"},
        },
        "tools/list": {"tools": [{"name": "any", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": "done"}]},
    }
    if (result := results.get(asked["method"])) is not None:
        return json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode()
    error = {"code": -32601, "message": "Method not found"}
    return json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}).encode()


def answers(asked: dict[str, Any], method: str, lines: list[bytes]) -> list[bytes]:
    """Return the lines to send for this request."""
    if "id" not in asked or "method" not in asked:
        return []
    is_meant = asked["method"] == method and asked.get("params", {}).get("name", "any") == "any"
    number = json.dumps(asked["id"]).encode()
    return [line.replace(b"$ID", number) for line in lines] if is_meant else [plain(asked)]


if __name__ == "__main__":
    with open(sys.argv[2], "rb") as file:
        given = file.read().splitlines()
    for line in sys.stdin:
        for each in answers(json.loads(line), sys.argv[1], given):
            sys.stdout.buffer.write(each + b"\n")
        sys.stdout.buffer.flush()
