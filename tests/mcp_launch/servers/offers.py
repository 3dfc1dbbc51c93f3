"""A small MCP server over stdio, without the SDK, with unusual tools, resources and results."""

import base64
import json
import os
import sys
from typing import Any

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n\x00pixel").decode()
SECRET = os.environ.get("SECRET", "")
OFFERS: dict[str, Any] = json.loads(os.environ.get("OFFERS", '{"tools": 1, "resources": 1, "prompts": 1}'))
"""The offered kinds: none of a kind that is absent; listing a kind fails if its value is null."""
NO_IDEA: dict[str, Any] = {"error": {"code": -1, "message": "no idea"}}
PAGE = 4
RUDE = "\033[2J\033]0;title\007boo\nnext"
TYPED = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where to look."},
        "lines": {"type": "integer", "default": 10, "minimum": 1},
        "ratio": {"type": "number"},
        "deep": {"type": "boolean"},
        "mode": {"enum": ["fast", "thorough", 3]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "filter": {"$ref": "#/$defs/Filter"},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "anything": {},
    },
    "required": ["path"],
    "$defs": {
        "Filter": {
            "type": "object",
            "properties": {"since": {"type": "integer"}, "names": {"type": "array", "items": {"type": "string"}}},
        }
    },
}
EMPTY = {"type": "object"}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "typed",
        "description": "Tell what it was given.\n\nArgs:\n    path: somewhere",
        "inputSchema": TYPED,
        "annotations": {"readOnlyHint": True, "destructiveHint": False},
    },
    {"name": "show", "description": f"Show a picture. {SECRET}", "inputSchema": EMPTY},
    {"name": "rude", "description": RUDE, "inputSchema": EMPTY},
    {"name": "fail", "inputSchema": EMPTY},
    {"name": "refuse", "inputSchema": EMPTY},
    {"name": "leave", "inputSchema": EMPTY},
    {"name": "hang", "inputSchema": EMPTY},
    {
        "name": "structured",
        "inputSchema": EMPTY,
        "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
    },
    {"name": "repeat", "inputSchema": EMPTY},
    {"name": "say_more", "inputSchema": EMPTY},
    {"name": "grow", "description": "Have one more tool.", "inputSchema": EMPTY},
]


def main() -> None:
    """Serve until standard input ends."""
    for line in sys.stdin:
        message: dict[str, Any] = json.loads(line)
        if message["method"] == "notifications/cancelled":
            log("noticed that it was cancelled")
        if "id" in message and (reply := answer(message["method"], message.get("params") or {})):
            write({"id": message["id"], **reply})


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:  # noqa: PLR0911, PLR0912 - a list of cases
    """Return the result or error of a request; None to send no response."""
    match method:
        case "initialize":
            has = {kind: {"listChanged": True} for kind in ("tools", "resources", "prompts") if kind in OFFERS}
            info = {"name": "offers", "version": "1"}
            return result(protocolVersion="2025-06-18", capabilities={**has, "logging": {}}, serverInfo=info)
        case "resources/list" if not OFFERS.get("resources"):
            return NO_IDEA if OFFERS["resources"] is None else result(resources=[])
        case "resources/templates/list" if not OFFERS.get("templates", OFFERS.get("resources")):
            return NO_IDEA
        case "tools/list":
            start = int(params.get("cursor", 0))
            more = {"nextCursor": str(start + PAGE)} if start + PAGE < len(TOOLS) else {}
            return result(tools=TOOLS[start : start + PAGE], **more)
        case "resources/list":
            about = {"name": "today", "description": "What is to be done.", "mimeType": "text/plain"}
            return result(resources=[{"uri": "memo://today", **about}, {"uri": "memo://pixel", "name": "pixel"}])
        case "resources/templates/list":
            return result(resourceTemplates=[{"uriTemplate": "memo://{day}", "name": "a day"}])
        case "resources/read" if params["uri"] == "memo://today":
            return result(contents=[{"uri": "memo://today", "text": "nothing"}])
        case "resources/read" if params["uri"] == "memo://pixel":
            return result(contents=[{"uri": "memo://pixel", "mimeType": "image/png", "blob": PIXEL}])
        case "resources/read" if params["uri"] == "memo://never":
            return None
        case "prompts/list":
            arguments = [{"name": "name", "required": True, "description": "Whom."}, {"name": "tone"}]
            return result(prompts=[{"name": "greet", "description": "Ask for a greeting.", "arguments": arguments}])
        case "prompts/get":
            said = f"Greet {params['arguments']['name']}."
            return result(messages=[{"role": "user", "content": {"type": "text", "text": said}}])
        case "tools/call":
            return call(params)
        case _:
            return {"error": {"code": -32601, "message": f"no {method}"}}


def call(params: dict[str, Any]) -> dict[str, Any] | None:  # noqa: PLR0911, PLR0912 - a list of cases
    """Run a tool."""
    match params["name"]:
        case "typed":
            return text(json.dumps(params.get("arguments")))
        case "show":
            link = {"type": "resource_link", "uri": "file:///a.txt", "name": "a"}
            evil = {"uri": "file:///x/..%2f..%2f..%2fetc%2fpass\033wd", "text": "root", "mimeType": "text/plain"}
            blocks = [
                {"type": "text", "text": "here it is"},
                {"type": "image", "mimeType": "image/png", "data": PIXEL},
                {"type": "audio", "mimeType": "audio/x-no-such", "data": PIXEL},
                {"type": "resource", "resource": evil},
                link,
            ]
            return result(content=blocks)
        case "rude":
            return text(RUDE)
        case "fail":
            return result(content=[{"type": "text", "text": f"401 for {SECRET}"}], isError=True)
        case "refuse":
            return {"error": {"code": -32000, "message": f"not with {SECRET}"}}
        case "leave":
            sys.stderr.write(f"out of paper, key {SECRET}\n")
            sys.exit(9)
        case "hang":
            log(f"hanging with {SECRET}")
            progress(params, 1, "half of it")
            return None
        case "structured":
            progress(params, 2, "all of it")
            return result(content=[], structuredContent={"n": 1})
        case "repeat":
            return result(**text(SECRET)["result"], structuredContent={"said": SECRET})
        case "say_more":
            return result(**text("one item")["result"], structuredContent={"items": [1]})
        case "grow":
            if "alone" in (params.get("arguments") or {}):
                TOOLS.clear()
            TOOLS.append({"name": "grown", "inputSchema": EMPTY})
            if "quietly" not in (params.get("arguments") or {}):
                write({"method": "notifications/tools/list_changed"})
            return text("grew")
        case name:
            return {"error": {"code": -32602, "message": f"no tool {name}"}}


def progress(params: dict[str, Any], done: float, said: str) -> None:
    """Report progress if the client requested it."""
    meta: dict[str, Any] = params.get("_meta") or {}
    token = meta.get("progressToken")
    if token is not None:
        known = {"progressToken": token, "progress": done, "total": 2, "message": said}
        write({"method": "notifications/progress", "params": known})


def log(said: str) -> None:
    """Send a log message."""
    write({"method": "notifications/message", "params": {"level": "info", "data": said}})


def text(said: str) -> dict[str, Any]:
    """A tool's result."""
    return result(content=[{"type": "text", "text": said}])


def result(**members: Any) -> dict[str, Any]:
    """A result."""
    return {"result": members}


def write(message: dict[str, Any]) -> None:
    """Write one message to standard output."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
