"""A small MCP server over stdio, without the SDK, that misbehaves as its first argument says.

With ECHO in its environment, it repeats all of its secrets in everything that it writes.
"""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

MODE = sys.argv[1] if len(sys.argv) > 1 else "works"
SILENT = ("exits_silently", "mute", "prints_usage", "logs_then_exits", "wraps_mute_child")
"""Modes in which nothing may be written to standard error."""


def main() -> None:
    """Misbehave at the start if requested, then serve."""
    if MODE not in SILENT:
        complain(leaked(""))
    start = globals().get(f"start_{MODE}")
    if start is not None:
        start()
    for line in sys.stdin:
        message: dict[str, Any] = json.loads(line)
        if "id" in message and (reply := answer(message)) is not None:
            write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}))
        elif message["method"] == "notifications/initialized" and (secrets := leaked("")):
            write(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": secrets}}))
            write(json.dumps({"jsonrpc": "2.0", "method": secrets, "params": {secrets: secrets}}))
            write(json.dumps({"jsonrpc": "2.0", "id": secrets, "result": {secrets: secrets}}))
    if MODE == "ignores_end":
        forever()


def answer(message: dict[str, Any]) -> dict[str, Any] | None:  # noqa: PLR0911 - a list of cases
    """Return the result or error of a request; None to send no response."""
    method = message["method"]
    if MODE == "mute":
        return None
    if method == "server/discover":
        return discover(message["id"])
    if method == "initialize":
        return initialize()
    if method == "tools/list":
        if MODE == "dies_at_list":
            sys.exit("cannot list the tools")
        if MODE == "hangs_at_list":
            return None
        described = {"description": leaked("")} if leaked("") else {}
        return {"result": {"tools": [{"name": leaked("environment"), **described, "inputSchema": {"type": "object"}}]}}
    if method == "resources/list":
        return list_resources()
    if method == "prompts/list" and MODE == "dies_at_prompts":
        sys.exit("cannot list the prompts")
    if method == "tools/call" and MODE == "hangs_at_call":
        return None
    if method == "tools/call":
        return call(message["params"]["name"], message["params"].get("arguments") or {})
    return error(-32601, "Method not found")


def discover(request_id: Any) -> dict[str, Any] | None:
    """Return the response to the probe, which this server does not support."""
    refusal = error(-32601, "Method not found")
    if MODE.startswith("swallows_probe"):
        return None
    if MODE == "complains_of_probe_and_leaves":
        write(json.dumps({"jsonrpc": "2.0", "id": request_id, **refusal}))
    if MODE.endswith(("leaves_at_probe", "probe_and_leaves")):
        sys.exit("expected initialize")
    return refusal


def initialize() -> dict[str, Any]:
    """Return the response to the handshake."""
    if MODE.endswith("rejects"):
        return error(-32603, leaked(f"the licence {os.environ.get('SECRET')} has expired"))
    version = leaked("1999-01-01") if MODE == "speaks_old_version" else "2025-06-18"
    if MODE == "answers_nonsense":
        return {"result": {"protocolVersion": version, "capabilities": leaked("all of them")}}
    info = {"name": leaked("plain"), "version": leaked("1")}
    has: dict[str, Any] = {"tools": {}}
    if MODE.endswith("_resources"):
        has["resources"] = {}
    if MODE.endswith("_prompts"):
        has["prompts"] = {}
    return {"result": {"protocolVersion": version, "capabilities": has, "serverInfo": info}}


def list_resources() -> dict[str, Any] | None:
    """Return the response to `resources/list`, which never contains resources."""
    match MODE:
        case "hangs_at_resources":
            return None
        case "garbles_resources":
            return {"result": {"resources": [{"uri": "memo://day"}]}}
        case "denies_resources":
            return error(-32000, "not for you")
        case _:
            return error(-32603, "no database")


def call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run a tool."""
    if tool == "die":
        sys.stderr.write("out of paper\n")
        sys.exit(9)
    if tool == "big":
        return text("x" * arguments["size"])
    return text(json.dumps({"env": dict(os.environ), "cwd": os.getcwd(), "pid": os.getpid()}))


def text(said: str) -> dict[str, Any]:
    """A tool's result."""
    return {"result": {"content": [{"type": "text", "text": said}]}}


def error(code: int, message: str) -> dict[str, Any]:
    """A JSON-RPC error."""
    return {"error": {"code": code, "message": message}}


def write(line: str) -> None:
    """Write one line to standard output."""
    sys.stdout.write(line + ("\r\n" if MODE == "writes_crlf" else "\n"))
    sys.stdout.flush()


def leaked(said: str) -> str:
    """Return the message, followed by the secrets if this server repeats them."""
    if "ECHO" not in os.environ:
        return said
    from leak import forms

    secrets = [value for name, value in os.environ.items() if name.startswith("SECRET")]
    return " ".join([said, *(form for secret in secrets for form in forms(secret))]).strip()


def complain(said: str) -> None:
    """Write to standard error in two pieces, so that a secret is split."""
    half = len(said) // 2
    for piece in (said[:half], said[half:] + "\n") if said else ():
        sys.stderr.write(piece)
        sys.stderr.flush()


def forever() -> None:
    """Run until killed."""
    while True:
        time.sleep(60)


def start_exits_with_message() -> None:
    """Fail like a server with an invalid configuration, and repeat a secret."""
    sys.stderr.write(f"cannot start with key {os.environ.get('SECRET')}\n")
    sys.exit(3)


def start_exits_silently() -> None:
    """Fail without a message."""
    sys.exit(7)


def start_dies_of_signal() -> None:
    """Crash."""
    os.kill(os.getpid(), signal.SIGSEGV)


def start_prints_usage() -> None:
    """Print the usage and exit, as if arguments were required."""
    sys.stdout.write(leaked("usage: plain [--port PORT]") + "\n")
    sys.exit(2)


def start_logs_then_exits() -> None:
    """Log to the wrong stream, and fail."""
    write(leaked("INFO reading plain.toml"))
    write("ERROR no such file")
    sys.exit(1)


def start_logs_then_silent() -> None:
    """Report that it is a web server."""
    write(leaked("Listening on port 8080"))
    forever()


def start_listens_for_http() -> None:
    """Report the URL of a web server with a key in it."""
    sys.stderr.write(leaked(f"running on http://key:{os.environ.get('SECRET')}@127.0.0.1:8000/mcp?key=1") + "\n")
    sys.stderr.flush()
    forever()


def start_prints_banner() -> None:
    """Write a greeting to the wrong stream."""
    write(leaked("Welcome to plain 1.0"))


def start_needs_a_second() -> None:
    """Take a second to start."""
    time.sleep(1)


def start_mutters() -> None:
    """Write something, and then nothing more."""
    sys.stderr.write("loading the model\n")
    sys.stderr.flush()
    forever()


def start_prints_bytes() -> None:
    """Write a line that is not UTF-8."""
    sys.stdout.buffer.write(b"\xff\xfe caf\xe9\n")
    sys.stdout.buffer.flush()


def start_floods_stderr() -> None:
    """Fill every pipe buffer."""
    for _ in range(4 * 1024):
        sys.stderr.write("x" * 1023 + "\n")
    sys.stderr.write("the last line\n")


def start_ignores_end() -> None:
    """Ignore the end of the input and SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def start_leaves_child() -> None:
    """Start a child that outlives this process, as npx does with node."""
    nothing = subprocess.DEVNULL
    subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)"], stdin=nothing, stdout=nothing, stderr=nothing
    )


def start_waits_at_gate() -> None:
    """Wait for a file before serving."""
    while not os.path.exists(os.environ["GATE"]):
        time.sleep(0.01)


def start_works_once() -> None:
    """Break something at the start, so that it cannot be started again."""
    if os.path.exists(os.environ["GATE"]):
        sys.exit("the database is locked")
    with open(os.environ["GATE"], "w"):
        pass


def start_wraps_mute_child() -> None:
    """Pass the pipes to a child that never responds, and wait for it."""
    sys.exit(subprocess.call([sys.executable, __file__, "mute"]))


if __name__ == "__main__":
    main()
