"""An agent without any library that misbehaves in the way that its first argument names."""

from __future__ import annotations

import json
import sys
from typing import Any

MODE = sys.argv[1]
SPEAKS_V2 = MODE in ("dies_in_a_turn", "says_idle_twice")
REFUSALS: dict[str, Any] = {
    "wants_login": {"code": -32000, "message": "Authentication required"},
    "has_no_model": {"code": -32603, "message": "Internal error", "data": {"details": "no model is set"}},
}
"""The response to `session/new` in each mode."""


def main() -> None:
    """Respond to each line of the input."""
    if MODE == "leaves":
        sys.exit("odd: no licence")
    for line in sys.stdin:
        message: dict[str, Any] = json.loads(line)
        if "id" in message and "method" in message:
            write({"id": message["id"], **answer(message["method"], message.get("params") or {})})
            if MODE == "dies_in_a_turn" and message["method"] == "session/prompt":
                sys.exit("odd: out of memory")


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the result or the error of a request."""
    match method:
        case "initialize":
            return initialized()
        case "session/new" if MODE in REFUSALS:
            return {"error": REFUSALS[MODE]}
        case "session/new":
            # Before the client has the id of the session.
            update({"sessionUpdate": "available_commands_update", "availableCommands": []})
            return {"result": {"sessionId": "odd"}}
        case "session/prompt":
            return {"result": prompted()}
        case "session/load":
            update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "in time"}})
            return {"result": None} if MODE == "works" else {"error": {"code": -32603, "message": "Session not found"}}
        case _:
            return {"error": {"code": -32601, "message": "Method not found"}}


def initialized() -> dict[str, Any]:
    """Return the response to `initialize`."""
    capabilities: dict[str, Any] = {"loadSession": MODE in ("works", "forgets")}
    result: dict[str, Any] = {"protocolVersion": 1, "agentCapabilities": capabilities}
    if MODE == "dated":
        result["protocolVersion"] = "2025-03-26"
    if SPEAKS_V2:
        result = {"protocolVersion": 2, "info": {"name": "odd", "version": "1"}, "capabilities": {"session": {}}}
    if MODE == "wants_login":
        result["authMethods"] = [{"id": "browser", "name": "In the browser"}]
    return {"result": result}


def prompted() -> dict[str, Any]:
    """Return the response to a prompt."""
    if MODE == "says_idle_twice":
        # The first ends nothing, and the last has no reason; v2 allows both.
        for state in ({"state": "idle", "stopReason": "cancelled"}, {"state": "running"}, {"state": "idle"}):
            update({"sessionUpdate": "state_update", **state})
    if SPEAKS_V2:
        # In v2 a state says later that the turn is over.
        return {"messageId": "odd"}
    print("garbage", flush=True)
    write({"method": "_odd/news", "params": {}})
    update({"sessionUpdate": "from_the_future", "what": "ever"})
    update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "still "}})
    update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "here"}})
    return {"stopReason": "end_turn"}


def update(said: dict[str, Any]) -> None:
    """Send an update of the only session."""
    write({"method": "session/update", "params": {"sessionId": "odd", "update": said}})


def write(message: dict[str, Any]) -> None:
    """Write one line."""
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


if __name__ == "__main__":
    main()
