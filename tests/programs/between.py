"""Adds messages between a client and the agent that it starts: `between.py news|version|date AGENT…`.

With `news`, the client gets two messages that the protocol does not define before the response to each prompt: an
update, and a request, whose response is reported to the client in `_between/answered`. With `version`, the agent's
`initialize` response has an unknown version. With `date`, the client's request has a date as its version.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import IO, Any

lock = threading.Lock()


def say(stream: IO[bytes], message: dict[str, Any]) -> None:
    with lock:
        stream.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        stream.flush()


def outwards(agent: subprocess.Popen[bytes], mode: str) -> None:
    assert agent.stdout
    for line in agent.stdout:
        message = json.loads(line)
        if mode == "version" and "protocolVersion" in message.get("result", {}):
            message["result"]["protocolVersion"] = 77
        say(sys.stdout.buffer, message)


def inwards(agent: subprocess.Popen[bytes], mode: str) -> None:
    assert agent.stdin
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if mode == "date" and message.get("method") == "initialize":
            message["params"]["protocolVersion"] = "2025-06-18"
        if mode == "news" and message.get("method") == "session/prompt":
            update = {"sessionUpdate": "news_of_tomorrow", "weather": "fine"}
            news = {"sessionId": message["params"]["sessionId"], "update": update}
            say(sys.stdout.buffer, {"method": "session/update", "params": news})
            say(sys.stdout.buffer, {"id": "between", "method": "client/of_tomorrow", "params": {}})
        if message.get("id") == "between" and "method" not in message:
            code = message.get("error", {}).get("code")
            say(sys.stdout.buffer, {"method": "_between/answered", "params": {"code": code}})
            continue
        say(agent.stdin, message)
    agent.stdin.close()


with subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
    reader = threading.Thread(target=outwards, args=(process, sys.argv[1]))
    reader.start()
    inwards(process, sys.argv[1])
    reader.join()
