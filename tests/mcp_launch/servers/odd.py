"""A small MCP server over stdio that responds in unusual ways, depending on its first argument.

If the argument is a JSON object, its members are added to the response to `tools/list`.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MODE = sys.argv[1]


def main() -> None:
    """Serve, misbehaving as the mode says."""
    start = globals().get(f"start_{MODE}")
    if start is not None:
        start()
    for number, line in enumerate(sys.stdin):
        if MODE.startswith("opens_once") and '"initialize"' in line and refuses_opening(line, is_open=number > 0):
            continue
        if MODE == "repeats_input":
            write(line.rstrip("\n"))
        message: dict[str, Any] = json.loads(line)
        if MODE.startswith("{") and message.get("method") == "tools/list":
            write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **json.loads(MODE)}))
        elif "id" in message and "method" in message:
            answer(message["id"], message["method"], message.get("params") or {})
    if MODE == "talks_at_end":
        write("x" * 1_000_000)


def answer(request_id: Any, method: str, params: dict[str, Any]) -> None:
    """Respond to a request."""
    if MODE.endswith("ignores_handshake") and method == "initialize":
        return
    if MODE.endswith(("knows_2026_alone", "ignores_handshake")):
        send({"id": request_id, **answer_of_2026(method)})
        return
    if method == "initialize":
        info = {"name": "odd", "version": "1"}
        result: dict[str, Any] = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": info,
        }
    elif method == "tools/list":
        page = int(params.get("cursor") or 0)
        tool: dict[str, Any] = {"name": f"any{page or ''}", "inputSchema": {"type": "object"}}
        result = {"tools": [tool]}
        match MODE:
            case "cuts_characters":
                # As JavaScript does, which cuts text in the middle of an emoji.
                tool["description"] = "half a smile: \ud83d"
            case "ends_list_with_empty_cursor":
                result["nextCursor"] = ""
            case "repeats_list":
                result["nextCursor"] = "1"
            case "lists_without_end":
                result["nextCursor"] = str(page + 1)
            case _:
                pass
    elif method == "tools/call":
        do = globals().get(f"call_{params['name']}")
        if do is not None:
            do()
        result = {"content": [{"type": "text", "text": str(os.getpid())}]}
    else:
        send({"id": request_id, "error": {"code": -32601, "message": "Method not found"}})
        return
    send({"id": request_id, "result": result})


def answer_of_2026(method: str) -> dict[str, Any]:
    """Return the result or error of a server without a handshake."""
    whole = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    if method == "server/discover":
        info = {"name": "odd", "version": "1"}
        offer: dict[str, Any] = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "serverInfo": info}
        return {"result": {**whole, **offer}}
    if method == "tools/list":
        return {"result": {**whole, "tools": []}}
    return {"error": {"code": -32601, "message": "Method not found"}}


def send(message: dict[str, Any]) -> None:
    """Write a message in the format of the mode."""
    text = json.dumps({"jsonrpc": "2.0", **message})
    other: dict[str, Any] = {"jsonrpc": "2.0", "id": 4711, "result": {}}
    match MODE:
        case "ends_lines_with_cr":
            sys.stdout.write(text + "\r")
            sys.stdout.flush()
        case "answers_twice":
            write(text)
            write(text)
        case "answers_in_arrays":
            write(json.dumps([json.loads(text), {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}]))
        case "answers_what_nobody_asked":
            write(json.dumps(other))
            write(text)
        case "answers_with_ids_as_text":
            write(json.dumps({"jsonrpc": "2.0", **message, "id": str(message["id"])}))
        case "writes_nul":
            write("\0\0" + text + "\0")
        case "writes_mark_on_each_line":
            write("\ufeff" + text)
        case "writes_in_pieces":
            for each in text + "\n":
                sys.stdout.write(each)
                sys.stdout.flush()
        case _:
            sys.stdout.buffer.write(framed(text))
            sys.stdout.flush()


def logs() -> list[dict[str, Any]]:
    """Return the log messages that are sent before each response."""
    method = "notifications/message"
    return [{"jsonrpc": "2.0", "method": method, "params": {"level": "info", "data": count}} for count in range(20)]


def framed(text: str) -> bytes:
    """Frame a message as the mode requires, usually as MCP does."""
    match MODE:
        case "frames_as_language_servers":
            return f"Content-Length: {len(text)}\r\n\r\n{text}".encode()
        case "writes_on_several_lines":
            return f"{json.dumps(json.loads(text), indent=2)}\n".encode()
        case "logs_in_lines":
            return "".join(f"{json.dumps(each)}\n" for each in [*logs(), json.loads(text)]).encode()
        case "logs_in_arrays":
            return f"{json.dumps([*logs(), json.loads(text)])}\n".encode()
        case "writes_utf_16":
            return f"{text}\n".encode("utf-16-le")
        case _:
            return f"{text}\n".encode()


def write(line: str) -> None:
    """Write one line to standard output."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def start_opens_once() -> None:
    """Note each start in a file."""
    with Path("starts").open("a") as starts:
        starts.write("x")


start_opens_once_and_exits = start_opens_once


def refuses_opening(line: str, *, is_open: bool) -> bool:
    """Refuse a handshake after another request, as bridges do that take the first request for the handshake."""
    if is_open:
        send({"id": json.loads(line)["id"], "error": {"code": -32000, "message": "Server already initialized"}})
    elif MODE.endswith("exits"):
        sys.exit("no route")
    return is_open


def start_starts_slowly_and_knows_2026_alone() -> None:
    """Start more slowly than the timeout of the probe."""
    time.sleep(1)


def start_starts_slowly_and_ignores_handshake() -> None:
    """Start more slowly than the timeout of the probe."""
    time.sleep(1)


def start_notifies_first() -> None:
    """Send logs and notifications before the first request."""
    params = {"level": "info", "data": "starting"}
    write(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": params}))
    write(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))


def start_forks_stubborn() -> None:
    """Start many children that ignore SIGTERM and start more children."""
    script = "trap '' TERM; sleep 60 & sleep 60 & sleep 60 & wait"
    for _ in range(5):
        subprocess.Popen(["/bin/sh", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def start_leaves_daemon() -> None:
    """Start a process that leaves the process group and keeps the pipes open."""
    subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"], start_new_session=True)


def call_die_with_helper() -> None:
    """Crash, while a helper that inherited the streams continues."""
    subprocess.Popen(["/bin/sleep", "60"])
    sys.stderr.write("out of paper\n")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def call_leave_helper() -> None:
    """Exit normally, while a helper keeps the output open but not the input."""
    subprocess.Popen(["/bin/sleep", "60"], stdin=subprocess.DEVNULL)
    os._exit(0)


def call_close_output() -> None:
    """Close standard output and keep running."""
    os.close(1)
    time.sleep(60)


def call_close_input() -> None:
    """Close standard input and keep running."""
    os.close(0)
    time.sleep(60)


def call_stop() -> None:
    """Stop, as in a debugger."""
    os.kill(os.getpid(), signal.SIGSTOP)


def call_write_half() -> None:
    """Exit in the middle of a line."""
    sys.stdout.write('{"jsonrpc": "2.0", "id": 3, "res')
    sys.stdout.flush()
    os._exit(4)


def call_log() -> None:
    """Log a line to standard output."""
    write("working")


def call_print_dot() -> None:
    """Print a dot for progress, so that the response is not on a line of its own."""
    sys.stdout.write(".")
    sys.stdout.flush()


def call_ask_user() -> None:
    """Ask the user on standard output, and wait for the line that the user types."""
    sys.stdout.write("Continue? ")
    sys.stdout.flush()
    sys.stdin.read()


def call_flood_both() -> None:
    """Flood standard error while 20 MB are being written to standard output."""
    write('{"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "')
    subprocess.Popen(["/bin/sh", "-c", "head -c 8000000 /dev/zero | tr '\\0' x >&2"])
    write(json.dumps({"jsonrpc": "2.0", "method": "notifications/none", "params": {"data": "y" * 20_000_000}}))


if __name__ == "__main__":
    main()
