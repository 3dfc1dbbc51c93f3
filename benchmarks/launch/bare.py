"""The least that opening stdio servers takes: processes, lines and nothing else, no SDK and no event loop."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from benchmarks.race import ROOT

if TYPE_CHECKING:
    from benchmarks.launch.launchers import Call, Server

ABOUT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bare", "version": "1"}}


@asynccontextmanager
async def opened(servers: Sequence[Server]) -> AsyncGenerator[list[Call]]:
    """All servers, initialised and listed: every step is asked of all before the answers are read."""
    processes = [_started(server) for server in servers]
    try:
        for process in processes:
            _send(process, "initialize", ABOUT, number=0)
        for process in processes:
            _answer(process)
            _send(process, "notifications/initialized", {})
            _send(process, "tools/list", {}, number=1)
        for process in processes:
            _answer(process)
        yield [_caller(process) for process in processes]
    finally:
        for process in processes:
            process.communicate(timeout=10)


def _started(server: Server) -> subprocess.Popen[bytes]:
    command = [server.command, *server.args]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)


def _send(process: subprocess.Popen[bytes], method: str, params: object, **message: Any) -> None:
    assert process.stdin
    if "number" in message:
        message["id"] = message.pop("number")
    line = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **message})
    process.stdin.write(line.encode() + b"\n")


def _answer(process: subprocess.Popen[bytes]) -> object:
    assert process.stdout
    return json.loads(process.stdout.readline())["result"]


def _caller(process: subprocess.Popen[bytes]) -> Call:
    async def call() -> object:
        _send(process, "tools/call", {"name": "echo", "arguments": {}}, number=2)
        return _answer(process)

    return call
