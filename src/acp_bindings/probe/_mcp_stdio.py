"""The MCP server that agents start over stdio. It tells the probe on a socket what it sees."""

import json
import os
import socket
import sys
from typing import Any, cast


def main() -> None:
    """Serve MCP on the standard streams: `python _mcp_stdio.py PORT NAME ARGUMENT…`."""
    port, name, *arguments = sys.argv[1:]
    receipts = socket.create_connection(("127.0.0.1", int(port))).makefile("w", encoding="utf-8")

    def tell(event: str, **facts: object) -> None:
        receipts.write(json.dumps({"server": name, "event": event, **facts}) + "\n")
        receipts.flush()

    tell("started", pid=os.getpid(), word=os.environ.get("PROBE_WORD"), args=arguments)
    for line in sys.stdin:
        event, response = answer(line)
        if event:
            tell(event)
        if response:
            sys.stdout.write(json.dumps(response) + "\n")
            sys.stdout.flush()


def answer(text: str | bytes) -> tuple[str | None, dict[str, Any] | None]:
    """Return the event for the probe and the response to a message of an MCP client."""
    try:
        message: Any = json.loads(text)
    except ValueError:
        return None, {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}
    if not isinstance(message, dict):
        return None, {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Invalid Request"}}
    message = cast("dict[str, Any]", message)
    method: Any = message.get("method")
    params: Any = message.get("params")
    params = cast("dict[str, Any]", params) if isinstance(params, dict) else {}
    if "id" not in message or method is None:
        return None, None
    event: str | None = None
    result: dict[str, Any] | None = None
    if method == "initialize":
        event = "initialized"
        result = {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "acp-bindings-probe", "version": "1"},
        }
    elif method == "ping":
        result = {}
    elif method == "tools/list":
        schema: dict[str, Any] = {"type": "object", "properties": {}}
        tool = {"name": "probe_word", "description": "Returns the word of the probe.", "inputSchema": schema}
        event, result = "listed", {"tools": [tool]}
    elif method == "tools/call":
        event, result = "called", {"content": [{"type": "text", "text": "pelican"}]}
    outcome = {"error": {"code": -32601, "message": "Method not found"}} if result is None else {"result": result}
    return event, {"jsonrpc": "2.0", "id": message["id"], **outcome}


if __name__ == "__main__":
    main()
