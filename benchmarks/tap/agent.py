"""The agent of the benchmark: answers each line, and sends a stream of updates when asked. It uses nothing of ours."""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "some words of an answer "}}
    chunk = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
    line = json.dumps(chunk).encode() + b"\n"
    for text in sys.stdin.buffer:
        message = json.loads(text)
        # Each message is written by itself, as agents do.
        for _ in range(message["params"].get("updates", 0)):
            os.write(1, line)
        os.write(1, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}).encode() + b"\n")


if __name__ == "__main__":
    main()
