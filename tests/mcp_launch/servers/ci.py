"""A small MCP server over stdio, without the SDK, that writes commands for CI runners in every text that it sends.

`ci.py fails` writes them to standard error and exits.
"""

import json
import sys
from typing import Any

GITHUB = "::error file=app.py::owned"
OLD = "##[error]owned"
SAID = f"{GITHUB}\n  {GITHUB}\r\u00a0{GITHUB}\nsaid {OLD}\n##vso[task.setvariable variable=a]b ##teamcity[buildStop]"
TEXT = {"type": "text", "text": SAID}
SCHEMA = {"type": "object", "properties": {"::group::a": {"type": "string", "description": SAID}}}
ANSWERS: dict[str, Any] = {
    "tools/list": {
        "tools": [{"name": name, "description": SAID, "inputSchema": SCHEMA} for name in ("say", "fail", GITHUB)]
    },
    "resources/list": {"resources": [{"uri": "memo://a", "name": SAID, "description": SAID}]},
    "prompts/list": {"prompts": [{"name": OLD, "description": SAID, "arguments": [{"name": GITHUB}]}]},
    "resources/read": {"contents": [{"uri": "memo://a", "text": SAID}]},
    "prompts/get": {"messages": [{"role": "user", "content": TEXT}]},
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the member of the response to a request."""
    if method == "initialize":
        offers: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}, "logging": {}}
        info = {"name": SAID, "version": SAID}
        return {"result": {"protocolVersion": "2025-06-18", "capabilities": offers, "serverInfo": info}}
    if method == "tools/call":
        write({"method": "notifications/message", "params": {"level": "error", "data": SAID}})
        if params["name"] == GITHUB:
            return {"error": {"code": -32000, "message": SAID}}
        return {"result": {"content": [TEXT], "isError": params["name"] == "fail"}}
    if method in ANSWERS:
        return {"result": ANSWERS[method]}
    return {"error": {"code": -32601, "message": SAID}}


def write(message: dict[str, Any]) -> None:
    """Send a message."""
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def main() -> None:
    """Answer until standard input ends."""
    print(SAID, file=sys.stderr, flush=True)
    if sys.argv[1:] == ["fails"]:
        sys.exit(3)
    print(SAID.replace("\n", " "), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            write({"id": request["id"], **answer(request["method"], request.get("params", {}))})


if __name__ == "__main__":
    main()
